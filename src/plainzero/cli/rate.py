"""`plainzero rate`: ratings of several agents."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plainzero.cli.terminal.errors import refusing

if TYPE_CHECKING:
    from plainzero.arena.round_robin import Ladder


def rate(
    agents: Annotated[
        list[str],
        typer.Argument(
            metavar="AGENT", help="Agents, as for `plainzero match`; the first is rated 0."
        ),
    ],
    game: Annotated[
        str | None, typer.Option(help="Game (default: the one a run was trained on).")
    ] = None,
    games: Annotated[int, typer.Option(min=1, help="Games per pairing.")] = 40,
    plies: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Random plies per opening (default: as few as needed). Even openings are used: "
            "drawn ones by a solver if it answers at once, else the most even of 6 by search.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    save: Annotated[
        Path | None, typer.Option(help="Save the games: JSON lines, or .parquet.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot the ladder, as SVG and PNG.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Rate agents by a round robin (Bradley–Terry model with draws). Ctrl-C stops early.

    Example: [bold]plainzero rate random uct:10 uct:100 --game connect-four --plot ladder.svg[/]
    """
    from plainzero.arena.match import MatchSettings
    from plainzero.arena.match_files import check_savable, save_games
    from plainzero.arena.plots import check_plottable, plot_ratings
    from plainzero.arena.round_robin import play_ladder
    from plainzero.cli.terminal.match_arguments import (
        ENGINE_OUTPUT,
        choose_game,
        fault_lines,
        playing,
        waiting,
    )

    with refusing(game or ""):
        if save is not None:
            check_savable(save)
        if plot is not None:
            check_plottable(plot)
        chosen = choose_game(game, agents)
        with playing(agents, chosen) as players, waiting("playing") as wait:
            ladder = play_ladder(
                chosen, players, MatchSettings(games, plies, seed), wait.update, wait.is_enough
            )
        if save is not None:
            save_games(ladder.results, save)
        files = []
        if plot is not None:
            files = plot_ratings(ladder.ratings, f"{chosen.name}: ratings", plot)
        faults = fault_lines(ladder.results, save)
    if as_json:
        output = {"engine_output": faults.get(ENGINE_OUTPUT)}
        typer.echo(json.dumps({"game": chosen.name, **ladder.as_dict(), **output}))
    else:
        _show(ladder, [*files, *([save] if save is not None else [])], faults)


def _show(ladder: "Ladder", files: list[Path], faults: dict[str, str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    ratings = ladder.ratings
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("agent", style="bold")
    for column in ("Elo", "±", "games", "score"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in ratings.as_dict()["ratings"]:
        games, points = _record(ladder, row["agent"])
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


def _record(ladder: "Ladder", name: str) -> tuple[int, float]:
    """An agent's number of games and its points."""
    games, points = 0, 0.0
    for result in ladder.results:
        tally = result.tally
        if name in result.names:
            games += tally.games
            won = tally.wins if name == result.names[0] else tally.losses
            points += won + tally.draws / 2
    return games, points
