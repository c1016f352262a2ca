"""Finished games: one by one as records, many at once as columns, and in tables for Parquet.

The fields of `GameRecord` declare what is known about a finished game. Columns and tables follow
from them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.selfplay.games_in_progress import ENDINGS, NOBODY, Games
from plainzero.targets.target import SEARCHED, UNSEARCHED


class Column(NamedTuple):
    """How a field of many games is stored."""

    dtype: type[np.generic]
    is_per_move: bool = False  # one entry for each move, not for each game
    width: str = ""  # the attribute of the game that is an entry's length; "" for a single value
    is_optional: bool = False  # missing in tables where it would be 0 throughout


class GameRecord(NamedTuple):
    """One finished game. T moves, chance and the opening included; A actions, P players.

    Policies are the search's targets before temperature, and 0 for moves that are not targets.
    """

    moves: Annotated[NDArray[np.int32], Column(np.int32, is_per_move=True)]  # [T]
    policies: Annotated[NDArray[np.float32], Column(np.float32, True, "num_actions")]  # [T, A]
    values: Annotated[NDArray[np.float32], Column(np.float32, True, "num_players")]
    """[T, P] of the root, by seat; 0 for moves that were not searched."""
    is_target: Annotated[NDArray[np.bool_], Column(np.bool_, is_per_move=True)]
    """[T] whether the position before the move is learned from."""
    returns: Annotated[NDArray[np.float32], Column(np.float32, width="num_players")]  # [P]
    opening: Annotated[int, Column(np.int32)]  # moves of the random opening
    ending: Annotated[str, Column(np.str_)]  # rules, proof or resignation
    would_resign: Annotated[int, Column(np.int32)]
    """The player who would have resigned if that were not being checked, or -1."""
    first_step: Annotated[int, Column(np.int64)]  # of the weights that played the first move
    last_step: Annotated[int, Column(np.int64)]  # and the last
    simulations: Annotated[int, Column(np.int64)]  # of all moves together
    search: Annotated[NDArray[np.int8], Column(np.int8, is_per_move=True, is_optional=True)]
    """[T] UNSEARCHED, SEARCHED or PROVEN; derived for tables of earlier versions."""
    surprise: Annotated[NDArray[np.float32], Column(np.float32, True, is_optional=True)]
    """[T] KL of the search's policy from the prior; 0 unless the run learns by it."""


COLUMNS: Mapping[str, Column] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(GameRecord, include_extras=True).items()
}
"""By the fields of `GameRecord`, in their order."""
_ENDINGS = np.array(ENDINGS)


class GameColumns(NamedTuple):
    """G finished games, field by field. M moves, all of one game before those of the next."""

    lengths: NDArray[np.int64]  # [G] moves of each game
    per_game: Mapping[str, NDArray[Any]]  # [G, …]
    per_move: Mapping[str, NDArray[Any]]  # [M, …]

    def of(self, name: str) -> NDArray[Any]:
        """The column of a field."""
        return (self.per_move if COLUMNS[name].is_per_move else self.per_game)[name]


def take_records(games: Games, rows: NDArray[np.int64]) -> list[GameRecord]:
    """Copies of the finished games in these rows."""
    status = games.status[rows]
    spans = [(row, slice(length)) for row, length in zip(rows, status["length"], strict=True)]
    moves = np.concatenate([games.moves[span] for span in spans])
    policies = np.concatenate([games.policies[span] for span in spans])
    policies[~moves["is_target"]] = 0.0
    return split(columns_of(status, moves, policies))


def expand_policies(moves: NDArray[Any], targets: NDArray[np.float32]) -> NDArray[np.float32]:
    """[M, A] the policies of moves [M], from those of the moves that are targets [N, A]."""
    policies = np.zeros((len(moves), *targets.shape[1:]), np.float32)
    policies[moves["is_target"]] = targets
    return policies


def columns_of(
    status: NDArray[Any], moves: NDArray[Any], policies: NDArray[np.float32]
) -> GameColumns:
    """The columns of finished games.

    Args:
        status: [G] see `status_dtype`.
        moves: [M] see `move_dtype`.
        policies: [M, A].
    """
    per_move = {
        "moves": moves["action"],
        "policies": policies,
        "values": moves["values"],
        **{name: moves[name] for name in ("is_target", "search", "surprise")},
    }
    return GameColumns(status["length"], columns_per_game(status), per_move)


