"""The score in a match against an agent."""

from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any

from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.elo import estimate_elo
from plainzero.arena.match import MatchSettings, play_match
from plainzero.arena.yardsticks.measurement import Effort, Measurement
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent
from plainzero.protocols.engine_agent import EngineAgent


@dataclass(frozen=True)
class MatchScore:
    """A match from balanced openings, each from all seats; a draw counts half, or fully."""

    opponent: str
    target: float | None = None
    counts_draws: bool = False  # as much as wins, against an opponent that cannot be beaten

    @property
    def name(self) -> str:
        """The opponent."""
        return f"not lost to {self.opponent}" if self.counts_draws else f"score, {self.opponent}"

    def check(self, game: Game) -> None:
        """Refuses an opponent that cannot play the game."""
        with _closing(parse_agent(self.opponent, game)):
            pass

    def measure(self, game: Game, agent: Agent, effort: Effort) -> Measurement:
        """The score, with openings as the sample of its interval."""
        with _closing(parse_agent(self.opponent, game)) as opponent:
            settings = MatchSettings(effort.games, seed=effort.seed)
            result = play_match(game, (agent, opponent), settings, effort.progress)
        samples, tally = result.samples, result.tally
        if self.counts_draws:
            samples = [[float(score > 0.0) for score in scores] for scores in samples]
        estimate = estimate_elo(samples)
        return Measurement(
            estimate.score,
            estimate.score_interval,
            f"{tally.games} games from {len(result.scores_by_opening)} openings",
            {"won": tally.wins, "drawn": tally.draws, "lost": tally.losses},
        )


def _closing(agent: Agent) -> Any:
    """Within, the agent; an engine's processes end afterwards."""
    return closing(agent) if isinstance(agent, EngineAgent) else nullcontext(agent)
