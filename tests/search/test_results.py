"""Search results: proofs come first, and results stay valid when the searcher continues."""

import math

import numpy as np
import pytest

from plainzero import SearchConfig, Searcher, make_game, search
from plainzero.search.result import standard_error

GAME = make_game("tic-tac-toe")


def position(*actions):
    state = GAME.new_state()
    for action in actions:
        GAME.apply(state, action)
    return state


def test_sampled_moves_are_never_proven_lost_and_win_if_a_win_is_proven():
    config = SearchConfig(simulations=60, proven_values=True, choice="temperature")
    states = [position(0, 4, 1)] * 60 + [position(0, 3, 1, 4)] * 60
    for result in search(GAME, states, "rollout", config, seed=1):
        worth = [edge.exact == result.value for edge in result.tree.edges() if result.proven]
        assert np.isnan(result.exact[result.action]) or result.exact[result.action] != -1.0
        if result.proven:
            assert result.exact[result.action] == result.value
            assert any(worth)


def test_policy_target_excludes_moves_that_are_proven_wrong():
    config = SearchConfig(simulations=400, proven_values=True)
    result = search(GAME, position(3, 0, 4, 1), "uniform", config)  # 5 wins immediately
    assert result.proven and result.value == 1.0
    assert result.policy_target[5] == result.policy()[5] == 1.0
    assert result.visits.sum() > result.visits[5]


def test_a_result_outlives_its_tree_when_the_searcher_continues():
    searcher = Searcher(GAME, "rollout", SearchConfig(simulations=50, trace=True))
    state = GAME.new_state()
    result = searcher.search(state)
    visits, value, line = result.visits.copy(), result.value, result.principal_variation
    assert len(result.trace) == 50 and line[0] == result.best_action
    searcher.advance(result.best_action)
    assert (result.visits == visits).all() and result.value == value
    for ask in (
        lambda: result.principal_variation,
        lambda: result.trace,
        lambda: result.tree.edges(),
    ):
        with pytest.raises(RuntimeError, match="this tree is gone"):
            ask()


def test_lower_confidence_bound_without_visits_goes_by_prior():
    logits = np.zeros((1, 9))
    logits[0, 5] = 3.0
    config = SearchConfig(simulations=0, nodes=1, choice="lcb")
    result = search(GAME, GAME.new_state(), lambda planes: (logits, np.zeros(1)), config)
    assert result.simulations == 0
    assert result.best_action == 5


@pytest.mark.parametrize("simulations", [40, 400])
def test_a_lower_confidence_bound_prefers_no_move_that_lost_every_playout(simulations):
    game = make_game("connect-four")
    config = SearchConfig(simulations=simulations, choice="lcb")
    for seed in range(50):
        result = search(game, game.new_state(), "rollout", config, seed=seed)
        assert result.q[result.best_action] > -1.0


def test_few_equal_results_are_not_certain():
    assert standard_error(2, -1.0, 2.0) > 0.2
    assert standard_error(1, 1.0, 1.0) == pytest.approx(0.5)  # as far off as results can be
    results = np.array([1.0, -1.0] * 5_000)
    usual = results.std() / math.sqrt(len(results))
    found = standard_error(len(results), results.mean(), (results**2).sum())
    assert found == pytest.approx(usual, rel=1e-6)  # with many results, the one more has no weight


def test_forced_playouts_are_not_learned():
    logits = np.linspace(0, 3, 9)[None]
    config = SearchConfig(simulations=400, forced_playouts=2.0, noise_weight=0.25)

    def network(planes):
        return np.repeat(logits, len(planes), axis=0), np.zeros(len(planes))

    result = search(GAME, GAME.new_state(), network, config, seed=2)
    plain = result.visits / result.visits.sum()
    assert result.policy_target.sum() == pytest.approx(1)
    assert result.policy_target[result.best_action] >= plain[result.best_action]


def test_gumbel_target_prefers_better_moves_to_the_prior():
    config = SearchConfig(simulations=64, selection="gumbel")
    result = search(GAME, position(0, 3, 1, 4), "uniform", config)
    assert result.best_action == 2
    assert result.policy_target.argmax() == 2
    assert result.policy_target[2] > 0.9


def test_chance_in_a_row_does_not_fill_the_tree():
    game = make_game("2048")
    state = game.new_state()
    while state.to_play < 0:
        game.apply(state, game.legal(state)[0])
    assert not search(game, state, "rollout", SearchConfig(simulations=500)).is_tree_full


def test_values_per_player_are_read_from_the_mover_on():
    game = make_game("trio")
    state = game.new_state()

    def evaluator(planes):
        values = np.array([[0.5, -0.25, 0.125]], np.float32)
        return np.zeros((len(planes), game.num_actions)), np.repeat(values, len(planes), axis=0)

    by_seat = []
    for action in range(3):
        tree = search(game, state, evaluator, SearchConfig(simulations=1)).tree
        by_seat.append(tree.values(0).tolist())
        game.apply(state, action)
    # The root's value is the mean of its own evaluation and its only child's, one seat later.
    own, next_one = np.array([0.5, -0.25, 0.125]), np.array([0.125, 0.5, -0.25])
    mean = (own + next_one) / 2
    assert by_seat == [pytest.approx(np.roll(mean, seat)) for seat in range(3)]
