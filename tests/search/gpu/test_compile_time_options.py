"""What of the options is known when a kernel is compiled for a GPU, and what is given to it."""

import dataclasses

import pytest

from plainzero import SearchConfig, make_game
from plainzero.search.resolve_options import as_arguments, make_options, resolve

pytest.importorskip("numba_cuda", reason="needs numba-cuda")

from plainzero.compiler import gpu_kernels as cuda_compiling

GAME = make_game("tic-tac-toe")


def options_of(**changes):
    config = SearchConfig(simulations=8, selection="puct")
    config = resolve(dataclasses.replace(config, **changes), lambda planes: planes)
    return as_arguments(make_options(config, GAME))


@pytest.mark.parametrize(
    "changes",
    [
        {"selection": "gumbel"},
        {"proven_values": True},
        {"fpu": "parent"},
        {"leaves": 4},
        {"widening": 1.5},
        {"noise_weight": 0.25},
        {"visit_exponent": 0.6},
    ],
)
def test_another_way_is_other_code(changes):
    assert options_of(**changes).known() != options_of().known()


@pytest.mark.parametrize(
    ("changes", "others"),
    [
        ({"c_puct": 2.5}, {}),
        ({"c_puct_base": 100.0}, {}),
        ({"leaves": 4}, {"leaves": 7}),
        ({"widening": 1.5}, {"widening": 2.5}),
        ({"noise_weight": 0.25, "noise_alpha": 1.0}, {"noise_weight": 0.3, "noise_alpha": 0.5}),
    ],
)
def test_another_number_is_the_same_code(changes, others):
    assert options_of(**changes).known() == options_of(**others).known()


def test_what_is_off_is_known():
    known = dict(options_of().known())
    assert known["templates"] == 0 and known["widening"] == 0.0 and known["leaves"] == 1
    assert known["is_plain"] is True and known["has_extras"] is False
    assert not {"c_puct", "c_puct_base", "max_turns", "known_results"} & set(known)


@pytest.mark.parametrize("changes", [{}, {"leaves": 4, "selection": "gumbel"}, {"amaf": "rave"}])
def test_settled_options_are_the_known_ones_and_those_given(changes):
    options = options_of(**changes)
    settled = cuda_compiling._make_settled(options)
    settled = getattr(settled, "py_func", settled)  # the simulator has the function itself
    assert settled(options) == options
    nothing = type(options)(*[None] * len(options))
    assert settled(nothing)._asdict() == {
        name: dict(options.known()).get(name) for name in options._fields
    }


def test_code_is_kept_by_what_is_known_where_a_kernel_settles_it():
    from plainzero.search.gpu.kernels import clear_games, play_round

    one, other = options_of(), options_of(proven_values=True)
    assert play_round._name("tag", one) != play_round._name("tag", other)
    assert play_round._name("tag", one) == play_round._name("tag", options_of(c_puct=3.0))
    assert clear_games._name("tag", one) == clear_games._name("tag", None) == "tag"
    with pytest.raises(TypeError, match="play_round is compiled for settings; give them too"):
        play_round._name("tag", None)
