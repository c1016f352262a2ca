"""The game contract: what a game says of itself, and what it gets from the framework.

A game is a subclass of `Game`. Its parameters are annotated class attributes, its position is a
record of fixed-size arrays named in `fields()`, its rules are ordinary methods. The rules run as
they stand (here) and compiled (through `games/rules.py`); `docs/write-a-game.md` tells it all.
"""

import dataclasses
import functools
import hashlib
import keyword
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import DTypeLike, NDArray

from plainzero.compiler.bind_rules import source_files
from plainzero.compiler.record_types import Record
from plainzero.games.board_view import Grid as Grid
from plainzero.games.board_view import Layout as Layout
from plainzero.games.board_view import Step as Step

CHANCE = -1
"""The player whose turn it is when the dice, the cards or the tiles decide."""

MAX_CHANCE_OUTCOMES = 256
"""Room for chance outcomes where a game does not set `max_chance_outcomes`."""

PIECES = ("x", "o", "z", "v", "w", "y", "u", "t")
"""The texts of cells that are drawn as pieces of the first player, the second, and so on."""

EMPTY = (".", " ", "")
"""The texts of cells in which nothing stands."""

_BUILT_IN_FIELDS = ("returns", "turn", "to_play", "is_over")
_RESERVED_FIELDS = (*_BUILT_IN_FIELDS, "dtype", "view")  # NumPy and Numba take these for theirs
RULES = ("reset", "legal_actions", "playout_actions", "play", "observe", "chance_outcomes")


class IllegalMove(ValueError):
    """A move that the rules do not allow in this position."""


class Field(NamedTuple):
    """One field of the state record: its element type and its shape, () for a scalar."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def field(dtype: DTypeLike, shape: int | Sequence[int] = ()) -> Field:
    """Declares a field of a game's state: `field(np.int8, (3, 3))`, or `field(np.int16)`."""
    declared = Field(np.dtype(dtype), (shape,) if isinstance(shape, int) else tuple(shape))
    if declared.dtype == np.bool_ and declared.shape:
        raise TypeError("an array of np.bool_ cannot be compiled: use np.int8, with 0 and 1")
    return declared


class Symmetry(NamedTuple):
    """One way to turn the board: what becomes of an observation, and of each action."""

    planes: Callable[[NDArray[Any]], NDArray[Any]]  # [*observation_shape] -> the same shape
    actions: Sequence[int]  # actions[a] is what action a becomes


class State(Record):  # type: ignore[misc]
    """A position: a reference into an array of records; its fields are attributes."""


