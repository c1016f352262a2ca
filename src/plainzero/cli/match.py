"""`plainzero match`: which of two agents is stronger, and by how much."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero.arena.match import MatchResult

AGENTS = (
    "random, uct:1000, puct:400, alphabeta:6, perfect, run:FOLDER\\[@STEP]:SIMULATIONS, "
    "bundled:200 (the network that comes with the game), threats:400 (gomoku), or another program, "
    "gtp:COMMAND or gomocup:COMMAND; search options may follow, as in uct:1000,c_uct=1, "
    "and limits of a program are given in brackets, as in "
    "'gtp\\[seconds=10]:gnugo --mode gtp'"
)


def match(
    first: Annotated[str, typer.Argument(metavar="A", help=f"An agent: {AGENTS}.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The other agent.")],
    game: Annotated[
        str | None, typer.Option(help="Game (default: the one a run was trained on).")
    ] = None,
    games: Annotated[
        int, typer.Option(min=1, help="Number of games, rounded up to whole openings.")
    ] = 100,
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
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Play two agents against each other from balanced openings, each opening from all seats.

    Ctrl-C stops and counts the finished openings.

    Example: [bold]plainzero match run:runs/first:200 uct:1000 --games 200[/]

    Without a run: [bold]plainzero match uct:400 uct:100 --game connect-four --save games.jsonl[/]

    Another program: [bold]plainzero match uct:5000 "gtp:gnugo --mode gtp --level 1" --game go[/]
    """
    from plainzero.arena.match import MatchSettings, play_match
    from plainzero.arena.match_files import check_savable, save_games
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
        chosen = choose_game(game, [first, second])
        plan = MatchSettings(games, plies, seed)
        with playing([first, second], chosen) as (a, b), waiting("playing") as wait:
            result = play_match(
                chosen,
                (a, b),
                plan,
                progress=lambda done, total: wait.update("games", done, total),
                stop=wait.is_enough,
            )
        if save is not None:
            save_games([result], save)
        if not result.records:
            raise BadInput("the match was stopped before an opening was finished")
        faults = fault_lines([result], save)
    if as_json:
        typer.echo(json.dumps({**result.as_dict(), "engine_output": faults.get(ENGINE_OUTPUT)}))
    else:
        _show(result, save, faults)


def _show(result: "MatchResult", save: Path | None, faults: dict[str, str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from plainzero.cli.terminal.boards import seat_name

    console, (a, b) = Console(highlight=False), map(escape, result.names)
    console.print(f"[bold]{a}[/] against [bold]{b}[/], {result.game.name}", soft_wrap=True)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in (escape(result.names[0]), "games", "won", "drawn", "lost"):
        table.add_column(column, justify="left" if column == a else "right")
    seats = [f"as {seat_name(player)}" for player in range(result.game.num_players)]
    rows = [*zip(seats, result.tally_by_seat, strict=True)] if len(seats) > 1 else []
    for name, tally in [*rows, ("total", result.tally)]:
        numbers = (tally.games, tally.wins, tally.draws, tally.losses)
        table.add_row(name, *map(str, numbers), style="bold" if name == "total" else "")
    console.print(table)
    estimate = result.estimate
    ends = estimate.score_interval
    interval = f" ({100 * ends[0]:.1f}–{100 * ends[1]:.1f})" if ends else ""
    lines = {
        "score": f"{100 * estimate.score:.1f} %{interval}",
        "Elo": f"[bold]{estimate}[/]",
        "openings": f"{len(result.scores_by_opening)}, each from all seats",
    }
    if result.copies:
        lines["note"] = f"{result.copies} games repeat an earlier one and count as one opening"
    if result.was_interrupted:
        lines["stopped"] = "only finished openings count"
    if save is not None:
        lines["saved"] = escape(str(save))
    lines |= {title: escape(text) for title, text in faults.items()}
    for title, text in lines.items():
        console.print(f"[dim]{title:<10}[/]{text}", soft_wrap=True)
    console.print(f"[dim]{_explain_interval(result)}[/]", soft_wrap=True)


def _explain_interval(result: "MatchResult") -> str:
    if not result.sampled:
        return (
            "no interval: every round repeats the same games of one opening, which says nothing "
            "about other games"
            if len(result.rounds) > 1
            else "no interval: it takes more than one opening"
        )
    narrow = "; they hold for this opening only" if len(result.scores_by_opening) == 1 else ""
    return f"in parentheses: 95 % intervals, over {result.sampled}{narrow}"
