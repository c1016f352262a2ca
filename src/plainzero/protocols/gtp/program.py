"""The commands of GTP 2, the Go Text Protocol: reads lines and writes answers.

Bad input gets an error as its answer and never ends the program. `session` has the game itself.
"""

import math
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from plainzero import __version__
from plainzero.games.formats.saved_games import decode_saved
from plainzero.protocols.gtp.analysis import Analysis, parse_settings
from plainzero.protocols.gtp.clock import TimeSettings
from plainzero.protocols.gtp.game_traits import AreaScoredGame
from plainzero.protocols.gtp.handicap import most_stars, star_points
from plainzero.protocols.gtp.session import GtpError, GtpSession
from plainzero.protocols.line_reader import LineReader

Write = Callable[[str], None]
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_LONGEST_TIME = 1e7  # seconds


class GtpServer:
    """Answers the commands of one GTP session.

    Args:
        session: the game.
        reader: the input; polled while an analysis runs.
        write: writes text without buffering.
    """

    def __init__(self, session: GtpSession, reader: LineReader, write: Write) -> None:  # noqa: D107
        self.session, self.reader, self.write = session, reader, write
        self.is_done = False
        self._number = ""  # of the current command
        # Each returns the text of its answer, or None if it has written that itself.
        self.commands: dict[str, Callable[[list[str]], str | None]] = {
            "protocol_version": lambda words: "2",
            "name": lambda words: "PlainZero",
            "version": lambda words: __version__,
            "known_command": self._known_command,
            "list_commands": lambda words: "\n".join(self.commands),
            "quit": self._quit,
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "fixed_handicap": self._fixed_handicap,
            "place_free_handicap": self._place_free_handicap,
            "set_free_handicap": self._set_free_handicap,
            "play": self._play,
            "genmove": self._genmove,
            "reg_genmove": self._reg_genmove,
            "undo": self._undo,
            "time_settings": self._time_settings,
            "time_left": self._time_left,
            "final_score": self._final_score,
            "final_status_list": self._final_status_list,
            "showboard": self._showboard,
            "loadsgf": self._loadsgf,
            "lz-analyze": self._analyse,
        }

    def serve(self) -> None:
        """Answers line by line until `quit` or the end of the input."""
        while not self.is_done and (line := self.reader.next_line()) is not None:
            self.answer(line)

    def answer(self, line: str) -> None:
        """Answers one line; a line without a command gets no answer."""
        self._number, name, words = parse_line(line)
        if not name:
            return
        try:
            if name not in self.commands:
                raise GtpError("unknown command")
            text, mark = self.commands[name](words), "="
            if text is None:
                return
        except GtpError as error:
            text, mark = str(error), "?"
        except ValueError as error:
            text, mark = " ".join(str(error).split()), "?"
        except Exception as error:  # a fault here must not end the controller's game
            traceback.print_exc(file=sys.stderr)
            text, mark = f"internal error: {type(error).__name__}", "?"
        self.write(f"{mark}{self._number} {text}".rstrip() + "\n\n")

    # ---- the session ----------------------------------------------------------------------------

    def _known_command(self, words: list[str]) -> str:
        return "true" if _word(words, 0) in self.commands else "false"

    def _quit(self, words: list[str]) -> str:
        self.is_done = True
        return ""

    def _boardsize(self, words: list[str]) -> str:
        sizes = {_whole(words, index) for index in range(max(1, min(2, len(words))))}
        if len(sizes) > 1:
            raise GtpError("unacceptable size")
        self.session.set_size(sizes.pop())
        return ""

    def _clear_board(self, words: list[str]) -> str:
        self.session.clear()
        self.session.make_ready()
        return ""

    def _komi(self, words: list[str]) -> str:
        self.session.set_komi(_number(words, 0))
        if self.session.clocks:
            self.session.make_ready()
        return ""

    def _time_settings(self, words: list[str]) -> str:
        main, period = (_time(words, index) for index in (0, 1))
        self.session.set_time(TimeSettings(main, period, _whole(words, 2)))
        self.session.make_ready()
        return ""

    def _time_left(self, words: list[str]) -> str:
        colour = _colour(words, 0)
        seconds, stones = _time(words, 1), _whole(words, 2)
        if self.session.clocks:
            self.session.clocks[colour].set_left(seconds, stones)
        return ""

    # ---- moves ----------------------------------------------------------------------------------

    def _play(self, words: list[str]) -> str:
        colour = _colour(words, 0)
        self.session.play(colour, self.session.parse_move(_word(words, 1)))
        return ""

    def _genmove(self, words: list[str]) -> str:
        colour = _colour(words, 0)
        action = self.session.choose(colour)
        if action is None:
            return "resign"
        if not self.session.position.state.is_over:
            self.session.play(colour, action)
        return self.session.name_move(action)

    def _reg_genmove(self, words: list[str]) -> str:
        action = self.session.choose(_colour(words, 0), is_timed=False)
        return "resign" if action is None else self.session.name_move(action)

    def _undo(self, words: list[str]) -> str:
        self.session.undo()
        return ""

    def _fixed_handicap(self, words: list[str]) -> str:
        names = star_points(self.session.game, _whole(words, 0))
        return self._place(names)

    def _place_free_handicap(self, words: list[str]) -> str:
        """Places the requested number of stones, or fewer if there are not enough star points."""
        game = self.session.game
        return self._place(star_points(game, min(_whole(words, 0), most_stars(game))))

    def _set_free_handicap(self, words: list[str]) -> str:
        if len(words) < 2 or len(set(words)) < len(words):
            raise GtpError("bad vertex list")
        return self._place(words)

    def _place(self, names: list[str]) -> str:
        if self.session.position.moves:
            raise GtpError("board not empty")
        actions = [self.session.parse_move(name) for name in names]
        if self.session.pass_action is None or self.session.pass_action in actions:
            raise GtpError("bad vertex list")
        for action in actions:
            self.session.play(0, action)
        return " ".join(self.session.name_move(action) for action in actions)

    def _loadsgf(self, words: list[str]) -> str:
        try:
            content = Path(_word(words, 0)).read_bytes()
        except OSError as error:
            raise GtpError(f"cannot load file: {error.strerror}") from error
        self.session.load(decode_saved(content), _whole(words, 1) if len(words) > 1 else None)
        return ""

    # ---- board, score and analysis --------------------------------------------------------------

    def _showboard(self, words: list[str]) -> str:
        game, state = self.session.game, self.session.position.state
        lines = [line for line in game.text(state).splitlines() if line.strip()]
        return "\n" + "\n".join(lines)

    def _final_score(self, words: list[str]) -> str:
        game, state = self.session.game, self.session.position.state
        if isinstance(game, AreaScoredGame):
            return _score_text(float(game.area_lead(state)))
        if not state.is_over:
            raise GtpError("cannot score: the game is not over")
        grid = game.view(state)
        if game.title() == "othello" and grid is not None:
            cells = [cell for row in grid.cells for cell in row]
            return _score_text(cells.count("x") - cells.count("o"))
        lead = float(state.returns[0] - state.returns[1])
        return "0" if lead == 0 else "B+" if lead > 0 else "W+"

    def _final_status_list(self, words: list[str]) -> str:
        status = _word(words, 0)
        if status not in ("alive", "dead", "seki"):
            raise GtpError("syntax error")
        grid = self.session.game.view(self.session.position.state)
        if status != "alive" or grid is None:  # the score counts all stones as alive
            return ""
        return "\n".join(
            self.session.name_move(action)
            for cells, actions in zip(grid.cells, grid.actions, strict=True)
            for cell, action in zip(cells, actions, strict=True)
            if cell in ("x", "o")
        )

    def _analyse(self, words: list[str]) -> None:
        """Answers with lines until the next command arrives."""
        colours = [word for word in words if word.lower() in _COLOUR_WORDS]
        colour = _colour(colours, 0) if colours else int(self.session.position.state.to_play)
        analysis = Analysis(
            self.session,
            self.session.turn_of(colour),
            parse_settings([word for word in words if word not in colours]),
        )
        self.session.make_ready()
        self.write(f"={self._number}\n")
        try:
            analysis.run(self.reader.has_line, self.write)
            self.reader.wait()
        finally:
            self.write("\n")


