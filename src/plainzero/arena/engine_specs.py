"""Programs of others as agents, `gtp:COMMAND` and `gomocup:COMMAND`; what is kept when they fail.

Limits stand in brackets behind the kind, `gtp[seconds=10]:COMMAND`.

The command is all that follows the first colon behind the kind, spaces, commas and colons included.
"""

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from plainzero import options as settings
from plainzero.atomic_files import write_whole
from plainzero.games.contract import Game
from plainzero.protocols.engine_agent import EngineLimits, EnginePlayer
from plainzero.protocols.gomocup.engine import GomocupLimits, make_gomocup_player
from plainzero.protocols.gtp.engine import make_gtp_player

if TYPE_CHECKING:
    from plainzero.arena.match import MatchResult


class _Kind(NamedTuple):
    """A protocol: how a player is made of a program that speaks it, and with which limits."""

    make_player: Callable[[str, Game, str, Any], EnginePlayer]
    limits: type[EngineLimits]


_KINDS = {
    "gtp": _Kind(make_gtp_player, EngineLimits),
    "gomocup": _Kind(make_gomocup_player, GomocupLimits),
}
_SPEC = re.compile(
    rf"(?P<kind>{'|'.join(_KINDS)})(\[(?P<options>[^\]]*)\])?:(?P<command>.*)", re.DOTALL
)


def is_engine(spec: str) -> bool:
    """Whether the agent is a program of others."""
    return re.match(rf"\s*({'|'.join(_KINDS)})\s*[\[:]", spec) is not None


def make_engine_player(spec: str, game: Game) -> EnginePlayer:
    """The program as a player of the game; it is started, so that one that cannot is refused.

    Raises:
        ValueError: when the agent is not well written, or cannot be started to play that game.
    """
    match = _SPEC.fullmatch(spec)
    if match is None or not match["command"].strip():
        raise ValueError(
            f"{spec!r} names no engine; write gtp:COMMAND, gomocup:COMMAND or, with limits, "
            "gtp[seconds=10,engines=2]:COMMAND, as in gtp:gnugo --mode gtp"
        )
    kind = _KINDS[match["kind"]]
    limits = _parse_limits(kind.limits, spec, match["options"] or "")
    return kind.make_player(spec, game, match["command"].strip(), limits)


def save_transcripts(results: "Sequence[MatchResult]", beside: Path | None = None) -> Path | None:
    """Writes what was said to and by the programs that failed; None where none did.

    Args:
        results: of the matches.
        beside: the file in which the games are saved, else a temporary file is made.
    """
    parts = [
        f"# {result.names[record.seats[record.loser]]}\n# {record.fault}\n{record.transcript}\n"
        for result in results
        for record in result.records
        if record.loser is not None and record.fault
    ]
    if not parts:
        return None
    if beside is not None:
        path = beside.with_name(f"{beside.name}.faults.txt")
    else:
        descriptor, name = tempfile.mkstemp(prefix="plainzero-faults-", suffix=".txt")
        os.close(descriptor)
        path = Path(name)
    write_whole(path, "\n".join(parts).encode(errors="replace"))
    return path


def _parse_limits(limits: type[EngineLimits], spec: str, text: str) -> EngineLimits:
    """The limits in `option=value,option=value`."""
    given = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ValueError(f"{part!r} in {spec!r} is not an option=value, as in seconds=10")
        given[name] = settings.parse_option(limits, name, value)
    return limits(**given)
