"""The share of games of 2048 that reach the target tile."""

import collections
from dataclasses import dataclass

import numpy as np

from plainzero.arena.match import play_alone
from plainzero.arena.yardsticks.measurement import Effort, Measurement, beginnings, share_of
from plainzero.games.bundled.twenty_forty_eight import TwentyFortyEight
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent


@dataclass(frozen=True)
class LargestTile:
    """Games played alone, from the start."""

    target: float | None = None
    name = "games that reach the target tile"

    def check(self, game: Game) -> None:
        """Refuses other games."""
        if not isinstance(game, TwentyFortyEight):
            raise ValueError(f"{game.name} has no tiles; only 2048 has")

    def measure(self, game: Game, agent: Agent, effort: Effort) -> Measurement:
        """The share of games, with the mean score and the shares that reach smaller tiles."""
        assert isinstance(game, TwentyFortyEight)
        openings = beginnings(game, effort.games, effort.seed)
        ends = play_alone(game, agent, openings, effort.seed, effort.progress)
        tiles = [2 ** int(state.board.max()) for state in ends]
        counts = collections.Counter(tiles)
        found = share_of([tile == game.target for tile in tiles], "games")
        found.more["mean score"] = float(np.mean([state.score for state in ends]))
        for tile in sorted(counts, reverse=True)[:4]:
            found.more[f"reach {tile}"] = sum(other >= tile for other in tiles) / len(tiles)
        return found
