"""Files of positions with the outcome of every move.

Our files are CSV: a header `moves,values`, then one position per line: the names of the moves that
lead to it, separated by spaces, and one letter per action: W, D or L for its outcome for the mover
with perfect play, or `-` if it is illegal. Pascal Pons' files for Connect Four are read as well:
lines `MOVES SCORE` with columns 1–7 as digits; their outcomes are then computed. Files of Othello
endgames, `.obf`, have the squares, the side to move, and each legal move with its score in discs.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.atomic_files import write_whole
from plainzero.games.bundled.connect_four import ConnectFour
from plainzero.games.bundled.dots_and_boxes import DotsAndBoxes
from plainzero.games.bundled.othello import Othello
from plainzero.games.contract import CHANCE, Game, IllegalMove
from plainzero.games.position_setup import set_up_position
from plainzero.opponents.connect_four.kernels import ILLEGAL
from plainzero.opponents.connect_four.solver import Progress
from plainzero.opponents.perfect import move_outcomes

HEADER = "moves,values"
_LETTERS = {1: "W", 0: "D", -1: "L", ILLEGAL: "-"}
_OUTCOMES = {letter: outcome for outcome, letter in _LETTERS.items()}
_BUNDLED = {
    (ConnectFour, "connect-four"): "connect_four_decisive.csv",
    (DotsAndBoxes, "dots-and-boxes"): "dots_and_boxes_2x2_decisive.csv",
    (DotsAndBoxes, "dots-and-boxes(rows=3,cols=3)"): "dots_and_boxes_3x3_decisive.csv",
}


class PositionSet(NamedTuple):
    """Positions with known outcomes. n positions, A actions."""

    states: NDArray[Any]  # [n]
    outcomes: NDArray[np.int8]  # [n, A] +1, 0, −1 for the mover, ILLEGAL
    plies: NDArray[np.int32]  # [n] moves played so far
    scores: NDArray[np.int16] | None = None  # [n, A] of legal moves, for the mover, if known

    def rows(self, rows: Any) -> "PositionSet":
        """Some of the positions, by a slice or numbers."""
        scores = None if self.scores is None else self.scores[rows]
        return PositionSet(self.states[rows], self.outcomes[rows], self.plies[rows], scores)


class PositionError(ValueError):
    """An invalid file of positions; the message names the line."""


def bundled_positions(game: Game) -> Path | None:
    """The file of the bundled set for this game, if any."""
    name = _BUNDLED.get((type(game), game.name))
    return Path(__file__).parent / "data" / name if name else None


def read_positions(game: Game, path: str | Path, progress: Progress | None = None) -> PositionSet:
    """The positions in a file of any of these formats.

    Args:
        game: the game.
        path: the file.
        progress: called with the positions solved and their total, if outcomes are computed.

    Raises:
        PositionError: when the file cannot be read, or a line is invalid.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PositionError(f"{path} cannot be read: {error}") from error
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise PositionError(f"{path} has no positions")
    if path.suffix == ".obf":
        return _read_endgames(game, path, numbered)
    if numbered[0][1].strip() == HEADER:
        return _read_ours(game, path, numbered[1:])
    return _read_scores(game, path, numbered, progress)


def write_positions(
    game: Game, path: str | Path, moves: Iterable[Sequence[int]], outcomes: NDArray[np.int8]
) -> None:
    """Writes positions, given by the actions that lead to them; all of them or none."""
    lines = [HEADER]
    for actions, row in zip(moves, outcomes, strict=True):
        names = " ".join(game.action_name(action) for action in actions)
        lines.append(f"{names},{''.join(_LETTERS[int(outcome)] for outcome in row)}")
    write_whole(Path(path), ("\n".join(lines) + "\n").encode())


def _read_ours(game: Game, path: Path, numbered: list[tuple[int, str]]) -> PositionSet:
    states = np.zeros(len(numbered), game.dtype)
    outcomes = np.empty((len(numbered), game.num_actions), np.int8)
    for row, (number, line) in enumerate(numbered):
        moves, comma, letters = line.rpartition(",")
        if not comma:
            raise PositionError(f"{path}, line {number}: {line!r} is not of the form {HEADER}")
        states[row] = play_moves(game, f"{path}, line {number}", moves.split())
        outcomes[row] = _parse_letters(game, f"{path}, line {number}", letters.strip(), states[row])
    return _make_set(states, outcomes)


