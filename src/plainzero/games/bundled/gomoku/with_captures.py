"""Gomoku with captures, a project at the schools of 42: `gomoku` with other parameters."""

from plainzero.games.bundled.gomoku.rules import Gomoku


class Gomoku42(Gomoku):
    """Five in a row or five captured pairs win on 19x19; double-threes are forbidden to both."""

    size = 19
    captures = 5
    double_three = "forbidden"

    @classmethod
    def title(cls) -> str:
        """The name, with a hyphen that the class cannot have."""
        return "gomoku-42"
