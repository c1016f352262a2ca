"""Takes finished games out of their rows on a GPU, packed side by side; new games start there."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.compiler.record_types import Record
from plainzero.games.rules import play
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import Tree
from plainzero.selfplay.games_in_progress import IN_PROGRESS, Games
from plainzero.selfplay.turn_kernels import start_game

# Rows of the counts: what each game adds to a harvest. The first three are limited by the room in
# a store; the last counts the finished games that did not fit.
GAMES, MOVES, TARGETS, SIMULATIONS, SEARCHES, FAULTS, WAITING = range(7)
NUM_COUNTS = 7


class Harvest(NamedTuple):
    """Finished games, in the order of their rows. G games, M moves, N targets, P players."""

    games: Any  # [G] see status_dtype
    moves: Any  # [M] see move_dtype; all of one game before those of the next
    states: Any  # [N] the positions before moves that are targets, in the same order
    policies: Any  # [N, A] the search's
    outcomes: Any  # [N, P] how the game ended, the mover's result first
    values: Any  # [N, P] of the search, the mover's first


@kernel_function
def count_game(scratch: Scratch, games: Games, b: int, counts: NDArray[np.int64]) -> None:
    """Counts what game b adds to a harvest: nothing unless it has ended."""
    status, is_ended = games.status[b], games.status[b].ending != IN_PROGRESS
    targets = 0
    if is_ended:
        for turn in range(status.length):
            targets += games.moves[b, turn].is_target
    counts[GAMES, b] = is_ended
    counts[MOVES, b] = status.length if is_ended else 0
    counts[TARGETS, b] = targets
    counts[SIMULATIONS, b] = status.simulations if is_ended else 0
    counts[SEARCHES, b] = status.searches if is_ended else 0
    counts[FAULTS, b] = scratch.work[b].faults
    counts[WAITING, b] = 0


@kernel_function
def take_game(
    tree: Tree,
    scratch: Scratch,
    games: Games,
    play_options: Record,
    b: int,
    ends: NDArray[np.int64],
    harvest: Harvest,
) -> None:
    """Writes game b, which has ended, up to the places ends[:, b]; starts a new one in its row."""
    harvest.games[ends[GAMES, b] - 1] = games.status[b]
    take_moves(games, b, ends, harvest)
    start_game(tree, scratch, games, play_options, b)


@kernel_function
def take_moves(games: Games, b: int, ends: NDArray[np.int64], harvest: Harvest) -> None:
    """Writes the moves of game b, and the positions of its targets, by playing it again."""
    state, length = games.states[b], games.status[b].length
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
def take_target(games: Games, b: int, turn: int, harvest: Harvest, row: int) -> None:
    """Writes the current position of game b, before that turn, and its targets."""
    harvest.states[row] = games.states[b]
    for action in range(harvest.policies.shape[1]):
        harvest.policies[row, action] = games.policies[b, turn, action]
    players, mover = harvest.values.shape[1], games.states[b].to_play
    for k in range(players):
        player = (mover + k) % players
        harvest.outcomes[row, k] = games.status[b].returns[player]
        harvest.values[row, k] = games.moves[b, turn].values[player]
