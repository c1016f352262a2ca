"""Engines that speak the Gomocup protocol (Piskvork's), as most strong Gomoku engines do.

Points are `x,y`, both from 0 at the top left. The rule is a number, see `RULE_BITS`.
"""

import re
import time
from dataclasses import dataclass

from plainzero.games.bundled.gomoku.rules import Gomoku
from plainzero.games.contract import Game
from plainzero.opponents.agent import Decision, GameHistory
from plainzero.protocols.engine_agent import EngineAgent, EngineLimits
from plainzero.protocols.engine_process import EngineFailed, EngineProcess

RULE_BITS = {"freestyle": 0, "standard": 1, "renju": 4}
NO_LIMIT = 2**31 - 1  # milliseconds, the protocol's value for unlimited time
OWN, OPPONENT = 1, 2  # stones, in the lines of BOARD
_NOTES = ("MESSAGE", "DEBUG")  # lines for people
_REFUSALS = ("ERROR", "UNKNOWN")
_POINT = re.compile(r"(\d{1,4})\s*,\s*(\d{1,4})", re.ASCII)
_FAREWELL_SECONDS = 1.0


@dataclass(frozen=True)
class GomocupLimits(EngineLimits):
    """Limits on an engine."""

    memory_mb: int = 0
    """Megabytes of memory, sent to the engine but not enforced. 0: nothing is sent."""

    def __post_init__(self) -> None:
        """Refuses negative limits."""
        super().__post_init__()
        if self.memory_mb < 0:
            raise ValueError(f"memory_mb is {self.memory_mb}; it cannot be negative")


class GomocupEngine:
    """A running engine, whose board follows the game that it is asked about.

    Args:
        game: Gomoku with one of the protocol's rules.
        command: starts the engine.
        limits: on its time and memory.

    Raises:
        EngineFailed: when it does not start, or refuses that board.
    """

    def __init__(self, game: Gomoku, command: str, limits: GomocupLimits | None = None) -> None:  # noqa: D107
        self.game, self.limits = game, limits or GomocupLimits()
        self.process = EngineProcess(command)
        self._moves: list[int] = []  # on its board
        self._start(self.limits.startup)
        for key, value in self._information():
            self._send(f"INFO {key} {value}")

    def choose(self, history: GameHistory) -> Decision:
        """Its move in the game so far.

        Raises:
            EngineFailed: when it gives no answer or an illegal move.
        """
        lines = self._follow(history)
        deadline = time.monotonic() + self.limits.longest
        for line in lines:
            self.process.send(line, deadline)
        answer = self._read_point(lines[0], deadline)
        action = parse_point(self.game, answer)
        if action is None or action not in self.game.legal(history.state):
            raise self.process.fail(f"played {answer}, which is not legal")
        self._moves = [*map(int, history.moves), action]
        return action

    def close(self) -> None:
        """Asks the engine to end, then kills it if needed."""
        self.process.close("END", _FAREWELL_SECONDS)

    def _information(self) -> list[tuple[str, int]]:
        """The key and the value of each INFO."""
        lines = [("game_type", 1), ("rule", find_rule(self.game))]  # 1: against an engine
        if self.limits.seconds:
            milliseconds = max(1, round(1000 * self.limits.seconds))
            lines += [("timeout_turn", milliseconds), ("timeout_match", 0), ("time_left", NO_LIMIT)]
        if self.limits.memory_mb:
            lines.append(("max_memory", self.limits.memory_mb << 20))
        return lines

    def _start(self, seconds: float) -> None:
        """Sets up a board of the game's size; allows for a slow start."""
        command = f"START {self.game.size}"
        if refusal := self._ask_for_ok(command, seconds):
            raise self.process.fail(f"refused {command!r}: {refusal}")

    def _follow(self, history: GameHistory) -> list[str]:
        """The lines that bring its board to that game and ask for a move.

        Its board still has the stones of the last request, up to its own answer; it is cleared if
        the game is another one.
        """
        moves = [int(move) for move in history.moves]
        if moves and moves[:-1] == self._moves:
            return [f"TURN {name_point(self.game, moves[-1])}"]
        if self._moves:
            if self._ask_for_ok("RESTART", self.limits.longest):  # not all engines know it
                self._start(self.limits.longest)
            self._moves = []
        if not moves:
            return ["BEGIN"]
        sides = [OWN if mover == history.state.to_play else OPPONENT for mover in history.movers]
        points = [name_point(self.game, move) for move in moves]
        stones = [f"{point},{side}" for point, side in zip(points, sides, strict=True)]
        return ["BOARD", *stones, "DONE"]

    def _ask_for_ok(self, command: str, seconds: float) -> str:
        """An empty text if it answers OK, otherwise its refusal."""
        deadline = time.monotonic() + seconds
        self.process.send(command, deadline)
        last = ""
        while not last.upper().startswith(("OK", *_REFUSALS)):
            last = self._read(command, seconds, deadline, last)
        return "" if last.upper().startswith("OK") else last

    def _read_point(self, command: str, deadline: float) -> str:
        """Its answer, `x,y`; an engine that only suggests a point is told to play it.

        Other lines are skipped, as other referees do, because engines write notes.
        """
        last = ""
        while not _POINT.fullmatch(last):
            last = self._read(command, self.limits.longest, deadline, last)
            word, _, rest = last.partition(" ")
            if word.upper() == "SUGGEST":
                self.process.send(f"PLAY {rest.strip()}", deadline)
            elif word.upper() in _REFUSALS:
                raise self.process.fail(f"refused {command!r}: {last}")
        return last

    def _read(self, command: str, seconds: float, deadline: float, last: str) -> str:
        """The next line that is not a note; the error message quotes the line before, `last`."""
        while True:
            line = self.process.read_line(deadline)
            if line is None or time.monotonic() > deadline:
                said = f"; its last line was {last[:80]!r}" if last else ""
                raise self.process.fail(f"no answer to {command!r} in {seconds:g} s{said}")
            if line.strip() and not line.strip().upper().startswith(_NOTES):
                return line.strip()

    def _send(self, line: str) -> None:
        self.process.send(line, time.monotonic() + self.limits.longest)


