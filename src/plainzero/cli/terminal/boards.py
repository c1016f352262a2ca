"""Boards and results for the terminal. Nothing depends on colour alone."""

import itertools
import re
from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from plainzero import CHANCE, Game, Grid, Searcher, SearchResult
from plainzero.cli.terminal.search_progress import Thought

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_MARK_STYLES = {"x": "bold red", "o": "bold yellow", "z": "bold cyan", ".": "dim", "Q": "bold cyan"}
_TILE_STYLES = ("white", "cyan", "green", "yellow", "magenta", "red")
_LAST = "reverse"
_MOST_CHANGED = 8  # characters; more changes are not marked
_BAR = 12  # characters
_MOST_MOVES = 20  # lines of a table


def seat_name(player: int) -> str:
    """A player's name: first player, second player and so on."""
    return f"{_ORDINALS[player] if player < len(_ORDINALS) else f'{player + 1}th'} player"


def draw_board(game: Game, state: Any, before: Any = None) -> Text:
    """The position in colour, with changes since `before` marked."""
    grid = game.view(state)
    if grid is None or type(game).text is not Game.text:
        return _draw_text(game.text(state), "" if before is None else game.text(before))
    return _draw_grid(game, grid, None if before is None else game.view(before))


def player_marks(game: Game) -> dict[int, str]:
    """Each player's mark, if their first move shows it on a single cell; else empty."""
    state, marks = game.new_state(), dict[int, str]()
    while len(marks) < game.num_players and not state.is_over and state.to_play != CHANCE:
        player, grid = int(state.to_play), game.view(state)
        game.apply(state, game.legal(state)[0])
        after = game.view(state)
        if player in marks or grid is None or after is None:
            return {}
        changed = _changed_cells(after, grid)
        if len(changed) != 1:
            return {}
        marks[player] = after.cells[changed[0][0]][changed[0][1]]
    return marks if len(set(marks.values())) == game.num_players else {}


def moves_table(result: SearchResult) -> Table:
    """The root's moves, most visited first."""
    edges = sorted(result.tree.edges(), key=lambda edge: (-edge.visits, edge.action))
    total = max(1, sum(edge.visits for edge in edges))
    has_proofs = any(edge.exact is not None for edge in edges)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("move", style="bold")
    for name in ("prior", "visits"):
        table.add_column(name, justify="right")
    table.add_column("share", no_wrap=True)
    table.add_column("Q", justify="right")
    if has_proofs:
        table.add_column("proven")
    for edge in edges[:_MOST_MOVES]:
        share = edge.visits / total
        row = [
            result.game.action_name(edge.action),
            f"{result.prior[edge.action]:.3f}",
            f"{edge.visits:,}",
            f"[green]{_bar(share)}[/] {share:>4.0%}",
            f"{edge.q:+.3f}" if edge.visits else "",
            proof_word(edge.exact),
        ]
        table.add_row(*row[: 5 + has_proofs])
    if len(edges) > _MOST_MOVES:
        table.add_row(f"… {len(edges) - _MOST_MOVES} more")
    return table


def proof_word(exact: float | None) -> str:
    """A proven value in words, for the player to move."""
    if exact is None:
        return ""
    return {1.0: "[green]win[/]", 0.0: "draw", -1.0: "[red]loss[/]"}.get(exact, f"{exact:+.2f}")


def value_text(result: SearchResult) -> str:
    """The value for the player to move, in words if proven, and for each player if several."""
    text = f"{result.value:+.3f}"
    if result.game.num_players > 1:
        text += f" for the {seat_name(result.to_play)}"
    if result.game.num_players > 2:
        text += f" ({', '.join(f'{value:+.3f}' for value in result.values)} by player)"
    return text + (f", proven: {proof_word(result.value)}" if result.proven else "")


def line_text(result: SearchResult, most: int = 12) -> str:
    """The principal variation."""
    line = result.principal_variation
    names = [result.game.action_name(action) for action in line[:most]]
    separator = ", " if any(" " in name for name in names) else " "
    return separator.join(names) + (" …" if len(line) > most else "")


