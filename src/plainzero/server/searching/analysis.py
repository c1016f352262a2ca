"""What a search thinks of its position, finished or not."""

import math
from typing import Any

from plainzero.games.contract import Game
from plainzero.search.result import SearchResult
from plainzero.search.tree_memory import ROOT
from plainzero.server.api.schemas.games import Move
from plainzero.server.api.schemas.searching import Analysis
from plainzero.server.searching.selection_scores import (
    MoveStanding,
    Standing,
    give_opinions,
    make_move,
    plain_options,
)


def analyse(result: SearchResult, step: int | None) -> Analysis:
    """The root's statistics, and the line that the search expects.

    It takes about as long as the line has moves, whatever the size of the tree, and may be asked
    for between two rounds of a search that goes on. Priors are those that selection uses: at a root
    with noise, with its noise.

    Args:
        result: its tree must not be gone.
        step: of the weights that were used, if any.
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
        moves=give_opinions(result.game, options, _root_standing(result)),
        variation=_name_line(result.game, result),
        step=step,
    )


def _root_standing(result: SearchResult) -> Standing:
    roots, row = result.roots, result.row
    node = roots.nodes[row, ROOT]
    extra: Any = roots.node_extras[row, ROOT] if roots.node_extras.size else None
    edges = roots.edges[row, : int(node.num_edges)]
    exact = result.exact.tolist()
    moves = [
        MoveStanding(
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
    return Standing(
        is_root=True,
        mover=int(node.mover),
        sum_visits=int(node.sum_visits),
        value_sum=node.value_sum.tolist(),
        square_sum=0.0 if extra is None else float(extra.square_sum),
        own_value=0.0 if extra is None else float(extra.own_value),
        moves=moves,
    )


def _name_line(game: Game, result: SearchResult) -> list[Move]:
    """The expected moves with their players; they end where chance would move."""
    state = game.copy(result.roots.states[result.row, ROOT])
    line = []
    for action in result.principal_variation:
        line.append(make_move(game, action, int(state.to_play)))
        game.apply(state, action)
    return line
