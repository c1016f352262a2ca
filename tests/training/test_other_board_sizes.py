"""Weights of one board size on another: played, and learned further."""

import numpy as np
import pytest
import torch
from tiny_runs import train_arguments

from plainzero import make_game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.weights import load_weights, put_weights, save_weights, to_float16
from plainzero.training.run_folder import RunError, RunFolder
from plainzero.training.saved_run import open_run

SMALL, LARGE = "gomoku(size=5)", "gomoku(size=7)"


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    from plainzero.cli.main import main

    folder = tmp_path_factory.mktemp("runs") / "small"
    assert main(train_arguments(folder, 1, game=SMALL)) == 0
    return folder


def test_a_run_on_a_small_board_continues_on_a_large_one(small_run, tmp_path, plainzero):
    arguments = train_arguments(tmp_path / "large", 1, game=LARGE, training__learning_rate=1e-9)
    code, _, err = plainzero(*arguments, "--from", str(small_run))
    assert code == 0, err
    latest = (open_run(run) for run in (small_run, tmp_path / "large"))
    small, large = (run.network(run.playing_step()).state_dict() for run in latest)
    assert all(torch.allclose(small[name], large[name], atol=1e-5) for name in small)
    assert large["policy.kinds.weight"].any()
    code, _, err = plainzero(*arguments, "--from", "elsewhere")
    assert code != 0 and "has already started" in err


def test_a_run_plays_on_another_size_but_no_other_game(small_run):
    run = open_run(small_run).for_game(make_game(LARGE))
    planes = np.zeros((2, *run.game.observation_shape), np.float32)
    logits, _ = run.evaluator()(planes)
    assert logits.shape == (2, 49)
    with pytest.raises(RunError, match=r"is a run of gomoku\(size=5\), not of hex"):
        open_run(small_run).for_game(make_game("hex(size=5)"))


def test_dense_heads_fit_one_size_only(tmp_path, plainzero, refused):
    dense = {"network__policy": "dense", "network__value_head": "dense"}
    assert plainzero(*train_arguments(tmp_path / "run", 1, game=SMALL, **dense)).code == 0
    with pytest.raises(RunError, match="its dense heads fit one board size only"):
        open_run(tmp_path / "run").for_game(make_game(LARGE))
    arguments = train_arguments(tmp_path / "large", 1, game=LARGE, **dense)
    assert "cannot start from" in refused(*arguments, "--from", str(tmp_path / "run"))


def test_a_run_without_the_options_has_dense_heads(small_run, tmp_path):
    text = (small_run / "config.toml").read_text()
    kept = [line for line in text.splitlines() if not line.startswith(("policy", "value_head"))]
    assert len(kept) == len(text.splitlines()) - 2
    (tmp_path / "config.toml").write_text("\n".join(kept))
    network = RunFolder(tmp_path).read_config()[0].network
    assert (network.policy, network.value_head) == ("dense", "dense")


@pytest.mark.parametrize("name", ["gomoku", "gomoku-42"])
def test_a_file_of_8_blocks_of_64_channels_has_at_most_3_megabytes(name, tmp_path):
    game, path = make_game(name), tmp_path / "weights.safetensors"
    network = draw_zeros(make_network(game, NetworkConfig(blocks=8, channels=64), 0))
    save_weights(to_float16(network.state_dict()), path, {})
    assert path.stat().st_size <= 3_000_000
    again = make_network(game, network.config, 1)
    put_weights(again, load_weights(path)[0], path)
    planes = torch.rand((4, *game.observation_shape))
    with torch.no_grad():
        for mine, theirs in zip(again(planes)[:2], network(planes)[:2], strict=True):
            assert (mine - theirs).abs().max() <= 5e-3 * theirs.abs().max()
