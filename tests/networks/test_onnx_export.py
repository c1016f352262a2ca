"""ONNX files: ONNX Runtime gives the same results as PyTorch."""

import os

import numpy as np
import pytest
import torch
from drawn_networks import GAMES, drawn_network, observations

from plainzero import make_game
from plainzero.networks import export as exporting
from plainzero.networks.export import ExportError, export_onnx, onnx_bytes

onnxruntime = pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("name", GAMES)
def test_an_exported_network_says_the_same(tmp_path, name):
    game = make_game(name)
    network, planes = drawn_network(game, GAMES[name]).train(), observations(game, 21)
    export_onnx(network, game, tmp_path / "network.onnx")
    assert os.listdir(tmp_path) == ["network.onnx"]
    assert network.training
    session = onnxruntime.InferenceSession(tmp_path / "network.onnx")
    logits, values = session.run(["logits", "values"], {"planes": planes})
    with torch.inference_mode():
        output = network(torch.from_numpy(planes))
    np.testing.assert_allclose(logits, output.logits.numpy(), atol=1e-4)
    np.testing.assert_allclose(values, output.values.numpy(), atol=1e-4)


def test_a_wrong_file_is_reported_and_not_written(tmp_path, monkeypatch):
    game = make_game("tic-tac-toe")
    network, other = (drawn_network(game, GAMES["tic-tac-toe"], seed) for seed in (0, 1))
    monkeypatch.setattr(exporting, "onnx_bytes", lambda _, game: onnx_bytes(other, game))
    with pytest.raises(ExportError, match=r"the logits of .* differ .* the file was not written"):
        export_onnx(network, game, tmp_path / "network.onnx")
    assert os.listdir(tmp_path) == []


def test_an_export_without_onnx_runtime_says_what_to_install(tmp_path, monkeypatch):
    game = make_game("tic-tac-toe")
    monkeypatch.setattr(exporting.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ExportError, match=r"pip install 'plainzero\[onnx\]'"):
        export_onnx(drawn_network(game, GAMES["tic-tac-toe"]), game, tmp_path / "network.onnx")
