"""An engine as an agent: several of its processes in parallel, each playing some of the games.

A game's number decides its process, and each process plays its games in order, so a match can be
replayed if the engine is deterministic.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from plainzero import options as settings
from plainzero.operating_system import available_cores
from plainzero.opponents.agent import Decision, Forfeit, GameHistory, Stop, check_stop
from plainzero.protocols.engine_process import EngineFailed

_MOST_SECONDS = 60.0  # for a move, without a limit of `seconds`


@dataclass(frozen=True)
class EngineLimits:
    """Limits on an engine."""

    seconds: float = 0.0
    """Time for one move, sent to the engine if its protocol allows. 0: nothing is sent, and a move
    may take 60 seconds."""
    startup: float = 60.0
    """Seconds to wait for its first answer."""
    engines: int = 0
    """Processes in parallel. 0: one per core."""

    def __post_init__(self) -> None:
        """Refuses negative limits."""
        settings.check_types(self)
        for option in ("seconds", "startup", "engines"):
            if getattr(self, option) < 0:
                raise ValueError(f"{option} is {getattr(self, option)}; it cannot be negative")

    @property
    def processes(self) -> int:
        """The largest number of processes."""
        return self.engines or available_cores()

    @property
    def longest(self) -> float:
        """Seconds after which a move counts as failed; a little more than `seconds`."""
        return self.seconds + max(1.0, 0.1 * self.seconds) if self.seconds else _MOST_SECONDS


class Engine(Protocol):
    """One running engine process."""

    def choose(self, history: GameHistory) -> Decision:
        """A legal action, or a resignation.

        Raises:
            EngineFailed: when the engine misbehaves; it is closed then.
        """
        ...

    def close(self) -> None:
        """Ends the process."""
        ...


class EngineAgent:
    """Plays an engine's moves; if it fails, it loses that game and is restarted for the next.

    Args:
        name: the agent's name.
        start: starts a process of the engine, ready to play.
        processes: the largest number of them.

    Raises:
        EngineFailed: when it cannot be started.
    """

    def __init__(self, name: str, start: Callable[[], Engine], processes: int) -> None:  # noqa: D107
        self.name = name
        self._start = start
        self._processes = processes
        self._engines: dict[int, Engine] = {0: start()}  # by place, 0 to processes − 1

    def choose(self, states: Sequence[Any], seed: int) -> list[int]:
        """Refuses, because an engine needs the moves that led to a position.

        Raises:
            ValueError: always.
        """
        raise ValueError(
            f"{self.name} must follow a game from its first move; use it in match, rate and play"
        )

    def choose_with_history(
        self, games: Sequence[GameHistory], seed: int, stop: Stop | None = None
    ) -> list[Decision]:
        """The engine's move in each game; the seed has no effect on an engine.

        Raises:
            Stopped: when `stop` returns true; no process is asked for another move after that.
        """
        by_place: dict[int, list[int]] = {}
        for index, history in enumerate(games):
            by_place.setdefault(history.number % self._processes, []).append(index)
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
        """Ends all processes; the next request starts new ones."""
        while self._engines:
            self._engines.popitem()[1].close()

    def _ask(self, place: int, history: GameHistory) -> Decision:
        try:
            if place not in self._engines:
                self._engines[place] = self._start()
            return self._engines[place].choose(history)
        except EngineFailed as failure:
            self._engines.pop(place, None)
            return Forfeit(str(failure), failure.transcript)
        except BaseException:
            if engine := self._engines.pop(place, None):  # its board is in an unknown state
                engine.close()
            raise
