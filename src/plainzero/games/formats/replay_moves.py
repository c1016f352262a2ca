"""Games replayed move by move, from numbers or from names."""

import re

from plainzero.games.contract import CHANCE, Game, State
from plainzero.games.position_setup import set_up_position


class ReplayedGame:
    """A game being replayed: its position, and the moves that led there.

    Args:
        game: the game.
        cells: a position set up by hand from which it begins, if any.
        to_play: who moves in that position.
    """

    def __init__(self, game: Game, cells: list[list[str]] | None, to_play: int) -> None:  # noqa: D107
        self.game = game
        self.state: State = (
            game.new_state() if cells is None else set_up_position(game, cells, to_play)
        )
        self.moves: list[int] = []
        self.names: list[str] = []
        self.movers: list[int] = []

    def play(self, action: int) -> None:
        """Plays a move or an outcome of chance.

        Raises:
            ValueError: when it is not legal, with the number of the move.
        """
        before = self.game.copy(self.state)
        try:
            self.game.apply(self.state, action)
        except ValueError as error:
            raise self.refusal(str(error)) from error
        self.moves.append(action)
        self.names.append(_readable_name(self.game, before, action))
        self.movers.append(int(before.to_play))

    def play_named(self, name: str) -> None:
        """Plays the move of that name, see `play`."""
        if self.state.is_over:
            raise self.refusal(f"{name!r} cannot be played: the game is over")
        try:
            action = _find_move(self.game, self.state, name)
        except ValueError as error:
            raise self.refusal(str(error)) from error
        self.play(action)

    def knows(self, name: str) -> bool:
        """Whether a move of that name exists, legal or not."""
        try:
            _find_move(self.game, self.state, name)
        except ValueError:
            return False
        return True

    def refusal(self, reason: str) -> ValueError:
        """The error to raise about the next move."""
        return ValueError(f"move {len(self.moves) + 1}: {reason}")


def move_name(game: Game, player: int, action: int) -> str:
    """What people call a player's move, or an outcome of chance."""
    return game.outcome_name(action) if player == CHANCE else game.action_name(action)


def _readable_name(game: Game, state: State, action: int) -> str:
    """What people call the move; its number, as #7, if the name does not lead back to it."""
    name = move_name(game, state.to_play, action)
    try:
        leads_back = _find_move(game, state, name) == action
    except ValueError:
        leads_back = False
    return name if leads_back else f"#{action}"


def _find_move(game: Game, state: State, name: str) -> int:
    """The action, or the outcome of chance, of that name or number."""
    number = int(name[1:]) if re.fullmatch(r"#[0-9]{1,9}", name) else None
    if state.to_play == CHANCE:
        outcomes = game.legal(state)
        named = [outcome for outcome in outcomes if game.outcome_name(outcome) == name]
        if not named and number is None:
            some = ", ".join(game.outcome_name(outcome) for outcome in outcomes[:10])
            raise ValueError(f"chance has no outcome {name!r} here; its outcomes begin with {some}")
        return named[0] if number is None or named else number
    try:
        return int(game.parse_action(name))
    except (ValueError, LookupError) as error:
        if number is not None:
            return number
        if isinstance(error, ValueError) and name in str(error):
            raise
        raise ValueError(f"{game.name} has no move {name!r}") from error
