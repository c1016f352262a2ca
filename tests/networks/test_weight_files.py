"""Weights in files: read back unchanged, or refused."""

import os

import pytest
import torch
from drawn_networks import drawn_network

from plainzero import make_game
from plainzero.networks.config import NetworkConfig
from plainzero.networks.weights import WeightsError, load_weights, put_weights, save_weights

GAME = make_game("tic-tac-toe")
SMALL = NetworkConfig(blocks=1, channels=8)


def test_weights_and_metadata_come_back(tmp_path):
    saved, other = (drawn_network(GAME, SMALL, seed) for seed in (0, 1))
    saved = saved.to(memory_format=torch.channels_last)
    save_weights(saved, tmp_path / "w.safetensors", {"step": "7"})
    weights, metadata = load_weights(tmp_path / "w.safetensors")
    assert metadata == {"step": "7"}
    put_weights(other, weights, "w")
    pairs = zip(saved.parameters(), other.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_a_state_dict_is_saved_too(tmp_path):
    state = {"a": torch.arange(3.0), "count": torch.tensor(5)}
    save_weights(state, tmp_path / "w", {})
    weights, metadata = load_weights(tmp_path / "w")
    assert metadata == {} and torch.equal(weights["a"], state["a"]) and weights["count"] == 5


def test_no_unfinished_file_is_left(tmp_path, monkeypatch):
    path = tmp_path / "w"
    save_weights({"a": torch.zeros(2)}, path, {})
    assert os.listdir(tmp_path) == ["w"]

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_weights({"a": torch.ones(2)}, path, {})
    assert os.listdir(tmp_path) == ["w"]
    assert not load_weights(path)[0]["a"].any()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(WeightsError, match=r"there are no weights at .*absent"):
        load_weights(tmp_path / "absent")


@pytest.mark.parametrize("length", [0, 5, 100, -1])
def test_a_file_cut_short_is_refused(tmp_path, length):
    path = tmp_path / "w"
    save_weights(drawn_network(GAME, SMALL), path, {})
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(WeightsError, match="cannot be read"):
        load_weights(path)


def test_a_changed_byte_is_found(tmp_path):
    path = tmp_path / "w"
    save_weights(drawn_network(GAME, SMALL), path, {})
    content = bytearray(path.read_bytes())
    content[-10] ^= 1
    path.write_bytes(content)
    with pytest.raises(WeightsError, match="damaged"):
        load_weights(path)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            NetworkConfig(blocks=1, channels=16),
            r"body.0.weight has the shape \(16, 2, 3, 3\) there",
        ),
        (NetworkConfig(blocks=2, channels=8), "this one has no body.3.first.bias"),
        (NetworkConfig(blocks=1, channels=8, pooling=True), "has no body.2.pooling.mix.bias"),
        (NetworkConfig(kind="mlp"), "it has no body.0.weight"),
    ],
)
def test_weights_of_another_network_are_refused(config, message):
    network = drawn_network(GAME, SMALL)
    before = network.state_dict()["body.0.weight"].clone()
    with pytest.raises(WeightsError, match=f"w is of another network: .*{message}"):
        put_weights(network, drawn_network(GAME, config).state_dict(), "w")
    assert torch.equal(before, network.state_dict()["body.0.weight"])
