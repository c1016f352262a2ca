"""Accuracy on solved positions: of perfect and wrong networks, and of searches."""

import numpy as np
import pytest
from arena_agents import CONNECT_FOUR, TIC_TAC_TOE

from plainzero import SearchConfig
from plainzero.arena.accuracy import evaluate_positions, sample_positions, shuffle_positions
from plainzero.opponents.perfect import move_outcomes
from plainzero.opponents.solved_positions import PositionSet

ILLEGAL = -128


@pytest.fixture(scope="module")
def positions():
    """A few hundred solved tic-tac-toe positions from random games."""
    generator, states = np.random.default_rng(1), []
    while len(states) < 300:
        state = TIC_TAC_TOE.new_state()
        while not state.is_over:
            states.append(TIC_TAC_TOE.copy(state))
            TIC_TAC_TOE.apply(state, int(generator.choice(TIC_TAC_TOE.legal(state))))
    batch = np.array(states, TIC_TAC_TOE.dtype)
    return PositionSet(batch, move_outcomes(TIC_TAC_TOE, batch), batch["turn"].astype(np.int32))


def lookup_evaluator(positions, logits, values):
    """An evaluator that looks up its answers by observation."""
    known = {
        TIC_TAC_TOE.observation(state).tobytes(): (row, value)
        for state, row, value in zip(positions.states, logits, values, strict=True)
    }

    def evaluate(planes):
        rows = [known[plane.tobytes()] for plane in planes]
        return np.array([row for row, _ in rows], np.float32), np.array([v for _, v in rows])

    return evaluate


def test_a_perfect_network_never_errs(positions):
    best = positions.outcomes.max(axis=1)
    knowing = lookup_evaluator(
        positions, 50.0 * positions.outcomes.astype(float), best.astype(float)
    )
    found = evaluate_positions(TIC_TAC_TOE, knowing, positions)
    assert found.simulations == 0 and found.total.positions == len(positions.states)
    assert found.total.error_rate.mean == found.total.error_rate.low == 0.0
    assert 0.0 < found.total.error_rate.high < 0.02
    assert found.total.cross_entropy.mean == pytest.approx(0.0, abs=1e-6)
    assert found.total.value_sign.mean == 1.0 and found.total.draw_value.mean == 0.0


def test_one_position_gives_no_interval_of_a_mean(positions):
    best = positions.outcomes.max(axis=1)
    knowing = lookup_evaluator(positions, positions.outcomes.astype(float), best.astype(float))
    found = evaluate_positions(TIC_TAC_TOE, knowing, sample_positions(positions, 1))
    assert found.total.cross_entropy.mean > 0 and found.total.cross_entropy.low is None
    assert found.as_dict()["cross_entropy_interval"] is None


def test_an_inverted_network_errs_wherever_possible(positions):
    best = positions.outcomes.max(axis=1)
    legal = positions.outcomes != ILLEGAL
    worst = np.where(legal, positions.outcomes, 1).min(axis=1)
    contrary = lookup_evaluator(
        positions, -50.0 * positions.outcomes.astype(float), -best.astype(float)
    )
    found = evaluate_positions(TIC_TAC_TOE, contrary, positions)
    assert found.total.error_rate.mean == pytest.approx((worst < best).mean())
    assert found.total.value_sign.mean == 0.0
    assert found.total.error_rate.low < found.total.error_rate.mean < found.total.error_rate.high


def test_cross_entropy_of_equal_probabilities_is_the_share_of_good_moves(positions):
    def uniform(planes):
        return np.zeros((len(planes), 9), np.float32), np.full(len(planes), 0.25)

    found = evaluate_positions(TIC_TAC_TOE, uniform, positions)
    legal = positions.outcomes != ILLEGAL
    good = (positions.outcomes == positions.outcomes.max(axis=1)[:, None]).sum(axis=1)
    expected = -np.log(good / legal.sum(axis=1)).mean()
    assert found.total.cross_entropy.mean == pytest.approx(expected)
    assert found.total.cross_entropy.low < expected < found.total.cross_entropy.high
    assert found.total.draw_value.mean == pytest.approx(0.25)
    decided = positions.outcomes.max(axis=1)
    decided = decided[decided != 0]
    assert found.total.value_sign.mean == pytest.approx((decided > 0).mean())


