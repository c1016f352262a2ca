"""What `plainzero rate GAME` plays: the ladder it begins, resumes or extends, and the agents."""

import dataclasses
import datetime
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from plainzero import Game
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.ladder import Ladder
from plainzero.arena.ladder_agents import ANCHOR, identity_of, label_of, natural_agents
from plainzero.arena.ladder_files import bundled_ladder, ladder_file_name, read_ladder
from plainzero.arena.ladder_games import LadderLimits, begin_ladder
from plainzero.bench.measure import machine, versions
from plainzero.cli.terminal.errors import BadInput
from plainzero.opponents.agent import Agent
from plainzero.protocols.engine_agent import EngineAgent

FOLDER = Path("ladders")


@dataclass(frozen=True)
class LadderRequest:
    """A request for a ladder."""

    game: Game
    agents: tuple[str, ...]  # to be placed on the ladder; if none, all natural ones are rated
    limits: LadderLimits
    plies: int | None = None
    seed: int | None = None
    anchor: str | None = None
    file: Path | None = None

    @property
    def path(self) -> Path:
        """The file of the ladder."""
        return self.file or FOLDER / ladder_file_name(self.game)

    def open(self) -> Ladder:
        """The ladder in the file; else the bundled one if agents are named; else a new one.

        Raises:
            BadInput: if the ladder was begun with other options.
        """
        known = read_ladder(self.path) if self.path.is_file() else None
        if known is None and self.agents and self.seed is None and self.plies is None:
            known = bundled_ladder(self.game)
        if known is None:
            return begin_ladder(self.game, self.anchor or ANCHOR, self.seed or 0, self.plies)
        if known.game != self.game.name:
            raise BadInput(f"{self.path} is a ladder of {known.game}, not of {self.game.name}")
        if self.seed not in (None, known.seed):
            raise BadInput(
                f"{self.path} was begun with seed {known.seed}; omit --seed to resume it"
            )
        if self.plies is not None:
            raise BadInput(f"{self.path} has its openings already; omit --plies to resume it")
        return dataclasses.replace(known, anchor=self.anchor or known.anchor)

    def specs(self, ladder: Ladder) -> list[str]:
        """The agents that may play; some of an earlier ladder may no longer be available."""
        natural = [] if self.agents and ladder.pairs else natural_agents(self.game)
        return list(dict.fromkeys([*ladder.agents, ladder.anchor, *natural, *self.agents]))

    def focus(self, ladder: Ladder, agents: list[Agent]) -> list[str]:
        """The agents whose ratings are wanted: the named ones, or all of a new ladder."""
        if self.agents and ladder.pairs:
            return list(self.agents)
        return [agent.name for agent in agents]

    def describe(self) -> dict[str, object]:
        """Where the ladder comes from; the command leaves out where results are written."""
        words = ["plainzero", "rate", self.game.name, *self.agents]
        options = {
            "--minutes": self.limits.minutes or None,
            "--games": self.limits.games or None,
            "--plies": self.plies,
            "--seed": self.seed,
            "--anchor": self.anchor,
        }
        for option, value in options.items():
            if value is not None:
                words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
        return {
            "command": shlex.join(words),
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": machine(),
            "versions": versions(),
        }


@contextmanager
def playing_agents(
    request: LadderRequest, specs: list[str], notes: list[str]
) -> Iterator[list[Agent]]:
    """Within, the agents that are available; engines are closed afterwards.

    Args:
        request: a named agent that is not available is an error.
        specs: of the agents.
        notes: receives a sentence for every other one that is not available.
    """
    agents: list[Agent] = []
    try:
        for spec in specs:
            try:
                agents.append(parse_agent(spec, request.game))
            except ValueError as error:
                if spec in request.agents:
                    raise
                notes.append(f"{label_of(spec)} plays no further games: {error}")
        yield agents
    finally:
        for agent in agents:
            if isinstance(agent, EngineAgent):
                agent.close()


def with_networks(ladder: Ladder, game: Game, agents: list[Agent], notes: list[str]) -> Ladder:
    """The ladder with these agents; games of networks that have changed since are dropped."""
    identities = {agent.name: identity_of(agent.name, game) for agent in agents}
    found, changed = ladder.with_agents(identities)
    notes += [f"{label_of(name)} has new weights; its games were dropped" for name in changed]
    return found
