"""Runs on the device of Numba's simulator, one after the other, in the folder that is given.

Prints what each command said and returned, as JSON.
"""

import contextlib
import io
import json
import math
import os
import shutil
import sys
import threading
from pathlib import Path

from tiny_runs import train_arguments

from plainzero.cli.main import main
from plainzero.games.contract import RuleFault
from plainzero.networks.architectures import make_network
from plainzero.search.kernels.scratch import NO_LEGAL_ACTION
from plainzero.selfplay.gpu import harvest
from plainzero.training.gpu.generator import GpuGenerator
from plainzero.training.run_folder import RunFolder

SMALL = {
    "search__visits": 0,
    "search__simulations": 3,
    "selfplay__games": 6,
    "training__generation_positions": 24,
    "training__batch_size": 8,
    "training__window_start": 60,
    "training__reuse": 1.5,
    "run__backend": "auto",
}


def run(*arguments):
    """The exit code, and what was written."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        with contextlib.redirect_stderr(io.StringIO()) as err:
            code = main(arguments)
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


@contextlib.contextmanager
def writing_nothing_beside():
    """Within, there is no room on disk for what other threads than this one write."""
    whole, here = os.fsync, threading.current_thread()

    def full(descriptor):
        if threading.current_thread() is not here:
            raise OSError(28, "No space left on device")
        whole(descriptor)

    os.fsync = full
    try:
        yield
    finally:
        os.fsync = whole


def play_in_little_room(folder):
    """What comes of a generation whose store takes few moves, and of one that takes none."""
    (config, _), game = folder.read_config(), folder.read_game()
    network = make_network(game, config.network, 0)
    generator, found = GpuGenerator(folder, config, game, network, "cpu"), []
    for generation, moves in ((8, 40), (9, 0)):
        generator.begin(generation, 0)
        generator._store.limits[1] = moves
        generator._store.taken.zero_()
        generator._counts = []
        generator._start_harvest()
        try:
            played = generator.play(generation, 0, lambda *_: None, math.inf)
            found.append(len(played.positions.states))
        except ValueError as error:
            found.append(str(error))
    generator.wait_until_saved()
    return found


@contextlib.contextmanager
def noting_generations_begun():
    """Yields a list, to which each generation is added that is begun within."""
    begin, begun = GpuGenerator.begin, []

    def noted(self, generation, step):
        begun.append(generation)
        begin(self, generation, step)

    GpuGenerator.begin = noted
    try:
        yield begun
    finally:
        GpuGenerator.begin = begin


class Counted:
    """The counts of a harvest that has come back."""

    def __init__(self, generator, **counts):
        self._counts = generator._store.taken.numpy().copy()
        for name, count in counts.items():
            self._counts[getattr(harvest, name)] = count

    def array(self):
        return self._counts


def play_with_a_late_fault(folder):
    """The error of a generation in whose last harvest, beyond what was asked for, rules broke."""
    (config, _), game = folder.read_config(), folder.read_game()
    generator = GpuGenerator(folder, config, game, make_network(game, config.network, 0), "cpu")
    generator.begin(7, 0)
    enough = {"TARGETS": config.training.generation_positions}
    generator._counts = [
        Counted(generator, **enough),
        Counted(generator, **enough, FAULTS=NO_LEGAL_ACTION),
    ]
    try:
        generator.play(7, 0, lambda *_: None, math.inf)
    except RuleFault as error:
        return str(error)


def run_all(path):
    """What came of each command, by what it is about."""
    folder, told = RunFolder(path / "cuda"), {}
    begin = [*train_arguments(folder.path, 1, **SMALL), "--device", "cuda"]
    with noting_generations_begun() as told["generations begun"]:
        told["begun"] = run(*begin)
    shutil.copy(folder.state_file, path / "state")
    told["gone on"] = run("train", str(folder.path), "--generations", "2")
    shutil.copytree(folder.path, path / "killed")
    # As a process leaves it that is killed before it has committed its second generation.
    shutil.copy(path / "state", path / "killed" / folder.state_file.name)
    told["killed"] = run("train", str(path / "killed"), "--generations", "2")
    told["on the cpu"] = run(
        *("train", str(folder.path), "--generations", "3", "--device", "cpu"),
        *("--set", "run.backend=torch"),
    )
    begin = [*train_arguments(path / "full", 1, **SMALL), "--device", "cuda"]
    with writing_nothing_beside():
        told["full disk"] = run(*begin)
    told["room again"] = run(*begin)
    shutil.copytree(path / "full", path / "little")
    with contextlib.redirect_stderr(io.StringIO()):
        told["little room"] = play_in_little_room(RunFolder(path / "little"))
    told["late fault"] = play_with_a_late_fault(RunFolder(path / "little"))
    told["not there"] = run(*train_arguments(path / "other", 1, **SMALL), "--device", "cuda:3")
    return told


if __name__ == "__main__":
    json.dump(run_all(Path(sys.argv[1])), sys.stdout)
