"""Turns game records into positions to learn from, and positions into observations."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games.contract import Game
from plainzero.games.rules import mark_legal, observe, register
from plainzero.selfplay.games_in_progress import move_dtype
from plainzero.selfplay.records import COLUMNS, GameRecord
from plainzero.targets.all_targets import Rows, decays_of, replay_game, row_shapes, wanted_columns
from plainzero.targets.target import USUAL_CHOICE, Choice, Finished

_FIELDS = {"action": "moves"}
"""Fields of records by those of `move_dtype`, where the names differ."""


class Positions(NamedTuple):
    """N positions to learn from: arrays on the host, or tensors on any device."""

    states: Any  # [N] the game's records; as a tensor [N, itemsize] uint8, their bytes
    targets: Mapping[str, Any]  # [N, …] the columns by name; see targets/


def targets_of(
    game: Game, records: Sequence[GameRecord], choice: Choice = USUAL_CHOICE
) -> Positions:
    """The positions of the records that are targets, in order."""
    lengths = np.array([len(record.moves) for record in records], np.int64)
    moves = np.zeros(lengths.sum(), move_dtype(game))
    width = (game.num_players,)
    for name in moves.dtype.names:
        field = _FIELDS.get(name, name)
        shape = width if name == "values" else ()
        parts = [getattr(record, field) for record in records]
        moves[name] = _joined(parts, shape, COLUMNS[field].dtype)
    policies = _joined([record.policies for record in records], (game.num_actions,), np.float32)
    returns = _joined([record.returns[None] for record in records], width, np.float32)
    count, board = int(moves["is_target"].sum()), np.zeros(2, game.dtype)
    board[1] = game.new_state()
    shapes = row_shapes(game, choice, count).items()
    columns = {name: np.zeros(shape, np.float32) for name, shape in shapes}
    states = np.zeros(count, game.dtype)
    given = {"states": states, "decays": decays_of(choice), **columns}
    finished, rows = Finished(moves, policies, returns), Rows(**given)
    replay_games(register(game), finished, lengths, board, rows)
    return Positions(states, {c.name: columns[c.name] for c in wanted_columns(choice)})


def observe_all(game: Game, states: NDArray[Any]) -> NDArray[np.float32]:
    """[N, *shape] the observation of each position."""
    planes = np.zeros((len(states), *game.observation_shape), np.float32)
    observe_states(register(game), states, planes)
    return planes


def legal_of_all(game: Game, states: NDArray[Any]) -> NDArray[np.bool_]:
    """[N, A] which actions are legal in each position."""
    legal = np.zeros((len(states), game.num_actions), np.bool_)
    mark_legal_actions(register(game), states, np.zeros(game.num_actions, np.int32), legal)
    return legal


def _joined(parts: list[NDArray[Any]], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """[N, *shape] the parts, of which there may be none, one after the other."""
    return np.concatenate([np.zeros((0, *shape), dtype), *parts])


@Kernel
def replay_games(
    finished: Finished, lengths: NDArray[np.int64], board: NDArray[Any], rows: Rows
) -> None:
    """Plays games of these lengths, one after the other, from board[1] on; writes all rows.

    Their moves and policies are joined; `returns` is [G, P].
    """
    first = row = 0
    for game in range(lengths.shape[0]):
        board[0] = board[1]
        end = first + lengths[game]
        moves, policies = finished.moves[first:end], finished.policies[first:end]
        one = Finished(moves, policies, finished.returns[game])
        row = replay_game(one, lengths[game], board[0], rows, row)
        first = end


@Kernel
def observe_states(states: NDArray[Any], planes: NDArray[np.float32]) -> None:
    """Writes the observation of states[i] to planes[i], which must be zero."""
    for index in range(states.shape[0]):
        observe(states[index], planes[index])


@Kernel
def mark_legal_actions(
    states: NDArray[Any], actions: NDArray[np.int32], legal: NDArray[np.bool_]
) -> None:
    """Marks the legal actions of states[i] in legal[i], which must be False; [A] for a list."""
    for index in range(states.shape[0]):
        mark_legal(states[index], actions, legal[index])
