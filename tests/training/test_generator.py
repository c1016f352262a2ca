"""The games of a generation: each once however often it was interrupted, and faults at once."""

import math
from collections import Counter

import pytest
from tiny_runs import SETTINGS

from plainzero import make_game
from plainzero.networks.architectures import make_network
from plainzero.selfplay.shards import Journal, list_shards, read_shard
from plainzero.training.generator import CpuGenerator
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import change, default_config, resolve_run

GAME = make_game("tic-tac-toe")


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "run")


def make_folder(path):
    folder = RunFolder(path)
    folder.make()
    return folder


def make_generator(folder, threads=1, **changes):
    changes = SETTINGS | {name.replace("__", "."): value for name, value in changes.items()}
    settings = [f"{name}={value}" for name, value in changes.items()]
    config = resolve_run(change(default_config(GAME), settings), GAME)
    return CpuGenerator(folder, config, GAME, make_network(GAME, config.network, 1), threads)


def play(generator, until=lambda: False):
    """The generation, or None where that has come before."""

    def on_progress(*_):
        if until():
            generator.stop()

    return generator.play(1, 0, on_progress, seconds=math.inf)


def counted(records):
    return Counter((record.moves.tobytes(), record.policies.tobytes()) for record in records)


def journaled(folder):
    return counted(Journal(folder.journal, GAME).read())


def games_in(folder):
    """The games of the only generation."""
    (shard,) = list_shards(folder.games)
    return counted(read_shard(GAME, shard))


def interrupt(folder, more, **options):
    """Plays until the journal has so many more games, at least, and no further."""
    goal = journaled(folder).total() + more
    generator = make_generator(folder, **options)
    assert play(generator, lambda: journaled(folder).total() >= goal) is None
    assert journaled(folder).total() >= goal


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"search__visits": 8}, {"search__visits": 12}),
        ({"threads": 2}, {"threads": 1}),
    ],
    ids=["other settings", "a thread less"],
)
def test_every_game_is_kept_once_after_changes_and_kills(
    folder, tmp_path, before, after, monkeypatch
):
    """All that an undisturbed process plays, and what was there before and does not come again."""
    monkeypatch.setattr("plainzero.training.generator._PROGRESS_EVERY", 0.0)
    many = {"training__generation_positions": 400}
    interrupt(folder, 20, **many, **before)
    early = journaled(folder)
    for _ in range(3):
        interrupt(folder, 2, **many, **after)
    played = play(make_generator(folder, **many, **after))
    other = make_folder(tmp_path / "other")
    play(make_generator(other, **many, **after))
    kept, undisturbed = games_in(folder), games_in(other)
    assert played.games == kept.total()
    assert kept == undisturbed | early
    assert early - undisturbed


@pytest.mark.parametrize("faulty", [0, 1])
def test_a_fault_in_any_thread_ends_the_generation(folder, faulty):
    generator = make_generator(folder, threads=2, training__generation_positions=10**9)

    def broken(planes):
        raise ArithmeticError("no answer")

    generator._workers[faulty].evaluator = broken
    with pytest.raises(ArithmeticError, match="no answer"):
        generator.play(1, 0, lambda *_: None, seconds=math.inf)
