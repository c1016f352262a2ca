"""The agents of a game's ladder, and what is known of an agent before it plays."""

import hashlib
import math
import re
from pathlib import Path
from typing import NamedTuple

from plainzero.arena.engine_specs import is_engine
from plainzero.games.bundled.go.rules import Go
from plainzero.games.contract import Game, has_chance
from plainzero.opponents.bundled_networks import find_bundled_network, has_bundled_network
from plainzero.opponents.gomoku_evaluator import has_threats
from plainzero.opponents.perfect import has_perfect, quick_outcomes
from plainzero.protocols.engine_process import EngineFailed, find_program

ANCHOR = "uct:1000"
"""Rated 0: it plays every game, is the same on every machine, and stands amid the other agents,
which keeps intervals short. Against random moves, which lose every game, all would be wide."""

_GNU_GO = (
    "gtp:gnugo --mode gtp --level {level} --chinese-rules --positional-superko "
    "--capture-all-dead --play-out-aftermath"
)
_GNU_GO_LEVELS = (1, 10)
_GNU_GO_SIZES = range(5, 20)
_ALPHA_BETA_NODES = 1e6  # num_actions ^ depth, at most
_SEARCH = re.compile(
    r"(?P<family>(?:uct|puct|threats|bundled|run:.+)):(?P<count>\d+)(?P<options>,.*)?"
)


class _Kind(NamedTuple):
    cost: float  # microseconds per simulation, or per move
    guess: float  # of its Elo above the anchor, with 1000 simulations


_KINDS = {
    "random": _Kind(0, -1200),
    "puct": _Kind(5, -700),
    "alphabeta": _Kind(10_000, -500),
    "uct": _Kind(0, 0),
    "threats": _Kind(300, 500),
    "gtp": _Kind(100_000, 400),
    "gomocup": _Kind(100_000, 400),
    "bundled": _Kind(700, 800),
    "run": _Kind(700, 800),
    "perfect": _Kind(300_000, 1500),
}
_ROLLOUT_TURN = 0.1  # microseconds per turn of the longest game
_MOVE = 3000.0  # microseconds: the game's rules in Python, and the first simulation
_GUESS_PER_TENFOLD = 300.0


def natural_agents(game: Game) -> list[str]:
    """The agents that can be rated in this game without training anything."""
    agents = ["random", "puct:1000", *(f"uct:{count}" for count in (100, 300, 1000, 3000, 10_000))]
    if game.num_players == 2 and not has_chance(game):
        depth = int(math.log(_ALPHA_BETA_NODES) / math.log(max(2, game.num_actions)))
        agents.append(f"alphabeta:{max(2, depth)}")
    if has_threats(game):
        agents += ["threats:100", "threats:400"]
    if has_bundled_network(game):
        agents += ["bundled:0", "bundled:100", "bundled:800"]
    if has_perfect(game) and quick_outcomes(game, [game.new_state()]) is not None:
        agents.append("perfect")
    if isinstance(game, Go) and game.size in _GNU_GO_SIZES and _is_installed("gnugo"):
        agents += [_GNU_GO.format(level=level) for level in _GNU_GO_LEVELS]
    return agents


def label_of(spec: str) -> str:
    """A short name for tables and plots, without paths: GNU Go's level, a run, an engine."""
    if is_engine(spec):
        _, _, command = spec.partition(":")
        program = Path(command.split()[0]).name
        level = re.search(r"--level[ =](\d+)", command)
        return f"GNU Go, level {level[1] if level else 10}" if program == "gnugo" else program
    if search := _SEARCH.fullmatch(spec):
        kind, colon, folder = search["family"].partition(":")
        name = f"{kind}{colon}{Path(folder).name}" if colon else kind
        return f"{name}:{search['count']}{search['options'] or ''}"
    return spec


def family_of(spec: str) -> tuple[str, int] | None:
    """What agents that differ only in simulations share, and the simulations; None for others."""
    if search := _SEARCH.fullmatch(spec):
        return search["family"] + (search["options"] or ""), int(search["count"])
    return None


def expected_cost(spec: str, game: Game) -> float:
    """A rough number of microseconds for a move, the same on every machine."""
    cost, search = _kind(spec).cost, family_of(spec)
    if search and search[0].startswith("uct"):
        cost = _ROLLOUT_TURN * game.max_turns
    return _MOVE + cost * (search[1] if search else 1)


def expected_elo(spec: str) -> float:
    """A rough guess of its Elo above the anchor, with which its first opponent is chosen."""
    search = family_of(spec)
    decades = math.log10(max(1, search[1]) / 1000) if search else 0.0
    return _kind(spec).guess + _GUESS_PER_TENFOLD * decades


def identity_of(spec: str, game: Game) -> str:
    """A digest of the network that plays, which can change under the same name; else empty.

    Raises:
        ValueError: when the network is not available.
    """
    kind = spec.partition(":")[0]
    if kind == "bundled":
        return _digest(find_bundled_network(game).path)
    if kind == "run":
        from plainzero.arena.agent_specs import run_weights

        return _digest(run_weights(spec))
    return ""


def _kind(spec: str) -> _Kind:
    kind = re.match(r"[a-z]*", spec)
    assert kind is not None
    return _KINDS[kind[0]] if not is_engine(spec) else _KINDS["gtp"]


def _is_installed(program: str) -> bool:
    try:
        find_program(program)
    except EngineFailed:
        return False
    return True


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
