"""`plainzero rate`: ratings of several agents, or of all natural agents of a game."""

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero import Game
    from plainzero.arena.round_robin import RoundRobin
    from plainzero.cli.terminal.ladder_request import LadderRequest

_GAMES = 40  # per pairing
_MINUTES = 10.0


def rate(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GAME|AGENT",
            help="A game, for its ladder; agents that are placed on it. Without a game first, "
            "agents as for `plainzero match`, the first of which is rated 0.",
        ),
    ] = None,
    game: Annotated[
        str | None, typer.Option(help="Game (default: the one a run was trained on).")
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(min=1, help=f"Games per pairing (default {_GAMES}); of a ladder, in all."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.01, help=f"Of a ladder: time for games (default {_MINUTES:g}, without --games)."
        ),
    ] = None,
    plies: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Random plies per opening (default: as few as needed). Even openings are used: "
            "drawn ones by a solver if it answers at once, else the most even of 6 by search.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed (default 0).")] = None,
    anchor: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Of a ladder: the agent that is rated 0.")
    ] = None,
    ladder: Annotated[
        Path | None,
        typer.Option(help="File of the ladder, resumed if it exists (default ladders/GAME.json)."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the games: JSON lines, or .parquet.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot the ratings, as SVG and PNG.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a ladder as Markdown.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Rate agents: a game's ladder, or a round robin of the agents named. Ctrl-C stops early.

    A ladder: [bold]plainzero rate gomoku --minutes 10 --plot ladder.svg[/]

    Your run on it: [bold]plainzero rate gomoku run:runs/gomoku:100 --minutes 2[/]

    A round robin: [bold]plainzero rate random uct:10 uct:100 --game connect-four[/]
    """
    from plainzero.arena.ladder_games import LadderLimits
    from plainzero.cli.terminal.ladder_request import LadderRequest
    from plainzero.cli.terminal.match_arguments import choose_game

    agents = list(names or ())
    files = _Files(save, plot, markdown)
    with refusing(game or ""):
        from plainzero import make_game

        if agents and _is_game(agents[0]):
            if game is not None:
                raise BadInput(f"name the game once: {agents[0]}, or --game {game}")
            game = agents.pop(0)
        elif agents:
            own = {"--minutes": minutes, "--anchor": anchor, "--ladder": ladder}
            own["--markdown"] = markdown
            for option, value in own.items():
                if value is not None:
                    raise BadInput(f"{option} is for ladders, as in plainzero rate GAME {option} …")
            chosen = choose_game(game, agents)
            _rate_round_robin(chosen, agents, games or _GAMES, plies, seed or 0, files, as_json)
            return
        if game is None:
            raise BadInput("name a game, as in plainzero rate gomoku, or agents to rate")
        if minutes is None:
            minutes = 0.0 if games else _MINUTES
        limits = LadderLimits(minutes, games or 0)
        request = LadderRequest(make_game(game), tuple(agents), limits, plies, seed, anchor, ladder)
        _rate_ladder(request, files, as_json)


@dataclasses.dataclass(frozen=True)
class _Files:
    """Where results are written."""

    games: Path | None
    plot: Path | None
    markdown: Path | None

    def check(self) -> None:
        """Refuses files that cannot be written, before any game is played."""
        from plainzero.arena.match_files import check_savable
        from plainzero.arena.plots import check_plottable

        for path in filter(None, (self.games, self.markdown)):
            check_savable(path)
        if self.plot is not None:
            check_plottable(self.plot)


def _is_game(name: str) -> bool:
    """Whether it names a game rather than an agent."""
    from plainzero.arena.agent_specs import is_agent_kind
    from plainzero.games.registry import GameSpec, UnknownGame, bundled_games, is_open_spiel

    if is_agent_kind(name):
        return False
    try:
        spec = GameSpec.parse(name)
    except UnknownGame:
        return False
    return bool(spec.path) or spec.title in bundled_games() or is_open_spiel(name)


def _rate_ladder(request: "LadderRequest", files: _Files, as_json: bool) -> None:
    from plainzero.arena.ladder_files import as_dict, write_ladder
    from plainzero.arena.ladder_games import LadderPlay
    from plainzero.arena.ladder_text import write_markdown
    from plainzero.arena.match_files import save_games
    from plainzero.arena.plots import plot_ladder
    from plainzero.cli.terminal.ladder_output import show_ladder
    from plainzero.cli.terminal.ladder_request import playing_agents, with_networks
    from plainzero.cli.terminal.match_arguments import fault_lines, waiting

    files.check()
    notes: list[str] = []
    with waiting("drawing openings") as wait:
        before = request.open()
        with playing_agents(request, request.specs(before), notes) as agents:
            begun = with_networks(before, request.game, agents, notes)
            begun = dataclasses.replace(begun, made=request.describe())
            focus = request.focus(before, agents)
            play = LadderPlay(
                request.game, begun, agents, focus, lambda now: write_ladder(now, request.path)
            )
            play.run(request.limits, wait.update, wait.is_enough)
    found, written = play.ladder, [request.path]
    if found.rungs and files.plot is not None:
        written += plot_ladder(found, f"{request.game.name}: ladder", files.plot)
    if files.markdown is not None:
        files.markdown.write_text(write_markdown(found))
        written.append(files.markdown)
    if files.games is not None:
        save_games(play.results, files.games)
        written.append(files.games)
    faults = fault_lines(play.results, files.games)
    if as_json:
        typer.echo(json.dumps({**as_dict(found), "notes": notes, **faults}))
    else:
        show_ladder(
            found, [*notes, *(f"{title} {text}" for title, text in faults.items())], written
        )


def _rate_round_robin(
    game: "Game",
    agents: list[str],
    games: int,
    plies: int | None,
    seed: int,
    files: _Files,
    as_json: bool,
) -> None:
    from plainzero.arena.match import MatchSettings
    from plainzero.arena.match_files import save_games
    from plainzero.arena.plots import plot_ratings
    from plainzero.arena.round_robin import play_round_robin
    from plainzero.cli.terminal.match_arguments import (
        ENGINE_OUTPUT,
        fault_lines,
        playing,
        waiting,
    )

    files.check()
    with playing(agents, game) as players, waiting("playing") as wait:
        found = play_round_robin(
            game, players, MatchSettings(games, plies, seed), wait.update, wait.is_enough
        )
    written = []
    if files.games is not None:
        save_games(found.results, files.games)
    if files.plot is not None:
        written = plot_ratings(found.ratings, f"{game.name}: ratings", files.plot)
    faults = fault_lines(found.results, files.games)
    if as_json:
        output = {"engine_output": faults.get(ENGINE_OUTPUT)}
        typer.echo(json.dumps({"game": game.name, **found.as_dict(), **output}))
    else:
        _show(found, [*written, *([files.games] if files.games is not None else [])], faults)


def _show(found: "RoundRobin", files: list[Path], faults: dict[str, str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    ratings = found.ratings
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("agent", style="bold")
    for column in ("Elo", "±", "games", "score"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in ratings.as_dict()["ratings"]:
        games, points = _record(found, row["agent"])
        error = f"{row['error']:.0f}" if row["error"] else ""
        share = f"{100 * points / games:.0f} %" if games else ""
        table.add_row(escape(row["agent"]), f"{row['elo']:+.0f}", error, str(games), share)
    console = Console(highlight=False)
    console.print(table)
    console.print(
        f"[dim]Elo above {escape(ratings.names[0])}, ± half a 95 % interval; "
        f"equal agents draw {100 * ratings.draw_rate:.0f} % of their games[/]",
        soft_wrap=True,
    )
    for title, text in faults.items():
        console.print(f"[dim]{title}[/] {escape(text)}", soft_wrap=True)
    for file in files:
        console.print(f"[dim]saved[/] {escape(str(file))}", soft_wrap=True)


def _record(found: "RoundRobin", name: str) -> tuple[int, float]:
    """An agent's number of games and its points."""
    games, points = 0, 0.0
    for result in found.results:
        tally = result.tally
        if name in result.names:
            games += tally.games
            won = tally.wins if name == result.names[0] else tally.losses
            points += won + tally.draws / 2
    return games, points
