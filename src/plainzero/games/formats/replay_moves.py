"""Games replayed move by move, from numbers or from names."""

import re

from plainzero.games.contract import CHANCE, Game, IllegalMove, State, legal_names
from plainzero.games.contract import move_name as move_name
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
            action = find_move(self.game, self.state, name)
        except ValueError as error:
            raise self.refusal(str(error)) from error
        self.play(action)

    def knows(self, name: str) -> bool:
        """Whether a move of that name exists, legal or not."""
        return _action_called(self.game, self.state, name) is not None

    def refusal(self, reason: str) -> ValueError:
        """The error to raise about the next move."""
        return ValueError(f"move {len(self.moves) + 1}: {reason}")


def find_move(game: Game, state: State, name: str) -> int:
    """The action, or the outcome of chance, of that name or number (#7); it may be illegal.

    Raises:
        IllegalMove: if there is none; the message has the legal moves of the position.
    """
    action = _action_called(game, state, name)
    if action is not None:
        return action
    if state.is_over:
        raise IllegalMove(f"{name!r} cannot be played: the game is over")
    if state.to_play == CHANCE:
        raise IllegalMove(
            f"chance has no outcome {name!r} here; its outcomes: {legal_names(game, state)}"
        )
    raise IllegalMove(f"{game.name} has no move {name!r}; legal moves: {legal_names(game, state)}")


def _readable_name(game: Game, state: State, action: int) -> str:
    """What people call the move; its number, as #7, if the name does not lead back to it."""
    name = move_name(game, state.to_play, action)
    return name if _action_called(game, state, name) == action else f"#{action}"


def _action_called(game: Game, state: State, name: str) -> int | None:
    """The action, or the outcome of chance, of that name or number; None if there is none."""
    number = int(name[1:]) if re.fullmatch(r"#[0-9]{1,9}", name) else None
    if state.to_play == CHANCE:
        outcomes = game.legal(state)
        return next((one for one in outcomes if game.outcome_name(one) == name), number)
    try:
        return int(game.parse_action(name))
    except (ValueError, LookupError):  # whatever the game's own parser raises
        return number
