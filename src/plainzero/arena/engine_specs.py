"""Engines from their specs: `gtp:COMMAND` and `gomocup:COMMAND`, `gtp[seconds=10]:COMMAND`.

The command is everything after the colon that follows the kind or its limits in brackets, including
spaces, commas and colons.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from plainzero import options as settings
from plainzero.games.contract import Game
from plainzero.protocols.engine_agent import EngineAgent, EngineLimits
from plainzero.protocols.gomocup.engine import GomocupLimits, make_gomocup_agent
from plainzero.protocols.gtp.engine import make_gtp_agent


class _Protocol(NamedTuple):
    make_agent: Callable[[str, Game, str, Any], EngineAgent]
    limits: type[EngineLimits]
    example: str  # of a command


_PROTOCOLS = {
    "gtp": _Protocol(make_gtp_agent, EngineLimits, "gnugo --mode gtp"),
    "gomocup": _Protocol(make_gomocup_agent, GomocupLimits, "./pbrain-other"),
}
ENGINE_KINDS = tuple(_PROTOCOLS)
_KIND = "|".join(ENGINE_KINDS)


def is_engine(spec: str) -> bool:
    """Whether the spec describes an engine."""
    return re.match(rf"\s*({_KIND})\s*(\[|:|$)", spec) is not None


def make_engine_agent(spec: str, game: Game) -> EngineAgent:
    """The engine as an agent for the game, already started so that failures show at once.

    Raises:
        ValueError: when the spec is incomplete, or the engine cannot be started for that game.
    """
    match = re.fullmatch(
        rf"(?P<kind>{_KIND})\s*(?P<limits>\[[^\]]*\])?(?P<command>:.*)?", spec, re.DOTALL
    )
    if match is None:
        raise ValueError(f"{spec!r} has no closing bracket, as in gtp[seconds=10]:gnugo --mode gtp")
    kind, protocol = match["kind"], _PROTOCOLS[match["kind"]]
    command = (match["command"] or "").removeprefix(":").strip()
    if not command:
        raise ValueError(f"{kind} needs a command, as in {kind}:{protocol.example}")
    limits = _parse_limits(protocol.limits, spec, (match["limits"] or "")[1:-1])
    return protocol.make_agent(spec, game, command, limits)


def _parse_limits(limits: type[EngineLimits], spec: str, text: str) -> EngineLimits:
    """The limits in `option=value,option=value`."""
    given = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ValueError(f"{spec}: {part!r} must be option=value, as in seconds=10")
        given[name] = settings.parse_option(limits, name, value)
    return limits(**given)
