"""What a trace says of any moment is what the engine's own tree says when it stops there."""

import math

import pytest
from traced_searches import TILES, fixed_evaluator, look, run, start, trace_of, with_simulations

from plainzero import CHANCE, SearchConfig, Searcher, make_game
from plainzero.server.searching.analysis import analyse
from plainzero.server.traces.trace import Trace

FULL_WITH_PROOFS = {"max_bytes": 18_000, "proven_values": True}
GUMBEL_WITH_PROOFS = {"selection": "gumbel", "proven_values": True}

# A search of fewer simulations is a prefix of the same search with more.
PREFIXES = {
    "uct": ("tic-tac-toe", "rollout", 150, (), {}),
    "uct of a fixed function": ("connect-four", "fixed", 120, (3, 3), {"selection": "uct"}),
    "puct": ("connect-four", "fixed", 120, (), {}),
    "puct, uniform": ("dots-and-boxes", "uniform", 150, (0, 5), {}),
    "puct with rollouts": ("dots-and-boxes", "fixed", 80, (), {"rollout_weight": 0.3}),
    "puct-log": ("connect-four", "fixed", 120, (), {"selection": "puct-log"}),
    "three players": ("trio", "fixed", 150, (), {"fpu": "parent"}),
    "three players, uct": ("trio", "rollout", 150, (2, 3), {"rollouts": 3}),
    "chance": (TILES, "rollout", 100, (), {}),
    "chance, puct": (TILES, "fixed", 100, (), {"fpu": "reduction"}),
    "noise": ("tic-tac-toe", "fixed", 150, (), {"noise_weight": 0.5, "noise_alpha": 0.3}),
    "forced playouts": ("connect-four", "fixed", 100, (), {"forced_playouts": 2.0}),
    "spread": ("connect-four", "fixed", 100, (), {"c_puct_spread": 0.85}),
    "proofs": ("tic-tac-toe", "uniform", 400, (0, 4, 1), {"proven_values": True}),
    "proofs, uct": ("tic-tac-toe", "rollout", 900, (0, 8), {"proven_values": True}),
    "proofs of draws": ("tic-tac-toe", "fixed", 300, (4, 0, 8, 2, 1), {"proven_values": True}),
    "a full tree": ("tic-tac-toe", "rollout", 300, (), {"max_bytes": 40_000}),
    "a full tree at the end": ("tic-tac-toe", "rollout", 300, (0, 4, 8, 1), {"max_bytes": 15_000}),
    "a full tree with proofs": ("tic-tac-toe", "uniform", 300, (4, 0, 8), FULL_WITH_PROOFS),
    "widening": ("connect-four", "fixed", 100, (), {"widening": 1.0}),
    "rave": ("connect-four", "rollout", 100, (), {"amaf": "rave"}),
}
# Here the end alone can be compared: the schedule, or the rounds, depend on all simulations.
WHOLES = {
    "gumbel": ("connect-four", "fixed", 100, (), {"selection": "gumbel"}),
    "gumbel with proofs": ("tic-tac-toe", "fixed", 300, (0, 4), GUMBEL_WITH_PROOFS),
    "gumbel with lost moves": ("tic-tac-toe", "fixed", 60, (0, 4, 8, 2), GUMBEL_WITH_PROOFS),
    "leaves": ("connect-four", "fixed", 120, (), {"leaves": 4, "pending": "loss"}),
    "leaves with proofs": (
        "tic-tac-toe",
        "rollout",
        500,
        (0, 8),
        {"leaves": 8, "proven_values": True},
    ),
    "leaves and chance": (TILES, "fixed", 100, (), {"leaves": 4}),
}


