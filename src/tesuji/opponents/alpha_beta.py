"""Alpha-beta on any game of the contract: the classical opponent, which knows only the rules."""

import functools
import hashlib
import math
import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tesuji.games.contract import Game
from tesuji.games.rules import register
from tesuji.opponents import game_tree, transpositions
from tesuji.opponents.game_tree import CURSOR, FRAME, TIE, TreeWork, search_tree
from tesuji.opponents.protocol import Stop, check_stop, hold, require_choices
from tesuji.opponents.transpositions import make_table, word_masks, word_view
from tesuji.search.config import has_chance
from tesuji.search.runner import RuleFault

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


class AlphaBeta:
    """Searches to a depth, and takes 0 for the value of positions beyond it.

    Depth 1, 2, … are searched one after the other (iterative deepening), with the best move of
    the depth before tried first, then moves that refuted other positions. Chance's plays count as
    plies. With three or more players it fears that all others join against it ("paranoid").

    Every question takes a `stop`, asked every few milliseconds; when it says yes, `Stopped` is
    raised. What the table has learned by then stays.

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
        self._work = _make_work(game, min(depth, game.max_turns), table_bytes)
        self._searches = 0
        self._lock = threading.Lock()

    def choose(self, states: Sequence[Any], seed: int, stop: Stop | None = None) -> list[int]:
        """The best move for each position; of equals any, by the seed."""
        require_choices(states)
        generator = random.Random(seed)
        chosen = []
        for state in states:
            values = self._analyse(state, False, stop).values
            best = np.nanmax(values)
            chosen.append(generator.choice(np.flatnonzero(values > best - TIE / 2).tolist()))
        return chosen

    def analyse(self, state: Any, stop: Stop | None = None) -> Analysis:
        """The values of all legal moves, each searched with an open window.

        A known result n plies ahead counts DECAY^n of itself; what is not known counts 0.
        """
        require_choices([state])
        return self._analyse(state, True, stop)

    def solve(self, state: Any, stop: Stop | None = None) -> Analysis:
        """The values of all legal moves, searched at once to the depth, quick and late wins alike.

        For games whose end lies within the depth; what one call has found serves the next.
        """
        require_choices([state])
        with hold(self._lock, stop):
            self._set_up(state, needs_all=True)
            self._work.cursor[0].salt, self._work.cursor[0].decay = 0, 1.0
            analysis: Analysis = self._search(min(self.depth, self.game.max_turns), stop)
            return analysis

    def _analyse(self, state: Any, needs_all: bool, stop: Stop | None) -> Analysis:
        with hold(self._lock, stop):
            self._set_up(state, needs_all)
            last = min(self.depth, self.game.max_turns)
            analysis: Analysis = self._search(1, stop)  # compiling is not on the clock
            deadline = math.inf
            if self.seconds:
                deadline = time.perf_counter() + self.seconds
            for depth in range(2, last + 1):
                if analysis.is_exact:
                    break
                deeper = self._search(depth, stop, deadline)
                if deeper is None:
                    break
                analysis = deeper
            return analysis

    def _set_up(self, state: Any, needs_all: bool) -> None:
        work, cursor = self._work, self._work.cursor[0]
        if getattr(state, "dtype", None) != self.game.dtype:
            raise ValueError(f"the state is not one of {self.game.name}")
        work.states[0] = state
        work.killers[:] = transpositions.NO_ACTION
        work.history[:] = 0.0
        self._searches += 1
        # With three players, values for one of them say nothing about those for another.
        cursor.viewer = 0 if self.game.num_players <= 2 else state.to_play
        cursor.salt, cursor.decay, cursor.needs_all = self._searches, DECAY, needs_all
        cursor.has_no_action = False

    def _search(self, depth: int, stop: Stop | None, deadline: float = math.inf) -> Any:
        """One search to `depth`; None when the time was over before."""
        work, cursor = self._work, self._work.cursor[0]
        cursor.ply, cursor.depth = -1, depth
        work.root_values[:] = np.nan
        with np.errstate(over="ignore"):  # without the compiler, hashes wrap with a warning
            while not search_tree(self._tag, work, _STEPS_PER_CALL):
                check_stop(stop)
                if time.perf_counter() > deadline:
                    return None
        if cursor.has_no_action:
            raise RuleFault(
                f"{self.game.name}: a position that is not over has no legal action; "
                "run `tesuji check` on the game"
            )
        return Analysis(work.root_values.copy(), depth, bool(work.frames[0].is_complete))


def _make_work(game: Game, depth: int, table_bytes: int) -> TreeWork:
    states = np.zeros(depth + 1, game.dtype)
    width = max(game.num_actions, game.max_chance_outcomes if has_chance(game) else 0)
    return TreeWork(
        states=states,
        words=word_view(states),
        masks=word_masks(game),
        frames=np.zeros(depth + 1, FRAME),
        actions=np.zeros((depth + 1, width), np.int32),
        weights=np.zeros((depth + 1, width), np.float64),
        killers=np.zeros((depth + 1, 2), np.int32),
        history=np.zeros((2, game.num_actions), np.float64),
        table=make_table(table_bytes),
        root_values=np.zeros(game.num_actions, np.float64),
        cursor=np.zeros(1, CURSOR),
    )


@functools.cache
def _kernel_digest() -> str:
    """Names the sources of the compiled code that the game's own tag does not."""
    digest = hashlib.sha256()
    for module in (game_tree, transpositions):
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()[:16]
