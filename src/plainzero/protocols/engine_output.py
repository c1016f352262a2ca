"""An engine's output: its unread lines, and a transcript of the whole exchange."""

import collections
import threading
import time
from collections.abc import Callable
from typing import IO

_MOST_UNREAD = 20_000  # lines
_LONGEST_LINE = 1 << 20  # bytes
_LONGEST_NOTE = 4_000  # characters of one line in the transcript
_LONGEST_BEGINNING = 1 << 16  # characters at the start of the transcript that are never dropped
_LONGEST_REST = 1 << 20  # characters at its end
_CHUNK = 1 << 16


class EngineOutput:
    """Shared by the threads that read the output and the one that sends commands."""

    def __init__(self) -> None:
        """Starts empty."""
        self._changed = threading.Condition()
        self._unread: collections.deque[str] = collections.deque()
        self._beginning: list[str] = []  # of the transcript
        self._rest: collections.deque[str] = collections.deque()
        self._lengths = [0, 0]  # of both, in characters
        self._dropped = 0  # lines between them
        self._start = time.monotonic()
        self.has_ended = False
        self.has_overflown = False

    def next_line(self, deadline: float) -> str | None:
        """The next line; waits for it. None after the deadline or at the end of the output."""
        with self._changed:
            while not self._unread and not self.has_ended and not self.has_overflown:
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    return None
            return self._unread.popleft() if self._unread and not self.has_overflown else None

    def note(self, sign: str, line: str) -> None:
        """Adds a line to the transcript; when that is full, lines in the middle are dropped."""
        seconds = time.monotonic() - self._start
        cut = line if len(line) <= _LONGEST_NOTE else f"{line[:_LONGEST_NOTE]} …"
        note = f"{seconds:8.3f} {sign} {cut}\n"
        with self._changed:
            if not self._rest and self._lengths[0] + len(note) <= _LONGEST_BEGINNING:
                self._beginning.append(note)
                self._lengths[0] += len(note)
                return
            self._rest.append(note)
            self._lengths[1] += len(note)
            while self._lengths[1] > _LONGEST_REST:
                self._lengths[1] -= len(self._rest.popleft())
                self._dropped += 1

    def transcript(self) -> str:
        """All lines, or the first and last ones, with the seconds since the start."""
        with self._changed:
            gap = f"(… {self._dropped} lines omitted …)\n" if self._dropped else ""
            return "".join(self._beginning) + gap + "".join(self._rest)

    def receive(self, line: str) -> None:
        """Adds a line of the engine's output."""
        self.note("<", line)
        with self._changed:
            self._unread.append(line)
            if len(self._unread) > _MOST_UNREAD:
                self.overflow()
            self._changed.notify_all()

    def overflow(self) -> None:
        """Marks the output as too long, and drops the unread lines."""
        with self._changed:
            self.has_overflown = True
            self._unread.clear()
            self._changed.notify_all()

    def end(self) -> None:
        """Marks the output as ended."""
        with self._changed:
            self.has_ended = True
            self._changed.notify_all()


def start_readers(
    output: EngineOutput, stdout: IO[bytes], stderr: IO[bytes], name: str
) -> list[threading.Thread]:
    """Starts a thread for each of the two streams: Windows cannot wait for several pipes at once.

    Args:
        output: receives the lines.
        stdout: unbuffered, as is `stderr`; the threads close both.
        stderr: only for the transcript.
        name: the engine's, in the names of the threads.
    """
    threads = [
        threading.Thread(target=read_output, args=(output, stdout), name=f"output of {name}"),
        threading.Thread(target=read_errors, args=(output, stderr), name=f"errors of {name}"),
    ]
    for thread in threads:
        thread.daemon = True
        thread.start()
    return threads


def read_output(output: EngineOutput, stdout: IO[bytes]) -> None:
    """Receives the lines of a stream until it ends or becomes too long, then ends the output."""
    try:
        _read_lines(output, stdout, output.receive)
    finally:
        output.end()


def read_errors(output: EngineOutput, stderr: IO[bytes]) -> None:
    """Notes the lines of a stream in the transcript until it ends or becomes too long."""
    _read_lines(output, stderr, lambda line: output.note("!", line))


def _read_lines(output: EngineOutput, stream: IO[bytes], take_line: Callable[[str], None]) -> None:
    lines = _Lines(take_line)
    with stream:
        while not output.has_overflown:
            chunk = stream.read(_CHUNK)  # waits for the first byte only
            if not lines.take(chunk):
                output.overflow()
            if not chunk:
                return


class _Lines:
    """Joins chunks of bytes into lines."""

    def __init__(self, take_line: Callable[[str], None]) -> None:
        self._take_line = take_line
        self._rest = b""

    def take(self, chunk: bytes) -> bool:
        """Adds a chunk, an empty one at the end; False when a line is too long."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if not chunk and self._rest:
            lines, self._rest = [self._rest], b""
        for line in lines:
            self._take_line(line.decode(errors="replace").rstrip("\r"))
        return len(self._rest) <= _LONGEST_LINE
