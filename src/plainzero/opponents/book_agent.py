"""Agents that never give away a win or a draw in positions of an opening book."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent
from plainzero.opponents.connect_four.opening_book import BOOK_GAME, has_book, look_up
from plainzero.opponents.search_agent import child_seed


class BookAgent:
    """Plays another agent's moves, unless the opening book knows that one gives away the outcome.

    Raises:
        ValueError: when there is no book for the game.
    """

    def __init__(self, name: str, agent: Agent, game: Game) -> None:
        """Corrects `agent`, which plays `game`."""
        if not has_book(game):
            raise ValueError(
                f"{name}: there is no opening book for {game.name}, only for {BOOK_GAME.name}"
            )
        self.name, self.agent, self.game = name, agent, game

    def choose(self, states: Sequence[Any], seed: int) -> list[int]:
        """The move for each position."""
        actions = self.agent.choose(states, seed)
        return [
            self.correct(state, action, child_seed(seed, row))
            for row, (state, action) in enumerate(zip(states, actions, strict=True))
        ]

    def correct(self, state: Any, action: int, seed: int) -> int:
        """As `correct_move`, in this agent's game."""
        return correct_move(self.game, state, action, seed)


def correct_move(game: Game, state: Any, action: int, seed: int) -> int:
    """The action if it keeps the outcome or the book does not know; else one that keeps it.

    Moves that keep it are equal to the book; `seed` chooses among them.
    """
    outcomes = look_up(game, state)
    if outcomes is None or outcomes[action] == outcomes.max():
        return action
    return random.Random(seed).choice(np.flatnonzero(outcomes == outcomes.max()).tolist())
