"""Games as files: JSON, SGF, and plain lists of moves.

All store moves by name, so that people can read and write them. A file names its game; the caller
decides what that name stands for, so reading a file never runs code from it.
"""

from collections.abc import Callable, Iterator

from plainzero.games.contract import Game
from plainzero.games.formats import sgf_syntax as sgf
from plainzero.games.formats.json_games import read_json, to_json
from plainzero.games.formats.move_lists import read_moves, to_moves
from plainzero.games.formats.played_game import SavedGame
from plainzero.games.formats.sgf_games import read_sgf, to_sgf

__all__ = [
    "SavedGame",
    "decode_saved",
    "read_all_saved",
    "read_saved",
    "to_json",
    "to_moves",
    "to_sgf",
]


def decode_saved(content: bytes) -> str:
    """The text of a file: UTF-8, and in SGF also what other programs write.

    Raises:
        ValueError: if it is not text.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        if content.lstrip().startswith(b"("):
            return sgf.decode(content)
        raise ValueError("this is not a saved game: it is not text in UTF-8") from error


def read_saved(text: str, make_game: Callable[[str], Game], name: str | None = None) -> SavedGame:
    """The first game of a file, after replaying it.

    Args:
        text: the file's content: JSON, SGF or a list of moves, distinguished by how it begins.
        make_game: returns the game of a name, or raises a ValueError. The name comes from the
            file, so pass no function that loads code for it, as `plainzero.make_game` does for
            `path/to/file.py:ClassName`.
        name: of the game, for a list of moves that does not say it, and for SGF whose `GN` is no
            game's name; there it counts before the number in `GM`.

    Raises:
        ValueError: if it is not a saved game or its moves are illegal, with a sentence.
    """
    return next(read_all_saved(text, make_game, name))


def read_all_saved(
    text: str, make_game: Callable[[str], Game], name: str | None = None
) -> Iterator[SavedGame]:
    """All games of a file, one after the other: an SGF may have many. See `read_saved`."""
    text = text.lstrip("\ufeff \t\r\n")
    if text.startswith("{"):
        yield read_json(text, make_game)
    elif text.startswith("("):
        yield from read_sgf(text, make_game, name)
    else:
        yield read_moves(text, make_game, name)
