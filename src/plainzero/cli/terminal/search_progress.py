"""Runs a search for a person who waits: with a progress bar, and with Ctrl-C as "enough"."""

import dataclasses
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from plainzero import Searcher, SearchResult, StopFlag
from plainzero.cli.terminal.errors import INTERRUPTED

_UNSEEN = 0.5  # seconds; what is over by then shows nothing


class Thought(NamedTuple):
    """A search's result, the seconds it took, and whether Ctrl-C ended it."""

    result: SearchResult
    seconds: float
    was_interrupted: bool


def think(searcher: Searcher, state: Any, seed: int) -> Thought:
    """Searches `state`; compiling comes first and is not counted in the seconds."""
    with stopping_at_interrupt() as stop, _progress(searcher) as progress:
        _compile(searcher, state)
        progress(0, 0)
        start = time.perf_counter()
        result = searcher.search(state, seed, progress=progress, stop=stop)
        return Thought(result, time.perf_counter() - start, stop.is_set())


@contextmanager
def stopping_at_interrupt() -> Iterator[StopFlag]:
    """Within, the first Ctrl-C sets the flag, and the second one ends the program at once.

    At once, because an exception in the middle of compiling would end in the compiler's own errors.
    """
    stop = StopFlag()

    def interrupt(*_: Any) -> None:
        if stop.is_set():
            os._exit(INTERRUPTED)
        stop.set()
        print("stopping; Ctrl-C again quits at once", file=sys.stderr)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _compile(searcher: Searcher, state: Any) -> None:
    """Compiles what the search needs, by a search of one simulation that nobody sees."""
    config = dataclasses.replace(searcher.config, simulations=1, nodes=0, seconds=0.0)
    Searcher(searcher.game, searcher.evaluator, config, threads=1).search(state)


@contextmanager
def _progress(searcher: Searcher) -> Iterator[Callable[[int, int], None]]:
    """Within, a bar on stderr for what takes long; yields what is to be called with done, total."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(f"compiling {searcher.game.name}, once", total=None, count="")
    seconds, start = searcher.config.seconds, time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal start
        if done == total == 0:
            start = time.monotonic()
            bar.reset(task, description="searching", total=1.0, count="")
            return
        by_count = done / total if total else 0.0
        by_clock = (time.monotonic() - start) / seconds if seconds else 0.0
        share = min(1.0, max(by_count, by_clock))
        bar.update(task, completed=share, count=f"{done:,} simulations")

    if not bar.console.is_terminal:  # in a file or a pipe it would only be in the way
        yield update
        return
    delay = threading.Timer(_UNSEEN, bar.start)
    delay.start()
    try:
        yield update
    finally:
        delay.cancel()
        delay.join()
        if bar.live.is_started:
            bar.stop()
