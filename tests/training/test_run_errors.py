"""Errors of a run: one sentence, nothing lost, and the same command resumes."""

import os
import shutil

import pytest
import torch
from tiny_runs import as_key, check_whole, games_of, unclocked_metrics, weights_of
from tiny_runs import train_arguments as any_arguments

from plainzero.cli.main import main
from plainzero.training.run_folder import RunFolder

pytestmark = pytest.mark.slow


def train_arguments(folder, generations, **changes):
    """At a constant rate, so that a run is the same whenever it was to end at first."""
    return any_arguments(folder, generations, training__schedule="constant", **changes)


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    """A run of three generations, which nothing ever disturbed."""
    folder = tmp_path_factory.mktemp("runs") / "longer"
    assert main(train_arguments(folder, 3)) == 0
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "finished"
    assert main(train_arguments(folder, 2)) == 0
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    """A run of two generations, to spoil."""
    return shutil.copytree(finished, tmp_path / "run")


@pytest.fixture
def refused(capfd):
    """Runs what must be refused with one sentence; returns that."""

    def run(*arguments):
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        sentence = capfd.readouterr().err
        assert code == 2
        assert sentence.startswith("plainzero: ") and sentence.count("\n") == 1
        return sentence

    return run


def contents_of(folder):
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path): path.read_bytes() for path in paths if "events" not in path.parts}


# ---- the folder ----------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_made(refused, tmp_path):
    (tmp_path / "file").write_text("")
    sentence = refused(*train_arguments(tmp_path / "file" / "run", 1))
    assert "file/run: Not a directory" in sentence


def test_a_folder_that_another_process_uses(refused, folder):
    before = contents_of(folder)
    half_written = folder / "weights" / ".00000099.safetensors.0.partial"
    half_written.write_text("")
    with RunFolder(folder).locked():
        half_written.write_text("")
        sentence = refused("train", folder, "--generations", "3")
        assert half_written.exists()
    assert f"is in use by process {os.getpid()}" in sentence and "--run" in sentence
    half_written.unlink()
    assert contents_of(folder) == before


def test_what_was_left_half_written_is_removed(folder):
    half_written = folder / "games" / ".000003.aa.parquet.0.partial"
    half_written.write_text("")
    assert main(["train", str(folder), "--generations", "3"]) == 0
    assert not half_written.exists()


def test_a_folder_with_a_run_of_another_game(refused, folder):
    sentence = refused("train", "trio", "--run", folder)
    assert "is a run of tic-tac-toe; choose another --run folder" in sentence


def test_a_run_and_another_folder(refused, folder, tmp_path):
    assert "is already a run; leave out --run" in refused(
        "train", folder, "--run", tmp_path / "other"
    )


def test_a_limit_that_is_reached(refused, folder):
    sentence = refused("train", folder, "--generations", "2")
    assert "reached its limit (2 generations" in sentence


# ---- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("training.batch_sise=3", "did you mean batch_size?"),
        ("trainig.batch_size=3", "write section.option=value, where section is one of network"),
        ("batch_size", "invalid setting 'batch_size'; write section.option=value"),
        ("training.batch_size=many", "batch_size is 'many'; it must be a whole number"),
        ("training.batch_size=0", "batch_size is 0; it must be 1 or more"),
        ("search.seconds=3", "leave seconds and nodes at 0"),
        ("training.momentum=0.5", "momentum is 0.5, but has an effect only with optimizer=sgd"),
        ("training.priority_correction=1", "has an effect only with priority > 0"),
        ("training.warmup_steps=-1", "warmup_steps is -1; it cannot be negative"),
        ("selfplay.cheap_simulations=4", "has an effect only with full_share < 1"),
        ("selfplay.resign_turns=3", "has an effect only with resign_below > 0"),
        ("network.values=players,mover", "values is 'players,mover'; choose one of"),
    ],
)
def test_settings_that_make_no_sense(refused, tmp_path, setting, message):
    sentence = refused("train", "tic-tac-toe", "--run", tmp_path / "run", "--set", setting)
    assert message in sentence
    assert not (tmp_path / "run").exists()


def test_a_backend_that_there_is_not(refused, tmp_path):
    arguments = train_arguments(tmp_path / "run", 1, run__backend="abacus")
    assert "unknown backend 'abacus'; choose auto, torch" in refused(*arguments)


