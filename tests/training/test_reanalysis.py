"""Old positions searched again: which, with what result, and that a resumed window has them."""

import numpy as np
import pytest
import torch

from plainzero import SearchConfig, make_game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.selfplay.observations import Positions
from plainzero.training.reanalysis import Reanalyser
from plainzero.training.replay import ReplayWindow
from plainzero.training.settings import RunConfig, RunOptions, TrainingConfig, resolve_run

GAME = make_game("tic-tac-toe")
CONFIG = TrainingConfig(batch_size=16, reanalyse=0.5)
UNKNOWN = 9.0  # a number that no search gives


def some_positions(count, seed, fewest=0):
    """Positions of random play with at least so many stones, and numbers that nobody found."""
    generator, states, row = np.random.default_rng(seed), np.zeros(count, GAME.dtype), 0
    state = GAME.new_state()
    while row < count:
        if state.is_over:
            state = GAME.new_state()
        if state.turn >= fewest:
            states[row] = state
            row += 1
        GAME.apply(state, int(generator.choice(GAME.legal(state))))
    shapes = {"policies": (count, 9), "outcomes": (count, 2), "values": (count, 2)}
    return Positions(states, {n: np.full(s, UNKNOWN, np.float32) for n, s in shapes.items()})


def make_replay(sizes, config=CONFIG, fewest=0):
    replay = ReplayWindow(GAME, config)
    for generation, count in enumerate(sizes, 1):
        replay.add(some_positions(count, generation, fewest), generation)
    return replay


def make_reanalyser(**search):
    network = draw_zeros(make_network(GAME, NetworkConfig(blocks=1, channels=8), 0))
    config = RunConfig(
        search=SearchConfig(**({"simulations": 8, "selection": "gumbel"} | search)),
        training=CONFIG,
        run=RunOptions(backend="torch"),
    )
    return Reanalyser(GAME, config, 1), network


def column(replay, name):
    return replay.ring.in_order(name).numpy()


def value_of(state):
    """What best play gives the mover, by looking at everything."""
    if state.is_over:
        return float(state.returns[state.to_play])
    return max(-value_of(after) for after in followers(state))


def followers(state):
    for action in GAME.legal(state):
        after = GAME.copy(state)
        GAME.apply(after, action)
        yield after


def test_only_positions_of_earlier_generations_are_drawn_each_once():
    replay, random = make_replay([20, 10, 15]), np.random.default_rng(0)
    rows = replay.draw_old(12, random)
    assert len(set(rows.tolist())) == 12 and max(rows) < 30
    assert sorted(replay.draw_old(100, random)) == [*range(30)]
    assert len(make_replay([20]).draw_old(5, random)) == 0
    assert len(make_replay([]).draw_old(5, random)) == 0


def test_targets_of_the_drawn_positions_are_renewed_and_no_others():
    replay, (reanalyser, network) = make_replay([30, 10]), make_reanalyser()
    assert reanalyser.renew(replay, network, 20, np.random.default_rng(0)) == 20
    policies, values = column(replay, "policies"), column(replay, "values")
    renewed = (values != UNKNOWN).all(1)
    np.testing.assert_array_equal(column(replay, "renewed"), renewed)
    assert renewed.sum() == 20 and not renewed[30:].any()
    assert (policies[~renewed] == UNKNOWN).all()
    np.testing.assert_allclose(policies[renewed].sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(values[renewed].sum(1), 0, atol=1e-6)
    assert (column(replay, "outcomes") == UNKNOWN).all()  # nothing is proven without proofs
    for state, policy in zip(
        replay.states_of(np.flatnonzero(renewed)), policies[renewed], strict=True
    ):
        assert set(np.flatnonzero(policy)) <= set(GAME.legal(state))


def test_proven_positions_get_their_exact_value_and_best_moves():
    replay = make_replay([24, 1], fewest=5)
    reanalyser, network = make_reanalyser(simulations=200, proven_values=True)
    assert reanalyser.renew(replay, network, 24, np.random.default_rng(1)) == 24
    found = zip(
        replay.states_of(np.arange(24)),
        column(replay, "policies"),
        column(replay, "outcomes"),
        column(replay, "values"),
        strict=False,
    )
    for state, policy, outcomes, values in found:
        exact = value_of(state)
        assert outcomes.tolist() == values.tolist() == [exact, -exact]
        kept = {a for a in GAME.legal(state) if -value_of(after_move(state, a)) == exact}
        assert set(np.flatnonzero(policy)) <= kept


def after_move(state, action):
    after = GAME.copy(state)
    GAME.apply(after, action)
    return after


def test_the_newest_weights_search():
    policies = []
    for seed in (1, 1, 2):
        replay, (reanalyser, network) = make_replay([12, 1]), make_reanalyser()
        reanalyser.renew(replay, network, 4, np.random.default_rng(3))
        draw_zeros(network, seed)
        with torch.no_grad():
            for weight in network.parameters():
                weight.normal_(0, 0.5, generator=torch.Generator().manual_seed(seed))
        reanalyser.renew(replay, network, 12, np.random.default_rng(4))
        policies.append(column(replay, "policies")[:12])
    np.testing.assert_array_equal(policies[0], policies[1])
    assert not np.array_equal(policies[0], policies[2])


def test_a_restored_window_has_the_renewed_targets():
    replay, (reanalyser, network) = make_replay([30, 10]), make_reanalyser()
    reanalyser.renew(replay, network, 20, np.random.default_rng(0))
    restored = make_replay([30, 10])
    restored.restore(replay.saved())
    for name in ("policies", "values", "outcomes", "renewed"):
        np.testing.assert_array_equal(column(restored, name), column(replay, name))
    restored = make_replay([30, 9])  # other positions
    restored.restore(replay.saved())
    assert not column(restored, "renewed").any()


def test_a_gpu_refuses_it():
    with pytest.raises(ValueError, match=r"training\.reanalyse works on the CPU only"):
        resolve_run(RunConfig(training=CONFIG), GAME, "cuda:0")
