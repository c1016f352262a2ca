"""The limits of the Gomocup protocol: time for a move, time for a game, and memory."""

import os
from dataclasses import dataclass
from pathlib import Path

from plainzero.protocols.gomocup.engine import NO_LIMIT

_LAG = 0.1  # seconds that an answer may take on its way
_LARGEST_LAG_SHARE = 0.25  # of a move's time, where that is short
_LAG_SHARE = 0.05  # of a move's time, for what cannot be stopped at once
_SHORTEST = 0.01
_TYPICAL_MOVES = 30  # of one side in a game of Gomoku
_FEWEST_MOVES = 10  # the time that is left is always shared among so many to come
_SMALLEST_TREE = 4 << 20  # bytes
_TREE_SHARE = 8  # of all memory a tree may have one part in so many, however little is left
_USUAL_BYTES = 300 << 20  # of ourselves without a tree, where the system does not say


@dataclass
class Limits:
    """What the other side allows; times in seconds, None where it said nothing or sets no limit."""

    turn: float | None = None  # 0: as fast as possible
    match: float | None = None
    left: float | None = None  # of `match`
    memory: int = 0  # bytes; 0: no limit

    def take(self, key: str, value: int) -> None:
        """Takes one INFO; times come in milliseconds."""
        if key == "timeout_turn":
            self.turn = None if value >= NO_LIMIT else max(0, value) / 1000
        elif key == "timeout_match":
            self.match = None if value <= 0 or value >= NO_LIMIT else value / 1000
            self.refill()
        elif key == "time_left":
            self.left = None if value >= NO_LIMIT else value / 1000
        elif key == "max_memory":
            self.memory = max(0, value)

    def refill(self) -> None:
        """All the time of a game is left."""
        self.left = self.match

    def spend(self, seconds: float) -> None:
        """Counts a move that took so long, until the other side says what is left."""
        if self.left is not None:
            self.left -= seconds

    def allot(self, moves: int) -> float | None:
        """The seconds to spend on a move, with so many of one's own before it; None: no limit."""
        shares = [self.turn] if self.turn is not None else []
        if self.left is not None:
            shares.append(self.left / max(_FEWEST_MOVES, _TYPICAL_MOVES - moves))
        if not shares:
            return None
        share = min(shares)
        lag = _LAG_SHARE * share + min(_LAG, _LARGEST_LAG_SHARE * share)
        return max(_SHORTEST, share - lag)

    def tree_bytes(self, most: int, resident: int) -> int:
        """The memory that a tree may take.

        Args:
            most: without a limit.
            resident: what is in use without a tree.
        """
        if not self.memory:
            return most
        room = max(self.memory - resident, self.memory // _TREE_SHARE, _SMALLEST_TREE)
        return min(most, room)


def resident_bytes() -> int:
    """The memory that this process has in use."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return _USUAL_BYTES
    return pages * os.sysconf("SC_PAGE_SIZE")