def test_a_network_of_another_shape_in_the_same_run(refused, folder):
    before = contents_of(folder)
    sentence = refused("train", folder, "--set", "network.blocks=2", "--generations", "3")
    assert "network settings cannot change after the start: use another --run folder" in sentence
    assert contents_of(folder) == before


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "channels = 8",
            "channels = 9",
            "cannot be resumed: the saved state is of another network",
        ),
        ("channels = 8", "chanels = 8", "config.toml: "),
        ("channels = 8", "channels = '8'", "channels is '8'; it must be a whole number"),
        ("[search]", "[serch]", "has no section 'search'"),
        ("[search]", "[colours]\nred = 1\n[search]", "unknown section 'colours'"),
        ("[about]", "[aboot]", "has no section 'about'"),
        ("[about]", "[about", "config.toml cannot be read: "),
        ('game = "tic-tac-toe"', 'game = "tic-tac-tow"', ": there is no game"),
        ('game = "tic-tac-toe"', 'gaem = "tic-tac-toe"', "cannot load the game of "),
    ],
)
def test_a_config_that_was_edited_wrongly(refused, folder, old, new, message):
    edit(folder / "config.toml", old, new)
    before = contents_of(folder)
    assert message in refused("train", folder, "--generations", "3")
    assert contents_of(folder) == before


def test_a_config_that_is_no_text(refused, folder):
    (folder / "config.toml").write_bytes(b"\xff\xfe\x00")
    assert "config.toml cannot be read" in refused("train", folder, "--generations", "3")


def test_settings_can_be_changed_between(folder):
    arguments = ["train", str(folder), "--generations", "3", "--set", "selfplay.games=4"]
    assert main([*arguments, "--set", "training.learning_rate=0.001"]) == 0
    text = (folder / "config.toml").read_text()
    assert "learning_rate = 0.001" in text and "games = 4" in text
    assert len(unclocked_metrics(folder)) == 3


# ---- files that are missing or damaged -----------------------------------------------------------


def test_a_missing_config(refused, folder):
    (folder / "config.toml").unlink()
    assert "is not a run: its config.toml is missing" in refused("train", folder)
    sentence = refused("train", "tic-tac-toe", "--run", folder)
    assert "has a state.safetensors but no config.toml" in sentence
    assert not (folder / "config.toml").exists()


def test_a_missing_state(refused, folder):
    (folder / "state.safetensors").unlink()
    before = contents_of(folder)
    sentence = refused("train", folder, "--generations", "3")
    assert "state.safetensors is missing, but the run had 2 generations" in sentence
    assert contents_of(folder) == before


def damage(path):
    contents = bytearray(path.read_bytes())
    contents[-20] ^= 1
    path.write_bytes(contents)


@pytest.mark.parametrize("harm", [damage, lambda path: path.write_bytes(b"")])
def test_a_damaged_state(refused, folder, harm):
    harm(folder / "state.safetensors")
    sentence = refused("train", folder, "--generations", "3")
    assert "state.safetensors" in sentence and "restore a copy of that file" in sentence


@pytest.mark.parametrize("harm", [damage, lambda path: path.unlink()])
def test_lost_weights_are_written_again(folder, longer, caplog, harm):
    path = sorted((folder / "weights").iterdir())[-1]
    harm(path)
    assert main(["train", str(folder), "--generations", "3"]) == 0
    assert "restored from" in caplog.text and path.name in caplog.text
    assert weights_of(folder) == weights_of(longer)


def test_a_damaged_shard_is_set_aside(folder, caplog):
    shard = sorted((folder / "games").glob("*.parquet"))[0]
    damage(shard)
    assert main(["train", str(folder), "--generations", "3"]) == 0
    assert shard.name in caplog.text and "damaged" in caplog.text
    assert (folder / "games" / "damaged" / shard.name).exists()
    assert len(unclocked_metrics(folder)) == 3


@pytest.mark.parametrize("harm", [damage, lambda path: path.unlink()])
def test_lost_games_in_progress_are_dropped(folder, caplog, harm):
    harm(folder / "games" / "ongoing.000002.safetensors")
    before = games_of(folder)
    assert main(["train", str(folder), "--generations", "3"]) == 0
    assert "dropping the games in progress" in caplog.text
    games = games_of(folder)
    assert games[: len(before)] == before
    openings = {moves for moves, _ in before}
    assert not {moves for moves, _ in games[len(before) :]} <= openings


