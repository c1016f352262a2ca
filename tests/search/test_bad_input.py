"""Invalid input is refused with one sentence, before the search starts."""

import numpy as np
import pytest

from plainzero import SearchConfig, Searcher, make_game, search
from plainzero.search.config import parse_option
from plainzero.search.evaluators import EvaluatorError

GAME = make_game("tic-tac-toe")
TRIO = make_game("trio")
DICE = make_game("2048")


def constant(logits, values):
    return lambda planes: (np.zeros((len(planes), *logits)), np.zeros((len(planes), *values)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "no budget: set simulations, visits, nodes or seconds"),
        ({"simulations": -1}, "simulations is -1; it cannot be negative"),
        ({"simulations": 1.5}, "simulations is 1.5; it must be a whole number"),
        ({"seconds": -1.0}, "seconds is -1.0; it cannot be negative"),
        ({"seconds": float("nan")}, "seconds is nan; it must be a finite number"),
        ({"c_puct": 10**400}, "it must be a finite number"),
        ({"prune_visits": 10**30, "prune_margin": 0.5}, "it can be at most 2,147,483,647"),
        ({"temperature_turns": 2**31}, "it can be at most 2,147,483,647"),
        ({"leaves": 0}, "leaves is 0; it must be 1 or more"),
        ({"noise_weight": 1.5}, "noise_weight is 1.5; it is a share, from 0 to 1"),
        ({"selection": "ucb"}, "selection is 'ucb'; choose one of: auto, uct, puct"),
        ({"proven_values": 1}, "proven_values is 1; it must be true or false"),
        ({"selection": "gumbel", "simulations": 0, "seconds": 1.0}, "set simulations"),
        ({"trace": True, "simulations": 0, "seconds": 1.0}, "trace needs a fixed number"),
    ],
)
def test_config_refuses_invalid_options(options, message):
    with pytest.raises(ValueError, match=message):
        SearchConfig(**options)


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("c_put", "1", "unknown option 'c_put'; did you mean c_puct"),
        ("c_puct", "much", "c_puct is 'much'; it must be a number"),
        ("simulations", "1.5", "simulations is '1.5'; it must be a whole number"),
        ("trace", "yes", "trace is 'yes'; it must be true or false"),
    ],
)
def test_options_as_text_are_checked(option, text, message):
    with pytest.raises(ValueError, match=message):
        parse_option(option, text)


def test_options_as_text_become_values():
    assert parse_option("c_puct", "2.5") == 2.5
    assert parse_option("trace", "true") is True
    assert parse_option("fpu", "parent") == "parent"
    assert parse_option("simulations", "12") == 12


def test_proofs_are_refused_for_games_in_which_they_are_invalid():
    config = SearchConfig(proven_values=True)
    with pytest.raises(ValueError, match="one or two players; trio has 3"):
        search(TRIO, TRIO.new_state(), "rollout", config)
    with pytest.raises(ValueError, match="2048 has chance moves"):
        Searcher(DICE, "rollout", config)


@pytest.mark.parametrize(
    ("evaluator", "options", "message"),
    [
        ("rollout", {"forced_playouts": 2.0}, "forced_playouts only applies with selection=puct"),
        ("rollout", {"fpu": "zero"}, "fpu only applies with selection=puct or puct-log"),
        ("rollout", {"c_puct": 2.0}, "c_puct only applies with .* and here it is uct"),
        ("rollout", {"noise_weight": 0.25}, "noise_weight only applies with selection=puct"),
        (
            "rollout",
            {"rollout_weight": 0.5},
            "rollout_weight mixes rollouts with an evaluator",
        ),
        ("uniform", {"rollouts": 3}, "rollouts only applies with rollout_weight above 0"),
        ("uniform", {"c_uct": 2.0}, "c_uct only applies with selection=uct"),
        ("uniform", {"pending": "loss"}, "pending only applies with leaves above 1"),
        ("uniform", {"temperature": 0.5}, "temperature only applies with choice=temperature"),
        ("uniform", {"grave_visits": 5}, "grave_visits only applies with amaf=grave"),
        ("uniform", {"selection": "puct-log", "visit_term": "sum"}, "visit_term only applies"),
        ("uniform", {"selection": "gumbel", "noise_weight": 0.25}, "noise_weight only applies"),
        ("uniform", {"selection": "gumbel", "widening": 1.0}, "widening only applies"),
    ],
)
def test_options_that_would_be_ignored_are_refused(evaluator, options, message):
    with pytest.raises(ValueError, match=message):
        search(GAME, GAME.new_state(), evaluator, SearchConfig(**options))
    search(GAME, GAME.new_state(), evaluator, SearchConfig(simulations=1))


