"""`plainzero curve`: a run's errors over time."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero.arena.error_curve import CurvePoint
    from plainzero.games.contract import Game
    from plainzero.opponents.solved_positions import PositionSet


def curve(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's folder.")],
    positions: Annotated[
        list[Path] | None,
        typer.Option(help="Solved positions; repeat for several sets (default: the bundled set)."),
    ] = None,
    simulations: Annotated[
        int, typer.Option(min=0, help="Simulations per move; 0 for the network alone.")
    ] = 100,
    points: Annotated[int, typer.Option(min=1, help="Number of weights to measure.")] = 16,
    device: Annotated[
        str, typer.Option(help="auto (a GPU if available), cpu, cuda, cuda:1, …")
    ] = "auto",
    plot: Annotated[
        Path | None, typer.Option(help="Also plot it, as SVG and PNG; needs plainzero\\[plots].")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Measure a run's weights on solved positions, from its first generation to its last.

    An error is a move that gives away a win or a draw. Seconds are the run's own clock.

    Example: [bold]plainzero curve runs/connect-four --points 20 --plot curve.svg[/]
    """
    from plainzero.arena.error_curve import measure_curve
    from plainzero.arena.plots import check_plottable, plot_curve
    from plainzero.cli.terminal.match_arguments import waiting
    from plainzero.training.saved_run import open_run

    with refusing(run):
        if plot is not None:
            check_plottable(plot)
        saved = open_run(run)
        sets = _read_sets(saved.game, positions or [])
        with waiting("weights") as wait:
            found = measure_curve(
                saved,
                list(sets.values()),
                points,
                simulations,
                device,
                lambda done, total: wait.update_or_stop("weights", done, total),
            )
        if plot is not None:
            plot_curve(found, list(sets), f"{saved.game.name}: {run}", plot)
    if as_json:
        typer.echo(json.dumps(_as_dict(saved.game.name, run, simulations, list(sets), found)))
    else:
        _show(f"{saved.game.name}: {run}, errors with {simulations} simulations", list(sets), found)


def _read_sets(game: "Game", paths: list[Path]) -> "dict[str, PositionSet]":
    """Position sets by name."""
    from plainzero.cli.terminal.match_arguments import known_positions

    sets = {path.stem: known_positions(game, path) for path in paths}
    if not paths:
        sets["bundled"] = known_positions(game, None)
    known = {name: positions for name, positions in sets.items() if positions is not None}
    if not known:
        raise BadInput(f"no bundled positions for {game.name}; name a file with --positions")
    return known


def _as_dict(
    game: str, run: str, simulations: int, names: list[str], found: "list[CurvePoint]"
) -> dict[str, Any]:
    from plainzero.arena.error_curve import first_reached

    return {
        "game": game,
        "run": run,
        "simulations": simulations,
        "points": [
            {
                "seconds": point.seconds,
                "step": point.step,
                "errors": dict(zip(names, point.errors, strict=True)),
            }
            for point in found
        ],
        "first_seconds": {
            name: {str(level): second for level, second in first_reached(found, index).items()}
            for index, name in enumerate(names)
        },
    }


def _show(title: str, names: list[str], found: "list[CurvePoint]") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from plainzero.arena.error_curve import first_reached

    console = Console(highlight=False)
    console.print(f"[bold]{escape(title)}[/]", soft_wrap=True)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for column in ("seconds", "step", *names):
        table.add_column(escape(column), justify="right", no_wrap=True)
    for point in found:
        errors = [f"{100 * error:.1f} %" for error in point.errors]
        table.add_row(f"{point.seconds:.0f}", f"{point.step:,}", *errors)
    console.print(table)
    for index, name in enumerate(names):
        reached = [
            f"{100 * level:.0f} % after {second:.0f} s"
            for level, second in first_reached(found, index).items()
            if second is not None
        ]
        if reached:
            console.print(f"[dim]{escape(name)}: {', '.join(reached)}[/]")
