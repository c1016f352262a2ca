"""A step of a trace: the way down by the engine's own scores, and the results on the way up."""

import numpy as np
import pytest
from test_trace_agreement import PREFIXES, WHOLES, search_twice
from traced_searches import TILES, run, start, trace_of

from plainzero import CHANCE, make_game
from plainzero.search.kernels.formulas import INFINITE
from plainzero.server.traces.trace import Trace

pytestmark = pytest.mark.slow

# Scheduler whose choice is the largest score and nothing else.
BY_SCORE = {
    "uct": ("tic-tac-toe", "rollout", {}),
    "uct with rollouts that are not whole": ("connect-four", "rollout", {"rollouts": 3}),
    "uct of a fixed function": ("connect-four", "fixed", {"selection": "uct", "c_uct": 0.7}),
    "uct with the spread": ("tic-tac-toe", "rollout", {"c_puct_spread": 0.85}),
    "uct of three players": ("trio", "rollout", {}),
    "puct": ("connect-four", "fixed", {}),
    "puct, uniform": ("dots-and-boxes", "uniform", {}),
    "puct that grows fast": ("connect-four", "fixed", {"c_puct_base": 10.0, "c_puct": 0.5}),
    "puct that does not grow": ("connect-four", "fixed", {"c_puct_base": 0.0}),
    "puct by the sum": ("trio", "fixed", {"visit_term": "sum", "visit_exponent": 0.7}),
    "puct by the node": ("connect-four", "fixed", {"visit_term": "node"}),
    "puct by at least one": ("dots-and-boxes", "fixed", {"visit_term": "max-one"}),
    "puct with the spread": ("connect-four", "fixed", {"c_puct_spread": 0.85}),
    "puct with noise": ("tic-tac-toe", "fixed", {"noise_weight": 0.5, "noise_alpha": 0.3}),
    "puct with rollouts": ("dots-and-boxes", "fixed", {"rollout_weight": 0.3, "rollouts": 3}),
    "puct of one player and chance": (TILES, "fixed", {}),
    "puct in a full tree": ("tic-tac-toe", "fixed", {"max_bytes": 40_000}),
    "first play like the parent": ("trio", "fixed", {"fpu": "parent"}),
    "first play below the parent": ("connect-four", "fixed", {"fpu": "reduction"}),
    "first play of one player": (
        TILES,
        "fixed",
        {"fpu": "reduction", "fpu_reduction": 0.5},
    ),
    "first play at once": ("connect-four", "fixed", {"fpu": "infinite"}),
    "puct-log": ("connect-four", "fixed", {"selection": "puct-log"}),
    "puct-log, first play": ("trio", "fixed", {"selection": "puct-log", "fpu": "reduction"}),
}


@pytest.mark.parametrize("case", BY_SCORE)
def test_the_move_taken_is_the_first_of_the_largest_scores(case):
    name, evaluator, options = BY_SCORE[case]
    trace = trace_of(run(name, evaluator, 120, **options))
    for number in range(1, trace.simulations + 1):
        for choice in trace.simulation("a", number).choices:
            if choice.to_play != CHANCE:
                assert best_of(choice) == choice.action, (number, choice)


def test_the_move_taken_has_the_largest_score_below_a_kept_root():
    for name, evaluator in (("connect-four", "rollout"), ("connect-four", "fixed")):
        _, result, position = search_twice(name, evaluator, 100, {})
        trace = Trace(result, position)
        for number in range(1, 101):
            assert all(
                best_of(choice) == choice.action for choice in trace.simulation("a", number).choices
            )


def test_a_forced_playout_counts_above_every_score():
    trace = trace_of(run("connect-four", "fixed", 200, forced_playouts=2.0))
    forced = 0
    for number in range(1, 201):
        root = trace.simulation("a", number).choices[0]
        scores = {move.action: move.q + move.u for move in root.moves}
        assert scores[root.action] >= max(scores.values()) - 1e-6
        forced += scores[root.action] >= INFINITE / 2
        assert all(abs(move.q) <= 1 for move in root.moves)
    assert forced > 10


def test_a_move_never_tried_is_infinite_where_the_search_says_so():
    uct = trace_of(run("tic-tac-toe", "rollout", 20)).simulation("a", 3).choices[0]
    assert [move.u == INFINITE for move in uct.moves] == [move.visits == 0 for move in uct.moves]
    first = trace_of(run("connect-four", "fixed", 20, fpu="infinite")).simulation("a", 3).choices[0]
    assert [move.q == INFINITE for move in first.moves] == [not move.visits for move in first.moves]


def test_gumbel_has_no_u_and_completes_q():
    trace = trace_of(run("connect-four", "fixed", 200, selection="gumbel", gumbel_actions=2))
    for number in range(1, 201):
        root, *others = trace.simulation("a", number).choices
        assert all(move.u is None and move.q is not None for move in root.moves)
        for choice in others:
            assert max(improved(choice), key=improved(choice).get) == choice.action


