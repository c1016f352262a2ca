"""Steps through a saved game in the terminal."""

import sys

import typer
from rich.console import Console
from rich.markup import escape

from plainzero import CHANCE, Game
from plainzero.cli.terminal import boards
from plainzero.cli.terminal.errors import BadInput
from plainzero.games.formats.replay_moves import ReplayedGame
from plainzero.games.formats.saved_games import SavedGame

_FORWARD = (" ", "\r", "\n", "n", "l", "\x1b[C", "\x1bOC")
_BACK = ("b", "p", "h", "\x1b[D", "\x1bOD", "\x7f")
_START = ("0", "g", "\x1b[H", "\x1bOH", "\x1b[1~")
_END = ("$", "G", "e", "\x1b[F", "\x1bOF", "\x1b[4~")
_QUIT = ("q", "\x1b", "\x03", "\x04")
_KEYS = "space → forward · b ← back · 0 start · $ end · q quit"


class Stepper:
    """All positions of a saved game, shown one by one.

    Args:
        game: its rules.
        saved: its moves.
    """

    def __init__(self, game: Game, saved: SavedGame) -> None:  # noqa: D107
        self.game, self.saved = game, saved
        replay = ReplayedGame(game, saved.cells, saved.to_play)
        self.states = [game.copy(replay.state)]
        for action in saved.moves:
            replay.play(action)
            self.states.append(game.copy(replay.state))
        self.names, self.movers = replay.names, replay.movers
        self.console = Console(highlight=False)

    def step_through(self) -> None:
        """Shows positions by key press; prints all of them if the input is not a terminal."""
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            for place in range(len(self.states)):
                self.print_position(place)
            return
        place = 0
        with self.console.screen():
            while True:
                self.console.clear()
                self.print_position(place)
                self.console.print(f"[dim]{_KEYS}[/]")
                try:
                    key = typer.getchar()
                except (EOFError, KeyboardInterrupt):
                    return
                if key in _QUIT:
                    return
                place = self._moved(place, key)

    def print_position(self, place: int) -> None:
        """Prints the position after `place` moves."""
        if place >= len(self.states):
            raise BadInput(f"the game has {len(self.names)} moves; there is no move {place}")
        before = self.states[place - 1] if place else None
        self.console.print(self._heading(place))
        self.console.print(boards.draw_board(self.game, self.states[place], before))

    def _moved(self, place: int, key: str) -> int:
        last = len(self.states) - 1
        if key in _FORWARD:
            return min(place + 1, last)
        if key in _BACK:
            return max(place - 1, 0)
        return 0 if key in _START else last if key in _END else place

    def _heading(self, place: int) -> str:
        players = " – ".join(self.saved.players)
        about = f"[bold]{escape(self.game.name)}[/]" + (f", {escape(players)}" if players else "")
        if place == 0:
            said = "a position set up by hand" if self.saved.cells is not None else "the start"
        else:
            mover = self.movers[place - 1]
            who = "chance" if mover == CHANCE else boards.seat_name(mover)
            said = f"{who}: [bold green]{escape(self.names[place - 1])}[/]"
        lines = [about, f"move {place} of {len(self.names)}  {said}"]
        if place == len(self.names):
            lines.append(self._outcome())
        return "\n".join(line for line in lines if line)

    def _outcome(self) -> str:
        """The result, if the game ended."""
        if self.saved.resigned is not None:
            return f"The {boards.seat_name(self.saved.resigned)} resigned."
        end = self.states[-1]
        if not end.is_over:
            return "The game was not finished."
        returns = end.returns.tolist()
        if len(returns) > 1 and max(returns) == min(returns):
            return "A draw."
        if len(returns) > 1 and returns.count(max(returns)) == 1:
            return f"The {boards.seat_name(returns.index(max(returns)))} wins."
        return "Results: " + ", ".join(f"{value:+.2f}" for value in returns)
