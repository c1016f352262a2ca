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
    "tomli_w": "learn",
    "matplotlib": "plots",
    "fastapi": "serve",
    "pydantic": "serve",
    "uvicorn": "serve",
    "websockets": "serve",
    "onnx": "onnx",
    "onnxruntime": "onnx",
}


class BadInput(Exception):
    """A request that cannot be met; the message says why and what to do instead."""


@contextmanager
def refusing(game_name: str = "", is_check: bool = False) -> Iterator[None]:
    """Turns errors caused by input into `BadInput`; other errors propagate.

    Args:
        game_name: as typed. Every error in a user's own game file is shown as theirs.
        is_check: whether this is `plainzero check`, which other commands recommend.
    """
    try:
        yield
    except BadInput:
        raise
    except Exception as error:
        if sentence := _sentence(error, game_name, "" if is_check else _advice(game_name)):
            raise BadInput(sentence) from error
        raise


def _sentence(error: Exception, game_name: str, advice: str) -> str:
    """The message for the user; empty if the fault is ours."""
    from plainzero.compiler.bind_rules import RuleError
    from plainzero.games.contract import RuleFault

    if isinstance(error, RuleError | RuleFault):
        return str(error)
    if sentence := package_advice(error):
        return sentence
    is_own_game = _is_own_game(game_name)
    if _is_from_compiler(error):
        return f"the rules of {game_name} do not compile{advice}" * is_own_game
    if isinstance(error, ValueError):  # UnknownGame, IllegalMove, EvaluatorError, SearchConfig's
        return str(error)
    kind = type(error).__name__
    return f"{game_name} raises {kind}: {error}{advice}" * is_own_game


def package_advice(error: Exception) -> str:
    """What to install if an optional package is missing or too old; empty for other errors."""
    if _is_from_old_torch(error):
        return str(error)
    package = str(getattr(error, "name", "")).partition(".")[0]
    extra = _EXTRAS.get(package) if isinstance(error, ModuleNotFoundError) else None
    return f"this needs the package {package}: pip install 'plainzero[{extra}]'" if extra else ""


def _is_own_game(name: str) -> bool:
    """Whether its rules come from a file or from OpenSpiel, not from PlainZero."""
    from plainzero.games.registry import GameSpec, UnknownGame, is_open_spiel

    try:
        return bool(GameSpec.parse(name).path) or is_open_spiel(name)
    except UnknownGame:
        return False


def _is_from_old_torch(error: Exception) -> bool:
    private = sys.modules.get("plainzero.networks.torch_private")  # needs PyTorch
    return private is not None and isinstance(error, private.OldTorch)


def _is_from_compiler(error: Exception) -> bool:
    errors = sys.modules.get("numba.core.errors")
    return errors is not None and isinstance(error, errors.NumbaError)


def _advice(game_name: str) -> str:
    return f"; run `plainzero check {game_name}` to see which line, and what to write instead"
