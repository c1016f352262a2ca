"""`plainzero train`: starts a run, or resumes one."""

import logging
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plainzero.cli.terminal.errors import BadInput, refusing
from plainzero.training.precompile import Precompiler

if TYPE_CHECKING:
    from plainzero.training.interfaces import Assessor, Compilers
    from plainzero.training.loop import Limits, Run
    from plainzero.training.run_folder import RunFolder
    from plainzero.training.settings import RunConfig

DEFAULT_MINUTES = 20.0
_log = logging.getLogger("plainzero")
_LIMITS = ("run.minutes", "run.generations")

What = Annotated[
    str,
    typer.Argument(metavar="GAME|RUN", help="A game to learn, or the folder of a run to resume."),
]
Minutes = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        help=f"Length of the whole run (new runs: {DEFAULT_MINUTES:g}; stored in the run).",
    ),
]
Generations = Annotated[
    int | None, typer.Option(min=1, help="Stop after this many generations, whatever the time.")
]
Folder = Annotated[Path | None, typer.Option(help="The run's folder (default: runs/GAME).")]
Source = Annotated[
    str | None,
    typer.Option("--from", help="A run, or a file of weights, to start from; other sizes may fit."),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Random seed.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Use 1 for bit-for-bit reproducible CPU runs.")
]
Device = Annotated[
    str | None,
    typer.Option(help="auto (a GPU if available), cpu, cuda, cuda:1, …"),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.OPTION=VALUE", help="Any setting, as described above."),
]


def train(
    what: What,
    minutes: Minutes = None,
    generations: Generations = None,
    run: Folder = None,
    source: Source = None,
    seed: Seed = None,
    threads: Threads = None,
    device: Device = None,
    settings: Settings = None,
) -> None:
    """Learn a game by self-play. Ctrl-C saves and stops (exit code 130); the same command resumes.

    Example: [bold]plainzero train connect-four --minutes 20[/]

    Resume, or train longer: [bold]plainzero train runs/connect-four --minutes 60[/]

    Settings have the sections network, search, selfplay, training and run, as in the run's
    config.toml: [bold]--set network.blocks=6 --set search.simulations=64 --set training.reuse=2[/].

    Watch the curves: [bold]tensorboard --logdir runs[/]
    """
    since, changes = time.monotonic(), [*(settings or [])]
    changes += [f"run.init={source}"] if source is not None else []
    changes += [f"run.seed={seed}"] if seed is not None else []
    changes += [f"run.threads={threads}"] if threads is not None else []
    changes += [f"run.device={device}"] if device is not None else []
    if minutes is not None or generations is not None:
        changes += [f"run.minutes={minutes or 0.0}", f"run.generations={generations or 0}"]
    with refusing(what), Precompiler() as compiling:
        compiling.begin(what, changes)
        signals = _train(what, run, changes, compiling, since)
    if signals:
        raise typer.Exit(128 + signals[0])


def _train(
    what: str, run: Path | None, changes: list[str], compiling: Precompiler, since: float
) -> list[int]:
    """Trains until the run's limit or a signal; returns the signals received.

    On a GPU a new run's clock starts with the command, so that `--minutes` is the time a person
    waits. On a CPU it starts once everything is compiled, which may take a slow machine minutes.
    """
    from plainzero.cli.terminal.training_view import TrainingView, show_summary
    from plainzero.training.loop import Limits

    folder = _find_folder(what, run)
    if not folder.exists():
        if not any(change.startswith(_LIMITS) for change in changes):
            changes = [*changes, f"run.minutes={DEFAULT_MINUTES}"]
        _new_config(folder, what, changes)  # rejects bad input before creating a folder
    folder.make()
    with folder.locked(), _saving(folder):
        is_new = not folder.exists()
        config, game, place = _prepare(folder, what, changes)
        compilers = compiling.for_run(game, folder.read_config()[1]["game"], config, place)
        limits = Limits(config.run.minutes * 60.0, config.run.generations)
        with (
            TrainingView(folder, game, config, place, limits, is_new) as view,
            _assessing(folder, config, game, place) as assessor,
        ):
            learning = _make_run(folder, config, game, place, compilers, assessor)
            _check_limits(learning, limits)
            _keep_settings(folder, config, game)
            with _interruptible(learning, view) as signals:
                learning.prepare()
                since = since if is_new and place != "cpu" else time.monotonic()
                view.resume(learning.counters.seconds, since)
                learning.go(limits, view, since)
        show_summary(folder, view)
    return signals


def _check_limits(learning: "Run", limits: "Limits") -> None:
    """Refuses to resume a run that has reached its limit."""
    if not learning.is_over(limits):
        return
    generation, minutes = learning.counters.generation, learning.counters.seconds / 60
    if 0 < limits.generations <= generation:
        done, option = f"{generation} generation{'s' * (generation > 1)}", "--generations"
    else:
        done, option = f"{minutes:.1f} minutes", "--minutes"
    raise BadInput(f"{learning.folder.path} has already reached its limit ({done}); raise {option}")


