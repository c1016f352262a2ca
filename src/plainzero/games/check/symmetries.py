"""Symmetries: games replayed on a turned board go the same way; actions follow their cells."""

from typing import Any

import numpy as np

from plainzero.games.board_actions import board_actions
from plainzero.games.check.final_scores import owned_cells
from plainzero.games.check.problems import Problems
from plainzero.games.check.random_play import Played, moves, rule_place, step
from plainzero.games.check.views import observe
from plainzero.games.contract import CHANCE, Game, Symmetry, has_ownership, has_score
from plainzero.games.position_setup import set_up_position

_SYMMETRY_GAMES = 3
_SYMMETRY_PLIES = 300
_CHANCE_PLIES = 40  # each of chance's plays tries many outcomes


def check_symmetries(problems: Problems, played: list[Played]) -> None:
    """Games replayed with their actions turned go the same way, turned."""
    game = problems.game
    place = rule_place(game, "symmetries")
    with problems.running("symmetries"):
        symmetries = game.symmetries()
    for number, symmetry in enumerate(symmetries):
        if sorted(symmetry.actions) != list(range(game.num_actions)):
            problem = f"actions are not a permutation of 0 to {game.num_actions - 1}"
        else:
            problem = _replay_turned(problems, symmetry, played[:_SYMMETRY_GAMES])
        if problem:
            problems.add("symmetry", f"symmetry {number}: {problem} ({place})")
            return


def check_board_actions(problems: Problems) -> None:
    """A declared grid of actions has the board's size, names actions, and follows symmetries."""
    game = problems.game
    with problems.running("board_actions"):
        is_declared = game.board_actions() is not None
    if is_declared:
        try:
            board_actions(game)
        except ValueError as error:
            place = rule_place(game, "board_actions")
            problems.add("board actions", f"{str(error).partition(': ')[2]} ({place})")


def _replay_turned(problems: Problems, symmetry: Symmetry, played: list[Played]) -> str:
    """What differs when the games are turned; empty if nothing does."""
    for one in played:
        turned = _turned_start(problems, symmetry, one.states[0])
        has_chance = any(state.to_play == CHANCE for state in one.states)
        for ply in range(_CHANCE_PLIES if has_chance else _SYMMETRY_PLIES):
            problem = _difference_when_turned(problems, symmetry, one.states[ply], turned)
            if problem or ply == len(one.actions):
                if problem:
                    return f"{problem} at turn {ply}"
                break
            action = one.actions[ply]
            if turned.to_play == CHANCE:
                found = _turned_outcome(problems, symmetry, one.states[ply + 1], turned)
                if found is None:
                    return f"none of chance's outcomes is the turned one at turn {ply}"
                turned = found
            else:
                step(problems, turned, int(symmetry.actions[action]))
    return ""


def _turned_start(problems: Problems, symmetry: Symmetry, start: Any) -> Any:
    """The starting position of a turned game.

    It may differ from the game's own, as in Othello, where a quarter turn exchanges the colours in
    the middle. Then it is set up by hand, if each cell of the board has an action that says where
    the cell goes.
    """
    game = problems.game
    if not _difference_when_turned(problems, symmetry, start, start):
        return game.copy(start)
    grid = game.view(start)
    actions = [action for row in grid.actions for action in row] if grid is not None else []
    if grid is None or -1 in actions or len(set(actions)) < len(actions):
        return game.copy(start)
    cells = [list(row) for row in grid.cells]
    places = {action: divmod(place, len(cells[0])) for place, action in enumerate(actions)}
    for action, (row, col) in places.items():
        new_row, new_col = places.get(int(symmetry.actions[action]), (row, col))
        cells[new_row][new_col] = grid.cells[row][col]
    try:
        return set_up_position(game, cells, int(start.to_play))
    except ValueError:
        return game.copy(start)


def _difference_when_turned(problems: Problems, symmetry: Symmetry, state: Any, turned: Any) -> str:
    """How `turned` differs from the turned `state`; empty if it does not."""
    if (state.is_over, state.to_play) != (turned.is_over, turned.to_play):
        return "another player is to move, or only one of the games is over,"
    if state.is_over:
        if not np.array_equal(state.returns, turned.returns):
            return f"the game ends {turned.returns}, not {state.returns},"
        return _end_differs(problems.game, symmetry, state, turned)
    if state.to_play != CHANCE:
        legal, turned_legal = moves(problems, state)[0], moves(problems, turned)[0]
        if {int(symmetry.actions[action]) for action in legal} != set(turned_legal):
            return "the legal actions are not the turned ones"
    expected = symmetry.planes(observe(problems, state))
    planes = observe(problems, turned)
    if np.shape(expected) != planes.shape:
        return f"planes gives shape {np.shape(expected)}, not {planes.shape},"
    same = np.allclose(expected, planes, atol=1e-6)
    return "" if same else "planes and actions do not turn the position alike"


def _end_differs(game: Game, symmetry: Symmetry, state: Any, turned: Any) -> str:
    """How the score or the ownership of a turned game differs; empty if it does not."""
    if has_score(game) and game.score(state) != game.score(turned):
        return f"the score is {game.score(turned):g}, not {game.score(state):g},"
    if has_ownership(game):
        cells = owned_cells(game, state).reshape(game.observation_shape[1:])
        everywhere = np.broadcast_to(cells, game.observation_shape)
        expected = symmetry.planes(everywhere.copy())[0].ravel()
        if not np.array_equal(owned_cells(game, turned), expected):
            return "the ownership is not the turned one"
    return ""


def _turned_outcome(problems: Problems, symmetry: Symmetry, after: Any, turned: Any) -> Any:
    """`turned` after the outcome that makes it the turned `after`; None without one."""
    for outcome in moves(problems, turned)[0]:
        candidate = problems.game.copy(turned)
        step(problems, candidate, outcome)
        if not _difference_when_turned(problems, symmetry, after, candidate):
            return candidate
    return None
