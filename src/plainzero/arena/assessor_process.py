"""Measures strength in a separate process on the CPU, while a run trains on a GPU.

Run as a program with the arguments RUN SEED: each line of stdin is the step of weights in that
run's folder, answered by a line of JSON with `StrengthMeter`'s result. It exits at the end of
stdin, after the last answer.
"""

import contextlib
import json
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

from plainzero.arena.strength_meter import StrengthMeter
from plainzero.networks.network_evaluators import available_backends
from plainzero.operating_system import lower_priority, own_group
from plainzero.training.run_folder import RunError
from plainzero.training.saved_run import STRENGTH_SIMULATIONS, open_run

_log = logging.getLogger("plainzero")
_NICENESS = 10  # added, because the run has priority
_MOST_SECONDS = 25.0  # that a run waits for its last measurement


class AssessorProcess:
    """The process as a context manager; it starts at the first request."""

    def __init__(self, run: Path | str, seed: int) -> None:
        """Prepares the command; starts nothing yet."""
        self._command = [sys.executable, "-m", __name__, str(run), str(seed)]
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[dict[str, float] | None] = queue.Queue()  # None: it has ended
        self._waiting = 0
        self._is_over = False
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        """This object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kills the process."""
        if self._process is None:
            return
        self._process.kill()
        self._reader.join()
        with contextlib.suppress(BrokenPipeError):  # unread input
            self._process.__exit__(None, None, None)

    def ask(self, step: int) -> None:
        """Requests a measurement of the weights of a step in the run's folder."""
        if self._process is None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(f"{step}\n")
            self._process.stdin.flush()
            self._waiting += 1
        except OSError:
            self._report_end()

    @property
    def is_busy(self) -> bool:
        """Whether a request is still unanswered."""
        return self._waiting > 0

    def found(self, waits: bool = False) -> dict[str, float]:
        """The latest answer since the last call.

        `waits`: wait for all answers, but only briefly, because the run is ending.
        """
        found: dict[str, float] = {}
        deadline = time.monotonic() + (_MOST_SECONDS if waits else 0.0)
        while self._waiting:
            try:
                answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if answer is None:
                self._report_end()
                break
            self._waiting -= 1
            found = answer or found
        return found

    def _report_end(self) -> None:
        self._waiting = 0
        if not self._is_over:
            _log.warning("strength is no longer measured: its process has ended")
        self._is_over = True

    def _start(self) -> None:
        # In its own process group, so that Ctrl-C reaches only the run, which may ask once more.
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            **own_group(),
        )
        self._reader.start()

    def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        with contextlib.suppress(ValueError):  # an invalid answer counts as the end
            for line in self._process.stdout:
                self._answers.put(json.loads(line))
        self._answers.put(None)


def serve(path: str, seed: int) -> None:
    """Answers the steps on stdin."""
    answers, sys.stdout = sys.stdout, sys.stderr  # keeps a game's own output apart from answers
    run = open_run(path)
    meter, config = StrengthMeter(run.game, seed), run.search_config(STRENGTH_SIMULATIONS)
    for line in sys.stdin:
        try:
            network = run.network(int(line))
        except RunError:  # the weights were deleted
            found: dict[str, float] = {}
        else:
            is_fast = "torch-bf16" in available_backends(network)
            evaluator = run.wrap(network, "torch-bf16" if is_fast else "torch")
            found = meter.measure(evaluator, config) | {"assessed_step": float(line)}
        answers.write(json.dumps(found) + "\n")
        answers.flush()


if __name__ == "__main__":
    lower_priority(os.getpid(), _NICENESS, is_added=True)
    serve(sys.argv[1], int(sys.argv[2]))
