"""An engine's input, written by a thread: Windows cannot write to a pipe with a time limit."""

import contextlib
import queue
import threading
from typing import IO


class EngineInput:
    """The standard input of an engine; safe for one caller at a time."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        """Starts the thread; `stream` is unbuffered."""
        self.is_broken = False
        """Whether a line could not be written, because the engine no longer reads."""
        self._stream = stream
        self._lines: queue.SimpleQueue[tuple[bytes, threading.Event] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(
            target=self._write_lines, name=f"writing to {name}", daemon=True
        )
        self._writer.start()

    def write(self, line: str) -> threading.Event:
        """An event that is set once the line is written, or cannot be."""
        is_done = threading.Event()
        self._lines.put((f"{line}\n".encode(), is_done))
        return is_done

    def close(self, patience: float) -> None:
        """Ends the thread, and closes the stream unless it is still being written to."""
        self._lines.put(None)
        if self._writer is not threading.current_thread():
            self._writer.join(patience)
        if not self._writer.is_alive():
            with contextlib.suppress(OSError):
                self._stream.close()

    def _write_lines(self) -> None:
        while (entry := self._lines.get()) is not None:
            rest, is_done = entry
            try:
                while rest:
                    rest = rest[self._stream.write(rest) :]
            except (OSError, ValueError):
                self.is_broken = True
            is_done.set()
