"""The game contract: what a game declares, and what it gets from the framework.

A game is a subclass of `Game`. Its parameters are annotated class attributes (`parameters.py`), its
position is a record of fixed-size arrays named in `fields()` (`state_record.py`), its rules are
ordinary methods. The rules run in plain Python (here) and compiled (`rules.py`). The whole contract
is in `docs/write-a-game.md`.
"""

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.source_digest import combine, object_dependencies
from plainzero.games.board_view import EMPTY as EMPTY
from plainzero.games.board_view import PIECES as PIECES
from plainzero.games.board_view import Grid as Grid
from plainzero.games.board_view import Layout as Layout
from plainzero.games.board_view import Step as Step
from plainzero.games.parameters import changed_parameters, check_parameters, declare_parameters
from plainzero.games.state_record import Field as Field
from plainzero.games.state_record import State as State
from plainzero.games.state_record import field as field
from plainzero.games.state_record import state_dtype

CHANCE = -1
"""The player to move when the dice, the cards or the tiles decide."""

MAX_CHANCE_OUTCOMES = 256
"""The default of `max_chance_outcomes`."""

RULES = ("reset", "legal_actions", "playout_actions", "play", "observe", "chance_outcomes")


_MOST_NAMED = 30  # moves in a message


class IllegalMove(ValueError):
    """A move that the rules do not allow in this position."""


class RuleFault(RuntimeError):
    """A game broke its contract; the message says how."""


class Symmetry(NamedTuple):
    """One way to turn the board: what becomes of an observation, and of each action."""

    planes: Callable[[NDArray[Any]], NDArray[Any]]  # [*observation_shape] -> the same shape
    actions: Sequence[int]  # actions[a] is what action a becomes


