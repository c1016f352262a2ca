"""Proven values: selection passes over proven moves, and their values stay in view."""

import functools
import itertools

import numpy as np
import pytest
from random_tree import RANDOM_TREE, solve, start

from plainzero import SearchConfig, make_game, search

TIC_TAC_TOE = make_game("tic-tac-toe")
TREES = range(60)


def random_positions(count, plies, value, seed):
    """Unfinished positions of tic-tac-toe that have this value for their mover."""
    generator, states = np.random.default_rng(seed), []
    while len(states) < count:
        state = TIC_TAC_TOE.new_state()
        while state.turn < plies and not state.is_over:
            TIC_TAC_TOE.apply(state, int(generator.choice(TIC_TAC_TOE.legal(state))))
        if not state.is_over and best_of(minimax(state))[0] == value:
            states.append(state)
    return states


def minimax(state):
    """Each move's value for the mover, and the moves to the end if only winners hurry."""
    found = {}
    for action in TIC_TAC_TOE.legal(state):
        after = TIC_TAC_TOE.copy(state)
        TIC_TAC_TOE.apply(after, action)
        if after.is_over:
            found[action] = (int(after.returns[state.to_play]), 1)
        else:
            value, length = best_of(minimax(after))
            found[action] = (-value, 1 + length)
    return found


def best_of(found):
    value = max(value for value, _ in found.values())
    lengths = [length for other, length in found.values() if other == value]
    return value, min(lengths) if value > 0 else max(lengths)


@functools.cache
def searches_with_a_proven_draw():
    """Searches that stop after a drawing move is proven and before the root is."""
    states = random_positions(30, plies=4, value=0, seed=1)
    results = []
    for simulations in (40, 60, 80, 100, 120, 140):
        config = SearchConfig(simulations=simulations, proven_values=True)
        for result in search(TIC_TAC_TOE, states, "rollout", config):
            if not result.proven and np.nanmax([-1.0, *result.exact]) == 0.0:
                results.append(result)
    assert len(results) >= 10
    return results


@pytest.mark.parametrize("selection", ["uct", "puct", "puct-log", "gumbel"])
def test_every_small_tree_is_proven(selection):
    config = SearchConfig(simulations=1000, proven_values=True, selection=selection)
    states = [start(number) for number in TREES]
    for state, result in zip(states, search(RANDOM_TREE, states, "uniform", config), strict=True):
        assert result.proven
        assert result.value == solve(state)[0]


@pytest.mark.parametrize("selection", ["uct", "puct", "gumbel"])
def test_tic_tac_toe_is_proven(selection):
    config = SearchConfig(simulations=70_000, proven_values=True, selection=selection)
    result = search(TIC_TAC_TOE, TIC_TAC_TOE.new_state(), "uniform", config)
    assert result.proven
    assert result.value == 0.0


@pytest.mark.parametrize("selection", ["uct", "puct", "gumbel"])
def test_no_simulation_ends_at_a_proven_move(selection):
    config = SearchConfig(simulations=400, proven_values=True, selection=selection, trace=True)
    states = random_positions(30, plies=4, value=0, seed=2)
    for result in search(TIC_TAC_TOE, states, "uniform", config):
        assert {step.kind for step in result.trace} <= {"expanded", "finished"}


@pytest.mark.parametrize("selection", ["uct", "puct"])
def test_tries_of_moves_worse_than_a_proven_draw_count_as_draws(selection):
    states = random_positions(20, plies=4, value=0, seed=1)
    found = [
        search(
            TIC_TAC_TOE, states, "rollout", SearchConfig(n, proven_values=True, selection=selection)
        )
        for n in range(20, 140)
    ]
    tried = {True: 0, False: 0}
    for before, after in zip(
        itertools.chain(*found[:-1]), itertools.chain(*found[1:]), strict=True
    ):
        action = (after.visits - before.visits).argmax()
        if after.simulations > before.simulations and np.isnan(after.exact[action]):
            if np.nanmax([-1.0, *before.exact]) == 0.0:
                result = value_sum(after) - value_sum(before)
                own = (after.q * after.visits - before.q * before.visits)[action]
                is_worse = bool(after.q[action] < 0.0)
                assert result == pytest.approx(0.0 if is_worse else own, abs=1e-9)
                tried[is_worse] += own != 0.0
    assert min(tried.values()) >= 10


def value_sum(result):
    return result.value * (1 + result.visits.sum())


def test_policy_is_that_of_a_player_who_knows_the_proven_draws():
    for result in searches_with_a_proven_draw():
        draws = result.exact == 0.0
        kept = np.isnan(result.exact) & (result.visits > 0) & (result.q >= 0.0)
        expected = np.where(kept, result.visits, 0.0)
        share = np.where(draws, result.prior, 0.0) / result.prior[draws].sum()
        expected += (result.visits.sum() - expected.sum()) * share
        expected /= expected.sum()
        assert result.policy_target == pytest.approx(expected)
        assert result.policy() == pytest.approx(expected)


def test_a_proven_draw_is_played_unless_another_move_promises_more():
    promises = set()
    for result in searches_with_a_proven_draw():
        unproven = np.where(np.isnan(result.exact), result.visits, -1)
        promising = result.q[unproven.argmax()] > 0.0
        promises.add(bool(promising))
        assert np.isnan(result.exact[result.best_action]) == promising
    assert promises == {True, False}


def test_lost_positions_are_defended_as_long_as_possible():
    lost = random_positions(30, plies=4, value=-1, seed=3) + random_positions(10, 3, -1, seed=4)
    config = SearchConfig(simulations=20_000, proven_values=True)
    lengths = set()
    for state, result in zip(lost, search(TIC_TAC_TOE, lost, "uniform", config), strict=True):
        found = minimax(state)
        lengths.update(length for _, length in found.values())
        assert result.proven and result.value == -1.0
        assert result.proof_length[result.best_action] == max(result.proof_length)
        assert found[result.best_action][1] == best_of(found)[1]
    assert len(lengths) > 1
