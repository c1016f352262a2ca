"""Matches: two agents, many games side by side, every opening from all seats.

An opening is played once in each seating, so that neither agent moves first more often than the
other; only openings whose games are all finished count. With three players or more, one agent
takes one seat and the other the rest, in all rotations and then the other way round. In a game for
one player both play it from the same opening with the same luck, and the better result wins.
"""

import collections
import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plainzero.arena.elo import EloEstimate, estimate_elo
from plainzero.arena.match_games import FIRST, SECOND, GameRecord, Table, compare
from plainzero.arena.openings import Opening, draw_openings
from plainzero.games.contract import Game
from plainzero.opponents.agent import Opponent, Stop, Stopped, check_stop, choose_moves
from plainzero.opponents.search_agent import child_seed

MatchProgress = Callable[[int, int], None]
"""Called with the moves' worth of games done and those to do, both in games."""

_SIDE_BY_SIDE = 128  # games: enough for a network's batch, few enough to have results early


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of the first agent."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """All of them."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, eq=False)
class MatchResult:
    """What came of a match, from the first agent's point of view."""

    game: Game
    names: tuple[str, str]
    rounds: tuple[tuple[GameRecord, ...], ...]  # per opening played, one game for each seating
    was_interrupted: bool

    @functools.cached_property
    def records(self) -> list[GameRecord]:
        """All games."""
        return [record for records in self.rounds for record in records]

    @functools.cached_property
    def scores_by_opening(self) -> list[list[float]]:
        """The scores of the games of each different opening."""
        scores: dict[tuple[int, ...], list[float]] = collections.defaultdict(list)
        for records in self.rounds:
            scores[records[0].opening] += _scores(records)
        return list(scores.values())

    @functools.cached_property
    def tally(self) -> Tally:
        """Wins, draws and losses in all."""
        return _tally([score for scores in self.scores_by_opening for score in scores])

    @functools.cached_property
    def tally_by_seat(self) -> list[Tally]:
        """The same for the games in which the first agent had each seat."""
        players = self.game.num_players
        if players == 1:
            return [self.tally]
        by_seat = [[r.score for r in self.records if r.seats[p] == FIRST] for p in range(players)]
        return [_tally(scores) for scores in by_seat]

    @functools.cached_property
    def estimate(self) -> EloEstimate:
        """Score and Elo difference with their intervals."""
        return estimate_elo(self.scores_by_opening)

    @functools.cached_property
    def copies(self) -> int:
        """Games that went like an earlier one, move for move, with the same seats."""
        return len(self.records) - len({(r.seats, r.opening, r.moves) for r in self.records})

    @functools.cached_property
    def faults(self) -> tuple[list[str], list[str]]:
        """What went wrong with each of the agents, a reason for each game that it lost by it."""
        faults: tuple[list[str], list[str]] = ([], [])
        for record in self.records:
            if record.loser is not None and record.fault:
                faults[record.seats[record.loser]].append(record.fault)
        return faults

    def as_dict(self) -> dict[str, Any]:
        """Everything but the games, as plain numbers and words."""
        tally = self.tally
        return {
            "game": self.game.name,
            "agents": list(self.names),
            "games": tally.games,
            "wins": tally.wins,
            "draws": tally.draws,
            "losses": tally.losses,
            **self.estimate.as_dict(),
            "by_seat": [vars(seat_tally) for seat_tally in self.tally_by_seat],
            "openings": len(self.scores_by_opening),
            "copies": self.copies,
            "lost_by_fault": [len(reasons) for reasons in self.faults],
            "faults": [dict(collections.Counter(reasons)) for reasons in self.faults],
            "was_interrupted": self.was_interrupted,
        }


@dataclass(frozen=True)
class MatchPlan:
    """How many games from which openings."""

    games: int = 100  # rounded up to whole openings
    plies: int | None = None  # random plies of an opening; None: as few as give enough of them
    seed: int = 0
    openings: tuple[Opening, ...] = ()  # these and no others, once each, whatever `games` says

    def __post_init__(self) -> None:
        """Refuses a match without games."""
        if self.games < 1:
            raise ValueError(f"the match has {self.games} games; it must have 1 or more")

    def choose_openings(self, game: Game) -> list[Opening]:
        """The openings; where the game has too few, they are played again in turn."""
        if self.openings:
            return list(self.openings)
        needed = -(-self.games // len(seatings(game.num_players)))
        drawn = draw_openings(game, needed, child_seed(self.seed, 0), self.plies)
        return [drawn[i % len(drawn)] for i in range(needed)]


def play_match(
    game: Game,
    agents: tuple[Opponent, Opponent],
    plan: MatchPlan,
    progress: MatchProgress | None = None,
    is_enough: Stop | None = None,
) -> MatchResult:
    """Plays the agents against each other.

    Args:
        game: the game.
        agents: the two; the result is told from the first one's point of view.
        plan: how many games, from what.
        progress: called after every round of moves.
        is_enough: asked between moves, in any thread; where it says so, the openings finished by
            then count.
    """
    seats = seatings(game.num_players)
    tables = [
        Table(game, opening, seating, child_seed(plan.seed, 1, number))
        for number, opening in enumerate(plan.choose_openings(game))
        for seating in seats
    ]
    with contextlib.suppress(Stopped):
        for step in _play_all(agents, tables, child_seed(plan.seed, 2), is_enough):
            if progress is not None:
                progress(step, len(tables))
            check_stop(is_enough)
    rounds = [tables[first : first + len(seats)] for first in range(0, len(tables), len(seats))]
    finished = [r for r in rounds if all(table.is_over for table in r)]
    return MatchResult(
        game,
        (agents[0].name, agents[1].name),
        tuple(tuple(table.record() for table in r) for r in finished),
        was_interrupted=len(finished) < len(rounds),
    )


def seatings(num_players: int) -> list[tuple[int, ...]]:
    """Who sits where, in all the ways that one opening is played: each agent in each seat."""
    alone = (FIRST,) + (SECOND,) * (num_players - 1)
    turned = [alone[-k:] + alone[:-k] if k else alone for k in range(num_players)]
    both = turned + [tuple(1 - seat for seat in seating) for seating in turned]
    return list(dict.fromkeys(both))


def _play_all(
    agents: tuple[Opponent, Opponent], tables: Sequence[Table], seed: int, stop: Stop | None
) -> Iterator[int]:
    """Plays all games to their end, some hundred side by side; yields how many are finished."""
    waiting, step = list(enumerate(tables))[::-1], 0
    live: list[tuple[int, Table]] = []
    while waiting or live:
        while waiting and len(live) < _SIDE_BY_SIDE:
            live.append(waiting.pop())
        for which in (FIRST, SECOND):
            mine = [(number, table) for number, table in live if table.to_choose == which]
            if mine:
                games = [table.played(number) for number, table in mine]
                decisions = choose_moves(agents[which], games, child_seed(seed, step), stop)
                for (_, table), decision in zip(mine, decisions, strict=True):
                    table.take(decision)
                step += 1
                live = [(number, table) for number, table in live if not table.is_over]
                yield len(tables) - len(waiting) - len(live)


def _scores(records: Sequence[GameRecord]) -> list[float]:
    """The first agent's score in each game of an opening; in a duel of two solo games, one."""
    if len(records[0].returns) > 1:
        return [record.score for record in records]
    mine, theirs = sorted(records, key=lambda record: record.seats)
    return [compare(mine.returns[0], theirs.returns[0])]


def _tally(scores: Sequence[float]) -> Tally:
    return Tally(scores.count(1.0), scores.count(0.5), scores.count(0.0))
