"""`plainzero positions`: generates a set of solved positions."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero.opponents.decisive_positions import PositionCollection, PositionMaker

_MIB = 1 << 20
_COUNT = 6000
_EARLY = 24


def positions(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A bundled game, or your own: FILE.py.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Output file (CSV).")],
    count: Annotated[
        int | None, typer.Option(min=1, help="Number of positions.", show_default=str(_COUNT))
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    early: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="At most this many per ply in the first quarter of the game.",
            show_default=str(_EARLY),
        ),
    ] = None,
    plies: Annotated[
        str | None,
        typer.Option(metavar="COUNTS", help="Instead: counts per ply, as in '5:17 6-9:24 10:148'."),
    ] = None,
    table: Annotated[
        int,
        typer.Option(
            min=1, max=65536, help="Memory for the solver in MiB; more solves earlier plies."
        ),
    ] = 1024,
) -> None:
    """Generate positions in which a move can go wrong, with the outcome of every move.

    Each position has moves with at least two different outcomes. Plies are covered evenly; no two
    positions are equal or mirror images. Ctrl-C writes the positions found so far. The positions
    of a ply, and their order, depend only on the seed.

    Example: [bold]plainzero positions connect-four --count 1000 --early 0 --out set.csv[/]
    """
    from plainzero import make_game
    from plainzero.opponents.decisive_positions import PositionMaker, parse_plies
    from plainzero.opponents.perfect import make_solver, outcomes_by

    if plies is not None and not (count is None and early is None):
        raise BadInput("--plies sets the counts per ply; leave out --count and --early")
    if not out.parent.is_dir():
        raise BadInput(f"there is no folder {out.parent}; create it first")
    with refusing(game):
        named = make_game(game)
        counts = None if plies is None else parse_plies(plies, named)
        solver = make_solver(named, table * _MIB)
        maker = PositionMaker(named, lambda state: outcomes_by(solver, [state])[0], seed)
        if counts is not None:
            collection = _collect(
                maker, sum(counts.values()), lambda found: found.collect_counts(counts)
            )
        else:
            most = _COUNT if count is None else count
            most_early = _EARLY if early is None else early
            collection = _collect(maker, most, lambda found: found.collect(most, most_early))
    _write(maker, collection, out)


def _collect(
    maker: "PositionMaker", count: int, collect: Callable[["PositionCollection"], None]
) -> "PositionCollection":
    """Collects positions under a progress bar, until done or Ctrl-C."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn

    from plainzero.opponents.decisive_positions import PositionCollection

    console = Console(stderr=True)
    columns = (*Progress.get_default_columns(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("positions", total=count)
        collection = PositionCollection(maker, lambda total: bar.update(task, completed=total))
        try:
            collect(collection)
        except KeyboardInterrupt:
            console.print("Stopped early.")
    return collection


def _write(maker: "PositionMaker", collection: "PositionCollection", out: Path) -> None:
    import numpy as np

    from plainzero.opponents.solved_positions import write_positions

    found = collection.positions()
    if not found:
        raise BadInput(f"found no decisive positions of {maker.game.name}; {out} was not written")
    outcomes = np.array([position.outcomes for position in found])
    write_positions(maker.game, out, (position.actions for position in found), outcomes)
    by_ply = collection.by_ply
    plies = [ply for ply, number in enumerate(by_ply) if number]
    typer.echo(f"{len(found):,} positions of plies {plies[0]} to {plies[-1]} written to {out}")
    typer.echo("by ply: " + " ".join(str(number) for number in by_ply))
