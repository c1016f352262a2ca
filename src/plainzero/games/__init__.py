"""Games: the contract, the check of a user's game, and the bundled games, one file each."""

from plainzero.games.registry import UnknownGame, bundled_games, make_game

__all__ = ["UnknownGame", "bundled_games", "make_game"]
