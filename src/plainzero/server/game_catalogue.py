"""The games that a request may name: the bundled ones, and those the command line gave.

A request names a game by its title in this catalogue, with parameters; a path in a request is just
a title that is not there.
"""

import dataclasses
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from plainzero.games.contract import Game, parameter_choices
from plainzero.games.registry import bundled_games, make_game
from plainzero.opponents.bundled_networks import has_shipped
from plainzero.server.api.errors import telling_rule_faults
from plainzero.server.api.schemas.games import GameInfo, Parameter

_MOST_ACTIONS = 10_000
_MOST_STATE_BYTES = 1 << 16
_MOST_TURNS = 1_000_000
_MOST_GAMES = 200  # kept; the one asked for longest ago goes first
_KINDS: dict[type, Any] = {int: "int", float: "float", bool: "bool", str: "str"}


class Catalogue:
    """Games by title; safe for many threads.

    Args:
        own: games of the user's own, as `path/to/file.py:ClassName`, with or without parameters.

    Raises:
        UnknownGame: for one that does not load.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:  # noqa: D107
        self._specs = {title: title for title in bundled_games()}
        self._own: dict[str, Game] = {}
        self._made: OrderedDict[tuple[str, str], Game] = OrderedDict()
        self._lock = threading.Lock()
        for spec in own:
            self.add(spec)

    def add(self, spec: str) -> str:
        """Takes in a game from the command line or from a run; returns its name here."""
        game = make_game(spec)
        title, parameters = _split(spec)
        plain = make_game(title) if parameters else game
        with self._lock:
            if title in self._specs:
                return _named(title, game)
            for name, known in self._specs.items():
                if known == title:
                    return _named(name, game)
            name = _free_name(type(game).title(), self._specs)
            self._specs[name] = title
            self._own[name] = plain
            return _named(name, game)

    def game(self, name: str) -> Game:
        """The game of that name; the same object for every way to write it, while it is kept.

        Raises:
            ValueError: when there is none, its parameters do not fit, or it is too large.
        """
        game = make_game(self.spec(name))
        key = _split(name)[0], repr(game)
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        with telling_rule_faults(game):
            _check_size(game)
        with self._lock:
            game = self._made.setdefault(key, game)
            while len(self._made) > _MOST_GAMES:
                self._made.popitem(last=False)
        return game

    def spec(self, name: str) -> str:
        """The name by which the command line knows the game."""
        title, parameters = _split(name)
        with self._lock:
            if title in self._specs:
                return self._specs[title] + parameters
            names = ", ".join(self._specs)
        raise ValueError(f"there is no game {title!r}; games here: {names}")

    def name_of(self, name: str, game: Game) -> str:
        """The name in its one true form: parameters that are the default are left out."""
        return _named(_split(name)[0], game)

    def infos(self) -> list[GameInfo]:
        """Every game with its default parameters: the user's own, then the others by title."""
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
            has_shipped=has_shipped(game),
        )


def _parameters(game: Game) -> list[Parameter]:
    """The parameters that can be written in a form, with the class's own defaults."""
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


def _split(name: str) -> tuple[str, str]:
    """The title, and the parameters with their parentheses."""
    match = re.fullmatch(r"\s*([^()]+?)\s*(\(.*\))?\s*", name, re.DOTALL)
    if match is None:
        raise ValueError(f"{name!r} is not a game's name; write e.g. connect-four(rows=7,cols=8)")
    return match[1], match[2] or ""


def _named(title: str, game: Game) -> str:
    return title + game.name[len(game.title()) :]


def _free_name(title: str, taken: Iterable[str]) -> str:
    names, number = set(taken), 2
    name = title
    while name in names:
        name, number = f"{title}-{number}", number + 1
    return name


def _check_size(game: Game) -> None:
    if game.num_actions > _MOST_ACTIONS or game.max_turns > _MOST_TURNS:
        raise ValueError(
            f"{game.name} is too large for the page: it has {game.num_actions:,} actions and up to "
            f"{game.max_turns:,} turns; {_MOST_ACTIONS:,} and {_MOST_TURNS:,} are the most"
        )
    if game.dtype.itemsize > _MOST_STATE_BYTES:
        raise ValueError(
            f"{game.name} is too large for the page: a position takes {game.dtype.itemsize:,} "
            f"bytes, and {_MOST_STATE_BYTES:,} are the most"
        )
