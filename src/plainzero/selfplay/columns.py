"""Many finished games as arrays, one column for all of them: how they come back from a GPU."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.selfplay.games_in_progress import ENDINGS, NOBODY
from plainzero.selfplay.records import GameRecord, schema_of


class GameColumns(NamedTuple):
    """G finished games, their M moves one game's after the other's, N of them targets."""

    games: NDArray[Any]  # [G] see harvest.finished_dtype
    moves: NDArray[Any]  # [M] see games.move_dtype
    policies: NDArray[np.float32]  # [N, A] of the targets, in order


class Outcomes(NamedTuple):
    """How G games went. P players."""

    returns: NDArray[np.float32]  # [G, P]
    lengths: NDArray[np.int32]  # [G]
    endings: NDArray[np.int32]  # [G] see games.ENDINGS
    would_resign: NDArray[np.int32]  # [G] who had given up if that were not being checked, or −1


def outcomes_of(records: list[GameRecord]) -> Outcomes:
    """How the games of records went."""
    return Outcomes(
        returns=np.stack([record.returns for record in records]),
        lengths=np.array([len(record.moves) for record in records], np.int32),
        endings=np.array([ENDINGS.index(record.ending) for record in records], np.int32),
        would_resign=np.array([record.would_resign for record in records], np.int32),
    )


def outcomes_in(games: NDArray[Any]) -> Outcomes:
    """How the games of columns went."""
    return Outcomes(games["returns"], games["length"], games["ending"], _checked_players(games))


def columns_to_table(game: Game, columns: GameColumns) -> Any:
    """The games as an Arrow table, as `records.to_table` makes it of records."""
    games, moves = columns.games, columns.moves
    offsets = pa.array(np.concatenate([[0], games["length"].cumsum()]).astype(np.int32))
    policies = np.zeros((len(moves), game.num_actions), np.float32)
    policies[moves["is_target"]] = columns.policies

    def rows(array: NDArray[Any], width: int) -> Any:
        flat = pa.array(np.ascontiguousarray(array).reshape(-1))
        return pa.FixedSizeListArray.from_arrays(flat, width)

    def lists(inner: Any) -> Any:
        return pa.ListArray.from_arrays(offsets, inner)

    arrays = {
        "moves": lists(pa.array(np.ascontiguousarray(moves["action"]))),
        "policies": lists(rows(policies, game.num_actions)),
        "values": lists(rows(moves["values"], game.num_players)),
        "is_target": lists(pa.array(np.ascontiguousarray(moves["is_target"]))),
        "returns": rows(games["returns"], game.num_players),
        "ending": pa.array(np.array(ENDINGS)[games["ending"]], pa.string()),
        "would_resign": pa.array(_checked_players(games)),
    }
    schema = schema_of(game)
    for name in schema.names:
        if name not in arrays:
            arrays[name] = pa.array(np.ascontiguousarray(games[name]))
    return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)


def _checked_players(games: NDArray[Any]) -> NDArray[np.int32]:
    return np.where(games["is_checked"], games["would_resign"], NOBODY).astype(np.int32)
