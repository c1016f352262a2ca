"""From game records back to positions: moves replayed, and observed, in compiled code."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tesuji.compiling import Kernel
from tesuji.games.contract import Game
from tesuji.games.rules import observe, play, register
from tesuji.selfplay.records import GameRecord


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
    count = sum(int(record.is_target.sum()) for record in records)
    states = np.zeros(count, game.dtype)
    board = np.zeros(2, game.dtype)
    board[1] = game.new_state()
    tag, row = register(game), 0
    for record in records:
        row = replay(tag, board, record.moves, record.is_target, states, row)
    is_target = [record.is_target for record in records]
    outcomes = [
        np.broadcast_to(record.returns, (int(chosen.sum()), game.num_players))
        for record, chosen in zip(records, is_target, strict=True)
    ]
    values = [record.values[chosen] for record, chosen in zip(records, is_target, strict=True)]
    policies = [r.policies[chosen] for r, chosen in zip(records, is_target, strict=True)]
    if not count:
        return Positions(
            states,
            np.zeros((0, game.num_actions), np.float32),
            np.zeros((0, game.num_players), np.float32),
            np.zeros((0, game.num_players), np.float32),
        )
    movers = states["to_play"].astype(np.int64)
    return Positions(
        states=states,
        policies=np.concatenate(policies),
        outcomes=_from_mover(np.concatenate(outcomes), movers),
        values=_from_mover(np.concatenate(values), movers),
    )


def observe_all(game: Game, states: NDArray[Any]) -> NDArray[np.float32]:
    """[N, *shape] what a network sees of each position."""
    planes = np.zeros((len(states), *game.observation_shape), np.float32)
    observe_states(register(game), states, planes)
    return planes


def _from_mover(by_seat: NDArray[np.float32], movers: NDArray[np.int64]) -> NDArray[np.float32]:
    players = by_seat.shape[1]
    order = (movers[:, None] + np.arange(players)) % players
    return np.ascontiguousarray(np.take_along_axis(by_seat, order, axis=1))


@Kernel
def replay(board: Any, moves: Any, is_target: Any, states: Any, row: Any) -> Any:
    """Plays the moves from board[1] on; positions before targets go to states[row] and on."""
    board[0] = board[1]
    for turn in range(moves.shape[0]):
        if is_target[turn]:
            states[row] = board[0]
            row += 1
        play(board[0], moves[turn])
    return row


@Kernel
def observe_states(states: Any, planes: Any) -> None:
    """Writes what a network sees of states[i] to the zeroed planes[i]."""
    for index in range(states.shape[0]):
        observe(states[index], planes[index])