@dataclasses.dataclass(frozen=True)
class Game:
    """The base of every game; `bundled/tic_tac_toe.py` is one to copy."""

    # ---- what a game declares -------------------------------------------------------------------

    num_players: ClassVar[Any] = 2
    num_actions: ClassVar[Any] = None
    observation_shape: ClassVar[Any] = None
    max_turns: ClassVar[Any] = None  # an upper bound on the plays in a game, chance included
    max_chance_outcomes: ClassVar[Any] = MAX_CHANCE_OUTCOMES
    set_up_knows_the_end: ClassVar[bool] = False  # True: its set_up ends finished positions
    moves_take_cells: ClassVar[Any] = False  # True: see holder()
    runs_on_gpu: ClassVar[bool] = True  # False: its rules run on a CPU only
    largest_score: ClassVar[Any] = None  # the largest that score() returns, if the game has one

    def fields(self) -> dict[str, Field]:
        """The state's own fields; every state also has returns, turn, to_play and is_over."""
        raise NotImplementedError(f"{type(self).__name__} needs fields()")

    def reset(self, state: Any) -> None:
        """Sets up the board; every field of a new state is zero."""

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Writes the legal actions, each once, and returns their number."""
        raise NotImplementedError(f"{type(self).__name__} needs legal_actions()")

    def playout_actions(self, state: Any, actions: Any) -> int:
        """Writes the legal actions among which a random playout chooses; returns their number."""
        return self.legal_actions(state, actions)

    def is_legal(self, state: Any, action: Any) -> bool:
        """Whether `legal_actions` lists the action. If overridden, playouts try single actions."""
        return int(action) in self.legal(state)

    def is_playout_action(self, state: Any, action: Any) -> bool:
        """Whether `playout_actions` lists the action; False for all may mean a substitute."""
        return self.is_legal(state, action)

    def play(self, state: Any, action: Any) -> None:
        """Plays a legal action or an outcome of chance; the framework advances `turn`."""
        raise NotImplementedError(f"{type(self).__name__} needs play()")

    def observe(self, state: Any, planes: Any) -> None:
        """Writes the observation, from the view of `state.to_play`; planes start at zero."""

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """If `to_play` is CHANCE: writes outcomes and probabilities, returns their number."""
        return 0

    def holder(self, state: Any, action: Any) -> int:
        """Who holds the cell that the action takes, or −1 for nobody.

        For games that set `moves_take_cells`: two players alternate, each action takes a free cell
        for good, every free cell may be taken, the winner wins by their cells, an extra cell
        never hurts, and symmetries preserve each player's goal. A search can learn more about them.
        """
        return -1

    def winning_cells(self, state: Any, cells: Any) -> None:
        """In such a game, once won: writes 1 to cells[action] for cells that win on their own."""

    def score(self, state: Any) -> float:
        """By how much the first of two players is ahead in a finished game, negative if behind.

        For games that set `largest_score`. It is above 0 if the first player has won.
        """
        return 0.0

    def ownership(self, state: Any, cells: Any) -> None:
        """Writes who holds each cell of the observation's board in a finished game, row by row.

        1 for the first of two players, −1 for the second; cells start at zero.
        """

    def symmetries(self) -> list[Symmetry]:
        """The ways to turn the board that leave the game the same, without the identity."""
        return []

    def board_actions(self) -> Any:
        """[rows, columns] or [kinds, rows, columns] of the observation: the actions at each cell.

        -1 stands for none, each action occurs at most once, and those that do not, such as a pass,
        belong to no cell. None: found where possible (`board_actions.py`).
        """
        return None

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
        """What people call an outcome of chance."""
        return str(outcome)

    def view(self, state: Any) -> Grid | None:
        """The board as cells to draw and to click, if the game has one."""
        return None

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Fills in a position from cells as `view` draws them; ValueError if it is impossible.

        Every field of the state is zero but `to_play`. A game without this method can be set up
        too, if `view` draws a single field: see `position_setup.py`.
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

    # ---- for code that uses a game --------------------------------------------------------------

    def new_state(self) -> State:
        """The starting position."""
        state: State = np.zeros(1, self.dtype)[0]
        self.reset(state)
        return state

    def copy(self, state: Any) -> State:
        """A copy of the position in separate memory."""
        states = np.empty(1, self.dtype)
        states[0] = state
        copied: State = states[0]
        return copied

    def legal(self, state: Any) -> list[int]:
        """The legal actions; the outcomes of chance on its turn; none when the game is over."""
        if state.is_over:
            return []
        if state.to_play == CHANCE:
            return [outcome for outcome, _ in self.chances(state)]
        actions = np.zeros(self.num_actions, np.int32)
        return [int(action) for action in actions[: self.legal_actions(state, actions)]]

    def chances(self, state: Any) -> list[tuple[int, float]]:
        """The outcomes of chance if `to_play` is CHANCE, each with its probability."""
        outcomes = np.zeros(self.max_chance_outcomes, np.int32)
        probabilities = np.zeros(self.max_chance_outcomes, np.float64)
        count = self.chance_outcomes(state, outcomes, probabilities)
        return [(int(outcomes[i]), float(probabilities[i])) for i in range(count)]

    def apply(self, state: Any, action: int) -> None:
        """Plays `action` in place.

        Raises:
            IllegalMove: if the game is over or the rules do not allow it; the state is unchanged.
        """
        if state.is_over:
            raise IllegalMove(f"{self._describe(state, action)} cannot be played: the game is over")
        if action not in self.legal(state):
            name = self._describe(state, action)
            raise IllegalMove(f"{name} is not legal here; legal moves: {legal_names(self, state)}")
        self.play(state, action)
        state.turn += 1

    def observation(self, state: Any) -> NDArray[np.float32]:
        """The observation of the position, [*observation_shape]."""
        planes = np.zeros(self.observation_shape, np.float32)
        self.observe(state, planes)
        return planes

    def _describe(self, state: Any, action: int) -> str:
        is_outcome = state.to_play == CHANCE
        room = self.max_chance_outcomes if is_outcome else self.num_actions
        if not (isinstance(action, int | np.integer) and 0 <= action < room):
            return repr(action)
        return move_name(self, state.to_play, int(action))

    # ---- for the framework ----------------------------------------------------------------------

    @classmethod
    def title(cls) -> str:
        """The game's name without parameters: `TicTacToe` is tic-tac-toe."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    @property
    def name(self) -> str:
        """The name with the parameters that differ from the default: connect-four(rows=7)."""
        changed = changed_parameters(self)
        return self.title() + (f"({changed})" if changed else "")

    @functools.cached_property
    def tag(self) -> str:
        """Names this game, its parameters and its rules in compiled code."""
        return f"{type(self).__name__}_{self.source_digest[:16]}"

    @functools.cached_property
    def source_digest(self) -> str:
        """Changes with the game's parameters and with each of its source files."""
        return combine(((Path(), repr(self)), *object_dependencies(self, Game)))

    @functools.cached_property
    def dtype(self) -> np.dtype[Any]:
        """The state record.

        Its last field only carries the tag: compiled code is chosen by type, so games with equal
        fields and different rules must have different types.
        """
        return state_dtype(type(self).__name__, self.fields(), self.num_players, self.tag)

    def __init_subclass__(cls) -> None:
        """Makes the annotated class attributes parameters of the game."""
        declare_parameters(cls)

    def __post_init__(self) -> None:
        """Checks the parameters' types, and that the game declares its sizes."""
        check_parameters(self, self.title())
        for attribute in ("num_actions", "observation_shape", "max_turns"):
            if getattr(self, attribute) is None:
                raise TypeError(f"{type(self).__name__} must declare {attribute}")
        if not isinstance(self.num_players, int) or self.num_players < 1:
            raise TypeError(f"{type(self).__name__}: num_players must be 1 or more")


def move_name(game: Game, player: int, action: int) -> str:
    """What people call a player's move, or an outcome of chance."""
    return game.outcome_name(action) if player == CHANCE else game.action_name(action)


def legal_names(game: Game, state: Any) -> str:
    """The names of the legal moves, or of the outcomes of chance; of many, the first."""
    legal = game.legal(state)
    names = [move_name(game, state.to_play, action) for action in legal[:_MOST_NAMED]]
    more = f" … ({len(legal)} in total)" if len(legal) > _MOST_NAMED else ""
    return (", " if any(" " in name for name in names) else " ").join(names) + more


def has_chance(game: Game) -> bool:
    """Whether the game has chance moves."""
    return type(game).chance_outcomes is not Game.chance_outcomes


def has_own_playouts(game: Game) -> bool:
    """Whether random playouts of the game choose among some of the legal moves only."""
    return type(game).playout_actions is not Game.playout_actions


def trial_rule(game: Game) -> str:
    """The rule that says whether a playout may play an action, or "" if the game has none."""
    name, lists = "is_legal", "legal_actions"
    if has_own_playouts(game):
        name, lists = "is_playout_action", "playout_actions"
    classes = type(game).__mro__
    owner, lister = (next(c for c in classes if rule in vars(c)) for rule in (name, lists))
    # A class that lists other actions than its base has to say so of each of them, too.
    return name if owner is not Game and issubclass(owner, lister) else ""


def has_score(game: Game) -> bool:
    """Whether the game counts a score."""
    return game.largest_score is not None


def has_ownership(game: Game) -> bool:
    """Whether the game says who holds each cell at the end."""
    return type(game).ownership is not Game.ownership