def _read_scores(
    game: Game, path: Path, numbered: list[tuple[int, str]], progress: Progress | None
) -> PositionSet:
    """Positions with a score, in Pons' format; the outcomes of all moves are computed."""
    states = np.zeros(len(numbered), game.dtype)
    scores = np.zeros(len(numbered), np.int64)
    for row, (number, line) in enumerate(numbered):
        place, words = f"{path}, line {number}", line.split()
        try:
            digits, scores[row] = words[0], int(words[1])
            if not digits.isdigit() or len(words) != 2 or not isinstance(game, ConnectFour):
                raise ValueError
        except (IndexError, ValueError):
            wanted = " or columns and a score, like 4453 0" * isinstance(game, ConnectFour)
            raise PositionError(
                f"{place}: {line.strip()[:80]!r} cannot be read; a file of positions of "
                f"{game.name} begins with the line {HEADER}{wanted}"
            ) from None
        states[row] = play_moves(game, place, list(digits))
    outcomes = move_outcomes(game, states, progress)
    wrong = np.flatnonzero(outcomes.max(axis=1) != np.sign(scores))
    if len(wrong):
        number, line = numbered[wrong[0]]
        raise PositionError(
            f"{path}, line {number}: the score of {line.strip()!r} is wrong; "
            f"the position's outcome is {_LETTERS[int(outcomes[wrong[0]].max())]}"
        )
    return _make_set(states, outcomes)


def _read_endgames(game: Game, path: Path, numbered: list[tuple[int, str]]) -> PositionSet:
    """Othello endgames with the score of every legal move."""
    if not isinstance(game, Othello) or game.size != 8:
        raise PositionError(f"{path} has positions of othello on 8x8, not of {game.name}")
    states = np.zeros(len(numbered), game.dtype)
    scores = np.zeros((len(numbered), game.num_actions), np.int16)
    outcomes = np.full(scores.shape, ILLEGAL, np.int8)
    for row, (number, line) in enumerate(numbered):
        form = re.match(r"([XO-]{64}) ([XO]);", line)
        moves = re.findall(r"(\w+):([+-]?\d+);", line)
        try:
            if form is None:
                raise ValueError("64 squares (X, O, -), X or O, and MOVE:SCORE; are expected")
            squares = form[1].replace("-", ".").lower()
            cells = [list(squares[start : start + 8]) for start in range(0, 64, 8)]
            states[row] = set_up_position(game, cells, "XO".index(form[2]))
            actions = [game.parse_action(move) for move, _ in moves]
            if sorted(actions) != sorted(game.legal(states[row])):
                raise ValueError("each legal move needs a score, and no other")
        except ValueError as error:
            raise PositionError(f"{path}, line {number}: {error}") from error
        scores[row, actions] = [int(score) for _, score in moves]
        outcomes[row, actions] = np.sign(scores[row, actions])
    return PositionSet(states, outcomes, states["turn"].astype(np.int32), scores)


def play_moves(game: Game, place: str, names: list[str]) -> Any:
    """The position after the moves."""
    state = game.new_state()
    try:
        for name in names:
            if state.to_play == CHANCE and not state.is_over:
                raise IllegalMove("a file of positions cannot contain chance's outcomes")
            game.apply(state, game.parse_action(name))
    except IllegalMove as error:
        raise PositionError(f"{place}: {error}") from error
    if state.is_over:
        raise PositionError(f"{place}: the game is over after {' '.join(names)}")
    return state


def _parse_letters(game: Game, place: str, letters: str, state: Any) -> list[int]:
    legal = set(game.legal(state))
    if len(letters) != game.num_actions or not set(letters) <= _OUTCOMES.keys():
        raise PositionError(
            f"{place}: {letters!r} must be {game.num_actions} letters, each W, D, L or -"
        )
    for action, letter in enumerate(letters):
        if (letter != "-") != (action in legal):
            is_or_not = "is" if action in legal else "is not"
            raise PositionError(
                f"{place}: {game.action_name(action)} has {letter!r}, but it {is_or_not} legal"
            )
    return [_OUTCOMES[letter] for letter in letters]


def _make_set(states: NDArray[Any], outcomes: NDArray[np.int8]) -> PositionSet:
    return PositionSet(states, outcomes, states["turn"].astype(np.int32))
