"""Input that cannot be searched: one sentence, before anything happens."""

import numpy as np
import pytest

from tesuji import SearchConfig, Searcher, make_game, search
from tesuji.search.config import parse_option
from tesuji.search.evaluators import EvaluatorError

GAME = make_game("tic-tac-toe")
TRIO = make_game("trio")
DICE = make_game("2048")


def constant(logits, values):
    return lambda planes: (np.zeros((len(planes), *logits)), np.zeros((len(planes), *values)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "no budget: set simulations, nodes or seconds"),
        ({"simulations": -1}, "simulations is -1; it cannot be negative"),
        ({"simulations": 1.5}, "simulations is 1.5; it must be a whole number"),
        ({"seconds": -1.0}, "seconds is -1.0; it cannot be negative"),
        ({"seconds": float("nan")}, "seconds is nan; it must be a finite number"),
        ({"leaves": 0}, "leaves is 0; it must be 1 or more"),
        ({"noise_weight": 1.5}, "noise_weight is 1.5; it is a share, from 0 to 1"),
        ({"selection": "ucb"}, "selection is 'ucb'; choose one of: auto, uct, puct"),
        ({"proven_values": 1}, "proven_values is 1; it must be true or false"),
        ({"selection": "uct", "fpu": "zero"}, "fpu=zero has no meaning with selection=uct"),
        ({"selection": "gumbel", "noise_weight": 0.25}, "gumbel does not use noise_weight"),
        ({"selection": "gumbel", "simulations": 0, "seconds": 1.0}, "set simulations"),
        ({"trace": True, "simulations": 0, "seconds": 1.0}, "trace keeps a number"),
    ],
)
def test_config_refuses_what_makes_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        SearchConfig(**options)


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("c_put", "1", "there is no option 'c_put'; did you mean c_puct"),
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


def test_proofs_are_refused_where_they_do_not_hold():
    config = SearchConfig(proven_values=True)
    with pytest.raises(ValueError, match="one or two players, and trio has 3"):
        search(TRIO, TRIO.new_state(), "rollout", config)
    with pytest.raises(ValueError, match="2048 leaves moves to chance"):
        Searcher(DICE, "rollout", config)


def test_forced_playouts_are_refused_without_puct():
    with pytest.raises(ValueError, match="forced_playouts belongs to selection=puct"):
        search(GAME, GAME.new_state(), "rollout", SearchConfig(forced_playouts=2.0))


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
        ("network", "there is no evaluator 'network'; choose uniform or rollout"),
        (3, "the evaluator is a int"),
        (constant((8,), ()), r"logits of shape \(1, 8\); tic-tac-toe needs \(1, 9\)"),
        (constant((9,), (3,)), r"values of shape \(1, 3\); tic-tac-toe needs \(1, 2\) or \(1,\)"),
        (lambda planes: np.zeros((len(planes), 9)), "must return a pair: logits and values"),
        (lambda planes: (np.full((len(planes), 9), np.nan), np.zeros(len(planes))), "NaN"),
        (lambda planes: (np.zeros((len(planes), 9)), np.full(len(planes), np.nan)), "NaN"),
    ],
)
def test_evaluators_are_checked(evaluator, message):
    with pytest.raises(EvaluatorError, match=message):
        search(GAME, GAME.new_state(), evaluator, SearchConfig(simulations=5))


def test_three_players_need_a_value_for_each():
    with pytest.raises(EvaluatorError, match=r"values of shape \(1,\); trio needs \(1, 3\)"):
        search(TRIO, TRIO.new_state(), constant((16,), ()), SearchConfig(simulations=5))


def test_an_error_inside_the_evaluator_is_its_own():
    def broken(planes):
        raise ValueError("my own trouble")

    with pytest.raises(ValueError, match="my own trouble"):
        search(GAME, GAME.new_state(), broken, SearchConfig(simulations=5))


def test_too_little_memory_is_said():
    with pytest.raises(ValueError, match="max_bytes=100 holds no tree of tic-tac-toe"):
        search(GAME, GAME.new_state(), "uniform", SearchConfig(max_bytes=100))


def test_unknown_devices_and_threads_are_refused():
    with pytest.raises(ValueError, match="there is no device 'tpu'; choose cpu or cuda"):
        search(GAME, GAME.new_state(), device="tpu")
    with pytest.raises(ValueError, match="threads is 0; it must be 1 or more"):
        search(GAME, GAME.new_state(), threads=0)


def test_advance_needs_an_action_for_each_game():
    searcher = Searcher(GAME, "uniform", SearchConfig(simulations=5))
    searcher.search([GAME.new_state()] * 2)
    with pytest.raises(ValueError, match="1 actions were given for 2 games"):
        searcher.advance(0)
