"""Lines in, read ahead by a thread so that work can go on until one comes; and text out at once."""

import contextlib
import sys
import threading
from collections import deque
from collections.abc import Iterable


class LineReader:
    """Reads lines as they come.

    Args:
        lines: gives one after the other, and ends.
    """

    def __init__(self, lines: Iterable[str]) -> None:  # noqa: D107
        self._changed = threading.Condition()
        self._waiting: deque[str] = deque()
        self._is_ended = False
        thread = threading.Thread(target=self._read, args=(lines,), name="reading", daemon=True)
        thread.start()

    def next_line(self) -> str | None:
        """The next line, as soon as there is one; None at the end."""
        self.wait()
        return self._waiting.popleft() if self._waiting else None

    def has_line(self) -> bool:
        """Whether a line waits, or the input has ended."""
        return bool(self._waiting) or self._is_ended

    def wait(self) -> None:
        """Waits until a line does, or until the end."""
        with self._changed:
            self._changed.wait_for(self.has_line)

    def _read(self, lines: Iterable[str]) -> None:
        with contextlib.suppress(ValueError, OSError):  # where the input was closed
            for line in lines:
                with self._changed:
                    self._waiting.append(line)
                    self._changed.notify_all()
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()


def read_input() -> LineReader:
    """The lines of stdin; bytes that are no UTF-8 do no harm."""
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    return LineReader(sys.stdin)


def write_output(text: str) -> None:
    """Writes to stdout at once."""
    sys.stdout.write(text)
    sys.stdout.flush()
