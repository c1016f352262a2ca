"""The points of a fixed handicap, as defined by GTP 2."""

from plainzero.games.contract import Game
from plainzero.protocols.gtp.game_traits import KomiGame, board_size
from plainzero.protocols.gtp.session import GtpError

_SMALLEST, _LARGE = 7, 13
# Column and row of each stone: 0 low, 1 middle, 2 high.
_CORNERS = ((0, 0), (2, 2), (0, 2), (2, 0))
_SIDES = ((0, 1), (2, 1), (1, 0), (1, 2))
_CENTRE = ((1, 1),)


def star_points(game: Game, count: int) -> list[str]:
    """The names of the points for `count` stones.

    Raises:
        GtpError: when the board does not have that many.
    """
    if not 2 <= count <= most_stars(game):
        raise GtpError("invalid number of stones")
    size = board_size(game)
    edge = 3 if size >= _LARGE else 2
    lines = (edge, size // 2, size - 1 - edge)
    even = count - count % 2 if count > 4 else count
    places = [*_CORNERS[:even], *_SIDES[: max(0, even - 4)], *_CENTRE[: count - even]]
    return [game.action_name(lines[row] * size + lines[column]) for column, row in places]


def most_stars(game: Game) -> int:
    """The number of handicap points; 0 on small boards and for games without komi."""
    if not isinstance(game, KomiGame) or game.size < _SMALLEST:
        return 0
    return 9 if game.size % 2 == 1 and game.size > _SMALLEST else 4
