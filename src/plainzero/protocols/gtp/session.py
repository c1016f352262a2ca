"""The state of a GTP session: the game, its moves, the agent and the clocks."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from plainzero.games.contract import Game, has_chance
from plainzero.games.formats.replay_moves import ReplayedGame
from plainzero.games.formats.saved_games import read_saved
from plainzero.games.registry import make_game
from plainzero.opponents.agent import Agent, Forfeit, GameHistory
from plainzero.opponents.search_agent import child_seed
from plainzero.opponents.timed_moves import choose_in_time, make_ready
from plainzero.protocols.gtp.clock import Clock, TimeSettings
from plainzero.protocols.gtp.engine import COLOURS, find_action
from plainzero.protocols.gtp.game_traits import KomiGame, SizedGame, board_size

PASS = "pass"
_TYPICAL_LENGTH = 0.8  # moves in a game per action of the board


class GtpError(Exception):
    """A command that cannot be carried out; the message is its answer."""


class Position(NamedTuple):
    """A position and the moves that led to it."""

    state: Any
    moves: tuple[int, ...] = ()
    movers: tuple[int, ...] = ()


class GtpSession:
    """A game in progress, in which either colour can be asked for a move.

    Args:
        game: the game; commands may change its size and komi.
        make_agent: makes the agent for a game; called again when its size or komi changes.
        seed: the agent's random seed.

    Raises:
        ValueError: when GTP does not cover the game, or the agent cannot play it.
    """

    def __init__(  # noqa: D107
        self, game: Game, make_agent: Callable[[Game], Agent], seed: int = 0
    ) -> None:
        if game.num_players != len(COLOURS) or has_chance(game):
            raise ValueError(f"GTP is for two players without chance; it cannot play {game.name}")
        self.game, self.seed, self._make_agent = game, seed, make_agent
        self.agent = make_agent(game)
        self.clocks: list[Clock] = []
        self._is_ready = False
        self._history = [Position(game.new_state())]

    @property
    def position(self) -> Position:
        """The current position."""
        return self._history[-1]

    # ---- changes to the game --------------------------------------------------------------------

    def set_size(self, size: int) -> None:
        """Sets the board size and clears the board."""
        if size != board_size(self.game):
            if not isinstance(self.game, SizedGame):
                raise GtpError("unacceptable size")
            self._change("unacceptable size", size=size)
        self.clear()

    def set_komi(self, komi: float) -> None:
        """Sets komi; the stones stay on the board."""
        if not isinstance(self.game, KomiGame):
            raise GtpError(f"{self.game.name} has no komi")
        if komi != self.game.komi:
            self._change("unacceptable komi", komi=komi)
            self._replay_history()

    def clear(self) -> None:
        """Clears the board and resets the clocks."""
        self._history = [Position(self.game.new_state())]
        if self.clocks:
            self.set_time(self.clocks[0].settings)

    def load(self, text: str, length: int | None) -> None:
        """Loads a saved game up to the position before move `length` (from 1); None: all of it."""
        saved = read_saved(text, self._make_like)
        moves = saved.moves if length is None else saved.moves[: max(0, length - 1)]
        self._take_game(self._make_like(saved.game), "cannot load file")
        replay = ReplayedGame(self.game, saved.cells, saved.to_play)
        self._history = [Position(self.game.copy(replay.state))]
        for action in moves:
            self._history.append(self._after(self.position, action))

    def play(self, colour: int, action: int) -> None:
        """Plays a move of that colour; the other side passes first if it is its turn."""
        before = self._give_turn(colour, self.position)
        if action not in self.game.legal(before.state):
            raise GtpError("illegal move")
        self._history.append(self._after(before, action))

    def undo(self) -> None:
        """Takes back the last move."""
        if len(self._history) == 1:
            raise GtpError("cannot undo")
        self._history.pop()

    # ---- the agent ------------------------------------------------------------------------------

    def choose(self, colour: int, is_timed: bool = True) -> int | None:
        """The agent's move for that colour; None if it resigns.

        Raises:
            GtpError: when the game is over, or it cannot be that colour's turn.
        """
        if self.position.state.is_over and self.pass_action is not None:
            return self.pass_action
        position = self._give_turn(colour, self.position)
        self.make_ready()
        clock = self.clocks[colour] if is_timed and self.clocks else None
        seconds = clock.allot(self._estimate_moves_left(position)) if clock else None
        history = GameHistory(0, position.moves, position.movers, position.state)
        start = time.monotonic()
        seed = child_seed(self.seed, len(position.moves))
        decision = choose_in_time(self.agent, history, seed, seconds)
        if clock is not None:
            clock.spend(time.monotonic() - start)
        if isinstance(decision, Forfeit):
            if decision.fault:
                raise GtpError(decision.fault)
            return None
        return decision

    def make_ready(self) -> None:
        """Compiles what the agent needs for this game, once."""
        if not self._is_ready:
            make_ready(self.agent, self.game.new_state())
            self._is_ready = True

    def set_time(self, settings: TimeSettings) -> None:
        """Starts both clocks with the full time."""
        self.clocks = [Clock(settings) for _ in COLOURS]

    def turn_of(self, colour: int) -> Any:
        """The position with that colour to move, without changing the game."""
        return self._give_turn(colour, self.position).state

    # ---- names ----------------------------------------------------------------------------------

    @property
    def pass_action(self) -> int | None:
        """The action that passes, if the game has one."""
        return find_action(self.game, PASS)

    def parse_move(self, text: str) -> int:
        """The action with that name, in upper or lower case."""
        action = find_action(self.game, text)
        if action is None:
            raise GtpError("invalid color or coordinate")
        return action

    def name_move(self, action: int) -> str:
        """The action's name in GTP: by convention, points of Go are in upper case."""
        name = self.game.action_name(action)
        return name.upper() if isinstance(self.game, KomiGame) and name != PASS else name

    # ---- positions ------------------------------------------------------------------------------

    def _give_turn(self, colour: int, position: Position) -> Position:
        """The position with that colour to move.

        Two passes that ended the game are taken back, and the other side passes if it is its turn.
        So a game can continue after passes, and `play` can place any stones.
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
        """The position before the two passes that ended the game; the same position otherwise."""
        is_passed = position.moves[-2:] == (self.pass_action,) * 2
        if not (position.state.is_over and is_passed):
            return position
        return self._reach(position.moves[:-2])

    def _reach(self, moves: tuple[int, ...]) -> Position:
        """The position after these moves from the start of the game."""
        position = self._history[0]
        for action in moves:
            position = self._after(position, action)
        return position

    def _after(self, position: Position, action: int) -> Position:
        """The position after a legal action."""
        state = self.game.copy(position.state)
        mover = int(state.to_play)
        self.game.play(state, action)
        state.turn += 1
        return Position(state, (*position.moves, action), (*position.movers, mover))

    def _estimate_moves_left(self, position: Position) -> int:
        """An estimate of the number of moves that each side has still to play."""
        return int(_TYPICAL_LENGTH * self.game.num_actions - len(position.moves)) // 2

    # ---- other parameters -----------------------------------------------------------------------

    def _change(self, refusal: str, **parameters: Any) -> None:
        try:
            game = dataclasses.replace(self.game, **parameters)
        except (TypeError, ValueError) as error:
            raise GtpError(refusal) from error
        self._take_game(game, refusal)

    def _take_game(self, game: Game, refusal: str) -> None:
        """Switches to another game, if the agent can play it."""
        if game == self.game:
            return
        try:
            self.agent = self._make_agent(game)
        except ValueError as error:
            raise GtpError(f"{refusal}: {error}") from error
        self.game, self._is_ready = game, False

    def _replay_history(self) -> None:
        """Replays all positions in the game with its new parameters."""
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
        """The game that a file names: this one, with its or other parameters; no foreign code."""
        if name == self.game.name:
            return self.game
        if ":" in name or name.partition("(")[0].strip() != self.game.title():
            raise ValueError(f"the file holds a game of {name}, not of {self.game.title()}")
        return make_game(name)
