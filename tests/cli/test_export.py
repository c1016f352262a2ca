"""`plainzero export`, of a run that has two steps' weights."""

import os

import numpy as np
import pytest
import torch

from plainzero import make_game
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.weights import save_weights
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import RunConfig, resolve_run

onnxruntime = pytest.importorskip("onnxruntime")

GAME = make_game("tic-tac-toe")
NETWORK = NetworkConfig(blocks=1, channels=8)


def drawn_network(seed):
    network = make_network(GAME, NETWORK, seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(0.0, 0.2, generator=torch.Generator().manual_seed(seed))
    return network


@pytest.fixture
def run(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.make()
    folder.write_config(resolve_run(RunConfig(network=NETWORK), GAME), GAME, "tic-tac-toe")
    for step in (10, 20):
        save_weights(drawn_network(step), folder.weights_file(step), {})
    return folder.path


@pytest.mark.parametrize(("options", "step"), [((), 20), (("--step", "10"), 10)])
def test_the_file_says_what_the_network_says(plainzero, run, tmp_path, options, step):
    file = tmp_path / "network.onnx"
    code, out, err = plainzero("export", str(run), "--onnx", str(file), *options)
    assert (code, err) == (0, "")
    assert "planes [batch, 2, 3, 3] to logits and values" in out
    planes = np.random.default_rng(0).random((5, 2, 3, 3), np.float32)
    logits, values = onnxruntime.InferenceSession(file).run(None, {"planes": planes})
    with torch.inference_mode():
        expected = drawn_network(step)(torch.from_numpy(planes))
    np.testing.assert_allclose(logits, expected.logits.numpy(), atol=1e-4)
    np.testing.assert_allclose(values, expected.values.numpy(), atol=1e-4)


def test_a_step_that_is_not_there_is_refused(refused, run, tmp_path):
    file = tmp_path / "network.onnx"
    sentence = refused("export", str(run), "--onnx", str(file), "--step", "12")
    assert "has no weights of step 12; the nearest are of 10" in sentence
    assert not file.exists()


def test_a_folder_that_is_none_is_refused(refused, tmp_path):
    assert "there is no run folder" in refused("export", str(tmp_path / "x"), "--onnx", "y.onnx")


def test_a_file_that_cannot_be_written_is_said(refused, run, tmp_path):
    where = tmp_path / "absent" / "network.onnx"
    assert "cannot write" in refused("export", str(run), "--onnx", str(where))
    assert not os.path.exists(where)
