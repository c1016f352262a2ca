"""Which options are constants when a kernel is compiled for a GPU, and which are arguments."""

import dataclasses

import pytest

from plainzero import SearchConfig, make_game
from plainzero.search.resolve_options import as_arguments, make_options, resolve

pytest.importorskip("numba_cuda", reason="needs numba-cuda")

from plainzero.compiler import gpu_kernels

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
def test_another_method_is_compiled_separately(changes):
    assert options_of(**changes).compile_time_values() != options_of().compile_time_values()


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
def test_another_number_shares_the_compiled_code(changes, others):
    assert options_of(**changes).compile_time_values() == options_of(**others).compile_time_values()


def test_disabled_options_are_constants():
    known = dict(options_of().compile_time_values())
    assert known["templates"] == 0 and known["widening"] == 0.0 and known["leaves"] == 1
    assert known["is_plain"] is True and known["has_extras"] is False
    assert not {"c_puct", "c_puct_base", "max_turns", "known_results"} & set(known)


@pytest.mark.parametrize("changes", [{}, {"leaves": 4, "selection": "gumbel"}, {"amaf": "rave"}])
def test_specialised_options_are_constants_and_arguments(changes):
    options = options_of(**changes)
    specialised = gpu_kernels._make_specialised(options)
    # The simulator has the function itself.
    specialised = getattr(specialised, "py_func", specialised)
    assert specialised(options) == options
    nothing = type(options)(*[None] * len(options))
    assert specialised(nothing)._asdict() == {
        name: dict(options.compile_time_values()).get(name) for name in options._fields
    }


def test_code_is_cached_by_its_constants_if_a_kernel_is_specialised():
    from plainzero.search.gpu.kernels import clear_games, play_round

    one, other = options_of(), options_of(proven_values=True)
    assert play_round._name("tag", one) != play_round._name("tag", other)
    assert play_round._name("tag", one) == play_round._name("tag", options_of(c_puct=3.0))
    assert clear_games._name("tag", one) == clear_games._name("tag", None) == "tag"
    with pytest.raises(TypeError, match="play_round is specialised for its options; pass them too"):
        play_round._name("tag", None)
