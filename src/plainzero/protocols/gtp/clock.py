"""GTP clocks: main time, then periods in which a number of stones must be played."""

from dataclasses import dataclass

_LAG = 0.1  # seconds for an answer to arrive
_LAG_SHARE = 0.05  # of a move's time, because a search does not stop at once
_SHORTEST = 0.01
_FEWEST_MOVES = 10  # main time is always divided by at least this many


@dataclass(frozen=True)
class TimeSettings:
    """The arguments of `time_settings`; times in seconds."""

    main: float
    period: float  # repeated after the main time
    stones: int  # to be played in each period; 0: no periods

    @property
    def has_limit(self) -> bool:
        """Whether there is a limit; a period with no stones means that there is none."""
        return not (self.period > 0 and self.stones == 0)


class Clock:
    """The time of one player."""

    def __init__(self, settings: TimeSettings) -> None:
        """Starts with the full time."""
        self.settings = settings
        self.left = settings.main
        self.stones = 0  # left to play in this period; 0: this is main time
        self._enter_period()

    def set_left(self, seconds: float, stones: int) -> None:
        """Sets the remaining time and stones as reported; 0 stones: main time."""
        self.left, self.stones = seconds, stones
        self._enter_period()

    def spend(self, seconds: float) -> None:
        """Subtracts the time of one move."""
        self.left -= seconds
        if self.stones:
            self.stones -= 1
            if self.stones == 0:
                self.left, self.stones = self.settings.period, self.settings.stones
        self._enter_period()

    def allot(self, moves_to_come: int) -> float | None:
        """Seconds to spend on this move; None: no limit."""
        if not self.settings.has_limit:
            return None
        if self.stones:
            share = self.left / self.stones
        else:
            share = self.left / max(_FEWEST_MOVES, moves_to_come)
            if self.settings.stones:  # main time may run out if a period follows
                share = max(share, min(self.left, self.settings.period / self.settings.stones))
        return max(_SHORTEST, share * (1 - _LAG_SHARE) - _LAG)

    def _enter_period(self) -> None:
        """Enters the first period once main time is used up; the overrun counts against it."""
        if self.left <= 0 and not self.stones and self.settings.stones:
            self.left += self.settings.period
            self.stones = self.settings.stones
