"""Games in files: JSON, SGF and plain move lists, read and written by `saved_games`."""

from plainzero.games.formats.saved_games import (
    SavedGame,
    decode_saved,
    read_all_saved,
    read_saved,
    to_json,
    to_moves,
    to_sgf,
)

__all__ = [
    "SavedGame",
    "decode_saved",
    "read_all_saved",
    "read_saved",
    "to_json",
    "to_moves",
    "to_sgf",
]
