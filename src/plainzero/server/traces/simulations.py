"""One simulation or one node of a trace, recounted in the order of the search.

Floating-point sums depend on the order of their terms. Results are added here in the order of the
simulations, as in the search, so that scores agree to the last digit.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE, Game
from plainzero.search.kernels.scratch import PROVEN
from plainzero.search.kernels.tree import ROOT
from plainzero.search.view import TRACE_KINDS
from plainzero.server.api.schemas.games import Position
from plainzero.server.api.schemas.searching import MoveStatistics
from plainzero.server.api.schemas.traces import Choice, NodeView, SimulationView
from plainzero.server.searching.selection_scores import (
    EdgeStatistics,
    NodeStatistics,
    make_move,
    score_moves,
)
from plainzero.server.traces.recording import Recording
from plainzero.server.traces.tree_shape import Floats, Ints, children_of

Steps = NDArray[np.int64]  # indices of simulations, from 0, ascending


class Subject(NamedTuple):
    """A traced search: the game, its options as plain numbers, its position, and its recording."""

    game: Game
    options: Any
    position: Position
    recording: Recording


def view_simulation(subject: Subject, id: str, simulation: int) -> SimulationView:
    """A simulation, numbered from 1, with the statistics of moves before it.

    With `leaves` above 1, several simulations are selected before the first of them is backed up.
    They are shown as if each were backed up at once, so the selected move need not have the largest
    score. Nor need it with `amaf`, whose values are not traced.
    """
    recording, before = subject.recording, simulation - 1
    last, edge = int(recording.leaf[before]), int(recording.edge[before])
    is_in_tree = last >= 0
    owner = int(np.searchsorted(recording.first_edge, edge, side="right")) - 1
    nodes, edges = find_path(recording, owner)
    edges.append(edge)
    values = recording.values[before].tolist()
    got = [results_at(recording, node, np.array([before]), beyond=1)[0] for node in nodes]
    movers = [int(recording.mover[node]) for node in nodes]
    actions = recording.action[edges].tolist()
    return SimulationView(
        id=id,
        simulation=simulation,
        nodes=[*nodes, last] if is_in_tree else nodes,
        moves=[
            make_move(subject.game, action, mover)
            for action, mover in zip(actions, movers, strict=True)
        ],
        choices=_list_selections(subject, before, nodes, actions),
        kind=TRACE_KINDS[recording.kind[before]],  # type: ignore[arg-type]
        position=_add_moves(subject.position, actions),
        values=values,
        backed_up=[
            float(results[recording.value_player[node]])
            for node, results in zip(nodes, got, strict=True)
        ],
    )


def view_node(subject: Subject, id: str, simulation: int, node: int) -> NodeView:
    """A node after that many simulations; without values and moves before it was created."""
    recording = subject.recording
    steps = _find_passing(recording, node, np.arange(simulation))
    _, edges = find_path(recording, node)
    initial = recording.initial
    visits, values, moves = 0, list[float](), list[MoveStatistics]()
    if len(steps) or node < len(initial.value_sum):
        old = (
            initial.root_visits if node == ROOT else _initial_or(initial.edge_visits, edges[-1], 0)
        )
        visits = len(steps) + int(old)
        statistics = count_node(recording, node, steps, simulation)
        moves = score_moves(subject.game, subject.options, statistics)
        values = _find_values(recording, node, steps, statistics, simulation)
    return NodeView(
        id=id,
        simulation=simulation,
        node=node,
        position=_add_moves(subject.position, recording.action[edges].tolist()),
        visits=visits,
        values=values,
        moves=moves,
    )


def find_path(recording: Recording, node: int) -> tuple[list[int], list[int]]:
    """The nodes from the root to `node`, and the edges between them."""
    nodes, edges = [node], []
    while node != ROOT:
        edges.append(int(recording.parent_edge[node]))
        node = int(recording.shape.parent[node])
        nodes.append(node)
    return nodes[::-1], edges[::-1]


def _add_moves(position: Position, actions: list[int]) -> Position:
    return position.model_copy(update={"moves": [*position.moves, *actions]})


def _list_selections(
    subject: Subject, simulations: int, nodes: list[int], actions: list[int]
) -> list[Choice]:
    choices, steps = [], np.arange(simulations)
    for node, action in zip(nodes, actions, strict=True):
        steps = _find_passing(subject.recording, node, steps)
        statistics = count_node(subject.recording, node, steps, simulations)
        choices.append(
            Choice(
                node=node,
                to_play=statistics.mover,
                parent_visits=statistics.node_visits,
                moves=score_moves(subject.game, subject.options, statistics, fills_first_play=True),
                action=action,
            )
        )
    return choices


def _find_passing(recording: Recording, node: int, steps: Steps) -> Steps:
    """The simulations that passed through the node."""
    first = recording.shape.rank[node]
    ranks = recording.end_rank[steps]
    passing: Steps = steps[(ranks >= first) & (ranks < first + recording.shape.size[node])]
    return passing


def count_node(recording: Recording, node: int, steps: Steps, simulations: int) -> NodeStatistics:
    """The node's statistics after that many simulations, of which `steps` passed through it."""
    initial, mover = recording.initial, int(recording.mover[node])
    ended = recording.leaf[steps] == node
    counted = steps[~(ended & (recording.kind[steps] == PROVEN))]  # those count for its edge only
    values, own = results_at(recording, node, counted), 0.0
    square_sum = 0.0
    if mover != CHANCE:
        own = float(_initial_or(initial.own_value, node, values[0, mover] if len(values) else 0.0))
        square_sum = _add_in_order(
            _initial_or(initial.square_sum, node, 0.0), values[:, mover] ** 2
        )
    before = _initial_or(initial.value_sum, node, np.zeros(values.shape[1]))
    below = steps[~ended]
    moves = _count_edges(recording, node, below, simulations)
    return NodeStatistics(
        is_root=node == ROOT,
        mover=mover,
        sum_visits=sum(move.visits for move in moves),
        value_sum=[_add_in_order(before[p], values[:, p]) for p in range(values.shape[1])],
        square_sum=square_sum,
        own_value=own,
        moves=moves,
    )


