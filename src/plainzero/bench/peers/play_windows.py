"""Runs a peer's self-play on one core, in timed windows.

Usage: `python play_windows.py MODULE CORE SETTINGS`, with the settings in JSON. The first line on
stdout is one of `{"ready": versions}`, `{"missing": reason}` and `{"failed": reason}`. Each line on
stdin is a number of seconds; the process plays for that time and prints what it did as one line of
JSON. It exits at the end of stdin.
"""

import importlib
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO


def main(module: str, core: str, settings: str) -> None:
    """Runs one peer on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    # One core, one thread: more threads would only wait for each other.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["OMP_NUM_THREADS"] = "1"
    answers, sys.stdout = sys.stdout, sys.stderr  # keeps the peer's own output out of the answers
    try:
        peer = importlib.import_module(module)
    except ImportError as error:
        _answer(answers, {"missing": str(error)})
        return
    try:
        play = peer.make_player(json.loads(settings))
        play()  # compiles
    except Exception as error:
        _answer(answers, {"failed": f"{type(error).__name__}: {error}".splitlines()[0]})
        return
    found = {name: importlib.metadata.version(name) for name in peer.PACKAGES}
    _answer(answers, {"ready": found})
    for line in sys.stdin:
        _answer(answers, _play_for(play, float(line)))


def _play_for(play: Callable[[], dict[str, int]], seconds: float) -> dict[str, float]:
    """The counts of a window of at least `seconds`, and its actual duration."""
    done = dict.fromkeys(("positions", "games", "simulations", "evaluations"), 0)
    start, processor = time.perf_counter(), time.process_time()
    while time.perf_counter() - start < seconds:
        for name, count in play().items():
            done[name] += count
    return {
        **done,
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - processor,
    }


def _answer(answers: TextIO, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
