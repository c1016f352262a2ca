"""A training run in the terminal: current work, speed and strength."""

import shlex
import time
from collections import deque
from types import TracebackType
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from plainzero.games.contract import Game
from plainzero.opponents.solved_positions import bundled_positions
from plainzero.training.loop import Limits
from plainzero.training.metrics import read_metrics
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import RunConfig

_BARS = "▁▂▃▄▅▆▇█"
_HISTORY = 60
_STRENGTH = ("rating", "rating_error", "accuracy", "accuracy_search")


class TrainingView:
    """Shows a run: a live panel in a terminal, otherwise one line per generation."""

    def __init__(
        self,
        folder: RunFolder,
        game: Game,
        config: RunConfig,
        device: str,
        limits: Limits,
        is_new: bool,
    ) -> None:
        """Use it as a context manager, which shows the panel."""
        self.console = Console(highlight=False)
        self.metrics: dict[str, Any] = {}  # the latest of each
        self._folder, self._game, self._config = folder, game, config
        self._device, self._limits, self._is_new = device, limits, is_new
        self._doing, self._progress, self._share = "compiling and starting", 0.0, 0.0
        self._strength: dict[str, float] = {}  # of earlier generations
        self._started = time.monotonic()
        self._clock = 0.0
        self._losses: deque[float] = deque(maxlen=_HISTORY)
        self._ratings: deque[float] = deque(maxlen=_HISTORY)
        self._accuracies: deque[float] = deque(maxlen=_HISTORY)
        self._live = Live(get_renderable=self._draw, console=self.console, refresh_per_second=4)

    def __enter__(self) -> "TrainingView":
        """Starts the display."""
        verb = "New run" if self._is_new else "Resuming"
        place = "" if self._device == "cpu" else f" on {self._device}"
        self.console.print(
            f"{verb} [bold]{self._folder.path}[/]: {self._game.name}, "
            f"{_network_words(self._config)}, {self._config.run.backend}{place}"
        )
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Stops the display."""
        if self._live.is_started:
            self._live.stop()

    def resume(self, seconds: float, since: float) -> None:
        """Sets the clock of a loaded run (`seconds` at `since`) and reads its latest strength."""
        self._clock, self._started = seconds, since
        for line in read_metrics(self._folder.metrics_file):
            self._strength |= {name: line[name] for name in _STRENGTH if name in line}

    def say_stopping(self) -> None:
        """Ctrl-C was pressed."""
        self._doing = "stopping: saving (Ctrl-C again quits at once)"
        if not self.console.is_terminal:
            self.console.print(self._doing)

    def on_selfplay(self, generation: int, positions: int, wanted: int) -> None:
        """See `Listener`."""
        self._doing = f"generation {generation}: self-play, {positions:,} of {wanted:,} positions"
        self._share = min(1.0, positions / wanted)

    def on_learning(self, generation: int, steps: int) -> None:
        """See `Listener`."""
        self._doing = f"generation {generation}: learning, {steps:,} steps"

    def on_generation(self, metrics: dict[str, Any], progress: float) -> None:
        """See `Listener`."""
        self.metrics |= self._strength | metrics
        self._strength = {}
        self._progress, self._share = progress, 0.0
        self._clock, self._started = float(metrics["seconds"]), time.monotonic()
        self._losses.append(metrics.get("loss", 0.0))
        if "rating" in metrics:
            self._ratings.append(metrics["rating"])
        if "accuracy" in metrics:
            self._accuracies.append(metrics["accuracy"])
        if not self.console.is_terminal:
            self.console.print(self._line(metrics), soft_wrap=True)

    def _line(self, metrics: dict[str, Any]) -> str:
        words = [
            f"generation {metrics['generation']}",
            _duration(metrics["seconds"]),
            f"{metrics['total_games']:,} games",
            f"{metrics.get('positions_per_second', 0):,.0f} positions/s",
            f"loss {metrics.get('loss', 0):.3f}",
        ]
        if "rating" in metrics:
            words.append(f"rating {metrics['rating']:,.0f} ± {metrics.get('rating_error', 0):.0f}")
        if "accuracy" in metrics:
            words.append(f"accuracy {metrics['accuracy']:.1%}")
        return " · ".join(words)

    def _draw(self) -> RenderableType:
        done = self._progress
        if self._limits.seconds:
            done = max(done, self._now() / self._limits.seconds)
        left = self._time_left(done)
        head = Table.grid(padding=(0, 1), expand=True)
        head.add_column(ratio=1)
        head.add_column(justify="right")
        head.add_row(ProgressBar(total=1.0, completed=min(1.0, done)), left)
        parts: list[RenderableType] = [head, Text(self._doing, style="dim")]
        if self.metrics:
            parts.append(self._numbers())
        title = f"[bold]{self._game.name}[/] · {_duration(self._now())}"
        return Panel(
            Group(*parts),
            title=title,
            title_align="left",
            border_style="cyan",
            width=self.console.width - len("^C"),  # the terminal's echo then fits on the last line
        )

    def _numbers(self) -> Table:
        metrics = self.metrics
        table = Table.grid(padding=(0, 3))
        for _ in range(6):
            table.add_column()

        def cell(label: str, value: str) -> tuple[Text, str]:
            return Text(label, style="dim"), value

        def number(name: str, form: str) -> str:
            return format(metrics[name], form) if name in metrics else "–"

        rating = number("rating", ",.0f")
        if "rating_error" in metrics:
            rating += f" ± {metrics['rating_error']:.0f}"
        rows = [
            (
                cell("games", f"{metrics['total_games']:,}"),
                cell("games/s", number("games_per_second", ".1f")),
                cell("positions/s", number("positions_per_second", ",.0f")),
            ),
            (
                cell("policy loss", number("policy_loss", ".3f")),
                cell("value loss", number("value_loss", ".3f")),
                cell("network busy", number("evaluator_share", ".0%")),
            ),
            (
                cell("rating", rating),
                cell("accuracy", number("accuracy", ".1%")),
                cell("with search", number("accuracy_search", ".1%")),
            ),
        ]
        for row in rows:
            table.add_row(*(part for pair in row for part in pair))
        for label, history in (("loss", self._losses), ("rating", self._ratings)):
            if len(history) > 2:
                table.add_row(Text(label, style="dim"), Text(sparkline(list(history)), "cyan"))
        return table

    def _now(self) -> float:
        """The run's clock."""
        return self._clock + time.monotonic() - self._started

    def _time_left(self, done: float) -> str:
        if self._limits.seconds and not self._limits.generations:
            return f"{_duration(max(0.0, self._limits.seconds - self._now()))} left"
        if done <= 0:
            return ""
        return f"about {_duration(self._now() * (1 - done) / done)} left"


