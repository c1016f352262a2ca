"""The games that requests may name: the bundled ones, and those of the command line.

A request names a game by its title in this catalogue, with parameters; a path in a request is only
an unknown title.
"""

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from plainzero.games.contract import Game
from plainzero.games.parameters import parameter_choices
from plainzero.games.registry import GameSpec, bundled_games, make_game
from plainzero.opponents.bundled_networks import has_bundled_network
from plainzero.server.api.errors import explaining_rule_errors
from plainzero.server.api.schemas.games import GameInfo, Parameter

_MAX_ACTIONS = 10_000
_MAX_STATE_BYTES = 1 << 16
_MAX_TURNS = 1_000_000
_MAX_GAMES = 200  # in the cache; the least recently used are dropped
_KINDS: dict[type, Any] = {int: "int", float: "float", bool: "bool", str: "str"}


class Catalogue:
    """Games by title. Thread-safe.

    Args:
        own: the user's own games, as `path/to/file.py:ClassName`, with or without parameters.

    Raises:
        UnknownGame: if one does not load.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:  # noqa: D107
        self._specs = {title: GameSpec("", title) for title in bundled_games()}
        self._names = {cls: title for title, cls in bundled_games().items()}
        self._own: dict[str, Game] = {}
        self._made: OrderedDict[tuple[str, str], Game] = OrderedDict()
        self._lock = threading.Lock()
        for spec in own:
            self.add(spec)

    def add(self, spec: str) -> str:
        """Adds a game named on the command line or by a run; returns its name in this catalogue.

        A class is one game, whichever path leads to its file.
        """
        game = make_game(spec)
        plain = GameSpec.parse(spec)._replace(parameters="")
        plain_game = make_game(str(plain))
        with self._lock:
            name = self._names.get(type(game))
            if name is None:
                name = _free_name(type(game).title(), self._specs)
                self._names[type(game)] = name
                self._specs[name], self._own[name] = plain, plain_game
            return _named(name, game)

    def game(self, name: str) -> Game:
        """The game of that name; equal names give the same object while it is cached.

        Raises:
            ValueError: if it is unknown, has invalid parameters, or is too large.
        """
        game = make_game(self.spec(name))
        key = GameSpec.parse(name).title, repr(game)
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        with explaining_rule_errors(game):
            _check_size(game)
        with self._lock:
            game = self._made.setdefault(key, game)
            while len(self._made) > _MAX_GAMES:
                self._made.popitem(last=False)
        return game

    def spec(self, name: str) -> str:
        """The game's name on the command line."""
        asked = GameSpec.parse(name)
        with self._lock:
            if asked.title in self._specs:
                return str(self._specs[asked.title]._replace(parameters=asked.parameters))
            names = ", ".join(self._specs)
        raise ValueError(f"unknown game {asked.title!r}; available: {names}")

    def name_of(self, name: str, game: Game) -> str:
        """The canonical name, without parameters that have their default value."""
        return _named(GameSpec.parse(name).title, game)

    def infos(self) -> list[GameInfo]:
        """All games with their default parameters: the user's own, then the others by title."""
        with self._lock:
            own = dict(self._own)
            bundled = sorted(title for title in self._specs if title not in own)
        games = own | {title: make_game(title) for title in bundled}
        return [self._info(title, game) for title, game in games.items()]

    def _info(self, title: str, game: Game) -> GameInfo:
        return GameInfo(
            name=title,
            title=" ".join(map(_capitalise, title.split("-"))),
            summary=(type(game).__doc__ or "").strip().partition("\n")[0],
            parameters=_parameters(game),
            num_players=game.num_players,
            is_own=title in self._own,
            has_bundled_network=has_bundled_network(game),
        )


def _parameters(game: Game) -> list[Parameter]:
    """The parameters that a form can edit, with their defaults."""
    choices = parameter_choices(type(game))
    return [
        Parameter(
            name=parameter.name,
            kind=_KINDS[type(parameter.default)],
            default=parameter.default,  # type: ignore[arg-type]
            choices=list(choices.get(parameter.name, ())),
        )
        for parameter in dataclasses.fields(game)
        if type(parameter.default) in _KINDS
    ]


def _capitalise(word: str) -> str:
    return word if word in ("a", "and", "of", "the") else word.capitalize()


def _named(title: str, game: Game) -> str:
    return title + game.name[len(game.title()) :]


def _free_name(title: str, taken: Iterable[str]) -> str:
    names, number = set(taken), 2
    name = title
    while name in names:
        name, number = f"{title}-{number}", number + 1
    return name


def _check_size(game: Game) -> None:
    if game.num_actions > _MAX_ACTIONS or game.max_turns > _MAX_TURNS:
        raise ValueError(
            f"{game.name} is too large for the server: it has {game.num_actions:,} actions and "
            f"up to {game.max_turns:,} turns; the limits are {_MAX_ACTIONS:,} and {_MAX_TURNS:,}"
        )
    if game.dtype.itemsize > _MAX_STATE_BYTES:
        raise ValueError(
            f"{game.name} is too large for the server: a position takes {game.dtype.itemsize:,} "
            f"bytes; the limit is {_MAX_STATE_BYTES:,}"
        )
