"""What GTP can do with a game beyond moves: a parameter `size`, `komi`, and a score by area.

Any game that has the parameter or the method gets the commands that use it; Go has all three.
"""

from typing import Any, Protocol, runtime_checkable

from plainzero.games.contract import Game


@runtime_checkable
class SizedGame(Protocol):
    """A game whose parameter `size` is the number of lines from side to side of its board."""

    size: int


@runtime_checkable
class KomiGame(Protocol):
    """A game whose parameter `komi` is the number of points that white gets for moving second."""

    size: int
    komi: float


@runtime_checkable
class AreaScoredGame(Protocol):
    """A game whose positions can be scored at any time, as Go's with all stones taken as alive."""

    def area_lead(self, state: Any) -> float:
        """Black's lead in points, komi included."""
        ...


def board_size(game: Game) -> int:
    """Lines from side to side; 0 for a game without a board."""
    if isinstance(game, SizedGame):
        return game.size
    grid = game.view(game.new_state())
    return len(grid.cells) if grid is not None else 0
