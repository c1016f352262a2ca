"""How satellite pursuit is drawn: the orbital plane, forwards to the right and outwards up."""

import math
from typing import Any

from plainzero.games.board_view import Shape
from plainzero.games.bundled.orbit.motion import move_freely

ROWS, COLS = 13, 23
ROLES = ("attacker", "defender")
ATTACKER, DEFENDER = 0, 1
KILOMETRE = 10_000  # in the units of all lengths in a state
QUARTERS = 32  # of rounds, for which a path shows where a craft drifts


def draw_shapes(game: Any, state: Any) -> list[Shape]:
    """The asset, the craft, the deciding radii, and where the craft drift if nobody fires."""
    middle, bar = cell_of(game, 0, 0), 10.0 ** math.floor(math.log10(game.scale / KILOMETRE))
    corner = ROWS - 1.0, 0.0
    shapes = [
        Shape(
            "ring",
            [middle],
            ATTACKER,
            game.reach_limit / _cell_width(game),
            f"asset: attacker wins within {game.reach:g} km",
        ),
        Shape("piece", [middle]),
        Shape("label", [(0.0, 0.0)], text="up: outwards, right: forwards"),
        Shape(
            "path",
            [corner, (corner[0], KILOMETRE * bar / _cell_width(game))],
            text=f"{bar:g} km",
        ),
    ]
    for player in (DEFENDER, ATTACKER):
        if state.turn > player:  # chance has placed it
            shapes += _draw_craft(game, state, player)
    return shapes


def _draw_craft(game: Any, state: Any, player: int) -> list[Shape]:
    x, y = state.craft[player, :2]
    place = cell_of(game, x, y)
    words = f"{ROLES[player]}, fuel {state.fuel[player]}"
    shapes = [Shape("piece", [place], player, text=words)]
    if player == DEFENDER:
        shapes.append(Shape("ring", [place], player, game.capture_limit / _cell_width(game)))
    return shapes if state.is_over else [_draw_drift(game, state.craft[player], player), *shapes]


def _draw_drift(game: Any, craft: Any, player: int) -> Shape:
    x, y, u, w = (int(number) for number in craft)
    points = [_place(game, x, y)]
    for _ in range(QUARTERS):
        x, y, u, w = move_freely(game.matrix, x, y, u, w)
        points.append(_place(game, x, y))
    return Shape("path", points, player)


def cell_of(game: Any, x: float, y: float) -> tuple[float, float]:
    """Row and column of a place, in parts of cells; at the edge if it is farther away."""
    row, col = _place(game, x, y)
    return min(max(row, 0.0), ROWS - 1.0), min(max(col, 0.0), COLS - 1.0)


def _place(game: Any, x: float, y: float) -> tuple[float, float]:
    return ROWS // 2 - x / _cell_width(game), COLS // 2 + y / _cell_width(game)


def _cell_width(game: Any) -> float:
    return float(game.scale) / 5
