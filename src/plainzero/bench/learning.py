"""How well the default command learns games of different kinds.

Each game is trained by `plainzero train` in a separate process. Afterwards the weights saved at a
quarter, half and the end of the run are measured by the game's yardstick. A default is judged by
this table, never by one game alone.
"""

import datetime
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.yardsticks.choose import yardstick_of
from plainzero.arena.yardsticks.match_score import MatchScore
from plainzero.arena.yardsticks.measurement import Effort, Measurement, Yardstick
from plainzero.atomic_files import write_whole
from plainzero.bench.measure import machine, versions
from plainzero.devices import choose_device
from plainzero.games.contract import Game
from plainzero.games.registry import bundled_games, make_game
from plainzero.training.metrics import read_metrics
from plainzero.training.run_folder import RunFolder

SHARES = (0.25, 0.5, 1.0)
"""The parts of a run after which strength is measured."""

_STRANGERS = Path(__file__).parent / "stranger_games"
STRANGER_GAMES = tuple(
    str(_STRANGERS / f"{name}.py") for name in ("amazons", "dice_race", "three_realms")
)
"""Games of kinds that no bundled game has: over 1,000 actions, two players with dice, and three
players for a territory."""

_SIMULATIONS = {"go": (1, 100)}
_USUAL_SIMULATIONS = (100,)
_TRAINED = "trained.json"  # in a run's folder: its Training
_PAUSE = 1.0  # seconds between reports of a run

Report = Callable[[str], None]
"""Called with what is being done."""


@dataclass(frozen=True)
class LearningBenchOptions:
    """What `plainzero bench learning` measures."""

    minutes: float  # of each run
    games: int  # of each match, rounded up to whole openings; 0: strength is not measured
    folder: Path  # for the runs
    simulations: tuple[int, ...] = ()  # per move of the trained network; empty: each game's own
    device: str = "auto"
    opponent: str = ""  # of a match, instead of each game's yardstick
    settings: tuple[str, ...] = ()  # of the runs, to compare with the defaults
    seed: int = 0
    at_once: int = 1  # games that are trained or measured at the same time
    trains: bool = True  # otherwise the runs in the folder are measured again


@dataclass(frozen=True)
class Strength:
    """A run's weights after a share of its time."""

    share: float
    seconds: float
    step: int
    games: int
    positions: int
    positions_per_second: float  # of the whole run until then
    policy_loss: float
    value_loss: float
    measured: dict[int, Measurement]  # by simulations per move; empty if it was not measured


@dataclass(frozen=True)
class Training:
    """How a run was trained."""

    command: str
    date: str
    wall_seconds: float  # of the command
    machine: dict[str, Any]
    versions: dict[str, str]


@dataclass(frozen=True)
class LearnedGame:
    """A run by the default command, measured."""

    game: str
    training: Training | None  # None if `bench learning` did not train it
    yardstick: str
    target: float | None
    first_generation_seconds: float
    strengths: list[Strength]
    failure: str = ""  # why there is nothing to measure


@dataclass(frozen=True)
class LearningReport:
    """All games, and the machine they were measured on."""

    date: str
    machine: dict[str, Any]
    versions: dict[str, str]
    options: dict[str, Any]
    rows: list[LearnedGame]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain dictionaries and lists."""
        return asdict(self)


def measure_learning(
    names: Sequence[str], options: LearningBenchOptions, report: Report
) -> LearningReport:
    """Trains and measures each game; all bundled and strangers' games if none is named.

    Raises:
        ValueError: for an unknown game or opponent, or a run that exists already, before anything
            is trained.
    """
    names = list(names) or [*bundled_games(), *STRANGER_GAMES]
    for name in names:
        game = make_game(name)
        if options.games:
            _choose_yardstick(game, options).check(game)
        if options.trains and RunFolder(options.folder / game.name).exists():
            raise ValueError(
                f"{options.folder / game.name} is already a run; choose another --folder, or "
                "--measure-only to measure the runs in it"
            )
    if _gpu(options.device) and options.at_once > 1 and options.trains:
        share = f"run.gpu_share={1 / options.at_once:.3g}"
        options = replace(options, settings=(share, *options.settings))
    lines: dict[str, str] = {}

    def learn(name: str) -> LearnedGame:
        def show(line: str) -> None:
            lines[name] = line
            report("\n".join(lines.values()))

        learned = _learn(name, options, show)
        lines.pop(name, None)
        return learned

    with ThreadPoolExecutor(options.at_once) as executor:
        rows = list(executor.map(learn, names))
    described = asdict(options) | {"folder": str(options.folder)}
    return LearningReport(_today(), machine(), _versions(), described, rows)


def _today() -> str:
    return datetime.date.today().isoformat()


def _versions() -> dict[str, str]:
    return versions() | {"torch": torch.__version__}


def _gpu(device: str) -> dict[str, str]:
    """The name of the GPU that trained, if any."""
    chosen = choose_device(device, needs_torch=True)
    return {} if chosen == "cpu" else {"gpu": torch.cuda.get_device_name(chosen)}


def _choose_yardstick(game: Game, options: LearningBenchOptions) -> Yardstick:
    return MatchScore(options.opponent) if options.opponent else yardstick_of(game)


def _learn(name: str, options: LearningBenchOptions, report: Report) -> LearnedGame:
    game = make_game(name)
    yardstick, folder = _choose_yardstick(game, options), RunFolder(options.folder / game.name)
    trained, failure = folder.path / _TRAINED, ""
    if options.trains:
        arguments, date, start = _train_arguments(name, options), _today(), time.monotonic()
        failure = _train(game.name, arguments, folder, options, report)
        command = " ".join(["plainzero train", *map(_quoted, arguments)])
        if folder.path.is_dir():
            seconds, trainer = time.monotonic() - start, machine() | _gpu(options.device)
            found = Training(command, date, seconds, trainer, _versions())
            write_whole(trained, json.dumps(asdict(found)).encode())
    training = Training(**json.loads(trained.read_text())) if trained.is_file() else None
    metrics = read_metrics(folder.metrics_file) if folder.metrics_file.exists() else []
    if not metrics:
        failure = failure or "no generation was completed"
    strengths: list[Strength] = []
    for share in SHARES if metrics else ():
        latest = _at(share, options.minutes, metrics)
        if strengths and strengths[-1].step == latest["step"]:
            measured = strengths[-1].measured
        else:
            agent = f"run:{folder.path}@{latest['step']}"
            measured = _measure(game, agent, yardstick, options, report)
        strengths.append(_strength(share, latest, measured))
    return LearnedGame(
        game.name,
        training,
        yardstick.name,
        yardstick.target,
        metrics[0]["seconds"] if metrics else 0.0,
        strengths,
        failure,
    )


def _measure(
    game: Game, agent: str, yardstick: Yardstick, options: LearningBenchOptions, report: Report
) -> dict[int, Measurement]:
    """The agent's figures by simulations per move."""
    measured = {}
    for simulations in _simulations(game, options):
        spec = f"{agent}:{simulations}"

        def progress(done: int, total: int, spec: str = spec) -> None:
            report(f"{game.name}: {yardstick.name}, {spec}: {done:,} of {total:,}")

        report(f"{game.name}: {yardstick.name}, {spec}")
        effort = Effort(options.games, options.seed, progress)
        measured[simulations] = yardstick.measure(game, parse_agent(spec, game), effort)
    return measured


