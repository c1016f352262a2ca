"""Perfect play, and the outcome of every move, for games that can be solved.

Connect Four has its own solver and an opening book; other small two-player games without chance are
searched to the end. Outcomes are +1, 0 and −1: the move wins, draws or loses for the mover.
Perfect play also wins as soon and loses as late as possible.
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
from plainzero.games.bundled.dots_and_boxes import DotsAndBoxes
from plainzero.games.contract import Game, has_chance
from plainzero.opponents.agent import Stop, Stopped, check_stop, require_choices
from plainzero.opponents.alpha_beta import DECAY, AlphaBeta, best_actions
from plainzero.opponents.connect_four.kernels import ILLEGAL
from plainzero.opponents.connect_four.opening_book import look_up
from plainzero.opponents.connect_four.solver import ConnectFourSolver, Progress

_MOST_CELLS = 42  # of connect-four: on larger boards, positions with few stones take hours
_MOST_CHOICE_BITS = 64.0  # log2 of num_actions ^ max_turns: 4×4 tic-tac-toe is the largest
_MOST_LINES = 24  # of dots-and-boxes: 3x3 boxes are solved in some seconds
_QUICK_CHOICE_BITS = 32.0  # the same of games that are solved at once: tic-tac-toe
_TABLE_BYTES = 1 << 26
_CACHED_SOLVERS = 4
_BOOK_HORIZON = 12  # of the winner's stones: while the book is used, later wins are all the same
_CALLS_BEFORE_WORK = 2  # of `stop` before compiled code runs, at most

Solver = ConnectFourSolver | AlphaBeta


class PerfectAgent:
    """Plays the best outcome, as soon as possible if it wins and as late as possible if it loses.

    Equal moves are chosen at random.

    Raises:
        ValueError: when there is no solver for the game.
    """

    name = "perfect"

    def __init__(self, game: Game) -> None:
        """An agent for `game`."""
        _require_perfect(game)
        self.game = game

    def choose(self, states: Sequence[Any], seed: int, stop: Stop | None = None) -> list[int]:
        """One of the `best_moves` of each position."""
        require_choices(states)
        generator = random.Random(seed)
        return [generator.choice(best_moves(self.game, state, stop)) for state in states]


def has_perfect(game: Game) -> bool:
    """Whether there is a solver for the game, which depends on its kind and size alone."""
    if isinstance(game, ConnectFour) and game.in_a_row == 4:
        return game.rows * game.cols <= _MOST_CELLS
    if isinstance(game, DotsAndBoxes):
        return int(game.num_actions) <= _MOST_LINES
    is_small = _choice_bits(game) <= _MOST_CHOICE_BITS
    return game.num_players == 2 and not has_chance(game) and is_small


def _choice_bits(game: Game) -> float:
    return float(game.max_turns * math.log2(max(2, game.num_actions)))


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


def quick_outcomes(game: Game, states: Sequence[Any]) -> NDArray[np.int8] | None:
    """The outcome of each position for its mover, [n]; None unless it is known at once.

    Known are those of Connect Four's opening book and of games as small as tic-tac-toe.
    """
    if isinstance(game, ConnectFour):
        rows = [look_up(game, state) for state in states]
        known = [row for row in rows if row is not None]
        if len(known) < len(rows):
            return None
        return np.array([row.max() for row in known], np.int8)
    if not has_perfect(game) or _choice_bits(game) > _QUICK_CHOICE_BITS:
        return None
    outcomes: NDArray[np.int8] = move_outcomes(game, states).max(axis=1)
    return outcomes


def best_moves(game: Game, state: Any, stop: Stop | None = None) -> list[int]:
    """The moves that win soonest; if none wins, those that draw, or else lose latest.

    In Connect Four's opening book, wins by the winner's 13th further stone or later are equal.

    Raises:
        ValueError: when there is no solver for the game, or the position is over.
        Stopped: when `stop` returns true; the next call reuses what was found.
    """
    solver = make_solver(game)
    if isinstance(solver, AlphaBeta):
        return best_actions(solver.solve(state, stop, DECAY).values)
    outcomes = move_outcomes(game, [state], stop=stop)[0]
    best: list[int] = np.flatnonzero(outcomes == outcomes.max()).tolist()
    if outcomes.max() == 0 or len(best) == 1:
        return best
    is_in_book = look_up(solver.game, state) is not None
    horizon = _BOOK_HORIZON if is_in_book else game.max_turns
    after = [_play(solver.game, state, action) for action in best]
    if any(position.is_over for position in after):  # wins at once
        scores = [int(position.is_over) for position in after]
    else:
        is_won = bool(outcomes.max() > 0)
        scores = [-_score(solver, position, is_won, horizon, stop) for position in after]
    return [action for action, score in zip(best, scores, strict=True) if score == max(scores)]


def _play(game: Game, state: Any, action: int) -> Any:
    after = game.copy(state)
    game.apply(after, action)
    return after


def _score(
    solver: ConnectFourSolver, state: Any, is_lost: bool, horizon: int, stop: Stop | None
) -> int:
    """A decided position's score; wins that take more than `horizon` stones count as equal."""
    left = solver.game.max_turns - int(state.stones[0] | state.stones[1]).bit_count()
    soonest = left // 2 if is_lost else (left + 1) // 2
    window = max(1, soonest - horizon), soonest
    return solver.solve(state, stop, *((-window[1], -window[0]) if is_lost else window))


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
        known = look_up(solver.game, state)
        return solver.outcomes([state], stop=stop)[0] if known is None else known
    values = solver.solve(state, stop).values
    return np.where(np.isnan(values), ILLEGAL, np.sign(np.nan_to_num(values))).astype(np.int8)


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
            f"cells, dots-and-boxes up to {_MOST_LINES} lines, and small two-player games without "
            "chance"
        )
