"""Perfect play, and the outcome of every move, for games that can be solved.

Connect Four has its own solver and an opening book; other small two-player games without chance are
searched to the end. Outcomes are +1, 0 and −1: the move wins, draws or loses for the mover.
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
_CACHED_SOLVERS = 4
_CALLS_BEFORE_WORK = 2  # of `stop` before compiled code runs, at most

Solver = ConnectFourSolver | AlphaBeta


class PerfectAgent:
    """Never gives away a win or a draw; chooses at random among moves of the best outcome.

    Raises:
        ValueError: when there is no solver for the game.
    """

    name = "perfect"

    def __init__(self, game: Game) -> None:
        """An agent for `game`."""
        _require_perfect(game)
        self.game = game

    def choose(self, states: Sequence[Any], seed: int, stop: Stop | None = None) -> list[int]:
        """A move with the best outcome for each position; `stop` as for `move_outcomes`."""
        generator = random.Random(seed)
        chosen = []
        for outcomes in move_outcomes(self.game, states, stop=stop):
            best = np.flatnonzero(outcomes == outcomes.max())
            chosen.append(generator.choice(best.tolist()))
        return chosen


def has_perfect(game: Game) -> bool:
    """Whether there is a solver for the game, which depends on its kind and size alone."""
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
    """The outcome of each move with perfect play: +1, 0, −1 for the mover, [n, A].

    ILLEGAL marks illegal moves.

    Args:
        game: one with `has_perfect`.
        states: positions that are not over.
        progress: called with the positions done and to do.
        stop: called many times per second.

    Raises:
        ValueError: when there is no solver for the game, or a position is over.
        Stopped: when `stop` returns true; the next call reuses what was found.
    """
    return outcomes_by(make_solver(game), states, progress, stop)


def outcomes_by(
    solver: Solver,
    states: Sequence[Any] | NDArray[Any],
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> NDArray[np.int8]:
    """As `move_outcomes`, with a given solver."""
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
    """The opening book's outcomes, if the position is in it."""
    if game != BOOK_GAME or getattr(state, "dtype", None) != game.dtype:
        return None
    own, occupied = int(state.stones[state.to_play]), int(state.stones[0] | state.stones[1])
    if occupied.bit_count() >= BOOK_PLIES:
        return None
    return load_opening_book().move_outcomes(own, occupied)


def compile_solver(game: Game, state: Any) -> None:
    """Compiles `move_outcomes` for the game, by solving `state` for a few milliseconds."""
    asked = itertools.count()
    with contextlib.suppress(Stopped):
        move_outcomes(game, [state], stop=lambda: next(asked) >= _CALLS_BEFORE_WORK)


@functools.lru_cache(maxsize=_CACHED_SOLVERS)
def make_solver(game: Game, table_bytes: int = _TABLE_BYTES) -> Solver:
    """The solver for the game; the last few are cached with their tables.

    Raises:
        ValueError: when there is no solver for the game.
    """
    _require_perfect(game)
    if isinstance(game, ConnectFour) and game.in_a_row == 4:
        return ConnectFourSolver(game, table_bytes)
    return AlphaBeta(game, depth=max(1, game.max_turns), table_bytes=table_bytes)


def _require_perfect(game: Game) -> None:
    if not has_perfect(game):
        raise ValueError(
            f"there is no solver for {game.name}; solvable are connect-four up to {_MOST_CELLS} "
            "cells and small two-player games without chance"
        )
