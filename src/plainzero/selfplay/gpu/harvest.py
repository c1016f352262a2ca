"""Takes finished games out of their rows on a GPU, packed side by side; new games start there."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.compiler.record_types import Record
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import Tree
from plainzero.selfplay.games_in_progress import IN_PROGRESS, Games
from plainzero.selfplay.turn_kernels import start_game
from plainzero.targets.all_targets import Rows, replay_game
from plainzero.targets.target import Finished

# Rows of the counts: what each game adds to a harvest. The first three are limited by the room in
# a store; the last counts the finished games that did not fit.
GAMES, MOVES, TARGETS, SIMULATIONS, SEARCHES, FAULTS, WAITING = range(7)
NUM_COUNTS = 7


class Harvest(NamedTuple):
    """Finished games, in the order of their rows. G games, M moves, N targets."""

    games: Any  # [G] see status_dtype
    moves: Any  # [M] see move_dtype; all of one game before those of the next
    rows: Rows  # [N] the positions before moves that are targets, in the same order


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
    length = games.status[b].length
    first, row = ends[MOVES, b] - length, ends[TARGETS, b]
    for turn in range(length):
        harvest.moves[first + turn] = games.moves[b, turn]
        row -= games.moves[b, turn].is_target
    games.states[b] = games.states[games.states.shape[0] - 1]
    finished = Finished(games.moves[b], games.policies[b], games.status[b].returns)
    replay_game(finished, length, games.states[b], harvest.rows, row)
