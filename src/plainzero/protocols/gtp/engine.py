"""Engines that speak GTP 2, the Go Text Protocol, such as GNU Go.

The first player of a game is black, the second white. Moves have the game's own names. Go's are
GTP's: letters without I, numbers from the bottom, and `pass`.
"""

import re
import time

from plainzero.games.contract import Game, IllegalMove, has_chance
from plainzero.opponents.agent import Decision, Forfeit, GameHistory
from plainzero.protocols.engine_agent import EngineAgent, EngineLimits
from plainzero.protocols.engine_process import EngineFailed, EngineProcess
from plainzero.protocols.gtp.game_traits import KomiGame, board_size

COLOURS = ("black", "white")
_NEEDED = ("clear_board", "play", "genmove")
_ANSWER = re.compile(r"(?P<mark>[=?])(?P<id>\d*)\s*(?P<text>.*)")
_FAREWELL_SECONDS = 1.0
_OTHER_NAMES = {"swap-pieces": "swap"}  # used by Hex engines


class GtpRefused(Exception):
    """The engine answered with an error; the message is the engine's."""


class GtpEngine:
    """A running engine, whose board follows the game that it is asked about.

    Args:
        game: the game it plays.
        command: starts the engine.
        limits: on its time.

    Raises:
        EngineFailed: when it does not start, does not speak GTP, or does not play that game.
    """

    def __init__(self, game: Game, command: str, limits: EngineLimits | None = None) -> None:  # noqa: D107
        self.game, self.limits = game, limits or EngineLimits()
        self.process = EngineProcess(command)
        self._asked = 0
        self._moves: list[int] | None = None  # on its board; None: unknown
        self._known = self._find_commands()
        self._set_up()

    def choose(self, history: GameHistory) -> Decision:
        """Its move in the game so far, or its resignation.

        Raises:
            EngineFailed: when it gives no answer or an illegal move.
        """
        self.follow(history)
        colour = COLOURS[int(history.state.to_play)]
        answer = self._demand(f"genmove {colour}").strip()
        if answer.lower() == "resign":
            self._moves = None
            return Forfeit()
        action = self._parse_move(answer)
        if action not in self.game.legal(history.state):
            raise self.process.fail(f"played {answer}, which is not legal")
        assert self._moves is not None
        self._moves.append(action)
        return action

    def ask(self, command: str, seconds: float = 0.0) -> str:
        """The engine's answer, without its mark and number.

        Args:
            command: a GTP command with its arguments.
            seconds: time limit; 0: that of a move.

        Raises:
            GtpRefused: when the answer is an error.
            EngineFailed: when there is no answer.
        """
        seconds = seconds or self.limits.longest
        deadline = time.monotonic() + seconds
        self._asked += 1
        self.process.send(f"{self._asked} {command}", deadline)
        answer = None
        while answer is None:  # skips other lines and late answers
            line = self._read(command, seconds, deadline)
            found = _ANSWER.fullmatch(line.strip())
            answer = found if found and found["id"] in ("", str(self._asked)) else None
        lines = [answer["text"]]
        while line := self._read(command, seconds, deadline).rstrip():
            lines.append(line)
        text = "\n".join(lines).strip()
        if answer["mark"] == "?":
            raise GtpRefused(text or "an error without a message")
        return text

    def close(self) -> None:
        """Asks the engine to quit, then kills it if needed."""
        self.process.close("quit", _FAREWELL_SECONDS)

    def _read(self, command: str, seconds: float, deadline: float) -> str:
        line = self.process.read_line(deadline)
        if line is None:
            raise self.process.fail(f"no answer to {command!r} in {seconds:g} s")
        return line

    def _demand(self, command: str) -> str:
        """The answer to a command that it must not refuse."""
        try:
            return self.ask(command)
        except GtpRefused as error:
            raise self.process.fail(f"refused {command!r}: {error}") from error

    def _find_commands(self) -> set[str]:
        """The commands it knows; as the first request, this waits for a slow start."""
        try:
            known = set(self.ask("list_commands", self.limits.startup).split())
        except GtpRefused:  # an old engine: probe the optional commands
            optional = ("boardsize", "komi", "undo", "time_settings")
            known = {*_NEEDED, *filter(self._is_known, optional)}
        missing = [command for command in _NEEDED if command not in known]
        if missing:
            raise self.process.fail(f"does not know the GTP command {missing[0]}")
        return known

    def _is_known(self, command: str) -> bool:
        try:
            return self.ask(f"known_command {command}").lower() == "true"
        except GtpRefused:
            return False

    def _set_up(self) -> None:
        """Sets board, komi and clock, if the engine knows the commands."""
        if "boardsize" in self._known:
            self._demand(f"boardsize {board_size(self.game)}")
        if "komi" in self._known and isinstance(self.game, KomiGame):
            self._demand(f"komi {self.game.komi:g}")
        self._demand("clear_board")
        if "time_settings" in self._known and self.limits.seconds:
            self._demand(f"time_settings 0 {max(1, round(self.limits.seconds))} 1")
        self._moves = []

    def follow(self, history: GameHistory) -> None:
        """Brings the engine's board to that game, with as few commands as possible."""
        moves = [int(move) for move in history.moves]
        shared = _count_shared(self._moves or [], moves)
        if not self._go_back_to(shared):
            self._demand("clear_board")
            shared = 0
        for move, mover in list(zip(moves, history.movers, strict=True))[shared:]:
            self._demand(f"play {COLOURS[mover]} {self.game.action_name(move)}")
        self._moves = moves

    def _go_back_to(self, length: int) -> bool:
        """Whether the moves on its board could be undone down to the first `length`."""
        if self._moves is None:
            return False
        behind = len(self._moves) - length
        if behind and ("undo" not in self._known or behind > length):
            return False
        try:
            for _ in range(behind):
                self.ask("undo")
        except GtpRefused:
            return False
        return True

    def _parse_move(self, text: str) -> int:
        action = find_action(self.game, text)
        if action is None:
            raise self.process.fail(f"answered {text[:80]!r}, not a move of {self.game.name}")
        return action


def make_gtp_agent(
    name: str, game: Game, command: str, limits: EngineLimits | None = None
) -> EngineAgent:
    """An agent of that name; one process of the engine is started at once.

    Raises:
        ValueError: when GTP does not cover the game, or the engine cannot play it.
    """
    limits = limits or EngineLimits()
    if game.num_players != len(COLOURS) or has_chance(game):
        raise ValueError(f"GTP is for two players without chance, so it cannot play {game.name}")
    try:
        return EngineAgent(name, lambda: GtpEngine(game, command, limits), limits.processes)
    except EngineFailed as failure:
        raise ValueError(f"{name} cannot play {game.name}: {failure}") from failure


def find_action(game: Game, text: str) -> int | None:
    """The action with that name, in upper or lower case; None if there is none."""
    for spelling in (text, text.lower(), text.upper(), _OTHER_NAMES.get(text.lower())):
        try:
            if spelling is not None:
                return int(game.parse_action(spelling))
        except IllegalMove:
            continue
    return None


def _count_shared(one: list[int], other: list[int]) -> int:
    """The number of moves that two games share from the first on."""
    for index, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return index
    return min(len(one), len(other))
