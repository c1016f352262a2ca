"""The visible part of a traced tree after some simulations."""

import functools
import heapq

import numpy as np

from plainzero.games.contract import Game
from plainzero.search.kernels.tree import ROOT
from plainzero.server.api.schemas.traces import TreeNode, TreeRequest, TreeView
from plainzero.server.searching.selection_scores import make_move
from plainzero.server.traces.recording import NodeCounts, Recording
from plainzero.server.traces.tree_shape import Floats, Ints, children_of

_WANTED, _BY_VISITS = 0, 1


def view_tree(
    game: Game, recording: Recording, count: NodeCounts, request: TreeRequest
) -> TreeView:
    """The nodes that the page shows; parents come before their children.

    Each node that is not sent counts as `hidden` at its nearest sent ancestor, so that sent and
    hidden nodes together are the whole requested subtree.
    """
    sent = np.array(choose_visible(recording, count, request), np.int32)
    return TreeView(
        id=request.id,
        simulation=count.simulations,
        nodes=_describe_nodes(game, recording, count, sent),
        total_nodes=int(count.created[-1]),
    )


def choose_visible(recording: Recording, count: NodeCounts, request: TreeRequest) -> list[int]:
    """The nodes to show, at most `max_nodes`, in order of choice.

    First the requested root, then the paths to opened nodes and their children, then repeatedly the
    most visited node whose parent is shown; ties go to the older node. Nothing below a collapsed
    node is shown. A root that does not exist yet is shown without visits.
    """
    collapsed, wanted = set(request.collapsed), _find_wanted(recording, request)
    sent: list[int] = []
    queue = [(_WANTED, 0, request.root)]
    while queue and len(sent) < request.max_nodes:
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


def _find_wanted(recording: Recording, request: TreeRequest) -> set[int]:
    """The children of opened nodes, and all nodes on the paths to them.

    Nodes that do not exist yet or are outside the requested subtree are never reached.
    """
    shape, wanted = recording.shape, set[int]()
    for opened in request.opened:
        node = opened
        while node not in wanted:  # the root is its own parent
            wanted.add(node)
            node = int(shape.parent[node])
    for opened in request.opened:
        wanted.update(children_of(shape, opened).tolist())
    return wanted


def _describe_nodes(
    game: Game, recording: Recording, count: NodeCounts, sent: Ints
) -> list[TreeNode]:
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
        is_known, is_root = exact == exact, node == ROOT  # NaN: nothing is proven
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


def _mean_values(recording: Recording, count: NodeCounts, nodes: Ints) -> Floats:
    """Q for the player whose move leads to each node, or who moved last before chance did.

    At the root it is V for the player to move, which includes the root's own evaluation.
    """
    value_player = recording.value_player[recording.shape.parent[nodes]]
    number = np.maximum(1, count.visits[nodes] + (nodes == ROOT))
    means: Floats = count.sums[nodes, value_player] / number
    return means


def _exact_values(recording: Recording, simulations: int, nodes: Ints) -> Floats:
    """The values proven by then, for the same player; NaN if not proven."""
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


def _count_hidden(recording: Recording, count: NodeCounts, nodes: Ints) -> Ints:
    """For each sent node, the number of nodes below it whose nearest sent ancestor it is."""
    shape, created = recording.shape, count.created
    below = created[shape.rank[nodes] + shape.size[nodes]] - created[shape.rank[nodes]]
    place = np.full(recording.num_nodes, -1, np.int32)
    place[nodes] = np.arange(len(nodes))
    hidden: Ints = np.maximum(0, below - 1)
    np.subtract.at(hidden, place[shape.parent[nodes[1:]]], below[1:])
    return hidden
