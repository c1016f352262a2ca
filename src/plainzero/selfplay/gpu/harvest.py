"""Finished games taken out of the rows in which they were played, side by side in one place.

For devices on which no game can be looked at alone: all that finished is written to columns, and
new games begin in their rows.
"""

from typing import Any, NamedTuple

import numpy as np

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import Game
from plainzero.games.rules import play
from plainzero.selfplay.games_in_progress import IN_PROGRESS
from plainzero.selfplay.turn_kernels import start_game

# Columns of the counts, and of their sums: what of a harvest there is. The first three need room;
# the last one counts, in a store, the ended games that found none.
GAMES, MOVES, TARGETS, SIMULATIONS, SEARCHES, FAULTS, WAITING = range(7)
NUM_COUNTS = 7


class Harvest(NamedTuple):
    """Finished games, in the order of their rows. G games, M moves, N targets, P players."""

    games: Any  # [G] see finished_dtype
    moves: Any  # [M] see games.move_dtype; one game's after the other's
    states: Any  # [N] the positions whose moves are targets, in the same order
    policies: Any  # [N, A] what was found there
    outcomes: Any  # [N, P] how the game ended, from the mover on
    values: Any  # [N, P] what the search thought, from the mover on


def finished_dtype(game: Game) -> np.dtype[Any]:
    """What there is once per finished game."""
    return record_dtype(
        simulations=np.int64,
        first_step=np.int64,
        last_step=np.int64,
        length=np.int32,
        opening=np.int32,
        ending=np.int32,
        would_resign=np.int32,
        is_checked=np.bool_,
        returns=(np.float32, game.num_players),
    )


@kernel_function
def count_game(scratch: Any, games: Any, b: Any, counts: Any) -> None:
    """Writes what game b adds to a harvest: nothing unless it has ended."""
    seat, is_ended = games.seats[b], games.seats[b].ending != IN_PROGRESS
    targets = 0
    if is_ended:
        for turn in range(seat.length):
            targets += games.moves[b, turn].is_target
    counts[GAMES, b] = is_ended
    counts[MOVES, b] = seat.length if is_ended else 0
    counts[TARGETS, b] = targets
    counts[SIMULATIONS, b] = seat.simulations if is_ended else 0
    counts[SEARCHES, b] = seat.searches if is_ended else 0
    counts[FAULTS, b] = scratch.work[b].faults
    counts[WAITING, b] = 0


@kernel_function
def take_game(
    tree: Any, scratch: Any, games: Any, plan: Any, b: Any, ends: Any, harvest: Any
) -> None:
    """Writes ended game b to the places before ends[:, b], and begins another one in its row."""
    seat = games.seats[b]
    record = harvest.games[ends[GAMES, b] - 1]
    record.simulations = seat.simulations
    record.first_step = seat.first_step
    record.last_step = plan.step
    record.length = seat.length
    record.opening = seat.opening
    record.ending = seat.ending
    record.would_resign = seat.would_resign
    record.is_checked = seat.is_checked
    for player in range(seat.returns.shape[0]):
        record.returns[player] = seat.returns[player]
    take_moves(games, b, ends, harvest)
    start_game(tree, scratch, games, plan, b)


@kernel_function
def take_moves(games: Any, b: Any, ends: Any, harvest: Any) -> None:
    """Writes the moves of game b, and the positions of its targets, by playing it once more."""
    state, length = games.states[b], games.seats[b].length
    first, row = ends[MOVES, b] - length, ends[TARGETS, b]
    for turn in range(length):
        row -= games.moves[b, turn].is_target
    games.states[b] = games.states[games.states.shape[0] - 1]
    for turn in range(length):
        harvest.moves[first + turn] = games.moves[b, turn]
        if games.moves[b, turn].is_target:
            take_target(games, b, turn, harvest, row)
            row += 1
        play(state, games.moves[b, turn].action)


@kernel_function
def take_target(games: Any, b: Any, turn: Any, harvest: Any, row: Any) -> None:
    """Writes the position of game b, which is before that turn, and what to learn from it."""
    harvest.states[row] = games.states[b]
    for action in range(harvest.policies.shape[1]):
        harvest.policies[row, action] = games.policies[b, turn, action]
    players, mover = harvest.values.shape[1], games.states[b].to_play
    for k in range(players):
        player = (mover + k) % players
        harvest.outcomes[row, k] = games.seats[b].returns[player]
        harvest.values[row, k] = games.moves[b, turn].values[player]
