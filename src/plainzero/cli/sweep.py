"""`plainzero sweep`: the effect of one search option on strength."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero.arena.sweep import SweepRow


def sweep(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run's folder, or an agent such as uct:1000.")
    ],
    parameter: Annotated[str, typer.Option(help="A search option, or simulations.")],
    values: Annotated[str, typer.Option(help="Comma-separated values.")],
    games: Annotated[int, typer.Option(min=1, help="Games per value, against the default.")] = 100,
    simulations: Annotated[
        int | None,
        typer.Option(min=1, help="Simulations per move, unless swept.", show_default="100"),
    ] = None,
    step: Annotated[int | None, typer.Option(help="Step of the weights (default: latest).")] = None,
    game: Annotated[
        str | None, typer.Option(help="Game (default: the one the run was trained on).")
    ] = None,
    positions: Annotated[
        Path | None,
        typer.Option(help="Solved positions (default: the bundled set)."),
    ] = None,
    sample: Annotated[int, typer.Option(min=0, help="Positions per value; 0 for none.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Plot it, as SVG and PNG.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Play each value of a search option against the default and measure its errors.

    Ctrl-C stops and shows the finished values.

    Example: [bold]plainzero sweep runs/first --parameter c_puct --values 0.5,1,1.5,2,3,5[/]

    Strength by simulations: [bold]plainzero sweep runs/first --parameter simulations
    --values 25,50,100,200,400 --plot strength.svg[/]
    """
    from plainzero.arena.accuracy import sample_positions
    from plainzero.arena.match import MatchSettings
    from plainzero.arena.plots import check_plottable, plot_sweep
    from plainzero.arena.sweep import parse_values, sweep
    from plainzero.cli.terminal.match_arguments import known_positions, parse_searcher, waiting

    with refusing(game or ""):
        if plot is not None:
            check_plottable(plot)
        tried = parse_values(parameter, values)
        agent = parse_searcher(run, game, step, simulations)
        known = known_positions(agent.game, positions) if sample else None
        if known is not None:
            known = sample_positions(known, sample, seed)
        plan = MatchSettings(games, seed=seed)
        with waiting("playing") as wait:
            rows = sweep(agent, parameter, tried, plan, known, wait.update_or_stop)
        if not rows:
            raise BadInput("the sweep was stopped before a value was finished")
        default = getattr(agent.searcher().config, parameter)
        files = []
        if plot is not None:
            title = f"{agent.game.name}: {parameter}"
            files = plot_sweep(rows, parameter, default, title, plot)
    if as_json:
        head = {"game": agent.game.name, "run": run, "parameter": parameter, "default": default}
        typer.echo(json.dumps({**head, "values": [row.as_dict() for row in rows]}))
    else:
        _show(parameter, default, rows, files)


def _show(parameter: str, default: Any, rows: "list[SweepRow]", files: list[Path]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from plainzero.cli.terminal.match_arguments import percent

    console = Console(highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    errors_column = ["errors"] * any(row.accuracy is not None for row in rows)
    for column in (parameter, "Elo against the default", "won", "drawn", "lost", *errors_column):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        elo, counts = "the default", ["", "", ""]
        if row.match is not None:
            tally = row.match.tally
            elo, counts = (
                str(row.match.estimate),
                [str(count) for count in (tally.wins, tally.draws, tally.losses)],
            )
        errors = [percent(row.accuracy.total.error_rate)] if row.accuracy is not None else []
        table.add_row(str(row.value), elo, *counts, *errors)
    console.print(table)
    console.print(f"[dim]default: {parameter}={default}; in parentheses: 95 % intervals[/]")
    for file in files:
        console.print(f"[dim]saved[/] {escape(str(file))}", soft_wrap=True)
