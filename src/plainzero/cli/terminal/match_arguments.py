"""Shared by `match`, `rate`, `evaluate` and `sweep`: agents, positions, stoppable progress."""

import collections
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from plainzero import Game, make_game
from plainzero.arena.agent_specs import game_of_agents, parse_agent
from plainzero.arena.match_files import save_transcripts
from plainzero.cli.terminal.errors import BadInput
from plainzero.cli.terminal.search_arguments import refuse_book
from plainzero.cli.terminal.search_progress import stopping_at_interrupt
from plainzero.opponents.search_agent import NetworkAgent, SearchAgent
from plainzero.opponents.solved_positions import PositionSet, bundled_positions, read_positions
from plainzero.protocols.engine_agent import EngineAgent

if TYPE_CHECKING:
    from plainzero.arena.match import MatchResult
    from plainzero.opponents.agent import Agent


DEFAULT_SIMULATIONS = 100
ENGINE_OUTPUT = "output"


class Waiting(NamedTuple):
    """Progress of long work that Ctrl-C stops."""

    update: Callable[[str, float, float], None]  # description, done, total
    is_enough: Callable[[], bool]

    def update_or_stop(self, what: str, done: int, total: int) -> None:
        """Updates the bar; raises StopIteration after Ctrl-C."""
        self.update(what, done, total)
        if self.is_enough():
            raise StopIteration


@contextmanager
def waiting(title: str) -> Iterator[Waiting]:
    """Within, shows a progress bar (in a terminal only); the first Ctrl-C asks the work to stop."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not Console(stderr=True).is_terminal,
    )
    with stopping_at_interrupt() as stop, bar:
        task = bar.add_task(title, total=None)
        yield Waiting(
            lambda what, done, total: bar.update(
                task, description=what or title, completed=done, total=total
            ),
            stop.is_set,
        )


def choose_game(name: str | None, specs: Sequence[str]) -> Game:
    """The named game, else the one that a run among the agents was trained on.

    Raises:
        BadInput: if neither is given.
    """
    if name is not None:
        return make_game(name)
    game = game_of_agents(specs)
    if game is None:
        raise BadInput("which game? Add --game, as in --game connect-four")
    return game


@contextmanager
def playing(specs: Sequence[str], game: Game) -> "Iterator[list[Agent]]":
    """Within, the agents in order; engines are closed afterwards."""
    agents: list[Agent] = []
    try:
        for spec in specs:
            agents.append(parse_agent(spec, game))
        yield agents
    finally:
        for agent in agents:
            if isinstance(agent, EngineAgent):
                agent.close()


def fault_lines(results: "Sequence[MatchResult]", beside: Path | None) -> dict[str, str]:
    """Lines about games lost by a fault, by title; empty if there were none.

    Args:
        results: of the matches.
        beside: the file the games are saved in, if any.
    """
    reasons = collections.Counter(
        f"{name}: {reason}"
        for result in results
        for name, faults in zip(result.names, result.faults, strict=True)
        for reason in faults
    )
    lines = {}
    if reasons:
        said = "; ".join(f"{count} × {reason}" for reason, count in reasons.items())
        lines["by fault"] = f"{reasons.total()} lost ({said})"
        lines[ENGINE_OUTPUT] = str(save_transcripts(results, beside))
    return lines


def parse_searcher(
    player: str, game_name: str | None, step: int | None, simulations: int | None
) -> SearchAgent:
    """The agent of `parse_judge`, which must search.

    Raises:
        BadInput: for agents that do not search.
    """
    agent = parse_judge(player, game_name, step, simulations)
    if not isinstance(agent, SearchAgent):
        raise BadInput(f"{agent.name} does not search; give it at least 1 simulation")
    return agent


def parse_judge(
    player: str, game_name: str | None, step: int | None, simulations: int | None
) -> SearchAgent | NetworkAgent:
    """The agent of a run's folder or of a description; it must have a policy and a value.

    Args:
        player: the folder, or the description.
        game_name: the game's name, if given.
        step: of a run's weights; None for the latest.
        simulations: per move of a run; 0 for the network alone, None for the default.

    Raises:
        BadInput: for other agents, and for options that contradict the description.
    """
    if ":" not in player or Path(player).is_dir():
        at = "" if step is None else f"@{step}"
        count = DEFAULT_SIMULATIONS if simulations is None else simulations
        player = f"run:{player}{at}:{count}"
    elif step is not None:
        raise BadInput("--step needs a run's folder; for an agent write run:FOLDER@STEP:N")
    elif simulations is not None:
        raise BadInput(f"--simulations needs a run's folder; the agent {player} has its own number")
    agent = parse_agent(player, choose_game(game_name, [player]))
    refuse_book(agent)
    if not isinstance(agent, SearchAgent | NetworkAgent):
        raise BadInput(f"{player} does not search; name a run's folder, uct:N or puct:N")
    return agent


def known_positions(game: Game, path: Path | None) -> PositionSet | None:
    """The positions in the file, else the game's bundled set, if any."""
    if path is None:
        path = bundled_positions(game)
        if path is None or not path.is_file():
            return None
    with waiting("solving positions") as wait:
        return read_positions(
            game, path, lambda done, total: wait.update("solving positions", done, total)
        )


def percent(measure: Any) -> str:
    """A share with its interval, `5.1 % (3.9–6.4)`; a dash if there is none."""
    if measure.mean is None:
        return "–"
    digits = 1 if measure.mean >= 0.01 else 2
    mean, low, high = (f"{100 * x:.{digits}f}" for x in measure)
    return f"{mean} % ({low}–{high})"
