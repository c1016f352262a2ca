"""Which errors are refusals, told to whoever asked, and which are faults, told to the log."""

import contextlib
import dis
import reprlib
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from plainzero.compiler.bind_rules import RuleError
from plainzero.games.contract import Game
from plainzero.search.runner import RuleFault

FAULT = "the server failed; what happened is in its log"
_RAISE = dis.opmap["RAISE_VARARGS"]
_MOST_TEXT = 200


def is_refusal(error: BaseException) -> bool:
    """Whether its text is a sentence of ours: a ValueError from a `raise` of PlainZero or of a game.

    A ValueError of a library, or of Python itself within our own code, is a fault like any other:
    its text was not written for whoever asked, and may hold a path.
    """
    if isinstance(error, RuleError | RuleFault):
        return True
    if not isinstance(error, ValueError) or error.__traceback__ is None:
        return False
    *_, last = _steps(error.__traceback__)
    module = str(last.tb_frame.f_globals.get("__name__"))
    return module.startswith("plainzero") and last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE


@contextlib.contextmanager
def telling_rule_faults(game: Game) -> Iterator[None]:
    """Makes a sentence that names the game of whatever its methods raise by mistake.

    Raises:
        ValueError: that sentence. Errors from elsewhere, and refusals, pass as they are.
    """
    try:
        yield
    except Exception as error:
        if is_refusal(error) or not _comes_from(game, error):
            raise
        # An OSError's text has a path in it.
        text = "" if isinstance(error, OSError) else f": {error}".partition("\n")[0][:_MOST_TEXT]
        raise ValueError(
            f"the rules of {game.name} raise {type(error).__name__}{text}; `plainzero check` tells "
            "what is wrong with a game"
        ) from error


def describe_invalid(problem: Mapping[str, Any]) -> str:
    """The sentence about the first thing in a request that does not fit, of pydantic's `errors`."""
    place = ".".join(str(part) for part in problem["loc"] if part != "body") or "the request"
    if problem["type"] == "missing":
        return f"{place} is missing"
    if problem["type"] == "extra_forbidden":
        return f"{place} is not known here; leave it out"
    if problem["type"] == "json_invalid":
        return f"the request is not JSON: {problem['ctx']['error']}"
    return f"{place}: {problem['msg']}; given was {reprlib.repr(problem['input'])}"


def _comes_from(game: Game, error: BaseException) -> bool:
    """Whether a method of the game, or of a class that it is made from, was running."""
    modules = {kind.__module__ for kind in type(game).__mro__}
    return any(
        step.tb_frame.f_globals.get("__name__") in modules for step in _steps(error.__traceback__)
    )


def _steps(step: TracebackType | None) -> Iterator[TracebackType]:
    """From the outermost frame to the one that raised."""
    while step is not None:
        yield step
        step = step.tb_next
