"""Plays the games of a ladder: a batch for one pair of agents at a time, until a limit."""

import functools
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plainzero.arena.ladder import Ladder
from plainzero.arena.ladder_agents import expected_cost, label_of
from plainzero.arena.ladder_schedule import choose_pair, count_rounds
from plainzero.arena.match import MatchResult, MatchSettings, play_match
from plainzero.arena.openings import draw_openings
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent, Stop
from plainzero.opponents.search_agent import child_seed

LadderProgress = Callable[[str, float, float], None]
"""Called with the pair that plays, and what is done of what is to do: seconds or games."""

_OPENINGS = 100
_GRACE = 1.1  # a batch may take a little longer than the limit rather than be lost


@dataclass(frozen=True)
class LadderLimits:
    """When to stop; 0: no limit."""

    minutes: float = 0.0
    games: int = 0


def begin_ladder(game: Game, anchor: str, seed: int, plies: int | None = None) -> Ladder:
    """A ladder without games, with its openings.

    Args:
        game: the game.
        anchor: the agent that is rated 0.
        seed: of openings and games.
        plies: of an opening; by default the fewest that give enough even ones.
    """
    openings = draw_openings(game, _OPENINGS, child_seed(seed, 0), plies)
    return Ladder(game.name, anchor, seed, tuple(opening.actions for opening in openings), {})


class LadderPlay:
    """Adds games to a ladder.

    Args:
        game: the game.
        ladder: the games so far; the result is in this attribute too.
        agents: those that can play, two or more, by name.
        focus: the agents whose ratings are wanted; all others play only against them.
        save: called with the ladder after every batch.
    """

    def __init__(  # noqa: D107
        self,
        game: Game,
        ladder: Ladder,
        agents: Sequence[Agent],
        focus: Sequence[str],
        save: Callable[[Ladder], None],
    ) -> None:
        self.game, self.ladder, self.focus, self._save = game, ladder, focus, save
        self._agents = {agent.name: agent for agent in agents}
        self._costs = {name: expected_cost(name, game) for name in self._agents}
        self._openings = ladder.states(game)
        self._spent: dict[tuple[str, str], tuple[float, int]] = {}  # seconds and rounds
        self.results: list[MatchResult] = []

    def run(
        self, limits: LadderLimits, progress: LadderProgress | None = None, stop: Stop | None = None
    ) -> None:
        """Plays until a limit is reached, `stop` returns true, or all pairs have met often enough.

        No batch is started that is likely to exceed the time, and no pair plays an opening twice,
        because such games would not be independent.
        """
        start, games = time.monotonic(), 0
        seconds = limits.minutes * 60

        def is_over() -> bool:
            is_late = seconds and time.monotonic() - start > seconds * _GRACE
            return bool(is_late) or (stop is not None and stop())

        def report(pair: tuple[str, str], before: int, done: int, _: int) -> None:
            if progress is not None:
                spent = time.monotonic() - start, seconds
                shares = [s for s in (spent, (before + done, limits.games)) if s[1]]
                done_most = max(shares, key=lambda share: share[0] / share[1], default=(done, 0))
                progress(" – ".join(map(label_of, pair)), *done_most)

        def may_play(pair: tuple[str, str]) -> bool:
            left = start + seconds - time.monotonic()
            is_in_time = not seconds or self._expected_seconds(pair) <= left * _GRACE
            return is_in_time and self.ladder.pair(*pair).rounds < len(self._openings)

        while not is_over() and (not limits.games or games < limits.games):
            pair = choose_pair(self.ladder, self._costs, self.focus, may_play)
            if pair is None:
                break
            games += self._play(pair, functools.partial(report, pair, games), is_over)

    def _play(self, pair: tuple[str, str], report: Callable[[int, int], None], stop: Stop) -> int:
        """Plays a batch and saves the ladder; returns the number of games finished."""
        before, start = self.ladder.pair(*pair), time.monotonic()
        rounds = count_rounds(self._cost(pair))
        openings = tuple(self._openings[before.rounds : before.rounds + rounds])
        names = (zlib.crc32(name.encode()) for name in pair)
        seed = child_seed(self.ladder.seed, *names, before.rounds)
        agents = (self._agents[pair[0]], self._agents[pair[1]])
        report(0, 0)
        result = play_match(
            self.game, agents, MatchSettings(seed=seed, openings=openings), report, stop
        )
        spent = time.monotonic() - start
        if result.rounds:
            self.results.append(result)
            self._spent[pair] = spent, len(result.rounds)
            self.ladder = self.ladder.with_pair(before.plus(result), spent)
            self._save(self.ladder)
        return result.tally.games

    def _cost(self, pair: tuple[str, str]) -> float:
        return self._costs[pair[0]] + self._costs[pair[1]]

    def _expected_seconds(self, pair: tuple[str, str]) -> float:
        """How long a batch of the pair will take; 0 before the first one."""
        rounds = count_rounds(self._cost(pair))
        if pair in self._spent:
            seconds, played = self._spent[pair]
            return seconds / played * rounds
        seconds = sum(seconds for seconds, _ in self._spent.values())
        work = sum(self._cost(known) * played for known, (_, played) in self._spent.items())
        return seconds / work * self._cost(pair) * rounds if work else 0.0
