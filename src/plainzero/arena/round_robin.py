"""A round robin of many agents, and their ratings."""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plainzero.arena.match import MatchResult, MatchSettings, play_match
from plainzero.arena.ratings import Pairing, Ratings, fit_ratings
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent
from plainzero.opponents.search_agent import child_seed

Progress = Callable[[str, int, int], None]
"""Called with the names of the pairing, and the total games done and to do."""


@dataclass(frozen=True, eq=False)
class RoundRobin:
    """Ratings, and the matches they come from."""

    ratings: Ratings
    results: tuple[MatchResult, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON-compatible values."""
        return {
            **self.ratings.as_dict(),
            "matches": [result.as_dict() for result in self.results],
        }


def play_round_robin(
    game: Game,
    agents: Sequence[Agent],
    settings: MatchSettings,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> RoundRobin:
    """Every agent plays every other one; the first agent's rating is 0.

    Args:
        game: the game.
        agents: two or more, with different names.
        settings: of each pairing, which gets its own openings.
        progress: called after every round of moves.
        stop: called between moves; when it returns true, the finished openings count.

    Raises:
        ValueError: for agents with the same name, or if it stops before all are connected.
    """
    names = [agent.name for agent in agents]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is given {names.count(name)} times; give each agent once")
    if len(names) < 2:
        raise ValueError("a round robin needs two or more agents")
    couples = list(itertools.combinations(range(len(agents)), 2))
    results: dict[tuple[int, int], MatchResult] = {}
    for number, (first, second) in enumerate(couples):
        if stop is not None and stop():
            break

        def report(done: int, total: int, number: int = number) -> None:
            if progress is not None:
                who = " – ".join(names[i] for i in couples[number])
                progress(who, number * total + done, len(couples) * total)

        own_settings = dataclasses.replace(settings, seed=child_seed(settings.seed, first, second))
        results[first, second] = play_match(
            game, (agents[first], agents[second]), own_settings, report, stop
        )
    return RoundRobin(fit_ratings(names, _pairings(results)), tuple(results.values()))


def _pairings(results: dict[tuple[int, int], MatchResult]) -> list[Pairing]:
    return [
        Pairing(first, second, result.tally.wins, result.tally.draws, result.tally.losses)
        for (first, second), result in results.items()
        if result.tally.games
    ]