@pytest.mark.parametrize("case", PREFIXES)
def test_tree_is_the_engines_after_as_many_simulations(case):
    name, evaluator, simulations, moves, options = PREFIXES[case]
    whole = run(name, evaluator, simulations, *moves, **options)
    trace = trace_of(whole, *moves)
    assert whole.is_tree_full == case.startswith("a full tree")
    for number in {1, 2, 9, simulations // 3, whole.simulations - 1, whole.simulations}:
        if 1 <= number <= whole.simulations:
            part = run(name, evaluator, number, *moves, **options)
            assert part.simulations == number
            assert_same_tree(trace, part)
            assert_same_nodes(trace, part)


@pytest.mark.parametrize("case", WHOLES)
def test_tree_after_all_simulations_is_the_engines(case):
    name, evaluator, simulations, moves, options = WHOLES[case]
    whole = run(name, evaluator, simulations, *moves, **options)
    trace = trace_of(whole, *moves)
    assert_same_tree(trace, whole)
    assert_same_nodes(trace, whole)


@pytest.mark.parametrize("case", PREFIXES | WHOLES)
def test_root_after_all_simulations_is_the_result(case):
    name, evaluator, simulations, moves, options = (PREFIXES | WHOLES)[case]
    result = run(name, evaluator, simulations, *moves, **options)
    root = trace_of(result, *moves).node("a", result.simulations, 0)
    assert root.visits == result.visits.sum() == result.simulations
    assert {move.action: move.visits for move in root.moves} == {
        action: result.visits[action] for action in result.legal
    }
    for move in root.moves:
        if move.visits:
            assert move.q == pytest.approx(result.q[move.action], abs=1e-12)
    assert root.values == pytest.approx(result.values.tolist(), abs=1e-12)


def test_a_proof_appears_with_the_simulation_that_made_it():
    result = run("tic-tac-toe", "uniform", 400, 0, 4, 1, proven_values=True)
    assert result.proven
    trace = trace_of(result, 0, 4, 1)
    proven = [
        sum(node.exact is not None for node in trace.tree(look(number)).nodes)
        for number in range(result.simulations + 1)
    ]
    assert proven[0] == 0 and proven == sorted(proven) and len(set(proven)) > 5
    last_two = [trace.tree(look(number)).nodes[0] for number in range(trace.simulations + 1)[-2:]]
    assert [root.exact for root in last_two] == [None, result.value]


KEPT = {
    "uct": ("connect-four", "rollout", (), {}),
    "puct": ("connect-four", "fixed", (), {"fpu": "parent", "c_puct_spread": 0.85}),
    "three players": ("trio", "fixed", (), {}),
    "chance": (TILES, "fixed", (), {}),
    "proofs": ("tic-tac-toe", "rollout", (), {"proven_values": True}),
    "a full tree": ("tic-tac-toe", "rollout", (), {"max_bytes": 12_000}),
    "gumbel with lost moves": ("tic-tac-toe", "fixed", (0, 4, 8), GUMBEL_WITH_PROOFS),
}


@pytest.mark.parametrize("case", KEPT)
def test_a_kept_root_begins_with_what_it_kept(case):
    name, evaluator, moves, options = KEPT[case]
    first, whole, position = search_twice(name, evaluator, 100, options, moves)
    trace = Trace(whole, position)
    assert_same_tree(trace, whole)
    assert_same_nodes(trace, whole)
    assert whole.is_tree_full == (case == "a full tree")
    root = trace.tree(look(0)).nodes[0]
    assert 0 < root.visits == whole.tree.visits(0) - whole.simulations
    if case != "chance":  # where it went on behind one of chance's moves
        assert root.visits == first.visits[first.best_action] - 1
    if options.get("selection") == "gumbel":  # whose schedule depends on all simulations
        return
    for number in (1, 10, 60):
        _, part, _ = search_twice(name, evaluator, number, options, moves)
        assert_same_tree(trace, part)
        assert_same_nodes(trace, part)


def search_twice(name, evaluator, simulations, options, moves=()):
    """A search, its move and chance's first outcome, and a second search that reuses the tree."""
    state, position = start(name, *moves)
    game, by = make_game(name), fixed_evaluator(name) if evaluator == "fixed" else evaluator
    searcher = Searcher(game, by, SearchConfig(simulations=200, trace=True, **options), threads=1)
    first = searcher.search(state, seed=1)
    first.visits, first.best_action  # noqa: B018 (asked for while the tree is there)
    moves = [first.best_action]
    game.apply(state, moves[0])
    searcher.advance(moves[0])
    while state.to_play == CHANCE:
        edges = searcher._tree.edges[0, : searcher._tree.nodes[0, 0].num_edges]
        moves.append(int(edges["action"][edges["visits"].argmax()]))
        game.apply(state, moves[-1])
        searcher.advance(moves[-1])
    searcher.config = with_simulations(searcher.config, simulations)
    second = searcher.search(state, seed=2)
    return first, second, position.model_copy(update={"moves": [*position.moves, *moves]})


def assert_same_tree(trace, result):
    """`Trace.tree` after that search's simulations against its own tree, all of it."""
    tree, number = result.tree, result.simulations
    view = trace.tree(look(number))
    assert view.total_nodes == len(view.nodes) == len(tree)
    root, *others = view.nodes
    assert root.q == pytest.approx(result.value, abs=1e-9)
    assert (root.node, root.visits, root.move) == (0, tree.visits(0), None)
    assert root.exact == (result.value if result.proven else None)
    edges = {edge.child: (node, edge) for node in range(len(tree)) for edge in tree.edges(node)}
    for seen in others:
        parent, edge = edges[seen.node]
        player = int(tree.state(parent).to_play)
        assert (seen.parent, seen.move.action, seen.move.player) == (parent, edge.action, player)
        assert (seen.visits, seen.prior, seen.exact) == (edge.visits, edge.prior, edge.exact)
        assert seen.is_over == tree.state(seen.node).is_over
        assert seen.depth == len(tree.path(seen.node)[1])
        expected = edge.q if player != CHANCE else tree.values(seen.node)[0]
        assert seen.q == pytest.approx(expected, abs=1e-9)


def assert_same_nodes(trace, result):
    """`Trace.node` after that search's simulations against its own tree, for every node."""
    tree, number = result.tree, result.simulations
    for node in range(len(tree)):
        view, edges = trace.node("a", number, node), tree.edges(node)
        assert view.values == pytest.approx(
            result.values.tolist() if node == 0 else tree.values(node).tolist(), abs=1e-9
        )
        assert [(move.action, move.prior, move.visits, move.exact) for move in view.moves] == [
            (edge.action, edge.prior, edge.visits, edge.exact) for edge in edges
        ]
        for move, edge in zip(view.moves, edges, strict=True):
            assert (move.q is None) == (edge.visits == 0)
            if edge.visits and tree.state(node).to_play != CHANCE:
                assert move.q == pytest.approx(edge.q, abs=1e-12)
    by_engine = {move.action: move for move in analyse(result, None).moves}
    for move in trace.node("a", number, 0).moves:
        other = by_engine[move.action]
        assert (move.u is None) == (result.config.selection == "gumbel")
        assert move.u is None or math.isclose(move.u, other.u, rel_tol=1e-12)
        assert move.model_copy(update={"q": other.q, "u": other.u}) == other
