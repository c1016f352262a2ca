"""What a GTP program keeps: the game, what was played, who thinks, and the clocks."""

import dataclasses
import time
from typing import Any, NamedTuple

from plainzero.games.contract import Game, has_chance
from plainzero.games.formats.replay_moves import Replay
from plainzero.games.formats.saved_games import read_saved
from plainzero.games.registry import make_game
from plainzero.opponents.agent import GaveUp, PlayedGame
from plainzero.opponents.search_agent import child_seed, parse_agent
from plainzero.opponents.timed_moves import choose_in_time, make_ready
from plainzero.protocols.gtp.clock import Clock, TimeSettings
from plainzero.protocols.gtp.engine import COLOURS, board_size, find_action

PASS = "pass"
_TYPICAL_LENGTH = 0.8  # of a game, in moves for each action of the board


class GtpError(Exception):
    """What was asked for cannot be done; the message goes to the other side."""


class Position(NamedTuple):
    """A position, and how it was reached."""

    state: Any
    moves: tuple[int, ...] = ()
    movers: tuple[int, ...] = ()


class GtpSession:
    """A game under way, in which either colour may be told to move.

    Args:
        game: what is played; commands may change its size and komi.
        agent: a description of who thinks.
        seed: of the agent.

    Raises:
        ValueError: when the game is not for two, or the agent does not play it.
    """

    def __init__(self, game: Game, agent: str, seed: int = 0) -> None:  # noqa: D107
        if game.num_players != len(COLOURS) or has_chance(game):
            raise ValueError(f"GTP is for two players without chance, and {game.name} is not")
        self.game, self.description, self.seed = game, agent, seed
        self.agent = parse_agent(agent, game)
        self.clocks: list[Clock] = []
        self._is_ready = False
        self._history = [Position(game.new_state())]

    @property
    def position(self) -> Position:
        """Where the game stands."""
        return self._history[-1]

    # ---- what changes the game ------------------------------------------------------------------

    def set_size(self, size: int) -> None:
        """Clears the board, and makes it that large."""
        if size != board_size(self.game):
            if not hasattr(self.game, "size"):
                raise GtpError("unacceptable size")
            self._change("unacceptable size", size=size)
        self.clear()

    def set_komi(self, komi: float) -> None:
        """What white gets; the stones stay where they are."""
        if not hasattr(self.game, "komi"):
            raise GtpError(f"{self.game.name} has no komi")
        if komi != self.game.komi:
            self._change("unacceptable komi", komi=komi)
            self._play_again()

    def clear(self) -> None:
        """An empty board, and full clocks."""
        self._history = [Position(self.game.new_state())]
        if self.clocks:
            self.set_time(self.clocks[0].settings)

    def load(self, text: str, length: int | None) -> None:
        """The position of a saved game before its move `length`, from 1; None: after the last."""
        saved = read_saved(text, self._make_like)
        moves = saved.moves if length is None else saved.moves[: max(0, length - 1)]
        self._take_game(self._make_like(saved.game), "cannot load file")
        replay = Replay(self.game, saved.cells, saved.to_play)
        self._history = [Position(self.game.copy(replay.state))]
        for action in moves:
            self._history.append(self._after(self.position, action))

    def play(self, colour: int, action: int) -> None:
        """Plays a move of that colour, with passes before it where it is not its turn."""
        before = self._give_turn(colour, self.position)
        if action not in self.game.legal(before.state):
            raise GtpError("illegal move")
        self._history.append(self._after(before, action))

    def undo(self) -> None:
        """Takes back the last move."""
        if len(self._history) == 1:
            raise GtpError("cannot undo")
        self._history.pop()

    # ---- who thinks -----------------------------------------------------------------------------

    def choose(self, colour: int, is_timed: bool = True) -> int | None:
        """The agent's move for that colour; None where it resigns.

        Raises:
            GtpError: when the game is over, or it cannot be that colour's turn.
        """
        if self.position.state.is_over and self.pass_action is not None:
            return self.pass_action
        position = self._give_turn(colour, self.position)
        self.make_ready()
        clock = self.clocks[colour] if is_timed and self.clocks else None
        seconds = clock.allot(self._moves_to_come(position)) if clock else None
        played = PlayedGame(0, position.moves, position.movers, position.state)
        start = time.monotonic()
        seed = child_seed(self.seed, len(position.moves))
        decision = choose_in_time(self.agent, played, seed, seconds)
        if clock is not None:
            clock.spend(time.monotonic() - start)
        if isinstance(decision, GaveUp):
            if decision.fault:
                raise GtpError(decision.fault)
            return None
        return decision

    def make_ready(self) -> None:
        """Compiles what this game needs, once."""
        if not self._is_ready:
            make_ready(self.agent, self.game.new_state())
            self._is_ready = True

    def set_time(self, settings: TimeSettings) -> None:
        """Full clocks for both."""
        self.clocks = [Clock(settings) for _ in COLOURS]

    def turn_of(self, colour: int) -> Any:
        """The position with that colour to move; nothing changes."""
        return self._give_turn(colour, self.position).state

    # ---- names ----------------------------------------------------------------------------------

    @property
    def pass_action(self) -> int | None:
        """The action that passes, where the game has one."""
        return find_action(self.game, PASS)

    def parse_move(self, text: str) -> int:
        """The action of that name, in capitals or not."""
        action = find_action(self.game, text)
        if action is None:
            raise GtpError("invalid color or coordinate")
        return action

    def name_move(self, action: int) -> str:
        """What the other side calls the action: points of Go in capitals, as is the custom."""
        name = self.game.action_name(action)
        return name.upper() if hasattr(self.game, "komi") and name != PASS else name

    # ---- positions ------------------------------------------------------------------------------

    def _give_turn(self, colour: int, position: Position) -> Position:
        """The position with that colour to move.

        Two passes that ended the game are taken back, and the other side passes where it would be
        its turn: so players can go on after passes, and stones can be put down by `play`.
        """
        position = self._reopen(position)
        if position.state.is_over:
            raise GtpError("the game is over")
        if int(position.state.to_play) != colour:
            if self.pass_action not in self.game.legal(position.state):
                raise GtpError(f"it is the turn of {COLOURS[1 - colour]}")
            assert self.pass_action is not None
            position = self._reopen(self._after(position, self.pass_action))
        return position

    def _reopen(self, position: Position) -> Position:
        """The position before the two passes that ended the game; itself where none did."""
        is_passed = position.moves[-2:] == (self.pass_action,) * 2
        if not (position.state.is_over and is_passed):
            return position
        return self._reach(position.moves[:-2])

    def _reach(self, moves: tuple[int, ...]) -> Position:
        """The position after these moves, from where the game began."""
        position = self._history[0]
        for action in moves:
            position = self._after(position, action)
        return position

    def _after(self, position: Position, action: int) -> Position:
        """The position after an action that is known to be legal."""
        state = self.game.copy(position.state)
        mover = int(state.to_play)
        self.game.play(state, action)
        state.turn += 1
        return Position(state, (*position.moves, action), (*position.movers, mover))

    def _moves_to_come(self, position: Position) -> int:
        """About how many moves of one's own are still to be played."""
        return int(_TYPICAL_LENGTH * self.game.num_actions - len(position.moves)) // 2

    # ---- other games ----------------------------------------------------------------------------

    def _change(self, refusal: str, **parameters: Any) -> None:
        try:
            game = dataclasses.replace(self.game, **parameters)
        except (TypeError, ValueError) as error:
            raise GtpError(refusal) from error
        self._take_game(game, refusal)

    def _take_game(self, game: Game, refusal: str) -> None:
        """Plays another game, if the agent can."""
        if game == self.game:
            return
        try:
            self.agent = parse_agent(self.description, game)
        except ValueError as error:
            raise GtpError(f"{refusal}: {error}") from error
        self.game, self._is_ready = game, False

    def _play_again(self) -> None:
        """Brings all positions into a game that has other parameters and the same fields."""
        first, *rest = self._history
        state = self.game.new_state()
        for name in self.game.fields():
            state[name] = first.state[name]
        state.turn, state.to_play = first.state.turn, first.state.to_play
        self._history = [Position(state)]
        for old in rest:
            is_next = old.moves[:-1] == self.position.moves
            again = self._after(self.position, old.moves[-1]) if is_next else self._reach(old.moves)
            self._history.append(again)

    def _make_like(self, name: str) -> Game:
        """The game that a file names, with other parameters at most; never code from elsewhere."""
        if name == self.game.name:
            return self.game
        if ":" in name or name.partition("(")[0].strip() != self.game.title():
            raise ValueError(f"the file holds a game of {name}, not of {self.game.title()}")
        return make_game(name)
