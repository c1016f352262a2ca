"""Model cards, written beside an exported network from a measured run."""

import json

import pytest

from plainzero import make_game
from plainzero.arena.yardsticks.measurement import Measurement
from plainzero.bench.learning import LearnedGame, LearningReport, Strength, Training
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.weights import save_weights
from plainzero.opponents.network_files import read_network_file
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import RunConfig, resolve_run

GAME = make_game("tic-tac-toe")
COMMAND = "plainzero train tic-tac-toe --minutes 2 --seed 0"


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "run", NetworkConfig(blocks=1, channels=8))


def write_run(path, network):
    """A run of 40 generations, 3 seconds each, with the last two steps' weights."""
    folder = RunFolder(path)
    folder.make()
    folder.write_config(resolve_run(RunConfig(network=network), GAME), GAME, "tic-tac-toe")
    for step in (390, 400):
        save_weights(make_network(GAME, network, 0), folder.weights_file(step), {})
    lines = [
        {
            "generation": number,
            "step": 10 * number,
            "seconds": 3.0 * number,
            "total_games": 100 * number,
            "total_positions": 650 * number,
            "policy_loss": 2.0 - number / 100,
            "value_loss": 0.9 - number / 100,
        }
        | ({"rating": 5.0 * number} if number % 10 == 0 else {})
        for number in range(1, 41)
    ]
    folder.metrics_file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder.path


@pytest.fixture
def report(tmp_path):
    measured = {
        1: Measurement(0.5, None, "2 games"),
        100: Measurement(0.975, (0.9, 1.0), "40 games", {"won": 0, "lost": 1}),
    }
    at = Strength(1.0, 120.0, 400, 4000, 26000, 216.7, 1.6, 0.5, measured)
    trainer = {"gpu": "Some GPU", "cpu": "Some CPU", "cores": 16, "system": "Linux"}
    training = Training(COMMAND, "2026-11-18", 126.0, trainer, {"numba": "0.68.1"})
    row = LearnedGame(GAME.name, training, "not lost to perfect", 1.0, 3.0, [at])
    measurer = {"cpu": "Another CPU", "cores": 2, "system": "Linux"}
    found = LearningReport("2026-11-19", measurer, {"numba": "0.69"}, {}, [row])
    path = tmp_path / "learning.json"
    path.write_text(json.dumps(found.as_dict()))
    return path


def test_a_card_states_command_time_strength_and_curve(plainzero, run, report, tmp_path):
    weights = tmp_path / "tic-tac-toe.safetensors"
    code, _, err = plainzero("export", str(run), "--weights", str(weights), "--card", str(report))
    assert (code, err) == (0, "")
    lines = (tmp_path / "tic-tac-toe.md").read_text().splitlines()
    assert lines[0] == "# tic-tac-toe"
    for line in (
        f"| Command | `{COMMAND}` |",
        "| Date | 2026-11-18 |",
        "| Machine | Some GPU, 16 cores of Some CPU |",
        "| Versions | numba 0.68.1 |",
        "| Wall clock | 2.1 minutes for the whole command |",
        "| Time | 2.0 minutes of the run's clock |",
        "| Self-play | 4,000 games, 26,000 positions |",
        "| Network | residual, 1 blocks of 8 channels; step 400; 0.0 MB |",
        "Yardstick: not lost to perfect, target 100 %. In parentheses: 95 % intervals.",
        "| 120 | 1 | 50.0 % | 2 games |",
        "| 120 | 100 | 97.5 % (90.0–100.0) | 40 games |",
        "At the end, 100 simulations: won 0, lost 1.",
        "| minutes | generation | games | positions | policy loss | value loss | rating |",
        "| 2.00 | 40 | 4,000 | 26,000 | 1.600 | 0.500 | +200 |",
    ):
        assert line in lines
    assert 10 <= len(lines) - lines.index("## Learning curve") - 4 <= 13
    about = read_network_file(weights).about
    assert about.startswith(f"{COMMAND}; 2026-11-18; not lost to perfect: ")
    assert about.endswith("97.5 % (90.0–100.0) with 100 simulations")


def test_a_card_of_a_run_that_the_bench_did_not_train_leaves_out_what_is_unknown(
    plainzero, run, report, tmp_path
):
    found = json.loads(report.read_text())
    found["rows"][0]["training"] = None
    report.write_text(json.dumps(found))
    weights = tmp_path / "tic-tac-toe.safetensors"
    plainzero("export", str(run), "--weights", str(weights), "--card", str(report))
    lines = (tmp_path / "tic-tac-toe.md").read_text().splitlines()
    assert lines[6:8] == ["| Command | unknown |", "| Time | 2.0 minutes of the run's clock |"]
    assert read_network_file(weights).about.startswith("not lost to perfect: ")


def test_a_card_states_the_size_of_an_mlp(plainzero, report, tmp_path):
    run = write_run(tmp_path / "run", NetworkConfig(kind="mlp", layers=3, width=16))
    weights = tmp_path / "tic-tac-toe.safetensors"
    plainzero("export", str(run), "--weights", str(weights), "--card", str(report))
    card = (tmp_path / "tic-tac-toe.md").read_text()
    assert "| Network | mlp, 3 layers of 16 units; step 400; 0.0 MB |" in card


def test_a_report_of_another_run_is_refused(refused, run, report, tmp_path):
    weights = tmp_path / "tic-tac-toe.safetensors"
    arguments = ("export", str(run), "--weights", str(weights), "--card", str(report))
    text = report.read_text()
    for wrong, words in (
        (text.replace("tic-tac-toe", "trio"), "has no measurement of"),
        (text.replace('"step": 400', '"step": 401'), "has no measurement of"),
        (text[:-5], "is not what `plainzero bench learning --json` prints"),
        ("[]", "is not what"),
    ):
        report.write_text(wrong)
        assert words in refused(*arguments)
        assert not weights.exists()
    assert "--card describes a weights file" in refused(
        "export", str(run), "--onnx", "x", *arguments[-2:]
    )


def test_a_network_that_was_not_measured_says_so(plainzero, run, report, tmp_path):
    found = json.loads(report.read_text())
    found["rows"][0]["strengths"][0]["measured"] = {}
    report.write_text(json.dumps(found))
    weights = tmp_path / "x.safetensors"
    plainzero(
        "export", str(run), "--weights", str(weights), "--card", str(report), "--about", "mine"
    )
    assert "Not measured." in (tmp_path / "x.md").read_text()
    assert read_network_file(weights).about == "mine"
