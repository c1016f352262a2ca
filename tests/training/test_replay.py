"""The replay window: its size, the batches drawn from it, and what is saved of it."""

import dataclasses

import numpy as np
import pytest
import torch

from plainzero import make_game
from plainzero.selfplay.observations import Positions, observe_all
from plainzero.training.replay import ReplayWindow, window_size
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
    generator, states, state = np.random.default_rng(seed), np.zeros(count, GAME.dtype), None
    for row in range(count):
        if state is None or state.is_over:
            state = GAME.new_state()
        states[row] = state
        GAME.apply(state, int(generator.choice(GAME.legal(state))))
    policies = generator.dirichlet(np.ones(9), count).astype(np.float32)
    outcomes, values = generator.uniform(-1, 1, (2, count, 2)).astype(np.float32)
    targets = {"policies": policies, "outcomes": outcomes, "values": values}
    return Positions(states, targets)


def as_tensors(positions):
    states = positions.states.view(np.uint8).reshape(len(positions.states), -1)
    columns = {name: torch.from_numpy(column) for name, column in positions.targets.items()}
    return Positions(torch.from_numpy(states), columns)


def make_replay(count=40, **options):
    options = {"batch_size": 16, "augment": False, "value_mix": 0.25} | options
    replay = ReplayWindow(GAME, TrainingConfig(**options))
    replay.add(some_positions(count), 1)
    return replay


def drawn(replay, steps, seed=0):
    """The batches of the next steps."""
    replay.plan_steps(steps, np.random.default_rng(seed))
    batches = []
    while replay.prepare_step():
        batches.append(replay.draw())
    return batches


def used_rows(batch):
    return batch.rows[batch.counts > 0].tolist()


def untransformed(replay, rows):
    return replay.batch(rows, torch.zeros(len(rows), dtype=torch.int64))


@pytest.mark.parametrize("is_uploaded", [True, False])
@pytest.mark.parametrize("mix", [0.0, 0.25, 1.0])
def test_a_batch_has_the_positions_of_its_rows(mix, is_uploaded):
    replay, positions = make_replay(0, value_mix=mix), some_positions(40)
    replay.add(as_tensors(positions) if is_uploaded else positions, 1)
    rows = np.random.default_rng(0).integers(0, 40, 30)
    batch = untransformed(replay, torch.from_numpy(rows))
    policies, outcomes, values = positions.targets.values()
    z = (1 - mix) * outcomes + mix * values
    np.testing.assert_allclose(batch.values, z[rows], atol=1e-6)
    np.testing.assert_array_equal(batch.targets["outcomes"], outcomes[rows])
    np.testing.assert_array_equal(batch.planes, observe_all(GAME, positions.states)[rows])
    np.testing.assert_array_equal(batch.targets["policies"], policies[rows])
    np.testing.assert_array_equal(batch.rows, rows)
    for row, legal in zip(rows, batch.legal.numpy(), strict=True):
        assert np.flatnonzero(legal).tolist() == GAME.legal(positions.states[row])
    assert (batch.weights == 1).all() and (batch.counts == 1).all()


def test_planes_and_policies_are_transformed_together_by_every_symmetry():
    replay, seen = make_replay(160, augment=True, batch_size=160), set()
    (batch,) = drawn(replay, 1)
    still = untransformed(make_replay(160), batch.rows)
    for row in range(160):
        ways = [
            number
            for number, symmetry in enumerate([None, *GAME.symmetries()])
            if is_transformed(symmetry, still, batch, row)
        ]
        assert len(ways) == 1  # random policies: none is symmetric
        seen |= set(ways)
    assert seen == set(range(8))
    assert torch.equal(batch.values, still.values)


def is_transformed(symmetry, still, batch, row):
    planes, policy = still.planes[row].numpy(), still.targets["policies"][row].numpy()
    legal = still.legal[row].numpy()
    if symmetry is not None:
        moved = list(symmetry.actions)  # moved[a] is what a becomes
        planes, policy, legal = symmetry.planes(planes), policy.copy(), legal.copy()
        policy[moved] = still.targets["policies"][row].numpy()
        legal[moved] = still.legal[row].numpy()
    found = batch.planes, batch.targets["policies"], batch.legal
    return all(
        np.array_equal(a, b[row]) for a, b in zip((planes, policy, legal), found, strict=True)
    )


