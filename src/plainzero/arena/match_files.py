"""Games of matches in files: written as JSON lines or Parquet, read from JSON lines."""

import io
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plainzero.atomic_files import write_whole
from plainzero.games.contract import CHANCE
from plainzero.games.formats.saved_games import SavedGame

if TYPE_CHECKING:
    from plainzero.arena.match import MatchResult
    from plainzero.arena.match_games import FinishedGame


def save_games(results: "Sequence[MatchResult]", path: Path) -> None:
    """Writes every game of the matches as one row, with the names of its moves and agents.

    Raises:
        ValueError: when the file cannot be written, or pyarrow is missing for Parquet.
    """
    rows = [_as_row(result, record) for result in results for record in result.records]
    if path.suffix == ".parquet":
        contents = _as_parquet(rows)
    else:
        contents = "".join(json.dumps(row) + "\n" for row in rows).encode()
    try:
        write_whole(path, contents)
    except OSError as error:
        raise ValueError(f"cannot save the games to {path}: {error.strerror}") from error


def check_savable(path: Path) -> None:
    """Refuses a file that cannot be written, before any game is played.

    Raises:
        ValueError: with the reason.
    """
    if not path.parent.is_dir():
        raise ValueError(
            f"there is no folder {path.parent} to save {path.name} in; create it first"
        )
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file to save to")
    if path.suffix == ".parquet":
        _import_pyarrow()


def save_transcripts(results: "Sequence[MatchResult]", beside: Path | None = None) -> Path | None:
    """Writes the exchanges with engines that failed, and returns the file; None if none failed.

    Args:
        results: of the matches.
        beside: the file of the saved games; if None, a temporary file is created.
    """
    parts = [
        f"# {result.names[record.seats[record.loser]]}\n# {record.fault}\n{record.transcript}\n"
        for result in results
        for record in result.records
        if record.loser is not None and record.fault
    ]
    if not parts:
        return None
    if beside is not None:
        path = beside.with_name(f"{beside.name}.faults.txt")
    else:
        descriptor, name = tempfile.mkstemp(prefix="plainzero-faults-", suffix=".txt")
        os.close(descriptor)
        path = Path(name)
    write_whole(path, "\n".join(parts).encode(errors="replace"))
    return path


def read_match_games(text: str) -> Iterator[SavedGame]:
    """The games in JSON lines, of this version or an earlier one: `actions` are whole games in all.

    Raises:
        ValueError: for an invalid line, with its number.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            actions = [int(action) for action in row["actions"]]
            seats = [str(name) for name in row["seats"]]
            yield SavedGame(str(row["game"]), None, 0, actions, seats, _who_resigned(row))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"line {number} is not a game of a match") from error


def _as_row(result: "MatchResult", record: "FinishedGame") -> dict[str, Any]:
    return {
        "game": result.game.name,
        "seats": [result.names[seat] for seat in record.seats],
        "opening_plies": len(record.opening),
        "moves": _move_names(result, record),
        "actions": [*record.opening, *record.moves],
        "returns": list(record.returns),
        "ending": "rules" if record.loser is None else "fault" if record.fault else "resigned",
        "fault": record.fault,
    }


def _move_names(result: "MatchResult", record: "FinishedGame") -> list[str]:
    """The names of all moves from the start; chance's are in parentheses."""
    game, names = result.game, []
    state = game.new_state()
    for action in (*record.opening, *record.moves):
        is_chance = state.to_play == CHANCE
        names.append(f"({game.outcome_name(action)})" if is_chance else game.action_name(action))
        game.apply(state, action)
    return names


def _as_parquet(rows: list[dict[str, Any]]) -> bytes:
    pyarrow = _import_pyarrow()
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def _import_pyarrow() -> Any:
    """The package with its Parquet module."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError(
            "Parquet needs the package pyarrow: pip install 'plainzero[learn]', or name a "
            ".jsonl file"
        ) from error
    return pyarrow


def _who_resigned(row: dict[str, Any]) -> int | None:
    """The player who resigned, if any; a loss by a fault does not count."""
    if row.get("ending") != "resigned":
        return None
    returns = [float(value) for value in row["returns"]]
    return returns.index(min(returns))