def improved(choice):
    """π' − n / (1 + S) of each move, from what the choice says of them; docs/algorithm.md."""
    visits = np.array([move.visits for move in choice.moves])
    logits = np.log([move.prior for move in choice.moves])
    q = np.array([move.q for move in choice.moves])
    weights = np.exp(logits + (50 + visits.max()) * (q + 1) / 2)
    scores = weights / weights.sum() - visits / (1 + visits.sum())
    return dict(zip([move.action for move in choice.moves], scores, strict=True))


@pytest.mark.parametrize("case", PREFIXES | WHOLES)
def test_steps_are_the_simulations_of_the_engine(case):
    name, evaluator, simulations, moves, options = (PREFIXES | WHOLES)[case]
    result = run(name, evaluator, simulations, *moves, **options)
    trace, kinds = trace_of(result, *moves), set()
    for number, simulation in enumerate(result.trace, start=1):
        step = trace.simulation("a", number)
        kinds.add(step.kind)
        assert (step.nodes, step.kind) == (simulation.nodes, simulation.kind)
        assert [move.action for move in step.moves] == simulation.actions
        assert [choice.action for choice in step.choices] == simulation.actions
        assert step.values == simulation.values
        assert_played(result, step, len(start(name, *moves)[1].moves))
    assert kinds >= EXPECTED_KINDS.get(case, {"expanded"})


EXPECTED_KINDS = {
    "proofs, uct": {"expanded", "finished"},
    "proofs of draws": {"expanded", "finished"},
    "a full tree": {"expanded", "not kept"},
    "a full tree at the end": {"expanded", "finished", "not kept"},
    "a full tree with proofs": {"expanded", "finished", "not kept"},
}


def assert_played(result, step, before):
    """The position, the players and the results on the way up follow from the moves."""
    game, tree = result.game, result.tree
    assert step.position.moves[before:] == [move.action for move in step.moves]
    state = game.copy(tree.state(0))
    for move, choice in zip(step.moves, step.choices, strict=True):
        assert move.player == choice.to_play == state.to_play
        is_chance = move.player == CHANCE
        assert move.name == (game.outcome_name if is_chance else game.action_name)(move.action)
        assert sorted(other.action for other in choice.moves) == sorted(game.legal(state))
        game.apply(state, move.action)
    assert step.backed_up == pytest.approx(results_on_the_way(step), abs=1e-12)
    if len(step.nodes) > len(step.moves):
        assert game.text(state) == game.text(tree.state(step.nodes[-1]))


def results_on_the_way(step):
    """The result that each move gets, from the first to the last, for the player who made it."""
    movers = [move.player for move in step.moves]
    for place in range(1, len(movers)):  # chance has no values; the player before it has
        movers[place] = movers[place - 1] if movers[place] == CHANCE else movers[place]
    results, got = step.values, []
    for mover, choice in zip(reversed(movers), reversed(step.choices), strict=True):
        got.append(results[mover])
        chosen = next(move for move in choice.moves if move.action == choice.action)
        q = ((chosen.q if chosen.visits else 0.0) * chosen.visits + got[-1]) / (chosen.visits + 1)
        floor = max((move.exact for move in choice.moves if move.exact is not None), default=-1.0)
        if q < floor:  # the player would have made the proven move
            results = [floor if player == mover else -floor for player in range(len(results))]
    return got[::-1]


def test_shares_add_up_and_visits_grow_by_the_simulations_before():
    trace = trace_of(run("connect-four", "fixed", 60))
    for number in range(1, 61):
        root, *others = trace.simulation("a", number).choices
        assert root.parent_visits == sum(move.visits for move in root.moves) == number - 1
        for choice in others:
            assert choice.parent_visits == 1 + sum(move.visits for move in choice.moves)
        if number > 1:
            assert sum(move.share for move in root.moves) == pytest.approx(1)


def test_chance_has_no_u_and_no_evaluation_of_its_own():
    trace, outcomes = trace_of(run(TILES, "fixed", 60)), 0
    for number in range(1, 61):
        for choice in trace.simulation("a", number).choices:
            if choice.to_play == CHANCE:
                outcomes += 1
                assert choice.parent_visits == sum(move.visits for move in choice.moves)
                assert all(move.u is None for move in choice.moves)
                assert sum(move.prior for move in choice.moves) == pytest.approx(1)
    assert outcomes >= 60


def test_a_step_that_there_is_not_is_refused():
    trace = trace_of(run("tic-tac-toe", "rollout", 20))
    for number in (0, 21):
        with pytest.raises(ValueError, match=f"no simulation {number}; they are 1 to 20"):
            trace.simulation("a", number)


def test_positions_continue_the_moves_that_led_to_the_search():
    trace = trace_of(run("connect-four", "rollout", 30, 3, 3), 3, 3)
    step = trace.simulation("a", 30)
    assert step.position.game == "connect-four" and step.position.moves[:2] == [3, 3]
    assert trace.node("a", 30, step.nodes[-1]).position == step.position
    assert trace.node("a", 30, 0).position.moves == [3, 3]
    assert make_game("connect-four").num_players == len(step.values)


def best_of(choice):
    """The first action of the largest q + u."""
    return max(choice.moves, key=lambda move: move.q + move.u).action
