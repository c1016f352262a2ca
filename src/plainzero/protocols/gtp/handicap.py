"""Where the stones of a fixed handicap stand, as GTP 2 says it."""

from plainzero.games.contract import Game
from plainzero.protocols.gtp.session import GtpError

_SMALLEST, _LARGE = 7, 13
# Column and row of each stone, 0 low, 1 in the middle, 2 high, for the number of stones.
_CORNERS = ((0, 0), (2, 2), (0, 2), (2, 0))
_SIDES = ((0, 1), (2, 1), (1, 0), (1, 2))
_CENTRE = ((1, 1),)


def star_points(game: Game, count: int) -> list[str]:
    """The names of the points for that many stones.

    Raises:
        GtpError: when the board has no place for so many.
    """
    if not 2 <= count <= most_stars(game):
        raise GtpError("invalid number of stones")
    size: int = getattr(game, "size", 0)
    edge = 3 if size >= _LARGE else 2
    lines = (edge, size // 2, size - 1 - edge)
    even = count - count % 2 if count > 4 else count
    places = [*_CORNERS[:even], *_SIDES[: max(0, even - 4)], *_CENTRE[: count - even]]
    return [game.action_name(lines[row] * size + lines[column]) for column, row in places]


def most_stars(game: Game) -> int:
    """How many such points the board has; 0 in games other than Go, and where it is too small."""
    size = getattr(game, "size", 0)
    if not hasattr(game, "komi") or size < _SMALLEST:
        return 0
    return 9 if size % 2 == 1 and size > _SMALLEST else 4
