"""Mistakes found in published MCTS and AlphaZero texts and code, with a test against each."""

import numpy as np
import pytest

from plainzero import SearchConfig, Searcher, make_game, search
from plainzero.search.kernels.formulas import q_of
from plainzero.search.kernels.options import PENDING_COUNT
from plainzero.search.result import visits_to_policy

TIC_TAC_TOE = make_game("tic-tac-toe")
CONNECT_FOUR = make_game("connect-four")
DOTS_AND_BOXES = make_game("dots-and-boxes")


def after(game, *actions):
    """The position after `actions`."""
    state = game.new_state()
    for action in actions:
        game.apply(state, action)
    return state


class FixedEvaluator:
    """The same logits and value for every position; counts its calls."""

    def __init__(self, game, logits=None, value=0.0):
        self.logits = np.zeros(game.num_actions) if logits is None else np.asarray(logits, float)
        self.value = value
        self.batches = []

    def __call__(self, observations):
        self.batches.append(len(observations))
        count = len(observations)
        return np.tile(self.logits, (count, 1)), np.full(count, self.value)


def logits_for(game, **priors):
    """Logits whose softmax gives `priors` by action, and almost 0 to the others."""
    logits = np.full(game.num_actions, -50.0)
    for action, prior in priors.items():
        logits[int(action[1:])] = np.log(prior)
    return logits


# ---- point of view of values ---------------------------------------------------------------------

# x x .      x to move wins at 2;
# o o .      any other move but 5 loses to o at 5.
# . . .
WIN_OR_LOSE = (0, 3, 1, 4)


@pytest.mark.parametrize("selection", ["uct", "puct", "puct-log", "gumbel"])
@pytest.mark.parametrize("evaluator", ["uniform", "rollout"])
def test_search_does_not_maximise_the_opponents_value(selection, evaluator):
    config = SearchConfig(simulations=200, selection=selection)
    result = search(TIC_TAC_TOE, after(TIC_TAC_TOE, *WIN_OR_LOSE), evaluator, config)
    assert result.best_action == 2
    assert result.q[2] == 1.0
    assert result.q[[6, 7, 8]].max() < 0.5


def test_search_blocks_a_loss_in_one():
    # x . .
    # o o .    x must play at 5.
    # . . x
    state = after(TIC_TAC_TOE, 0, 3, 8, 4)
    result = search(TIC_TAC_TOE, state, "rollout", SearchConfig(simulations=400))
    assert result.best_action == 5


def test_value_is_the_movers_even_if_a_player_moves_twice():
    # One box lacks one line: the player who draws it owns the box and moves again.
    game = DOTS_AND_BOXES
    state = after(game, 0, 2, 6)
    mover = state.to_play
    closing = next(a for a in game.legal(state) if keeps_the_move(game, state, a))
    evaluator = FixedEvaluator(game, value=0.25)
    result = search(
        game, state, evaluator, SearchConfig(simulations=len(game.legal(state)), fpu="infinite")
    )
    # Each move was tried once, and the evaluator favours the player to move.
    assert result.visits[closing] == 1
    assert result.q[closing] == 0.25
    others = [a for a in game.legal(state) if a != closing]
    assert (result.q[others] == -0.25).all()
    assert result.values[mover] == -result.values[1 - mover]


def keeps_the_move(game, state, action):
    after_it = game.copy(state)
    game.apply(after_it, action)
    return after_it.to_play == state.to_play


def test_finished_games_are_scored_for_each_player():
    config = SearchConfig(simulations=300)
    winning = search(TIC_TAC_TOE, after(TIC_TAC_TOE, *WIN_OR_LOSE), "uniform", config)
    # o to move, but x threatens 2 and 6: lost.
    losing = search(TIC_TAC_TOE, after(TIC_TAC_TOE, 0, 8, 1, 4, 3), "uniform", config)
    assert winning.to_play == 0 and winning.values[0] > 0.9 and winning.values[1] < -0.9
    assert losing.to_play == 1 and losing.values[0] > 0.5 and losing.values[1] < -0.5


def test_draws_are_exactly_zero():
    # x o x
    # x o o    the last cell makes a draw.
    # o x .
    state = after(TIC_TAC_TOE, 0, 1, 2, 4, 3, 5, 7, 6)
    result = search(TIC_TAC_TOE, state, "rollout", SearchConfig(simulations=50))
    assert result.visits[8] == 50
    assert result.q[8] == 0.0
    assert result.values.tolist() == [0.0, 0.0]


