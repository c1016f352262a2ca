"""Alpha-beta for any game: the classical agent, which knows only the rules."""

import itertools
import math
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game, RuleFault, has_chance
from plainzero.games.rules import register
from plainzero.opponents import transposition_table as transpositions
from plainzero.opponents.agent import Stop, Stopped, check_stop, require_choices
from plainzero.opponents.alpha_beta_kernels import TIE, search_tree
from plainzero.opponents.alpha_beta_stack import CURSOR, FRAME, TreeWork
from plainzero.opponents.transposition_table import make_table, word_masks, word_view

TABLE_BYTES = 1 << 24
DECAY = 1.0 - 1.0 / 4096
"""A value's factor for each ply it lies ahead, so that quicker wins are better."""

_STEPS_PER_CALL = 20_000  # a few milliseconds, then Python checks the clock, Ctrl-C and `stop`
_MOST_PLIES = 30_000


class Analysis(NamedTuple):
    """The result of alpha-beta for a position."""

    values: NDArray[np.float64]  # [A] for the mover; NaN for illegal moves
    depth: int  # plies of the last finished search
    is_exact: bool  # the depth cut nothing off, so the values are those of perfect play
    nodes: int  # positions searched at all depths, without those played to order moves


OnDepth = Callable[[Analysis], None]
"""Called with the result of a depth before the next one is searched."""


