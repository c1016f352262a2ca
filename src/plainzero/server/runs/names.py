"""The names of runs: which are allowed, and which are free."""

import re
from collections.abc import Callable
from pathlib import Path

from plainzero.server.api.schemas.base import RUN_LETTERS, RUN_NAME

_MOST_LETTERS = 90  # of a name that may get a number
_LEFT_BEHIND = (".lock", "train.log")  # by a process that ended before it had written anything


def check_name(name: str) -> None:
    """Refuses what a new run cannot be called.

    Raises:
        ValueError: says what it can be called.
    """
    if not re.fullmatch(RUN_NAME, name) or name.startswith((".", "-")):
        raise ValueError(
            f"{name!r} cannot be a run's name; take letters, digits and ( ) . , = + - _, not "
            "beginning with . or -"
        )


def allowed_name(name: str) -> str:
    """The name with what may not be in a run's name replaced."""
    return re.sub(f"[^{RUN_LETTERS}]", "-", name)[:_MOST_LETTERS].lstrip(".-") or "run"


def free_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """The name, with a number where it is taken."""
    free, number = name, 2
    while is_taken(free):
        free, number = f"{name}-{number}", number + 1
    return free


def is_used(folder: Path) -> bool:
    """Whether there is something at that place that a new run must not touch.

    Raises:
        ValueError: when there can be no such place.
    """
    try:
        if not folder.is_dir():
            return folder.exists()
        return any(path.is_file() and path.name not in _LEFT_BEHIND for path in folder.rglob("*"))
    except OSError as error:
        raise ValueError(f"{folder.name!r} cannot be a run's name: {error.strerror}") from error