def test_a_journal_beside_its_shard_is_not_counted_twice(folder, finished, longer):
    """As after a kill between the two."""
    from plainzero.selfplay.shards import Journal, list_shards, read_shard

    for threads in ("1", "2"):
        run = RunFolder(shutil.copytree(folder, folder.with_name(f"threads{threads}")))
        shards = list_shards(RunFolder(longer).games)
        shutil.copy(shards[2].path, run.games)
        game = run.read_game()
        Journal(run.journal, game).append(read_shard(game, shards[2]))
        assert main(["train", str(run.path), "--generations", "4", "--threads", threads]) == 0
        games = games_of(run.path)
        assert games[: len(games_of(longer))] == games_of(longer)
        assert unclocked_metrics(run.path)[-1]["total_games"] == len(games)
        counted, new = (
            [as_key(r._asdict()) for r in read_shard(game, s)]
            for s in (shards[2], list_shards(run.games)[3])
        )
        assert len(set(counted) & set(new)) < len(counted) / 2


def test_finished_games_outlive_a_change_of_settings(folder, longer):
    from plainzero.selfplay.shards import Journal, list_shards, read_shard

    run = RunFolder(folder)
    game = run.read_game()
    records = read_shard(game, list_shards(RunFolder(longer).games)[2])[:9]
    Journal(run.journal, game).append(records)
    arguments = ["train", str(folder), "--generations", "3", "--set", "search.visits=6"]
    assert main(arguments) == 0
    assert {as_key(record._asdict()) for record in records} <= set(games_of(folder))
    assert len(unclocked_metrics(folder)) == 3 and games_of(folder) != games_of(longer)


# ---- while it runs -------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0, 3, 7, 12])
def test_a_full_disk(refused, longer, tmp_path, monkeypatch, after):
    """Whichever file it is that does not fit any more."""
    whole, count = os.fsync, 0

    def full(descriptor):
        nonlocal count
        count += 1
        if count > after:
            raise OSError(28, "No space left on device")
        whole(descriptor)

    folder = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        sentence = refused(*train_arguments(folder, 3))
    assert f"cannot write {folder}: No space left on device; what was saved" in sentence
    check_whole(folder)
    assert main(train_arguments(folder, 3)) == 0
    assert weights_of(folder) == weights_of(longer) and games_of(folder) == games_of(longer)


@pytest.mark.parametrize("most_bytes", [300, 6_000, 30_000])
def test_files_that_may_not_grow(server, longer, tmp_path, most_bytes):
    """A real refusal of the system, in the middle of a file; it stands for a full disk."""
    folder = tmp_path / "run"
    assert server.run(train_arguments(folder, 3), most_bytes=most_bytes) == 2
    printed = server.output.read_text()
    assert ": File too large" in printed and "Traceback" not in printed
    assert server.run(train_arguments(folder, 3)) == 0
    check_whole(folder)
    assert weights_of(folder) == weights_of(longer) and games_of(folder) == games_of(longer)


@pytest.mark.parametrize("fault", [MemoryError, torch.OutOfMemoryError])
def test_memory_that_is_not_enough(refused, folder, longer, monkeypatch, fault):
    def fail(*_):
        raise fault("4 GiB were asked for")

    with monkeypatch.context() as patched:
        patched.setattr("plainzero.training.learner.CpuLearner.learn", fail)
        sentence = refused("train", folder, "--generations", "3")
    assert f"not enough memory for {folder}; lower selfplay.games" in sentence
    assert main(["train", str(folder), "--generations", "3"]) == 0
    assert weights_of(folder) == weights_of(longer)


def test_a_learning_rate_that_is_too_large(refused, folder, longer):
    rate = ("--set", "training.learning_rate=1e30", "--set", "training.clip_norm=1e30")
    sentence = refused("train", folder, "--generations", "3", *rate)
    assert "set a smaller training.learning_rate" in sentence
    back = ("--set", "training.learning_rate=0.002", "--set", "training.clip_norm=1.0")
    assert main(["train", str(folder), "--generations", "3", *back]) == 0
    assert games_of(folder) == games_of(longer)
