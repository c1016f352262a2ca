"""A cache of traces, bounded per connection and in total."""

from collections import OrderedDict

from plainzero.server.traces.trace import Trace

_MAX_OF_CLIENT = 8


class TraceCache:
    """Traces by client and id, within a number of bytes and a few per client.

    A new trace replaces the least recently viewed ones: first those of its client, then others.
    """

    def __init__(self, max_bytes: int) -> None:
        """An empty cache."""
        self._max_bytes = max_bytes
        self._traces: OrderedDict[tuple[str, str], Trace] = (
            OrderedDict()
        )  # the most recently viewed last
        self.nbytes = 0  # of all traces

    def put(self, client: str, name: str, trace: Trace) -> None:
        """Adds a trace."""
        self._drop((client, name))
        own = [key for key in self._traces if key[0] == client]
        while own and (len(own) >= _MAX_OF_CLIENT or not self._has_room(trace)):
            self._drop(own.pop(0))
        while self._traces and not self._has_room(trace):
            self._drop(next(iter(self._traces)))
        self._traces[client, name] = trace
        self.nbytes += trace.nbytes

    def get(self, client: str, name: str) -> Trace:
        """A cached trace.

        Raises:
            ValueError: if it was dropped.
        """
        if (client, name) not in self._traces:
            raise ValueError("the trace of this search was dropped; search again")
        self._traces.move_to_end((client, name))
        return self._traces[client, name]

    def drop(self, client: str, name: str | None = None) -> None:
        """Drops one of a client's traces, or all of them."""
        for key in [key for key in self._traces if key[0] == client and name in (None, key[1])]:
            self._drop(key)

    def __len__(self) -> int:
        """The number of traces."""
        return len(self._traces)

    def _has_room(self, trace: Trace) -> bool:
        return self.nbytes + trace.nbytes <= self._max_bytes

    def _drop(self, key: tuple[str, str]) -> None:
        trace = self._traces.pop(key, None)
        if trace is not None:
            self.nbytes -= trace.nbytes