_COLOUR_WORDS = {"b": 0, "black": 0, "w": 1, "white": 1}


def parse_line(line: str) -> tuple[str, str, list[str]]:
    """A command's number, name and arguments; each is empty if missing."""
    text = _CONTROL.sub("", line.replace("\t", " ")).partition("#")[0]
    words = text.split()
    number = words.pop(0) if words and words[0].isascii() and words[0].isdecimal() else ""
    return number, words[0] if words else "", words[1:]


def _word(words: list[str], index: int) -> str:
    if index >= len(words):
        raise GtpError("syntax error")
    return words[index]


def _colour(words: list[str], index: int) -> int:
    word = _word(words, index).lower()
    if word not in _COLOUR_WORDS:
        raise GtpError("invalid color or coordinate")
    return _COLOUR_WORDS[word]


def _number(words: list[str], index: int) -> float:
    try:
        number = float(_word(words, index))
    except ValueError:
        raise GtpError("syntax error") from None
    if not math.isfinite(number):
        raise GtpError("syntax error")
    return number


def _whole(words: list[str], index: int) -> int:
    word = _word(words, index)
    if not re.fullmatch(r"\d{1,9}", word, re.ASCII):
        raise GtpError("syntax error")
    return int(word)


def _time(words: list[str], index: int) -> float:
    seconds = _number(words, index)
    if not 0 <= seconds <= _LONGEST_TIME:
        raise GtpError("syntax error")
    return seconds


def _score_text(lead: float) -> str:
    """The leader and the lead, as in `B+3.5`."""
    return "0" if lead == 0 else f"{'B' if lead > 0 else 'W'}+{abs(lead):g}"
