"""Strength measured by a process of its own, on the CPU, while a run on a GPU goes on.

As a program: RUN SEED. Each line on its stdin is the step of weights in that run's folder, answered
by a line of JSON: what `Assessor` found. The end of stdin ends it, once what was asked is answered.
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

from plainzero.arena.strength_meter import Assessor
from plainzero.networks.network_evaluators import available_engines
from plainzero.training.run_folder import RunError
from plainzero.training.saved_run import STRENGTH_SIMULATIONS, open_run

_log = logging.getLogger("plainzero")
_PATIENCE = 10  # added to the niceness: the run comes first
_MOST_SECONDS = 25.0  # that a run waits for its last measurement


class AssessorApart:
    """Asks the process; a context that ends it. It is started when it is first asked."""

    def __init__(self, run: Path | str, seed: int) -> None:
        """Starts nothing yet."""
        self._command = [sys.executable, "-m", __name__, str(run), str(seed)]
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[dict[str, float] | None] = queue.Queue()  # None: it has ended
        self._waiting = 0
        self._is_over = False
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the process, whatever it does."""
        if self._process is None:
            return
        self._process.kill()
        self._reader.join()
        with contextlib.suppress(BrokenPipeError):  # at what it had not read yet
            self._process.__exit__(None, None, None)

    def ask(self, step: int) -> None:
        """Has the weights of a step measured, which are in the run's folder."""
        if self._process is None:
            self._start()
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(f"{step}\n")
            self._process.stdin.flush()
            self._waiting += 1
        except OSError:
            self._say_over()

    @property
    def is_busy(self) -> bool:
        """Whether something that was asked is not answered yet."""
        return self._waiting > 0

    def found(self, waits: bool = False) -> dict[str, float]:
        """The latest answer since the last time.

        `waits` until all that was asked is answered, but not for long: a run is to end.
        """
        found: dict[str, float] = {}
        deadline = time.monotonic() + (_MOST_SECONDS if waits else 0.0)
        while self._waiting:
            try:
                answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if answer is None:
                self._say_over()
                break
            self._waiting -= 1
            found = answer or found
        return found

    def _say_over(self) -> None:
        self._waiting = 0
        if not self._is_over:
            _log.warning("strength is not measured any more: its process has ended")
        self._is_over = True

    def _start(self) -> None:
        # In a session of its own, so that Ctrl-C is for the run, which may ask a last time.
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._reader.start()

    def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        with contextlib.suppress(ValueError):  # what is no answer is as good as the end
            for line in self._process.stdout:
                self._answers.put(json.loads(line))
        self._answers.put(None)


def serve(path: str, seed: int) -> None:
    """Answers the steps on stdin."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what a game prints is no answer
    run = open_run(path)
    assessor, config = Assessor(run.game, seed), run.search_config(STRENGTH_SIMULATIONS)
    for line in sys.stdin:
        try:
            network = run.network(int(line))
        except RunError:  # not kept
            found: dict[str, float] = {}
        else:
            is_fast = "torch-bf16" in available_engines(network)
            evaluator = run.wrap(network, "torch-bf16" if is_fast else "torch")
            found = assessor.assess(evaluator, config) | {"assessed_step": float(line)}
        answers.write(json.dumps(found) + "\n")
        answers.flush()


if __name__ == "__main__":
    os.nice(_PATIENCE)
    serve(sys.argv[1], int(sys.argv[2]))
