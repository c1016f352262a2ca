"""The state of a game: a record of fixed-size fields in one block of memory."""

import keyword
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from plainzero.compiler.record_types import Record

# Those that every state has, and names that NumPy and Numba use themselves.
_RESERVED = ("returns", "turn", "to_play", "is_over", "dtype", "view")


class Field(NamedTuple):
    """One field of the state record: its element type and its shape, () for a scalar."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def field(dtype: DTypeLike, shape: int | Sequence[int] = ()) -> Field:
    """Declares a field of a game's state: `field(np.int8, (3, 3))`, or `field(np.int16)`."""
    declared = Field(np.dtype(dtype), (shape,) if isinstance(shape, int) else tuple(shape))
    if declared.dtype == np.bool_ and declared.shape:
        raise TypeError("an array of np.bool_ cannot be compiled: use np.int8, with 0 and 1")
    return declared


class State(Record):  # type: ignore[misc]
    """A position: a reference into an array of records; its fields are attributes."""


def state_dtype(game: str, fields: dict[str, Field], num_players: int, tag: str) -> np.dtype[Any]:
    """The type of the game's state record: its own fields, and those that every state has.

    The last field only carries the tag: compiled code is chosen by type, so games with equal fields
    and different rules must have different types.
    """
    for name in fields:
        if name in _RESERVED or keyword.iskeyword(name) or not name.isidentifier():
            raise TypeError(f"{game}: a field cannot be called {name!r}")
    record = [
        *((name, *field) for name, field in fields.items()),
        ("returns", np.float32, (num_players,)),
        ("turn", np.int32),
        ("to_play", np.int8),
        ("is_over", np.bool_),
        (tag, np.int8),
    ]
    return np.dtype((State, np.dtype(record, align=True)))