def show_summary(folder: RunFolder, view: TrainingView) -> None:
    """Prints the result of a run and the next commands."""
    console = view.console
    metrics = view.metrics or (read_metrics(folder.metrics_file) or [{}])[-1]
    if not metrics:
        console.print(
            "Stopped before the first generation was complete; "
            f"[bold]plainzero train {folder.path}[/] resumes it."
        )
        return
    found = [f"{metrics['total_games']:,} games", f"{metrics['step']:,} steps"]
    if "rating" in metrics:
        error = metrics.get("rating_error", 0.0)
        found.append(f"rating {metrics['rating']:,.0f} ± {error:.0f} Elo above random play")
    if "accuracy" in metrics:
        found.append(f"{metrics['accuracy']:.1%} of solved positions correct without search")
    console.print(f"Saved in [bold]{folder.path}[/]: {', '.join(found)}.")
    console.print(f"  resume         plainzero train {folder.path} --minutes …")
    game = shlex.quote(folder.read_config()[1]["game"])
    console.print(f"  play           plainzero play {game} --opponent run:{folder.path}:200")
    if bundled_positions(folder.read_game()) is not None:
        console.print(f"  strength       plainzero evaluate {folder.path} --simulations 100")
    else:
        console.print(
            f"  strength       plainzero match run:{folder.path}:200 uct:1000 --games 100"
        )
    console.print(f"  diagnosis      plainzero doctor {folder.path}")


def sparkline(numbers: list[float]) -> str:
    """The numbers as a line of small bars."""
    low, high = min(numbers), max(numbers)
    span = (high - low) or 1.0
    return "".join(_BARS[round((number - low) / span * (len(_BARS) - 1))] for number in numbers)


def _network_words(config: RunConfig) -> str:
    network = config.network
    if network.kind == "mlp":
        return f"{network.layers} layers of {network.width}"
    return f"{network.blocks} blocks of {network.channels} channels"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