@dataclasses.dataclass(frozen=True)
class Game:
    """What every game has. See the module's docstring, and `tic_tac_toe.py` for one to copy."""

    # ---- what a game says of itself -------------------------------------------------------------

    num_players: ClassVar[Any] = 2
    num_actions: ClassVar[Any] = None
    observation_shape: ClassVar[Any] = None
    max_turns: ClassVar[Any] = None  # an upper bound on the plays in a game, chance's included
    max_chance_outcomes: ClassVar[Any] = MAX_CHANCE_OUTCOMES
    set_up_knows_the_end: ClassVar[bool] = False  # True: its set_up ends each position that is over
    moves_take_cells: ClassVar[Any] = False  # True: see holder()
    runs_on_gpu: ClassVar[bool] = True  # False: its rules call what only a CPU can run

    def fields(self) -> dict[str, Field]:
        """The state's own fields; every state also has returns, turn, to_play and is_over."""
        raise NotImplementedError(f"{type(self).__name__} needs fields()")

    def reset(self, state: Any) -> None:
        """Sets up the board; a new state arrives with every field zero."""

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Writes the legal actions, each once, and returns how many there are."""
        raise NotImplementedError(f"{type(self).__name__} needs legal_actions()")

    def playout_actions(self, state: Any, actions: Any) -> int:
        """Writes those legal actions among which a random playout chooses, returns how many."""
        return self.legal_actions(state, actions)

    def play(self, state: Any, action: Any) -> None:
        """Plays a legal action, or one of chance's outcomes; the framework advances `turn`."""
        raise NotImplementedError(f"{type(self).__name__} needs play()")

    def observe(self, state: Any, planes: Any) -> None:
        """Writes what a network sees, from the view of `state.to_play`; planes arrive zeroed."""

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """Where `to_play` is CHANCE: writes outcomes and probabilities, returns how many."""
        return 0

    def holder(self, state: Any, action: Any) -> int:
        """Who holds the cell that the action takes, or −1 for nobody.

        For games that set `moves_take_cells`: two players in turn, each action takes a cell for
        good, every free one may be taken, one wins by the cells he holds, no cell is ever too many.
        Symmetries leave each player his aim. A search can learn more of such games.
        """
        return -1

    def winning_cells(self, state: Any, cells: Any) -> None:
        """In such a game, won: writes 1 to the zeroed cells[action] for cells that win alone."""

    def symmetries(self) -> list[Symmetry]:
        """The ways to turn the board that leave the game the same, the identity left out."""
        return []

    def action_name(self, action: int) -> str:
        """What people call the action."""
        return str(action)

    def parse_action(self, text: str) -> int:
        """The action that people call `text`."""
        for action in range(self.num_actions):
            if self.action_name(action) == text:
                return action
        some = ", ".join(self.action_name(action) for action in range(min(self.num_actions, 10)))
        more = ", …" if self.num_actions > 10 else ""
        raise IllegalMove(f"{self.name} has no move {text!r}; its moves are {some}{more}")

    def outcome_name(self, outcome: int) -> str:
        """What people call one of chance's outcomes."""
        return str(outcome)

    def view(self, state: Any) -> Grid | None:
        """The board as cells to draw and to click, where the game has one."""
        return None

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Fills in a position made by hand: cells as `view` draws them; ValueError if it cannot be.

        The state arrives with every field zero but `to_play`. A game that does not write this can
        be set up all the same where one field is what `view` draws: see `games/position_setup.py`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no set_up()")

    def text(self, state: Any) -> str:
        """The position in plain text."""
        grid = self.view(state)
        if grid is not None:
            return "\n".join(" ".join(row) for row in grid.cells)
        return "\n".join(f"{name}: {state[name]}" for name in self.fields())

    # ---- for rules to call ----------------------------------------------------------------------

    def end_turn(self, state: Any) -> None:
        """The next player in order is to play."""
        state.to_play = (state.to_play + 1) % self.num_players

    def win(self, state: Any, player: Any) -> None:
        """The game is over: +1 for the winner, and the others share the loss."""
        for other in range(self.num_players):
            if other == player:
                state.returns[other] = 1.0
            else:
                state.returns[other] = -1.0 / (self.num_players - 1)
        state.is_over = True

    def draw(self, state: Any) -> None:
        """The game is over and nobody has won."""
        for player in range(self.num_players):
            state.returns[player] = 0.0
        state.is_over = True

    def finish(self, state: Any) -> None:
        """The game is over, with what the rules wrote to `returns`."""
        state.is_over = True

    # ---- for those who use a game ---------------------------------------------------------------

    def new_state(self) -> State:
        """The position in which the game begins."""
        state: State = np.zeros(1, self.dtype)[0]
        self.reset(state)
        return state

    def copy(self, state: Any) -> State:
        """The same position in memory of its own."""
        states = np.empty(1, self.dtype)
        states[0] = state
        copied: State = states[0]
        return copied

    def legal(self, state: Any) -> list[int]:
        """The legal actions; chance's outcomes where it is chance's turn; none when it is over."""
        if state.is_over:
            return []
        if state.to_play == CHANCE:
            return [outcome for outcome, _ in self.chances(state)]
        actions = np.zeros(self.num_actions, np.int32)
        return [int(action) for action in actions[: self.legal_actions(state, actions)]]

    def chances(self, state: Any) -> list[tuple[int, float]]:
        """What may happen where `to_play` is CHANCE: pairs of an outcome and its probability."""
        outcomes = np.zeros(self.max_chance_outcomes, np.int32)
        probabilities = np.zeros(self.max_chance_outcomes, np.float64)
        count = self.chance_outcomes(state, outcomes, probabilities)
        return [(int(outcomes[i]), float(probabilities[i])) for i in range(count)]

    def apply(self, state: Any, action: int) -> None:
        """Plays `action` in place.

        Raises:
            IllegalMove: when the game is over or the rules do not allow it; nothing has changed.
        """
        if state.is_over:
            raise IllegalMove(f"{self._describe(state, action)} cannot be played: the game is over")
        legal = self.legal(state)
        if action not in legal:
            some = " ".join(self._describe(state, other) for other in legal[:20])
            raise IllegalMove(
                f"{self._describe(state, action)} is not legal here; legal moves: {some}"
                + (" …" if len(legal) > 20 else "")
            )
        self.play(state, action)
        state.turn += 1

    def observation(self, state: Any) -> NDArray[np.float32]:
        """What a network sees of the position, `observation_shape`."""
        planes = np.zeros(self.observation_shape, np.float32)
        self.observe(state, planes)
        return planes

    def _describe(self, state: Any, action: int) -> str:
        is_outcome = state.to_play == CHANCE
        room = self.max_chance_outcomes if is_outcome else self.num_actions
        if not (isinstance(action, int | np.integer) and 0 <= action < room):
            return repr(action)
        return self.outcome_name(int(action)) if is_outcome else self.action_name(int(action))

    # ---- what the framework needs to know of it -------------------------------------------------

    @classmethod
    def title(cls) -> str:
        """The game's name without parameters: `TicTacToe` is tic-tac-toe."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    @property
    def name(self) -> str:
        """The name with the parameters that differ from the default: connect-four(rows=7)."""
        changed = [
            f"{parameter.name}={getattr(self, parameter.name)}"
            for parameter in dataclasses.fields(self)
            if getattr(self, parameter.name) != parameter.default
        ]
        return self.title() + (f"({','.join(changed)})" if changed else "")

    @functools.cached_property
    def tag(self) -> str:
        """Names this game, its parameters and all source it depends on, for the disk cache."""
        digest = hashlib.sha256(self.source_digest.encode())
        for path in _framework_files():
            digest.update(_file_digest(path))
        return f"{type(self).__name__}_{digest.hexdigest()[:16]}"

    @functools.cached_property
    def source_digest(self) -> str:
        """Changes with the game's parameters and with every source file of its own."""
        digest = hashlib.sha256(repr(self).encode())
        for path, constants in sorted(set(source_files(self, Game))):
            digest.update(constants.encode())
            digest.update(_file_digest(path))
        return digest.hexdigest()

    @functools.cached_property
    def dtype(self) -> np.dtype[Any]:
        """The state record.

        Its last field only carries the tag: compiled code is chosen by type, so games with equal
        fields and different rules must have different types.
        """
        own = self.fields()
        for name in own:
            if name in _RESERVED_FIELDS or keyword.iskeyword(name) or not name.isidentifier():
                raise TypeError(f"{type(self).__name__}: a field cannot be called {name!r}")
        record = [
            *((name, *field) for name, field in own.items()),
            ("returns", np.float32, (self.num_players,)),
            ("turn", np.int32),
            ("to_play", np.int8),
            ("is_over", np.bool_),
            (self.tag, np.int8),
        ]
        return np.dtype((State, np.dtype(record, align=True)))

    def __init_subclass__(cls) -> None:
        """Makes the annotated class attributes parameters of the game."""
        for parameter in dataclasses.fields(cls):  # those it inherits: `size = 5` changes one
            if parameter.name in vars(cls):
                cls.__annotations__.setdefault(parameter.name, parameter.type)
        dataclasses.dataclass(frozen=True)(cls)

    def __post_init__(self) -> None:
        """Checks the parameters' types, and what the game must say of itself."""
        for parameter in dataclasses.fields(self):
            value = getattr(self, parameter.name)
            wanted = type(parameter.default)
            if wanted is float and type(value) is int:
                object.__setattr__(self, parameter.name, float(value))
            elif wanted in (bool, int, float, str) and type(value) is not wanted:
                raise TypeError(
                    f"{self.title()}: {parameter.name} must be {wanted.__name__}, not {value!r}"
                )
        for name, choices in parameter_choices(type(self)).items():
            value = getattr(self, name)
            if value not in choices:
                raise ValueError(
                    f"{self.title()}: {name} must be {_either(choices)}, not {value!r}"
                )
        for attribute in ("num_actions", "observation_shape", "max_turns"):
            if getattr(self, attribute) is None:
                raise TypeError(f"{type(self).__name__} must say its {attribute}")
        if not isinstance(self.num_players, int) or self.num_players < 1:
            raise TypeError(f"{type(self).__name__}: num_players must be 1 or more")


