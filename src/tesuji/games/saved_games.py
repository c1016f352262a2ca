"""Games as files: JSON for every game, SGF for games of one or two players without chance.

Both keep the moves by name, so that people can read and write them. A file names its game; what
that name stands for is decided by the caller, so that reading a file never runs code from it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tesuji import __version__
from tesuji.games.contract import Game, State, has_chance
from tesuji.games.replaying import Replay
from tesuji.games.sgf import Node, escape, main_line

_FORMAT = "tesuji-game"
_VERSION = 1
_KEYS = ("format", "version", "game", "setup", "moves", "players", "result")
_DECIMALS = 6  # of returns

_COLOURS = ("B", "W")
_SGF_NUMBERS = {"go": 1, "othello": 2, "gomoku": 4, "hex": 11}  # by title, from the list of FF[4]
_SGF_SETUP = "TESUJISETUP"  # ours: cells and to_play as JSON
_SGF_STONES = ("AB", "AW", "AE", "PL")  # positions made by other programs
_MOVES_PER_LINE = 10

Setup = tuple[list[list[str]] | None, int]


@dataclass(frozen=True)
class SavedGame:
    """A game as it was played: how it began, the moves of players and chance, and who was who."""

    game: str  # its name
    cells: list[list[str]] | None  # the position made by hand from which it began
    to_play: int  # in that position; 0 where the game began as usual
    moves: list[int]
    players: list[str]  # names in the order of play, or none at all
    resigned: int | None  # the player who gave up


def to_json(game: Game, saved: SavedGame) -> str:
    """The game as JSON, one line for each thing.

    Raises:
        ValueError: when it cannot have been played so.
    """
    replay = _replay(game, saved)
    result: dict[str, Any] | None = None
    if saved.resigned is not None:
        result = {"resigned": saved.resigned}
    elif replay.state.is_over:
        result = {"returns": [round(float(value), _DECIMALS) for value in replay.state.returns]}
    setup = None if saved.cells is None else _setup_content(saved)
    values = (_FORMAT, _VERSION, saved.game, setup, replay.names, saved.players, result)
    lines = [f"  {_dump(key)}: {_dump(value)}" for key, value in zip(_KEYS, values, strict=True)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def to_sgf(game: Game, saved: SavedGame) -> str:
    """The game as SGF (FF[4]); the first player is black.

    Raises:
        ValueError: when it cannot have been played so, or SGF has no place for such a game.
    """
    _check_fits_sgf(game)
    replay = _replay(game, saved)
    root = {"FF": "4", "CA": "UTF-8", "AP": f"Tesuji:{__version__}", "GN": saved.game}
    if game.title() in _SGF_NUMBERS:
        root["GM"] = str(_SGF_NUMBERS[game.title()])
    root |= dict(zip(("PB", "PW"), saved.players, strict=False))
    if result := _sgf_result(saved, replay.state):
        root["RE"] = result
    if saved.cells is not None:
        root[_SGF_SETUP] = _dump(_setup_content(saved))
    properties = "".join(f"{key}[{escape(value)}]" for key, value in root.items())
    moves = [
        f";{_COLOURS[mover]}[{escape(name)}]"
        for mover, name in zip(replay.movers, replay.names, strict=True)
    ]
    starts = range(0, len(moves), _MOVES_PER_LINE)
    lines = ["".join(moves[start : start + _MOVES_PER_LINE]) for start in starts]
    return "\n".join([f"(;{properties}", *lines]) + ")\n"


def read_saved(text: str, make_game: Callable[[str], Game]) -> SavedGame:
    """The game that a file holds, JSON or SGF, told apart by how it begins; it was played again.

    Args:
        text: what the file holds.
        make_game: gives the game of a name, or raises a ValueError. The name comes from the file:
            pass no function that loads code for one, as `tesuji.make_game` does for
            `path/to/file.py:ClassName`.

    Raises:
        ValueError: when it is no saved game or cannot have been played so, with a sentence.
    """
    text = text.lstrip("\ufeff \t\r\n")
    if text.startswith("{"):
        return _read_json(text, make_game)
    if text.startswith("("):
        return _read_sgf(text, make_game)
    raise ValueError("this is no saved game: JSON begins with { and SGF with (")


def _replay(game: Game, saved: SavedGame) -> Replay:
    replay = Replay(game, saved.cells, saved.to_play)
    for action in saved.moves:
        replay.play(action)
    _check_people(game, saved.players, saved.resigned, replay.state)
    return replay


def _check_people(game: Game, players: list[str], resigned: int | None, end: State) -> None:
    if len(players) not in (0, game.num_players):
        raise ValueError(
            f"{game.name} has {game.num_players} players, but {len(players)} names are given"
        )
    if resigned is not None and resigned not in range(game.num_players):
        raise ValueError(f"who resigned must be 0 to {game.num_players - 1}, not {resigned!r}")
    if resigned is not None and end.is_over:
        raise ValueError(f"player {resigned} cannot have resigned: the game was over already")


# ---- JSON ---------------------------------------------------------------------------------------


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _setup_content(saved: SavedGame) -> dict[str, Any]:
    return {"cells": saved.cells, "to_play": saved.to_play}


def _read_json(text: str, make_game: Callable[[str], Game]) -> SavedGame:
    content = _parse_json(text)
    _require(content.get("format") == _FORMAT, f'its "format" must be "{_FORMAT}"')
    version = content.get("version")
    _require(version == _VERSION, f'its "version" must be {_VERSION}, not {version!r}')
    unknown = sorted(content.keys() - set(_KEYS))
    _require(not unknown, f"it must not say {', '.join(map(repr, unknown))}")
    name, names, players = (content.get(key) for key in ("game", "moves", "players"))
    _require(isinstance(name, str), 'its "game" must be a text')
    _require(_is_list(names, str), 'its "moves" must be a list of texts')
    _require(players is None or _is_list(players, str), 'its "players" must be a list of texts')
    game, setup = make_game(name), _read_setup(content.get("setup"))
    replay = Replay(game, *setup)
    for move in names:
        replay.play_named(move)
    resigned = _read_result(content.get("result"), replay)
    _check_people(game, players or [], resigned, replay.state)
    return SavedGame(name, *setup, replay.moves, players or [], resigned)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this saved game is no JSON: {error}") from error


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(f"this is no saved game: {what}")


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(type(item) is kind for item in value)


def _read_setup(content: Any) -> Setup:
    if content is None:
        return None, 0
    is_whole = isinstance(content, dict) and content.keys() == {"cells", "to_play"}
    _require(is_whole, "a setup has cells and to_play, and nothing else")
    cells, to_play = content["cells"], content["to_play"]
    _require(
        _is_list(cells, list) and all(_is_list(row, str) for row in cells),
        "cells must be a list of rows, each a list of texts",
    )
    _require(type(to_play) is int, f"to_play must be a whole number, not {to_play!r}")
    return cells, to_play


def _read_result(content: Any, replay: Replay) -> int | None:
    """Who resigned, if somebody did; returns must be those to which the moves lead."""
    if content is None:
        return None
    is_result = isinstance(content, dict) and len(content) == 1
    _require(is_result and content.keys() <= {"resigned", "returns"}, "its result is unknown")
    if "resigned" in content:
        resigned = content["resigned"]
        _require(type(resigned) is int, f"who resigned must be a whole number, not {resigned!r}")
        return int(resigned)
    returns, reached = content["returns"], replay.state.returns.tolist()
    if not replay.state.is_over:
        raise ValueError(
            f"the file has a result, but after move {len(replay.moves)} nobody has won"
        )
    numbers = isinstance(returns, list) and all(type(value) in (int, float) for value in returns)
    if not (numbers and len(returns) == len(reached) and np.allclose(returns, reached, atol=1e-4)):
        raise ValueError(f"the file says that the returns are {returns}, its moves make {reached}")
    return None


# ---- SGF ----------------------------------------------------------------------------------------


def _check_fits_sgf(game: Game) -> None:
    if has_chance(game) or game.num_players > len(_COLOURS):
        why = "chance" if has_chance(game) else f"{game.num_players} players"
        raise ValueError(
            f"SGF has no place for {game.name}, a game with {why}; save it as JSON instead"
        )


def _sgf_result(saved: SavedGame, end: State) -> str:
    if saved.resigned is not None:
        return f"{_COLOURS[1 - saved.resigned]}+R"
    if not end.is_over or len(end.returns) < len(_COLOURS):
        return ""
    return "0" if end.returns[0] == end.returns[1] else f"{_COLOURS[end.returns.argmax()]}+"


def _read_sgf(text: str, make_game: Callable[[str], Game]) -> SavedGame:
    nodes = main_line(text)
    root = nodes[0]
    _require("GN" in root, "its first node must name the game, as in GN[connect-four]")
    name = root["GN"][0]
    game = make_game(name)
    _check_fits_sgf(game)
    setup = _read_setup(_parse_json(root[_SGF_SETUP][0])) if _SGF_SETUP in root else (None, 0)
    replay = Replay(game, *setup)
    for node in nodes:
        _play_node(replay, node)
    players = [root.get(key, [""])[0] for key in ("PB", "PW")][: game.num_players]
    players = players if root.keys() & {"PB", "PW"} else []
    winner, _, how = root.get("RE", [""])[0].partition("+")
    is_resigned = winner in _COLOURS and how in ("R", "Resign")
    resigned = 1 - _COLOURS.index(winner) if is_resigned else None
    _check_people(game, players, resigned, replay.state)
    return SavedGame(name, *setup, replay.moves, players, resigned)


def _play_node(replay: Replay, node: Node) -> None:
    for key in _SGF_STONES:
        if key in node:
            raise replay.refusal(
                f"{key}{node[key]} changes the position, which cannot be read here"
            )
    played = [(colour, name) for colour in _COLOURS for name in node.get(colour, [])]
    if len(played) > 1:
        raise replay.refusal(f"one node holds {len(played)} moves; each needs a ; of its own")
    for colour, name in played:
        if not replay.state.is_over and colour != _COLOURS[replay.state.to_play]:
            other = _COLOURS[replay.state.to_play]
            raise replay.refusal(f"{colour}[{name}] cannot be played: it is the turn of {other}")
        replay.play_named(name)
