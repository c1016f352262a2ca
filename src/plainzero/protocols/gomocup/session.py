"""What a Gomocup program keeps: the game, its stones, who thinks, and the limits."""

import dataclasses
import time
from collections.abc import Sequence
from typing import NamedTuple

from plainzero.games.bundled.gomoku.rules import Gomoku
from plainzero.games.contract import PIECES, Game, State
from plainzero.games.position_setup import set_up
from plainzero.games.registry import make_game
from plainzero.opponents.agent import Follower, GaveUp, Opponent, PlayedGame
from plainzero.opponents.search_agent import SearchAgent, child_seed, game_of_agents, parse_agent
from plainzero.opponents.timed_moves import choose_in_time, make_ready
from plainzero.protocols.gomocup.engine import OPPONENT, OWN, find_rule, name_point, parse_point
from plainzero.protocols.gomocup.limits import Limits, resident_bytes
from plainzero.search.resolve_options import TREE_BYTES

_EXACT, _CONTINUOUS, _RENJU, _CARO = 1, 2, 4, 8  # bits of a rule
_SHORTEST = 0.001  # seconds


class GomocupError(Exception):
    """What was asked for cannot be done; the message goes to the other side."""


class Stone(NamedTuple):
    """A stone on the board."""

    action: int
    colour: int  # 0: of the first player