def test_ties_in_visits_go_to_the_movers_better_value():
    # Four simulations give two moves two visits each; the one whose replies are worse for the
    # opponent is better, and it is not the first.
    def evaluator(observations):
        good = observations[:, 1, 2, 0] == 1.0  # the mover's opponent has played at 6
        return np.tile(logits_for(TIC_TAC_TOE, a0=0.5, a6=0.5), (len(good), 1)), np.where(
            good, -0.01, 0.01
        )

    result = search(TIC_TAC_TOE, TIC_TAC_TOE.new_state(), evaluator, SearchConfig(simulations=4))
    assert result.visits[[0, 6]].tolist() == [2, 2]
    assert result.q[6] > result.q[0]
    assert result.best_action == 6


# ---- the first simulation ------------------------------------------------------------------------


def test_prior_counts_in_the_first_simulation():
    evaluator = FixedEvaluator(CONNECT_FOUR, logits_for(CONNECT_FOUR, a0=0.3, a4=0.7))
    result = search(CONNECT_FOUR, CONNECT_FOUR.new_state(), evaluator, SearchConfig(simulations=1))
    assert result.visits.tolist() == [0, 0, 0, 0, 1, 0, 0]


def test_value_of_the_root_itself_is_not_dropped():
    evaluator = FixedEvaluator(CONNECT_FOUR, value=0.5)
    result = search(CONNECT_FOUR, CONNECT_FOUR.new_state(), evaluator, SearchConfig(simulations=1))
    assert result.q[0] == -0.5
    assert result.value == 0.0  # the mean of 0.5 and -0.5


def test_q_of_one_visit_is_its_whole_result():
    evaluator = FixedEvaluator(CONNECT_FOUR, value=0.8)
    result = search(CONNECT_FOUR, CONNECT_FOUR.new_state(), evaluator, SearchConfig(simulations=1))
    assert result.q[0] == pytest.approx(-0.8)
    assert q_of(8.0, 10, 0, PENDING_COUNT, 0.0) == 0.8


def test_each_simulation_evaluates_the_one_node_that_it_adds():
    evaluator = FixedEvaluator(CONNECT_FOUR)
    result = search(CONNECT_FOUR, CONNECT_FOUR.new_state(), evaluator, SearchConfig(simulations=30))
    assert evaluator.batches == [1] * 31  # the root, then one position per simulation
    assert len(result.tree) == 31
    assert result.visits.sum() == 30


def test_one_call_gives_policy_and_value_of_all_leaves():
    evaluator = FixedEvaluator(CONNECT_FOUR)
    config = SearchConfig(simulations=28, leaves=7)
    search(CONNECT_FOUR, CONNECT_FOUR.new_state(), evaluator, config)
    assert sum(evaluator.batches) == 29
    assert len(evaluator.batches) < 15


# ---- priors and noise ----------------------------------------------------------------------------


def test_priors_of_illegal_moves_are_renormalised():
    game = CONNECT_FOUR
    state = after(game, 0, 0, 0, 0, 0, 0)  # column 0 is full
    evaluator = FixedEvaluator(game, logits_for(game, a0=0.9, a1=0.05, a2=0.05))
    result = search(game, state, evaluator, SearchConfig(simulations=20))
    assert result.prior[0] == 0.0
    assert result.visits[0] == 0
    assert result.prior.sum() == pytest.approx(1.0, abs=1e-6)
    assert result.prior[1] == pytest.approx(0.5, abs=1e-6)


def test_priors_are_equal_if_no_legal_move_has_any():
    game = CONNECT_FOUR
    state = after(game, 0, 0, 0, 0, 0, 0)
    logits = np.full(7, -np.inf)
    logits[0] = 0.0
    result = search(game, state, FixedEvaluator(game, logits), SearchConfig(simulations=12))
    assert result.prior[1:].tolist() == [np.float32(1 / 6)] * 6
    assert result.visits.tolist() == [0, 2, 2, 2, 2, 2, 2]
    assert result.prior_fallbacks > 0


@pytest.mark.parametrize("leaves", [1, 4])
@pytest.mark.parametrize("evaluator", ["uniform", "network"])
def test_root_noise_reaches_the_search(leaves, evaluator):
    # One published engine drew noise only if it evaluated leaves one by one.
    game, state = CONNECT_FOUR, CONNECT_FOUR.new_state()
    evaluator = FixedEvaluator(game) if evaluator == "network" else evaluator
    quiet = SearchConfig(simulations=60, leaves=leaves)
    noisy = SearchConfig(simulations=60, leaves=leaves, noise_weight=0.5, noise_alpha=0.3)
    without = search(game, state, evaluator, quiet, seed=1)
    first, again, other = (search(game, state, evaluator, noisy, seed=s) for s in (1, 1, 2))
    assert first.visits.tolist() != without.visits.tolist()
    assert first.visits.tolist() == again.visits.tolist()
    assert first.visits.tolist() != other.visits.tolist()
    assert first.prior.tolist() == without.prior.tolist()  # the reported prior has no noise


