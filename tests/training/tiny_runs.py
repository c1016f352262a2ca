"""Runs that take a second, for tests: their command lines, and what is in their folders."""

import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pyarrow.ipc
import pyarrow.parquet

from plainzero.networks.weights import load_weights
from plainzero.training.run_folder import RunFolder

SETTINGS = {
    "network.blocks": 1,
    "network.channels": 8,
    "search.selection": "puct",
    "search.visits": 8,
    "selfplay.games": 16,
    "training.generation_positions": 150,
    "training.batch_size": 32,
    "training.precision": "float32",
    "run.backend": "torch",
    "run.assess_seconds": 0.0,
    "run.cache_bytes": 1 << 20,
}
"""Of a tiny network for tic-tac-toe, in few games."""

CLOCKED = {
    "seconds",
    "selfplay_share",
    "games_per_second",
    "positions_per_second",
    "evaluations_per_second",
    "simulations_per_second",
    "evaluator_share",
    "evaluations_per_position",
    "cache_hit_rate",
}
"""Metrics of a clock, or that a run has not which found its games on disk."""


def train_arguments(folder, generations, threads=1, game="tic-tac-toe", **changes):
    """Arguments of `plainzero train` with tiny settings; changes are SECTION__OPTION."""
    settings = SETTINGS | {name.replace("__", "."): value for name, value in changes.items()}
    arguments = ["train", game, "--run", str(folder), "--seed", "1"]
    arguments += ["--threads", str(threads), "--generations", str(generations)]
    for name, value in settings.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        arguments += ["--set", f"{name}={text}"]
    return arguments


def weights_of(folder):
    """The bytes of each file of weights, by name."""
    return {path.name: path.read_bytes() for path in sorted(Path(folder, "weights").iterdir())}


def games_of(folder):
    """Each finished game of the shards, and of the journal, as something to compare."""
    games = Path(folder, "games")
    tables = [read_whole(path) for path in sorted(games.glob("[0-9]*.parquet"))]
    tables += journal_tables(games / "unsaved.journal")
    return [as_key(game) for table in tables for game in table.to_pylist()]


def read_whole(path):
    """The table of a shard whose name fits its contents."""
    assert hashlib.sha256(path.read_bytes()).hexdigest().startswith(path.name.split(".")[1])
    return pyarrow.parquet.read_table(path)


def journal_tables(path):
    """The whole entries of a journal: length and CRC-32, then an Arrow stream."""
    contents, tables = path.read_bytes() if path.exists() else b"", []
    while len(contents) >= 12:
        length, checksum = struct.unpack("<QI", contents[:12])
        entry, contents = contents[12 : 12 + length], contents[12 + length :]
        if len(entry) == length and zlib.crc32(entry) == checksum:
            tables.append(pyarrow.ipc.open_stream(entry).read_all())
    return tables


def as_key(game):
    """Moves and root values; the noise of the search makes most games different."""
    return tuple(game["moves"]), tuple(tuple(values) for values in game["values"])


def check_whole(folder):
    """Reads everything in a run's folder that must be whole at any moment."""
    run = RunFolder(folder)
    if run.exists():
        run.read_config()
    tensors = [run.state_file, *run.weights.glob("*.safetensors"), *run.games.glob("*.safetensors")]
    for path in tensors:
        if path.exists():
            load_weights(path)
    for path in run.games.glob("*.parquet"):
        read_whole(path)


def unclocked_metrics(folder):
    """The lines of metrics.jsonl without what the clock has to do with."""
    lines = [json.loads(line) for line in Path(folder, "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in CLOCKED} for line in lines]


class RunServer:
    """Processes that run `plainzero`, one at a time, forked from one that has everything loaded."""

    def __init__(self, output):
        """Everything that is printed is added to the file `output`."""
        self.output = Path(output)
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("run_server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout.readline() == "ready\n"
        self._child = 0

    def start(self, arguments, **trouble):
        """Begins to run.

        Trouble may be most_bytes, that no file may have more of, or last_file: with so many files
        written the process sends itself a `signal`, SIGKILL by default.
        """
        self.output.write_text("")
        self._child = self._ask(json.dumps([str(self.output), trouble, *arguments]))

    def kill(self, number=signal.SIGKILL):
        os.kill(self._child, number)

    def is_running(self):
        return bool(self._ask("?"))

    def wait(self):
        """The exit code; negative for a signal."""
        return self._ask("")

    def _ask(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def run(self, arguments, **trouble):
        """Runs to the end; the exit code."""
        self.start(arguments, **trouble)
        return self.wait()

    def close(self):
        self._process.communicate()
