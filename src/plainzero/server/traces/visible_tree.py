"""The visible part of a traced tree as it was after some simulations."""

import functools
import heapq

import numpy as np

from plainzero.games.contract import Game
from plainzero.search.tree_memory import ROOT
from plainzero.server.api.schemas.traces import Look, TreeNode, TreeView
from plainzero.server.searching.selection_scores import make_move
from plainzero.server.traces.recording import Count, Recording
from plainzero.server.traces.tree_shape import Floats, Ints, children_of

_WANTED, _BY_VISITS = 0, 1


def view_tree(game: Game, recording: Recording, count: Count, look: Look) -> TreeView:
    """The nodes that the page shows; parents come before their children.

    Every node that is not sent is `hidden` below the nearest sent one above it, so that those sent
    and those hidden are together all there are below the root that was asked for.
    """
    sent = np.array(choose_visible(recording, count, look), np.int32)
    return TreeView(
        id=look.id,
        simulation=count.simulations,
        nodes=_describe_nodes(game, recording, count, sent),
        total_nodes=int(count.made[-1]),
    )


def choose_visible(recording: Recording, count: Count, look: Look) -> list[int]:
    """The nodes to show, at most `most_nodes`, in the order in which they were chosen.

    The root that was asked for, then those on the way to an opened node and its children, then
    always the most visited of those whose parent is shown; of equals the older one. Nothing below a
    collapsed node is shown, opened or not. Where the root is not there yet, it is shown unvisited.
    """
    collapsed, wanted = set(look.collapsed), _find_wanted(recording, look)
    sent: list[int] = []
    queue = [(_WANTED, 0, look.root)]
    while queue and len(sent) < look.most_nodes:
        _, _, node = heapq.heappop(queue)
        sent.append(node)
        if node in collapsed:
            continue
        children = children_of(recording.shape, node)
        for child, visits in zip(children.tolist(), count.visits[children].tolist(), strict=True):
            if visits > 0:
                kind = _WANTED if child in wanted else _BY_VISITS
                heapq.heappush(queue, (kind, -visits, child))
    return sent


def _find_wanted(recording: Recording, look: Look) -> set[int]:
    """The children of opened nodes, and all nodes on the way to them.

    Those that are not there yet, or not below the root that was asked for, are never come to.
    """
    shape, wanted = recording.shape, set[int]()
    for opened in look.opened:
        node = opened
        while node not in wanted:  # the root is its own parent
            wanted.add(node)
            node = int(shape.parent[node])
    for opened in look.opened:
        wanted.update(children_of(shape, opened).tolist())
    return wanted


def _describe_nodes(game: Game, recording: Recording, count: Count, sent: Ints) -> list[TreeNode]:
    shape, edges, make = recording.shape, recording.parent_edge[sent], functools.cache(make_move)
    parents = shape.parent[sent]
    columns = (
        sent,
        parents,
        recording.action[edges],
        recording.mover[parents],
        shape.depth[sent],
        count.visits[sent],
        _mean_values(recording, count, sent),
        recording.prior[edges],
        recording.is_over[sent],
        _exact_values(recording, count.simulations, sent),
        _count_hidden(recording, count, sent),
    )
    nodes: list[TreeNode] = []
    for row in zip(*(column.tolist() for column in columns), strict=True):
        node, parent, action, mover, depth, visits, q, prior, is_over, exact, hidden = row
        is_known, is_root = exact == exact, node == ROOT  # NaN where nothing is known
        nodes.append(
            TreeNode(
                node=node,
                parent=parent if nodes else -1,
                move=None if is_root else make(game, action, mover),
                depth=depth,
                visits=visits,
                q=exact if is_known else q if visits > 0 or is_root else None,
                prior=None if is_root else prior,
                is_over=is_over,
                exact=exact if is_known else None,
                hidden=hidden,
            )
        )
    return nodes


def _mean_values(recording: Recording, count: Count, nodes: Ints) -> Floats:
    """Q for the player who moved there, or decided last before chance did; V for the root's mover.

    The root's own evaluation is no simulation and counts beside them, as it does in its value.
    """
    judge = recording.judge[recording.shape.parent[nodes]]
    number = np.maximum(1, count.visits[nodes] + (nodes == ROOT))
    means: Floats = count.sums[nodes, judge] / number
    return means


def _exact_values(recording: Recording, simulations: int, nodes: Ints) -> Floats:
    """What was proven by then, for the same player; NaN where nothing was."""
    proofs, edges, exact = (
        recording.proofs,
        recording.parent_edge[nodes],
        np.full(len(nodes), np.nan),
    )
    if len(proofs.exact):
        is_proven = proofs.proven_after[edges] <= simulations
        exact[is_proven] = proofs.exact[edges[is_proven]]
    exact[nodes == ROOT] = proofs.root_exact if proofs.is_root_proven(simulations) else np.nan
    return exact


def _count_hidden(recording: Recording, count: Count, nodes: Ints) -> Ints:
    """The nodes below each that are neither sent nor below another that is sent."""
    shape, made = recording.shape, count.made
    below = made[shape.rank[nodes] + shape.size[nodes]] - made[shape.rank[nodes]]
    place = np.full(recording.num_nodes, -1, np.int32)
    place[nodes] = np.arange(len(nodes))
    hidden: Ints = np.maximum(0, below - 1)
    np.subtract.at(hidden, place[shape.parent[nodes[1:]]], below[1:])
    return hidden
