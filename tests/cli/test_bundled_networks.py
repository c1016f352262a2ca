"""Bundled networks: from a run's folder to a file, and from the file to an opponent."""

import dataclasses
import json
import shutil
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from plainzero import make_game
from plainzero.arena import agent_specs
from plainzero.arena.agent_specs import parse_agent
from plainzero.cli.main import main
from plainzero.games.bundled.tic_tac_toe import TicTacToe as BundledTicTacToe
from plainzero.games.registry import bundled_games
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.weights import load_weights, save_weights
from plainzero.opponents import bundled_networks
from plainzero.opponents.network_files import NetworkFileError, read_network_file
from plainzero.opponents.random_agent import RandomAgent
from plainzero.search.runner import StopFlag
from plainzero.server.api.schemas.games import Position
from plainzero.server.api.schemas.searching import SearchAgent
from plainzero.server.options import ServerOptions
from plainzero.server.searching.scheduler import Slot, SlotQueue
from plainzero.server.services import Services
from plainzero.training.run_folder import RunFolder
from plainzero.training.saved_run import open_run
from plainzero.training.settings import RunOptions, default_config, resolve_run

GAME = make_game("tic-tac-toe")
ABOUT = "plainzero train tic-tac-toe, one day; 12 ± 3 % of errors, “as measured”"
BUNDLED = sorted(bundled_networks.FOLDER.glob("*.safetensors"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with weights of steps 10 and 20, drawn at random."""
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "run")
    folder.make()
    small = NetworkConfig(blocks=1, channels=8)
    options = RunOptions(backend="torch")
    config = dataclasses.replace(default_config(GAME), network=small, run=options)
    config = resolve_run(config, GAME)
    folder.write_config(config, GAME, "tic-tac-toe")
    for step in (10, 20):
        network = make_network(GAME, config.network, 0)
        generator = torch.Generator().manual_seed(step)
        for parameter in network.parameters():
            parameter.data.normal_(0.0, 0.2, generator=generator)
        save_weights(network, folder.weights_file(step), {})
    return folder


@pytest.fixture(scope="module")
def file(run, tmp_path_factory):
    """Its newest weights, exported."""
    path = tmp_path_factory.mktemp("networks") / "tic-tac-toe.safetensors"
    assert main(["export", str(run.path), "--weights", str(path), "--about", ABOUT]) == 0
    return path


@pytest.fixture
def networks(tmp_path, monkeypatch):
    """The folder of networks that ship: nothing is in it yet."""
    monkeypatch.setattr(bundled_networks, "FOLDER", tmp_path / "networks")
    bundled_networks.FOLDER.mkdir()
    return bundled_networks.FOLDER


@pytest.fixture
def with_file(networks, file):
    """That folder with the exported file in it."""
    return shutil.copy(file, networks)


@pytest.fixture
def services(tmp_path):
    services = Services(ServerOptions(home=tmp_path / "runs", can_train=False))
    yield services
    services.close()


# ---- the file -----------------------------------------------------------------------------------


def test_the_file_says_all_that_playing_takes(run, file):
    saved, read = open_run(run.path), read_network_file(file)
    assert (read.game, read.step, read.about) == ("tic-tac-toe", 20, ABOUT)
    assert read.network == saved.config.network
    assert read.search_config(7) == saved.search_config(7)


def test_the_weights_are_those_of_the_step_in_float16(plainzero, run, tmp_path):
    path = tmp_path / "old.safetensors"
    code, out, err = plainzero("export", str(run.path), "--weights", str(path), "--step", "10")
    assert (code, err) == (0, "")
    assert "weights of step 10 for tic-tac-toe, float16, 0.0 MB" in out
    written, _ = load_weights(path)
    original, _ = load_weights(run.weights_file(10))
    assert written.keys() == original.keys()
    assert all(torch.equal(written[name], original[name].half()) for name in original)
    assert read_network_file(path).about == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "nothing to write: give --onnx FILE, --weights FILE"),
        (("--onnx", "x.onnx", "--about", "x"), "--about is stored in a weights file"),
        (("--weights", "x.safetensors", "--step", "12"), "has no weights of step 12"),
        (("--weights", "absent/x.safetensors"), "cannot write"),
    ],
)
def test_an_export_that_cannot_be_is_refused(refused, run, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    assert words in refused("export", str(run.path), *options)
    assert list(tmp_path.iterdir()) == []


# ---- who it plays -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def states():
    generator, found = np.random.default_rng(2), []
    for plies in (0, 1, 2, 3, 4, 4, 4):
        state = GAME.new_state()
        for _ in range(plies):
            GAME.apply(state, int(generator.choice(GAME.legal(state))))
        found.append(state)
    return found


@pytest.mark.parametrize("how", ["16", "0", "16,symmetries"])
def test_it_plays_as_the_run_does(run, with_file, states, how):
    ours, newest, old = (
        parse_agent(spec, GAME)
        for spec in (f"bundled:{how}", f"run:{run.path}:{how}", f"run:{run.path}@10:{how}")
    )
    planes = np.stack([GAME.observation(state) for state in states])
    for answer, expected, other in zip(
        *(agent.evaluator(planes) for agent in (ours, newest, old)), strict=True
    ):
        assert np.allclose(answer, expected, atol=2e-3)  # rounded to float16
        assert not np.allclose(answer, other, atol=2e-3)
    assert ours.choose(states, 3) == newest.choose(states, 3)
    assert ours.name == f"bundled:{how}"


def test_search_options_count(with_file):
    assert parse_agent("bundled:16,c_puct=3", GAME).config.c_puct == 3.0
    with pytest.raises(ValueError, match="does not search"):
        parse_agent("bundled:0,c_puct=3", GAME)
    with pytest.raises(
        ValueError, match="simulations must be a whole number of 0 or more, not 'x'"
    ):
        parse_agent("bundled:x", GAME)


def test_a_game_without_a_file_is_refused_in_a_sentence(refused, networks):
    sentence = refused("match", "bundled:10", "random", "--game", "trio")
    assert "there is no bundled network for trio; `plainzero train` makes one" in sentence


def test_a_file_is_for_one_game_with_its_parameters(with_file, networks):
    with pytest.raises(ValueError, match=r"for tic-tac-toe\(size=4\), only for tic-tac-toe; "):
        parse_agent("bundled:10", make_game("tic-tac-toe(size=4)"))
    shutil.copy(with_file, networks / "trio.safetensors")
    with pytest.raises(ValueError, match="is for tic-tac-toe, not for trio"):
        parse_agent("bundled:10", make_game("trio"))
    assert bundled_networks.has_bundled_network(GAME)
    assert not bundled_networks.has_bundled_network(make_game("trio"))


def test_a_game_of_ones_own_with_the_name_of_a_bundled_one_has_none(with_file):
    class TicTacToe(BundledTicTacToe):
        pass

    assert TicTacToe().name == GAME.name
    with pytest.raises(ValueError, match="not for your own game"):
        parse_agent("bundled:10", TicTacToe())


def test_what_is_wrong_with_a_file_is_said(with_file, networks):
    path = networks / "tic-tac-toe.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(NetworkFileError, match="is damaged"):
        parse_agent("bundled:10", GAME)
    path.write_bytes(whole[:100])
    with pytest.raises(NetworkFileError, match="cannot be read"):
        parse_agent("bundled:10", GAME)
    save_file({"x": torch.zeros(1)}, path)
    with pytest.raises(NetworkFileError, match="its format is none, not plainzero-network-1"):
        parse_agent("bundled:10", GAME)
    path.write_bytes(whole.replace(rb"\"c_puct\"", rb"\"c_pact\""))
    with pytest.raises(NetworkFileError, match=r"cannot be used: .*c_pact"):
        parse_agent("bundled:10", GAME)


def test_without_pytorch_it_is_said_and_not_chosen(refused, with_file, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert not bundled_networks.has_bundled_network(GAME)
    sentence = refused("play", "tic-tac-toe", "--opponent", "bundled:10")
    assert "needs PyTorch: pip install 'plainzero[learn]'" in sentence


# ---- the opponent by default --------------------------------------------------------------------


def test_play_is_against_it_by_default(plainzero, with_file):
    code, out, err = plainzero("play", "tic-tac-toe", "--side", "second", typed="quit\n")
    assert (code, err) == (0, "")
    first, *others = out.splitlines()
    assert first.startswith(
        "Your opponent is bundled:200: the bundled network with 200 simulations per move"
    )
    assert any(line.startswith("bundled:200 plays ") for line in others)


def test_it_plays_with_as_many_simulations_as_one_says(plainzero, with_file):
    options = ("--side", "second", "--simulations", "9")
    code, out, err = plainzero("play", "tic-tac-toe", *options, typed="quit\n")
    assert (code, err) == (0, "")
    first, *others = out.splitlines()
    assert first.startswith(
        "Your opponent is bundled:9: the bundled network with 9 simulations per move"
    )
    assert any(line.startswith("bundled:9 plays ") for line in others)


@pytest.mark.parametrize("options", [("--seconds", "1"), ("--set", "c_uct=1")])
def test_who_says_more_of_the_search_plays_that_and_is_told(plainzero, with_file, options):
    code, out, _ = plainzero("play", "tic-tac-toe", *options, typed="quit\n")
    first, second, *_ = out.splitlines()
    assert code == 0 and second.startswith("tic-tac-toe: you are the first player")
    assert first.startswith("Your opponent is a search with random playouts, ")
    assert first.endswith("to play the bundled network, use --opponent bundled:200.")


def test_who_names_an_evaluator_plays_that_search(plainzero, with_file):
    code, out, _ = plainzero("play", "tic-tac-toe", "--evaluator", "rollout", typed="quit\n")
    assert code == 0 and out.startswith("tic-tac-toe: you are the first player")


def test_play_is_against_the_search_where_there_is_none(plainzero, networks):
    code, out, _ = plainzero("play", "tic-tac-toe", typed="quit\n")
    assert code == 0 and out.startswith("Your opponent is a search with random playouts, 1 s per")


def test_usual_agent_is_the_network_where_there_is_one(with_file):
    assert bundled_networks.usual_agent(GAME, "uct:7") == "bundled:200"
    assert bundled_networks.usual_agent(make_game("trio"), "uct:7") == "uct:7"


@pytest.mark.parametrize("command", ["gtp", "gomocup"])
@pytest.mark.parametrize("is_there", [True, False])
def test_engines_play_with_it_by_default(plainzero, networks, monkeypatch, command, is_there):
    made = []
    monkeypatch.setattr(
        agent_specs, "parse_agent", lambda spec, _: made.append(spec) or RandomAgent(GAME)
    )
    if is_there:
        monkeypatch.setattr(bundled_networks, "has_bundled_network", lambda _: True)
    code, _, err = plainzero(command, typed="quit\nEND\n")
    others = {"gtp": "uct:10000", "gomocup": "threats:10000"}
    assert (code, err) == (0, "") and made == ["bundled:200" if is_there else others[command]]


def test_search_analyses_with_it(plainzero, with_file, states):
    code, out, err = plainzero("search", "tic-tac-toe", "--agent", "bundled:30", "--json")
    assert (code, err) == (0, "")
    found, agent = json.loads(out), parse_agent("bundled:30", GAME)
    assert found["simulations"] == 30
    (expected,) = agent.searcher().search([GAME.new_state()], 0)
    assert found["visits"] == {
        GAME.action_name(edge.action): edge.visits for edge in expected.tree.edges()
    }


def test_search_refuses_an_agent_with_other_search_options(refused, with_file):
    sentence = refused("search", "tic-tac-toe", "--agent", "bundled:9", "--simulations", "5")
    assert "--agent brings its own search; change it as in bundled:9,c_puct=2" in sentence
    sentence = refused("search", "tic-tac-toe", "--agent", "random")
    assert "random does not search; name an agent that does, as in uct:1000" in sentence


def test_the_server_says_where_there_is_one(services, with_file):
    with_network = [info.name for info in services.catalogue.infos() if info.has_bundled_network]
    assert with_network == ["tic-tac-toe"]
    for game, is_there in (("tic-tac-toe", True), ("tic-tac-toe(size=4)", False), ("trio", False)):
        assert services.positions.view(Position(game=game)).has_bundled_network == is_there


def test_the_server_says_that_there_is_none(services, networks):
    assert len(services.catalogue.infos()) == len(bundled_games())
    assert not any(info.has_bundled_network for info in services.catalogue.infos())
    assert not services.positions.view(Position(game="tic-tac-toe")).has_bundled_network


def answer_of(services, game, player):
    with Slot(SlotQueue(1), "somebody", StopFlag()) as turn:
        return services.agents.answer(game, game.new_state(), player, 0, turn)


def test_the_server_plays_with_it(services, with_file):
    analysis = answer_of(services, GAME, SearchAgent(evaluator="bundled", simulations=16)).analysis
    agent = parse_agent("bundled:16", GAME)
    logits, _ = agent.evaluator(GAME.observation(GAME.new_state())[None])
    weights = np.exp(logits[0] - logits[0].max())
    priors = {move.action: move.prior for move in analysis.moves}
    np.testing.assert_allclose(
        [priors[action] for action in range(9)], weights / weights.sum(), atol=1e-3
    )
    assert analysis.simulations == 16 and analysis.step is None


def test_the_server_refuses_it_in_a_sentence_without_a_folder(services, with_file, networks):
    player = SearchAgent(evaluator="bundled", simulations=16)
    with pytest.raises(ValueError, match="there is no bundled network for trio"):
        answer_of(services, make_game("trio"), player)
    with pytest.raises(ValueError, match="the evaluator bundled takes no run"):
        answer_of(services, GAME, player.model_copy(update={"run": "mine"}))
    (networks / "tic-tac-toe.safetensors").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"^tic-tac-toe\.safetensors cannot be read"):
        answer_of(services, GAME, player)


# ---- what is in the package ---------------------------------------------------------------------


@pytest.mark.parametrize("path", BUNDLED, ids=[path.stem for path in BUNDLED])
def test_every_file_that_ships_can_be_used_and_is_described(path):
    file = read_network_file(path)
    game = make_game(file.game)
    assert bundled_networks.find_bundled_network(game).path == path
    assert dataclasses.asdict(file.load(game).config) == dataclasses.asdict(file.network)
    assert file.about and path.stat().st_size < 3 * 2**20
    card = path.with_suffix(".md").read_text(encoding="utf-8")
    assert f"plainzero train {file.game} " in card.replace('"', "")
    assert all(words in card for words in ("Date", "Versions", "Time", "Strength", "positions"))
