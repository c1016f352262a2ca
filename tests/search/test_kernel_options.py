"""The options of compiled code are those of `SearchConfig`, except those only the host uses."""

from typing import Literal, get_origin, get_type_hints

from plainzero import make_game
from plainzero.search.config import SearchConfig, option_kinds
from plainzero.search.kernels.options import CODES, OPTIONS_DTYPE, Options
from plainzero.search.resolve_options import as_arguments, make_options, resolve

HOST_ONLY = {
    *("simulations", "visits", "seconds", "max_bytes"),  # budgets, stored in the working memory
    *("choice", "temperature", "temperature_turns", "lcb_deviations", "lcb_visits", "trace"),
}
DERIVED = {"filters", "is_plain", "has_extras", "has_node_extras", "max_turns", "known_results"}


def test_every_option_reaches_the_kernels_or_is_the_hosts():
    assert option_kinds().keys() - HOST_ONLY == set(Options._fields) - DERIVED
    assert OPTIONS_DTYPE.names == Options._fields


def test_types_and_names_agree():
    types = get_type_hints(Options.__bases__[1])
    for name, kind in option_kinds().items():
        if name in types:
            assert types[name] is (int if get_origin(kind) is Literal else kind), name
    named = {name for name, kind in option_kinds().items() if get_origin(kind) is Literal}
    assert CODES.keys() == named - HOST_ONLY


def test_values_arrive_unchanged():
    tic_tac_toe = make_game("tic-tac-toe")
    config = SearchConfig(selection="puct", c_puct=2.5, fpu="parent", leaves=3, pending="loss")
    options = as_arguments(make_options(resolve(config, "uniform"), tic_tac_toe))
    assert (options.c_puct, options.leaves, options.max_turns) == (2.5, 3, tic_tac_toe.max_turns)
    assert CODES["pending"][options.pending] == "loss" and CODES["fpu"][options.fpu] == "parent"
