"""Traces that are kept to look at."""

from collections import OrderedDict

from plainzero.server.traces.trace import Trace

_MOST_OF_CLIENT = 8


class KeptTraces:
    """Traces by connection and id, within a number of bytes, and a few for each connection.

    Where there is no room, the ones looked at longest ago go: first those of whoever wants to keep
    another, and only then those of others.
    """

    def __init__(self, most_bytes: int) -> None:
        """Nothing kept yet."""
        self._most_bytes = most_bytes
        self._traces: OrderedDict[tuple[str, str], Trace] = OrderedDict()  # last looked at, last
        self.nbytes = 0  # of all together

    def put(self, client: str, name: str, trace: Trace) -> None:
        """Keeps a trace."""
        self._drop((client, name))
        own = [key for key in self._traces if key[0] == client]
        while own and (len(own) >= _MOST_OF_CLIENT or not self._has_room(trace)):
            self._drop(own.pop(0))
        while self._traces and not self._has_room(trace):
            self._drop(next(iter(self._traces)))
        self._traces[client, name] = trace
        self.nbytes += trace.nbytes

    def get(self, client: str, name: str) -> Trace:
        """A trace that is kept.

        Raises:
            ValueError: when it is not there any more.
        """
        if (client, name) not in self._traces:
            raise ValueError("this search is not kept any more; run it again")
        self._traces.move_to_end((client, name))
        return self._traces[client, name]

    def drop(self, client: str, name: str | None = None) -> None:
        """Forgets one of a client's traces, or all of them."""
        for key in [key for key in self._traces if key[0] == client and name in (None, key[1])]:
            self._drop(key)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._traces)

    def _has_room(self, trace: Trace) -> bool:
        return self.nbytes + trace.nbytes <= self._most_bytes

    def _drop(self, key: tuple[str, str]) -> None:
        trace = self._traces.pop(key, None)
        if trace is not None:
            self.nbytes -= trace.nbytes
