"""The clocks of GTP: main time, then periods of so many seconds for so many stones."""

from dataclasses import dataclass

_LAG = 0.1  # seconds that an answer may take on its way
_LAG_SHARE = 0.05  # of a move's time, for what cannot be stopped at once
_SHORTEST = 0.01
_FEWEST_MOVES = 10  # main time is always shared among so many to come


@dataclass(frozen=True)
class TimeSettings:
    """What `time_settings` says; all in seconds."""

    main: float
    period: float  # after the main time, again and again
    stones: int  # to be played in each period; 0: there are no periods

    @property
    def has_limit(self) -> bool:
        """Whether there is a limit: a period for no stones at all means that there is none."""
        return not (self.period > 0 and self.stones == 0)


class Clock:
    """The time of one player."""

    def __init__(self, settings: TimeSettings) -> None:
        """All of it is left."""
        self.settings = settings
        self.left = settings.main
        self.stones = 0  # left to play in this period; 0: this is main time
        self._enter_period()

    def set_left(self, seconds: float, stones: int) -> None:
        """Sets it to what the other side says is left; 0 stones: main time."""
        self.left, self.stones = seconds, stones
        self._enter_period()

    def spend(self, seconds: float) -> None:
        """Counts a move that took so long."""
        self.left -= seconds
        if self.stones:
            self.stones -= 1
            if self.stones == 0:
                self.left, self.stones = self.settings.period, self.settings.stones
        self._enter_period()

    def allot(self, moves_to_come: int) -> float | None:
        """The seconds to spend on this move; None where there is no limit."""
        if not self.settings.has_limit:
            return None
        if self.stones:
            share = self.left / self.stones
        else:
            share = self.left / max(_FEWEST_MOVES, moves_to_come)
            if self.settings.stones:  # with a period behind it, main time may be used up
                share = max(share, min(self.left, self.settings.period / self.settings.stones))
        return max(_SHORTEST, share * (1 - _LAG_SHARE) - _LAG)

    def _enter_period(self) -> None:
        """Begins the first period where main time is used up; what was too much counts in it."""
        if self.left <= 0 and not self.stones and self.settings.stones:
            self.left += self.settings.period
            self.stones = self.settings.stones
