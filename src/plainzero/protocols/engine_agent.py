"""A program of others as a player: some processes of it side by side, each following its games.

A game stays with one process, by its number, and the games of a process are asked about in order:
so a match can be played again wherever the program itself leaves nothing to chance.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from plainzero import options as settings
from plainzero.opponents.agent import Decision, GaveUp, PlayedGame, Stop, check_stop
from plainzero.protocols.engine_process import EngineFailed

_MOST_SECONDS = 60.0  # for a move, where nothing was said about it


@dataclass(frozen=True)
class EngineLimits:
    """What a program may take."""

    seconds: float = 0.0
    """For one move; the program is told, where its protocol can say it. 0: it is not told, and has
    60 seconds."""
    startup: float = 60.0
    """Seconds until its first answer."""
    engines: int = 0
    """Processes of it side by side. 0: as many as there are cores."""

    def __post_init__(self) -> None:
        """Refuses what makes no sense."""
        settings.check_types(self)
        for option in ("seconds", "startup", "engines"):
            if getattr(self, option) < 0:
                raise ValueError(f"{option} is {getattr(self, option)}; it cannot be negative")

    @property
    def processes(self) -> int:
        """How many there are at most."""
        return self.engines or len(os.sched_getaffinity(0))

    @property
    def longest(self) -> float:
        """The seconds after which a move is given up; a little more than the program is told."""
        return self.seconds + max(1.0, 0.1 * self.seconds) if self.seconds else _MOST_SECONDS


class Engine(Protocol):
    """One running program that speaks a protocol."""

    def choose(self, played: PlayedGame) -> Decision:
        """A legal action, or that it resigns.

        Raises:
            EngineFailed: when it did something wrong; it is closed then.
        """
        ...

    def close(self) -> None:
        """Ends the program."""
        ...


class EnginePlayer:
    """Plays what a program says; one that fails loses that game, and is started again for the next.

    Args:
        name: of the player.
        start: starts a process of the program, ready to play.
        processes: how many of them at most.

    Raises:
        EngineFailed: when it cannot be started.
    """

    def __init__(self, name: str, start: Callable[[], Engine], processes: int) -> None:  # noqa: D107
        self.name = name
        self._start = start
        self._processes = processes
        self._engines: dict[int, Engine] = {0: start()}  # by place, 0 to processes − 1

    def choose(self, states: Sequence[Any], seed: int) -> list[int]:
        """Refuses, since a position alone does not say what was played before it.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            f"{self.name} must follow a game from its first move; it plays in match, rate and play"
        )

    def choose_following(
        self, games: Sequence[PlayedGame], seed: int, stop: Stop | None = None
    ) -> list[Decision]:
        """The program's move in each game; the seed means nothing to a program.

        Raises:
            Stopped: when `stop` says so; no process is asked about a game after that.
        """
        by_place: dict[int, list[int]] = {}
        for index, played in enumerate(games):
            by_place.setdefault(played.number % self._processes, []).append(index)
        decisions: dict[int, Decision] = {}

        def ask(place: int) -> None:
            for index in by_place[place]:
                check_stop(stop)
                decisions[index] = self._ask(place, games[index])

        with ThreadPoolExecutor(len(by_place) or 1) as executor:
            for job in [executor.submit(ask, place) for place in by_place]:
                job.result()
        return [decisions[index] for index in range(len(games))]

    def close(self) -> None:
        """Ends all processes; the next question starts new ones."""
        while self._engines:
            self._engines.popitem()[1].close()

    def _ask(self, place: int, played: PlayedGame) -> Decision:
        try:
            if place not in self._engines:
                self._engines[place] = self._start()
            return self._engines[place].choose(played)
        except EngineFailed as failure:
            self._engines.pop(place, None)
            return GaveUp(str(failure), failure.transcript)
        except BaseException:
            if engine := self._engines.pop(place, None):  # where it stands is not known any more
                engine.close()
            raise
