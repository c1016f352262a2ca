"""Bad input: one sentence on stderr and exit code 2, never a traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

BAD_INPUT = 2
INTERRUPTED = 130  # what a shell gives for Ctrl-C

_EXTRAS = {
    "torch": "learn",
    "safetensors": "learn",
    "pyarrow": "learn",
    "matplotlib": "plots",
    "fastapi": "serve",
    "pydantic": "serve",
    "uvicorn": "serve",
    "websockets": "serve",
    "onnx": "onnx",
    "onnxruntime": "onnx",
}


class BadInput(Exception):
    """What was asked for cannot be done; the message says why and what to do instead."""


@contextmanager
def refusing(game_name: str = "") -> Iterator[None]:
    """Turns errors that input can cause into a `BadInput`; an error of our own goes through.

    Args:
        game_name: as it was typed. In a file of the user's own, every error is the user's to see.
    """
    try:
        yield
    except BadInput:
        raise
    except Exception as error:
        if sentence := _sentence(error, game_name):
            raise BadInput(sentence) from error
        raise


def _sentence(error: Exception, game_name: str) -> str:
    """What to tell the user; nothing where the fault is ours."""
    from plainzero.compiler.bind_rules import RuleError
    from plainzero.search.runner import RuleFault

    if isinstance(error, RuleError | RuleFault):
        return str(error)
    if sentence := missing_package(error):
        return sentence
    is_own_game = ":" in game_name
    if _is_from_compiler(error):
        return f"the rules of {game_name} do not compile; {_advice(game_name)}" * is_own_game
    if isinstance(error, ValueError):  # UnknownGame, IllegalMove, EvaluatorError, SearchConfig's
        return str(error)
    kind = type(error).__name__
    return f"{game_name} raises {kind}: {error}; {_advice(game_name)}" * is_own_game


def missing_package(error: Exception) -> str:
    """What to install, where a package of an extra is missing; nothing for other errors."""
    package = str(getattr(error, "name", "")).partition(".")[0]
    extra = _EXTRAS.get(package) if isinstance(error, ModuleNotFoundError) else None
    return f"this needs the package {package}: pip install 'plainzero[{extra}]'" if extra else ""


def _is_from_compiler(error: Exception) -> bool:
    errors = sys.modules.get("numba.core.errors")
    return errors is not None and isinstance(error, errors.NumbaError)


def _advice(game_name: str) -> str:
    return f"run `plainzero check {game_name}` to see which line, and what to write instead"
