"""The visible part of a trace: which nodes are sent, what is hidden, and what it takes."""

import gc
import weakref

import pytest
from traced_searches import TILES, look, run, start, trace_of

from plainzero import SearchConfig, make_game, search
from plainzero.search.api import Searcher
from plainzero.server.api.schemas.games import Position
from plainzero.server.searching.analysis import analyse
from plainzero.server.traces.trace import Trace


@pytest.fixture(scope="module")
def trace():
    return trace_of(run("connect-four", "rollout", 1500))


@pytest.fixture(scope="module")
def children(trace):
    """The children of each node at the end."""
    found = {}
    for node in trace.tree(look(1500)).nodes:
        found.setdefault(node.parent, []).append(node.node)
    return found


def below(children, node):
    return [node] + [other for child in children.get(node, []) for other in below(children, child)]


@pytest.mark.parametrize("simulation", [0, 1, 10, 400, 1500])
@pytest.mark.parametrize("most", [1, 2, 30, 400, 5000])
def test_parents_come_first_and_hidden_nodes_add_up(trace, simulation, most):
    view = trace.tree(look(simulation, max_nodes=most))
    assert_in_order(view)
    assert len(view.nodes) == min(most, view.total_nodes)
    assert len(view.nodes) + sum(node.hidden for node in view.nodes) == view.total_nodes
    assert all(node.hidden >= 0 for node in view.nodes)


def test_after_no_simulation_there_is_the_root_alone(trace):
    view = trace.tree(look(0))
    assert [(node.node, node.visits, node.parent, node.move) for node in view.nodes] == [
        (0, 0, -1, None)
    ]


def test_the_most_visited_nodes_are_sent(trace):
    all_visits = sorted((node.visits for node in trace.tree(look(1500)).nodes), reverse=True)
    sent = [node.visits for node in trace.tree(look(1500, max_nodes=100)).nodes]
    assert sent == all_visits[:100]


def test_nothing_below_a_collapsed_node_is_sent(trace, children):
    shut = children[0][2]
    view = trace.tree(look(1500, collapsed=[shut]))
    sent = {node.node: node for node in view.nodes}
    assert set(below(children, shut)) & set(sent) == {shut}
    assert sent[shut].hidden == len(below(children, shut)) - 1
    assert len(sent) + sum(node.hidden for node in view.nodes) == view.total_nodes
    assert_in_order(view)


def test_an_opened_node_and_its_children_are_sent_however_few_their_visits(trace, children):
    nodes = trace.tree(look(1500)).nodes
    rare = min((node for node in nodes if children.get(node.node)), key=lambda node: node.visits)
    assert rare.depth >= 2
    plain = {node.node for node in trace.tree(look(1500, max_nodes=40)).nodes}
    assert rare.node not in plain
    view = trace.tree(look(1500, max_nodes=40, opened=[rare.node]))
    sent = {node.node for node in view.nodes}
    assert {rare.node, rare.parent, *children[rare.node]} <= sent
    assert len(sent) == 40
    assert_in_order(view)
    shut = trace.tree(look(1500, max_nodes=40, opened=[rare.node], collapsed=[rare.parent]))
    assert rare.node not in {node.node for node in shut.nodes}


def test_a_branch_is_shown_by_itself(trace, children):
    top = children[children[0][3]][0]
    view = trace.tree(look(1500, root=top))
    assert view.nodes[0].node == top and view.nodes[0].parent == -1
    assert view.nodes[0].move is not None and view.nodes[0].depth == 2
    assert {node.node for node in view.nodes} == set(below(children, top))
    few = trace.tree(look(1500, root=top, max_nodes=5, opened=[children[0][0]]))
    assert len(few.nodes) + sum(node.hidden for node in few.nodes) == len(below(children, top))
    assert few.total_nodes == trace.num_nodes
    assert_in_order(few)


def test_a_node_that_is_not_there_yet_is_unvisited(trace):
    last = trace.num_nodes - 1
    view = trace.tree(look(5, root=last))
    assert [(node.node, node.visits, node.q, node.hidden) for node in view.nodes] == [
        (last, 0, None, 0)
    ]
    node = trace.node("a", 5, last)
    assert (node.visits, node.values, node.moves) == (0, [], [])
    assert node.position.moves == trace.node("a", 1500, last).position.moves


def test_what_there_is_not_is_refused(trace):
    missing = trace.num_nodes
    for ask in (
        lambda: trace.tree(look(10, root=missing)),
        lambda: trace.tree(look(10, opened=[missing])),
        lambda: trace.tree(look(10, collapsed=[missing])),
        lambda: trace.node("a", 10, missing),
    ):
        with pytest.raises(ValueError, match=f"no node {missing}; they are 0 to {missing - 1}"):
            ask()
    with pytest.raises(ValueError, match="no simulation 1501; they are 0 to 1500"):
        trace.tree(look(1501))


