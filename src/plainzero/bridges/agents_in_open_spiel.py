"""A PlainZero agent as an OpenSpiel bot: it replays the moves so far in PlainZero's game."""

from typing import Any

import pyspiel

from plainzero.arena.agent_specs import parse_agent
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent, Forfeit, GameHistory, choose_moves
from plainzero.opponents.search_agent import child_seed


class PlainZeroBot(pyspiel.Bot):
    """Plays the agent's moves, for whichever player is to move."""

    def __init__(self, agent: Agent, game: Game, seed: int) -> None:
        """A bot with that agent."""
        pyspiel.Bot.__init__(self)
        self.agent, self.game, self.seed = agent, game, seed

    def restart(self) -> None:
        """Does nothing: there is no state between games."""

    def restart_at(self, state: Any) -> None:
        """Does nothing: there is no state between moves."""

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Does nothing: the state has the history."""

    def step(self, state: Any) -> int:
        """The agent's move."""
        history = replay(self.game, state)
        seed = child_seed(self.seed, len(history.moves))
        decision = choose_moves(self.agent, [history], seed)[0]
        if isinstance(decision, Forfeit):
            raise ValueError(
                f"{self.agent.name} forfeits, but a bot must move: "
                f"{decision.fault or 'it resigned'}"
            )
        return int(decision)


def make_bot(agent: str | Agent, game: Game, seed: int) -> Any:
    """The bot; see `plainzero.bridges.open_spiel_bot`."""
    chosen = parse_agent(agent, game) if isinstance(agent, str) else agent
    return PlainZeroBot(chosen, game, seed)


def replay(game: Game, state: Any) -> GameHistory:
    """The game that led to OpenSpiel's state, replayed in PlainZero's game.

    Raises:
        ValueError: when the rules differ.
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
        raise _difference(game, state, "the legal actions differ")
    return GameHistory(0, moves, movers, ours)


def _difference(game: Game, state: Any, what: str) -> ValueError:
    return ValueError(
        f"{game.name} and OpenSpiel's {state.get_game()} differ after the moves "
        f"{state.history()}: {what}; use a game with the same rules and actions, such as "
        f"open_spiel:{state.get_game().get_type().short_name}"
    )
