"""What a run remembers: where it ends, which engine it has, and of which rules it is."""

import pytest
from tiny_runs import SETTINGS

from plainzero import make_game
from plainzero.cli.main import main
from plainzero.networks.network_evaluators import available_engines
from plainzero.training.metrics import read_metrics
from plainzero.training.run_folder import RunFolder
from plainzero.training.saved_run import open_run
from plainzero.training.settings import change, default_config, measure_engine, resolve_run

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
    assert "has reached its limit already (1 generations" in capsys.readouterr().err
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
    measured = measure_engine(config, TIC_TAC_TOE)
    assert measured.run.engine in ("torch", "torch-bf16", "torch-int8", "onnx")


def test_an_engine_that_there_is_not_is_refused_and_not_kept(tmp_path, capsys):
    folder = tmp_path / "run"
    assert train(folder, "--generations=1") == 0
    assert train(folder, "--generations=2", "--set=run.engine=abacus") == 2
    assert "there is no engine 'abacus'" in capsys.readouterr().err
    assert train(folder, "--generations=2") == 0


def test_an_engine_left_open_when_going_on_is_measured_and_written(tmp_path):
    folder = tmp_path / "run"
    assert train(folder, "--generations=1") == 0
    assert train(folder, "--generations=2", "--set=run.engine=auto") == 0
    assert RunFolder(folder).read_config()[0].run.engine in available_engines(
        open_run(folder).network()
    )


def test_players_of_a_run_have_its_own_engine(tmp_path):
    folder = tmp_path / "run"
    assert train(folder, "--generations=1") == 0
    assert open_run(folder).evaluator().engine == "torch"


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
