"""Games by name: `connect-four`, `connect-four(rows=7,cols=8)`, `path/to/file.py:ClassName`.

And those of OpenSpiel's: `open_spiel:chess`, `open_spiel:go(board_size=5)`.
"""

import ast
import dataclasses
import difflib
import hashlib
import importlib
import importlib.util
import re
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

from plainzero.games.contract import Game

_BUNDLED = {
    "tic-tac-toe": "tic_tac_toe:TicTacToe",
    "connect-four": "connect_four:ConnectFour",
    "dots-and-boxes": "dots_and_boxes:DotsAndBoxes",
    "trio": "trio:Trio",
    "2048": "twenty_forty_eight:TwentyFortyEight",
    "pig": "pig:Pig",
    "ultimate-tic-tac-toe": "ultimate_tic_tac_toe:UltimateTicTacToe",
    "breakthrough": "breakthrough:Breakthrough",
    "gomoku": "gomoku.rules:Gomoku",
    "gomoku-42": "gomoku.with_captures:Gomoku42",
    "othello": "othello:Othello",
    "go": "go.rules:Go",
    "hex": "hex:Hex",
    "orbit": "orbit.rules:Orbit",
    "sensor-jammer": "sensor_jammer:SensorJammer",
}

_OPEN_SPIEL = "open_spiel:"

_loading = threading.RLock()  # a module is in sys.modules before all of it has run


class UnknownGame(ValueError):
    """No game goes by that name, or not with those parameters; the message says what does."""


def bundled_games() -> dict[str, type[Game]]:
    """The games that come with PlainZero, by name."""
    return {name: _bundled_class(name) for name in _BUNDLED}


def make_game(name: str) -> Game:
    """The game of that name, with the parameters given in parentheses.

    Raises:
        UnknownGame: when there is no such game, file, class or parameter.
    """
    match = re.fullmatch(r"\s*(?P<title>[^()]+?)\s*(\((?P<parameters>.*)\))?\s*", name, re.DOTALL)
    if match is None:
        raise UnknownGame(f"{name!r} is not a game's name; write e.g. connect-four(rows=7,cols=8)")
    cls = _game_class(match["title"])
    parameters = _parse_parameters(cls, match["parameters"] or "")
    try:
        return cls(**parameters)
    except (TypeError, ValueError) as error:
        raise UnknownGame(str(error)) from error
    except (ArithmeticError, LookupError, MemoryError) as error:
        raise UnknownGame(
            f"{cls.title()} cannot have these parameters: {type(error).__name__}: {error}"
        ) from error


def is_open_spiel(name: str) -> bool:
    """Whether the name is that of a game of OpenSpiel's."""
    return name.strip().startswith(_OPEN_SPIEL)


def _game_class(title: str) -> type[Game]:
    if title in _BUNDLED:
        return _bundled_class(title)
    if is_open_spiel(title):
        return _open_spiel_class(title.removeprefix(_OPEN_SPIEL))
    if ":" in title:
        path, _, class_name = title.rpartition(":")
        return _class_in(_load_file(Path(path)), class_name, path)
    close = difflib.get_close_matches(title, _BUNDLED, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]}?" if close else "."
    raise UnknownGame(
        f"there is no game {title!r}{hint} Bundled: {', '.join(_BUNDLED)}. A game of your own is "
        "named as path/to/file.py:ClassName, one of OpenSpiel's as open_spiel:NAME"
    )


def _open_spiel_class(short_name: str) -> type[Game]:
    from plainzero.games.open_spiel.adapter import game_class

    try:
        return game_class(short_name)
    except ValueError as error:
        raise UnknownGame(str(error)) from error


def _bundled_class(title: str) -> type[Game]:
    module, _, class_name = _BUNDLED[title].partition(":")
    cls: type[Game] = getattr(
        importlib.import_module(f"plainzero.games.bundled.{module}"), class_name
    )
    return cls


def _load_file(path: Path) -> ModuleType:
    """The module in that file; a file that was loaded before is not run again."""
    if not path.is_file():
        raise UnknownGame(
            f"there is no file {str(path)!r}; name a game as path/to/file.py:ClassName"
        )
    with _loading:
        return _load_once(path.resolve())


def _load_once(path: Path) -> ModuleType:
    name = f"plainzero_game_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UnknownGame(f"{str(path)!r} is not a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a script may end itself where it was to be imported
        del sys.modules[name]
        raise UnknownGame(f"{path.name} does not load: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def _class_in(module: ModuleType, class_name: str, path: str) -> type[Game]:
    games = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Game) and value is not Game
    }
    if class_name not in games:
        found = ", ".join(games) or "none"
        raise UnknownGame(f"{path} has no game class {class_name!r}; game classes there: {found}")
    return games[class_name]


def _parse_parameters(cls: type[Game], text: str) -> dict[str, Any]:
    known = {parameter.name: parameter for parameter in dataclasses.fields(cls)}
    parameters: dict[str, Any] = {}
    for part in filter(None, map(str.strip, _split_parameters(text))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in known:
            names = ", ".join(f"{p.name}={p.default}" for p in known.values()) or "none"
            raise UnknownGame(f"{cls.title()} has no parameter {key!r}; its parameters: {names}")
        parameters[key] = _parse_value(value)
    return parameters


def _split_parameters(text: str) -> list[str]:
    """The parts between commas, but for those in parentheses: a value may be a game's name."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _parse_value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # also for one nested deeply
        return text
