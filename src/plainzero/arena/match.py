"""Matches: two agents play many games in parallel, every opening from all seats.

An opening is played once in each seating, so that neither agent moves first more often; only
openings with all games finished count. With three or more players, one agent takes one seat and the
other the rest, in all rotations and then with the agents exchanged. A game for one player is played
by both from the same opening with the same chance outcomes, and the better result wins.
"""

import collections
import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plainzero.arena.elo import EloEstimate, estimate_elo
from plainzero.arena.match_games import FIRST, SECOND, FinishedGame, MatchGame, compare
from plainzero.arena.openings import CAREFUL, Balance, Opening, draw_openings
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent, Stop, Stopped, check_stop, choose_moves
from plainzero.opponents.search_agent import child_seed

MatchProgress = Callable[[int, int], None]
"""Called with the games done and to do."""

_PARALLEL_GAMES = 128  # enough for a network's batch, few enough for early results


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of the first agent."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, eq=False)
class MatchResult:
    """The result of a match, from the first agent's point of view."""

    game: Game
    names: tuple[str, str]
    rounds: tuple[tuple[FinishedGame, ...], ...]  # per opening, one game for each seating
    was_interrupted: bool

    @functools.cached_property
    def records(self) -> list[FinishedGame]:
        """All games."""
        return [record for records in self.rounds for record in records]

    @functools.cached_property
    def scores_by_round(self) -> list[list[float]]:
        """The scores of the games of each round."""
        return [_scores(records) for records in self.rounds]

    @functools.cached_property
    def scores_by_opening(self) -> list[list[float]]:
        """The scores of the games of each distinct opening."""
        scores: dict[tuple[int, ...], list[float]] = collections.defaultdict(list)
        for records, found in zip(self.rounds, self.scores_by_round, strict=True):
            scores[records[0].opening] += found
        return list(scores.values())

    @functools.cached_property
    def samples(self) -> list[list[float]]:
        """The scores by opening, which the interval is over.

        If all games have the same opening, each set of seatings with different moves counts: the
        interval is then for this opening only.
        """
        if len(self.scores_by_opening) != 1:
            return self.scores_by_opening
        scores: dict[tuple[tuple[int, ...], ...], list[float]] = collections.defaultdict(list)
        for records, found in zip(self.rounds, self.scores_by_round, strict=True):
            scores[tuple(record.moves for record in records)] += found
        return list(scores.values())

    @property
    def sampled(self) -> str:
        """What the interval was computed from; empty if the games allow none."""
        if len(self.scores_by_opening) > 1:
            return f"{len(self.samples)} openings"
        if len(self.samples) > 1:
            return f"{len(self.samples)} different rounds of one opening"
        return ""

    @functools.cached_property
    def tally(self) -> Tally:
        """Wins, draws and losses in total."""
        return _tally([score for scores in self.scores_by_opening for score in scores])

    @functools.cached_property
    def tally_by_seat(self) -> list[Tally]:
        """The tally for each seat of the first agent."""
        players = self.game.num_players
        if players == 1:
            return [self.tally]
        by_seat = [[r.score for r in self.records if r.seats[p] == FIRST] for p in range(players)]
        return [_tally(scores) for scores in by_seat]

    @functools.cached_property
    def estimate(self) -> EloEstimate:
        """Score and Elo difference with their intervals."""
        return estimate_elo(self.samples)

    @functools.cached_property
    def copies(self) -> int:
        """The number of games equal to an earlier one in moves and seats."""
        return len(self.records) - len({(r.seats, r.opening, r.moves) for r in self.records})

    @functools.cached_property
    def faults(self) -> tuple[list[str], list[str]]:
        """For each agent, the reason of each game that it lost by a fault."""
        faults: tuple[list[str], list[str]] = ([], [])
        for record in self.records:
            if record.loser is not None and record.fault:
                faults[record.seats[record.loser]].append(record.fault)
        return faults

    def as_dict(self) -> dict[str, Any]:
        """Everything except the games, as JSON-compatible values."""
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
            "interval_over": self.sampled,
            "copies": self.copies,
            "lost_by_fault": [len(reasons) for reasons in self.faults],
            "faults": [dict(collections.Counter(reasons)) for reasons in self.faults],
            "was_interrupted": self.was_interrupted,
        }


