"""The quick check: a few random moves in plain Python before a game's compiled rules first run.

Compiled rules check no bounds: a `num_actions` that is one too small corrupts memory, silently.
Plain Python notices. The check runs once for each version of a user's game, and a file in the
user's cache folder remembers the versions that passed.
"""

import contextlib
import hashlib
import sys
from pathlib import Path

import numpy as np

from plainzero.atomic_files import cache_folder
from plainzero.games.check.playout_actions import check_playouts
from plainzero.games.check.problems import Problems, Stop
from plainzero.games.check.random_play import Played, check_declarations, play_moves
from plainzero.games.check.views import observe
from plainzero.games.contract import CHANCE, Game, RuleFault

_MOVES = 200  # a tenth of a second for most games, two seconds for the slowest
_VERSION = 2  # of this check: a higher number forgets what passed
_BUNDLED = "plainzero.games."
# Harmless to compiled code:
_HARMLESS = ("no observe", "early returns", "returns range", "unused rule", "zero sum")
_passed: set[str] = set()  # digests, in this process


def ensure_checked(game: Game) -> None:
    """Checks a user's game quickly, unless this version of it has passed before.

    Raises:
        RuleFault: when it breaks the contract.
    """
    is_bundled = type(game).__module__.startswith(_BUNDLED)
    if is_bundled or game.source_digest in _passed or _has_marker(game):
        return
    harmful = (problem for problem in _quick_check(game) if problem.kind not in _HARMLESS)
    problem = next(harmful, None)
    if problem is not None:
        raise RuleFault(
            f"{game.name} breaks the game contract: {problem}; `plainzero check` tests the rest"
        )
    remember_checked(game)
    print(
        f"checked the rules of {game.name} for the first time: no fault in {_MOVES} random moves",
        file=sys.stderr,
    )


def remember_checked(game: Game) -> None:
    """Notes that this version of the game has passed in plain Python."""
    _passed.add(game.source_digest)
    with contextlib.suppress(OSError):  # then it is checked again next time
        _marker(game).parent.mkdir(parents=True, exist_ok=True)
        _marker(game).touch()


def _has_marker(game: Game) -> bool:
    try:
        return _marker(game).exists()
    except OSError:  # no home folder, or one that cannot be read
        return False


def _marker(game: Game) -> Path:
    """The empty file that says that this version of the game has passed.

    Raises:
        OSError: if the user has no home folder.
    """
    digest = hashlib.sha256(f"{_VERSION} {game.source_digest}".encode()).hexdigest()
    return cache_folder() / "checked_games" / digest[:32]


def _quick_check(game: Game) -> Problems:
    problems = Problems(game)
    with contextlib.suppress(Stop), np.errstate(all="ignore"), problems.watchdog.awake():
        check_declarations(problems)
        played = play_moves(problems, _MOVES)
        check_playouts(problems, played)
        _check_observed(problems, played)
    return problems


def _check_observed(problems: Problems, played: list[Played]) -> None:
    """Every position can be observed."""
    for state in (state for one in played for state in one.states):
        if not state.is_over and state.to_play != CHANCE:
            observe(problems, state)
