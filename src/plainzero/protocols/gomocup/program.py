"""The commands of the Gomocup protocol (Piskvork's): reads lines and writes answers.

Bad input gets an error as its answer and never ends the program. `session` has the game itself.
"""

import re
import sys
import traceback
from collections.abc import Callable

from plainzero import __version__
from plainzero.protocols.gomocup.engine import OPPONENT, OWN
from plainzero.protocols.gomocup.session import GomocupError, GomocupSession
from plainzero.protocols.line_reader import LineReader

Write = Callable[[str], None]
_ABOUT = (
    f'name="PlainZero", version="{__version__}", author="the authors of PlainZero", country="-"'
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_STONE = re.compile(r"(?P<point>\d+\s*,\s*\d+)\s*,\s*(?P<side>[123])", re.ASCII)
_MARKED = 3  # part of a winning line in a continued game, or a forbidden point in renju
_LONGEST_NUMBER = 18  # digits


class GomocupServer:
    """Answers the commands of one session.

    Args:
        session: the game.
        reader: the input.
        write: writes text without buffering.
    """

    def __init__(self, session: GomocupSession, reader: LineReader, write: Write) -> None:  # noqa: D107
        self.session, self.reader, self.write = session, reader, write
        self.is_done = False
        self._pushed_back: str | None = None  # a line to be read again
        # Each returns the text of its answer; an empty text if none is expected.
        self.commands: dict[str, Callable[[str], str]] = {
            "START": self._start,
            "RECTSTART": self._start_rectangle,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "BOARD": self._board,
            "TAKEBACK": self._take_back,
            "PLAY": self._play,
            "INFO": self._take_information,
            "ABOUT": lambda rest: _ABOUT,
            "END": self._end,
        }

    def serve(self) -> None:
        """Answers line by line until `END` or the end of the input."""
        while not self.is_done and (line := self._next_line()) is not None:
            self.answer(line)

    def answer(self, line: str) -> None:
        """Answers one line; an empty line gets no answer."""
        name, rest = parse_line(line)
        if not name:
            return
        try:
            if name in self.commands:
                text = self.commands[name](rest)
            else:
                text = f"UNKNOWN command {name[:40]}"
        except GomocupError as error:
            text = f"ERROR {error}"
        except ValueError as error:
            text = f"ERROR {' '.join(str(error).split())}"
        except Exception as error:  # a fault here must not end the controller's game
            traceback.print_exc(file=sys.stderr)
            text = f"ERROR internal error: {type(error).__name__}"
        if text:
            self.write(f"{text}\n")

    def _next_line(self) -> str | None:
        line, self._pushed_back = self._pushed_back, None
        return line if line is not None else self.reader.next_line()

    # ---- boards ---------------------------------------------------------------------------------

    def _start(self, rest: str) -> str:
        self.session.start(_whole(rest))
        return "OK"

    def _start_rectangle(self, rest: str) -> str:
        width, _, height = rest.partition(",")
        if _whole(width) != _whole(height):
            raise GomocupError(f"the board is {rest}; it must be square")
        return self._start(width)

    def _restart(self, rest: str) -> str:
        self.session.clear()
        return "OK"

    def _take_back(self, rest: str) -> str:
        self.session.take_back(rest)
        return "OK"

    # ---- moves ----------------------------------------------------------------------------------

    def _begin(self, rest: str) -> str:
        if self.session.stones:
            raise GomocupError("there are stones on the board; send RESTART before BEGIN")
        return self.session.choose()

    def _turn(self, rest: str) -> str:
        self.session.play(rest)
        return self.session.choose()

    def _play(self, rest: str) -> str:
        self.session.play(rest)
        return rest

    def _board(self, rest: str) -> str:
        stones = self._read_stones()
        self.session.place(stones)
        return self.session.choose()

    def _read_stones(self) -> list[tuple[str, int]]:
        """The stones up to DONE; another command before that cancels the board."""
        stones, wrong = [], ""
        while (line := self._next_line()) is not None:
            name, rest = parse_line(line)
            if name == "DONE":
                break
            if name in self.commands:
                self._pushed_back, wrong = line, f"{name} came before DONE"
                break
            found = _STONE.fullmatch(f"{name} {rest}".strip())
            side = int(found["side"]) if found else 0
            if found and side in (OWN, OPPONENT):
                stones.append((found["point"], side))
            elif name and not (side == _MARKED and self.session.game.is_renju):
                wrong = wrong or f"{line.strip()[:40]!r} is not x,y,1 or x,y,2"
        if line is None or wrong:
            raise GomocupError(wrong or "the board ended without DONE")
        return stones

    # ---- settings and end -----------------------------------------------------------------------

    def _take_information(self, rest: str) -> str:
        """Applies known keys and ignores others, as the protocol demands; gives no answer."""
        key, _, text = rest.partition(" ")
        key = key.lower()
        if key not in ("timeout_turn", "timeout_match", "time_left", "max_memory", "rule"):
            return ""
        try:
            value = _whole(text)
            if key == "rule":
                self.session.set_rule(value)
            else:
                self.session.limits.take(key, value)
        except GomocupError as error:
            return f"MESSAGE INFO {key}: {error}"
        return ""

    def _end(self, rest: str) -> str:
        self.is_done = True
        return ""


def parse_line(line: str) -> tuple[str, str]:
    """A command in upper case and its arguments; each is empty if missing."""
    name, _, rest = _CONTROL.sub(" ", line).strip().partition(" ")
    return name.upper(), rest.strip()


def _whole(text: str) -> int:
    text = text.strip()
    if not re.fullmatch(rf"-?\d{{1,{_LONGEST_NUMBER}}}", text, re.ASCII):
        raise GomocupError(f"{text[:40]!r} is not a whole number")
    return int(text)
