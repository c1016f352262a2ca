"""Trains, measures and exports bundled networks: python benchmarks/networks.py GAME:MINUTES …

    python benchmarks/networks.py go:10 gomoku:10 othello:5 --out build/networks --at-once 2

Trains by the default command, `--at-once` games side by side in the given order; on a GPU each gets
its share. While others train, each is measured by its game's yardstick and written to `--out`:
GAME.safetensors, GAME.md (its card) and GAME.json (the report of `plainzero bench learning`). Each
network is complete once its three files exist, so the command may be interrupted after that.
`--set` changes a setting of all runs.
"""

import argparse
import json
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from commands import plainzero, say

from plainzero import make_game
from plainzero.devices import choose_device


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", metavar="GAME:MINUTES")
    parser.add_argument("--out", type=Path, default=Path("build/networks"))
    parser.add_argument("--folder", type=Path, default=Path("runs/networks"), help="of the runs")
    parser.add_argument("--at-once", type=int, default=1, help="runs that are trained")
    parser.add_argument("--measure-at-once", type=int, default=2, help="runs that are measured")
    parser.add_argument("--games", type=int, default=40, help="of each match")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    options = parser.parse_args()
    if not all(":" in text for text in options.runs):
        parser.error("write GAME:MINUTES, as in go:20")
    options.out.mkdir(parents=True, exist_ok=True)
    if options.at_once > 1 and choose_device(options.device, needs_torch=True) != "cpu":
        options.settings.insert(0, f"run.gpu_share={1 / options.at_once:.3g}")
    runs = [Run(*text.rpartition(":")[::2], options) for text in options.runs]
    with (
        ThreadPoolExecutor(options.measure_at_once) as measurers,
        ThreadPoolExecutor(options.at_once) as trainers,
    ):

        def make(run: Run) -> Future[None]:
            run.train()
            return measurers.submit(run.export)

        made = [trainers.submit(make, run) for run in runs]
    failures = [error for future in made if (error := failure(future))]
    for error in failures:
        print(error, file=sys.stderr)
    return bool(failures)


@dataclass
class Run:
    """A network to be made."""

    name: str
    minutes: str
    options: argparse.Namespace

    def train(self) -> None:
        """Trains it, and measures nothing."""
        settings = [part for setting in self.options.settings for part in ("--set", setting)]
        say(f"{self.name}: training for {self.minutes} min")
        self.bench("--games", "0", *settings)

    def export(self) -> None:
        """Measures it, and writes its files."""
        say(f"{self.name}: measuring")
        report = self.bench("--games", str(self.options.games), "--measure-only")
        (row,) = json.loads(report)["rows"]
        if row["failure"]:
            raise RuntimeError(f"{self.name}: {row['failure']}")
        game = make_game(self.name).name
        weights = self.options.out / f"{game}.safetensors"
        weights.with_suffix(".json").write_text(report)
        files = ["--weights", str(weights), "--card", str(weights.with_suffix(".json"))]
        plainzero("export", str(self.options.folder / game), *files)
        last = row["strengths"][-1]
        found = ", ".join(f"{n}: {m['figure']:.3f}" for n, m in last["measured"].items())
        say(f"{game}: {row['yardstick']}, {found}; {last['positions']:,} positions")

    def bench(self, *arguments: str) -> str:
        """The report of `plainzero bench learning`."""
        folder = ["--folder", str(self.options.folder), "--device", self.options.device]
        run = [self.name, "--minutes", self.minutes, *folder, "--json"]
        return plainzero("bench", "learning", *run, *arguments)


def failure(made: "Future[Future[None]]") -> BaseException | None:
    """Why a run was not trained, or not exported."""
    return made.exception() or made.result().exception()


if __name__ == "__main__":
    sys.exit(main())