class GomocupSession:
    """A game under way: the other side says where it plays, and asks for moves.

    Args:
        agent: a description of who thinks. A run plays the game that it has learned, other agents
            any board and rule of the protocol.
        seed: of the agent.

    Raises:
        ValueError: when the agent does not play Gomoku by a rule of the protocol.
    """

    def __init__(self, agent: str, seed: int = 0) -> None:  # noqa: D107
        self.description, self.seed = agent, seed
        self.game = _require_gomoku(game_of_agents([agent]) or make_game("gomoku"))
        self.agent = parse_agent(agent, self.game)
        self.limits = Limits()
        self.is_started = False
        self.stones: list[Stone] = []
        self.state: State = self.game.new_state()
        self._is_replayed = True  # the stones were played in their order, from the empty board
        self._is_ready = False
        self._refusal = ""  # why the rule cannot be played

    # ---- what changes the board -----------------------------------------------------------------

    def start(self, size: int) -> None:
        """An empty board of that size."""
        self._take_game(size=size)
        self.is_started = True
        self.clear()

    def clear(self) -> None:
        """An empty board of the same size, and the whole time of a game."""
        if self.is_started:
            self._put([], 0)
        self._require_board()
        self.limits.refill()
        self.make_ready()

    def set_rule(self, bits: int) -> None:
        """Another rule; the stones stay.

        Raises:
            GomocupError: when there is no such rule here; moves are refused then as well.
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
        """A stone of the side whose turn it is."""
        self._require_board()
        action = self.parse(point)
        if self.state.is_over:
            raise GomocupError("the game is over")
        if action not in self.game.legal(self.state):
            raise GomocupError(f"{point} is not free, or forbidden")
        self.stones.append(Stone(action, int(self.state.to_play)))
        self.game.apply(self.state, action)

    def place(self, points: Sequence[tuple[str, int]]) -> None:
        """All stones of a game, in the order in which they were played; the next one is ours.

        Where that order cannot be, own and the opponent's stones just stand there: as many of both
        mean that we are the first player.

        Args:
            points: each with whose stone it is, OWN or OPPONENT.
        """
        self._require_board()
        sides = [side for _, side in points]
        own = 0 if sides.count(OWN) >= sides.count(OPPONENT) else 1
        colours = {OWN: own, OPPONENT: 1 - own}
        stones = [Stone(self.parse(point), colours[side]) for point, side in points]
        if len({stone.action for stone in stones}) < len(stones):
            raise GomocupError("two stones stand on one point")
        self._put(stones, own)

    def take_back(self, point: str) -> None:
        """Takes a stone off the board, as a rule the last one; it is the turn of its owner.

        Where several are taken back in another order, it is the turn that their number says.
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

    # ---- who thinks -----------------------------------------------------------------------------

    def choose(self) -> str:
        """Plays the agent's move, and gives its point."""
        start = time.monotonic()
        self._require_board()
        if self.state.is_over:
            raise GomocupError("the game is over")
        played = self._played()
        self.make_ready()
        seconds = self.limits.allot(len(self.stones) // 2)
        if seconds is not None:
            seconds = max(_SHORTEST, seconds - (time.monotonic() - start))
        seed = child_seed(self.seed, len(self.stones))
        decision = choose_in_time(self.limited_agent(), played, seed, seconds)
        self.limits.spend(time.monotonic() - start)
        if isinstance(decision, GaveUp):
            raise GomocupError(decision.fault or f"{self.agent.name} resigns")
        point = name_point(self.game, decision)
        self.play(point)
        return point

    def limited_agent(self) -> Opponent:
        """The agent, with a tree that fits into the memory."""
        if not isinstance(self.agent, SearchAgent):
            return self.agent
        config = self.agent.config
        most = self.limits.tree_bytes(config.max_bytes or TREE_BYTES, resident_bytes())
        return dataclasses.replace(self.agent, config=dataclasses.replace(config, max_bytes=most))

    def make_ready(self) -> None:
        """Compiles what this game needs, once."""
        if not self._is_ready:
            make_ready(self.agent, self.game.new_state())
            self._is_ready = True

    def parse(self, point: str) -> int:
        """The action of a point."""
        action = parse_point(self.game, point)
        if action is None:
            last = self.game.size - 1
            raise GomocupError(f"{point!r} is no point; they are 0,0 to {last},{last}")
        return action

    # ---- positions ------------------------------------------------------------------------------

    def _require_board(self) -> None:
        if not self.is_started:
            raise GomocupError("there is no board yet; send START")
        if self._refusal:
            raise GomocupError(self._refusal)

    def _put(self, stones: Sequence[Stone], to_play: int) -> None:
        """Makes the position with these stones: by playing them where they can have been played."""
        state = _replay(self.game, stones, to_play)
        self._is_replayed = state is not None
        self.state = _lay_out(self.game, stones, to_play) if state is None else state
        self.stones = list(stones)

    def _played(self) -> PlayedGame:
        if not self._is_replayed:
            if isinstance(self.agent, Follower):
                raise GomocupError(f"{self.agent.name} must follow a game from its first move")
            return PlayedGame(0, (), (), self.state)
        actions, colours = zip(*self.stones, strict=True) if self.stones else ((), ())
        return PlayedGame(0, actions, colours, self.state)

    def _take_game(self, **parameters: int | str) -> None:
        """Plays by other parameters, if the rules and the agent can."""
        try:
            game = dataclasses.replace(self.game, **parameters)
            if game == self.game:
                return
            self.agent = parse_agent(self.description, game)
        except ValueError as error:
            raise GomocupError(" ".join(str(error).split())) from error
        self.game, self._is_ready = game, False


def _require_gomoku(game: Game) -> Gomoku:
    find_rule(game)
    assert isinstance(game, Gomoku)
    return game


def _find_rule_name(bits: int) -> str:
    """What we call the rule of these bits."""
    if bits in (_RENJU, _RENJU | _EXACT):
        return "renju"
    if bits in (0, _EXACT):
        return "standard" if bits else "freestyle"
    names = {_CARO: "caro", _CONTINUOUS: "going on after five"}
    name = next((names[bit] for bit in names if 0 < bits < 16 and bits & bit), "it")
    raise GomocupError(
        f"the rule is {bits}, and {name} is not played here; rules are 0 (five or more), "
        "1 (exactly five) and 4 (renju)"
    )


def _replay(game: Gomoku, stones: Sequence[Stone], to_play: int) -> State | None:
    """The position after these moves in turn; None where they cannot have been a game."""
    state = game.new_state()
    for action, colour in stones:
        if state.is_over or colour != state.to_play or action not in game.legal(state):
            return None
        game.apply(state, action)
    return state if state.to_play == to_play or state.is_over else None


def _lay_out(game: Gomoku, stones: Sequence[Stone], to_play: int) -> State:
    """The position in which these stones just stand there."""
    cells = [["."] * game.size for _ in range(game.size)]
    for action, colour in stones:
        cells[action // game.size][action % game.size] = PIECES[colour]
    try:
        return set_up(game, cells, to_play)
    except ValueError as error:
        raise GomocupError(" ".join(str(error).split())) from error
