"""The tables of `plainzero bench learning` and `plainzero yardstick`."""

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from plainzero.arena.yardsticks.measurement import Measurement
    from plainzero.bench.learning import LearnedGame, LearningReport, Strength

_COLUMNS = ("time", "at", "pos/s", "games", "policy", "value", "sims", "figure")


def print_learning(report: "LearningReport") -> None:
    """Prints a table with one section per game."""
    console = Console(highlight=False)
    table = Table(title="plainzero bench learning", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("game, yardstick, target")
    for column in _COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    for row in report.rows:
        cells = [cells for at in row.strengths for cells in _cells(at, row.target)]
        heads = [f"[bold]{escape(row.game)}[/]", escape(row.yardstick), _target(row)]
        for number in range(max(len(cells), len(heads))):
            head = heads[number] if number < len(heads) else ""
            table.add_row(head, *(cells[number] if number < len(cells) else ()))
        table.add_section()
    console.print(table)
    for row in report.rows:
        if row.failure:
            console.print(f"{row.game}: {row.failure}", markup=False)
    firsts = [f"{row.game} {row.first_generation_seconds:.0f}" for row in report.rows]
    console.print(f"Seconds to the first generation: {', '.join(firsts)}.", markup=False)
    console.print(
        "at: seconds of the weights; pos/s: positions per second, self-play and learning together; "
        "policy and value loss; sims: simulations per move, 0 for the network alone; figure with "
        "its 95 % interval, green if it reaches the target. A draw counts half, unless the "
        "yardstick says otherwise.",
        style="dim",
    )


def figure_text(found: "Measurement", target: float | None = None) -> str:
    """The figure with its interval: `93 % (85–97)`; green if it reaches the target."""
    digits = 0 if found.figure < 0.98 else 1
    style = "green" if target is not None and found.figure >= target else "bold"
    interval = ""
    if found.interval is not None:
        low, high = found.interval
        interval = f" ({100 * low:.{digits}f}–{100 * high:.{digits}f})"
    return f"[{style}]{100 * found.figure:.{digits}f} %[/]{interval}"


def _target(row: "LearnedGame") -> str:
    return "" if row.target is None else f"[dim]target {100 * row.target:g} %[/]"


def _cells(at: "Strength", target: float | None) -> list[list[str]]:
    """One row for each number of simulations; at least one."""
    head = [
        f"{at.share:.0%}",
        f"{at.seconds:.0f} s",
        f"{at.positions_per_second:,.0f}",
        f"{at.games:,}",
        f"{at.policy_loss:.3f}",
        f"{at.value_loss:.3f}",
    ]
    figures = [[str(sims), figure_text(m, target)] for sims, m in at.measured.items()]
    empty = [""] * len(head)
    return [
        [*(head if number == 0 else empty), *figure]
        for number, figure in enumerate(figures or [["", ""]])
    ]
