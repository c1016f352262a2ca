"""Room for the actions that a rule writes, with a guard behind it that detects writes there."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_GUARD = 64
_UNTOUCHED = -(2**31)


def guarded_actions(room: int) -> NDArray[np.int32]:
    """An array for a rule to write at most `room` actions or outcomes to; it is longer."""
    return np.full(room + _GUARD, _UNTOUCHED, np.int32)


def exceeds_room(actions: NDArray[Any], count: int, room: int) -> bool:
    """Whether a rule wrote behind its room in `guarded_actions`, or counted more than fit."""
    return bool((actions[room:] != _UNTOUCHED).any()) or not 0 <= count <= room
