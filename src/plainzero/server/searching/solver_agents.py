"""Players without a search tree: alpha-beta and perfect play, and how what they find is told."""

import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.opponents import alpha_beta
from plainzero.opponents.agent import Stopped
from plainzero.opponents.alpha_beta import AlphaBeta, best_actions
from plainzero.opponents.perfect import move_outcomes
from plainzero.server.api.schemas import searching as messages
from plainzero.server.position_views import legal_moves, name_move
from plainzero.server.searching.scheduler import Turn

OnProgress = Callable[[messages.Analysis, float], None]
"""Called from the search's thread with what it thinks so far, and the seconds it took."""


class Question(NamedTuple):
    """A position to think about, and whoever asked."""

    game: Game
    state: Any
    seed: int
    turn: Turn
    on_progress: OnProgress | None = None


def ask_alpha_beta(question: Question, depth: int, seconds: float) -> tuple[int, messages.Analysis]:
    """The move and the values of the last whole depth; each depth before it is reported."""
    game, state, seed, turn, on_progress = question
    start = time.perf_counter()

    def tell(found: alpha_beta.Analysis) -> tuple[int, messages.Analysis]:
        best = random.Random(seed).choice(best_actions(found.values))
        values = {action: float(found.values[action]) for action in game.legal(state)}
        return best, make_analysis(
            game, state, best, q=values, value=values[best], is_proven=found.is_exact
        )

    def report(found: alpha_beta.Analysis) -> None:
        if on_progress is not None and not turn.stop.is_set():
            on_progress(tell(found)[1], time.perf_counter() - start)

    def is_stopped() -> bool:
        turn.give_way()
        return turn.stop.is_set()

    return tell(AlphaBeta(game, depth, seconds).analyse(state, is_stopped, report))


def ask_perfect(question: Question, seconds: float) -> tuple[int, messages.Analysis]:
    """A move that gives nothing away, by the seed.

    Raises:
        ValueError: when perfect play was not found in time, or before it was stopped.
    """
    game, state, seed, turn, _ = question
    try:
        found = find_outcomes(question, seconds)
    except Stopped:
        end = "by the time it was stopped" if turn.stop.is_set() else f"in {seconds:g} seconds"
        raise ValueError(
            f"perfect play was not found {end}; ask again, and it goes on from there"
        ) from None
    exact = {action: float(found[action]) for action in game.legal(state)}
    best: int = random.Random(seed).choice(np.flatnonzero(found == found.max()).tolist())
    return best, make_analysis(
        game, state, best, q=exact, value=exact[best], is_proven=True, exact=exact
    )


def find_outcomes(question: Question, seconds: float) -> NDArray[np.int8]:
    """What each move leads to with perfect play, [A].

    Raises:
        Stopped: when the time is over, or the search was stopped.
    """
    turn, deadline = question.turn, time.monotonic() + seconds

    def is_over() -> bool:
        turn.give_way()
        return turn.stop.is_set() or time.monotonic() > deadline

    outcomes: NDArray[np.int8] = move_outcomes(question.game, [question.state], stop=is_over)[0]
    return outcomes


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
    """What a player without a search tree has to say."""
    return messages.Analysis(
        to_play=int(state.to_play),
        value=value,
        values=[],
        simulations=0,
        nodes=0,
        is_proven=is_proven,
        best=best,
        moves=[
            messages.MoveOpinion(
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
