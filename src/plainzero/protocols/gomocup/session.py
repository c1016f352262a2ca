"""The state of a Gomocup session: the game, its stones, the agent and the limits."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from plainzero.games.bundled.gomoku.rules import Gomoku
from plainzero.games.contract import PIECES, Game, State
from plainzero.games.position_setup import set_up_position
from plainzero.opponents.agent import Agent, Forfeit, GameHistory, HistoryAgent
from plainzero.opponents.search_agent import SearchAgent, child_seed
from plainzero.opponents.timed_moves import choose_in_time, make_ready
from plainzero.protocols.gomocup.engine import OPPONENT, OWN, find_rule, name_point, parse_point
from plainzero.protocols.gomocup.limits import Limits, resident_bytes
from plainzero.search.resolve_options import TREE_BYTES

_EXACT, _CONTINUOUS, _RENJU, _CARO = 1, 2, 4, 8  # bits of a rule
_SHORTEST = 0.001  # seconds


class GomocupError(Exception):
    """A command that cannot be carried out; the message is its answer."""


class Stone(NamedTuple):
    """A stone on the board."""

    action: int
    colour: int  # 0: the first player's


class GomocupSession:
    """A game in progress: the controller reports the opponent's moves and asks for ours.

    Args:
        game: Gomoku with the initial size and rule.
        make_agent: makes the agent for a game; called again when the size or the rule changes.
        seed: the agent's random seed.

    Raises:
        ValueError: when the protocol does not cover the game, or the agent cannot play it.
    """

    def __init__(  # noqa: D107
        self, game: Game, make_agent: Callable[[Game], Agent], seed: int = 0
    ) -> None:
        self.game, self.seed, self._make_agent = _require_gomoku(game), seed, make_agent
        self.agent = make_agent(self.game)
        self.limits = Limits()
        self.is_started = False
        self.stones: list[Stone] = []
        self.state: State = self.game.new_state()
        self._is_replayed = True  # the stones were played in their order, from the empty board
        self._is_ready = False
        self._refusal = ""  # why the requested rule cannot be played

    # ---- changes to the board -------------------------------------------------------------------

    def start(self, size: int) -> None:
        """Sets up an empty board of that size."""
        self._take_game(size=size)
        self.is_started = True
        self.clear()

    def clear(self) -> None:
        """Clears the board, and resets the time of a game."""
        if self.is_started:
            self._put([], 0)
        self._require_board()
        self.limits.refill()
        self.make_ready()

    def set_rule(self, bits: int) -> None:
        """Sets the rule; the stones stay on the board.

        Raises:
            GomocupError: for an unsupported rule; moves are refused from then on.
        """
        self._refusal = ""
        try:
            rule = _find_rule_name(bits)
            if rule != self.game.rule:
                self._take_game(rule=rule)
                self._put(self.stones, int(self.state.to_play))
        except GomocupError as error:
            self._refusal = str(error)
            raise
        if self.is_started:
            self.make_ready()

    def play(self, point: str) -> None:
        """Plays a stone of the side to move."""
        self._require_board()
        action = self.parse(point)
        if self.state.is_over:
            raise GomocupError("the game is over")
        if action not in self.game.legal(self.state):
            raise GomocupError(f"{point} is occupied or forbidden")
        self.stones.append(Stone(action, int(self.state.to_play)))
        self.game.apply(self.state, action)

    def place(self, points: Sequence[tuple[str, int]]) -> None:
        """Sets up all stones of a game, in the order of play; we move next.

        If that order is impossible, the stones are set up as a position; with equal numbers on both
        sides, we are the first player.

        Args:
            points: each with its owner, OWN or OPPONENT.
        """
        self._require_board()
        sides = [side for _, side in points]
        own = 0 if sides.count(OWN) >= sides.count(OPPONENT) else 1
        colours = {OWN: own, OPPONENT: 1 - own}
        stones = [Stone(self.parse(point), colours[side]) for point, side in points]
        if len({stone.action for stone in stones}) < len(stones):
            raise GomocupError("two stones are on the same point")
        self._put(stones, own)

    def take_back(self, point: str) -> None:
        """Takes a stone off the board, usually the last one; its owner moves next.

        If several are taken back in another order, the number of stones decides who moves next.
        """
        self._require_board()
        action = self.parse(point)
        index = next((i for i, stone in enumerate(self.stones) if stone.action == action), None)
        if index is None:
            raise GomocupError(f"there is no stone on {point}")
        rest = [stone for stone in self.stones if stone.action != action]
        if all(stone.colour == number % 2 for number, stone in enumerate(rest)):
            self._put(rest, len(rest) % 2)
        elif index == len(rest):
            self._put(rest, self.stones[index].colour)
        else:
            firsts = sum(stone.colour == 0 for stone in rest)
            self._put(rest, int(2 * firsts > len(rest)))

    # ---- the agent ------------------------------------------------------------------------------

    def choose(self) -> str:
        """Plays the agent's move; returns its point."""
        start = time.monotonic()
        self._require_board()
        if self.state.is_over:
            raise GomocupError("the game is over")
        history = self._history()
        self.make_ready()
        seconds = self.limits.allot(len(self.stones) // 2)
        if seconds is not None:
            seconds = max(_SHORTEST, seconds - (time.monotonic() - start))
        seed = child_seed(self.seed, len(self.stones))
        decision = choose_in_time(self.limited_agent(), history, seed, seconds)
        self.limits.spend(time.monotonic() - start)
        if isinstance(decision, Forfeit):
            raise GomocupError(decision.fault or f"{self.agent.name} resigns")
        point = name_point(self.game, decision)
        self.play(point)
        return point

    def limited_agent(self) -> Agent:
        """The agent with a tree that fits into the memory limit."""
        if not isinstance(self.agent, SearchAgent):
            return self.agent
        config = self.agent.config
        most = self.limits.tree_bytes(config.max_bytes or TREE_BYTES, resident_bytes())
        return dataclasses.replace(self.agent, config=dataclasses.replace(config, max_bytes=most))

    def make_ready(self) -> None:
        """Compiles what the agent needs for this game, once."""
        if not self._is_ready:
            make_ready(self.agent, self.game.new_state())
            self._is_ready = True

    def parse(self, point: str) -> int:
        """The action of a point."""
        action = parse_point(self.game, point)
        if action is None:
            last = self.game.size - 1
            raise GomocupError(f"{point!r} is not a point; points are 0,0 to {last},{last}")
        return action

    # ---- positions ------------------------------------------------------------------------------

    def _require_board(self) -> None:
        if not self.is_started:
            raise GomocupError("there is no board yet; send START")
        if self._refusal:
            raise GomocupError(self._refusal)

    def _put(self, stones: Sequence[Stone], to_play: int) -> None:
        """Sets up the position with these stones, by playing them in order if that is possible."""
        state = _replay(self.game, stones, to_play)
        self._is_replayed = state is not None
        self.state = _lay_out(self.game, stones, to_play) if state is None else state
        self.stones = list(stones)

    def _history(self) -> GameHistory:
        if not self._is_replayed:
            if isinstance(self.agent, HistoryAgent):
                raise GomocupError(f"{self.agent.name} must follow a game from its first move")
            return GameHistory(0, (), (), self.state)
        actions, colours = zip(*self.stones, strict=True) if self.stones else ((), ())
        return GameHistory(0, actions, colours, self.state)

    def _take_game(self, **parameters: int | str) -> None:
        """Switches to other parameters, if the rules and the agent allow."""
        try:
            game = dataclasses.replace(self.game, **parameters)
            if game == self.game:
                return
            self.agent = self._make_agent(game)
        except ValueError as error:
            raise GomocupError(" ".join(str(error).split())) from error
        self.game, self._is_ready = game, False


def _require_gomoku(game: Game) -> Gomoku:
    find_rule(game)
    assert isinstance(game, Gomoku)
    return game


def _find_rule_name(bits: int) -> str:
    """The name of the rule with these bits."""
    if bits in (_RENJU, _RENJU | _EXACT):
        return "renju"
    if bits in (0, _EXACT):
        return "standard" if bits else "freestyle"
    names = {_CARO: "caro", _CONTINUOUS: "continuous play"}
    name = next((f" ({names[bit]})" for bit in names if 0 < bits < 16 and bits & bit), "")
    raise GomocupError(
        f"unsupported rule {bits}{name}; rules are 0 (five or more), 1 (exactly five) and 4 (renju)"
    )


def _replay(game: Gomoku, stones: Sequence[Stone], to_play: int) -> State | None:
    """The position after these moves in turn; None if they are not a legal game."""
    state = game.new_state()
    for action, colour in stones:
        if state.is_over or colour != state.to_play or action not in game.legal(state):
            return None
        game.apply(state, action)
    return state if state.to_play == to_play or state.is_over else None


def _lay_out(game: Gomoku, stones: Sequence[Stone], to_play: int) -> State:
    """The position with these stones, whatever their order."""
    cells = [["."] * game.size for _ in range(game.size)]
    for action, colour in stones:
        cells[action // game.size][action % game.size] = PIECES[colour]
    try:
        return set_up_position(game, cells, to_play)
    except ValueError as error:
        raise GomocupError(" ".join(str(error).split())) from error