def _count_edges(
    recording: Recording, node: int, below: Steps, simulations: int
) -> list[EdgeStatistics]:
    """The node's moves after the simulations that continued below it."""
    first, last = recording.first_edge[node : node + 2].tolist()
    count, value_player, initial = (
        last - first,
        int(recording.value_player[node]),
        recording.initial,
    )
    taken = _find_taken(recording, node, below) - first
    visits = np.bincount(taken, minlength=count)
    old_sums = np.zeros(count)
    if last <= len(initial.edge_visits):
        visits = visits + initial.edge_visits[first:last]
        old_sums = initial.edge_sums[first:last, value_player]
    sums = np.bincount(
        np.concatenate([np.arange(count), taken]),
        np.concatenate([old_sums, results_at(recording, node, below, 1)[:, value_player]]),
        minlength=count,
    )
    moves = []
    for place in range(count):
        exact = recording.exact_of(first + place, simulations)
        number, total = int(visits[place]), float(sums[place])
        moves.append(
            EdgeStatistics(
                action=int(recording.action[first + place]),
                prior=float(recording.prior[first + place]),
                visits=number,
                value_sum=total,
                q=total / number if number else 0.0,
                is_proven=exact is not None,
                exact=0.0 if exact is None else exact,
            )
        )
    return moves


def results_at(recording: Recording, node: int, steps: Steps, beyond: int = 0) -> Floats:
    """[steps, P] the results of simulations as the node passed them on; with 1, as it got them."""
    first = recording.shape.rank[node]
    end, ranks = first + recording.shape.size[node], recording.raised_rank[steps]
    is_raised = (ranks >= first + beyond) & (ranks < end)
    return np.where(is_raised[:, None], recording.raised[steps], recording.values[steps])


def _find_taken(recording: Recording, node: int, below: Steps) -> Ints:
    """The edge of the node that each simulation followed."""
    shape, ranks = recording.shape, recording.end_rank[below]
    children = children_of(shape, node)
    ends_here = ranks == shape.rank[node]
    if not len(children):
        return recording.edge[below]
    # A child's subtree has the ranks from its own up to the next child's.
    child = children[np.searchsorted(shape.rank[children], ranks, side="right") - 1]
    return np.where(ends_here, recording.edge[below], recording.parent_edge[child])


def _add_in_order(start: float, numbers: Floats) -> float:
    """The sum from first to last; np.sum would add in another order."""
    return float(np.cumsum(np.concatenate([[start], numbers]))[-1])


def _initial_or(array: NDArray[Any], place: int, otherwise: Any) -> Any:
    """The initial value of a node or edge, or `otherwise` if it is new."""
    return array[place] if place < len(array) else otherwise


def _find_values(
    recording: Recording, node: int, steps: Steps, statistics: NodeStatistics, simulations: int
) -> list[float]:
    """V per player: the mean of the node's own evaluation and all results below it."""
    if node == ROOT and recording.proofs.is_root_proven(simulations):
        exact, players = recording.proofs.root_exact, range(len(statistics.value_sum))
        return [exact if player == statistics.mover else -exact for player in players]
    if recording.is_over[node]:
        if len(steps):
            return recording.values[steps[-1]].tolist()  # type: ignore[no-any-return]
        initial, edge = recording.initial, recording.parent_edge[node]
        return (initial.edge_sums[edge] / initial.edge_visits[edge]).tolist()  # type: ignore[no-any-return]
    own = statistics.mover != CHANCE
    return [total / max(1, statistics.sum_visits + own) for total in statistics.value_sum]