def work_text(thought: Thought) -> str:
    """Simulations and their speed."""
    done, seconds = thought.result.simulations, thought.seconds
    return f"{done:,} simulations in {seconds:.2f} s, {done / max(seconds, 1e-9):,.0f} per second"


def tree_text(searcher: Searcher, result: SearchResult) -> str:
    """The size of the tree, and its limit."""
    used, most = result.tree.used_bytes / 1e6, searcher.planned_bytes() / 1e6
    return f"{len(result.tree):,} nodes in {used:,.1f} MB of at most {most:,.1f} MB"


def notes(searcher: Searcher, thought: Thought) -> list[str]:
    """Remarks about the result."""
    result = thought.result
    found = []
    if thought.was_interrupted:
        found.append("stopped by Ctrl-C; this is the result so far")
    if result.is_tree_full:
        found.append(
            f"the tree was full (max_bytes={searcher.config.max_bytes}), so the search continued "
            "without growing it; raise the limit with --set max_bytes=…"
        )
    if result.prior_fallbacks:
        found.append(
            f"at {result.prior_fallbacks:,} nodes the evaluator gave no legal move any probability"
        )
    return found


def _bar(share: float) -> str:
    eighths = round(share * _BAR * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + " ▏▎▍▌▋▊▉"[rest] * (rest > 0)).ljust(_BAR)


def _draw_grid(game: Game, grid: Grid, before: Grid | None) -> Text:
    """Cells with column and row labels; [x] is the last move."""
    changed = _changed_cells(grid, before) if before is not None else []
    last = changed[0] if len(changed) == 1 else None
    columns, rows = _labels(game, grid)
    width = max(len(cell) for row in grid.cells for cell in row)
    margin = max(map(len, rows), default=0)
    board = Text()
    if any(columns):
        names = "".join(f" {name:^{width}} " for name in columns)
        board.append(f" {'':{margin}}{names.rstrip()}\n", "dim")
    for r, row in enumerate(grid.cells):
        board.append(f" {rows[r]:>{margin}}", "dim")
        for c, cell in enumerate(row):
            left, right = "[]" if (r, c) == last else "  "
            style = f"{_cell_style(cell)} {_LAST if (r, c) == last else ''}"
            board.append(left).append(f"{cell:^{width}}", style).append(right)
        board.append("\n")
    return board


def _labels(game: Game, grid: Grid) -> tuple[list[str], list[str]]:
    """The view's labels, else the common start of a column's moves and end of a row's."""
    names = [
        [game.action_name(action) if action >= 0 else "" for action in row] for row in grid.actions
    ]
    columns = [_common_start(column) for column in zip(*names, strict=True)]
    rows = [_common_start(name[::-1] for name in row)[::-1] for row in names]
    return list(grid.columns) or columns, list(grid.rows) or rows


def _common_start(names: Iterable[str]) -> str:
    letters = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*names, strict=False))
    return "".join(column[0] for column in letters)


def _changed_cells(grid: Grid, before: Grid) -> list[tuple[int, int]]:
    return [
        (r, c)
        for r, (new, old) in enumerate(zip(grid.cells, before.cells, strict=True))
        for c in range(len(new))
        if new[c] != old[c]
    ]


def _draw_text(text: str, before: str) -> Text:
    """The game's own drawing, with marks and numbers in colour."""
    changed = {i for i, (new, old) in enumerate(zip(text, before, strict=False)) if new != old}
    drawing, start = Text(), 0
    for line in text.split("\n"):
        styled = Text(f" {line}\n")
        if not re.search(r"[a-z]{2,}", line):
            for word in re.finditer(r"\S+", line):
                styled.stylize(_cell_style(word[0]), word.start() + 1, word.end() + 1)
            if 0 < len(changed) <= _MOST_CHANGED:
                for place in changed & set(range(start, start + len(line))):
                    styled.stylize(f"green {_LAST}", place - start + 1, place - start + 2)
        drawing.append_text(styled)
        start += len(line) + 1
    return drawing


def _cell_style(cell: str) -> str:
    if cell.isdigit() and int(cell) > 1:
        return f"bold {_TILE_STYLES[(int(cell).bit_length() - 2) % len(_TILE_STYLES)]}"
    return _MARK_STYLES.get(cell.strip(), "")
