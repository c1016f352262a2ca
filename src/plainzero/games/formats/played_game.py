"""A played game, independent of the file format."""

from dataclasses import dataclass
from typing import Any

from plainzero.games.contract import Game, State
from plainzero.games.formats.replay_moves import ReplayedGame

StartingPosition = tuple[list[list[str]] | None, int]
"""The cells of a position set up by hand, if any, and who moves there."""


@dataclass(frozen=True)
class SavedGame:
    """A played game: its start, the moves of players and chance, and the players' names."""

    game: str  # its name
    cells: list[list[str]] | None  # the position set up by hand from which it began
    to_play: int  # in that position; 0 for the usual start
    moves: list[int]
    players: list[str]  # names in the order of play, or empty
    resigned: int | None  # the player who resigned, if any


def replay_saved(game: Game, saved: SavedGame) -> ReplayedGame:
    """The game replayed to its last move.

    Raises:
        ValueError: if the moves are not legal.
    """
    replay = ReplayedGame(game, saved.cells, saved.to_play)
    for action in saved.moves:
        replay.play(action)
    check_people(game, saved.players, saved.resigned, replay.state)
    return replay


def check_people(game: Game, players: list[str], resigned: int | None, end: State) -> None:
    """Refuses a wrong number of names, and a resignation that is impossible.

    Raises:
        ValueError: says what is wrong.
    """
    if len(players) not in (0, game.num_players):
        raise ValueError(
            f"{game.name} has {game.num_players} players, but {len(players)} names are given"
        )
    if resigned is not None and resigned not in range(game.num_players):
        raise ValueError(f"who resigned must be 0 to {game.num_players - 1}, not {resigned!r}")
    if resigned is not None and end.is_over:
        raise ValueError(f"player {resigned} cannot have resigned: the game was over already")


def require(condition: bool, what: str) -> None:
    """Refuses a file that breaks a condition.

    Raises:
        ValueError: unless the condition holds.
    """
    if not condition:
        raise ValueError(f"this is not a saved game: {what}")


def setup_content(saved: SavedGame) -> dict[str, Any]:
    """The position set up by hand, as JSON content."""
    return {"cells": saved.cells, "to_play": saved.to_play}


def read_setup(content: Any) -> StartingPosition:
    """The position set up by hand that `setup_content` wrote.

    Raises:
        ValueError: if the content is invalid.
    """
    if content is None:
        return None, 0
    is_whole = isinstance(content, dict) and content.keys() == {"cells", "to_play"}
    require(is_whole, "a setup has exactly the keys cells and to_play")
    cells, to_play = content["cells"], content["to_play"]
    require(
        is_list_of(cells, list) and all(is_list_of(row, str) for row in cells),
        "cells must be a list of rows, each a list of strings",
    )
    require(type(to_play) is int, f"to_play must be a whole number, not {to_play!r}")
    return cells, to_play


def is_list_of(value: Any, kind: type) -> bool:
    """Whether the value is a list of that kind only."""
    return isinstance(value, list) and all(type(item) is kind for item in value)
