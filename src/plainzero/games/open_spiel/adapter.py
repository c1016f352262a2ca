"""OpenSpiel's games with perfect information: `open_spiel:chess`, `open_spiel:go(board_size=5)`.

Each OpenSpiel game has a class, made on demand, with that game's parameters. A position is the list
of moves so far; its rules are OpenSpiel's, which compiled code calls in Python (`states.py`). That
is slow compared with rules that compile, but needs no second implementation of anything.
"""

import functools
import hashlib
import importlib.util
import textwrap
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

from plainzero.games.contract import CHANCE, Field, Game, IllegalMove, field
from plainzero.games.open_spiel.python_callbacks import checked
from plainzero.games.open_spiel.states import (
    CHANCES,
    LEGAL,
    OBSERVE,
    OVER,
    STEP,
    Driver,
    add_driver,
    observation_shape,
)

PREFIX = "open_spiel:"
_MOST_TURNS = 32_000


class OpenSpielGame(Game):
    """An OpenSpiel game, played by OpenSpiel's rules."""

    turn_limit: int = 512  # a longer game is broken off as a draw

    short_name: ClassVar[str] = ""  # OpenSpiel's name of the game
    runs_on_gpu: ClassVar[bool] = False

    num_players = property(lambda self: self.spiel.num_players())
    num_actions = property(lambda self: self.spiel.num_distinct_actions())
    observation_shape = property(lambda self: observation_shape(self.spiel) or (1,))
    max_turns = property(lambda self: min(self.turn_limit, _longest_game(self.spiel)))
    max_chance_outcomes = property(lambda self: max(1, self.spiel.max_chance_outcomes()))
    number = property(lambda self: _number(self.name))
    open_spiel_version = property(lambda self: version("open_spiel"))

    def __post_init__(self) -> None:
        """Refuses games that PlainZero cannot play."""
        if not self.short_name:
            raise TypeError(f"name an OpenSpiel game, as in {PREFIX}chess")
        if not 1 <= self.turn_limit <= _MOST_TURNS:
            raise ValueError(
                f"{self.title()}: turn_limit is {self.turn_limit}; it must be 1 to {_MOST_TURNS:,}"
            )
        super().__post_init__()
        if reason := _refusal(self.spiel):
            raise ValueError(f"{self.name} cannot be played here: {reason}")
        shape = observation_shape(self.spiel)
        add_driver(self.number, Driver(self.spiel, self._move_type.itemsize, self.max_turns, shape))

    @functools.cached_property
    def spiel(self) -> Any:
        """OpenSpiel's own game object."""
        pyspiel = import_pyspiel()
        given = {
            name: getattr(self, name)
            for name, default in _parameters(self.short_name).items()
            if getattr(self, name) != default
        }
        texts = ",".join(f"{name}={value}" for name, value in given.items())
        try:
            return pyspiel.load_game(f"{self.short_name}({texts})")
        except pyspiel.SpielError as error:
            raise ValueError(f"OpenSpiel does not make {self.name}: {error}") from error

    @functools.cached_property
    def _move_type(self) -> np.dtype[Any]:
        most = max(self.num_actions, self.max_chance_outcomes)
        return np.dtype(np.int16 if most <= np.iinfo(np.int16).max else np.int32)

    def fields(self) -> dict[str, Field]:
        """The moves so far, chance included; `turn` is their number."""
        return {"history": field(self._move_type, (self.max_turns,))}

    def reset(self, state: Any) -> None:
        """An empty list of moves."""
        self.settle(state, 0)

    def legal_actions(self, state: Any, actions: Any) -> int:
        """OpenSpiel's legal actions, in its order."""
        moves = state.history.ctypes.data
        return checked(LEGAL(self.number, moves, state.turn, actions.ctypes.data))

    def play(self, state: Any, action: Any) -> None:
        """Adds the move to the list."""
        state.history[state.turn] = action
        self.settle(state, state.turn + 1)

    def settle(self, state: Any, length: Any) -> None:
        """Sets the player to move after `length` moves, or ends the game."""
        moves = state.history.ctypes.data
        player = checked(STEP(self.number, moves, length, state.returns.ctypes.data))
        if player == OVER:
            self.finish(state)
        else:
            state.to_play = player

    def observe(self, state: Any, planes: Any) -> None:
        """OpenSpiel's tensor for the mover, and one plane per player: ones for the mover."""
        moves = state.history.ctypes.data
        checked(OBSERVE(self.number, moves, state.turn, state.to_play, planes.ctypes.data))

    @classmethod
    def title(cls) -> str:
        """The game's name without parameters."""
        return PREFIX + cls.short_name

    def action_name(self, action: int) -> str:
        """OpenSpiel's name if it is the same in every position, otherwise the number."""
        return self._names[action] if self._names else str(action)

    def parse_action(self, text: str) -> int:
        """The action of that name or number."""
        if text in self._actions:
            return self._actions[text]
        if text.isascii() and text.isdigit() and int(text) < self.num_actions:
            return int(text)
        raise IllegalMove(
            f"{self.name} has no move {text!r}; its moves are numbers from 0 to "
            f"{self.num_actions - 1}, and the position shows which is which"
        )

    @functools.cached_property
    def _names(self) -> list[str]:
        """The names of all actions; empty if a name depends on the player or the position."""
        players = range(self.num_players)
        actions = range(self.num_actions)
        named = [[self.spiel.action_to_string(player, a) for a in actions] for player in players]
        names: list[str] = named[0]
        is_fixed = all(other == names for other in named) and len(set(names)) == len(names)
        # "Action(" is OpenSpiel's placeholder; and lists of moves are split at commas.
        is_usable = not any(name.startswith("Action(") or "," in name for name in names)
        return names if is_fixed and is_usable else []

    @functools.cached_property
    def _actions(self) -> dict[str, int]:
        return {name: action for action, name in enumerate(self._names)}

    def spiel_state(self, state: Any) -> Any:
        """A copy of OpenSpiel's own state of the position."""
        found = self.spiel.new_initial_state()
        for move in state.history[: state.turn].tolist():
            found.apply_action(move)
        return found

    def text(self, state: Any) -> str:
        """OpenSpiel's text, and its names of the legal moves if ours are numbers."""
        found = self.spiel_state(state)
        lines = [str(found).rstrip("\n")]
        if not (state.is_over or state.to_play == CHANCE or self._names):
            player = found.current_player()
            legal = (
                f"{action}={found.action_to_string(player, action).strip()}"
                for action in found.legal_actions()
            )
            lines += textwrap.wrap("moves: " + "  ".join(legal), 76, break_long_words=False)
        return "\n".join(lines)

    def __reduce__(self) -> Any:
        """Pickled by name, because its class is not in any file."""
        from plainzero.games.registry import make_game

        return make_game, (self.name,)


