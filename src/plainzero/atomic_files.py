"""Files that are whole or not there: written beside their place, then moved into it."""

import os
import secrets
from pathlib import Path


def write_whole(path: Path, contents: bytes | memoryview) -> None:
    """Writes a file in one step: a crash or a power cut leaves the old one, or the new one.

    Raises:
        OSError: when it cannot be written; what was there before is still there.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        with open(partial, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def remove_partial_files(folder: Path) -> None:
    """Deletes what a killed process left half written; nobody may be writing there."""
    for path in folder.glob(".*.partial"):
        path.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """Makes the new name outlive a power cut too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
