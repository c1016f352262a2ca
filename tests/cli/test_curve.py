"""`plainzero curve`: a run's weights over time, on solved positions."""

import json

import pytest
import torch

from plainzero import make_game
from plainzero.arena.error_curve import CurvePoint, first_reached, spread
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.weights import save_weights
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import change, default_config, resolve_run

GAME = make_game("tic-tac-toe")
CPU = ("--device", "cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of three generations, with weights that were drawn."""
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "first")
    folder.make()
    settings = ["network.blocks=1", "network.channels=8", "run.backend=torch"]
    config = resolve_run(change(default_config(GAME), settings), GAME)
    folder.write_config(config, GAME, GAME.name)
    network = make_network(GAME, config.network, 0)
    lines = []
    for generation, step in enumerate((10, 20, 30), 1):
        save_weights(network, folder.weights_file(step), {})
        lines.append({"generation": generation, "step": step, "seconds": 5.0 * generation})
        torch.manual_seed(generation)
        network = draw_zeros(network)
    folder.metrics_file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_every_point_has_the_errors_of_its_weights(plainzero, folder, positions_file):
    options = ("--positions", positions_file, "--simulations", "0", "--json")
    code, out, err = plainzero("curve", str(folder.path), *options, *CPU)
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert [point["step"] for point in found["points"]] == [10, 20, 30]
    assert [point["seconds"] for point in found["points"]] == [5.0, 10.0, 15.0]
    for point in found["points"]:
        arguments = (str(folder.path), "--step", str(point["step"]), *options)
        (alone,) = json.loads(plainzero("evaluate", *arguments).out)["results"]
        assert point["errors"] == {"some": alone["error_rate"]}


def test_a_table_and_a_plot(plainzero, folder, positions_file, tmp_path):
    plot = tmp_path / "curve.svg"
    options = ("--positions", positions_file, "--simulations", "300", "--points", "2")
    code, out, err = plainzero("curve", str(folder.path), *options, *CPU, "--plot", str(plot))
    assert (code, err) == (0, "")
    assert "seconds" in out and "some" in out and "5 % after 5 s" in out
    assert "20" not in [line.split()[1] for line in out.splitlines() if len(line.split()) > 3]
    assert "errors, %" in plot.read_text() and plot.with_suffix(".png").is_file()


def test_a_run_without_a_generation_and_a_game_without_positions_are_refused(plainzero, tmp_path):
    folder = RunFolder(tmp_path / "new")
    folder.make()
    folder.write_config(resolve_run(default_config(GAME), GAME), GAME, GAME.name)
    code, _, err = plainzero("curve", str(folder.path), *CPU)
    assert code == 2 and "no bundled positions for tic-tac-toe" in err
    code, _, err = plainzero("curve", str(tmp_path / "nowhere"), *CPU)
    assert code == 2 and "there is no run folder" in err


def test_weights_are_chosen_evenly_in_time():
    times = {step: float(step**2) for step in range(1, 11)}
    assert list(spread(times, 3)) == [1, 7, 10]
    assert spread(times, 50) == times
    assert list(spread(times, 1)) == [10]


def test_the_first_second_of_each_level():
    curve = [CurvePoint(10.0, 1, [0.06]), CurvePoint(20.0, 2, [0.025]), CurvePoint(30.0, 3, [0.04])]
    assert first_reached(curve, 0) == {0.05: 20.0, 0.03: 20.0, 0.02: None, 0.01: None}
