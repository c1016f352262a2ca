"""`tesuji bench`: how fast it is, beside what others do in the same run, as ratios."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tesuji.cli.measuring import Report

app = typer.Typer(
    help="Measure speed, beside other programs in the same run.", no_args_is_help=True
)


@app.callback()
def bench() -> None:
    """Measure speed, beside other programs in the same run."""


@app.command()
def search(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    repeats: Annotated[
        int, typer.Option(min=1, help="Repeats of each measurement; the best one counts.")
    ] = 25,
) -> None:
    """Search and random playouts on Connect Four and tic-tac-toe, beside OpenSpiel's C++ MCTSBot.

    Both sides take turns, on one thread where not said otherwise. OpenSpiel is measured where the
    package open_spiel is installed.

    Example: tesuji bench search --json > search.json
    """
    from rich.console import Console

    from tesuji.cli.bench_search import search_works
    from tesuji.cli.measuring import measure_all

    report = measure_all(search_works(), repeats, Console(stderr=True))
    if as_json:
        json.dump(report.as_dict(), sys.stdout)
        sys.stdout.write("\n")
    else:
        _print_table(report)


def _print_table(report: "Report") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title="tesuji bench search", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("work")
    for column in ("ours", "theirs", "ratio", "peer"):
        table.add_column(column, justify="left" if column == "peer" else "right", no_wrap=True)
    for row in report.rows:
        table.add_row(
            f"{row.work} [dim]{row.unit}[/]",
            _short(row.ours),
            _short(row.theirs) if row.theirs is not None else "",
            f"[bold]{row.ratio:.1f} ×[/]" if row.ratio is not None else "",
            row.peer or "",
        )
    console = Console()
    console.print(table)
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    console.print(f"{report.machine['cpu']}, {report.machine['cores']} cores; {versions}")


def _short(number: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.2f} {letter}"
    return f"{number:.0f}"
