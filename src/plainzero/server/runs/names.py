"""Names of runs: valid names, and unused ones."""

import re
from collections.abc import Callable
from pathlib import Path

from plainzero.server.api.schemas.base import RUN_LETTERS, RUN_NAME

_MAX_LETTERS = 90  # before a number is appended
_LEFTOVERS = (".lock", "train.log")  # of a process that exited before it wrote anything else


def check_name(name: str) -> None:
    """Refuses invalid names.

    Raises:
        ValueError: says which names are valid.
    """
    if not re.fullmatch(RUN_NAME, name) or name.startswith((".", "-")):
        raise ValueError(
            f"invalid run name {name!r}: use letters, digits and ( ) . , = + - _, and do not start "
            "with . or -"
        )


def allowed_name(name: str) -> str:
    """The name with invalid characters replaced."""
    return re.sub(f"[^{RUN_LETTERS}]", "-", name)[:_MAX_LETTERS].lstrip(".-") or "run"


def free_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """The name, with a number appended if it is taken."""
    free, number = name, 2
    while is_taken(free):
        free, number = f"{name}-{number}", number + 1
    return free


def is_used(folder: Path) -> bool:
    """Whether the path holds something that a new run must not overwrite.

    Raises:
        ValueError: if the path is impossible.
    """
    try:
        if not folder.is_dir():
            return folder.exists()
        return any(path.is_file() and path.name not in _LEFTOVERS for path in folder.rglob("*"))
    except OSError as error:
        raise ValueError(f"invalid run name {folder.name!r}: {error.strerror}") from error