@dataclass(frozen=True)
class MatchSettings:
    """The number of games, and their openings."""

    games: int = 100  # rounded up to whole openings
    plies: int | None = (
        None  # random plies of an opening; None: the fewest that give enough openings
    )
    seed: int = 0
    openings: tuple[Opening, ...] = ()  # if given, each of these once, whatever `games` is
    balance: Balance = CAREFUL  # how much is done to find even openings

    def __post_init__(self) -> None:
        """Refuses a match without games."""
        if self.games < 1:
            raise ValueError(f"games is {self.games}; a match needs 1 or more")

    def choose_openings(self, game: Game) -> list[Opening]:
        """The openings; if the game has too few, they are repeated in turn."""
        if self.openings:
            return list(self.openings)
        needed = -(-self.games // len(seatings(game.num_players)))
        drawn = draw_openings(game, needed, child_seed(self.seed, 0), self.plies, self.balance)
        return [drawn[i % len(drawn)] for i in range(needed)]


def play_match(
    game: Game,
    agents: tuple[Agent, Agent],
    settings: MatchSettings,
    progress: MatchProgress | None = None,
    stop: Stop | None = None,
) -> MatchResult:
    """Plays the agents against each other.

    Args:
        game: the game.
        agents: the two agents; the result is from the first one's point of view.
        settings: the number of games and their openings.
        progress: called after every round of moves.
        stop: called between moves, in any thread; when it returns true, the match ends and the
            finished openings count.
    """
    seats = seatings(game.num_players)
    games = [
        MatchGame(game, opening, seating, child_seed(settings.seed, 1, number))
        for number, opening in enumerate(settings.choose_openings(game))
        for seating in seats
    ]
    with contextlib.suppress(Stopped):
        for step in _play_all(agents, games, child_seed(settings.seed, 2), stop):
            if progress is not None:
                progress(step, len(games))
            check_stop(stop)
    rounds = [games[first : first + len(seats)] for first in range(0, len(games), len(seats))]
    finished = [r for r in rounds if all(game.is_over for game in r)]
    return MatchResult(
        game,
        (agents[0].name, agents[1].name),
        tuple(tuple(game.record() for game in r) for r in finished),
        was_interrupted=len(finished) < len(rounds),
    )


def play_alone(
    game: Game,
    agent: Agent,
    openings: Sequence[Opening],
    seed: int,
    progress: MatchProgress | None = None,
) -> list[Any]:
    """The final positions of a one-player game that an agent plays from each opening."""
    games = [
        MatchGame(game, opening, (FIRST,), child_seed(seed, 1, number))
        for number, opening in enumerate(openings)
    ]
    for step in _play_all((agent, agent), games, child_seed(seed, 2), None):
        if progress is not None:
            progress(step, len(games))
    return [alone.state for alone in games]


def seatings(num_players: int) -> list[tuple[int, ...]]:
    """All seatings in which an opening is played: the agent of each player."""
    alone = (FIRST,) + (SECOND,) * (num_players - 1)
    turned = [alone[-k:] + alone[:-k] if k else alone for k in range(num_players)]
    both = turned + [tuple(1 - seat for seat in seating) for seating in turned]
    return list(dict.fromkeys(both))


def _play_all(
    agents: tuple[Agent, Agent], games: Sequence[MatchGame], seed: int, stop: Stop | None
) -> Iterator[int]:
    """Plays all games, up to `_PARALLEL_GAMES` at once; yields the number of finished games."""
    waiting, step = list(enumerate(games))[::-1], 0
    live: list[tuple[int, MatchGame]] = []
    while waiting or live:
        while waiting and len(live) < _PARALLEL_GAMES:
            live.append(waiting.pop())
        for which in (FIRST, SECOND):
            mine = [(number, game) for number, game in live if game.to_choose == which]
            if mine:
                histories = [game.history(number) for number, game in mine]
                decisions = choose_moves(agents[which], histories, child_seed(seed, step), stop)
                for (_, game), decision in zip(mine, decisions, strict=True):
                    game.take(decision)
                step += 1
                live = [(number, game) for number, game in live if not game.is_over]
                yield len(games) - len(waiting) - len(live)


def _scores(records: Sequence[FinishedGame]) -> list[float]:
    """The first agent's score in each game of an opening; for two solo games, one score."""
    if len(records[0].returns) > 1:
        return [record.score for record in records]
    mine, theirs = sorted(records, key=lambda record: record.seats)
    return [compare(mine.returns[0], theirs.returns[0])]


def _tally(scores: Sequence[float]) -> Tally:
    return Tally(scores.count(1.0), scores.count(0.5), scores.count(0.0))
