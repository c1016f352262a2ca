"""What all requests share: games, positions, runs, ladders, networks, agents and searches."""

import functools
import importlib.util
import shlex
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from plainzero import __version__
from plainzero.opponents.bundled_networks import has_bundled_network
from plainzero.server.api.schemas.games import About, Health, Position
from plainzero.server.api.schemas.runs import ResumeRun, RunInfo, StartRun
from plainzero.server.api.schemas.searching import SearchAgent
from plainzero.server.game_catalogue import Catalogue
from plainzero.server.ladders.ladders import Ladders
from plainzero.server.options import ServerOptions
from plainzero.server.position_views import Positions
from plainzero.server.runs.catalogue import AlreadyTraining, Runs
from plainzero.server.runs.loaded_networks import LoadedNetworks
from plainzero.server.searching.agents import Agents
from plainzero.server.searching.scheduler import Scheduler
from plainzero.server.traces.trace_cache import TraceCache

FIRST_GAME = "connect-four"
_FRESH_SECONDS = 0.9  # for which the list of runs is reused


class Services:
    """The services of one server.

    Args:
        options: what it serves.
        echo: prints progress messages.

    Raises:
        ValueError: if a game or run in `options` does not load.
    """

    def __init__(  # noqa: D107
        self, options: ServerOptions, echo: Callable[[str], None] = lambda _: None
    ) -> None:
        self.options = options
        self._echo = echo
        self.catalogue = Catalogue(options.games)
        self.positions = Positions(self.catalogue)
        self.runs = Runs(
            list(options.runs),
            options.home,
            options.can_train,
            make_game=self.catalogue.game,
            spec_of=self.catalogue.spec,
            name_of=self.catalogue.add,
            niceness=options.niceness,
            games=(*options.games, options.default_game),
        )
        self.ladders = Ladders(
            options.ladders.resolve(),
            self.catalogue,
            self.runs,
            options.niceness,
            options.can_train and _can_learn(),
        )
        self.networks = LoadedNetworks(self.runs)
        self.agents = Agents(options, self.networks)
        self.scheduler = Scheduler(options.searches)
        self.traces = TraceCache(options.trace_bytes)
        self.open_sockets: Counter[str] = Counter()  # by address
        self._default_game = self._choose_game()
        self._infos: tuple[float, list[RunInfo]] = (0.0, [])
        self._lock = threading.Lock()

    def _choose_game(self) -> str:
        """The name of the game that the page shows first."""
        given = [self.options.default_game, *self.options.games]
        for spec in filter(None, given):
            return self.catalogue.add(spec)
        playable = (info.game for info in self.runs.infos() if info.steps)
        return next(playable, FIRST_GAME)

    def about(self) -> About:
        """The server, and what the page shows first."""
        infos = [info for info in self.run_infos() if info.steps]
        same = [info for info in infos if info.game == self._default_game]
        return About(
            version=__version__,
            limits=self.options.limits,
            default_game=self._default_game,
            default_run=same[0].run if same else None,
            can_train=self.options.can_train and _can_learn(),
            runs_folder=self.options.home.name,
            can_learn=_can_learn(),
        )

    def health(self) -> Health:
        """The server's load."""
        return Health(
            started=len(self.scheduler.running),
            waiting=self.scheduler.num_waiting,
            cached_traces=len(self.traces),
            cached_bytes=self.traces.nbytes,
        )

    def run_infos(self) -> list[RunInfo]:
        """All runs; read from disk about once per second at most, however many clients ask."""
        with self._lock:
            if time.monotonic() - self._infos[0] > _FRESH_SECONDS:
                self._infos = (time.monotonic(), self.runs.infos())
            return self._infos[1]

    def forget_run_infos(self) -> None:
        """Makes the next `run_infos` read all runs again."""
        with self._lock:
            self._infos = (0.0, [])

    def train(self, minutes: float) -> str:
        """Starts a run of the default game in `home`, or resumes the one there.

        Runs in other folders stay as they are. While another process trains, nothing is started.

        Returns:
            What was done, as a sentence.

        Raises:
            ValueError: if it cannot be started.
        """
        infos = [info for info in self.runs.infos_at_home() if info.game == self._default_game]
        ours = next((info for info in infos if info.can_control), None)
        try:
            return self._start(minutes) if ours is None else self._resume(ours, minutes)
        except AlreadyTraining as error:
            return f"{error}, so {self._default_game} is not trained; the page works as usual"

    def _start(self, minutes: float) -> str:
        info = self.runs.start(StartRun(game=self._default_game, minutes=minutes))
        return f"Training {info.run} for {_minutes(minutes)}; follow it under Training"

    def _resume(self, ours: RunInfo, minutes: float) -> str:
        trained = _minutes(round(ours.seconds / 60.0))
        if ours.state in ("starting", "running", "stopping"):
            trainer = self.runs.describe_trainer(ours.run) or f"{ours.run} is already training"
            return f"{trainer} ({trained} so far)"
        goal = max(minutes, ours.minutes)  # never less than before
        is_done = ours.state == "finished" and goal == ours.minutes
        if is_done or 60.0 * goal - ours.seconds < 1.0:
            return f"{ours.run} is finished after {trained}; resume it with a larger --minutes"
        self.runs.resume(ours.run, ResumeRun(minutes=goal))
        return f"Resuming {ours.run} after {trained}, up to {_minutes(goal)} in total"

    async def warm_up(self) -> None:
        """Compiles the default game, so that the first move need not wait for it."""
        game, state = self.positions.game_and_state(Position(game=self._default_game))
        players = [
            SearchAgent(evaluator="rollout", simulations=1),
            SearchAgent(evaluator="uniform", simulations=1),
        ]
        if has_bundled_network(game):  # its network is loaded too
            players.append(SearchAgent(evaluator="bundled", simulations=1))
        for player in players:
            search = functools.partial(self.agents.search, game, state, player, 0)
            await self.scheduler.run("warm-up", search)

    def close(self) -> None:
        """Stops searches, and runs started here, which save their state; says how to resume."""
        if self.runs.is_training():
            self._echo("Saving the run …")
        try:
            self.scheduler.close()
            self.agents.close()
            self.ladders.close()
        finally:
            stopped = self.runs.close()
        for path in stopped:
            self._echo(_describe_stopped(path))


def _describe_stopped(path: Path) -> str:
    """Where a run was saved, and how to resume it."""
    if not (path / "config.toml").is_file():
        return f"Stopped {path.name} before there was anything to save"
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"Saved in {shown}; resume it with `plainzero train {shlex.quote(str(shown))}`"


def _minutes(count: float) -> str:
    return f"{count:g} minute" if count == 1.0 else f"{count:g} minutes"


def _can_learn() -> bool:
    packages = ("torch", "safetensors", "pyarrow", "tomli_w")
    return all(map(importlib.util.find_spec, packages))
