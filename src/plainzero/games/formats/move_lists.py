"""Games as plain lists of moves: the names in order, as people type them.

    game: connect-four
    4 4 3 5 2

The first line may name the game. Move numbers such as `12.`, and lines that begin with `# `, are
ignored. A name that contains spaces has its own line.
"""

import re
from collections.abc import Callable

from plainzero.games.contract import Game
from plainzero.games.formats.played_game import SavedGame, replay_saved
from plainzero.games.formats.replay_moves import ReplayedGame

_MOVES_PER_LINE = 20
_HEADER = re.compile(r"game\s*:\s*(?P<name>\S.*)", re.IGNORECASE)
_MOVE_NUMBER = re.compile(r"[0-9]+\.+")


def to_moves(game: Game, saved: SavedGame) -> str:
    """The game as a list of moves.

    Raises:
        ValueError: if its moves are illegal, or it began from a position set up by hand.
    """
    if saved.cells is not None:
        raise ValueError(
            "a list of moves cannot hold a position set up by hand; save it as JSON instead"
        )
    names = replay_saved(game, saved).names
    step = 1 if any(re.search(r"\s", name) for name in names) else _MOVES_PER_LINE
    lines = [" ".join(names[start : start + step]) for start in range(0, len(names), step)]
    return "\n".join([f"game: {saved.game}", *lines]) + "\n"


def read_moves(text: str, make_game: Callable[[str], Game], name: str | None) -> SavedGame:
    """The game of a list of moves; `name` is used if the list does not name its game.

    Raises:
        ValueError: if its moves are illegal.
    """
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not re.match(r"#(\s|$)", line)]
    if lines and (header := _HEADER.fullmatch(lines[0])):
        name = header["name"].strip()
        del lines[0]
    if name is None:
        raise ValueError(
            "this is not a saved game: JSON begins with {, SGF with (, a list of moves with the "
            "name of its game, as in game: connect-four"
        )
    replay = ReplayedGame(make_game(name), None, 0)
    for line in lines:
        for move in _split(replay, line):
            replay.play_named(move)
    return SavedGame(name, None, 0, replay.moves, [], None)


def _split(replay: ReplayedGame, line: str) -> list[str]:
    """The moves of a line; the whole line if it is the name of one."""
    words = [word for word in line.split() if not _MOVE_NUMBER.fullmatch(word)]
    return [" ".join(words)] if replay.knows(" ".join(words)) else words
