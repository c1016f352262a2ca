"""`plainzero doctor` on folders: real runs that cannot learn, what it prints, what it refuses."""

import json

import pytest

from plainzero import make_game
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import change, default_config, resolve_run

pytestmark = pytest.mark.slow

TINY = (
    "network.kind=mlp",
    "network.layers=1",
    "network.width=16",
    "search.selection=puct",
    "search.visits=9",
    "selfplay.games=16",
    "training.generation_positions=200",
    "training.batch_size=16",
    "training.precision=float32",
    "run.backend=torch",
    "run.assess_seconds=0",
)


@pytest.fixture
def trained(plainzero, tmp_path):
    """Trains tic-tac-toe for some generations with these settings; the findings by kind."""

    def train(*settings, generations=8):
        folder = str(tmp_path / "run")
        arguments = ["train", "tic-tac-toe", "--run", folder, "--threads", "1", "--seed", "1"]
        for setting in (*TINY, *settings):
            arguments += ["--set", setting]
        code, _, err = plainzero(*arguments, "--generations", str(generations))
        assert code == 0, err
        code, out, err = plainzero("doctor", folder, "--json")
        assert (code, err) == (0, "")
        answer = json.loads(out)
        assert answer["generations"] == generations and answer["game"] == "tic-tac-toe"
        assert answer["latest"]["generation"] == generations
        return {finding["kind"]: finding for finding in answer["findings"]}

    return train


def test_real_run_without_a_trained_value_has_collapsed(trained):
    finding = trained("training.value_weight=0")["value collapse"]
    assert finding["severity"] == "problem" and "training.value_weight=1" in finding["advice"]


def test_real_run_without_chance_explores_nothing(trained):
    found = trained("search.noise_weight=0", "selfplay.temperature=0", "selfplay.opening_share=0")
    assert found["no exploration"]["severity"] == "problem"


def test_real_run_whose_policy_stands_still_is_told_so(trained):
    found = trained("training.learning_rate=1e-9")
    assert found["policy not learning"]["severity"] == "problem"


def test_real_run_as_it_should_be_has_no_problem(trained):
    found = trained()
    assert not any(finding["severity"] == "problem" for finding in found.values())
    assert "value collapse" not in found and "policy not learning" not in found


def write_run(path, lines, *settings):
    """A run's folder with a config and metrics, and nothing else."""
    game = make_game("connect-four")
    folder = RunFolder(path)
    folder.make()
    config = resolve_run(change(default_config(game), list(settings)), game)
    folder.write_config(config, game, "connect-four")
    folder.metrics_file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def line(generation, **numbers):
    return {"generation": generation, "step": 20 * generation, "total_games": 9, **numbers}


def test_findings_are_shown_worst_first_with_what_to_set(plainzero, tmp_path):
    lines = [line(g, draw_rate=1.0, cache_hit_rate=0.0, loss=2.0) for g in range(1, 9)]
    code, out, err = plainzero(
        "doctor", write_run(tmp_path / "run", lines, "search.selection=puct", "search.visits=1")
    )
    assert (code, err) == (0, "")
    places = [out.index(word) for word in ("problem  all draws", "warning  search starved")]
    places.append(out.index("note  cache useless"))
    assert places == sorted(places)
    assert "100% of the latest games are drawn" in out and "→ Set run.cache_bytes=0" in out
    assert "No problems found" not in out


def test_healthy_run_is_said_to_be_healthy_with_its_figures(plainzero, tmp_path):
    lines = [line(g, loss=3.0 - g / 10, draw_rate=0.1, accuracy=0.1 * g) for g in range(1, 9)]
    code, out, _ = plainzero("doctor", write_run(tmp_path / "run", lines))
    assert code == 0 and "No problems found so far" in out
    assert "2.900" in out and "2.200" in out and "80.0%" in out


def test_run_without_a_generation_can_be_read(plainzero, tmp_path):
    code, out, _ = plainzero("doctor", write_run(tmp_path / "run", []))
    assert code == 0 and "No generation is complete yet." in out


def test_json_has_no_nan(plainzero, tmp_path):
    lines = [line(g, loss=float("nan")) for g in range(1, 3)]
    code, out, _ = plainzero("doctor", write_run(tmp_path / "run", lines), "--json")
    answer = json.loads(out, parse_constant=pytest.fail)
    assert code == 0 and answer["latest"]["loss"] is None
    assert answer["findings"][0]["kind"] == "loss not finite"


def test_what_is_no_run_is_refused(refused, tmp_path):
    assert "there is no run folder" in refused("doctor", str(tmp_path / "none"))
    assert "config.toml" in refused("doctor", str(tmp_path))
