"""From game records back to positions: moves replayed, and observed, in compiled code."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games.contract import Game
from plainzero.games.rules import observe, play, register
from plainzero.selfplay.records import GameRecord


class Positions(NamedTuple):
    """What there is to learn from games: N positions, A actions, P players.

    Values are from the mover on: column k is the k-th player after the mover.
    """

    states: NDArray[Any]  # [N] the game's own records
    policies: NDArray[np.float32]  # [N, A] targets
    outcomes: NDArray[np.float32]  # [N, P] how the game ended
    values: NDArray[np.float32]  # [N, P] what the search at that position thought


class DevicePositions(NamedTuple):
    """The same as tensors on a device."""

    states: Any  # [N, itemsize] uint8, the bytes of the game's own records
    policies: Any  # [N, A] targets
    outcomes: Any  # [N, P] how the game ended
    values: Any  # [N, P] what the search at that position thought


def targets_of(game: Game, records: Sequence[GameRecord]) -> Positions:
    """The positions of the records whose moves are targets, in order."""
    lengths = np.array([len(record.moves) for record in records], np.int64)
    is_target = _joined([record.is_target for record in records], (), np.bool_)
    moves = _joined([record.moves for record in records], (), np.int32)
    states, board = np.zeros(np.count_nonzero(is_target), game.dtype), np.zeros(2, game.dtype)
    board[1] = game.new_state()
    replay(register(game), board, moves, is_target, lengths, states)
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
    """[N, *shape] what a network sees of each position."""
    planes = np.zeros((len(states), *game.observation_shape), np.float32)
    observe_states(register(game), states, planes)
    return planes


def _joined(parts: list[NDArray[Any]], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """[N, *shape] one after the other; none of them too."""
    return np.concatenate([np.zeros((0, *shape), dtype), *parts])


def _from_mover(by_seat: NDArray[np.float32], movers: NDArray[np.int64]) -> NDArray[np.float32]:
    players = by_seat.shape[1]
    order = (movers[:, None] + np.arange(players)) % players
    return np.ascontiguousarray(np.take_along_axis(by_seat, order, axis=1))


@Kernel
def replay(board: Any, moves: Any, is_target: Any, lengths: Any, states: Any) -> None:
    """Plays games of these lengths, one after the other, from board[1] on.

    The positions before targets go to `states`, in order.
    """
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
def observe_states(states: Any, planes: Any) -> None:
    """Writes what a network sees of states[i] to the zeroed planes[i]."""
    for index in range(states.shape[0]):
        observe(states[index], planes[index])
