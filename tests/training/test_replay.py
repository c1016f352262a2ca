"""The replay window: its size, what is drawn from it, and how positions are turned."""

import dataclasses

import numpy as np
import pytest

from plainzero import make_game
from plainzero.selfplay.observations import Positions, observe_all
from plainzero.training.replay import Replay, window_size
from plainzero.training.settings import TrainingConfig

GAME = make_game("tic-tac-toe")
KATAGO = TrainingConfig(window_start=250_000, window_exponent=0.75, window_share=0.4)


@pytest.mark.parametrize(
    ("total", "size"),
    [
        (0, 0),
        (1, 1),
        (250_000, 250_000),
        (500_000, 340_905),  # 250,000 · (1 + 0.4 · (2^0.75 − 1) / 0.75)
        (25_000_000, 4_333_036),
        (241_000_000, 23_185_604),  # about the window at the end of KataGo's main run
    ],
)
def test_the_window_grows_by_katagos_power_law(total, size):
    assert abs(window_size(total, KATAGO) - size) <= 0.0005 * size


def test_the_window_never_shrinks_nor_outgrows_the_data():
    config = TrainingConfig(window_start=100, window_exponent=0.9, window_share=1.0)
    sizes = [window_size(total, config) for total in range(2000)]
    assert sizes == sorted(sizes)
    assert all(size <= total for total, size in enumerate(sizes))
    assert np.diff(sizes).max() == 1


def some_positions(count, seed=0):
    """Positions of random play, with numbers to recognise each by."""
    generator, states, state = np.random.default_rng(seed), [], GAME.new_state()
    while len(states) < count:
        if state.is_over:
            state = GAME.new_state()
        states.append(GAME.copy(state))
        GAME.apply(state, int(generator.choice(GAME.legal(state))))
    array = np.zeros(count, GAME.dtype)
    for row, state in enumerate(states):
        array[row] = state
    policies = generator.dirichlet(np.ones(9), count).astype(np.float32)
    outcomes, values = generator.uniform(-1, 1, (2, count, 2)).astype(np.float32)
    return Positions(array, policies, outcomes, values)


def make_replay(count=40, **options):
    options = {"batch_size": 16, "augment": False, "value_mix": 0.0} | options
    replay = Replay(GAME, TrainingConfig(**options))
    replay.add(some_positions(count), 1)
    return replay


def drawn(plan):
    batches = []
    while (batch := plan.next()) is not None:
        batches.append(batch)
    return batches


def test_the_latest_positions_stay():
    replay = make_replay(30, window_start=20, window_exponent=0.5, window_share=0.5)
    first = len(replay)
    assert first == window_size(30, replay.config) < 30
    replay.add(some_positions(25, 1), 2)
    assert replay.total == 55 and len(replay) == window_size(55, replay.config)
    assert replay.generations.tolist() == [1] * (len(replay) - 25) + [2] * 25
    assert replay.mean_age(4) == pytest.approx((4 - replay.generations).mean())


def test_uniform_rows_are_passes_without_repeats():
    replay = make_replay(40)
    batches = drawn(replay.plan(5, np.random.default_rng(0)))  # 80 rows: two passes
    assert [len(batch.rows) for batch in batches] == [16] * 5
    assert (replay.uses == 2).all()
    assert all(len(set(batch.rows)) == 16 for batch in batches)
    assert len(set(np.concatenate([batch.rows for batch in batches[:2]]))) == 32
    assert batches[0].rows.tolist() != sorted(batches[0].rows)


@pytest.mark.parametrize("priority", [0.0, 1.0])
def test_no_position_is_used_more_often_than_allowed(priority):
    replay = make_replay(40, max_uses=3, priority=priority)
    batches = drawn(replay.plan(100, np.random.default_rng(0)))
    assert len(batches) < 100 and (replay.uses == 3).all()
    assert np.bincount(np.concatenate([batch.rows for batch in batches])).tolist() == [3] * 40


def test_a_window_smaller_than_a_batch_gives_small_batches():
    batches = drawn(make_replay(5).plan(3, np.random.default_rng(0)))
    assert [sorted(batch.rows) for batch in batches] == [[0, 1, 2, 3, 4]] * 3


def test_large_losses_are_drawn_more_often():
    replay = make_replay(400, priority=1.0, max_uses=10**6, batch_size=20)
    plan = replay.plan(2000, np.random.default_rng(0))
    losses = np.linspace(0.1, 4.0, 400).astype(np.float32)
    batch = replay.batch(np.arange(400), np.random.default_rng(0))
    plan.learned(batch, losses)
    batches = drawn(plan)
    uses = np.bincount(np.concatenate([b.rows for b in batches]), minlength=400)
    assert uses[:100].sum() / uses.sum() == pytest.approx(
        losses[:100].sum() / losses.sum(), abs=0.01
    )
    assert uses[300:].sum() / uses.sum() == pytest.approx(
        losses[300:].sum() / losses.sum(), abs=0.02
    )


