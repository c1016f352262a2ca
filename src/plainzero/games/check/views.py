"""What people and networks see of a game: observations, names of moves, the board."""

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from plainzero.games.cells_to_state import drawn_cells
from plainzero.games.check.problems import Problems, Stop
from plainzero.games.check.random_play import Played, first_difference, rule_place
from plainzero.games.contract import CHANCE, Game, Grid, Layout
from plainzero.games.position_setup import set_up_position

_POSITIONS = 200
_NAMES = 500
_SET_UP_POSITIONS = 20


def check_observations(problems: Problems, played: list[Played]) -> None:
    """Observations are finite, change with the position, and show the mover's view."""
    game = problems.game
    positions = [
        state
        for one in played
        for state in one.states
        if not state.is_over and state.to_play != CHANCE
    ][:_POSITIONS]
    place = rule_place(game, "observe")
    seen = []
    for state in positions:
        before = game.copy(state)
        seen.append(observe(problems, state))
        changed = first_difference(game, before, state)
        if changed is not None:
            problems.add("observation", f"observe changes state.{changed}; only play may ({place})")
        if not np.isfinite(seen[-1]).all():
            problems.add(
                "observation", f"observe writes NaN or infinity at turn {state.turn} ({place})"
            )
    if len(seen) > 1 and all(np.array_equal(planes, seen[0]) for planes in seen):
        problems.add("observation", f"observe writes the same planes in every position ({place})")
    elif game.num_players > 1 and _ignores_the_mover(problems, positions, seen):
        problems.add(
            "side",
            "observe writes the same planes whoever is to play, although it matters; write them "
            "from the view of state.to_play, e.g. the mover's stones to plane 0 and the opponent's "
            f"to plane 1 ({place})",
        )


def observe(problems: Problems, state: Any) -> NDArray[np.float32]:
    """The observation of a state; an error in observe is a problem."""
    with problems.running("observe", f" at turn {state.turn}"):
        return problems.game.observation(state)
    raise Stop


def _ignores_the_mover(
    problems: Problems, positions: list[Any], seen: list[NDArray[np.float32]]
) -> bool:
    """Whether observations never depend on the mover, while the mover does make a difference.

    Both halves are needed: in Nim, where nothing belongs to anybody, one view for all is right. A
    second try advances the turn along with the mover, for rules that derive the side from it.
    """
    game = problems.game
    for state, planes in zip(positions, seen, strict=True):
        for other in _with_other_movers(game, state):
            if not np.array_equal(observe(problems, other), planes):
                return False
    return any(
        _mover_matters(problems, state, other)
        for state in positions
        for other in _with_other_movers(game, state)
        if other.turn == state.turn
    )


def _with_other_movers(game: Game, state: Any) -> list[Any]:
    """The same position with each other player to move, at the same turn and at a later one."""
    others = []
    for ahead in range(1, game.num_players):
        for turns in (0, ahead):
            other = game.copy(state)
            other.to_play = (state.to_play + ahead) % game.num_players
            other.turn += turns
            others.append(other)
    return others


def _mover_matters(problems: Problems, state: Any, other: Any) -> bool:
    """Whether two positions that differ only in the mover differ in moves or their effects."""
    game = problems.game
    try:
        legal = set(game.legal(state))
        if legal != set(game.legal(other)):
            return True
        for action in sorted(legal):
            after, other_after = game.copy(state), game.copy(other)
            game.play(after, action)
            game.play(other_after, action)
            if after.is_over or other_after.is_over:
                continue
            other_after.to_play = after.to_play
            if not np.array_equal(game.observation(after), game.observation(other_after)):
                return True
    except Exception:  # the rules may not cope with a position that cannot occur
        return False
    return False


