"""Networks: shapes, initial values, and the default for each game."""

import dataclasses
import inspect
from pathlib import Path

import numpy as np
import pytest
import torch
from drawn_networks import GAMES, drawn_network, observations

from plainzero import Game, make_game
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig, resolve_network


class Corridor(Game):
    """One player walks to the end."""

    num_players = 1
    num_actions = 2
    observation_shape = (5,)
    max_turns = 10


def output_of(network, planes):
    with torch.inference_mode():
        return network(torch.from_numpy(planes))


@pytest.mark.parametrize("name", GAMES)
def test_a_network_answers_in_the_shapes_of_its_game(name):
    game = make_game(name)
    network = drawn_network(game, GAMES[name])
    output = output_of(network, observations(game, 7))
    values = network.config.values
    assert output.logits.shape == (7, game.num_actions)
    assert output.values.shape == ((7, game.num_players) if values == "players" else (7,))
    assert output.values.abs().max() < 1
    assert (output.outcome_logits is None) == (values != "wdl")


@pytest.mark.parametrize("name", GAMES)
def test_a_new_network_knows_nothing(name):
    game = make_game(name)
    output = output_of(make_network(game, GAMES[name], 5), observations(game, 7))
    assert not output.logits.any() and not output.values.any()


@pytest.mark.parametrize("name", GAMES)
def test_every_weight_learns(name):
    game = make_game(name)
    network = drawn_network(game, GAMES[name])
    output = network(torch.from_numpy(observations(game, 50)))
    (output.logits.square().sum() + output.values.sum()).backward()
    assert [n for n, p in network.named_parameters() if p.grad is None or not p.grad.any()] == []


def test_win_draw_loss_gives_the_chance_of_a_win_less_that_of_a_loss():
    game = make_game("tic-tac-toe")
    network = drawn_network(game, NetworkConfig(values="wdl"))
    output = output_of(network, observations(game, 9))
    chances = torch.softmax(output.outcome_logits, 1)
    assert torch.allclose(output.values, chances[:, 0] - chances[:, 2])


def test_pooling_carries_the_far_side_of_the_board():
    game = make_game("connect-four(rows=4,cols=12)")
    planes = observations(game, 1)
    touched = planes.copy()
    touched[0, :, :, 0] += 1.0

    def changes_at_the_other_end(pooling):
        config = NetworkConfig(blocks=1, channels=8, pooling=pooling)
        body = drawn_network(game, config).body
        before, after = (body(torch.from_numpy(x))[0, :, :, -1] for x in (planes, touched))
        return not torch.equal(before, after)

    assert changes_at_the_other_end(pooling=True)
    assert not changes_at_the_other_end(pooling=False)


def test_equal_seeds_give_equal_weights_and_leave_the_global_generator_alone():
    game = make_game("tic-tac-toe")
    torch.manual_seed(1)
    first = make_network(game, NetworkConfig(), 3)
    drawn = torch.rand(4)
    torch.manual_seed(1)
    assert torch.equal(drawn, torch.rand(4))
    second, other = (make_network(game, NetworkConfig(), seed) for seed in (3, 4))
    same = [torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)]
    assert all(same)
    assert not torch.equal(next(first.parameters()), next(other.parameters()))


def test_auto_goes_by_the_observation_and_the_players():
    resolved = resolve_network(NetworkConfig(), make_game("connect-four"))
    assert (resolved.kind, resolved.values) == ("residual", "mover")
    resolved = resolve_network(NetworkConfig(), make_game("trio"))
    assert (resolved.kind, resolved.values) == ("residual", "players")
    resolved = resolve_network(NetworkConfig(), Corridor())
    assert (resolved.kind, resolved.values) == ("mlp", "mover")
    assert resolve_network(resolved, Corridor()) == resolved


def test_what_was_chosen_stays():
    chosen = NetworkConfig(
        kind="mlp", layers=3, width=7, policy="dense", value_head="dense", values="wdl"
    )
    assert resolve_network(chosen, make_game("tic-tac-toe")) == chosen


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "cnn"}, "kind is 'cnn'; choose one of: auto, mlp, residual"),
        ({"blocks": 0}, "blocks is 0; it must be from 1 to"),
        ({"channels": 10**6}, "channels is 1000000; it must be from 1 to 4,096"),
        ({"width": 1.5}, "width is 1.5; it must be a whole number"),
        ({"pooling": 1}, "pooling is 1; it must be true or false"),
        ({"kind": "mlp", "blocks": 5}, "blocks is 5, which has no effect with kind=mlp"),
        ({"kind": "residual", "width": 5}, "width is 5, which has no effect with kind=residual"),
        ({"values": "both"}, "values is 'both'; choose one of"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError) as refusal:
        NetworkConfig(**options)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        (Corridor(), {"kind": "residual"}, "corridor has the shape (5,): use kind=mlp"),
        (Corridor(), {"blocks": 5}, "blocks is 5, which has no effect with kind=mlp"),
        (Corridor(), {"values": "wdl"}, "needs two players, and corridor has 1: use values=mover"),
        (make_game("trio"), {"values": "wdl"}, "trio has 3: use values=players"),
        (make_game("trio"), {"values": "mover"}, "trio has 3 players: use values=players"),
        (make_game("tic-tac-toe"), {"layers": 5}, "layers is 5, which has no effect"),
    ],
)
def test_a_network_that_the_game_cannot_have_is_refused(game, options, message):
    with pytest.raises(ValueError) as refusal:
        make_network(game, NetworkConfig(**options), 0)
    assert message in str(refusal.value)


def test_every_option_is_documented():
    lines = Path(inspect.getsourcefile(NetworkConfig)).read_text().splitlines()
    for option in dataclasses.fields(NetworkConfig):
        at = next(i for i, line in enumerate(lines) if line.startswith(f"    {option.name}: "))
        assert lines[at + 1].strip().startswith('"""'), option.name


def test_observations_differ():
    assert len(np.unique(observations(make_game("connect-four"), 50), axis=0)) > 30
