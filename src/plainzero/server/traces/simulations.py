"""One simulation of a trace, and one node: statistics counted again in the engine's own order.

Floating-point sums depend on the order of what is added. Here every result is added in the order of
the simulations, as the engine did, so that scores agree with the engine's to the last digit.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE, Game
from plainzero.search.kernels.scratch import PROVEN
from plainzero.search.tree_memory import ROOT
from plainzero.search.view import TRACE_KINDS
from plainzero.server.api.schemas.games import Position
from plainzero.server.api.schemas.searching import MoveOpinion
from plainzero.server.api.schemas.traces import Choice, NodeView, StepView
from plainzero.server.searching.selection_scores import (
    MoveStanding,
    Standing,
    give_opinions,
    make_move,
)
from plainzero.server.traces.recording import Recording
from plainzero.server.traces.tree_shape import Floats, Ints, children_of

Steps = NDArray[np.int64]  # numbers of simulations, from 0, in order


class Subject(NamedTuple):
    """A traced search: the game, the options as plain numbers, where it began, what it did."""

    game: Game
    options: Any
    position: Position
    recording: Recording


def view_step(subject: Subject, id: str, simulation: int) -> StepView:
    """The simulation of that number, from 1, with the moves as they stood before it.

    With `leaves` above 1 several simulations are selected before the first of them is backed up;
    the moves are then shown as if they came one after the other, and the one that was taken need
    not have the largest score. Nor need it with `amaf`, whose values are not traced.
    """
    recording, before = subject.recording, simulation - 1
    last, edge = int(recording.leaf[before]), int(recording.edge[before])
    is_kept = last >= 0
    owner = int(np.searchsorted(recording.first_edge, edge, side="right")) - 1
    nodes, edges = find_path(recording, owner)
    edges.append(edge)
    values = recording.values[before].tolist()
    movers = [int(recording.mover[node]) for node in nodes]
    actions = recording.action[edges].tolist()
    return StepView(
        id=id,
        simulation=simulation,
        nodes=[*nodes, last] if is_kept else nodes,
        moves=[
            make_move(subject.game, action, mover)
            for action, mover in zip(actions, movers, strict=True)
        ],
        choices=_list_choices(subject, before, nodes, actions),
        kind=TRACE_KINDS[recording.kind[before]],  # type: ignore[arg-type]
        position=_play_on(subject.position, actions),
        values=values,
        backed_up=[values[recording.judge[node]] for node in nodes],
    )


def view_node(subject: Subject, id: str, simulation: int, node: int) -> NodeView:
    """The node after so many simulations; without values and moves where it was not there yet."""
    recording = subject.recording
    steps = _find_passing(recording, node, np.arange(simulation))
    _, edges = find_path(recording, node)
    kept = recording.kept
    visits, values, moves = 0, list[float](), list[MoveOpinion]()
    if len(steps) or node < len(kept.value_sum):
        old = kept.root_visits if node == ROOT else _kept_of(kept.edge_visits, edges[-1], 0)
        visits = len(steps) + int(old)
        standing = stand(recording, node, steps, simulation)
        moves = give_opinions(subject.game, subject.options, standing)
        values = _find_values(recording, node, steps, standing, simulation)
    return NodeView(
        id=id,
        simulation=simulation,
        node=node,
        position=_play_on(subject.position, recording.action[edges].tolist()),
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


def _play_on(position: Position, actions: list[int]) -> Position:
    return position.model_copy(update={"moves": [*position.moves, *actions]})


def _list_choices(
    subject: Subject, simulations: int, nodes: list[int], actions: list[int]
) -> list[Choice]:
    choices, steps = [], np.arange(simulations)
    for node, action in zip(nodes, actions, strict=True):
        steps = _find_passing(subject.recording, node, steps)
        standing = stand(subject.recording, node, steps, simulations)
        choices.append(
            Choice(
                node=node,
                to_play=standing.mover,
                parent_visits=standing.node_visits,
                moves=give_opinions(subject.game, subject.options, standing, fills_first_play=True),
                action=action,
            )
        )
    return choices


def _find_passing(recording: Recording, node: int, steps: Steps) -> Steps:
    """Those of the simulations that went through the node."""
    first = recording.shape.rank[node]
    ranks = recording.end_rank[steps]
    passing: Steps = steps[(ranks >= first) & (ranks < first + recording.shape.size[node])]
    return passing


def stand(recording: Recording, node: int, steps: Steps, simulations: int) -> Standing:
    """The node's statistics after so many simulations, of which `steps` went through it."""
    kept, mover = recording.kept, int(recording.mover[node])
    ended = recording.leaf[steps] == node
    counted = steps[~(ended & (recording.kind[steps] == PROVEN))]  # else its edge alone learns
    values, own = recording.values[counted], 0.0
    square_sum = 0.0
    if mover != CHANCE:
        own = float(_kept_of(kept.own_value, node, values[0, mover] if len(values) else 0.0))
        square_sum = _add_in_order(_kept_of(kept.square_sum, node, 0.0), values[:, mover] ** 2)
    before = _kept_of(kept.value_sum, node, np.zeros(values.shape[1]))
    below = steps[~ended]
    moves = _stand_moves(recording, node, below, simulations)
    return Standing(
        is_root=node == ROOT,
        mover=mover,
        sum_visits=sum(move.visits for move in moves),
        value_sum=[_add_in_order(before[p], values[:, p]) for p in range(values.shape[1])],
        square_sum=square_sum,
        own_value=own,
        moves=moves,
    )


