"""Games by name: `connect-four`, `connect-four(rows=7,cols=8)`, `path/to/file.py:ClassName`.

The class may be left out if the file defines one game. OpenSpiel's games are `open_spiel:chess`,
`open_spiel:go(board_size=5)` and so on.
"""

import difflib
import hashlib
import importlib
import importlib.util
import os
import re
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, Self

from plainzero.games.contract import Game
from plainzero.games.parameters import parse_parameters

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
_WELL_KNOWN_OPEN_SPIEL = (  # suggested if OpenSpiel is not installed
    *("amazons", "backgammon", "checkers", "chess", "chinese_checkers", "havannah", "hive"),
    *("mancala", "nim", "nine_mens_morris", "oware", "pentago", "quoridor", "shogi", "twixt"),
    *("xiangqi", "y"),
)

_END_OF_PATH = re.compile(r"\.py(?::(?P<name>\w+))?\s*(?P<next>\(|\Z)")

_loading = threading.RLock()  # a module is in sys.modules before all of it has run


class UnknownGame(ValueError):
    """There is no game of that name, or not with those parameters; the message says what exists."""


class GameSpec(NamedTuple):
    """The parts of a game's name, as in `path/to/file.py:ClassName(size=6)`.

    The path may have colons and parentheses, as in `C:/games (old)/amazons.py`.
    """

    path: str  # of its Python file, as written; empty for bundled games and OpenSpiel's
    name: str  # of the class in that file, empty if left out; without a file, the game's name
    parameters: str = ""  # rows=7,cols=8

    @classmethod
    def parse(cls, text: str) -> Self:
        """The parts of a game's name; the game need not exist.

        Raises:
            UnknownGame: if it is not a game's name.
        """
        text = text.strip()
        title, parenthesis, rest = text.partition("(")
        title, parameters = title.strip(), rest[:-1].strip()
        is_name = title and ")" not in title and bool(parenthesis) == text.endswith(")")
        if is_name and (title in _BUNDLED or is_open_spiel(title)):
            return cls("", title, parameters)
        for end in _END_OF_PATH.finditer(text):
            if bool(end["next"]) == text.endswith(")"):
                path = text[: end.start()] + ".py"
                return cls(path, end["name"] or "", text[end.end() : -1].strip())
        if not is_name:
            raise UnknownGame(
                f"{text!r} is not a game's name; write e.g. connect-four(rows=7,cols=8)"
            )
        path, _, name = title.rpartition(":")
        return cls(path, name, parameters)

    @property
    def title(self) -> str:
        """The name without parameters."""
        return ":".join(filter(None, (self.path, self.name)))

    @property
    def file(self) -> str:
        """The absolute path of its file, without symbolic links; empty if it has none."""
        return os.path.realpath(self.path) if self.path else ""

    def absolute(self) -> Self:
        """The same game for a process in another folder."""
        return self._replace(path=self.file)

    def __str__(self) -> str:
        """The name as `make_game` takes it."""
        return f"{self.title}({self.parameters})" if self.parameters else self.title


def bundled_games() -> dict[str, type[Game]]:
    """The bundled games by name."""
    return {name: _bundled_class(name) for name in _BUNDLED}


def make_game(name: str) -> Game:
    """The game of that name, with the parameters given in parentheses.

    Raises:
        UnknownGame: if there is no such game, file, class or parameter.
    """
    spec = GameSpec.parse(name)
    cls = _game_class(spec)
    try:
        return cls(**parse_parameters(cls, cls.title(), spec.parameters))
    except (TypeError, ValueError) as error:
        raise UnknownGame(str(error)) from error
    except Exception as error:  # whatever the game's own properties raise
        raise UnknownGame(
            f"{cls.title()} cannot have these parameters: {type(error).__name__}: {error}"
        ) from error


def is_open_spiel(name: str) -> bool:
    """Whether the name is that of an OpenSpiel game."""
    return name.strip().startswith(_OPEN_SPIEL)


def _game_class(spec: GameSpec) -> type[Game]:
    if spec.path:
        module = _load_file(Path(spec.path))
        if not spec.name:
            return _only_class(module, spec.path)
        return _class_in(module, spec.name, spec.path)
    if spec.name in _BUNDLED:
        return _bundled_class(spec.name)
    if is_open_spiel(spec.name):
        return _open_spiel_class(spec.name.removeprefix(_OPEN_SPIEL))
    raise UnknownGame(
        f"there is no game {spec.name!r}{_suggest(spec.name)} Bundled: {', '.join(_BUNDLED)}. Name "
        "your own game by its file, path/to/file.py (or path/to/file.py:ClassName if it defines "
        "several), and OpenSpiel's games as open_spiel:NAME"
    )


def _suggest(title: str) -> str:
    """The game that was probably meant, OpenSpiel's included, as the end of a sentence."""
    from plainzero.games.open_spiel.adapter import playable_games

    with_hyphens, with_underscores = title.replace("_", "-"), title.replace("-", "_")
    if with_hyphens not in _BUNDLED:
        playable = playable_games()
        if with_underscores in (playable or _WELL_KNOWN_OPEN_SPIEL):
            install = "" if playable else " It needs OpenSpiel: pip install 'plainzero[bridges]'."
            return f"; did you mean {_OPEN_SPIEL}{with_underscores}?{install}"
    close = difflib.get_close_matches(with_hyphens, _BUNDLED, n=1)
    return f"; did you mean {close[0]}?" if close else "."


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
    """The module in that file; a file is run only once."""
    if not path.is_file():
        raise UnknownGame(f"there is no file {str(path)!r}")
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
    except (Exception, SystemExit) as error:  # a script may exit when it is imported
        del sys.modules[name]
        raise UnknownGame(f"{path.name} does not load: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def _only_class(module: ModuleType, path: str) -> type[Game]:
    """The one game that the file itself defines; games that it imports do not count."""
    own = [
        cls
        for name, cls in _game_classes(module).items()
        if cls.__module__ == module.__name__ and not name.startswith("_")
    ]
    if len(own) != 1:
        found = f"several games: {', '.join(cls.__name__ for cls in own)}" if own else "no game"
        raise UnknownGame(f"{path} defines {found}; name one as {path}:ClassName")
    return own[0]


def _game_classes(module: ModuleType) -> dict[str, type[Game]]:
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Game) and value is not Game
    }


def _class_in(module: ModuleType, class_name: str, path: str) -> type[Game]:
    games = _game_classes(module)
    if class_name not in games:
        found = ", ".join(games) or "none"
        raise UnknownGame(f"{path} has no game class {class_name!r}; game classes there: {found}")
    return games[class_name]