def columns_per_game(status: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The columns with one entry per game, of finished games [G]."""
    columns = {name: status[name] for name, column in COLUMNS.items() if not column.is_per_move}
    columns["ending"] = _ENDINGS[status["ending"]]
    columns["would_resign"] = np.where(status["is_checked"], status["would_resign"], NOBODY)
    return columns


def join(records: Sequence[GameRecord]) -> GameColumns:
    """The columns of records, of at least one."""
    found: dict[bool, dict[str, NDArray[Any]]] = {False: {}, True: {}}
    for name, column in COLUMNS.items():
        values = [getattr(record, name) for record in records]
        joined = np.concatenate(values) if column.is_per_move else np.array(values, column.dtype)
        found[column.is_per_move][name] = joined
    lengths = np.array([len(record.moves) for record in records])
    return GameColumns(lengths, found[False], found[True])


def split(columns: GameColumns) -> list[GameRecord]:
    """The records of columns, in order; their arrays are views."""
    ends = [0, *columns.lengths.cumsum().tolist()]
    spans = [slice(*ends[i : i + 2]) for i in range(len(columns.lengths))]
    fields: list[Any] = []
    for name, column in COLUMNS.items():
        values = columns.of(name)
        if column.is_per_move:
            fields.append([values[span] for span in spans])
        else:
            fields.append(values if column.width else values.tolist())
    return [GameRecord(*record) for record in zip(*fields, strict=True)]


def schema_of(game: Game, missing: Collection[str] = ()) -> Any:
    """The schema of a table with one row per game, without the columns that are missing."""

    def type_of(column: Column) -> Any:
        kind = pa.from_numpy_dtype(column.dtype)
        kind = pa.list_(kind, getattr(game, column.width)) if column.width else kind
        return pa.list_(kind) if column.is_per_move else kind

    types = {name: type_of(column) for name, column in COLUMNS.items() if name not in missing}
    return pa.schema(list(types.items()))


def to_table(game: Game, columns: GameColumns) -> Any:
    """The games as an Arrow table."""
    offsets = pa.array(np.concatenate([[0], columns.lengths.cumsum()]).astype(np.int32))
    arrays, missing = [], []
    for name, column in COLUMNS.items():
        if column.is_optional and not columns.of(name).any():
            missing.append(name)
            continue
        flat = np.ascontiguousarray(columns.of(name)).reshape(-1)
        array = pa.array(flat, pa.from_numpy_dtype(column.dtype))
        if column.width:
            array = pa.FixedSizeListArray.from_arrays(array, getattr(game, column.width))
        arrays.append(pa.ListArray.from_arrays(offsets, array) if column.is_per_move else array)
    return pa.Table.from_arrays(arrays, schema=schema_of(game, missing))


def from_table(game: Game, table: Any) -> list[GameRecord]:
    """The games of a table, in order.

    Raises:
        ValueError: if its columns are not those of this game's records.
    """
    missing = [n for n, c in COLUMNS.items() if c.is_optional and n not in table.schema.names]
    if not table.schema.equals(schema_of(game, missing)):
        raise ValueError(f"the table holds no games of {game.name}")
    if not table.num_rows:
        return []
    lengths = np.diff(table.column("moves").combine_chunks().offsets.to_numpy())
    found: dict[bool, dict[str, NDArray[Any]]] = {False: {}, True: {}}
    for name, column in COLUMNS.items():
        if name in missing:
            continue
        array = table.column(name).combine_chunks()
        array = array.flatten() if column.is_per_move else array
        array = array.flatten() if column.width else array
        values = array.to_numpy(zero_copy_only=False)
        if column.width:
            values = values.reshape(-1, getattr(game, column.width))
        found[column.is_per_move][name] = values
    found[True] |= _missing_columns(found[True], missing)
    return split(GameColumns(lengths, found[False], found[True]))


def _missing_columns(
    known: Mapping[str, NDArray[Any]], missing: Collection[str]
) -> dict[str, NDArray[Any]]:
    """The optional columns of moves that a table does not have."""
    was_searched = known["is_target"] | known["values"].any(1)
    derived = {"search": np.where(was_searched, SEARCHED, UNSEARCHED)}
    nothing = np.zeros(len(was_searched))
    return {name: derived.get(name, nothing).astype(COLUMNS[name].dtype) for name in missing}
