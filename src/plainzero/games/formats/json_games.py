"""Games as JSON, with any number of players and with chance."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from plainzero.games.contract import Game
from plainzero.games.formats.played_game import (
    SavedGame,
    check_people,
    is_list_of,
    read_setup,
    replay_saved,
    require,
    setup_content,
)
from plainzero.games.formats.replay_moves import ReplayedGame

_FORMAT = "plainzero-game"
_VERSION = 1
_KEYS = ("format", "version", "game", "setup", "moves", "players", "result")
_DECIMALS = 6  # of returns


def to_json(game: Game, saved: SavedGame) -> str:
    """The game as JSON, one line per key.

    Raises:
        ValueError: if its moves are illegal.
    """
    replay = replay_saved(game, saved)
    result: dict[str, Any] | None = None
    if saved.resigned is not None:
        result = {"resigned": saved.resigned}
    elif replay.state.is_over:
        result = {"returns": [round(float(value), _DECIMALS) for value in replay.state.returns]}
    setup = None if saved.cells is None else setup_content(saved)
    values = (_FORMAT, _VERSION, saved.game, setup, replay.names, saved.players, result)
    lines = [f"  {dump(key)}: {dump(value)}" for key, value in zip(_KEYS, values, strict=True)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_json(text: str, make_game: Callable[[str], Game]) -> SavedGame:
    """The game that `to_json` wrote.

    Raises:
        ValueError: if it is not a saved game, or its moves are illegal.
    """
    content = parse_json(text)
    require(isinstance(content, dict), "it must be an object, in { and }")
    require(content.get("format") == _FORMAT, f'its "format" must be "{_FORMAT}"')
    version = content.get("version")
    require(version == _VERSION, f'its "version" must be {_VERSION}, not {version!r}')
    unknown = sorted(content.keys() - set(_KEYS))
    require(not unknown, f"it must not contain {', '.join(map(repr, unknown))}")
    name, names, players = (content.get(key) for key in ("game", "moves", "players"))
    require(isinstance(name, str), 'its "game" must be a string')
    require(is_list_of(names, str), 'its "moves" must be a list of strings')
    require(players is None or is_list_of(players, str), 'its "players" must be a list of strings')
    game, setup = make_game(name), read_setup(content.get("setup"))
    replay = ReplayedGame(game, *setup)
    for move in names:
        replay.play_named(move)
    resigned = _read_result(content.get("result"), replay)
    check_people(game, players or [], resigned, replay.state)
    return SavedGame(name, *setup, replay.moves, players or [], resigned)


def dump(value: Any) -> str:
    """The value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def parse_json(text: str) -> Any:
    """The value of the JSON.

    Raises:
        ValueError: if it is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this saved game is not JSON: {error}") from error


def _read_result(content: Any, replay: ReplayedGame) -> int | None:
    """Who resigned, if anybody; returns must be those that the moves lead to."""
    if content is None:
        return None
    is_result = isinstance(content, dict) and len(content) == 1
    require(is_result and content.keys() <= {"resigned", "returns"}, "its result is unknown")
    if "resigned" in content:
        resigned = content["resigned"]
        require(type(resigned) is int, f"who resigned must be a whole number, not {resigned!r}")
        return int(resigned)
    returns, reached = content["returns"], replay.state.returns.tolist()
    if not replay.state.is_over:
        raise ValueError(
            f"the file has a result, but after move {len(replay.moves)} nobody has won"
        )
    numbers = isinstance(returns, list) and all(type(value) in (int, float) for value in returns)
    if not (numbers and len(returns) == len(reached) and np.allclose(returns, reached, atol=1e-4)):
        raise ValueError(f"the file has the returns {returns}, but its moves lead to {reached}")
    return None