def test_noise_is_redrawn_for_a_reused_root_and_does_not_accumulate():
    game, state = CONNECT_FOUR, CONNECT_FOUR.new_state()
    config = SearchConfig(simulations=30, noise_weight=1.0, noise_alpha=0.3)
    searcher = Searcher(game, "uniform", config)
    first = searcher.search(state, seed=1).visits.copy()
    second = searcher.search(state, seed=2)
    assert second.visits.sum() == 60
    assert (second.visits - first).tolist() != first.tolist()
    assert second.prior.tolist() == [np.float32(1 / 7)] * 7


def test_tree_is_kept_between_moves():
    game, state = CONNECT_FOUR, CONNECT_FOUR.new_state()
    evaluator = FixedEvaluator(game)
    searcher = Searcher(game, evaluator, SearchConfig(simulations=50))
    visits = searcher.search(state).visits[3]
    evaluator.batches.clear()
    searcher.advance(3)
    game.apply(state, 3)
    result = searcher.search(state)
    assert result.visits.sum() == visits - 1 + 50
    assert sum(evaluator.batches) == 50  # the root is already evaluated


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [1.0, 0.1, 1e-3, 1e-7, 1e-9, 1e-300, 0.0])
def test_policy_survives_all_zero_counts_and_tiny_temperatures(temperature):
    zero = visits_to_policy(np.zeros(4, int), temperature)
    assert zero.tolist() == [0.25] * 4
    policy = visits_to_policy(np.array([0, 800, 799, 1]), temperature)
    assert policy.sum() == pytest.approx(1.0)
    assert policy.argmax() == 1
    assert policy[0] == 0.0
    result = search(TIC_TAC_TOE, TIC_TAC_TOE.new_state(), "rollout", SearchConfig(simulations=50))
    assert result.policy(temperature).sum() == pytest.approx(1.0)
    assert result.policy(temperature)[result.best_action] == result.policy(temperature).max()


def test_policy_target_is_not_sharpened_by_the_temperature():
    config = SearchConfig(simulations=50, choice="temperature", temperature=0.1)
    result = search(TIC_TAC_TOE, TIC_TAC_TOE.new_state(), "rollout", config)
    assert result.policy_target == pytest.approx(result.visits / 50)


def test_search_of_a_finished_game_is_refused_and_does_not_divide_by_zero():
    state = after(TIC_TAC_TOE, 0, 3, 1, 4, 2)
    with pytest.raises(ValueError, match="over"):
        search(TIC_TAC_TOE, state, "uniform", SearchConfig(simulations=10))


def test_c_of_zero_is_greedy_and_locks_on():
    # x x .    uniform values are 0, so only the first win found (the cell at 2) counts;
    # o o .    without exploration the search never tries the later moves again.
    # . . .
    state = after(TIC_TAC_TOE, *WIN_OR_LOSE)
    greedy = SearchConfig(simulations=100, c_puct=0.0, c_puct_base=0.0)
    result = search(TIC_TAC_TOE, state, "uniform", greedy)
    assert result.visits.tolist() == [0, 0, 100, 0, 0, 0, 0, 0, 0]


def test_a_failed_evaluation_leaves_no_pending_visits():
    game, state = CONNECT_FOUR, CONNECT_FOUR.new_state()
    fails = [False]

    def evaluator(observations):
        if fails[0]:
            raise RuntimeError("out of memory")
        return np.zeros((len(observations), 7)), np.zeros(len(observations))

    config = SearchConfig(simulations=40, leaves=4, pending="loss")
    searcher = Searcher(game, evaluator, config)
    usual = searcher.search(state).visits.tolist()
    fails[0] = True
    with pytest.raises(RuntimeError, match="out of memory"):
        searcher.search(state)
    fails[0] = False
    again = searcher.search(state).visits
    assert again.tolist() == usual  # starts over


def test_uniform_search_finds_a_diagonal_win_in_32_simulations():
    # Player one has a1 b2 c3 and drops the fourth stone on d4 (column 3).
    state = after(CONNECT_FOUR, 0, 1, 1, 2, 2, 3, 2, 3, 3, 6)
    result = search(CONNECT_FOUR, state, "uniform", SearchConfig(simulations=32))
    assert result.best_action == 3
    assert result.q[3] == 1.0
