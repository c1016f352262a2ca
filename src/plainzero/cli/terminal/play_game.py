"""One game between a person and an agent."""

import random
import sys
from typing import Any

from rich.console import Console
from rich.markup import escape

from plainzero import CHANCE, IllegalMove, Searcher, SearchResult
from plainzero.cli.terminal import boards
from plainzero.cli.terminal.errors import BadInput
from plainzero.cli.terminal.search_arguments import draw_outcome
from plainzero.cli.terminal.search_progress import Thought, think
from plainzero.games.contract import legal_names, move_name
from plainzero.games.formats.replay_moves import find_move
from plainzero.opponents.agent import Agent, Forfeit, GameHistory, choose_moves
from plainzero.opponents.book_agent import BookAgent

WATCHING = -2  # the seat of a spectator
_HELP = """Type a move, or
  hint   show the search's move for you
  undo   take back your last move
  help   show this list and the legal moves
  quit   stop the game"""


class Match:
    """A game in progress: the position, its history, and the search tree.

    Args:
        searcher: plays the other seats; it reuses its tree between moves.
        seat: the person's seat, or WATCHING.
        seed: for the search and chance.
        opponent: plays the other seats instead; the searcher then only gives hints.
        name: of the opponent.
        book: corrects the search's moves; hints are not corrected.
    """

    def __init__(  # noqa: D107
        self,
        searcher: Searcher,
        seat: int,
        seed: int,
        opponent: Agent | None = None,
        name: str = "search",
        book: BookAgent | None = None,
    ) -> None:
        self.searcher, self.game, self.seat, self.seed = searcher, searcher.game, seat, seed
        self.opponent, self.name, self.book = opponent, name, book
        self.state: Any = self.game.new_state()
        self.history: list[Any] = []  # positions before this one
        self.moves: list[int] = []  # one for each of them
        self.chance = random.Random(seed)
        self.console = Console(highlight=False)

    def play(self) -> None:
        """Plays until the game ends or the person quits."""
        self._greet()
        while not self.state.is_over:
            if self.state.to_play == CHANCE:
                self._play_chance()
            elif self.state.to_play != self.seat:
                if not self._play_other():
                    return
            elif not self._ask():
                self.console.print("Game stopped.")
                return
        self._draw()
        self.console.print(f"[bold]{escape(self._outcome())}[/]")

    def _greet(self) -> None:
        mark = boards.player_marks(self.game).get(self.seat)
        you = f"you are the {boards.seat_name(self.seat)}" if self.seat != WATCHING else "watching"
        sign = f" ({escape(mark)})" if mark else ""
        alone = self.game.num_players == 1 and self.seat != WATCHING
        self.console.print(
            f"[bold]{self.game.name}[/]: {'you play alone' if alone else you + sign}."
            + (" Type a move, or [bold]help[/]." if self.seat != WATCHING else "")
        )

    def _play_chance(self) -> None:
        outcome = draw_outcome(self.game, self.state, self.chance)
        self.console.print(f"[dim]chance: {escape(self._name(outcome))}[/]")
        self._apply(outcome)

    def _play_other(self) -> bool:
        """Plays a move of the opponent; False if it resigns."""
        if self.seat == WATCHING or not self.history:
            self._draw()
        if self.opponent is not None:
            movers = [int(state.to_play) for state in self.history]
            played = GameHistory(0, self.moves, movers, self.state)
            decision = choose_moves(self.opponent, [played], self.seed + len(self.history))[0]
            if isinstance(decision, Forfeit):
                end = f"forfeits: {decision.fault}" if decision.fault else "resigns"
                self._say(f"[bold]{escape(f'{self.name} {end}')}.[/]")
                return False
            action, opinion = decision, ""
        else:
            action, opinion = self._choose()
        name = escape(self._name(action))
        two = self.game.num_players <= 2
        who = escape(self.name) if two else boards.seat_name(self.state.to_play)
        self._say(f"[bold]{who} plays [green]{name}[/][/]  [dim]{opinion}[/]")
        self._apply(action)
        return True

    def _choose(self) -> tuple[int, str]:
        """The search's move, which the book may correct, and what to say about it."""
        thought = self._think()
        chosen, opinion = thought.result.action, _opinion(thought)
        if self.book is None:
            return chosen, opinion
        action = self.book.correct(self.state, chosen, self.seed + len(self.history))
        if action == chosen:
            return action, opinion
        return action, f"by the opening book; the search chose {self._name(chosen)}, {opinion}"

    def _ask(self) -> bool:
        """Asks until the person has moved or undone a move; False if they quit."""
        self._draw()
        while True:
            word = self._read()
            if word in ("quit", "exit", "q"):
                return False
            if word == "undo" and self._undo():
                return True
            if word == "hint":
                self._hint()
            elif word in ("help", "?"):
                legal = legal_names(self.game, self.state)
                self.console.print(f"{_HELP}\nLegal moves: {escape(legal)}")
            elif word and word != "undo" and self._try(word):
                return True

    def _read(self) -> str:
        """The typed line; "quit" at the end of input."""
        try:
            word = self.console.input("[bold]your move>[/] ").strip()
        except (EOFError, KeyboardInterrupt):
            self.console.print()
            return "quit"
        if not sys.stdin.isatty():  # input from a script is not echoed
            self.console.print(word, markup=False)
        return word

    def _try(self, word: str) -> bool:
        try:
            self._apply(find_move(self.game, self.state, word))
        except IllegalMove as error:
            self.console.print(f"[red]{escape(str(error))}[/]")
            return False
        return True

    def _undo(self) -> bool:
        """Returns to the person's last decision, if any."""
        mine = [i for i, state in enumerate(self.history) if state.to_play == self.seat]
        if not mine:
            self.console.print("[red]You have no move to take back.[/]")
            return False
        self.state = self.history[mine[-1]]
        del self.history[mine[-1] :], self.moves[mine[-1] :]
        return True

    def _hint(self) -> None:
        thought = self._think()
        name = escape(self._name(thought.result.best_action))
        self._say(f"[bold]hint: [green]{name}[/][/]  [dim]{_opinion(thought)}[/]")
        self.console.print(boards.moves_table(thought.result))

    def _think(self) -> Thought:
        return think(self.searcher, self.state, self.seed + len(self.history))

    def _apply(self, action: int) -> None:
        before = self.game.copy(self.state)
        self.game.apply(self.state, action)
        self.history.append(before)
        self.moves.append(int(action))
        self.searcher.advance(action)

    def _draw(self) -> None:
        self.console.print()
        before = self.history[-1] if self.history else None
        self.console.print(boards.draw_board(self.game, self.state, before))

    def _say(self, line: str) -> None:
        self.console.print(line, soft_wrap=True)

    def _name(self, action: int) -> str:
        return move_name(self.game, self.state.to_play, action)

    def _outcome(self) -> str:
        returns = self.state.returns.tolist()
        if len(returns) == 1:
            return f"Game over. Result: {returns[0]:+.2f}."
        if max(returns) == min(returns):
            return "A draw."
        winners = [player for player, value in enumerate(returns) if value == max(returns)]
        if winners == [self.seat]:
            return "You win!"
        if len(returns) == 2 and self.seat != WATCHING:
            return "The search wins." if self.name == "search" else f"{self.name} wins."
        return f"The {' and the '.join(map(boards.seat_name, winners))} wins."


def parse_side(side: str, num_players: int) -> int:
    """The seat named first, second, … or by number from 1; WATCHING for none."""
    seats = [boards.seat_name(player).split()[0] for player in range(num_players)]
    numbers = [str(player + 1) for player in range(num_players)]
    if side == "none":
        return WATCHING
    for names in (seats, numbers):
        if side in names:
            return names.index(side)
    raise BadInput(f"--side is {side!r}; choose one of: {', '.join(seats)}, none")


def _opinion(thought: Thought) -> str:
    """The expected value, the principal variation and the work done."""
    result: SearchResult = thought.result
    value = boards.proof_word(result.value) if result.proven else f"{result.value:+.2f}"
    visits = int(result.visits.sum())  # including those of the reused tree
    is_reused = visits > result.simulations
    work = (
        f"{result.simulations:,} {'new ' * is_reused}simulations in {thought.seconds:.1f} s"
        + f", {visits:,} visits in total" * is_reused
    )
    return f"expects {value} · line {escape(boards.line_text(result, 8))} · {work}"
