"""What a run remembers: its limits, its backend, and the version of its rules."""

import inspect
import time
from pathlib import Path

import pytest
from tiny_runs import SETTINGS

from plainzero import make_game
from plainzero.cli.main import main
from plainzero.networks.network_evaluators import available_backends
from plainzero.training.generator import CpuGenerator
from plainzero.training.loop import Limits, Run
from plainzero.training.metrics import read_metrics
from plainzero.training.run_folder import RunFolder
from plainzero.training.saved_run import open_run
from plainzero.training.settings import change, default_config, measure_backend, resolve_run

TIC_TAC_TOE = make_game("tic-tac-toe")


def train(folder, *arguments, what="tic-tac-toe"):
    settings = [f"--set={name}={value}" for name, value in SETTINGS.items()]
    settings = [] if folder.exists() else settings
    return main(["train", what, f"--run={folder}", "--threads=1", *settings, *arguments])


def generations(folder):
    return len(read_metrics(RunFolder(folder).metrics_file))


def test_a_run_goes_on_to_the_end_it_was_given(tmp_path, capsys):
    folder = tmp_path / "run"
    assert train(folder, "--generations=1") == 0
    assert RunFolder(folder).read_config()[0].run.generations == 1
    assert train(folder) == 2
    assert "reached its limit (1 generation); raise --generations" in capsys.readouterr().err
    assert train(folder, "--generations=2") == 0
    assert generations(folder) == 2


def test_a_new_run_without_limits_has_the_usual_minutes(tmp_path):
    folder = tmp_path / "run"
    assert train(folder, "--set=run.generations=1") == 0
    config = RunFolder(folder).read_config()[0]
    assert (config.run.minutes, config.run.generations) == (0.0, 1)


def test_automatic_choices_are_written_as_they_were_made():
    config = resolve_run(default_config(TIC_TAC_TOE), TIC_TAC_TOE)
    assert config.training.precision in ("float32", "bfloat16")
    assert config.run.threads >= 1
    measured = measure_backend(config, TIC_TAC_TOE)
    assert measured.run.backend in ("torch", "torch-bf16", "torch-int8", "onnx")


def test_a_backend_that_there_is_not_is_refused_and_not_kept(tmp_path, capsys):
    folder = tmp_path / "run"
    assert train(folder, "--generations=1") == 0
    assert train(folder, "--generations=2", "--set=run.backend=abacus") == 2
    assert "unknown backend 'abacus'" in capsys.readouterr().err
    assert train(folder, "--generations=2") == 0


def test_a_backend_left_open_when_going_on_is_measured_and_written(tmp_path):
    folder = tmp_path / "run"
    assert train(folder, "--generations=1") == 0
    assert train(folder, "--generations=2", "--set=run.backend=auto") == 0
    assert RunFolder(folder).read_config()[0].run.backend in available_backends(
        open_run(folder).network()
    )


def test_players_of_a_run_have_its_own_backend(tmp_path):
    folder = tmp_path / "run"
    assert train(folder, "--generations=1") == 0
    assert open_run(folder).evaluator().backend == "torch"


@pytest.mark.parametrize(
    ("old", "new"), [("torch", "torch"), ("torch-int8", "torch-int8"), ("cuda-bf16", "gpu-bf16")]
)
def test_a_run_that_still_calls_its_backend_an_engine_is_read(tmp_path, old, new):
    folder = RunFolder(tmp_path)
    folder.write_config(default_config(TIC_TAC_TOE), TIC_TAC_TOE, "tic-tac-toe")
    written = folder.config_file.read_text()
    folder.config_file.write_text(written.replace('backend = "auto"', f'engine = "{old}"'))
    assert folder.read_config()[0].run.backend == new


def test_no_limit_of_time_ends_a_run_before_its_first_generation(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Limits, "progress", lambda *_: 1.5)
    monkeypatch.setattr(Run, "_seconds_left", lambda *_: -1.0)
    assert train(tmp_path / "run", "--minutes=1") == 0
    assert generations(tmp_path / "run") == 1
    assert train(tmp_path / "run", "--minutes=1") == 2  # it has reached its limit
    error = capsys.readouterr().err
    assert "minutes); raise --minutes" in error and "generation" not in error


def test_compiling_does_not_count(tmp_path, monkeypatch):
    prepared = []

    def slowly(generator):
        time.sleep(0.5)
        prepared.append(time.monotonic())

    monkeypatch.setattr(CpuGenerator, "prepare", slowly)
    assert train(tmp_path / "run", "--generations=1") == 0
    (line,) = read_metrics(RunFolder(tmp_path / "run").metrics_file)
    assert 0 < line["seconds"] <= time.monotonic() - prepared[0]


def test_rules_that_changed_are_noticed(tmp_path, caplog):
    folder = tmp_path / "run"
    assert train(folder, "--generations=1") == 0
    assert "have changed since" not in caplog.text
    config = RunFolder(folder).config_file
    written = config.read_text()
    assert written.count(TIC_TAC_TOE.source_digest) == 1
    config.write_text(written.replace(TIC_TAC_TOE.source_digest, "0" * 64))
    assert train(folder, "--generations=2") == 0
    assert "have changed since" in caplog.text


def test_a_game_in_a_folder_with_an_emoji_can_be_resumed(tmp_path):
    source = Path(inspect.getfile(type(TIC_TAC_TOE)))
    folder, file = tmp_path / "run", tmp_path / "🎲 games" / 'my "own" game.py'
    file.parent.mkdir()
    file.write_text(source.read_text())
    assert train(folder, "--generations=1", what=f"{file}:TicTacToe") == 0
    assert RunFolder(folder).read_config()[1]["game"] == f"{file.resolve()}:TicTacToe"
    assert train(folder, "--generations=2", what=str(folder)) == 0


def test_a_run_from_before_the_project_was_renamed_can_be_resumed(tmp_path):
    folder = tmp_path / "run"
    assert train(folder, "--generations=1") == 0
    config = RunFolder(folder).config_file
    about, rest = config.read_text().split("[network]")
    assert rest.count("backend = ") == 1
    rest = rest.replace("backend = ", "engine = ")
    config.write_text(about.replace("plainzero = ", "tesuji = ") + "[network]" + rest)
    assert "tesuji" in open_run(folder).folder.read_config()[1]
    assert train(folder, "--generations=2") == 0


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_the_loss_that_is_reported_is_the_one_that_is_minimised(tmp_path, optimizer):
    folder = tmp_path / "run"
    settings = [f"--set=training.optimizer={optimizer}", "--set=training.value_weight=0.25"]
    assert train(folder, "--generations=1", *settings) == 0
    line = read_metrics(RunFolder(folder).metrics_file)[-1]
    expected = line["policy_loss"] + 0.25 * line["value_loss"]
    assert line["loss"] == pytest.approx(expected, rel=1e-4)


def test_every_setting_can_be_changed_by_its_path():
    config = change(default_config(TIC_TAC_TOE), ["training.reuse=1.5", "run.minutes=3"])
    assert (config.training.reuse, config.run.minutes) == (1.5, 3.0)
