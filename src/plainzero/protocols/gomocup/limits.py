"""Limits of the Gomocup protocol: time per move, time per game, and memory."""

from dataclasses import dataclass

from plainzero import operating_system
from plainzero.protocols.gomocup.engine import NO_LIMIT

_LAG = 0.1  # seconds for an answer to arrive
_LARGEST_LAG_SHARE = 0.25  # of a move's time, if that is short
_LAG_SHARE = 0.05  # of a move's time, because a search does not stop at once
_SHORTEST = 0.01
_TYPICAL_MOVES = 30  # per side in a game of Gomoku
_FEWEST_MOVES = 10  # the remaining time is always divided by at least this many
_SMALLEST_TREE = 4 << 20  # bytes
_TREE_SHARE = 8  # a tree may always take 1 / _TREE_SHARE of the memory limit
_USUAL_BYTES = 300 << 20  # of this process without a tree, if the system does not say


@dataclass
class Limits:
    """The controller's limits; times in seconds, None: unlimited or not stated."""

    turn: float | None = None  # 0: as fast as possible
    match: float | None = None
    left: float | None = None  # of `match`
    memory: int = 0  # bytes; 0: no limit

    def take(self, key: str, value: int) -> None:
        """Applies one INFO; its times are in milliseconds."""
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
        """Resets the remaining time to that of a whole game."""
        self.left = self.match

    def spend(self, seconds: float) -> None:
        """Subtracts the time of one move, until the controller states what is left."""
        if self.left is not None:
            self.left -= seconds

    def allot(self, moves: int) -> float | None:
        """Seconds to spend on a move after `moves` of our own; None: no limit."""
        shares = [self.turn] if self.turn is not None else []
        if self.left is not None:
            shares.append(self.left / max(_FEWEST_MOVES, _TYPICAL_MOVES - moves))
        if not shares:
            return None
        share = min(shares)
        lag = _LAG_SHARE * share + min(_LAG, _LARGEST_LAG_SHARE * share)
        return max(_SHORTEST, share - lag)

    def tree_bytes(self, most: int, resident: int) -> int:
        """Bytes that a tree may take.

        Args:
            most: bytes it may take without a limit.
            resident: bytes in use without a tree.
        """
        if not self.memory:
            return most
        room = max(self.memory - resident, self.memory // _TREE_SHARE, _SMALLEST_TREE)
        return min(most, room)


def resident_bytes() -> int:
    """Bytes of memory that this process uses."""
    return operating_system.resident_bytes(default=_USUAL_BYTES)
