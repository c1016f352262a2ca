"""A finished game, and tables of them for Parquet."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.selfplay.games_in_progress import ENDINGS, NOBODY, Games


class GameRecord(NamedTuple):
    """One finished game. T moves, chance's and random ones included; A actions, P players."""

    moves: NDArray[np.int32]  # [T]
    policies: NDArray[np.float32]  # [T, A] the search's targets, untempered; 0 for other moves
    values: NDArray[np.float32]  # [T, P] the root's, per seat; 0 where nothing was searched
    is_target: NDArray[np.bool_]  # [T] whether there is something to learn from the move
    returns: NDArray[np.float32]  # [P] the outcome
    opening: int  # how many of the moves were a random opening
    ending: str  # rules, proof or resignation
    would_resign: int  # the player who had given up if resigning were not being checked, or -1
    first_step: int  # the weights that played the first move
    last_step: int  # and the last
    simulations: int  # all moves together


def take_record(games: Games, row: int, step: int) -> GameRecord:
    """The finished game in that row, copied."""
    seat = games.seats[row]
    length = int(seat.length)
    moves, policies = games.moves[row, :length], games.policies[row, :length]
    is_target = moves["is_target"].copy()
    return GameRecord(
        moves=moves["action"].copy(),
        policies=np.where(is_target[:, None], policies, np.float32(0)),
        values=moves["values"].copy(),
        is_target=is_target,
        returns=seat.returns.copy(),
        opening=int(seat.opening),
        ending=ENDINGS[int(seat.ending)],
        would_resign=int(seat.would_resign) if seat.is_checked else NOBODY,
        first_step=int(seat.first_step),
        last_step=step,
        simulations=int(seat.simulations),
    )


def schema_of(game: Game) -> Any:
    """The columns of a table of games: one row a game."""
    policy = pa.list_(pa.float32(), game.num_actions)
    values = pa.list_(pa.float32(), game.num_players)
    return pa.schema(
        [
            ("moves", pa.list_(pa.int32())),
            ("policies", pa.list_(policy)),
            ("values", pa.list_(values)),
            ("is_target", pa.list_(pa.bool_())),
            ("returns", values),
            ("opening", pa.int32()),
            ("ending", pa.string()),
            ("would_resign", pa.int32()),
            ("first_step", pa.int64()),
            ("last_step", pa.int64()),
            ("simulations", pa.int64()),
        ]
    )


def to_table(game: Game, records: Sequence[GameRecord]) -> Any:
    """The records as an Arrow table."""
    schema = schema_of(game)
    offsets = np.cumsum([0, *(len(record.moves) for record in records)]).astype(np.int32)

    def lists(arrays: list[NDArray[Any]], width: int = 0) -> Any:
        flat = pa.array(np.concatenate([array.reshape(-1) for array in arrays]))
        inner = pa.FixedSizeListArray.from_arrays(flat, width) if width else flat
        return pa.ListArray.from_arrays(pa.array(offsets), inner)

    def numbers(name: str) -> Any:
        return pa.array([getattr(record, name) for record in records], schema.field(name).type)

    returns = pa.array(np.concatenate([record.returns for record in records]))
    columns = {
        "moves": lists([record.moves for record in records]),
        "policies": lists([record.policies for record in records], game.num_actions),
        "values": lists([record.values for record in records], game.num_players),
        "is_target": lists([record.is_target for record in records]),
        "returns": pa.FixedSizeListArray.from_arrays(returns, game.num_players),
    }
    arrays = [columns[name] if name in columns else numbers(name) for name in schema.names]
    return pa.Table.from_arrays(arrays, schema=schema)


def from_table(game: Game, table: Any) -> list[GameRecord]:
    """The records of a table, in order.

    Raises:
        ValueError: when its columns are not those of this game's records.
    """
    if not table.schema.equals(schema_of(game)):
        raise ValueError(f"the table holds no games of {game.name}")
    if not table.num_rows:
        return []
    table = table.combine_chunks()
    columns = {name: table.column(name).combine_chunks() for name in table.schema.names}
    offsets = columns["moves"].offsets.to_numpy()
    flat = {name: columns[name].flatten() for name in ("moves", "policies", "values", "is_target")}
    moves = flat["moves"].to_numpy()
    policies = flat["policies"].flatten().to_numpy().reshape(-1, game.num_actions)
    values = flat["values"].flatten().to_numpy().reshape(-1, game.num_players)
    is_target = flat["is_target"].to_numpy(zero_copy_only=False)
    returns = columns["returns"].flatten().to_numpy().reshape(-1, game.num_players)
    plain = {name: columns[name].to_pylist() for name in GameRecord._fields[5:]}
    records = []
    for row in range(table.num_rows):
        span = slice(offsets[row] - offsets[0], offsets[row + 1] - offsets[0])
        records.append(
            GameRecord(
                moves=moves[span],
                policies=policies[span],
                values=values[span],
                is_target=is_target[span],
                returns=returns[row],
                **{name: column[row] for name, column in plain.items()},
            )
        )
    return records
