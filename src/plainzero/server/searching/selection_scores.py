"""The selection scores of a node's moves, computed by the search's own functions.

A node is given as `NodeStatistics`, either read from a tree or recounted from a trace. The search's
selection functions run unchanged on a tree of this one node, so that no formula is written twice.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

from plainzero.games.contract import CHANCE, Game
from plainzero.games.formats.replay_moves import move_name
from plainzero.search.kernels.formulas import INFINITE
from plainzero.search.kernels.gumbel import completed_q, mixed_value
from plainzero.search.kernels.options import AMAF_OFF, GUMBEL, UCT
from plainzero.search.kernels.selection import edge_score, node_terms, optional_q
from plainzero.search.kernels.tree import ROOT
from plainzero.server.api.schemas.games import Move
from plainzero.server.api.schemas.searching import MoveStatistics

_ELSEWHERE = 1  # the index of a node that is not the root


class EdgeStatistics(NamedTuple):
    """A move's statistics; the search's functions read it as an edge and as its extras."""

    action: int
    prior: float  # P, including noise at the root
    visits: int  # n
    value_sum: float  # W for the player to move; at chance nodes, for the last player who moved
    q: float  # W / n; 0 if never visited
    is_proven: bool
    exact: float


class NodeStatistics(NamedTuple):
    """A node's statistics at one time; the search's functions read it as a node and its extras."""

    is_root: bool
    mover: int
    sum_visits: int  # S
    value_sum: list[float]  # per player, including its own evaluation
    square_sum: float  # of the mover's results and its own evaluation; for options that need it
    own_value: float  # its own evaluation for the mover; for options that need it
    moves: list[EdgeStatistics]
    first_edge: int = 0

    @property
    def num_edges(self) -> int:
        """The number of moves."""
        return len(self.moves)

    @property
    def node_visits(self) -> int:
        """N: S + 1 for the node's own evaluation, which roots and chance nodes do not count."""
        return self.sum_visits + (not self.is_root and self.mover != CHANCE)


def plain_options(record: Any) -> Any:
    """The options of one game as plain numbers, without virtual visits and AMAF.

    Traces record neither, and neither changes U.
    """
    numbers = {name: record[name].item() for name in record.dtype.names}
    return SimpleNamespace(**{**numbers, "leaves": 1, "amaf": AMAF_OFF})


def score_moves(
    game: Game, options: Any, statistics: NodeStatistics, fills_first_play: bool = False
) -> list[MoveStatistics]:
    """The statistics and scores of each move, in the order of selection.

    `u` is what the formula adds to Q. It is null for Gumbel selection, which compares moves by
    other rules, and at chance nodes. Numbers of 10⁹ or more stand for infinity, as in the search: U
    of an unvisited move under UCT; Q of such a move with fpu=infinite; U of a root move that forced
    playouts select next.

    Args:
        game: names the moves.
        options: see `plain_options`.
        statistics: of the node.
        fills_first_play: whether q of an unvisited move is the value that selection uses, which is
            first-play urgency or Gumbel's v_mix; otherwise it is null.
    """
    scored = _score(options, statistics)
    total = max(1, statistics.sum_visits)
    return [
        MoveStatistics(
            action=move.action,
            name=move_name(game, statistics.mover, move.action),
            prior=move.prior,
            visits=move.visits,
            share=move.visits / total,
            q=q if fills_first_play or move.visits > 0 or move.is_proven else None,
            u=u,
            exact=move.exact if move.is_proven else None,
        )
        for move, (q, u) in zip(statistics.moves, scored, strict=True)
    ]


def make_move(game: Game, action: int, player: int) -> Move:
    """The move with its name."""
    return Move(action=action, name=move_name(game, player, action), player=player)


def _score(options: Any, statistics: NodeStatistics) -> list[tuple[float | None, float | None]]:
    """Q as selection uses it, and U, of each move."""
    if statistics.mover == CHANCE:
        return [(move.q if move.visits > 0 else None, None) for move in statistics.moves]
    tree: Any = _make_one_node_tree(statistics)  # all that these functions read of a `Tree`
    node, places = (ROOT if statistics.is_root else _ELSEWHERE), range(statistics.num_edges)
    if options.selection == GUMBEL:
        mixed = mixed_value(tree, options, 0, node)
        return [(completed_q(tree, options, 0, place, mixed), None) for place in places]
    terms = node_terms(tree, options, 0, node)
    return [_score_move(tree, options, node, place, terms) for place in places]


class _OneNode(NamedTuple):
    """A tree of one node and its edges, as far as the selection functions read it."""

    nodes: dict[tuple[int, int], NodeStatistics]
    node_extras: dict[tuple[int, int], NodeStatistics]
    edges: dict[tuple[int, int], EdgeStatistics]
    extras: dict[tuple[int, int], EdgeStatistics]
    roots: list[SimpleNamespace]


def _make_one_node_tree(statistics: NodeStatistics) -> _OneNode:
    nodes = {(0, ROOT if statistics.is_root else _ELSEWHERE): statistics}
    edges = {(0, place): move for place, move in enumerate(statistics.moves)}
    return _OneNode(nodes, nodes, edges, edges, [SimpleNamespace(is_cheap=False)])


def _score_move(tree: Any, options: Any, node: int, place: int, terms: Any) -> tuple[float, float]:
    """Q and U, whose sum is the search's score."""
    move = tree.edges[0, place]
    u = edge_score(options.selection, 0.0, move.prior, move.visits, terms)
    if move.visits == 0 and options.selection == UCT:  # infinite for any Q
        return terms.first_play, u
    q = optional_q(tree, options, 0, node, place, move.visits, terms)
    if q == INFINITE and move.visits > 0:  # a forced playout: show its own Q
        return move.q, q + u - move.q
    return q, u