def test_a_search_without_a_trace_is_refused():
    game = make_game("tic-tac-toe")
    result = search(game, game.new_state(), "rollout", SearchConfig(simulations=10))
    with pytest.raises(ValueError, match="has no trace"):
        Trace(result, Position(game="tic-tac-toe"))


def test_the_tree_may_go_when_the_trace_is_made():
    game = make_game("tic-tac-toe")
    searcher = Searcher(game, "rollout", SearchConfig(simulations=100, trace=True))
    result = searcher.search(game.new_state())
    trace = Trace(result, Position(game="tic-tac-toe"))
    before = [trace.tree(look(60)), trace.simulation("a", 60), trace.node("a", 60, 1)]
    nodes = weakref.ref(result.tree.arrays[0].nodes)
    trace.tree(look(1)), trace.tree(look(2)), trace.tree(look(3))  # so that nothing is remembered
    del result, searcher
    gc.collect()
    assert nodes() is None
    assert [trace.tree(look(60)), trace.simulation("a", 60), trace.node("a", 60, 1)] == before


def test_the_thought_says_what_was_found():
    result = run("connect-four", "rollout", 300, 3)
    thought = Trace(result, start("connect-four", 3)[1], step=7).summary("b", 1.5)
    assert (thought.id, thought.simulations, thought.seconds) == ("b", 300, 1.5)
    assert thought.nodes == len(result.tree)
    assert (thought.best.action, thought.best.player) == (result.best_action, 1)
    assert thought.analysis == analyse(result, 7)


def test_analysis_names_the_expected_moves_and_their_players():
    result = run("dots-and-boxes", "rollout", 400)
    analysis, game = analyse(result, None), result.game
    assert [move.action for move in analysis.variation] == result.principal_variation
    state = game.new_state()
    for move in analysis.variation:
        assert (move.player, move.name) == (state.to_play, game.action_name(move.action))
        game.apply(state, move.action)
    assert len(analysis.variation) > 1
    assert analysis.value == result.value and analysis.values == result.values.tolist()
    assert sum(move.visits for move in analysis.moves) == analysis.simulations == 400


def test_analysis_may_be_asked_for_in_the_middle_of_a_search():
    state, _ = start("tic-tac-toe")
    searcher = Searcher(make_game("tic-tac-toe"), "rollout", SearchConfig(simulations=200_000))
    seen = []
    searcher.search(state, progress=lambda done, _: seen.append((done, *peek(searcher))))
    assert len(seen) > 1
    for done, analysis, visits in seen:
        assert analysis.simulations == done == sum(visits)
        assert [move.visits for move in analysis.moves] == visits
        assert analysis.best == visits.index(max(visits))
        assert analysis.variation[0].action == analysis.best


def peek(searcher):
    """The analysis of what was found so far, and the visits themselves."""
    (result,) = searcher.peek()
    return analyse(result, None), result.visits.tolist()


def test_analysis_stops_where_chance_moves():
    result = run(TILES, "rollout", 200)
    assert [move.player for move in analyse(result, None).variation] == [0]


def test_analysis_knows_what_is_proven():
    result = run("tic-tac-toe", "uniform", 400, 0, 4, 1, proven_values=True)
    analysis = analyse(result, None)
    assert analysis.is_proven and analysis.value == result.value
    exact = {move.action: move.exact for move in analysis.moves}
    assert exact[analysis.best] == result.value
    assert all(move.q == move.exact for move in analysis.moves if move.exact is not None)


def test_analysis_of_moves_never_tried_has_no_q():
    analysis = analyse(run("connect-four", "fixed", 1), None)
    assert sorted(move.visits for move in analysis.moves) == [0] * 6 + [1]
    assert all((move.q is None) == (move.visits == 0) for move in analysis.moves)


def test_a_long_trace_is_small_and_answers():
    result = run("connect-four", "rollout", 100_000)
    trace = trace_of(result)
    assert trace.simulations == 100_000 and trace.num_nodes == len(result.tree)
    assert trace.nbytes < 256 * 100_000
    assert trace.nbytes < result.tree.used_bytes
    end = trace.tree(look(100_000, max_nodes=400))
    assert {node.move.action: node.visits for node in end.nodes if node.parent == 0} == {
        action: visits for action, visits in enumerate(result.visits) if visits
    }
    for number in (1, 777, 50_000):
        view = trace.tree(look(number, max_nodes=400))
        assert view.nodes[0].visits == number
        assert len(view.nodes) + sum(node.hidden for node in view.nodes) == view.total_nodes
        assert len(trace.simulation("a", number).choices) == len(
            trace.simulation("a", number).moves
        )


def assert_in_order(view):
    """The first is the top, and every other one comes after its parent."""
    known = set()
    for node in view.nodes:
        assert node.parent in known or (not known and node.parent == -1)
        known.add(node.node)
    assert len(known) == len(view.nodes)
