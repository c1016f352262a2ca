"""The heads of board networks: what they pool, and what they do not depend on."""

import numpy as np
import pytest
import torch
from drawn_networks import GAMES, drawn_network, observations

from plainzero import make_game
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.heads import pooled, region_means

OTHELLO = make_game("othello(size=6)")
REGIONS = GAMES["othello(size=6)"]


def test_regions_are_corners_edges_their_neighbours_and_the_rest():
    shares = region_means(6, 6)
    names = np.array(list("CcexiI"))[shares.argmax(1)].reshape(6, 6)
    assert ["".join(row) for row in names] == [
        "CceecC",
        "cxiixc",
        "eiIIie",
        "eiIIie",
        "cxiixc",
        "CceecC",
    ]
    torch.testing.assert_close(shares.sum(0), torch.ones(6))


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (2, 2), (3, 3), (9, 4)])
def test_every_cell_of_any_board_is_in_one_region(size):
    shares = region_means(*size)
    assert ((shares > 0).sum(1) == 1).all()
    assert all(total == 0 or abs(total - 1) < 1e-6 for total in shares.sum(0))


def test_the_region_head_sees_where_a_stone_is_and_the_pooled_head_does_not():
    head = drawn_network(OTHELLO, REGIONS).value
    corner, centre = torch.zeros(2, 32, 6, 6)
    corner[3, 0, 0] = centre[3, 2, 2] = 1.0
    read = torch.stack([corner, centre])
    assert torch.equal(*pooled(read))
    first, second = head.answer(read)
    assert abs(first - second) > 1e-3


def test_the_region_head_is_alike_under_all_symmetries():
    head = drawn_network(OTHELLO, REGIONS).value
    read = torch.rand(1, 32, 6, 6, generator=torch.Generator().manual_seed(0))
    for turned in (read.flip(2), read.flip(3), read.transpose(2, 3)):
        torch.testing.assert_close(head.answer(turned), head.answer(read))


def test_the_weights_of_regions_fit_boards_of_other_sizes():
    small, large = drawn_network(OTHELLO, REGIONS), make_game("othello(size=8)")
    network = make_network(large, REGIONS, 0)
    network.load_state_dict(small.state_dict())
    answers = network(torch.from_numpy(observations(large, 3)))
    assert answers.logits.shape == (3, large.num_actions) and answers.values.unique().numel() == 3


def test_regions_need_a_board():
    with pytest.raises(ValueError, match="value_head is regions, which needs kind=residual"):
        make_network(OTHELLO, NetworkConfig(kind="mlp", value_head="regions"), 0)
