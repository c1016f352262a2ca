"""A ladder in the terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from plainzero.arena.ladder import Ladder
from plainzero.arena.ladder_agents import label_of
from plainzero.arena.ladder_text import describe, pair_rows


def show_ladder(ladder: Ladder, notes: Sequence[str], files: Sequence[Path]) -> None:
    """Prints the ratings, the games of each pair, and what else there is to say."""
    console = Console(highlight=False)
    console.print(_ratings(ladder))
    console.print(_pairs(ladder))
    lines = [f"[dim]Elo above {escape(label_of(ladder.anchor))}, ± half a 95 % interval[/]"]
    lines.append(f"[dim]{escape(describe(ladder))}[/]")
    lines += [escape(note) for note in notes]
    if ladder.unrated:
        names = ", ".join(map(label_of, ladder.unrated))
        lines.append(f"not rated yet: {escape(names)}; the same command continues")
    lines += [f"[dim]saved[/] {escape(str(file))}" for file in files]
    for line in lines:
        console.print(line, soft_wrap=True)


def _ratings(ladder: Ladder) -> Table:
    table = _table("agent", "Elo", "±", "games", "points")
    for rung in ladder.rungs:
        error = f"{rung.error:.0f}" if rung.agent != ladder.anchor else ""
        counts = (f"{rung.elo:+.0f}", error, str(rung.games), f"{100 * rung.score:.0f} %")
        table.add_row(escape(label_of(rung.agent)), *counts)
    return table


def _pairs(ladder: Ladder) -> Table:
    table = _table("games of each pair", "games", "won", "drawn", "lost", "points", "expected")
    for stronger, weaker, *numbers in pair_rows(ladder):
        table.add_row(escape(f"{label_of(stronger)} – {label_of(weaker)}"), *numbers)
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, style="bold")
    for column in others:
        table.add_column(column, justify="right", no_wrap=True)
    return table
