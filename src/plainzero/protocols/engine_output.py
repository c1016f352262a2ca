"""What a program says: lines that nobody has read yet, and a transcript of everything."""

import collections
import os
import selectors
import threading
import time
from collections.abc import Callable
from typing import IO

_MOST_UNREAD = 20_000  # lines
_LONGEST_LINE = 1 << 20  # bytes
_LONGEST_NOTE = 4_000  # characters of one line in the transcript
_LONGEST_BEGINNING = 1 << 16  # characters of the transcript that are kept in any case
_LONGEST_REST = 1 << 20  # characters of its end
_CHUNK = 1 << 16


class EngineOutput:
    """Shared by the thread that listens and the one that asks."""

    def __init__(self) -> None:
        """Nothing was said yet."""
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
        """The next line, as soon as there is one; None after the deadline or at the end."""
        with self._changed:
            while not self._unread and not self.has_ended and not self.has_overflown:
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    return None
            return self._unread.popleft() if self._unread and not self.has_overflown else None

    def note(self, sign: str, line: str) -> None:
        """Writes a line into the transcript; where it is full, those in the middle make room."""
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
        """All lines, or the first and the last of them, with the seconds since the start."""
        with self._changed:
            gap = f"(… {self._dropped} lines are left out here …)\n" if self._dropped else ""
            return "".join(self._beginning) + gap + "".join(self._rest)

    def hear(self, line: str) -> None:
        """Takes a line of the program's output."""
        self.note("<", line)
        with self._changed:
            self._unread.append(line)
            if len(self._unread) > _MOST_UNREAD:
                self.overflow()
            self._changed.notify_all()

    def overflow(self) -> None:
        """There is more than anybody asked for; what was not read is forgotten."""
        with self._changed:
            self.has_overflown = True
            self._unread.clear()
            self._changed.notify_all()

    def end(self) -> None:
        """There will be no more."""
        with self._changed:
            self.has_ended = True
            self._changed.notify_all()


def listen(output: EngineOutput, stdout: IO[bytes], stderr: IO[bytes]) -> None:
    """Reads both until they end, or until there is too much."""
    with stdout, stderr, selectors.DefaultSelector() as selector:
        readers = {"<": _Lines(output.hear), "!": _Lines(lambda line: output.note("!", line))}
        selector.register(stdout, selectors.EVENT_READ, "<")
        selector.register(stderr, selectors.EVENT_READ, "!")
        while selector.get_map() and not output.has_overflown:
            for key, _ in selector.select():
                chunk = os.read(key.fd, _CHUNK)
                if not readers[key.data].take(chunk):
                    output.overflow()
                if not chunk:
                    selector.unregister(key.fileobj)
                    if key.data == "<":
                        output.end()
    output.end()


class _Lines:
    """Puts chunks of bytes together to lines."""

    def __init__(self, take_line: Callable[[str], None]) -> None:
        self._take_line = take_line
        self._rest = b""

    def take(self, chunk: bytes) -> bool:
        """Takes a chunk, an empty one at the end; False where a line has become too long."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if not chunk and self._rest:
            lines, self._rest = [self._rest], b""
        for line in lines:
            self._take_line(line.decode(errors="replace").rstrip("\r"))
        return len(self._rest) <= _LONGEST_LINE
