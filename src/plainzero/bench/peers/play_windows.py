"""A peer's self-play in this process: waits to be told for how many seconds to play.

Started as `python serve.py MODULE CORE SETTINGS`, settings in JSON. The first line on stdout is one
of `{"ready": versions}`, `{"missing": why}` and `{"failed": why}`; a number of seconds on stdin is
answered by what was done in them, a line of JSON each. The end of stdin ends the process.
"""

import importlib
import importlib.metadata
import json
import os
import sys
import time
from typing import Any


def main(module: str, core: str, settings: str) -> None:
    """Serves one peer on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    # One core, one thread: more of them would only wait for each other.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["OMP_NUM_THREADS"] = "1"
    answers, sys.stdout = sys.stdout, sys.stderr  # what the peer prints is no answer
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


def _play_for(play: Any, seconds: float) -> dict[str, float]:
    """What was done until the seconds were over, and how long that took in full."""
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


def _answer(answers: Any, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