def _find_folder(what: str, run: Path | None) -> "RunFolder":
    """The run's folder: the one named, --run, or runs/GAME."""
    from plainzero.games.registry import UnknownGame, make_game
    from plainzero.training.run_folder import RunFolder

    if RunFolder(what).exists():
        if run is not None and run != Path(what):
            raise BadInput(f"{what} is already a run; leave out --run")
        return RunFolder(what)
    if RunFolder(what).weights.is_dir():
        raise BadInput(f"{what} is not a run: its config.toml is missing")
    try:
        game = make_game(what)
    except UnknownGame as error:
        if len(Path(what).parts) == 1 or ":" in what or what.endswith(".py"):
            raise
        raise BadInput(
            f"there is no run {what}; start one with `plainzero train GAME --run {what}`"
        ) from error
    return RunFolder(run if run is not None else Path("runs") / game.name)


def _prepare(folder: "RunFolder", what: str, changes: list[str]) -> "tuple[RunConfig, Any, str]":
    """Config, game and device of the run; creates the run if it is new."""
    from plainzero.games.registry import GameSpec, make_game
    from plainzero.training.choose_device import choose_training_device
    from plainzero.training.settings import change, measure_backend, resolve_run

    if not folder.exists():
        config, game, device = _new_config(folder, what, changes)
        config = measure_backend(config, game, device)
        folder.write_config(config, game, str(GameSpec.parse(what).absolute()))
        return config, game, device
    saved, about = folder.read_config()
    game = folder.read_game()
    if Path(what) != folder.path and make_game(what) != game:
        raise BadInput(f"{folder.path} is a run of {game.name}; choose another --run folder")
    changed = change(saved, changes)
    device = choose_training_device(changed.run.device, game)
    is_backend_asked = any(setting.startswith("run.backend=") for setting in changes)
    config = measure_backend(resolve_run(changed, game, device), game, device, is_backend_asked)
    if about.get("source_digest") != game.source_digest:
        _log.warning(
            "the rules of %s have changed since %s was started; its games are replayed under the "
            "new rules. Use another --run folder to start over",
            game.name,
            folder.path,
        )
    if config.run.init != saved.run.init and folder.state_file.exists():
        raise BadInput(
            f"{folder.path} has already started; --from is for a new run: use another --run folder"
        )
    if config.network != saved.network:
        raise BadInput(
            f"{folder.path} has a network of another shape; network settings cannot change after "
            "the start: use another --run folder"
        )
    return config, game, device


def _keep_settings(folder: "RunFolder", config: "RunConfig", game: Any) -> None:
    """Saves changed settings, now that they have been accepted."""
    saved, about = folder.read_config()
    if config != saved:
        folder.write_config(config, game, about["game"])


def _new_config(folder: "RunFolder", what: str, changes: list[str]) -> "tuple[RunConfig, Any, str]":
    """Config, game and device of a new run; writes nothing."""
    from plainzero.games.registry import make_game
    from plainzero.training.choose_device import device_of_settings, new_config
    from plainzero.training.settings import resolve_run

    if folder.state_file.exists():
        raise BadInput(
            f"{folder.path} has a state.safetensors but no config.toml; restore that file, or "
            "use another --run folder"
        )
    game = make_game(what)
    device = device_of_settings(changes, game)
    config = resolve_run(new_config(game, device, changes), game, device)
    if config.run.init:
        from plainzero.networks.architectures import make_network
        from plainzero.training.saved_run import start_from

        start_from(make_network(game, config.network, 0), config.run.init)  # or refuses
    return config, game, device


@contextmanager
def _assessing(
    folder: "RunFolder", config: "RunConfig", game: Any, device: str
) -> "Iterator[Assessor]":
    """Measures strength; in a separate process for a run on a GPU, which must not wait for it."""
    if device == "cpu":
        from plainzero.arena.strength_meter import StrengthMeter
        from plainzero.training.function_assessor import FunctionAssessor
        from plainzero.training.saved_run import SavedRun

        measure = StrengthMeter(game, config.run.seed).measure
        yield FunctionAssessor(measure, SavedRun(folder, config, game))
        return
    from plainzero.arena.assessor_process import AssessorProcess

    with AssessorProcess(folder.path, config.run.seed) as assessor:
        yield assessor


def _make_run(
    folder: "RunFolder",
    config: "RunConfig",
    game: Any,
    device: str,
    compilers: "Compilers | None",
    assessor: "Assessor",
) -> "Run":
    from plainzero.arena.gate import make_gate
    from plainzero.training.loop import Run

    gate = make_gate(game)
    return Run(
        folder,
        config,
        game,
        assessor=assessor,
        gate=lambda new, old, search, seed: gate(new, old, search, seed).passed,
        device=device,
        compilers=compilers,
    )


@contextmanager
def _saving(folder: "RunFolder") -> Iterator[None]:
    """Turns a full disk, lack of memory and non-finite numbers into one sentence."""
    import torch

    try:
        yield
    except OSError as error:
        raise BadInput(
            f"cannot write {folder.path}: {error.strerror or error}; what was saved before is "
            "intact, and the same command resumes from there"
        ) from error
    except FloatingPointError as error:
        raise BadInput(f"{error}; the same command resumes from the previous generation") from error
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise BadInput(
            f"not enough memory for {folder.path}; lower selfplay.games, training.batch_size or "
            "the size of the network. What was saved before is intact"
        ) from error


@contextmanager
def _interruptible(learning: "Run", view: Any) -> Iterator[list[int]]:
    """Within, Ctrl-C stops the run after saving; a second one stops it at once.

    Yields:
        The signals received.
    """
    signals: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return

    def interrupt(number: int, _: Any) -> None:
        signals.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        view.say_stopping()
        learning.stop()

    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
