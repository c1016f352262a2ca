"""Budgets of a search, its use of memory and threads, and results that depend on neither."""

import dataclasses
import threading

import numpy as np
import pytest

from plainzero import SearchConfig, Searcher, StopFlag, make_game, search
from plainzero.games.rules import register
from plainzero.search import cpu
from plainzero.search.resolve_options import make_options, resolve
from plainzero.search.runner import next_rounds
from plainzero.search.scratch_memory import make_scratch
from plainzero.search.tree_memory import (
    TreeSize,
    make_tree,
    plan_tree,
    plan_whole_tree,
    tree_bytes,
)

GAME = make_game("connect-four")
START = GAME.new_state()


def network(planes):
    flat = planes.reshape(len(planes), -1)
    weights = np.sin(np.arange(flat.shape[1] * 8)).reshape(flat.shape[1], 8)
    outputs = flat @ weights
    return outputs[:, :7], np.tanh(outputs[:, 7])


def positions(count):
    generator = np.random.default_rng(0)
    states = []
    for _ in range(count):
        state = GAME.new_state()
        for _ in range(generator.integers(0, 8)):
            GAME.apply(state, generator.choice(GAME.legal(state)))
        if not state.is_over:
            states.append(state)
    return states


@pytest.mark.parametrize("evaluator", ["rollout", "uniform", network])
def test_result_does_not_depend_on_threads(evaluator):
    noise = 0.0 if evaluator == "rollout" else 0.25
    states, config = positions(13), SearchConfig(simulations=150, noise_weight=noise)
    one, two, many = (
        search(GAME, states, evaluator, config, seed=5, threads=threads) for threads in (1, 2, 7)
    )
    for a, b, c in zip(one, two, many, strict=True):
        assert (a.visits == b.visits).all()
        assert (a.visits == c.visits).all()
        assert a.value == b.value == c.value


def test_games_of_a_batch_do_not_affect_each_other():
    states, config = positions(6), SearchConfig(simulations=200)
    alone = search(GAME, states[:3], "rollout", config, seed=5)
    among_others = search(GAME, [*states[:3], *states[:1:-1]], "rollout", config, seed=5)
    for a, b in zip(alone, among_others, strict=False):
        assert (a.visits == b.visits).all()


def test_same_seed_gives_the_same_result_and_another_seed_a_different_one():
    config = SearchConfig(simulations=300)
    first, again, other = (search(GAME, START, "rollout", config, seed=s) for s in (1, 1, 2))
    assert (first.visits == again.visits).all()
    assert (first.visits != other.visits).any()


@pytest.mark.parametrize("evaluator", ["rollout", network])
def test_number_of_simulations_is_exact(evaluator):
    for simulations in (1, 7, 1000):
        config = SearchConfig(simulations=simulations, leaves=4)
        result = search(GAME, START, evaluator, config)
        assert result.simulations == result.visits.sum() == simulations


def test_search_ends_at_a_number_of_nodes():
    result = search(GAME, START, "rollout", SearchConfig(simulations=0, nodes=500))
    assert len(result.tree) == 500


@pytest.mark.parametrize("evaluator", ["rollout", network])
def test_seconds_end_the_search_inside_the_native_loop(evaluator):
    search(GAME, START, evaluator, SearchConfig(simulations=10))  # compiles
    # Nothing else ends it: a full tree does not. A busy machine may need more time to begin.
    for seconds in (0.2, 2.0, 20.0):
        result = search(GAME, START, evaluator, SearchConfig(simulations=0, seconds=seconds))
        if result.simulations:
            break
    assert 0 < result.simulations == result.visits.sum()


def test_another_thread_can_stop_a_search():
    search(GAME, START, "rollout", SearchConfig(simulations=10))  # compiles
    stop, has_begun = StopFlag(), threading.Event()

    def stop_search():
        has_begun.wait()
        stop.set()

    thread = threading.Thread(target=stop_search)
    thread.start()
    config = SearchConfig(simulations=2_000_000_000, max_bytes=1 << 28)
    result = search(GAME, START, "rollout", config, stop=stop, progress=lambda *_: has_begun.set())
    thread.join()
    assert 0 < result.simulations < 2_000_000_000
    assert result.visits.sum() == result.simulations


@pytest.mark.parametrize("evaluator", ["rollout", "uniform", network])
@pytest.mark.parametrize(
    "budget", [{"simulations": 800}, {"simulations": 0, "nodes": 1}, {"seconds": 1e-9}]
)
def test_search_that_ends_before_it_begins_still_evaluates_the_root(evaluator, budget):
    stop = StopFlag()
    if budget == {"simulations": 800}:
        stop.set()
    result = search(GAME, [START] * 2, evaluator, SearchConfig(**budget), stop=stop)[1]
    assert result.simulations <= 800 * ("seconds" in budget)  # the clock may be late
    assert result.prior.sum() == pytest.approx(1)
    if result.simulations == 0:
        assert result.best_action == result.prior.argmax()


def test_progress_is_reported_up_to_the_end():
    seen = []
    config = SearchConfig(simulations=20_000)
    search(GAME, [START, START], "rollout", config, progress=lambda *now: seen.append(now))
    assert seen == sorted(seen)
    assert seen[-1] == (40_000, 40_000)