def test_weights_make_up_for_priorities():
    replay = make_replay(400, priority=0.5, priority_correction=1.0, max_uses=10**6, batch_size=20)
    plan = replay.plan(2000, np.random.default_rng(0))
    losses = np.linspace(0.1, 4.0, 400).astype(np.float32)
    plan.learned(replay.batch(np.arange(400), np.random.default_rng(0)), losses)
    batch = plan.next()
    expected = losses[batch.rows] ** -0.5  # (N · p)^−1, and 1 at most
    np.testing.assert_allclose(batch.weights, expected / expected.max(), rtol=1e-5)
    totals = np.zeros(400)
    for batch in drawn(plan):
        totals[batch.rows] += batch.weights * (losses[batch.rows] ** -0.5).max()  # unscaled
    low, high = totals[:200].mean(), totals[200:].mean()
    assert 0.93 < low / high < 1.07  # without weights it would be 0.57


def test_batches_by_priority_are_full_while_there_are_positions():
    replay = make_replay(40, priority=1.0, max_uses=4)
    plan = replay.plan(9, np.random.default_rng(0))
    losses = np.array([8.0] * 4 + [0.01] * 36, np.float32)  # four are drawn again and again
    for _ in range(9):
        plan.learned(replay.batch(np.arange(40), np.random.default_rng(0)), losses)
        usable = int((replay.uses < 4).sum())
        batch = plan.next()
        assert len(batch.rows) == len(set(batch.rows)) == min(16, usable)


def test_new_positions_come_before_those_that_were_learned():
    replay = make_replay(40, priority=1.0)
    assert (replay.priorities == 1.0).all()
    losses = np.linspace(0.5, 3.0, 40).astype(np.float32)
    batch = replay.batch(np.arange(40), np.random.default_rng(0))
    replay.plan(1, np.random.default_rng(0)).learned(batch, losses)
    replay.add(some_positions(20, 1), 2)
    assert (replay.priorities[40:] == 3.0).all()
    np.testing.assert_array_equal(replay.priorities[:40], losses)


def test_z_is_a_mixture_of_outcome_and_search():
    for mix in (0.0, 0.25, 1.0):
        replay, positions = make_replay(value_mix=mix), some_positions(40)
        batch = replay.batch(np.arange(40), np.random.default_rng(0))
        expected = (1 - mix) * positions.outcomes + mix * positions.values
        np.testing.assert_allclose(batch.values, expected, atol=1e-6)
        np.testing.assert_array_equal(batch.planes, observe_all(GAME, positions.states))
        np.testing.assert_array_equal(batch.policies, positions.policies)


def test_planes_and_policies_are_turned_together():
    positions = some_positions(40)
    replay = make_replay(augment=True)
    planes, seen = observe_all(GAME, positions.states), set()
    for seed in range(6):
        batch = replay.batch(np.arange(40), np.random.default_rng(seed))
        for row in range(40):
            ways = [
                number
                for number, symmetry in enumerate([None, *GAME.symmetries()])
                if is_turned(symmetry, planes[row], positions.policies[row], batch, row)
            ]
            assert len(ways) == 1  # random policies: no symmetric one
            seen |= set(ways)
    assert seen == set(range(8))


def is_turned(symmetry, planes, policy, batch, row):
    if symmetry is not None:
        turned = np.zeros_like(policy)
        turned[list(symmetry.actions)] = policy  # actions[a] is what a becomes
        planes, policy = symmetry.planes(planes), turned
    return np.array_equal(planes, batch.planes[row]) and np.array_equal(policy, batch.policies[row])


def test_equal_generators_draw_equal_batches():
    rows = []
    for _ in range(2):
        replay = make_replay(augment=True)
        batches = drawn(replay.plan(4, np.random.default_rng(3)))
        rows.append([(batch.rows.tolist(), batch.planes.tobytes()) for batch in batches])
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("reuse", 0.0),
        ("max_uses", 0),
        ("window_exponent", 0.0),
        ("window_exponent", 1.5),
        ("value_mix", 1.5),
        ("priority", -1.0),
        ("average_decay", 1.0),
        ("optimizer", "adam"),
    ],
)
def test_settings_that_make_no_sense_are_refused(option, value):
    with pytest.raises(ValueError, match=option):
        dataclasses.replace(TrainingConfig(), **{option: value})