def _stand_moves(
    recording: Recording, node: int, below: Steps, simulations: int
) -> list[MoveStanding]:
    """The node's moves after the simulations that went on below it."""
    first, last = recording.first_edge[node : node + 2].tolist()
    count, judge, kept = last - first, int(recording.judge[node]), recording.kept
    taken = _find_taken(recording, node, below) - first
    visits = np.bincount(taken, minlength=count)
    old_sums = np.zeros(count)
    if last <= len(kept.edge_visits):
        visits = visits + kept.edge_visits[first:last]
        old_sums = kept.edge_sums[first:last, judge]
    sums = np.bincount(
        np.concatenate([np.arange(count), taken]),
        np.concatenate([old_sums, recording.values[below, judge]]),
        minlength=count,
    )
    moves = []
    for place in range(count):
        exact = recording.exact_of(first + place, simulations)
        number, total = int(visits[place]), float(sums[place])
        moves.append(
            MoveStanding(
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


def _find_taken(recording: Recording, node: int, below: Steps) -> Ints:
    """The edge of the node that each simulation followed."""
    shape, ranks = recording.shape, recording.end_rank[below]
    children = children_of(shape, node)
    ends_unkept = ranks == shape.rank[node]
    if not len(children):
        return recording.edge[below]
    # A child's branch has the ranks from its own to the next child's.
    child = children[np.searchsorted(shape.rank[children], ranks, side="right") - 1]
    return np.where(ends_unkept, recording.edge[below], recording.parent_edge[child])


def _add_in_order(start: float, numbers: Floats) -> float:
    """The sum from the first number to the last; np.sum would add them in another order."""
    return float(np.cumsum(np.concatenate([[start], numbers]))[-1])


def _kept_of(array: NDArray[Any], place: int, otherwise: Any) -> Any:
    """What a node or an edge had before the search, if it was there."""
    return array[place] if place < len(array) else otherwise


def _find_values(
    recording: Recording, node: int, steps: Steps, standing: Standing, simulations: int
) -> list[float]:
    """V per player: the mean of the node's own evaluation and all results below it."""
    if node == ROOT and recording.proofs.is_root_proven(simulations):
        exact, players = recording.proofs.root_exact, range(len(standing.value_sum))
        return [exact if player == standing.mover else -exact for player in players]
    if recording.is_over[node]:
        if len(steps):
            return recording.values[steps[-1]].tolist()  # type: ignore[no-any-return]
        kept, edge = recording.kept, recording.parent_edge[node]
        return (kept.edge_sums[edge] / kept.edge_visits[edge]).tolist()  # type: ignore[no-any-return]
    own = standing.mover != CHANCE
    return [total / max(1, standing.sum_visits + own) for total in standing.value_sum]
