"""`plainzero bench games`: the speed of each game's rules and search, compared with OpenSpiel's."""

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import Progress

from plainzero.bench.cpu_rates import (
    bot_playout_length,
    bot_playout_rate,
    bot_rate,
    first_decision,
    open_spiel_name,
    playout_length,
    playout_rate,
    search_rate,
)
from plainzero.bench.measure import Rate, machine, versions
from plainzero.games.contract import Game
from plainzero.games.registry import bundled_games, make_game
from plainzero.search.api import search
from plainzero.search.config import SearchConfig

_SIMULATIONS = 2_000
_SAMPLE_SECONDS = 0.1  # approximate duration of one reading
_LENGTH_SAMPLE = 40  # OpenSpiel playouts, played in Python to measure their length

PEERS = {
    "tic-tac-toe": "tic_tac_toe",
    "connect-four": "connect_four",
    "dots-and-boxes": "dots_and_boxes(num_rows=2,num_cols=2)",
    "pig": "pig",
    "ultimate-tic-tac-toe": "ultimate_tic_tac_toe",
    "breakthrough": "breakthrough",
    "gomoku": "gomoku",
    "othello": "othello",
    "hex": "hex(board_size=11)",
    "go": "go(board_size=9,komi=7.5)",
}
"""The same games in OpenSpiel; its MCTSBot rejects 2048, which has intermediate rewards."""


@dataclass(frozen=True)
class Comparison:
    """Our number, and OpenSpiel's if it has the game and is installed."""

    ours: float
    theirs: float | None

    @property
    def ratio(self) -> float | None:
        """Ours divided by theirs."""
        return self.ours / self.theirs if self.theirs else None


@dataclass(frozen=True)
class GameRow:
    """The measurements of one game."""

    game: str
    peer: str | None
    playouts: Comparison  # per second, of uniformly random legal moves
    plies: Comparison  # per playout
    uct: Comparison  # simulations per second, one rollout each
    puct: Comparison  # simulations per second, constant evaluator; compared with the same bot
    state_bytes: int
    node_bytes: float  # with its edges, in a tree of 2,000 simulations

    def as_dict(self) -> dict[str, Any]:
        """The row as plain numbers, with the ratios."""
        row = dataclasses.asdict(self)
        for name in ("playouts", "plies", "uct", "puct"):
            row[name]["ratio"] = getattr(self, name).ratio
        return row


@dataclass(frozen=True)
class GamesReport:
    """All rows, and the machine they were measured on."""

    machine: dict[str, Any]
    versions: dict[str, str]
    rows: list[GameRow]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain dictionaries and lists."""
        rows = [row.as_dict() for row in self.rows]
        return {"machine": self.machine, "versions": self.versions, "rows": rows}


def measure_games(names: Sequence[str], repeats: int, console: Console) -> GamesReport:
    """Measures the named games, or all bundled ones, with a progress bar on `console`.

    Raises:
        ValueError: if a game is unknown.
    """
    games = [make_game(name) for name in names or bundled_games()]
    rows = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=len(games))
        for game in games:
            progress.update(task, description=game.name)
            rows.append(_measure_game(game, repeats))
            progress.advance(task)
    return GamesReport(machine(), versions(), rows)


def _measure_game(game: Game, repeats: int) -> GameRow:
    peer = PEERS.get(game.name) if open_spiel_name() else None
    uniform = with_uniform_playouts(game)
    tree = search(
        game, first_decision(game), "uniform", SearchConfig(simulations=_SIMULATIONS)
    ).tree
    bot = bot_rate(peer, _SIMULATIONS) if peer else None
    return GameRow(
        game=game.name,
        peer=peer,
        playouts=_best(
            _sampled(lambda count: playout_rate(uniform, count)),
            _sampled(lambda count: bot_playout_rate(peer, count)) if peer else None,
            repeats,
        ),
        plies=Comparison(
            playout_length(uniform, 10 * _LENGTH_SAMPLE),
            bot_playout_length(peer, _LENGTH_SAMPLE) if peer else None,
        ),
        uct=_best(search_rate(game, "rollout", _SIMULATIONS), bot, repeats),
        puct=_best(search_rate(game, "uniform", _SIMULATIONS), bot, repeats),
        state_bytes=game.dtype.itemsize,
        node_bytes=tree.used_bytes / len(tree),
    )


def with_uniform_playouts(game: Game) -> Game:
    """The same game with playouts that choose among all legal moves, as OpenSpiel's do."""
    if type(game).playout_actions is Game.playout_actions:
        return game

    class Uniform(type(game)):  # type: ignore[misc]
        playout_actions = Game.playout_actions

    return Uniform(**{p.name: getattr(game, p.name) for p in dataclasses.fields(game)})


def _sampled(rate_of: Callable[[int], Rate]) -> Rate:
    """The rate over a count that takes about `_SAMPLE_SECONDS`."""
    count, seconds = 4, 0.0
    rate_of(count)()  # compiles
    while seconds < _SAMPLE_SECONDS / 4:
        count *= 2
        start = time.perf_counter()
        rate_of(count)()
        seconds = time.perf_counter() - start
    return rate_of(math.ceil(count * _SAMPLE_SECONDS / seconds))


def _best(ours: Rate, theirs: Rate | None, repeats: int) -> Comparison:
    """The best reading of each; both take turns."""
    ours()  # compiles and warms the caches
    pairs = [(ours(), theirs() if theirs else None) for _ in range(repeats)]
    best = max(mine for mine, _ in pairs)
    return Comparison(best, max((other for _, other in pairs if other is not None), default=None))
