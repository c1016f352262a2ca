"""Random playouts choose fairly, whether they try actions or list them."""

from collections import Counter

import numpy as np
import pytest

from plainzero import make_game
from plainzero.bench.games import with_uniform_playouts
from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games.contract import trial_rule
from plainzero.games.position_setup import set_up_position
from plainzero.games.rules import register
from plainzero.search.config import SearchConfig
from plainzero.search.kernels import rollout
from plainzero.search.resolve_options import resolve
from plainzero.search.scratch_memory import make_scratch

DRAWS = 20_000


@Kernel
def draw_actions(states, scratch, found):
    """Draws the next action of a playout from the position again and again."""
    for i in range(found.shape[0]):
        found[i] = rollout.draw_action(states[0], scratch, 0)


def drawn_actions(game, state, draws=DRAWS):
    scratch = make_scratch(game, resolve(SearchConfig(), "rollout"), 1, seed=3)
    found = np.zeros(draws, np.int64)
    draw_actions(register(game), np.array([state], game.dtype), scratch, found)
    return Counter(found.tolist())


def position(game, turns, seed=0):
    generator = np.random.default_rng(seed)
    state = game.new_state()
    while state.turn < turns:
        actions = np.zeros(game.num_actions, np.int32)
        game.apply(state, int(generator.choice(actions[: game.playout_actions(state, actions)])))
    return state


def choices(game, state):
    actions = np.zeros(game.num_actions, np.int32)
    return set(actions[: game.playout_actions(state, actions)].tolist())


@pytest.mark.parametrize(
    ("name", "turns"),
    [
        ("go(size=5)", 0),
        ("go(size=5)", 15),
        ("go(size=7)", 45),
        ("gomoku(size=10)", 40),
        ("gomoku-42(size=10)", 0),
        ("gomoku-42(size=10)", 30),
        ("connect-four", 12),  # lists
    ],
)
def test_each_playout_action_is_as_likely(name, turns):
    game = make_game(name)
    state = position(game, turns)
    found, expected = drawn_actions(game, state), choices(game, state)
    assert set(found) == expected
    mean = DRAWS / len(expected)
    assert max(abs(count - mean) for count in found.values()) < 5 * mean**0.5 + 1


def test_a_pass_is_drawn_where_no_trial_finds_a_point():
    game = make_game("go(size=3)")
    eyes = [[".", "x", "."], ["x", "x", "x"], [".", "x", "."]]  # playouts leave one's own alone
    state = set_up_position(game, eyes, to_play=0)
    assert set(drawn_actions(game, state, 100)) == {9}
    uniform = with_uniform_playouts(game)
    assert trial_rule(uniform) == "is_legal"
    assert set(drawn_actions(uniform, state, 100)) == {0, 2, 6, 8, 9}
