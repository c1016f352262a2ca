"""The analysis of a position by a finished or running search."""

import math
from typing import Any

from plainzero.games.contract import Game
from plainzero.search.kernels.tree import ROOT
from plainzero.search.result import SearchResult
from plainzero.server.api.schemas.games import Move
from plainzero.server.api.schemas.searching import Analysis
from plainzero.server.searching.selection_scores import (
    EdgeStatistics,
    NodeStatistics,
    make_move,
    plain_options,
    score_moves,
)


def analyse(result: SearchResult, step: int | None) -> Analysis:
    """The root's statistics and the principal variation.

    The cost depends on the length of the variation, not on the size of the tree, and a running
    search may be analysed between two rounds. Priors are those of selection: they include noise.

    Args:
        result: of the search, whose tree must still exist.
        step: of the weights used, if any.
    """
    options = plain_options(result.options[0])
    return Analysis(
        to_play=result.to_play,
        value=result.value,
        values=result.values.tolist(),
        simulations=result.simulations,
        nodes=len(result.tree),
        is_proven=result.proven,
        best=result.best_action,
        book=None,
        moves=score_moves(result.game, options, _root_statistics(result)),
        variation=_name_line(result.game, result),
        step=step,
    )


def _root_statistics(result: SearchResult) -> NodeStatistics:
    roots, row = result.roots, result.row
    node = roots.nodes[row, ROOT]
    extra: Any = roots.node_extras[row, ROOT] if roots.node_extras.size else None
    edges = roots.edges[row, : int(node.num_edges)]
    exact = result.exact.tolist()
    moves = [
        EdgeStatistics(
            action=int(edge.action),
            prior=float(edge.prior),
            visits=int(edge.visits),
            value_sum=float(edge.value_sum),
            q=float(edge.q),
            is_proven=not math.isnan(exact[edge.action]),
            exact=exact[edge.action],
        )
        for edge in edges
    ]
    return NodeStatistics(
        is_root=True,
        mover=int(node.mover),
        sum_visits=int(node.sum_visits),
        value_sum=node.value_sum.tolist(),
        square_sum=0.0 if extra is None else float(extra.square_sum),
        own_value=0.0 if extra is None else float(extra.own_value),
        moves=moves,
    )


def _name_line(game: Game, result: SearchResult) -> list[Move]:
    """The principal variation with its players, up to the first chance node."""
    state = game.copy(result.roots.states[result.row, ROOT])
    line = []
    for action in result.principal_variation:
        line.append(make_move(game, action, int(state.to_play)))
        game.apply(state, action)
    return line