def _simulations(game: Game, options: LearningBenchOptions) -> tuple[int, ...]:
    """The simulations per move to measure with."""
    if not options.games:
        return ()
    return options.simulations or _SIMULATIONS.get(game.name, _USUAL_SIMULATIONS)


def _train_arguments(name: str, options: LearningBenchOptions) -> list[str]:
    """Of `plainzero train`, without the folder and the device."""
    settings = [part for setting in options.settings for part in ("--set", setting)]
    arguments = [name, "--minutes", f"{options.minutes:g}", *settings]
    return [*arguments, "--seed", str(options.seed)]


def _quoted(argument: str) -> str:
    return f'"{argument}"' if set(argument) & set(" ()") else argument


def _train(
    game: str,
    arguments: Sequence[str],
    folder: RunFolder,
    options: LearningBenchOptions,
    report: Report,
) -> str:
    """Trains by the command that people use; returns why it failed, if it did."""
    command = [sys.executable, "-m", "plainzero.cli", "train", *arguments]
    command += ["--run", str(folder.path), "--device", options.device]
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors) as training:
            while training.poll() is None:
                seconds = int(time.monotonic() - start)
                report(
                    f"{game}: training for {options.minutes:g} min, {seconds // 60}:"
                    f"{seconds % 60:02d} so far, {_describe_last(folder)}"
                )
                with suppress(subprocess.TimeoutExpired):
                    training.wait(_PAUSE)
        errors.seek(0)
        if not training.returncode:
            return ""
        return _last_message(errors.read()) or f"it exited with status {training.returncode}"


def _last_message(text: str) -> str:
    """The whole message after the last traceback; CUDA's ends with advice."""
    lines = text.strip().splitlines()
    inside = [number for number, line in enumerate(lines) if line.startswith(" ")]
    return " ".join(lines[inside[-1] + 1 :] if inside else []) or "".join(lines[-1:]).strip()


def _describe_last(folder: RunFolder) -> str:
    """The newest generation in a few words."""
    metrics = read_metrics(folder.metrics_file) if folder.metrics_file.exists() else []
    if not metrics:
        return "no generation yet"
    last = metrics[-1]
    return f"{len(metrics)} generations, policy loss {last['policy_loss']:.3f}"


def _at(share: float, minutes: float, metrics: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The last generation complete by that share of the time; the first if there was none.

    The whole run ends with its last generation, which may take longer than its minutes.
    """
    if share == 1.0:
        return metrics[-1]
    seconds = share * minutes * 60.0
    done = [generation for generation in metrics if generation["seconds"] <= seconds]
    return (done or metrics)[-1 if done else 0]


def _strength(share: float, latest: dict[str, Any], measured: dict[int, Measurement]) -> Strength:
    seconds = latest["seconds"]
    return Strength(
        share=share,
        seconds=seconds,
        step=latest["step"],
        games=latest["total_games"],
        positions=latest["total_positions"],
        positions_per_second=latest["total_positions"] / max(seconds, 1e-9),
        policy_loss=latest["policy_loss"],
        value_loss=latest["value_loss"],
        measured=measured,
    )