def test_search_errs_less_with_more_simulations(positions):
    few, many = (
        evaluate_positions(TIC_TAC_TOE, "rollout", positions, SearchConfig(simulations=n), seed=1)
        for n in (2, 2000)
    )
    assert many.simulations == 2000
    assert many.total.error_rate.mean < 0.02 < few.total.error_rate.mean
    assert many.total.value_sign.mean > few.total.value_sign.mean
    assert many.total.cross_entropy.mean < few.total.cross_entropy.mean


def test_stages_add_up(positions):
    found = evaluate_positions(TIC_TAC_TOE, "uniform", positions, SearchConfig(simulations=20))
    assert list(found.by_stage) == ["opening", "middle", "end"]
    counts = [found.by_stage[stage].positions for stage in found.by_stage]
    plies = positions.plies
    assert counts == [(plies <= 2).sum(), ((plies > 2) & (plies <= 5)).sum(), (plies > 5).sum()]


def test_connect_four_is_cut_after_plies_13_and_25():
    states = []
    for plies in (0, 13, 14, 25, 26):
        state = CONNECT_FOUR.new_state()
        state.turn = plies
        states.append(state)
    batch = np.array(states, CONNECT_FOUR.dtype)
    outcomes = np.zeros((5, 7), np.int8)
    positions = PositionSet(batch, outcomes, batch["turn"].astype(np.int32))
    found = evaluate_positions(CONNECT_FOUR, "uniform", positions, SearchConfig(simulations=1))
    assert [measures.positions for measures in found.by_stage.values()] == [2, 2, 1]


def test_progress_can_stop_it_and_the_partial_result_counts(positions):
    many = positions.rows([*range(len(positions.states))] * 4)
    seen = []

    def progress(done, total):
        seen.append((done, total))
        raise StopIteration

    def uniform(planes):
        return np.zeros((len(planes), 9), np.float32), np.zeros(len(planes))

    found = evaluate_positions(TIC_TAC_TOE, uniform, many, progress=progress)
    assert seen == [(512, len(many.states))]
    assert found.was_interrupted and found.total.positions == 512


def test_a_measure_without_positions_is_none(positions):
    decided = positions.outcomes.max(axis=1) != 0
    only = positions.rows(decided)
    found = evaluate_positions(TIC_TAC_TOE, "uniform", only, SearchConfig(simulations=5))
    assert found.as_dict()["draw_value"] is None


def test_the_best_move_is_the_one_with_the_best_score(positions):
    legal, ranks = positions.outcomes != ILLEGAL, np.array([3, 8, 1, 0, 7, 2, 6, 5, 4])
    known = positions._replace(scores=np.where(legal, ranks, 99).astype(np.int16))

    def network(logits):
        return lambda planes: (np.tile(logits, (len(planes), 1)), np.zeros(len(planes)))

    best = evaluate_positions(TIC_TAC_TOE, network(ranks), known).total.best_move
    worst = evaluate_positions(TIC_TAC_TOE, network(-ranks), known).total.best_move
    assert best.mean == 1.0 and worst.mean == (legal.sum(axis=1) == 1).mean()
    unknown = evaluate_positions(TIC_TAC_TOE, network(ranks), positions)
    assert unknown.total.best_move.mean is None


def test_a_sample_is_always_the_same(positions):
    first, again = (sample_positions(positions, 50, seed=3) for _ in range(2))
    assert len(first.states) == 50 and np.array_equal(first.outcomes, again.outcomes)
    assert sample_positions(positions, 10**6) is positions


def test_shuffled_positions_are_the_same_ones_in_another_order(positions):
    shuffled = shuffle_positions(positions, seed=1)
    assert sorted(shuffled.plies.tolist()) == sorted(positions.plies.tolist())
    assert shuffled.plies.tolist() != positions.plies.tolist()
    rows = {
        TIC_TAC_TOE.text(state): outcome.tolist()
        for state, outcome in zip(*positions[:2], strict=True)
    }
    for state, outcome in zip(*shuffled[:2], strict=True):
        assert rows[TIC_TAC_TOE.text(state)] == outcome.tolist()
