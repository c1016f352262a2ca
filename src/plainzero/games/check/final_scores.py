"""The score and the ownership of finished games: in range, and in line with who has won."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.check.problems import Problems, Stop
from plainzero.games.check.random_play import Played, first_difference, rule_place
from plainzero.games.contract import Game, has_ownership, has_score


def check_scores(problems: Problems, played: list[Played]) -> None:
    """Both are for two players; neither changes the position."""
    game = problems.game
    for rule, has_rule in (("score", has_score(game)), ("ownership", has_ownership(game))):
        if has_rule and game.num_players != 2:
            _add(problems, rule, f"is for two players, not {game.num_players}")
    if has_score(game) and not 0 < game.largest_score < math.inf:
        _add(problems, "score", f"needs a largest_score above 0, not {game.largest_score!r}")
    if has_ownership(game) and len(game.observation_shape) != 3:
        _add(problems, "ownership", "needs an observation of planes, rows and columns")
    for one in played:
        if has_score(game):
            _check_score(problems, one.states[-1])
        if has_ownership(game):
            _check_ownership(problems, one.states[-1])


def owned_cells(game: Game, state: Any) -> NDArray[np.float32]:
    """[rows · columns] who holds the cells of a finished game."""
    cells = np.zeros(math.prod(game.observation_shape[1:]), np.float32)
    game.ownership(state, cells)
    return cells


def _check_score(problems: Problems, state: Any) -> None:
    game, first = problems.game, float(state.returns[0])
    score = _call(problems, "score", state, lambda: float(game.score(state)))
    if not abs(score) <= game.largest_score:  # also true for NaN
        _add(problems, "score", f"is {score:g}, and largest_score is {game.largest_score:g}")
    if np.sign(score) != np.sign(first):
        _add(
            problems,
            "score",
            f"is {score:g} although the first player's return is {first:g}; it must be above 0 if "
            "the first player has won, below 0 if the second has, and 0 in a draw",
        )


def _check_ownership(problems: Problems, state: Any) -> None:
    cells = _call(problems, "ownership", state, lambda: owned_cells(problems.game, state))
    if not (np.abs(cells) <= 1).all():
        cell = int(np.flatnonzero(~(np.abs(cells) <= 1))[0])
        _add(problems, "ownership", f"writes {cells[cell]:g} to cell {cell}; each is from −1 to 1")


def _call(problems: Problems, rule: str, state: Any, call: Callable[[], Any]) -> Any:
    before = problems.game.copy(state)
    with problems.running(rule, f" at turn {state.turn}"):
        found = call()
    changed = first_difference(problems.game, before, state)
    if changed is not None:
        _add(problems, rule, f"changes state.{changed}; only play may")
    return found


def _add(problems: Problems, rule: str, problem: str) -> None:
    problems.add("score", f"{rule} {problem} ({rule_place(problems.game, rule)})")
    raise Stop
