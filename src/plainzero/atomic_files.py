"""Files that appear whole or not at all: written under another name, then renamed.

Also where such files are cached.
"""

import os
import secrets
from pathlib import Path

from plainzero.operating_system import flush_folder


def write_whole(path: Path, contents: bytes | memoryview) -> None:
    """Writes a file atomically: after a crash or a power cut, it is the old one or the new one.

    Raises:
        OSError: when the file cannot be written; an existing file is left as it was.
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
    flush_folder(path.parent)


def remove_partial_files(folder: Path) -> None:
    """Deletes the half-written files of a killed process; no other process may be writing there."""
    for path in folder.glob(".*.partial"):
        path.unlink(missing_ok=True)


def cache_folder() -> Path:
    """The folder of files that may be deleted at any time; it need not exist.

    Raises:
        FileNotFoundError: if the user has no home folder.
    """
    try:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError as error:
        raise FileNotFoundError(f"no home folder: {error}") from error
    return Path(cache) / "plainzero"