def make_gomocup_agent(
    name: str, game: Game, command: str, limits: GomocupLimits | None = None
) -> EngineAgent:
    """An agent of that name; one process of the engine is started at once.

    Raises:
        ValueError: when the protocol does not cover the game, or the engine cannot play it.
    """
    limits = limits or GomocupLimits()
    find_rule(game)
    assert isinstance(game, Gomoku)
    try:
        return EngineAgent(name, lambda: GomocupEngine(game, command, limits), limits.processes)
    except EngineFailed as failure:
        raise ValueError(f"{name} cannot play {game.name}: {failure}") from failure


def find_rule(game: Game) -> int:
    """The protocol's number for the game's rule.

    Raises:
        ValueError: when the protocol does not have that rule.
    """
    if not isinstance(game, Gomoku):
        raise ValueError(f"the Gomocup protocol is for gomoku only, so it cannot play {game.name}")
    if game.is_capturing or game.bars_double_threes:
        raise ValueError(
            "the Gomocup protocol has neither captures nor forbidden double-threes, so it cannot "
            f"play {game.name}; use gomoku with rule=freestyle, standard or renju"
        )
    return RULE_BITS[game.rule]


def name_point(game: Gomoku, action: int) -> str:
    """The point as `x,y`."""
    return f"{action % game.size},{action // game.size}"


def parse_point(game: Gomoku, text: str) -> int | None:
    """The action of the point `x,y`; None if there is no such point."""
    found = _POINT.fullmatch(text.strip())
    if found is None:
        return None
    x, y = int(found[1]), int(found[2])
    return y * game.size + x if x < game.size and y < game.size else None
