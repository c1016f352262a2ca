"""What selection makes of a node's moves, by the engine's own functions.

A node is given as a `Standing`: its statistics at some time, whether they are read from a tree or
counted again from a trace. The engine's functions of selection then run on it as they stand, over a
tree of this one node, so that no formula is written twice.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

from plainzero.games.contract import CHANCE, Game
from plainzero.games.formats.replay_moves import move_name
from plainzero.search.kernels.formulas import INFINITE
from plainzero.search.kernels.gumbel import completed_q, mixed_value
from plainzero.search.kernels.selection import edge_score, node_terms, optional_q
from plainzero.search.resolve_options import AMAF_OFF, GUMBEL, UCT
from plainzero.search.tree_memory import ROOT
from plainzero.server.api.schemas.games import Move
from plainzero.server.api.schemas.searching import MoveOpinion

_ELSEWHERE = 1  # the place of a node that is not the root


class MoveStanding(NamedTuple):
    """A move's statistics; the engine's functions read it as an edge and its extras in one."""

    action: int
    prior: float  # P, at the root with its noise
    visits: int  # n
    value_sum: float  # W, for the mover; where chance moves, for the player who decided last
    q: float  # W / n, 0 where never visited
    is_proven: bool
    exact: float


class Standing(NamedTuple):
    """A node's statistics at one time; the engine's functions read it as a node and its extras."""

    is_root: bool
    mover: int
    sum_visits: int  # S
    value_sum: list[float]  # per player, own evaluation included
    square_sum: float  # of the mover's results, own evaluation included; for options that need it
    own_value: float  # own evaluation for the mover; for options that need it
    moves: list[MoveStanding]
    first_edge: int = 0

    @property
    def num_edges(self) -> int:
        """The number of moves."""
        return len(self.moves)

    @property
    def node_visits(self) -> int:
        """N: S + 1 for the node's own evaluation; the root's, and chance's, do not count."""
        return self.sum_visits + (not self.is_root and self.mover != CHANCE)


def plain_options(record: Any) -> Any:
    """The options of one game as plain numbers, leaves on their way and AMAF left out.

    A trace says nothing of either, and neither changes what is added to Q.
    """
    numbers = {name: record[name].item() for name in record.dtype.names}
    return SimpleNamespace(**{**numbers, "leaves": 1, "amaf": AMAF_OFF})


def give_opinions(
    game: Game, options: Any, standing: Standing, fills_first_play: bool = False
) -> list[MoveOpinion]:
    """What is known of each move, in the order in which selection looks at them.

    `u` is what the formula adds to Q. It is null under Gumbel's selection, which adds nothing to Q
    but compares by other rules, and where chance moves. A number of 10⁹ or more stands for
    infinity, as it does in the engine: U of UCT for a move never tried; Q of such a move with
    fpu=infinite; U of a root move that forced playouts take next.

    Args:
        game: names the moves.
        options: see `plain_options`.
        standing: the node.
        fills_first_play: whether q of a move never tried is what selection takes for it, which is
            first-play urgency, or Gumbel's v_mix; else it is null.
    """
    scored = _score(options, standing)
    total = max(1, standing.sum_visits)
    return [
        MoveOpinion(
            action=move.action,
            name=move_name(game, standing.mover, move.action),
            prior=move.prior,
            visits=move.visits,
            share=move.visits / total,
            q=q if fills_first_play or move.visits > 0 or move.is_proven else None,
            u=u,
            exact=move.exact if move.is_proven else None,
        )
        for move, (q, u) in zip(standing.moves, scored, strict=True)
    ]


def make_move(game: Game, action: int, player: int) -> Move:
    """The move with its name."""
    return Move(action=action, name=move_name(game, player, action), player=player)


def _score(options: Any, standing: Standing) -> list[tuple[float | None, float | None]]:
    """Q, as selection takes it, and U of each move."""
    if standing.mover == CHANCE:
        return [(move.q if move.visits > 0 else None, None) for move in standing.moves]
    tree = _plant(standing)
    node, places = (ROOT if standing.is_root else _ELSEWHERE), range(standing.num_edges)
    if options.selection == GUMBEL:
        mixed = mixed_value(tree, options, 0, node)
        return [(completed_q(tree, options, 0, place, mixed), None) for place in places]
    terms = node_terms(tree, options, 0, node)
    return [_score_move(tree, options, node, place, terms) for place in places]


class _OneNode(NamedTuple):
    """A tree of one node and its edges, with what the functions of selection look up in a tree."""

    nodes: dict[tuple[int, int], Standing]
    node_extras: dict[tuple[int, int], Standing]
    edges: dict[tuple[int, int], MoveStanding]
    extras: dict[tuple[int, int], MoveStanding]
    roots: list[SimpleNamespace]


def _plant(standing: Standing) -> _OneNode:
    nodes = {(0, ROOT if standing.is_root else _ELSEWHERE): standing}
    edges = {(0, place): move for place, move in enumerate(standing.moves)}
    return _OneNode(nodes, nodes, edges, edges, [SimpleNamespace(is_cheap=False)])


def _score_move(
    tree: _OneNode, options: Any, node: int, place: int, terms: Any
) -> tuple[float, float]:
    """Q and U, whose sum is the engine's score."""
    move = tree.edges[0, place]
    u = edge_score(options.selection, 0.0, move.prior, move.visits, terms)
    if move.visits == 0 and options.selection == UCT:  # infinite by its formula, whatever Q is
        return terms.first_play, u
    q = optional_q(tree, options, 0, node, place, move.visits, terms)
    if q == INFINITE and move.visits > 0:  # a forced playout, whose own Q is worth seeing
        return move.q, q + u - move.q
    return q, u
