"""What a new run on a GPU is given, whatever machine this is."""

import pytest

from plainzero import make_game
from plainzero.cli.main import main
from plainzero.games.registry import bundled_games
from plainzero.networks.config import NetworkConfig
from plainzero.search.config import SearchConfig
from plainzero.training.choose_device import (
    choose_training_device,
    device_of_settings,
    new_config,
)
from plainzero.training.gpu.defaults import fit_games
from plainzero.training.settings import change, measure_backend, resolve_run

CONNECT_FOUR = make_game("connect-four")


@pytest.fixture
def large_gpu(monkeypatch):
    """Its memory is all that is asked about it."""
    monkeypatch.setattr("plainzero.training.gpu.defaults.free_bytes", lambda: 130 << 30)


def test_more_simulations_or_a_larger_network_leave_room_for_fewer_games():
    def fitting(simulations=32, channels=64, free=130 << 30, name="connect-four"):
        search, network = SearchConfig(simulations=simulations), NetworkConfig(channels=channels)
        return fit_games(make_game(name), search, network, free)

    assert fitting() == 8192
    assert fitting(free=1 << 28) < fitting(free=1 << 29) < 8192
    assert fitting(name="gomoku", simulations=1600) < fitting(name="gomoku", simulations=64)
    assert fitting(channels=4096) <= fitting(channels=64, free=20 << 30)
    assert fitting(free=1) == 1
    assert all(fitting(free=free).bit_count() == 1 for free in (10**8, 10**9, 10**10))


def test_runs_that_share_a_gpu_have_fewer_games(large_gpu):
    def games(name, *settings):
        return new_config(make_game(name), "cuda:0", settings).selfplay.games

    assert games("connect-four", "run.gpu_share=0.25") == 8192 // 4
    assert games("gomoku", "run.gpu_share=0.125") == games("gomoku") // 8  # by its memory
    assert games("gomoku", "run.gpu_share=0.125", "selfplay.games=4096") == 4096
    for share in (0, -0.5, 1.5):
        with pytest.raises(ValueError, match="gpu_share"):
            games("connect-four", f"run.gpu_share={share}")


def test_what_is_set_counts_before_the_number_of_games_is_chosen(large_gpu):
    few = new_config(make_game("gomoku"), "cuda:0", ["search.simulations=1600"])
    many = new_config(make_game("gomoku"), "cuda:0")
    assert few.selfplay.games < many.selfplay.games
    assert few.training.generation_positions == 32 * few.selfplay.games
    asked = new_config(CONNECT_FOUR, "cuda:0", ["selfplay.games=512", "training.reuse=2"])
    assert (asked.selfplay.games, asked.training.batch_size) == (512, 512)
    assert asked.training.reuse == 2.0


@pytest.mark.parametrize("name", bundled_games())
def test_every_game_that_runs_there_has_a_config(name, large_gpu):
    game = make_game(name)
    if not game.runs_on_gpu:
        pytest.skip("its rules run on the CPU")
    config = resolve_run(new_config(game, "cuda:0", ["training.precision=float32"]), game, "cuda:0")
    is_board = len(game.observation_shape) == 3
    assert config.network.kind == ("residual" if is_board else "mlp")
    usual = NetworkConfig().blocks, NetworkConfig().channels
    assert (config.network.blocks, config.network.channels) == ((8, 64) if is_board else usual)


def test_a_network_that_was_asked_for_is_taken(large_gpu):
    kind = new_config(CONNECT_FOUR, "cuda:0", ["network.kind=mlp", "network.width=99"]).network
    assert (kind.kind, kind.width) == ("mlp", 99)
    sized = new_config(CONNECT_FOUR, "cuda:0", ["network.channels=48"]).network
    assert (sized.blocks, sized.channels) == (8, 48)
    sized = new_config(CONNECT_FOUR, "cuda:0", ["network.blocks=2"]).network
    assert (sized.blocks, sized.channels) == (2, 64)


@pytest.mark.parametrize(
    ("selection", "noise", "fpu"),
    [
        ("gumbel", 0.0, "auto"),
        ("uct", 0.0, "auto"),
        ("puct", 0.25, "parent"),
        ("puct-log", 0.25, "parent"),
    ],
)
def test_what_is_for_puct_alone_follows_the_selection(selection, noise, fpu, large_gpu):
    config = new_config(CONNECT_FOUR, "cuda:0", [f"search.selection={selection}"])
    assert (config.search.noise_weight, config.search.fpu) == (noise, fpu)
    assert max(config.search.simulations, config.search.visits) == 32
    assert new_config(CONNECT_FOUR, "cuda:0").search.noise_weight == 0.25


def test_a_formula_that_is_asked_for_later_is_as_if_it_had_been_so_at_first(large_gpu):
    for device in ("cpu", "cuda:0"):
        first = new_config(CONNECT_FOUR, device, ["search.selection=gumbel"])
        other = change(first, ["search.selection=puct", "search.fpu=parent"])
        assert (other.search.visits, other.search.simulations) == (32, 0)
        again = change(other, ["search.selection=gumbel"])
        assert (again.search.fpu, again.search.noise_weight) == ("auto", 0.0)
        assert (again.search.visits, again.search.simulations) == (0, 16)


def test_settings_are_those_of_the_device(large_gpu):
    assert device_of_settings(["search.visits=40", "run.device=cpu"], CONNECT_FOUR) == "cpu"
    search = new_config(CONNECT_FOUR, "cuda:0", ["search.visits=40"]).search
    assert (search.visits, search.simulations, search.fpu) == (40, 0, "parent")
    with pytest.raises(ValueError, match="simulations"):  # which Gumbel's way needs
        new_config(CONNECT_FOUR, "cpu", ["search.visits=40"])


def test_options_that_do_not_go_together_are_refused_before_anything_is_written(tmp_path, capsys):
    folder = tmp_path / "run"
    command = ["train", "tic-tac-toe", "--device", "cpu", "--run", str(folder)]
    assert main([*command, "--set", "search.fpu=parent"]) == 2
    assert "fpu only applies with selection=puct" in capsys.readouterr().err.replace("\n", " ")
    assert not folder.exists()


def test_a_new_run_on_the_cpu_is_as_it_was(large_gpu):
    assert new_config(CONNECT_FOUR, "cpu").search.selection == "gumbel"


def test_a_backend_of_the_other_device_is_refused_unless_the_run_had_it(large_gpu):
    config = new_config(CONNECT_FOUR, "cuda:0", ["run.backend=torch", "training.precision=float32"])
    with pytest.raises(ValueError, match="a GPU has no backend 'torch'; choose auto or one of gpu"):
        measure_backend(config, CONNECT_FOUR, "cuda:0")
    assert measure_backend(config, CONNECT_FOUR, "cuda:0", is_asked=False).run.backend in (
        *("gpu-bf16", "gpu-float32"),
    )
    config = resolve_run(new_config(CONNECT_FOUR, "cpu", ["run.backend=gpu-bf16"]), CONNECT_FOUR)
    with pytest.raises(ValueError, match="gpu-bf16"):
        measure_backend(config, CONNECT_FOUR)
    assert "gpu" not in measure_backend(config, CONNECT_FOUR, is_asked=False).run.backend


def test_rules_that_no_gpu_runs_are_for_the_cpu(monkeypatch):
    monkeypatch.setattr(type(CONNECT_FOUR), "runs_on_gpu", False)
    assert choose_training_device("auto", CONNECT_FOUR) == "cpu"
    with pytest.raises(ValueError, match="do not run on a GPU; choose device cpu"):
        choose_training_device("cuda", CONNECT_FOUR)
