"""Perfect play, and the true outcome of every move, in games that can be solved.

Connect Four has a solver of its own, and a book for its first plies; other games of two players
without chance are searched to their end if they are small. Outcomes are +1, 0 and −1: the move
wins, draws or loses for the mover.
"""

import contextlib
import functools
import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.bundled.connect_four import ConnectFour
from plainzero.games.contract import Game, has_chance
from plainzero.opponents.agent import Stop, Stopped, check_stop, require_choices
from plainzero.opponents.alpha_beta import AlphaBeta
from plainzero.opponents.connect_four.kernels import ILLEGAL
from plainzero.opponents.connect_four.opening_book import BOOK_GAME, BOOK_PLIES, load_opening_book
from plainzero.opponents.connect_four.solver import ConnectFourSolver, Progress

_MOST_CELLS = 42  # of connect-four: on larger boards, positions with few stones take hours
_MOST_CHOICE_BITS = 64.0  # log2 of num_actions ^ max_turns: 4×4 tic-tac-toe is the largest
_TABLE_BYTES = 1 << 26
_SOLVERS_KEPT = 4
_QUESTIONS_BEFORE_WORK = 2  # asked of `stop` before compiled code runs, at most

Solver = ConnectFourSolver | AlphaBeta


class Perfect:
    """Never gives away a win or a draw; among moves of the same outcome it plays any, by the seed.

    Raises:
        ValueError: for a game that cannot be solved.
    """

    name = "perfect"

    def __init__(self, game: Game) -> None:
        """A player of `game`."""
        _require_perfect(game)
        self.game = game

    def choose(self, states: Sequence[Any], seed: int, stop: Stop | None = None) -> list[int]:
        """A move of the best outcome for each position; `stop` as for `move_outcomes`."""
        generator = random.Random(seed)
        chosen = []
        for outcomes in move_outcomes(self.game, states, stop=stop):
            best = np.flatnonzero(outcomes == outcomes.max())
            chosen.append(generator.choice(best.tolist()))
        return chosen


def has_perfect(game: Game) -> bool:
    """Whether perfect play is known: decided by the kind and the size of the game alone."""
    if isinstance(game, ConnectFour) and game.in_a_row == 4:
        return game.rows * game.cols <= _MOST_CELLS
    choice_bits = game.max_turns * math.log2(max(2, game.num_actions))
    return game.num_players == 2 and not has_chance(game) and choice_bits <= _MOST_CHOICE_BITS


def move_outcomes(
    game: Game,
    states: Sequence[Any] | NDArray[Any],
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> NDArray[np.int8]:
    """What each move leads to with perfect play: +1, 0, −1 for the mover, [n, A].

    ILLEGAL where the move is not legal.

    Args:
        game: one with `has_perfect`.
        states: positions that are not over.
        progress: called with the positions done and those asked for.
        stop: asked many times a second. Positions in the opening book take no more than a moment.

    Raises:
        ValueError: for a game that cannot be solved, or a position that is over.
        Stopped: when `stop` says yes; what was found out by then is not lost to the next call.
    """
    return outcomes_by(make_solver(game), states, progress, stop)


def outcomes_by(
    solver: Solver,
    states: Sequence[Any] | NDArray[Any],
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> NDArray[np.int8]:
    """`move_outcomes` from a solver of one's own."""
    require_choices(states)
    outcomes = np.empty((len(states), solver.game.num_actions), np.int8)
    for row, state in enumerate(states):
        outcomes[row] = _judge(solver, state, stop)
        if progress is not None:
            progress(row + 1, len(states))
    return outcomes


def _judge(solver: Solver, state: Any, stop: Stop | None) -> NDArray[np.int8]:
    """The outcomes of all moves of one position, [A]."""
    if isinstance(solver, ConnectFourSolver):
        check_stop(stop)
        known = _look_up(solver.game, state)
        return solver.outcomes([state], stop=stop)[0] if known is None else known
    values = solver.solve(state, stop).values
    return np.where(np.isnan(values), ILLEGAL, np.sign(np.nan_to_num(values))).astype(np.int8)


def _look_up(game: ConnectFour, state: Any) -> NDArray[np.int8] | None:
    """What the opening book says, if the position is in it."""
    if game != BOOK_GAME or getattr(state, "dtype", None) != game.dtype:
        return None
    own, occupied = int(state.stones[state.to_play]), int(state.stones[0] | state.stones[1])
    if occupied.bit_count() >= BOOK_PLIES:
        return None
    return load_opening_book().move_outcomes(own, occupied)


def compile_solver(game: Game, state: Any) -> None:
    """Has `move_outcomes` compiled for the game, by some milliseconds of solving `state`."""
    asked = itertools.count()
    with contextlib.suppress(Stopped):
        move_outcomes(game, [state], stop=lambda: next(asked) >= _QUESTIONS_BEFORE_WORK)


@functools.lru_cache(maxsize=_SOLVERS_KEPT)
def make_solver(game: Game, table_bytes: int = _TABLE_BYTES) -> Solver:
    """What solves positions of the game; the last few are kept, with their tables.

    Raises:
        ValueError: for a game that cannot be solved.
    """
    _require_perfect(game)
    if isinstance(game, ConnectFour) and game.in_a_row == 4:
        return ConnectFourSolver(game, table_bytes)
    return AlphaBeta(game, depth=max(1, game.max_turns), table_bytes=table_bytes)


def _require_perfect(game: Game) -> None:
    if not has_perfect(game):
        raise ValueError(
            f"perfect play of {game.name} is not known; it is for connect-four up to "
            f"{_MOST_CELLS} cells, and for small games of two players without chance"
        )