class AlphaBeta:
    """Searches to a depth, and takes positions beyond it to be worth 0.

    It deepens iteratively: the best move of the previous depth is tried first, then moves that
    leave few replies or refuted other positions. Chance's outcomes count as plies. With three or
    more players it assumes that all others play against it ("paranoid").

    Every method takes a `stop`, called every few milliseconds. When it returns true, the last
    finished depth counts, which is at least 1. Several threads may search at once: each search has
    its own stack, and they take turns using the table.

    Args:
        game: any game.
        depth: plies to look ahead.
        seconds: time limit per position; the last finished depth counts. 0: none.
        table_bytes: size of the transposition table; 0: none.

    Raises:
        ValueError: when a limit is out of range.
    """

    def __init__(  # noqa: D107
        self, game: Game, depth: int = 6, seconds: float = 0.0, table_bytes: int = TABLE_BYTES
    ) -> None:
        if not 1 <= depth <= _MOST_PLIES:
            raise ValueError(f"depth must be 1 to {_MOST_PLIES:,}, not {depth}")
        if not (seconds >= 0.0 and math.isfinite(seconds)):
            raise ValueError(f"seconds must be 0 (no limit) or more, not {seconds}")
        if table_bytes < 0:
            raise ValueError(f"table_bytes must be 0 (no table) or more, not {table_bytes}")
        self.game, self.depth, self.seconds = game, depth, seconds
        self.name = f"alphabeta:{depth}" + (f",seconds={seconds:g}" if seconds else "")
        self._tag = register(game)
        self._most_plies = min(depth, game.max_turns)
        self._table = make_table(table_bytes)
        self._lock = threading.Lock()  # of the table
        self._salts = itertools.count(1)

    def choose(self, states: Sequence[Any], seed: int, stop: Stop | None = None) -> list[int]:
        """The best move for each position; ties are broken at random."""
        require_choices(states)
        generator = random.Random(seed)
        return [
            generator.choice(best_actions(self._deepen(state, False, stop).values))
            for state in states
        ]

    def analyse(
        self, state: Any, stop: Stop | None = None, on_depth: OnDepth | None = None
    ) -> Analysis:
        """The values of all legal moves, each searched with an open window.

        A known result n plies ahead counts DECAY^n of itself; an unknown one counts 0.
        `on_depth` is called with the result of each depth.
        """
        require_choices([state])
        return self._deepen(state, True, stop, on_depth)

    def solve(self, state: Any, stop: Stop | None = None, decay: float = 1.0) -> Analysis:
        """The values of all legal moves, searched at full depth.

        For games that end within the depth. Later calls with the same decay reuse the table.

        Args:
            state: the position.
            stop: see the class.
            decay: factor for each ply a result lies ahead; with 1, quick and late wins are equal.

        Raises:
            Stopped: when `stop` returns true; the table keeps its entries.
        """
        require_choices([state])
        check_stop(stop)
        work = self._make_work(state, needs_all=True)
        # Values with different decays must not share entries.
        work.cursor[0].salt = 0 if decay == 1.0 else np.float64(decay).view(np.uint64)
        work.cursor[0].decay = decay
        return self._search(work, self._most_plies, stop)

    def _deepen(
        self, state: Any, needs_all: bool, stop: Stop | None, on_depth: OnDepth | None = None
    ) -> Analysis:
        """Searches deeper until the last depth, an exact result, the time limit or `stop`."""
        work = self._make_work(state, needs_all)
        analysis = self._search(work, 1)  # always finished, and compiling does not count as time
        deadline = time.perf_counter() + self.seconds if self.seconds else math.inf

        def is_over() -> bool:
            return (stop is not None and stop()) or time.perf_counter() > deadline

        while analysis.depth < self._most_plies and not analysis.is_exact:
            if on_depth is not None:
                on_depth(analysis)
            try:
                analysis = self._search(work, analysis.depth + 1, is_over)
            except Stopped:
                break
        return analysis

    def _search(self, work: TreeWork, depth: int, stop: Stop | None = None) -> Analysis:
        """One search to `depth`.

        Raises:
            Stopped: when `stop` returns true before it ends.
        """
        cursor = work.cursor[0]
        cursor.ply, cursor.depth = -1, depth
        work.root_values[:] = np.nan
        while not self._continue(work):
            check_stop(stop)
        if cursor.has_no_action:
            raise RuleFault(
                f"{self.game.name}: a position that is not over has no legal action; "
                "run `plainzero check` on the game"
            )
        is_exact = bool(work.frames[0].is_complete)
        return Analysis(work.root_values.copy(), depth, is_exact, int(cursor.nodes))

    def _continue(self, work: TreeWork) -> bool:
        """Searches for a few milliseconds; returns whether the search is done."""
        # Without the compiler, hashes wrap with a warning.
        with self._lock, np.errstate(over="ignore"):
            return bool(search_tree(self._tag, work, _STEPS_PER_CALL))

    def _make_work(self, state: Any, needs_all: bool) -> TreeWork:
        """The memory of one search: its own stack, and the shared table."""
        game, places = self.game, self._most_plies + 1
        if getattr(state, "dtype", None) != game.dtype:
            raise ValueError(f"the state is not one of {game.name}")
        states, cursor = np.zeros(places, game.dtype), np.zeros(1, CURSOR)
        states[0] = state
        # With three players, values for one of them say nothing about those for another.
        cursor[0].viewer = 0 if game.num_players <= 2 else state.to_play
        cursor[0].salt, cursor[0].decay = next(self._salts), DECAY
        cursor[0].needs_all = needs_all
        width = max(game.num_actions, game.max_chance_outcomes if has_chance(game) else 0)
        return TreeWork(
            states=states,
            words=word_view(states),
            masks=word_masks(game),
            frames=np.zeros(places, FRAME),
            actions=np.zeros((places, width), np.int32),
            weights=np.zeros((places, width), np.float64),
            killers=np.full((places, 2), transpositions.NO_ACTION, np.int32),
            history=np.zeros((2, game.num_actions), np.float64),
            table=self._table,
            root_values=np.zeros(game.num_actions, np.float64),
            cursor=cursor,
        )


def best_actions(values: NDArray[np.float64]) -> list[int]:
    """The best moves, up to rounding."""
    actions: list[int] = np.flatnonzero(values > np.nanmax(values) - TIE / 2).tolist()
    return actions
