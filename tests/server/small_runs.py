"""Runs of tic-tac-toe that take a second, and catalogues of them."""

import functools
import shutil
import time
from pathlib import Path

from plainzero.cli.main import main
from plainzero.games.registry import make_game
from plainzero.server.runs.catalogue import Runs

GENERATIONS = 3
SETTINGS = [
    "network.blocks=1",
    "network.channels=8",
    "search.selection=puct",
    "search.visits=8",
    "selfplay.games=16",
    "training.generation_positions=150",
    "training.batch_size=32",
    "training.precision=float32",
    "run.backend=torch",
    "run.assess_seconds=0",
    "run.cache_bytes=1048576",
]


@functools.cache
def _make_finished(place):
    folder = place / "finished"
    settings = [f"--set={setting}" for setting in SETTINGS]
    limits = ["--threads=1", f"--generations={GENERATIONS}"]
    assert main(["train", "tic-tac-toe", f"--run={folder}", *limits, *settings]) == 0
    return folder


def copy_finished(factory, place):
    """A run of three generations at that place, to read or to spoil."""
    return Path(shutil.copytree(_make_finished(factory.getbasetemp()), place))


def make_runs(*folders, home, can_train=True, **options):
    """A catalogue in which requests name games as the command line does.

    Its processes are not nice: on a busy machine they would never be done.
    """
    options = {"make_game": make_game, "spec_of": lambda name: name, "niceness": 0} | options
    return Runs(list(folders), home, can_train, **options)


def wait_until(is_so):
    """Looks again and again; without a deadline, because the machine may be busy."""
    while not is_so():
        time.sleep(0.05)
