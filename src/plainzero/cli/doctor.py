"""`plainzero doctor`: what keeps a run from learning or slows it down."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plainzero.cli.terminal.errors import refusing

if TYPE_CHECKING:
    from rich.console import Console

    from plainzero.training.doctor.history import Finding

_STYLES = {"problem": "bold red", "warning": "bold yellow", "note": "bold cyan"}


def doctor(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Diagnose a run: what keeps it from learning or slows it down, worst first.

    Reads the run's metrics and says what to change. A problem keeps the run from learning, a
    warning slows it down, a note may be intended. The run may still be in progress. Always exits
    with 0.

    Example: [bold]plainzero doctor runs/connect-four[/]
    """
    with refusing():
        from plainzero.training.doctor.diagnose import diagnose, main_figures
        from plainzero.training.metrics import read_metrics
        from plainzero.training.saved_run import open_run

        saved = open_run(run)
        metrics = read_metrics(saved.folder.metrics_file)
        findings = diagnose(metrics, saved.config, saved.game)
        figures = main_figures(metrics)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "run": str(run),
                    "game": saved.game.name,
                    "generations": len(metrics),
                    "findings": [finding._asdict() for finding in findings],
                    "latest": _finite(metrics[-1]) if metrics else {},
                }
            )
        )
    else:
        _show(f"{saved.game.name}: {run}", len(metrics), findings, figures)


def _finite(metrics: dict[str, Any]) -> dict[str, Any]:
    """Replaces NaN, which JSON lacks, by None."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in metrics.items()
    }


def _show(
    title: str, generations: int, findings: "list[Finding]", figures: dict[str, tuple[str, str]]
) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.padding import Padding

    console = Console(highlight=False)
    console.print(f"[bold]{escape(title)}[/], {generations} generations", soft_wrap=True)
    for finding in findings:
        style = _STYLES[finding.severity]
        console.print(f"\n[{style}]{finding.severity}[/]  [bold]{escape(finding.kind)}[/]")
        console.print(Padding(escape(finding.seen), (0, 0, 0, 4), expand=False))
        console.print(Padding(f"[dim]→[/] {escape(finding.advice)}", (0, 0, 0, 4), expand=False))
    if not any(finding.severity != "note" for finding in findings):
        console.print("\n[green]No problems found so far.[/]")
    _show_figures(console, figures)


def _show_figures(console: "Console", figures: dict[str, tuple[str, str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if not figures:
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    table.add_column("first", justify="right")
    table.add_column("now", justify="right")
    for title, (first, last) in figures.items():
        table.add_row(title, first, last)
    console.print(table)