def test_the_latest_positions_stay():
    replay = make_replay(0, window_start=20, window_exponent=0.5, window_share=0.5)
    kept, made, total = np.zeros((0, 9), np.float32), [], 0
    reallocations = [replay.ring.reallocations]
    for generation, count in enumerate([30, 7, 0, 25, 3, 200, 1, 90, 90, 90]):
        positions = some_positions(count, generation)
        replay.add(positions, generation)
        total += count
        size = window_size(total, replay.config)
        kept = np.concatenate([kept, positions.targets["policies"]])[-size:]
        made = [*made, *[generation] * count][-size:]
        assert replay.total == total and len(replay) == len(kept) == size
        assert replay.generations.tolist() == made
        assert replay.mean_age(12) == pytest.approx(np.mean(12 - np.array(made)))
        np.testing.assert_array_equal(replay.ring.in_order("policies"), kept)
        reallocations.append(replay.ring.reallocations)
    assert size < total
    assert 2 <= reallocations[-1] <= 4  # it doubles, and not for each of ten additions
    assert replay.ring.rows()[0] != 0  # the first row is no longer the oldest


def test_states_of_another_game_are_refused():
    states = torch.zeros((4, GAME.dtype.itemsize + 1), dtype=torch.uint8)
    with pytest.raises(ValueError, match=r"tic-tac-toe needs \(N, "):
        make_replay().add(as_tensors(some_positions(4))._replace(states=states), 1)


def test_uniform_rows_are_passes_without_repeats():
    replay = make_replay(40)
    batches = drawn(replay, 5)  # 80 rows: two passes
    assert [len(batch.rows) for batch in batches] == [16] * 5
    assert (replay.uses == 2).all()
    assert all(len(set(used_rows(batch))) == 16 for batch in batches)
    assert len(set(used_rows(batches[0]) + used_rows(batches[1]))) == 32
    assert used_rows(batches[0]) != sorted(used_rows(batches[0]))


@pytest.mark.parametrize("priority", [0.0, 1.0])
def test_equal_seeds_draw_equal_batches(priority):
    found = []
    for seed in (3, 3, 4):
        batches = drawn(make_replay(augment=True, priority=priority), 4, seed)
        found.append([(batch.rows.tolist(), batch.planes.tolist()) for batch in batches])
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("priority", [0.0, 1.0])
def test_no_position_is_used_more_often_than_allowed(priority):
    replay = make_replay(40, max_uses=3, priority=priority)
    batches = drawn(replay, 100)
    assert len(batches) < 100 and (replay.uses == 3).all()
    rows = [row for batch in batches for row in used_rows(batch)]
    assert np.bincount(rows).tolist() == [3] * 40
    assert drawn(replay, 1) == []


@pytest.mark.parametrize("priority", [0.0, 1.0])
def test_a_window_smaller_than_a_batch_is_padded(priority):
    batches = drawn(make_replay(5, priority=priority), 3)
    assert [sorted(used_rows(batch)) for batch in batches] == [[0, 1, 2, 3, 4]] * 3
    for batch in batches:
        assert len(batch.planes) == len(batch.targets["policies"]) == 16
        assert torch.equal(batch.weights, batch.counts)
        assert batch.counts.tolist() == [1.0] * 5 + [0.0] * 11


def test_an_empty_window_has_no_steps():
    replay = make_replay(0)
    assert drawn(replay, 3) == []
    assert replay.mean_age(3) == replay.mean_uses() == 0.0


def test_planned_steps_are_refused_once_positions_were_added():
    replay = make_replay()
    replay.plan_steps(3, np.random.default_rng(0))
    assert replay.prepare_step()
    replay.add(some_positions(4), 2)
    with pytest.raises(RuntimeError, match="call plan_steps after add"):
        replay.prepare_step()


