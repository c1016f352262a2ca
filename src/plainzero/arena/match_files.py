"""Games of matches as files: JSON lines, or Parquet where the name ends so."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plainzero.arena.match import MatchResult
from plainzero.arena.match_games import GameRecord
from plainzero.atomic_files import write_whole
from plainzero.games.contract import CHANCE


def save_games(results: Sequence[MatchResult], path: Path) -> None:
    """Writes every game of the matches, a row each, with the names of its moves and agents.

    Raises:
        ValueError: when the file cannot be written, or Parquet is asked for and not installed.
    """
    rows = [_as_row(result, record) for result in results for record in result.records]
    if path.suffix == ".parquet":
        contents = _as_parquet(rows)
    else:
        contents = "".join(json.dumps(row) + "\n" for row in rows).encode()
    try:
        write_whole(path, contents)
    except OSError as error:
        raise ValueError(f"the games cannot be saved to {path}: {error.strerror}") from error


def check_savable(path: Path) -> None:
    """Refuses, before any game is played, a file that could not be written after them.

    Raises:
        ValueError: says why.
    """
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to save {path.name} in; make it first")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name a file to save to")
    if path.suffix == ".parquet":
        _import_pyarrow()


def _as_row(result: MatchResult, record: GameRecord) -> dict[str, Any]:
    opening, moves = _move_names(result, record)
    return {
        "game": result.game.name,
        "seats": [result.names[seat] for seat in record.seats],
        "opening": opening,
        "moves": moves,
        "actions": [*record.opening, *record.moves],
        "returns": list(record.returns),
        "ending": "rules" if record.loser is None else "fault" if record.fault else "resigned",
        "fault": record.fault,
    }


def _move_names(result: MatchResult, record: GameRecord) -> tuple[list[str], list[str]]:
    """What people call the moves of the opening, and those after it; chance's marked as such."""
    game, names = result.game, []
    state = game.new_state()
    for action in (*record.opening, *record.moves):
        is_chance = state.to_play == CHANCE
        names.append(f"({game.outcome_name(action)})" if is_chance else game.action_name(action))
        game.apply(state, action)
    return names[: len(record.opening)], names[len(record.opening) :]


def _as_parquet(rows: list[dict[str, Any]]) -> bytes:
    pyarrow = _import_pyarrow()
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def _import_pyarrow() -> Any:
    """The package, its Parquet part loaded."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError(
            "Parquet needs the package pyarrow: pip install 'plainzero[learn]', or name a .jsonl file"
        ) from error
    return pyarrow
