"""Turns game records into positions to learn from, and positions into observations."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games.contract import Game
from plainzero.games.rules import observe, play, register
from plainzero.selfplay.records import GameRecord


class Positions(NamedTuple):
    """Positions to learn from. N positions, A actions, P players.

    Outcomes and values start with the mover's: column k is the k-th player after the mover.
    """

    states: NDArray[Any]  # [N] the game's records
    policies: NDArray[np.float32]  # [N, A] targets
    outcomes: NDArray[np.float32]  # [N, P] of the game
    values: NDArray[np.float32]  # [N, P] of the search at that position


class PositionTensors(NamedTuple):
    """The same as tensors, on any device."""

    states: Any  # [N, itemsize] uint8, the bytes of the game's records
    policies: Any  # [N, A] targets
    outcomes: Any  # [N, P] of the game
    values: Any  # [N, P] of the search at that position


def targets_of(game: Game, records: Sequence[GameRecord]) -> Positions:
    """The positions of the records that are targets, in order."""
    lengths = np.array([len(record.moves) for record in records], np.int64)
    is_target = _joined([record.is_target for record in records], (), np.bool_)
    moves = _joined([record.moves for record in records], (), np.int32)
    states, board = np.zeros(np.count_nonzero(is_target), game.dtype), np.zeros(2, game.dtype)
    board[1] = game.new_state()
    replay_games(register(game), board, moves, is_target, lengths, states)
    movers, width = states["to_play"].astype(np.int64), (game.num_players,)
    returns = _joined([record.returns[None] for record in records], width, np.float32)
    outcomes = np.repeat(returns, lengths, axis=0)[is_target]
    values = _joined([record.values for record in records], width, np.float32)[is_target]
    policies = _joined([record.policies for record in records], (game.num_actions,), np.float32)
    return Positions(
        states=states,
        policies=policies[is_target],
        outcomes=_from_mover(outcomes, movers),
        values=_from_mover(values, movers),
    )


def observe_all(game: Game, states: NDArray[Any]) -> NDArray[np.float32]:
    """[N, *shape] the observation of each position."""
    planes = np.zeros((len(states), *game.observation_shape), np.float32)
    observe_states(register(game), states, planes)
    return planes


def _joined(parts: list[NDArray[Any]], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """[N, *shape] the parts, of which there may be none, one after the other."""
    return np.concatenate([np.zeros((0, *shape), dtype), *parts])


def _from_mover(by_seat: NDArray[np.float32], movers: NDArray[np.int64]) -> NDArray[np.float32]:
    players = by_seat.shape[1]
    order = (movers[:, None] + np.arange(players)) % players
    return np.ascontiguousarray(np.take_along_axis(by_seat, order, axis=1))


@Kernel
def replay_games(
    board: NDArray[Any],
    moves: NDArray[np.int32],
    is_target: NDArray[np.bool_],
    lengths: NDArray[np.int64],
    states: NDArray[Any],
) -> None:
    """Plays games of these lengths from board[1] on; writes the targets' positions to `states`."""
    turn = row = 0
    for game in range(lengths.shape[0]):
        board[0] = board[1]
        for _ in range(lengths[game]):
            if is_target[turn]:
                states[row] = board[0]
                row += 1
            play(board[0], moves[turn])
            turn += 1


@Kernel
def observe_states(states: NDArray[Any], planes: NDArray[np.float32]) -> None:
    """Writes the observation of states[i] to planes[i], which must be zero."""
    for index in range(states.shape[0]):
        observe(states[index], planes[index])
