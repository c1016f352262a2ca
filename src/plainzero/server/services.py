"""What all requests share: games, positions, runs, players, searches, and traces that are kept."""

import functools
import importlib.util
import threading
import time
from collections import Counter
from collections.abc import Callable

from plainzero import __version__
from plainzero.opponents.bundled_networks import has_shipped
from plainzero.server.api.schemas.games import About, Health, Position
from plainzero.server.api.schemas.runs import ResumeRun, RunInfo, StartRun
from plainzero.server.api.schemas.searching import SearchPlayer
from plainzero.server.game_catalogue import Catalogue
from plainzero.server.options import ServerOptions
from plainzero.server.position_views import Positions
from plainzero.server.runs.catalogue import Runs
from plainzero.server.runs.loaded_networks import Weights
from plainzero.server.searching.agents import Players
from plainzero.server.searching.scheduler import Searches
from plainzero.server.traces.trace_cache import KeptTraces

FIRST_GAME = "connect-four"
_FRESH = 0.9  # seconds for which what is known of the runs counts as new


class Services:
    """Made once for a server.

    Args:
        options: what it serves.
        say: tells whoever started the server what it does.

    Raises:
        ValueError: when a game or a run that was named does not load.
    """

    def __init__(  # noqa: D107
        self, options: ServerOptions, say: Callable[[str], None] = lambda _: None
    ) -> None:
        self.options = options
        self._say = say
        self.catalogue = Catalogue(options.games)
        self.positions = Positions(self.catalogue)
        self.runs = Runs(
            list(options.runs),
            options.home,
            options.can_train,
            make_game=self.catalogue.game,
            spec_of=self.catalogue.spec,
            name_of=self.catalogue.add,
            games=(*options.games, options.default_game),
        )
        self.weights = Weights(self.runs)
        self.players = Players(options, self.weights)
        self.searches = Searches(options.searches)
        self.traces = KeptTraces(options.kept_bytes)
        self.pages: Counter[str] = Counter()  # sockets that are open, by address
        self._default_game = self._choose_game()
        self._infos: tuple[float, list[RunInfo]] = (0.0, [])
        self._lock = threading.Lock()

    def _choose_game(self) -> str:
        """The name of the game to show first."""
        given = [self.options.default_game, *self.options.games]
        for spec in filter(None, given):
            return self.catalogue.add(spec)
        playable = (info.game for info in self.runs.infos() if info.steps)
        return next(playable, FIRST_GAME)

    def about(self) -> About:
        """What a page needs to begin."""
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
        """How busy the server is."""
        return Health(
            started=len(self.searches.running),
            waiting=self.searches.num_waiting,
            kept_traces=len(self.traces),
            kept_bytes=self.traces.nbytes,
        )

    def run_infos(self) -> list[RunInfo]:
        """All runs; looked at again once a second at most, however many ask."""
        with self._lock:
            if time.monotonic() - self._infos[0] > _FRESH:
                self._infos = (time.monotonic(), self.runs.infos())
            return self._infos[1]

    def forget_run_infos(self) -> None:
        """Has the runs looked at anew: one of them was just changed."""
        with self._lock:
            self._infos = (0.0, [])

    def train(self, minutes: float) -> str:
        """Begins a run of the default game at home, or goes on with the one that is there.

        Runs elsewhere are left as they are.

        Returns:
            What was done, in a sentence.

        Raises:
            ValueError: when it cannot be begun.
        """
        infos = [info for info in self.runs.infos_at_home() if info.game == self._default_game]
        ours = next((info for info in infos if info.can_control), None)
        if ours is None:
            info = self.runs.start(StartRun(game=self._default_game, minutes=minutes))
            return f"{info.run} begins to learn, for {minutes:g} minutes; follow it under Training"
        trained = f"{ours.run}, {ours.seconds / 60.0:.0f} minutes trained,"
        if ours.state in ("starting", "running", "stopping"):
            return f"{trained} is learning already"
        goal = max(minutes, ours.minutes)  # never less than was asked for before
        is_done = ours.state == "finished" and goal == ours.minutes
        if is_done or 60.0 * goal - ours.seconds < 1.0:
            return f"{trained} has had its time; resume it under Training, or give more minutes"
        self.runs.resume(ours.run, ResumeRun(minutes=goal))
        return f"{trained} goes on, to {goal:g} minutes in all"

    async def warm_up(self) -> None:
        """Compiles the default game, so that the first move does not wait for it."""
        game, state = self.positions.game_and_state(Position(game=self._default_game))
        players = [
            SearchPlayer(evaluator="rollout", simulations=1),
            SearchPlayer(evaluator="uniform", simulations=1),
        ]
        if has_shipped(game):  # its network is loaded too
            players.append(SearchPlayer(evaluator="shipped", simulations=1))
        for player in players:
            search = functools.partial(self.players.search, game, state, player, 0)
            await self.searches.run("the server itself", search)

    def close(self) -> None:
        """Ends searches, and runs that were begun here, which save what they have."""
        if self.runs.is_training():
            self._say("Saving the run …")
        try:
            self.searches.close()
            self.players.close()
        finally:
            self.runs.close()


def _can_learn() -> bool:
    return all(importlib.util.find_spec(name) for name in ("torch", "safetensors", "pyarrow"))
