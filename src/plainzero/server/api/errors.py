"""Which errors are the client's, with a message for it, and which are internal and only logged."""

import contextlib
import dis
import json
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from plainzero.compiler.bind_rules import RuleError
from plainzero.games.contract import Game, RuleFault
from plainzero.server.api.schemas.base import PATTERN_RULES

INTERNAL_ERROR = "internal error; the server's log has the details"
_RAISE = dis.opmap["RAISE_VARARGS"]
_MAX_TEXT = 200
_MAX_INPUT = 60  # characters of a value that a message quotes
_SOURCES = ("body", "path", "query")  # pydantic's first word for where a value is


def is_client_error(error: BaseException) -> bool:
    """Whether its message is meant for the client: a ValueError that PlainZero or a game raises.

    A ValueError raised by a library, or by Python itself in our code, is an internal error: its
    message is not written for clients and may contain a path.
    """
    if isinstance(error, RuleError | RuleFault):
        return True
    if not isinstance(error, ValueError) or error.__traceback__ is None:
        return False
    *_, last = _steps(error.__traceback__)
    module = str(last.tb_frame.f_globals.get("__name__"))
    return module.startswith("plainzero") and last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE


@contextlib.contextmanager
def explaining_rule_errors(game: Game) -> Iterator[None]:
    """Turns unexpected errors of a game's methods into a message that names the game.

    Raises:
        ValueError: with that message. Client errors, and errors from elsewhere, pass unchanged.
    """
    try:
        yield
    except Exception as error:
        if is_client_error(error) or not _comes_from(game, error):
            raise
        # The text of an OSError contains a path.
        text = "" if isinstance(error, OSError) else f": {error}".partition("\n")[0][:_MAX_TEXT]
        raise ValueError(
            f"the rules of {game.name} raise {type(error).__name__}{text}; `plainzero check` says "
            "why"
        ) from error


def describe_invalid(problem: Mapping[str, Any]) -> str:
    """The message for one of pydantic's `errors` about a request."""
    place = ".".join(str(part) for part in problem["loc"] if part not in _SOURCES) or "the request"
    if problem["type"] == "missing":
        return f"{place} is missing"
    if problem["type"] == "extra_forbidden":
        return f"unknown field {place}"
    if problem["type"] == "json_invalid":
        return f"the request is not valid JSON: {problem['ctx']['error']}"
    given = json.dumps(problem["input"], ensure_ascii=False, default=str)
    given = given if len(given) <= _MAX_INPUT else f"{given[:_MAX_INPUT]}…"
    given = given.encode(errors="backslashreplace").decode()  # half a character of UTF-16
    if problem["type"] == "string_pattern_mismatch":
        return f"invalid {place} {given}: {PATTERN_RULES[problem['ctx']['pattern']]}"
    return f"{place}: {problem['msg'].removeprefix('Value error, ')}; got {given}"


def _comes_from(game: Game, error: BaseException) -> bool:
    """Whether a method of the game or of one of its base classes was running."""
    modules = {kind.__module__ for kind in type(game).__mro__}
    return any(
        step.tb_frame.f_globals.get("__name__") in modules for step in _steps(error.__traceback__)
    )


def _steps(step: TracebackType | None) -> Iterator[TracebackType]:
    """From the outermost frame to the one that raised."""
    while step is not None:
        yield step
        step = step.tb_next
