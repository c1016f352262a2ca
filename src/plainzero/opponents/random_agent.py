"""The weakest agent, which every other must beat."""

import random
from collections.abc import Sequence
from typing import Any

from plainzero.games.contract import Game
from plainzero.opponents.agent import require_choices


class RandomAgent:
    """Plays uniformly random legal moves."""

    name = "random"

    def __init__(self, game: Game) -> None:
        """An agent for `game`."""
        self.game = game

    def choose(self, states: Sequence[Any], seed: int) -> list[int]:
        """One legal action for each position."""
        require_choices(states)
        generator = random.Random(seed)
        return [generator.choice(self.game.legal(state)) for state in states]
