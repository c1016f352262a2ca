"""Input read ahead by a thread, so that work continues until a line arrives; unbuffered output."""

import contextlib
import io
import sys
import threading
from collections import deque
from collections.abc import Iterable


class LineReader:
    """Reads lines in a background thread.

    Args:
        lines: the input.
    """

    def __init__(self, lines: Iterable[str]) -> None:  # noqa: D107
        self._changed = threading.Condition()
        self._waiting: deque[str] = deque()
        self._is_ended = False
        thread = threading.Thread(target=self._read, args=(lines,), name="line reader", daemon=True)
        thread.start()

    def next_line(self) -> str | None:
        """The next line; waits for it. None at the end of the input."""
        self.wait()
        return self._waiting.popleft() if self._waiting else None

    def has_line(self) -> bool:
        """Whether a line is available, or the input has ended."""
        return bool(self._waiting) or self._is_ended

    def wait(self) -> None:
        """Waits for a line or the end of the input."""
        with self._changed:
            self._changed.wait_for(self.has_line)

    def _read(self, lines: Iterable[str]) -> None:
        with contextlib.suppress(ValueError, OSError):  # the input was closed
            for line in lines:
                with self._changed:
                    self._waiting.append(line)
                    self._changed.notify_all()
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()


def read_input() -> LineReader:
    """The lines of stdin; invalid UTF-8 is replaced."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return LineReader(sys.stdin)


def write_output(text: str) -> None:
    """Writes to stdout without buffering."""
    sys.stdout.write(text)
    sys.stdout.flush()