def test_large_losses_are_drawn_more_often():
    replay = make_replay(400, priority=1.0, max_uses=10**6, batch_size=20)
    losses = torch.linspace(0.1, 4.0, 400)
    replay.learned(untransformed(replay, torch.arange(400)), losses)
    drawn(replay, 600)
    uses = replay.uses
    assert uses.sum() == 12_000
    for part in (slice(100), slice(300, 400)):
        expected = losses[part].sum() / losses.sum()
        assert uses[part].sum() / uses.sum() == pytest.approx(float(expected), abs=0.02)


def test_weights_make_up_for_priorities():
    replay = make_replay(400, priority=0.5, priority_correction=1.0, max_uses=10**6, batch_size=20)
    losses = torch.linspace(0.1, 4.0, 400)
    replay.learned(untransformed(replay, torch.arange(400)), losses)
    totals = np.zeros(400)
    for batch in drawn(replay, 2000):
        expected = losses[batch.rows] ** -0.5  # (N · p)^−1, and 1 at most
        torch.testing.assert_close(batch.weights, expected / expected.max())
        totals[batch.rows] += (batch.weights * expected.max()).numpy()  # unscaled
    low, high = totals[:200].mean(), totals[200:].mean()
    assert 0.93 < low / high < 1.07  # without weights it would be 0.57


def test_batches_by_priority_are_full_while_there_are_positions():
    replay = make_replay(40, priority=1.0, max_uses=4)
    losses = torch.tensor([8.0] * 4 + [0.01] * 36)  # four are drawn again and again
    replay.plan_steps(9, np.random.default_rng(0))
    for _ in range(9):
        replay.learned(untransformed(replay, torch.arange(40)), losses)
        usable = int((replay.uses < 4).sum())
        assert replay.prepare_step()
        rows = used_rows(replay.draw())
        assert len(rows) == len(set(rows)) == min(16, usable)


def test_new_positions_come_before_those_that_were_learned():
    replay = make_replay(40, priority=1.0)
    assert (replay.priorities == 1.0).all()
    losses = torch.linspace(0.5, 3.0, 16)
    (batch,) = drawn(replay, 1)
    replay.learned(batch, losses)
    replay.add(some_positions(20, 1), 2)
    assert (replay.priorities[40:] == 3.0).all()
    np.testing.assert_array_equal(replay.priorities[batch.rows.numpy()], losses.numpy())


@pytest.mark.parametrize("priority", [0.0, 0.5])
@pytest.mark.parametrize("max_uses", [12, 1000])
def test_a_restored_window_knows_how_often_positions_were_used(priority, max_uses):
    options = {"priority": priority, "max_uses": max_uses}
    replay, restored = make_replay(**options), make_replay(**options)
    for one in (replay, restored):
        one.add(some_positions(20, 1), 2)
    for batch in drawn(replay, 5 if max_uses == 12 else 1500):
        replay.learned(batch, torch.linspace(0.5, 3.0, 16))
    assert replay.uses.max() > (255 if max_uses == 1000 else 0)
    restored.restore(replay.saved())
    assert restored.uses.tolist() == replay.uses.tolist()
    assert restored.mean_uses() == replay.mean_uses() == pytest.approx(replay.uses.mean())
    if priority:
        assert restored.priorities.tolist() == replay.priorities.tolist()
    rows = [[used_rows(batch) for batch in drawn(one, 4, 9)] for one in (replay, restored)]
    assert rows[0] == rows[1]


def test_a_window_saved_with_a_generation_for_each_position_is_restored():
    replay = make_replay()
    saved = {
        "generations": np.ones(40, np.int32),
        "uses": np.arange(40, dtype=np.int32),
        "priorities": np.linspace(1, 2, 40, dtype=np.float32),
    }
    replay.restore(saved)
    assert replay.uses.tolist() == saved["uses"].tolist()
    np.testing.assert_array_equal(replay.priorities, saved["priorities"])


@pytest.mark.parametrize("count", [0, 30, 40])
def test_a_window_of_other_positions_is_new(count):
    saved = make_replay(35)
    drawn(saved, 2)
    for known in (saved.saved(), {}):
        replay = make_replay(count)
        replay.restore(known)
        assert replay.uses.tolist() == [0] * count


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
