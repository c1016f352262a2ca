"""A transposition table: results of searched positions, keyed by a hash of the state's fields.

Each state has two 64-bit hashes with different multipliers: the first selects the slot, the second
is stored and compared. Two different positions are confused only if both agree: one in 2^64 pairs
that share a slot. Padding and the field with the game's tag are masked out.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.compiler.record_types import Record, record_dtype
from plainzero.games.contract import Game
from plainzero.opponents.alpha_beta_stack import TreeWork

EXACT, AT_LEAST, AT_MOST = 1, 2, 3  # what a value says about the true one; 0: no entry
NO_ACTION = -1

ENTRY = record_dtype(
    check=np.uint64,
    value=np.float64,  # from the point of view of the side to move
    action=np.int32,  # the best known move
    remaining=np.int16,  # plies searched below
    bound=np.int8,
    is_complete=np.bool_,  # whether the depth cut nothing off below
)
_SHIFT = np.uint64(32)
_PLACE_MULTIPLIER = np.uint64(0x9FB21C651E98DF25)
_CHECK_MULTIPLIER = np.uint64(0xD6E8FEB86659FD93)


def make_table(table_bytes: int) -> NDArray[Any]:
    """An empty table of 2^k entries within `table_bytes`; without entries if those are too few."""
    entries = table_bytes // ENTRY.itemsize
    return np.zeros(1 << entries.bit_length() - 1 if entries else 0, ENTRY)


def word_view(states: NDArray[Any]) -> NDArray[Any]:
    """The same memory as 64-bit words, or 32-bit ones if the size requires it, [n, W]."""
    word = np.uint64 if states.dtype.itemsize % 8 == 0 else np.uint32
    plain = states.view(np.dtype((np.void, states.dtype.itemsize)))
    return np.frombuffer(plain, dtype=word).reshape(len(states), -1)


def word_masks(game: Game) -> NDArray[Any]:
    """Bit masks of the words of a state: ones in fields, zeros in padding and the tag, [W]."""
    state = np.zeros(game.dtype.itemsize, np.uint8)
    fields: Any = game.dtype.fields
    for name in (game.dtype.names or ())[:-1]:
        kind, offset = fields[name][:2]
        state[offset : offset + kind.itemsize] = 255
    return state.view(np.uint64 if len(state) % 8 == 0 else np.uint32).copy()


@kernel_function
def find_entry(work: TreeWork, frame: Record, ply: int, salt: np.uint64) -> None:
    """Stores the slot and the check of the position at `ply` in its frame."""
    place, check = salt, ~salt
    for index in range(work.masks.shape[0]):
        word = np.uint64(work.words[ply, index] & work.masks[index])
        place = (place ^ word) * _PLACE_MULTIPLIER
        place ^= place >> _SHIFT
        check = (check ^ word) * _CHECK_MULTIPLIER
        check ^= check >> _SHIFT
    frame.slot = np.int64(place & np.uint64(work.table.shape[0] - 1))
    frame.check = check


@kernel_function
def use_entry(entry: Record, frame: Record) -> bool:
    """Whether the entry decides the frame's window; if so, the frame gets its value.

    An entry of another depth counts only if nothing below it was cut off, so a search gives the
    same values with and without the table.
    """
    if entry.bound == 0 or entry.check != frame.check:
        return False
    frame.best_action = entry.action  # to be tried first
    if not entry.is_complete and entry.remaining != frame.remaining:
        return False
    if (
        entry.bound == EXACT
        or (entry.bound == AT_LEAST and entry.value >= frame.beta)
        or (entry.bound == AT_MOST and entry.value <= frame.alpha)
    ):
        frame.best, frame.is_complete = entry.value, entry.is_complete
        return True
    return False


@kernel_function
def store_entry(entry: Record, frame: Record) -> None:
    """Overwrites the entry with the frame's result."""
    entry.check, entry.value, entry.action = frame.check, frame.best, frame.best_action
    entry.remaining, entry.is_complete = frame.remaining, frame.is_complete
    if frame.best >= frame.beta and not frame.is_chance:
        entry.bound = AT_LEAST
    elif frame.best <= frame.floor and not frame.is_chance:
        entry.bound = AT_MOST
    else:
        entry.bound = EXACT
