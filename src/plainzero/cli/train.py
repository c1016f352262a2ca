"""`plainzero train`: a run from nothing, or on from where it stopped."""

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
from plainzero.training.precompile import CompilingForRun

if TYPE_CHECKING:
    from plainzero.selfplay.gpu.compile_processes import Compilers
    from plainzero.training.loop import Limits, Run
    from plainzero.training.run_folder import RunFolder
    from plainzero.training.settings import RunConfig

DEFAULT_MINUTES = 20.0
_log = logging.getLogger("plainzero")
_LIMITS = ("run.minutes", "run.generations")

What = Annotated[
    str, typer.Argument(metavar="GAME|RUN", help="A game to learn, or a run's folder.")
]
Minutes = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        help=f"Length of the whole run ({DEFAULT_MINUTES:g} for a new one; kept in the run).",
    ),
]
Generations = Annotated[
    int | None, typer.Option(min=1, help="End after so many generations, whatever the time.")
]
Folder = Annotated[Path | None, typer.Option(help="The run's folder (runs/GAME by default).")]
Seed = Annotated[int | None, typer.Option(min=0, help="Of everything that is drawn.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="1: on a CPU, the same run to the last bit, every time.")
]
Device = Annotated[
    str | None,
    typer.Option(help="auto (a GPU where there is one), cpu, cuda, or cuda:1 and so on."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.OPTION=VALUE", help="Any setting; see above."),
]


def train(
    what: What,
    minutes: Minutes = None,
    generations: Generations = None,
    run: Folder = None,
    seed: Seed = None,
    threads: Threads = None,
    device: Device = None,
    settings: Settings = None,
) -> None:
    """Learn a game by self-play. Ctrl-C saves (exit code 130); the same command goes on.

    Example: [bold]plainzero train connect-four --minutes 20[/]

    Go on, or longer: [bold]plainzero train runs/connect-four --minutes 60[/]

    Settings have the sections network, search, selfplay, training and run, as in the run's
    config.toml: [bold]--set network.blocks=6 --set search.simulations=64 --set training.reuse=2[/].

    Watch the curves: [bold]tensorboard --logdir runs[/]
    """
    since, changes = time.monotonic(), [*(settings or [])]
    changes += [f"run.seed={seed}"] if seed is not None else []
    changes += [f"run.threads={threads}"] if threads is not None else []
    changes += [f"run.device={device}"] if device is not None else []
    if minutes is not None or generations is not None:
        changes += [f"run.minutes={minutes or 0.0}", f"run.generations={generations or 0}"]
    with refusing(what), CompilingForRun() as compiling:
        compiling.begin(what, _lasting_name(what), changes)
        signals = _train(what, run, changes, compiling, since)
    if signals:
        raise typer.Exit(128 + signals[0])


def _train(
    what: str, run: Path | None, changes: list[str], compiling: CompilingForRun, since: float
) -> list[int]:
    """Runs the run that is meant to its end, or until a signal; returns those that came.

    The clock of a new one goes since the command was given, so that `--minutes` are those that a
    person waits.
    """
    from plainzero.cli.terminal.training_view import TrainingView, show_summary
    from plainzero.training.loop import Limits

    folder = _find_folder(what, run)
    if not folder.exists():
        if not any(change.startswith(_LIMITS) for change in changes):
            changes = [*changes, f"run.minutes={DEFAULT_MINUTES}"]
        _new_config(folder, what, changes)  # refuses nonsense before a folder is made
    folder.make()
    with folder.locked(), _saving(folder):
        is_new = not folder.exists()
        config, game, place = _prepare(folder, what, changes)
        compilers = compiling.go_on(game, folder.read_config()[1]["game"], config, place)
        limits = Limits(config.run.minutes * 60.0, config.run.generations)
        with (
            TrainingView(folder, game, config, place, limits, is_new) as view,
            _assessing(folder, config, game, place) as assess,
        ):
            learning = _make_run(folder, config, game, place, compilers, assess)
            _check_limits(learning, limits)
            since = since if is_new else time.monotonic()
            view.resume(learning.counters.seconds, since)
            _keep_settings(folder, config, game)
            with _interruptible(learning, view) as signals:
                learning.go(limits, view, since)
        show_summary(folder, view)
    return signals


def _check_limits(learning: "Run", limits: "Limits") -> None:
    """Refuses to go on with a run that is at its end."""
    if learning.progress(limits) >= 1.0:
        raise BadInput(
            f"{learning.folder.path} has reached its limit already "
            f"({learning.counters.generation} generations, "
            f"{learning.counters.seconds / 60:.1f} minutes); give more --minutes or --generations"
        )


def _find_folder(what: str, run: Path | None) -> "RunFolder":
    """The folder that was meant: the run itself, --run, or runs/GAME."""
    from plainzero.games.registry import make_game
    from plainzero.training.run_folder import RunFolder

    if RunFolder(what).exists():
        if run is not None and run != Path(what):
            raise BadInput(f"{what} is a run already; leave out --run")
        return RunFolder(what)
    if RunFolder(what).weights.is_dir():
        raise BadInput(f"{what} holds no run any more: there is no config.toml in it")
    return RunFolder(run if run is not None else Path("runs") / make_game(what).name)


def _prepare(folder: "RunFolder", what: str, changes: list[str]) -> "tuple[RunConfig, Any, str]":
    """The config and the game of the run, which is begun where there is none, and its device."""
    from plainzero.games.registry import make_game
    from plainzero.training.gpu.defaults import choose_training_device
    from plainzero.training.settings import change, measure_engine, resolve_run

    if not folder.exists():
        config, game, device = _new_config(folder, what, changes)
        config = measure_engine(config, game, device)
        folder.write_config(config, game, _lasting_name(what))
        return config, game, device
    saved, about = folder.read_config()
    game = folder.read_game()
    if Path(what) != folder.path and make_game(what) != game:
        raise BadInput(f"{folder.path} is a run of {game.name}; give another --run folder")
    changed = change(saved, changes)
    device = choose_training_device(changed.run.device, game)
    is_engine_asked = any(setting.startswith("run.engine=") for setting in changes)
    config = measure_engine(resolve_run(changed, game, device), game, device, is_engine_asked)
    if about.get("source_digest") != game.source_digest:
        _log.warning(
            "the rules of %s have changed since %s was begun: its games are read under the new "
            "ones; give another --run folder for a new run",
            game.name,
            folder.path,
        )
    if config.network != saved.network:
        raise BadInput(
            f"{folder.path} has a network of another shape; network settings are those of a new "
            "run: give another --run folder"
        )
    return config, game, device


def _keep_settings(folder: "RunFolder", config: "RunConfig", game: Any) -> None:
    """Writes settings that were changed, now that nothing has refused them."""
    saved, about = folder.read_config()
    if config != saved:
        folder.write_config(config, game, about["game"])


def _new_config(folder: "RunFolder", what: str, changes: list[str]) -> "tuple[RunConfig, Any, str]":
    """The config, the game and the device of a new run; nothing is written."""
    from plainzero.games.registry import make_game
    from plainzero.training.gpu.defaults import device_of_settings, new_config
    from plainzero.training.settings import resolve_run

    if folder.state_file.exists():
        raise BadInput(
            f"{folder.path} has a run's state.safetensors but no config.toml; put a copy of that "
            "back, or give another --run folder"
        )
    game = make_game(what)
    device = device_of_settings(changes, game)
    return resolve_run(new_config(game, device, changes), game, device), game, device


def _lasting_name(what: str) -> str:
    """The game's name as it can be read from any folder."""
    path, _, name = what.rpartition(":")
    return f"{Path(path).resolve()}:{name}" if Path(path).is_file() else what


@contextmanager
def _assessing(folder: "RunFolder", config: "RunConfig", game: Any, device: str) -> Iterator[Any]:
    """What measures strength: apart from a run on a GPU, which would have to wait for it."""
    if device == "cpu":
        from plainzero.arena.strength_meter import Assessor

        yield Assessor(game, config.run.seed).assess
        return
    from plainzero.arena.assessor_process import AssessorApart

    with AssessorApart(folder.path, config.run.seed) as apart:
        yield apart


def _make_run(
    folder: "RunFolder",
    config: "RunConfig",
    game: Any,
    device: str,
    compilers: "Compilers | None",
    assess: Any,
) -> "Run":
    from plainzero.arena.gate import make_gate
    from plainzero.training.loop import Run

    gate = make_gate(game)
    return Run(
        folder,
        config,
        game,
        assess=assess,
        gate=lambda new, old, search, seed: gate(new, old, search, seed).passed,
        device=device,
        compilers=compilers,
    )


@contextmanager
def _saving(folder: "RunFolder") -> Iterator[None]:
    """Says in one sentence what ended the run: no room on disk or in memory, or no number."""
    import torch

    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{folder.path} cannot be written: {error.strerror or error}; what was saved before is "
            "whole, and the same command goes on from there"
        ) from error
    except FloatingPointError as error:
        raise BadInput(f"{error}; the same command goes on from the generation before") from error
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise BadInput(
            f"{folder.path}: there is not enough memory for this run; set fewer selfplay.games, a "
            "smaller training.batch_size or network; what was saved before is whole"
        ) from error


@contextmanager
def _interruptible(learning: "Run", view: Any) -> Iterator[list[int]]:
    """Within, Ctrl-C ends the run once its work is saved; a second one at once.

    Yields:
        The signals that came, to look at afterwards.
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
