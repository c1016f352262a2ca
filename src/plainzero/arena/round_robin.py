"""A round robin of many agents, and the ratings that come of it."""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plainzero.arena.match import MatchPlan, MatchResult, play_match
from plainzero.arena.ratings import Pairing, Ratings, fit_ratings
from plainzero.games.contract import Game
from plainzero.opponents.agent import Opponent
from plainzero.opponents.search_agent import child_seed

LadderProgress = Callable[[str, int, int], None]
"""Called with who plays, and the games done and to do in all."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """Ratings, and the matches they come from."""

    ratings: Ratings
    results: tuple[MatchResult, ...]

    def as_dict(self) -> dict[str, Any]:
        """As plain numbers and words."""
        return {
            **self.ratings.as_dict(),
            "matches": [result.as_dict() for result in self.results],
        }


def play_ladder(
    game: Game,
    agents: Sequence[Opponent],
    plan: MatchPlan,
    progress: LadderProgress | None = None,
    is_enough: Callable[[], bool] | None = None,
) -> Ladder:
    """Every agent plays every other one; the first agent's rating is 0.

    Args:
        game: the game.
        agents: two or more, of different names.
        plan: of each pairing; each gets openings of its own.
        progress: called after every round of moves.
        is_enough: asked between moves; matches that were begun by then count as far as they got.

    Raises:
        ValueError: for agents of the same name, or when it ended before all were connected.
    """
    names = [agent.name for agent in agents]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is there {names.count(name)} times; name each agent once")
    if len(names) < 2:
        raise ValueError("a ladder needs two agents or more")
    couples = list(itertools.combinations(range(len(agents)), 2))
    results: dict[tuple[int, int], MatchResult] = {}
    for number, (first, second) in enumerate(couples):
        if is_enough is not None and is_enough():
            break

        def report(done: int, total: int, number: int = number) -> None:
            if progress is not None:
                who = " – ".join(names[i] for i in couples[number])
                progress(who, number * total + done, len(couples) * total)

        own_plan = dataclasses.replace(plan, seed=child_seed(plan.seed, first, second))
        results[first, second] = play_match(
            game, (agents[first], agents[second]), own_plan, report, is_enough
        )
    return Ladder(fit_ratings(names, _pairings(results)), tuple(results.values()))


def _pairings(results: dict[tuple[int, int], MatchResult]) -> list[Pairing]:
    return [
        Pairing(first, second, result.tally.wins, result.tally.draws, result.tally.losses)
        for (first, second), result in results.items()
        if result.tally.games
    ]