def check_names(problems: Problems) -> None:
    """Each action has a unique name that leads back to it."""
    game = problems.game
    place = rule_place(game, "action_name")
    actions = range(0, game.num_actions, max(1, game.num_actions // _NAMES))
    named: dict[str, int] = {}
    for action in actions:
        with problems.running("action_name", f" for action {action}"):
            name = game.action_name(action)
        if not isinstance(name, str) or not name:
            problems.add("names", f"action_name({action}) is {name!r}, not a string ({place})")
            return
        if name in named:
            problems.add(
                "names",
                f"actions {named[name]} and {action} are both called {name!r}; people could not "
                f"tell them apart ({place})",
            )
            return
        named[name] = action
    for name, action in named.items():
        with problems.running("parse_action", f" for {name!r}"):
            parsed = game.parse_action(name)
        if parsed != action:
            problems.add(
                "names",
                f"action {action} is called {name!r}, but parse_action makes {parsed!r} of that "
                f"({rule_place(game, 'parse_action')})",
            )
            return


def check_view(problems: Problems, played: list[Played]) -> None:
    """The board can be drawn and clicked, and written as text."""
    game = problems.game
    for state in (state for one in played[:1] for state in one.states):
        with problems.running("view"):
            grid = game.view(state)
        with problems.running("text"):
            text = game.text(state)
        problem = ""
        if not isinstance(text, str):
            problem = f"text gives {type(text).__name__}, not str"
        elif grid is not None:
            problem = _grid_problem(game, grid)
        if problem:
            problems.add("view", f"{problem} ({rule_place(game, 'view')})")
            return


def check_set_up(problems: Problems, played: list[Played]) -> None:
    """A game with its own `set_up` reproduces the positions of a game."""
    game = problems.game
    if type(game).set_up is Game.set_up:
        return
    place = rule_place(game, "set_up")
    open_states = [state for state in played[0].states if not state.is_over]
    positions = [state for state in open_states if state.to_play != CHANCE]
    for state in positions[:: 1 + len(positions) // _SET_UP_POSITIONS]:  # of all the game
        try:
            made = set_up_position(game, drawn_cells(game, state), int(state.to_play))
        except Exception as error:
            problems.add(
                "set up", f"the position of turn {state.turn} is refused: {error} ({place})"
            )
            return
        if set(game.legal(made)) != set(game.legal(state)):
            problems.add("set up", f"other moves are legal at turn {state.turn} after it ({place})")
            return


def _grid_problem(game: Game, grid: Grid) -> str:
    if not isinstance(grid, Grid):
        return f"view gives {type(grid).__name__}, not Grid or None"
    widths = {*map(len, grid.cells), *map(len, grid.actions)}
    if len(grid.cells) != len(grid.actions) or len(widths) != 1:
        return "view needs as many actions as cells, in rows of equal length"
    if not all(isinstance(cell, str) for row in grid.cells for cell in row):
        return "view's cells must be strings"
    if not all(-1 <= action < game.num_actions for row in grid.actions for action in row):
        return f"view's actions must be -1 or 0 to {game.num_actions - 1}"
    if grid.layout not in get_args(Layout):
        return f"view's layout is {grid.layout!r}; it must be {', '.join(get_args(Layout))}"
    return _marks_problem(grid) or _surroundings_problem(game, grid)


def _marks_problem(grid: Grid) -> str:
    rows, cols = len(grid.cells), len(grid.cells[0])
    for mark in grid.marks:
        place = tuple(mark) if isinstance(mark, Sequence) else ()
        if len(place) != 2 or not (place[0] in range(rows) and place[1] in range(cols)):
            return f"view marks {mark!r}; a mark is the row and column of a cell of {rows}x{cols}"
    if len(set(map(tuple, grid.marks))) < len(grid.marks):
        return "view marks a cell twice"
    return ""


def _surroundings_problem(game: Game, grid: Grid) -> str:
    """What is wrong with the decorations of the board."""
    rows, cols = len(grid.cells), len(grid.cells[0])
    owners = [owner for row in grid.owners for owner in row]
    players = [*grid.edges, *owners, *(shape.player for shape in grid.shapes)]
    if len(grid.columns) not in (0, cols) or len(grid.rows) not in (0, rows):
        return f"view's columns and rows must be {cols} and {rows} strings, or none"
    if grid.edges and len(grid.edges) != 4:
        return "view's edges are four players: of the top, right, bottom and left edge"
    if grid.owners and [len(row) for row in grid.owners] != [cols] * rows:
        return f"view's owners must be {rows} rows of {cols}, as cells are"
    if not all(-1 <= player < game.num_players for player in players):
        return f"players in a view are 0 to {game.num_players - 1}, or -1 for nobody"
    for one in grid.steps:
        if one.action not in range(game.num_actions) or not all(
            row in range(rows) and col in range(cols) for row, col in (one.start, one.end)
        ):
            return f"view's {one} is not an action from cell to cell of {rows}x{cols}"
    if not all(one.row in range(rows) and one.col in range(cols) for one in grid.captions):
        return f"a caption of view is in no cell of {rows}x{cols}"
    return ""