def test_config_of_a_result_can_be_used_again():
    for evaluator in ("rollout", "uniform"):
        first = search(GAME, GAME.new_state(), evaluator, SearchConfig(simulations=20))
        again = search(GAME, GAME.new_state(), evaluator, first.config)
        assert (first.visits == again.visits).all()


def test_finished_and_foreign_positions_are_refused():
    state = GAME.new_state()
    for action in (0, 3, 1, 4, 2):
        GAME.apply(state, action)
    with pytest.raises(ValueError, match="position 0: the game is over"):
        search(GAME, state)
    with pytest.raises(ValueError, match="position 1 is not a state of tic-tac-toe"):
        search(GAME, [GAME.new_state(), TRIO.new_state()])
    with pytest.raises(ValueError, match="position 0 waits for chance"):
        search(DICE, DICE.new_state())
    assert search(GAME, []) == []


@pytest.mark.parametrize(
    ("evaluator", "message"),
    [
        ("network", "unknown evaluator 'network'; choose uniform or rollout"),
        (3, "the evaluator is a int"),
        (constant((8,), ()), r"logits of shape \(1, 8\); tic-tac-toe needs \(1, 9\)"),
        (constant((9,), (3,)), r"values of shape \(1, 3\); tic-tac-toe needs \(1, 2\) or \(1,\)"),
        (lambda planes: np.zeros((len(planes), 9)), "must return a pair: logits and values"),
        (lambda planes: (np.full((len(planes), 9), np.nan), np.zeros(len(planes))), "NaN"),
        (lambda planes: (np.zeros((len(planes), 9)), np.full(len(planes), np.nan)), "NaN"),
        (lambda planes: (np.zeros((len(planes), 9)), np.full(len(planes), np.inf)), "infinite"),
        (lambda planes: (np.full((len(planes), 9), np.inf), np.zeros(len(planes))), "NaN or .∞"),
    ],
)
def test_evaluators_are_checked(evaluator, message):
    with pytest.raises(EvaluatorError, match=message):
        search(GAME, GAME.new_state(), evaluator, SearchConfig(simulations=5))


def test_three_players_need_a_value_for_each():
    with pytest.raises(EvaluatorError, match=r"values of shape \(1,\); trio needs \(1, 3\)"):
        search(TRIO, TRIO.new_state(), constant((16,), ()), SearchConfig(simulations=5))


def test_an_error_inside_the_evaluator_is_passed_on():
    def broken(planes):
        raise ValueError("my own trouble")

    with pytest.raises(ValueError, match="my own trouble"):
        search(GAME, GAME.new_state(), broken, SearchConfig(simulations=5))


def test_unavailable_memory_is_reported():
    too_much = SearchConfig(simulations=2**31 - 2, max_bytes=2**47)
    with pytest.raises(ValueError, match=r"cannot allocate .* bytes for the tree"):
        search(GAME, GAME.new_state(), "uniform", too_much)
    with pytest.raises(ValueError, match="a trace of 1,000,000,000 simulations takes"):
        search(GAME, GAME.new_state(), "uniform", SearchConfig(simulations=10**9, trace=True))


def test_too_little_memory_is_reported():
    with pytest.raises(ValueError, match="max_bytes=100 holds no tree of tic-tac-toe"):
        search(GAME, GAME.new_state(), "uniform", SearchConfig(max_bytes=100))


def test_unknown_devices_and_threads_are_refused():
    with pytest.raises(ValueError, match="unknown device 'tpu'; choose auto, cpu, cuda or cuda:1"):
        search(GAME, GAME.new_state(), device="tpu")
    for threads in (0, 1.5, "2"):
        with pytest.raises(ValueError, match=r"threads is .*; it must be a whole number, 1 or"):
            search(GAME, GAME.new_state(), threads=threads)


def test_arguments_of_the_wrong_type_are_named():
    with pytest.raises(ValueError, match=r"the seed is 1\.5; it must be a whole number"):
        search(GAME, GAME.new_state(), seed=1.5)
    with pytest.raises(ValueError, match="there is no position in a NoneType"):
        search(GAME, None)
    with pytest.raises(ValueError, match="the game is 'tic-tac-toe'; make it with make_game"):
        search("tic-tac-toe", GAME.new_state())
    with pytest.raises(ValueError, match="the config is a dict; it must be a SearchConfig"):
        search(GAME, GAME.new_state(), "uniform", {"simulations": 5})
    search(GAME, GAME.new_state(), "uniform", SearchConfig(simulations=5), seed=np.int64(3))


def test_advance_needs_an_action_for_each_game():
    searcher = Searcher(GAME, "uniform", SearchConfig(simulations=5))
    searcher.search([GAME.new_state()] * 2)
    with pytest.raises(ValueError, match="1 actions were given for 2 games"):
        searcher.advance(0)
