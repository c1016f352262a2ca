"""Programs that speak GTP 2, the Go Text Protocol, as opponents: GNU Go, and many after it.

The first player of a game is black, the second white. The names of moves are the game's own, which
for Go are GTP's: letters without I, numbers from the bottom, and `pass`.
"""

import re
import time

from plainzero.games.contract import Game, IllegalMove, has_chance
from plainzero.opponents.agent import Decision, GaveUp, PlayedGame
from plainzero.protocols.engine_agent import EngineLimits, EnginePlayer
from plainzero.protocols.engine_process import EngineFailed, EngineProcess

COLOURS = ("black", "white")
_NEEDED = ("clear_board", "play", "genmove")
_ANSWER = re.compile(r"(?P<mark>[=?])(?P<id>\d*)\s*(?P<text>.*)")
_FAREWELL_SECONDS = 1.0
_OTHER_NAMES = {"swap-pieces": "swap"}  # what programs for Hex call it


class GtpRefused(Exception):
    """The program answered with an error; the message is its own."""


class GtpEngine:
    """A running program with a board of its own, kept at the game it is asked about.

    Args:
        game: what it plays.
        command: starts the program.
        limits: what it may take.

    Raises:
        EngineFailed: when it does not start, does not speak GTP, or does not play that game.
    """

    def __init__(self, game: Game, command: str, limits: EngineLimits | None = None) -> None:  # noqa: D107
        self.game, self.limits = game, limits or EngineLimits()
        self.process = EngineProcess(command)
        self._asked = 0
        self._moves: list[int] | None = None  # on its board; None: nobody knows
        self._known = self._find_commands()
        self._set_up()

    def choose(self, played: PlayedGame) -> Decision:
        """Its move after those that were played, or that it resigns.

        Raises:
            EngineFailed: when it does not answer, or not with a legal move.
        """
        self.follow(played)
        colour = COLOURS[int(played.state.to_play)]
        answer = self._demand(f"genmove {colour}").strip()
        if answer.lower() == "resign":
            self._moves = None
            return GaveUp()
        action = self._parse_move(answer)
        if action not in self.game.legal(played.state):
            raise self.process.fail(f"played {answer}, which is not legal")
        assert self._moves is not None
        self._moves.append(action)
        return action

    def ask(self, command: str, seconds: float = 0.0) -> str:
        """The program's answer, without its mark and number.

        Args:
            command: a GTP command with its arguments.
            seconds: to wait for it; 0: as long as for a move.

        Raises:
            GtpRefused: when the answer is an error.
            EngineFailed: when there is none.
        """
        seconds = seconds or self.limits.longest
        deadline = time.monotonic() + seconds
        self._asked += 1
        self.process.send(f"{self._asked} {command}", deadline)
        answer = None
        while answer is None:  # other lines, and late answers, are not for us
            line = self._read(command, seconds, deadline)
            found = _ANSWER.fullmatch(line.strip())
            answer = found if found and found["id"] in ("", str(self._asked)) else None
        lines = [answer["text"]]
        while line := self._read(command, seconds, deadline).rstrip():
            lines.append(line)
        text = "\n".join(lines).strip()
        if answer["mark"] == "?":
            raise GtpRefused(text or "an error without a word")
        return text

    def close(self) -> None:
        """Asks the program to quit, and sees to it that it does."""
        self.process.close("quit", _FAREWELL_SECONDS)

    def _read(self, command: str, seconds: float, deadline: float) -> str:
        line = self.process.read_line(deadline)
        if line is None:
            raise self.process.fail(f"no answer to {command!r} in {seconds:g} s")
        return line

    def _demand(self, command: str) -> str:
        """The answer to what it must not refuse."""
        try:
            return self.ask(command)
        except GtpRefused as error:
            raise self.process.fail(f"refused {command!r}: {error}") from error

    def _find_commands(self) -> set[str]:
        """What it understands; this is the first question, and may wait for a slow start."""
        try:
            known = set(self.ask("list_commands", self.limits.startup).split())
        except GtpRefused:  # an old one: ask for what is not a must
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
        """Board, komi and clock, as far as the program knows of them."""
        if "boardsize" in self._known:
            self._demand(f"boardsize {board_size(self.game)}")
        if "komi" in self._known and hasattr(self.game, "komi"):
            self._demand(f"komi {self.game.komi:g}")
        self._demand("clear_board")
        if "time_settings" in self._known and self.limits.seconds:
            self._demand(f"time_settings 0 {max(1, round(self.limits.seconds))} 1")
        self._moves = []

    def follow(self, played: PlayedGame) -> None:
        """Brings the program's board to that game, by the shortest way it knows."""
        moves = [int(move) for move in played.moves]
        shared = _count_shared(self._moves or [], moves)
        if not self._go_back_to(shared):
            self._demand("clear_board")
            shared = 0
        for move, mover in list(zip(moves, played.movers, strict=True))[shared:]:
            self._demand(f"play {COLOURS[mover]} {self.game.action_name(move)}")
        self._moves = moves

    def _go_back_to(self, length: int) -> bool:
        """Whether so many of the moves on its board are now all of them, by taking back some."""
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
            raise self.process.fail(f"answered {text[:80]!r}, which is no move of {self.game.name}")
        return action


def make_gtp_player(
    name: str, game: Game, command: str, limits: EngineLimits | None = None
) -> EnginePlayer:
    """A player of that name; one process of its program is started at once.

    Raises:
        ValueError: when the game is not one for GTP, or the program cannot play it.
    """
    limits = limits or EngineLimits()
    if game.num_players != len(COLOURS) or has_chance(game):
        raise ValueError(f"{game.name} cannot be played by GTP, which is for two without chance")
    try:
        return EnginePlayer(name, lambda: GtpEngine(game, command, limits), limits.processes)
    except EngineFailed as failure:
        raise ValueError(f"{name} cannot play {game.name}: {failure}") from failure


def find_action(game: Game, text: str) -> int | None:
    """The action that GTP programs call so, in capitals or not; None where there is none."""
    for spelling in (text, text.lower(), text.upper(), _OTHER_NAMES.get(text.lower())):
        try:
            if spelling is not None:
                return int(game.parse_action(spelling))
        except IllegalMove:
            continue
    return None


def board_size(game: Game) -> int:
    """Lines from side to side."""
    size = getattr(game, "size", None)
    if isinstance(size, int):
        return size
    grid = game.view(game.new_state())
    return len(grid.cells) if grid is not None else 0


def _count_shared(one: list[int], other: list[int]) -> int:
    """How many moves two games have in common from the first on."""
    for index, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return index
    return min(len(one), len(other))
