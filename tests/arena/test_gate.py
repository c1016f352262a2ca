"""The gate: stronger weights pass, equal and weaker ones do not."""

import numpy as np
import pytest
from arena_agents import CONNECT_FOUR, TRIO

from plainzero import SearchConfig
from plainzero.arena.gate import GateConfig, make_gate

pytestmark = pytest.mark.slow


def blind(planes):
    """A network with equal priors and values."""
    return np.zeros((len(planes), 7), np.float32), np.zeros(len(planes), np.float32)


def towards(column):
    """A network that prefers the columns near `column`."""

    def evaluate(planes):
        logits = -np.abs(np.arange(7, dtype=np.float32) - column)
        return np.tile(logits, (len(planes), 1)), np.zeros(len(planes), np.float32)

    return evaluate


SEARCH = SearchConfig(simulations=30, proven_values=True)


def test_a_stronger_network_passes_early():
    result = make_gate(CONNECT_FOUR)(towards(3), towards(0), SEARCH, seed=1)
    assert result.passed and result.verdict == "stronger"
    assert result.games < 400 and result.score > 0.55 and result.llr >= 2.944


def test_a_weaker_network_does_not_pass():
    result = make_gate(CONNECT_FOUR)(towards(0), towards(3), SEARCH, seed=1)
    assert not result.passed and result.verdict == "weaker" and result.llr <= -2.944


@pytest.mark.parametrize("config", [None, SEARCH])
def test_an_equal_network_does_not_pass(config):
    """Both play the same moves, so every pair is even: evidence against the new network."""
    result = make_gate(CONNECT_FOUR)(towards(3), towards(3), config, seed=2)
    assert not result.passed and result.score == 0.5 and result.llr < 0


def test_a_gate_that_runs_out_of_games_is_open():
    gate = make_gate(CONNECT_FOUR, GateConfig(games=8, games_at_once=4))
    result = gate(towards(3), towards(2), SEARCH)
    assert result.verdict == "open" and result.games == 8
    assert result.passed == (result.llr > 0)


def test_another_seed_plays_other_openings_and_the_same_seed_the_same():
    gate, openings, results = make_gate(CONNECT_FOUR, GateConfig(games=40)), [], []
    for seed in (4, 4, 5):
        seen = []

        def recording(planes, seen=seen):
            seen.append({position.tobytes() for position in planes})
            return towards(3)(planes)

        results.append(gate(recording, towards(1), SEARCH, seed=seed))
        openings.append(seen[0])  # the roots of the first move
    assert results[0] == results[1]
    assert openings[0] == openings[1]
    assert len(openings[0] - openings[2]) > len(openings[0]) / 2


def test_three_players_can_pass_a_gate_too():
    def uniform(planes):
        count = len(planes)
        return np.zeros((count, TRIO.num_actions), np.float32), np.zeros((count, 3), np.float32)

    gate = make_gate(TRIO, GateConfig(games=12))
    assert gate(uniform, uniform, SearchConfig(simulations=5)).games == 12
