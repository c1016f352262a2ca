"""An engine as a process that exchanges lines with us, and never outlives us.

This knows nothing of protocols. Every way in which an engine can fail (it does not start, crashes,
stops answering, or writes without end) raises the same exception: `EngineFailed`.
"""

import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from pathlib import Path

from plainzero.operating_system import has_ended, kill_group, own_group
from plainzero.protocols.engine_output import EngineOutput, start_readers
from plainzero.protocols.engine_writer import EngineInput

TAIL = 4_000  # characters of the transcript in an error
_MORE_PLACES = ("/usr/games", "/usr/local/games")  # Debian's, often missing from PATH
_PATIENCE = 1.0  # seconds for an engine to exit after closing its output
_PAUSE = 0.005


class EngineFailed(Exception):
    """An engine that misbehaved.

    Args:
        engine: its short name.
        reason: what it did, as a predicate: "closed its output".
        transcript: the end of the exchange with it.
    """

    def __init__(self, engine: str, reason: str, transcript: str = "") -> None:  # noqa: D107
        super().__init__(f"{engine}: {reason}")
        self.engine, self.reason, self.transcript = engine, reason, transcript


class EngineProcess:
    """A running engine, killed with its children by `close`, on failure, and when we exit.

    The methods are not thread-safe.

    Args:
        command: the program and its arguments, as typed in a shell; no shell is involved.

    Raises:
        EngineFailed: when it cannot be started.
    """

    def __init__(self, command: str) -> None:  # noqa: D107
        arguments = split_command(command)
        self.name = Path(arguments[0]).name
        try:
            self._process = subprocess.Popen(
                [find_program(arguments[0]), *arguments[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                **own_group(),  # out of reach of Ctrl-C
            )
        except OSError as error:
            raise EngineFailed(self.name, f"cannot be started: {error.strerror}") from error
        process = self._process
        assert process.stdin and process.stdout and process.stderr
        self._output = EngineOutput()
        readers = start_readers(self._output, process.stdout, process.stderr, self.name)
        self._input = EngineInput(process.stdin, self.name)
        self._end = weakref.finalize(self, _kill, process, readers, self._input)

    @property
    def is_running(self) -> bool:
        """Whether it is neither closed nor ended."""
        return self._end.alive and not has_ended(self._process)

    @property
    def transcript(self) -> str:
        """The exchange so far: `>` marks lines to it, `<` from it, `!` from its stderr."""
        return self._output.transcript()

    def send(self, line: str, deadline: float) -> None:
        """Writes a line to its input.

        Args:
            line: without the newline.
            deadline: a time of `time.monotonic` by which it must have read the line.

        Raises:
            EngineFailed: when it has ended, or does not read its input.
        """
        if not self._end.alive:
            raise EngineFailed(self.name, "was closed", self.transcript[-TAIL:])
        self._output.note(">", line)
        if not self._input.write(line).wait(max(0.0, deadline - time.monotonic())):
            raise self.fail("does not read its input")
        if self._input.is_broken:
            raise self._fail_at_end()

    def read_line(self, deadline: float) -> str | None:
        """The next line of its output, without the newline; None if none comes by the deadline.

        Raises:
            EngineFailed: when it has ended, or has written too much.
        """
        line = self._output.next_line(deadline)
        if line is not None:
            return line
        if self._output.has_overflown:
            raise self.fail("wrote too much without being asked")
        if self._output.has_ended:
            raise self._fail_at_end()
        return None

    def fail(self, reason: str) -> EngineFailed:
        """Kills it; returns the exception to raise."""
        self.close()
        return EngineFailed(self.name, reason, self.transcript)

    def close(self, farewell: str = "", patience: float = 0.0) -> None:
        """Ends it: sends `farewell`, if any, waits for `patience` seconds, then kills it."""
        if not self._end.alive:
            return
        if farewell:
            self._output.note(">", farewell)
            self._input.write(farewell)
        self._wait(patience)
        self._end()

    def _fail_at_end(self) -> EngineFailed:
        """The exception to raise after its output has ended or its input was closed."""
        has_ended = self._wait(_PATIENCE)
        self.close()
        code = self._process.returncode
        if not has_ended:
            return EngineFailed(self.name, "closed its output", self.transcript)
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else ""
            return EngineFailed(self.name, f"was killed by signal {-code} {name}", self.transcript)
        return EngineFailed(self.name, f"ended with exit code {code}", self.transcript)

    def _wait(self, patience: float) -> bool:
        """Whether the process ends by itself within `patience` seconds."""
        deadline = time.monotonic() + patience
        while not (ended := has_ended(self._process)) and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        return ended


def split_command(command: str) -> list[str]:
    """The program and its arguments, split as a shell would.

    Raises:
        EngineFailed: when there is no program, or a quote is not closed.
    """
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise EngineFailed(command, f"is not a valid command: {error}") from error
    if not arguments:
        raise EngineFailed("an engine", "needs a command, as in gtp:gnugo --mode gtp")
    return arguments


def find_program(name: str) -> str:
    """The program's path, found on the PATH or in Debian's folders for games.

    Raises:
        EngineFailed: when there is no such program.
    """
    for place in (None, os.pathsep.join(_MORE_PLACES)):
        if found := shutil.which(name, path=place):
            return found
    raise EngineFailed(
        Path(name).name, f"there is no program {name!r}; install it or give its path"
    )


def _kill(
    process: "subprocess.Popen[bytes]", readers: list[threading.Thread], given: EngineInput
) -> None:
    """Kills the whole process group, and ends the threads that wait for it."""
    kill_group(process)
    given.close(_PATIENCE)
    for reader in readers:
        if reader is not threading.current_thread():  # the finalizer may run in any thread
            reader.join(_PATIENCE)
