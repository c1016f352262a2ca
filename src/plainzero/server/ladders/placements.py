"""Placing runs on ladders: `plainzero rate GAME run:…` in a separate process, one at a time."""

import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from plainzero.operating_system import lower_priority, own_group
from plainzero.server.api.schemas.ladders import Placement

_PROGRAM = ["-m", "plainzero.server.runs.exit_with_parent", "rate"]


class AlreadyPlacing(ValueError):
    """Only one run is placed at a time."""


@dataclass
class _Process:
    game: str
    run: str
    process: "subprocess.Popen[bytes]"
    output: IO[bytes]

    def describe(self) -> Placement:
        code = self.process.poll()
        if code is None:
            return Placement(run=self.run, state="running", message="")
        if code == 0:
            return Placement(run=self.run, state="finished", message="")
        return Placement(run=self.run, state="failed", message=self._last_line())

    def _last_line(self) -> str:
        self.output.seek(0)
        lines = self.output.read().decode(errors="replace").split("\n")
        words = [line.strip() for line in lines if line.strip()]
        return words[-1].removeprefix("plainzero: ") if words else "the games could not be played"


class Placements:
    """The process that places a run, and how the last one of each game ended. Thread-safe."""

    def __init__(self, niceness: int) -> None:
        """No process yet; each will have that niceness."""
        self._niceness = niceness
        self._lock = threading.Lock()
        self._by_game: dict[str, _Process] = {}

    def find(self, game: str) -> Placement | None:
        """The latest placement of that game."""
        with self._lock:
            return self._by_game[game].describe() if game in self._by_game else None

    def start(self, game: str, run: str, arguments: Sequence[str]) -> None:
        """Runs `plainzero rate` with these arguments.

        Raises:
            AlreadyPlacing: if another run is being placed.
            ValueError: if the process cannot be started.
        """
        with self._lock:
            busy = [one.run for one in self._by_game.values() if one.process.poll() is None]
            if busy:
                raise AlreadyPlacing(f"{busy[0]} is being placed; wait until it has finished")
            output = tempfile.TemporaryFile()
            try:
                process = subprocess.Popen(
                    [sys.executable, *_PROGRAM, *arguments],
                    stdin=subprocess.PIPE,  # nothing is ever written: see exit_with_parent.py
                    stdout=subprocess.DEVNULL,
                    stderr=output,
                    **own_group(),  # so that Ctrl-C reaches the server only
                )
            except OSError as error:
                raise ValueError(f"cannot start the games: {error.strerror}") from error
            lower_priority(process.pid, self._niceness)
            self._close_pipes(self._by_game.pop(game, None))
            self._by_game[game] = _Process(game, run, process, output)

    def close(self) -> None:
        """Ends the process; the games of finished batches are saved."""
        with self._lock:
            for one in self._by_game.values():
                one.process.terminate()
                one.process.wait()
                self._close_pipes(one)
            self._by_game.clear()

    def _close_pipes(self, ended: _Process | None) -> None:
        if ended is not None:
            ended.output.close()
            if ended.process.stdin is not None:
                ended.process.stdin.close()
