"""How well the default command learns games of different kinds.

Each game is trained by `plainzero train` in a separate process. Afterwards the weights saved at a
quarter, half and the end of the run play a match against the game's yardstick. A default is judged
by this table, never by one game alone.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.match import MatchSettings, play_match
from plainzero.bench.measure import machine, versions
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

_YARDSTICKS = {
    "connect-four": "perfect",
    "tic-tac-toe": "perfect",
    "gomoku": "threats:400",
    "gomoku-42": "uct:5000",
    "go": "uct:5000",
    "othello": "uct:20000",
    "hex": "uct:20000",
    "breakthrough": "uct:20000",
    "ultimate-tic-tac-toe": "uct:20000",
    "dots-and-boxes": "uct:20000",
    "orbit": "uct:10000",
    "trio": "uct:10000",
}
_USUAL_YARDSTICK = "uct:1000"  # for games with parameters, and for those of other people
_GNU_GO = "gtp:gnugo --mode gtp --level 10 --chinese-rules"

Report = Callable[[str], None]
"""Called with what is being done."""


@dataclass(frozen=True)
class LearningBenchOptions:
    """What `plainzero bench learning` measures."""

    minutes: float  # of each run
    games: int  # of each match, rounded up to whole openings
    simulations: int  # per move of the trained network
    folder: Path  # for the runs
    device: str = "auto"
    yardstick: str = ""  # instead of each game's own
    settings: tuple[str, ...] = ()  # of the runs, to compare with the defaults
    seed: int = 0
    trains: bool = True  # otherwise the runs in the folder are measured again


@dataclass(frozen=True)
class Strength:
    """The strength of a run's weights after a share of its time."""

    share: float
    seconds: float
    step: int
    games: int
    positions_per_second: float  # of the whole run until then
    policy_loss: float
    value_loss: float
    score: float | None  # against the yardstick; None without a match
    interval: tuple[float, float] | None  # 95 %; None if one opening was played


@dataclass(frozen=True)
class LearnedGame:
    """A run by the default command, measured."""

    game: str
    yardstick: str
    first_generation_seconds: float
    strengths: list[Strength]
    failure: str = ""  # why there is nothing to measure


@dataclass(frozen=True)
class LearningReport:
    """All games, and the machine they were learned on."""

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
        ValueError: for an unknown game or yardstick, or a run that exists already, before anything
            is trained.
    """
    names = list(names) or [*bundled_games(), *STRANGER_GAMES]
    for name in names:
        game = make_game(name)
        parse_agent(options.yardstick or yardstick(name), game)
        if options.trains and RunFolder(options.folder / game.name).exists():
            raise ValueError(
                f"{options.folder / game.name} is already a run; choose another --folder, or "
                "--measure-only to measure the runs in it"
            )
    rows = [_learn(name, options, report) for name in names]
    described = asdict(options) | {"folder": str(options.folder)}
    return LearningReport(machine(), versions(), described, rows)


def yardstick(name: str) -> str:
    """The agent against which a game's strength is measured."""
    if name == "go" and shutil.which("gnugo"):
        return _GNU_GO
    return _YARDSTICKS.get(name, _USUAL_YARDSTICK)


def _learn(name: str, options: LearningBenchOptions, report: Report) -> LearnedGame:
    game, opponent = make_game(name), options.yardstick or yardstick(name)
    folder = RunFolder(options.folder / game.name)
    failure = ""
    if options.trains:
        unit = "minute" if options.minutes == 1.0 else "minutes"
        report(f"{game.name}: training for {options.minutes:g} {unit}")
        failure = _train(name, folder, options)
    metrics = read_metrics(folder.metrics_file) if folder.metrics_file.exists() else []
    if not metrics:
        return LearnedGame(game.name, opponent, 0.0, [], failure or "no generation was completed")
    strengths = []
    for share in SHARES:
        latest = _at(share * options.minutes * 60.0, metrics)
        report(f"{game.name}: playing {opponent} with the weights of {latest['seconds']:.0f} s")
        strengths.append(_measure(share, latest, name, folder, opponent, options))
    return LearnedGame(game.name, opponent, metrics[0]["seconds"], strengths, failure)


def _train(name: str, folder: RunFolder, options: LearningBenchOptions) -> str:
    """Trains by the command that people use; returns why it failed, if it did."""
    settings = [part for setting in options.settings for part in ("--set", setting)]
    command = [sys.executable, "-m", "plainzero.cli", "train", name, *settings]
    command += ["--minutes", str(options.minutes), "--run", str(folder.path)]
    command += ["--device", options.device, "--seed", str(options.seed)]
    ended = subprocess.run(command, capture_output=True, text=True)
    return ended.stderr.strip().rpartition("\n")[2] if ended.returncode else ""


def _at(seconds: float, metrics: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The last generation that was complete by then; the first if there was none."""
    done = [generation for generation in metrics if generation["seconds"] <= seconds]
    return (done or metrics)[-1 if done else 0]


def _measure(
    share: float,
    latest: dict[str, Any],
    name: str,
    folder: RunFolder,
    opponent: str,
    options: LearningBenchOptions,
) -> Strength:
    score, interval = None, None
    if options.games:
        game = make_game(name)
        agent = f"run:{folder.path}@{latest['step']}:{options.simulations}"
        agents = (parse_agent(agent, game), parse_agent(opponent, game))
        result = play_match(game, agents, MatchSettings(options.games, seed=options.seed))
        score, interval = result.estimate.score, result.estimate.score_interval
    seconds = latest["seconds"]
    return Strength(
        share=share,
        seconds=seconds,
        step=latest["step"],
        games=latest["total_games"],
        positions_per_second=latest["total_positions"] / max(seconds, 1e-9),
        policy_loss=latest["policy_loss"],
        value_loss=latest["value_loss"],
        score=score,
        interval=interval,
    )
