"""Runs a search with a progress bar; Ctrl-C stops it and keeps the result so far."""

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

_UNSEEN = 0.5  # seconds; shorter work shows no bar


class Thought(NamedTuple):
    """A search's result, its duration, and whether Ctrl-C stopped it."""

    result: SearchResult
    seconds: float
    was_interrupted: bool


def think(searcher: Searcher, state: Any, seed: int) -> Thought:
    """Searches `state`; the seconds exclude compilation, which comes first."""
    with stopping_at_interrupt() as stop, _progress(searcher) as progress:
        _compile(searcher, state)
        progress(0, 0)
        start = time.perf_counter()
        result = searcher.search(state, seed, progress=progress, stop=stop)
        return Thought(result, time.perf_counter() - start, stop.is_set())


@contextmanager
def stopping_at_interrupt() -> Iterator[StopFlag]:
    """Within, the first Ctrl-C sets the flag; the second one exits at once.

    An exception in the middle of a compilation would surface as a compiler error.
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
    """Compiles the search by running one simulation."""
    config = dataclasses.replace(searcher.config, simulations=1, nodes=0, seconds=0.0)
    Searcher(searcher.game, searcher.evaluator, config, threads=1).search(state)


@contextmanager
def _progress(searcher: Searcher) -> Iterator[Callable[[int, int], None]]:
    """Within, shows a progress bar for long work; yields its update function (done, total)."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(f"compiling {searcher.game.name} (first time only)", total=None, count="")
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

    if not bar.console.is_terminal:  # a file or a pipe
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
