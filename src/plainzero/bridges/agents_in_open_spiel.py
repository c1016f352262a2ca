"""An agent of ours in a game of OpenSpiel's: the moves so far are played again on our board."""

from typing import Any

import pyspiel

from plainzero.games.contract import Game
from plainzero.opponents.agent import GaveUp, Opponent, PlayedGame, choose_moves
from plainzero.opponents.search_agent import child_seed, parse_agent


class PlainZeroBot(pyspiel.Bot):
    """Plays what the agent chooses, whoever's turn it is."""

    def __init__(self, opponent: Opponent, game: Game, seed: int) -> None:
        """A bot of that agent."""
        pyspiel.Bot.__init__(self)
        self.opponent, self.game, self.seed = opponent, game, seed

    def restart(self) -> None:
        """Nothing is kept from game to game."""

    def restart_at(self, state: Any) -> None:
        """Nothing is kept from move to move."""

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """What others play is in the state's history."""

    def step(self, state: Any) -> int:
        """The agent's move."""
        played = replay(self.game, state)
        seed = child_seed(self.seed, len(played.moves))
        decision = choose_moves(self.opponent, [played], seed)[0]
        if isinstance(decision, GaveUp):
            raise ValueError(
                f"{self.opponent.name} gives up, and a bot must move: "
                f"{decision.fault or 'it resigned'}"
            )
        return int(decision)


def make_bot(agent: str | Opponent, game: Game, seed: int) -> Any:
    """The bot; see `plainzero.bridges.open_spiel_bot`."""
    opponent = parse_agent(agent, game) if isinstance(agent, str) else agent
    return PlainZeroBot(opponent, game, seed)


def replay(game: Game, state: Any) -> PlayedGame:
    """The game that led to a state of OpenSpiel's, on our board.

    Raises:
        ValueError: when the rules differ: a move is not legal, or another player is to move.
    """
    ours, movers = game.new_state(), []
    moves = [int(action) for action in state.history()]
    try:
        for action in moves:
            movers.append(int(ours.to_play))
            game.apply(ours, action)
    except ValueError as error:
        raise _difference(game, state, str(error)) from error
    if ours.is_over or ours.to_play != state.current_player():
        mover = "nobody" if ours.is_over else f"player {ours.to_play}"
        raise _difference(game, state, f"{mover} is to move, not player {state.current_player()}")
    if sorted(game.legal(ours)) != sorted(state.legal_actions()):
        raise _difference(game, state, "other actions are legal")
    return PlayedGame(0, moves, movers, ours)


def _difference(game: Game, state: Any, what: str) -> ValueError:
    return ValueError(
        f"{game.name} and OpenSpiel's {state.get_game()} part ways after the moves "
        f"{state.history()}: {what}; give the bot a game with the same rules and actions, such as "
        f"open_spiel:{state.get_game().get_type().short_name}"
    )