class _WithChance(OpenSpielGame):
    """An OpenSpiel game with chance moves."""

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """OpenSpiel's outcomes and probabilities."""
        moves, weights = state.history.ctypes.data, probabilities.ctypes.data
        return checked(CHANCES(self.number, moves, state.turn, actions.ctypes.data, weights))


def game_class(short_name: str) -> type[OpenSpielGame]:
    """The class of the OpenSpiel game of that name.

    Raises:
        ValueError: if there is none, or OpenSpiel is not installed.
    """
    if short_name not in _kinds():
        raise ValueError(
            f"OpenSpiel has no game {short_name!r}; its games that can be played "
            f"here: {', '.join(playable_games())}"
        )
    return _make_class(short_name)


def playable_games() -> list[str]:
    """The names of OpenSpiel's games that can be played here; none if it is not installed."""
    if importlib.util.find_spec("pyspiel") is None:
        return []
    return [name for name, kind in _kinds().items() if not _type_refusal(kind)]


def import_pyspiel() -> Any:
    """OpenSpiel's module.

    Raises:
        ValueError: when it is not installed.
    """
    try:
        return importlib.import_module("pyspiel")
    except ModuleNotFoundError as error:
        raise ValueError(
            "OpenSpiel's games need the package open_spiel: pip install 'plainzero[bridges]'"
        ) from error


@functools.cache
def _make_class(short_name: str) -> type[OpenSpielGame]:
    kind = _kinds()[short_name]
    parameters = _parameters(short_name)
    reason = _type_refusal(kind) if kind.default_loadable else ""  # else its parameters decide
    for name in parameters:
        if hasattr(OpenSpielGame, name) or not name.isidentifier():
            reason = reason or f"its parameter {name} cannot be the name of one of PlainZero's"
    if reason:
        raise ValueError(f"{PREFIX}{short_name} cannot be played here: {reason}")
    is_certain = kind.default_loadable and kind.chance_mode == kind.chance_mode.DETERMINISTIC
    base = OpenSpielGame if is_certain else _WithChance
    namespace = {
        "__module__": __name__,
        "__doc__": f"{kind.long_name}, by OpenSpiel's rules.",
        "__annotations__": {name: type(default) for name, default in parameters.items()},
        "short_name": short_name,
        **parameters,
    }
    return type(f"OpenSpiel_{short_name}", (base,), namespace)


def _kinds() -> dict[str, Any]:
    """OpenSpiel's description of each of its games, by name."""
    return {kind.short_name: kind for kind in import_pyspiel().registered_games()}


@functools.cache
def _parameters(short_name: str) -> dict[str, Any]:
    """The game's parameters with their defaults; a game as a parameter is written as text."""
    specified = _kinds()[short_name].parameter_specification
    return {
        name: default if isinstance(default, bool | int | float | str) else ""
        for name, default in specified.items()
    }


def _refusal(spiel: Any) -> str:
    """Why the game cannot be played here; empty if it can."""
    kind = spiel.get_type()
    if reason := _type_refusal(kind):
        return reason
    is_fair = kind.utility in (kind.utility.ZERO_SUM, kind.utility.CONSTANT_SUM)
    if spiel.num_players() > 1 and not is_fair:
        return (
            "it is general-sum: what one player wins the others need not lose, which the search, "
            "its proofs and its networks assume for two players or more"
        )
    return ""


def _type_refusal(kind: Any) -> str:
    if kind.dynamics != kind.dynamics.SEQUENTIAL:
        return "its players move at the same time, and PlainZero's games are turn-based"
    if kind.information != kind.information.PERFECT_INFORMATION:
        return "its players do not see everything (imperfect information)"
    if kind.chance_mode == kind.chance_mode.SAMPLED_STOCHASTIC:
        return "it draws its chance itself, and a search must be able to try each outcome"
    return ""


def _longest_game(spiel: Any) -> int:
    """An upper bound on the moves of a game, chance included."""
    return max(1, int(spiel.max_history_length()))


def _number(name: str) -> int:
    """The same number for a name in every process, because compiled code contains it."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "little")
