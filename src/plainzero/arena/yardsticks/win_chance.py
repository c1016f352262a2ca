"""The chance to win against perfect play, as a share of perfect play's own chance.

Exact values say how much of its chance to win each move of the agent costs. Against a perfect
opponent these losses add up to what the agent lacks, on average over the dice, so their mean over
some games estimates its chance to win without the luck in the games' results.
"""

from dataclasses import dataclass

import numpy as np

from plainzero.arena.elo import wilson_interval
from plainzero.arena.match import MatchSettings, play_match
from plainzero.arena.match_games import FIRST, FinishedGame
from plainzero.arena.yardsticks.measurement import (
    Effort,
    Interval,
    Measurement,
    beginnings,
    spread_of_mean,
)
from plainzero.games.contract import CHANCE, Game
from plainzero.opponents.agent import Agent
from plainzero.opponents.exact_values import (
    TIE,
    ExactAgent,
    ExactValues,
    exact_values,
    has_exact_values,
)

_GAMES = 5  # times those of a match: they need no long search


@dataclass(frozen=True)
class WinChance:
    """Games against perfect play from the start, as often from either seat."""

    target: float | None = None
    name = "share of the optimal chance to win"

    def check(self, game: Game) -> None:
        """Refuses games that are not solved."""
        if not has_exact_values(game):
            exact_values(game)  # says which are

    def measure(self, game: Game, agent: Agent, effort: Effort) -> Measurement:
        """The agent's chance to win as a share of the optimal chance, which is 1/2 on average."""
        values = exact_values(game)
        openings = tuple(beginnings(game, -(-effort.games * _GAMES // 2), effort.seed))
        settings = MatchSettings(seed=effort.seed, openings=openings)
        result = play_match(game, (agent, ExactAgent(game)), settings, effort.progress)
        losses = [lost_chances(values, record) for record in result.records]
        per_game = [sum(lost) for lost in losses]
        low, high = _interval(per_game)
        moves = sum(len(lost) for lost in losses)
        return Measurement(
            max(0.0, 1.0 - 2.0 * float(np.mean(per_game))),
            (max(0.0, 1.0 - 2.0 * high), max(0.0, 1.0 - 2.0 * low)),
            f"{len(per_game)} games, {moves:,} moves",
            {
                "chance lost per move": sum(per_game) / moves,
                "moves that lose chances": sum(c > TIE for lost in losses for c in lost) / moves,
                "score": result.estimate.score,
            },
        )


def lost_chances(values: ExactValues, record: FinishedGame) -> list[float]:
    """The chance to win that each move of the first agent gave away."""
    game, lost = values.game, []
    state = game.new_state()
    for number, action in enumerate((*record.opening, *record.moves)):
        is_chosen = number >= len(record.opening) and state.to_play != CHANCE
        if is_chosen and record.seats[int(state.to_play)] == FIRST:
            moves = values.moves(state)
            lost.append(float(np.nanmax(moves) - moves[action]) / 2.0)
        game.apply(state, action)
    return lost


def _interval(losses: list[float]) -> Interval:
    """Of the mean loss per game; if no game has any, at most the chances of the games not seen."""
    spread = spread_of_mean(losses)
    if spread is None or max(losses) <= TIE:
        return 0.0, wilson_interval(0.0, len(losses))[1]
    return spread