def has_chance(game: Game) -> bool:
    """Whether the game ever asks chance for a move."""
    return type(game).chance_outcomes is not Game.chance_outcomes


def has_own_playouts(game: Game) -> bool:
    """Whether random playouts of the game leave out some of the legal moves."""
    return type(game).playout_actions is not Game.playout_actions


def parameter_choices(cls: type[Game]) -> dict[str, tuple[Any, ...]]:
    """What each parameter that is annotated with `Literal` can be, by name."""
    try:
        hints = get_type_hints(cls)
    except NameError:  # an annotation in quotes that names nothing: it was never looked at before
        return {}
    names = [parameter.name for parameter in dataclasses.fields(cls)]
    return {name: get_args(hints[name]) for name in names if get_origin(hints[name]) is Literal}


def _either(choices: tuple[Any, ...]) -> str:
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last


@functools.cache
def _framework_files() -> tuple[Path, ...]:
    """The sources that end up in compiled code besides the game's own."""
    package = Path(__file__).parents[1]
    games = ("games/rules.py", "games/check/compiled_rules.py")
    selfplay = (
        f"selfplay/{name}.py"
        for name in (
            "gpu/kernels",
            "games_in_progress",
            "gpu/harvest",
            "observations",
            "turn_kernels",
        )
    )
    patterns = ("*.py", "compiler/*.py", *games, "search/**/*.py", *selfplay)
    return tuple(sorted(path for pattern in patterns for path in package.glob(pattern)))


@functools.cache
def _file_digest(path: Path) -> bytes:
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError:  # a notebook's cell has no file; its rules are refused when they are bound
        return str(path).encode()