def test_progress_is_reported_early_even_if_simulations_are_slow():
    seen = []
    config = SearchConfig(simulations=2000, rollouts=100)
    search(GAME, START, "rollout", config, progress=lambda done, _: seen.append(done))
    assert seen[0] <= 2
    assert len(seen) > 3


def test_rounds_between_two_reports_become_fewer_as_well_as_more():
    assert next_rounds(1000, 30.0) == 1
    assert next_rounds(1000, 0.3) == 100
    assert next_rounds(1000, 0.015) == 2000
    assert next_rounds(1000, 0.0) == 16_000


def test_memory_is_as_planned():
    config = SearchConfig(simulations=50_000, max_bytes=2_000_000)
    searcher = Searcher(GAME, "uniform", config)
    stated = searcher.planned_bytes()
    assert stated <= 2_000_000
    result = searcher.search(START)
    taken = sum(array.nbytes for array in result.tree.arrays[0])
    assert taken == stated
    assert result.is_tree_full
    assert result.simulations == result.visits.sum() == 50_000
    assert not search(GAME, START, "uniform", SearchConfig(simulations=100)).is_tree_full


def test_tree_of_100_000_simulations_takes_less_than_30_megabytes():
    result = search(GAME, START, "uniform", SearchConfig(simulations=100_000))
    assert result.tree.used_bytes < 30_000_000
    assert Searcher(GAME, "uniform", result.config).planned_bytes() < 30_000_000


def test_kept_tree_grows_when_it_must():
    searcher = Searcher(GAME, "rollout", SearchConfig(simulations=300))
    state = GAME.new_state()
    for _ in range(6):
        result = searcher.search(state)
        assert not result.is_tree_full
        searcher.advance(result.best_action)
        GAME.apply(state, result.best_action)


def test_searcher_starts_over_for_another_position():
    searcher = Searcher(GAME, "rollout", SearchConfig(simulations=100))
    searcher.search(START)
    other = GAME.new_state()
    GAME.apply(other, 3)
    assert (
        searcher.search(other).visits.sum() == 100
    )  # nothing is reused, because advance was not called


def test_trace_is_empty_unless_requested():
    assert search(GAME, START, "uniform", SearchConfig(simulations=10)).trace == []


def test_a_budget_of_nodes_also_ends_if_the_tree_stops_growing():
    game = make_game("tic-tac-toe")
    state = game.new_state()
    for action in (0, 1, 2, 4, 3, 5):
        game.apply(state, action)
    result = search(game, state, "uniform", SearchConfig(simulations=0, nodes=50))
    assert len(result.tree) < 50
    assert result.simulations == 5000


@pytest.mark.parametrize("evaluator", ["uniform", "network"])
def test_progress_is_reported_after_the_tree_is_exhausted(evaluator):
    game = make_game("tic-tac-toe")
    state = game.new_state()
    for action in (0, 1, 2, 4, 3, 5):
        game.apply(state, action)
    calls = []

    def equal(planes):
        return np.zeros((len(planes), 9)), np.zeros(len(planes))

    for seconds in (0.5, 5.0, 50.0):  # on a busy machine, one round may take long
        calls.clear()
        search(
            game,
            state,
            equal if evaluator == "network" else evaluator,
            SearchConfig(simulations=0, seconds=seconds),
            progress=lambda done, _: calls.append(done),
        )
        if len(calls) > 1:
            break
    assert len(calls) > 1


def test_visits_include_those_of_the_reused_root():
    game = make_game("connect-four")
    config = SearchConfig(simulations=0, visits=100)
    searcher = Searcher(game, "uniform", config)
    state = game.new_state()
    first = searcher.search(state)
    assert first.visits.sum() == first.simulations == 100
    kept = int(first.visits[3])
    game.apply(state, 3)
    searcher.advance(3)
    second = searcher.search(state)
    assert second.visits.sum() == 100
    assert second.simulations == 100 - (kept - 1)  # without the child's own evaluation


def test_a_whole_tree_is_refused_if_one_byte_is_missing():
    game, config = make_game("gomoku(size=6)"), SearchConfig(simulations=64, max_bytes=1 << 30)
    size = plan_whole_tree(game, config, 8)
    assert size == TreeSize(65, 65 * 36)
    needed = tree_bytes(game, config, 8, size)
    enough = dataclasses.replace(config, max_bytes=needed)
    assert plan_whole_tree(game, enough, 8) == size == plan_tree(game, enough, 8)
    with pytest.raises(ValueError, match=f"take {needed:,} bytes"):
        plan_whole_tree(game, dataclasses.replace(config, max_bytes=needed - 1), 8)


def test_kernels_count_the_games_that_are_not_finished():
    game = make_game("tic-tac-toe")
    config = resolve(SearchConfig(simulations=4), "uniform")
    tree = make_tree(game, config, 3, plan_tree(game, config, 3))
    scratch, options = make_scratch(game, config, 3, 0), make_options(config, game)
    scratch.work["simulation_limit"] = [2, 4, 6]
    states = np.array([game.new_state()] * 3)

    def play(rounds):
        arguments = (tree, scratch, options, states, rounds, 0, 3)
        return cpu.simulate_games(register(game), *arguments)

    assert [play(3), play(2)] == [2, 1]  # the first round evaluates the roots
    scratch.work["stop"] = 1
    assert play(1) == 0
    assert scratch.work["simulations"].tolist() == [2, 4, 4]
