"""Agents without a search tree, alpha-beta and perfect play, and their analyses."""

import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.opponents import alpha_beta
from plainzero.opponents.agent import Stop, Stopped
from plainzero.opponents.alpha_beta import AlphaBeta, best_actions
from plainzero.opponents.perfect import best_moves, move_outcomes
from plainzero.server.api.schemas import searching as messages
from plainzero.server.position_views import legal_moves, name_move
from plainzero.server.searching.scheduler import Slot

OnProgress = Callable[[messages.Analysis, float], None]
"""Called from the search's thread with the analysis so far and the seconds spent."""


class Query(NamedTuple):
    """A position to search, for whom, and how."""

    game: Game
    state: Any
    seed: int
    slot: Slot
    on_progress: OnProgress | None = None


def run_alpha_beta(query: Query, depth: int, seconds: float) -> tuple[int, messages.Analysis]:
    """The move and analysis of the last completed depth; each earlier depth is reported."""
    game, state, seed, slot, on_progress = query
    start = time.perf_counter()

    def tell(found: alpha_beta.Analysis) -> tuple[int, messages.Analysis]:
        best = random.Random(seed).choice(best_actions(found.values))
        values = {action: float(found.values[action]) for action in game.legal(state)}
        return best, make_analysis(
            game, state, best, q=values, value=values[best], is_proven=found.is_exact
        )

    def report(found: alpha_beta.Analysis) -> None:
        if on_progress is not None and not slot.stop.is_set():
            on_progress(tell(found)[1], time.perf_counter() - start)

    def is_stopped() -> bool:
        slot.yield_to_others()
        return slot.stop.is_set()

    return tell(AlphaBeta(game, depth, seconds).analyse(state, is_stopped, report))


def run_perfect(query: Query, seconds: float) -> tuple[int, messages.Analysis]:
    """A perfect move, chosen among equals by the seed, and its analysis.

    Raises:
        ValueError: if the position was not solved in time, or before it was stopped.
    """
    game, state, seed, slot, _ = query
    is_over = _make_stop(query, seconds)
    try:
        found = move_outcomes(game, [state], stop=is_over)[0]
        best = random.Random(seed).choice(best_moves(game, state, is_over))
    except Stopped:
        end = "before it was stopped" if slot.stop.is_set() else f"in {seconds:g} seconds"
        raise ValueError(
            f"the position was not solved {end}; ask again to continue from there"
        ) from None
    exact = {action: float(found[action]) for action in game.legal(state)}
    return best, make_analysis(
        game, state, best, q=exact, value=exact[best], is_proven=True, exact=exact
    )


def find_outcomes(query: Query, seconds: float) -> NDArray[np.int8]:
    """The result of each action under perfect play, [A].

    Raises:
        Stopped: if time is over, or the search was stopped.
    """
    stop = _make_stop(query, seconds)
    outcomes: NDArray[np.int8] = move_outcomes(query.game, [query.state], stop=stop)[0]
    return outcomes


def _make_stop(query: Query, seconds: float) -> Stop:
    """Returns true when the time is over or the search was stopped; lets others work."""
    slot, deadline = query.slot, time.monotonic() + seconds

    def is_over() -> bool:
        slot.yield_to_others()
        return slot.stop.is_set() or time.monotonic() > deadline

    return is_over


def make_analysis(
    game: Game,
    state: Any,
    best: int,
    *,
    priors: dict[int, float] | None = None,
    q: dict[int, float] | None = None,
    exact: dict[int, float] | None = None,
    value: float | None = None,
    is_proven: bool = False,
    step: int | None = None,
) -> messages.Analysis:
    """The analysis of an agent without a search tree."""
    return messages.Analysis(
        to_play=int(state.to_play),
        value=value,
        values=[],
        simulations=0,
        nodes=0,
        is_proven=is_proven,
        best=best,
        book=None,
        moves=[
            messages.MoveStatistics(
                action=move.action,
                name=move.name,
                prior=(priors or {}).get(move.action),
                visits=None,
                share=None,
                q=(q or {}).get(move.action),
                u=None,
                exact=(exact or {}).get(move.action),
            )
            for move in legal_moves(game, state)
        ],
        variation=[name_move(game, state, best)],
        step=step,
    )
