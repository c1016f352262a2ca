"""Programs of others as processes: lines to them, lines from them, and an end in every case.

This knows no protocol: what the lines mean is for its callers. Every way in which a program can
fail, by not starting, crashing, falling silent or babbling, is one exception: `EngineFailed`.
"""

import contextlib
import os
import select
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from pathlib import Path

from plainzero.protocols.engine_output import EngineOutput, listen

TAIL = 4_000  # characters of the transcript that go with an error
_MORE_PLACES = ("/usr/games", "/usr/local/games")  # Debian's, often not in PATH
_PATIENCE = 1.0  # seconds for a program that ended its output to end itself
_PAUSE = 0.005


class EngineFailed(Exception):
    """A program did not do what it was asked.

    Args:
        engine: a short name of the program.
        reason: what it did, in words that follow its name.
        transcript: what was said to it and by it, the last of it.
    """

    def __init__(self, engine: str, reason: str, transcript: str = "") -> None:  # noqa: D107
        super().__init__(f"{engine}: {reason}")
        self.engine, self.reason, self.transcript = engine, reason, transcript


class EngineProcess:
    """A running program; it is killed with its children by `close`, by a failure, and at our end.

    All methods are for one thread at a time.

    Args:
        command: the program and its arguments as one would type them; no shell sees them.

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
                start_new_session=True,  # a group of its own, which Ctrl-C does not reach
            )
        except OSError as error:
            raise EngineFailed(self.name, f"cannot be started: {error.strerror}") from error
        process = self._process
        assert process.stdin and process.stdout and process.stderr
        self._input = process.stdin
        os.set_blocking(self._input.fileno(), False)
        self._output = EngineOutput()
        self._listener = threading.Thread(
            target=listen,
            args=(self._output, process.stdout, process.stderr),
            name=f"listening to {self.name}",
            daemon=True,
        )
        self._listener.start()
        self._end = weakref.finalize(self, _kill, process, self._listener)

    @property
    def is_running(self) -> bool:
        """Whether it was not closed and has not ended by itself."""
        return self._end.alive and not _has_ended(self._process)

    @property
    def transcript(self) -> str:
        """Everything said so far, or the last of it: `>` to it, `<` from it, `!` its stderr."""
        return self._output.transcript()

    def send(self, line: str, deadline: float) -> None:
        """Writes a line to its input.

        Args:
            line: without its end.
            deadline: a time of `time.monotonic` by which it must have taken it.

        Raises:
            EngineFailed: when it has ended, or does not read.
        """
        if not self._end.alive:
            raise EngineFailed(self.name, "was closed", self.transcript[-TAIL:])
        self._output.note(">", line)
        rest = f"{line}\n".encode()
        poll = select.poll()
        poll.register(self._input, select.POLLOUT)
        while rest:
            if not poll.poll(1000 * max(0.0, deadline - time.monotonic())):
                raise self.fail("does not read its input")
            try:
                rest = rest[os.write(self._input.fileno(), rest) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._fail_at_end() from None

    def read_line(self, deadline: float) -> str | None:
        """The next line of its output, without its end; None when there is none by the deadline.

        Raises:
            EngineFailed: when it has ended, or has written too much that nobody asked for.
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
        """Kills it, and gives the exception to raise."""
        self.close()
        return EngineFailed(self.name, reason, self.transcript)

    def close(self, farewell: str = "", patience: float = 0.0) -> None:
        """Ends it: a last line where one is given, so many seconds to obey, then by force."""
        if not self._end.alive:
            return
        if farewell:
            with contextlib.suppress(OSError):
                self._output.note(">", farewell)
                os.write(self._input.fileno(), f"{farewell}\n".encode())
        self._wait(patience)
        self._end()

    def _fail_at_end(self) -> EngineFailed:
        """What to raise when its output has ended, or its input is closed."""
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
        """Whether the process ended by itself within so many seconds."""
        deadline = time.monotonic() + patience
        while not (ended := _has_ended(self._process)) and time.monotonic() < deadline:
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
        raise EngineFailed(command, f"is no command: {error}") from error
    if not arguments:
        raise EngineFailed("an engine", "needs a command, as in gtp:gnugo --mode gtp")
    return arguments


def find_program(name: str) -> str:
    """Where the program is: on the PATH, or where Debian keeps games.

    Raises:
        EngineFailed: when it is not there, or is not one.
    """
    for place in (None, os.pathsep.join(_MORE_PLACES)):
        if found := shutil.which(name, path=place):
            return found
    raise EngineFailed(
        Path(name).name, f"there is no program {name!r}; install it or give its path"
    )


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    """Whether it has; it is left for `_kill` to collect, so that its number stays taken."""
    if process.returncode is not None:
        return True
    look = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, look) is not None


def _kill(process: "subprocess.Popen[bytes]", listener: threading.Thread) -> None:
    """Ends the whole group; until it is waited for, no other process can have its number."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    if listener is not threading.current_thread():  # which may be where garbage is collected
        listener.join(_PATIENCE)
