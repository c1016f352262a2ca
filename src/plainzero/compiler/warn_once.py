"""Warnings about what makes compiling slow; each is given once per process."""

import warnings
from typing import Any

import numba

_config: Any = numba.config  # typed as Any: its settings are made at run time


def check_cache_folder(dispatcher: Any) -> None:
    """Warns if the folder that the user named cannot be used; Numba silently uses another."""
    if _config.CACHE_DIR and not _config.DISABLE_JIT:
        used = str(dispatcher.stats.cache_path)
        if not used.startswith(str(_config.CACHE_DIR)):
            warn_of_cache(f"{_config.CACHE_DIR} cannot be written, {used} is used")


def warn_of_cache(reason: str) -> None:
    """Warns that compiled code is not stored on disk."""
    _warn_once(
        "compiled code is not stored where it should be, so starting may take longer",
        f"{reason}. Point NUMBA_CACHE_DIR at a folder you can write to.",
    )


def warn_of_numba(error: Exception) -> None:
    """Warns that this version of Numba has no place for our own compiler passes."""
    _warn_once(
        "compiling takes about three times as long as it could",
        f"Numba {numba.__version__} does not work with plainzero.compiler.inner_functions "
        f"({type(error).__name__}: {str(error).partition(chr(10))[0]}).",
    )


_given: set[str] = set()


def _warn_once(what: str, why: str) -> None:
    if what not in _given:
        _given.add(what)
        warnings.warn(f"{what}: {why}", RuntimeWarning, stacklevel=5)
