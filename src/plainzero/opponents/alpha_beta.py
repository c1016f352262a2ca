"""Alpha-beta on any game of the contract: the classical opponent, which knows only the rules."""

import functools
import hashlib
import itertools
import math
import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game, has_chance
from plainzero.games.rules import register
from plainzero.opponents import alpha_beta_kernels as game_tree
from plainzero.opponents import move_ordering
from plainzero.opponents import transposition_table as transpositions
from plainzero.opponents.agent import Stop, Stopped, check_stop, require_choices
from plainzero.opponents.alpha_beta_kernels import CURSOR, FRAME, TIE, TreeWork, search_tree
from plainzero.opponents.transposition_table import make_table, word_masks, word_view
from plainzero.search.runner import RuleFault

TABLE_BYTES = 1 << 24
DECAY = 1.0 - 1.0 / 4096
"""What is left of a value for each ply it lies ahead: the quicker of two wins is better."""

_STEPS_PER_CALL = 20_000  # some milliseconds, then Python looks at clock, Ctrl-C and `stop`
_MOST_PLIES = 30_000


class Analysis(NamedTuple):
    """What alpha-beta found out about a position."""

    values: NDArray[np.float64]  # [A] for the mover; NaN where the move is not legal
    depth: int  # plies of the last search that was finished
    is_exact: bool  # nothing was cut off by the depth: the values are those of perfect play
    nodes: int  # positions searched, in lesser depths too; those played to order moves are not


OnDepth = Callable[[Analysis], None]
"""Called with what a depth found, before the next one is searched."""


class AlphaBeta:
    """Searches to a depth, and takes 0 for the value of positions beyond it.

    Depth 1, 2, … are searched one after the other (iterative deepening), with the best move of
    the depth before tried first, then those that leave few replies or refuted other positions.
    Chance's plays count as plies. With three or more players it fears that all others join
    against it ("paranoid").

    Every question takes a `stop`, asked every few milliseconds. When it says yes, the last depth
    that was finished counts, 1 at least. Threads may ask at the same time: each question has a
    stack of its own, and they take turns at the table.

    Args:
        game: any game.
        depth: plies to look ahead.
        seconds: a limit for one position; the last depth that was finished counts. 0: none.
        table_bytes: of the transposition table; 0: none.

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
        self._tag = f"{register(game)}_{_kernel_digest()}"
        self._most_plies = min(depth, game.max_turns)
        self._table = make_table(table_bytes)
        self._lock = threading.Lock()  # of the table
        self._salts = itertools.count(1)

    def choose(self, states: Sequence[Any], seed: int, stop: Stop | None = None) -> list[int]:
        """The best move for each position; of equals any, by the seed."""
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

        A known result n plies ahead counts DECAY^n of itself; what is not known counts 0.
        `on_depth` is called with what each depth found.
        """
        require_choices([state])
        return self._deepen(state, True, stop, on_depth)

    def solve(self, state: Any, stop: Stop | None = None) -> Analysis:
        """The values of all legal moves, searched at once to the depth, quick and late wins alike.

        For games whose end lies within the depth; what one call has found serves the next.

        Raises:
            Stopped: when `stop` says yes; what the table has learned by then stays.
        """
        require_choices([state])
        check_stop(stop)
        work = self._make_work(state, needs_all=True)
        work.cursor[0].salt, work.cursor[0].decay = 0, 1.0
        return self._search(work, self._most_plies, stop)

    def _deepen(
        self, state: Any, needs_all: bool, stop: Stop | None, on_depth: OnDepth | None = None
    ) -> Analysis:
        """Depth after depth, until the last one, the truth, the end of the time, or `stop`."""
        work = self._make_work(state, needs_all)
        analysis = self._search(work, 1)  # always whole, and compiling is not on the clock
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
            Stopped: when `stop` says yes before its end.
        """
        cursor = work.cursor[0]
        cursor.ply, cursor.depth = -1, depth
        work.root_values[:] = np.nan
        while not self._go_on(work):
            check_stop(stop)
        if cursor.has_no_action:
            raise RuleFault(
                f"{self.game.name}: a position that is not over has no legal action; "
                "run `plainzero check` on the game"
            )
        is_exact = bool(work.frames[0].is_complete)
        return Analysis(work.root_values.copy(), depth, is_exact, int(cursor.nodes))

    def _go_on(self, work: TreeWork) -> bool:
        """Some milliseconds of a search; whether it is done."""
        # Without the compiler, hashes wrap with a warning.
        with self._lock, np.errstate(over="ignore"):
            return bool(search_tree(self._tag, work, _STEPS_PER_CALL))

    def _make_work(self, state: Any, needs_all: bool) -> TreeWork:
        """What one question needs: a stack of its own, and the table that all share."""
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
    """The moves that none is better than, but for rounding."""
    actions: list[int] = np.flatnonzero(values > np.nanmax(values) - TIE / 2).tolist()
    return actions


@functools.cache
def _kernel_digest() -> str:
    """Names the sources of the compiled code that the game's own tag does not."""
    digest = hashlib.sha256()
    for module in (game_tree, move_ordering, transpositions):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:16]
