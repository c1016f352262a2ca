"""What a setting is worth: python benchmarks/ablation.py GAME … [--variant 'NAME: SETTING …'] …

    python benchmarks/ablation.py 'hex(size=6)' 'othello(size=6)' --generations 40 --at-once 2

Trains every variant on every game `--seeds` times, for equal generations or minutes, `--at-once`
runs side by side, each on one thread or its share of the GPU. Each plays against the default run of
the same seed, from even openings and both sides. Two short runs that differ only in the seed have
scored 31 % against each other, so a single run of each tells little. Equal generations are fair on
a busy machine, too, but do not count what a variant costs: the table says how long it took. `--out`
gets every result as soon as it is known, and the same command resumes there; to change a variant or
a limit, choose another `--folder` and `--out`.
"""

import argparse
import itertools
import json
import os
import statistics
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from commands import plainzero, say

from plainzero.atomic_files import write_whole
from plainzero.devices import choose_device

_SAVING = Lock()
_DEFAULT = "default"
_VARIANTS = (
    "few openings: selfplay.opening_share=0.5",
    "soft policy: training.soft_policy=2",
    "reply: training.reply=0.15",
    "short values: training.short_values=0.5",
    "score and ownership: training.score=0.5 training.ownership=0.5",
    "surprise: training.surprise=0.5",
    "reanalyse: training.reanalyse=0.5",
    "win, draw, loss: network.values=wdl",
    "regions: network.value_head=regions",
    "pooling: network.pooling=true",
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games", nargs="+", metavar="GAME")
    parser.add_argument("--variant", action="append", dest="variants", help="replaces those above")
    parser.add_argument("--minutes", type=float, default=0.0, help="of each run; 0: no limit")
    parser.add_argument("--generations", type=int, default=0, help="of each run; 0: no limit")
    parser.add_argument("--seeds", type=int, default=4, help="runs of each variant and game")
    parser.add_argument("--match-games", type=int, default=200, help="of each pair of runs")
    parser.add_argument("--simulations", type=int, default=64, help="per move of a match")
    parser.add_argument("--at-once", type=int, default=1, help="runs that are trained")
    parser.add_argument("--matches-at-once", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--folder", type=Path, default=Path("runs/ablation"), help="of the runs")
    parser.add_argument("--out", type=Path, default=Path("build/ablation.json"))
    options = parser.parse_args()
    if not options.minutes and not options.generations:
        parser.error("say how long runs are: --generations 40, or --minutes 5")
    variants = {_DEFAULT: list[str]()}
    for text in options.variants or _VARIANTS:
        name, _, settings = text.partition(":")
        variants[name.strip()] = settings.split()
    os.environ["OMP_NUM_THREADS"] = "1"  # of every command
    options.out.parent.mkdir(parents=True, exist_ok=True)
    found = json.loads(options.out.read_text()) if options.out.exists() else {}
    if any("score" in matches for variants in found.values() for matches in variants.values()):
        parser.error(
            f"{options.out} is from an older version, with one run each: choose another --out"
        )
    made: list[Future[None]] = []
    with (
        ThreadPoolExecutor(options.matches_at_once) as matchers,
        ThreadPoolExecutor(options.at_once) as trainers,
    ):
        for seed, game in itertools.product(range(options.seeds), options.games):
            runs: dict[str, Future[Path]] = {}
            for name, settings in variants.items():
                runs[name] = trainers.submit(train, game, name, seed, settings, options)
            made += [
                matchers.submit(compare, game, name, seed, run, runs[_DEFAULT], found, options)
                for name, run in runs.items()
                if name != _DEFAULT
                and str(seed) not in found.setdefault(game, {}).setdefault(name, {})
            ]
    for error in (error for future in made if (error := future.exception())):
        print(error, file=sys.stderr)
    print(table(found))
    return any(future.exception() for future in made)


def train(
    game: str, name: str, seed: int, settings: list[str], options: argparse.Namespace
) -> Path:
    """The folder of a run, trained unless it was before."""
    run: Path = options.folder / game / f"{name.replace(' ', '-')}-{seed}"
    limits = ["--device", options.device, "--seed", str(seed)]
    for limit in ("minutes", "generations"):
        if getattr(options, limit):
            limits += [f"--{limit}", str(getattr(options, limit))]
    changed = [part for setting in settings for part in ("--set", setting)]
    if choose_device(options.device, needs_torch=True) == "cpu":
        changed += ["--set", "run.threads=1"]
    else:
        changed += ["--set", f"run.gpu_share={1 / options.at_once:.3g}"]
    say(f"{game}, {name}, seed {seed}: training")
    try:
        plainzero("train", game, "--run", str(run), *limits, *changed)
    except RuntimeError as error:
        if "already reached its limit" not in str(error):
            raise
    return run


def compare(
    game: str,
    name: str,
    seed: int,
    run: Future[Path],
    default: Future[Path],
    found: dict[str, dict[str, dict[str, Any]]],
    options: argparse.Namespace,
) -> None:
    """Plays a variant against the default run of its seed, once both are trained; saves it."""
    agents = [f"run:{each.result()}:{options.simulations}" for each in (run, default)]
    played = plainzero("match", *agents, "--json", "--games", str(options.match_games))
    match = json.loads(played)
    match["last"] = [last_row(each.result()) for each in (run, default)]
    with _SAVING:
        found[game][name][str(seed)] = match
        write_whole(options.out, json.dumps(found, indent=1).encode())
    say(f"{game}, {name}, seed {seed}: {100 * match['score']:.0f} %")


def last_row(run: Path) -> dict[str, Any]:
    """What the run wrote after its last generation."""
    last: dict[str, Any] = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
    return last


def summary(matches: dict[str, Any]) -> str:
    """The mean score ± its standard error, each seed's score, and the time taken."""
    scores = [100 * match["score"] for match in matches.values()]
    seconds = [[row["seconds"] for row in match["last"]] for match in matches.values()]
    changed, default = map(sum, zip(*seconds, strict=True))
    each = " ".join(f"{score:.0f}" for score in scores)
    found = f"{statistics.mean(scores):.0f} %"
    if len(scores) > 1:
        found += f" ± {statistics.stdev(scores) / len(scores) ** 0.5:.0f}"
    return f"{found} ({each}), {changed / default:.2f} × the time"


def table(found: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Variants by games, in Markdown."""
    names = dict.fromkeys(name for variants in found.values() for name in variants)
    lines = [["against the default run", *found], ["---"] * (1 + len(found))]
    for name in names:
        cells = (variants.get(name) for variants in found.values())
        lines.append([name, *(summary(matches) if matches else "" for matches in cells)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
