"""Networks whose weights are all drawn at random, so that no answer is zero."""

import numpy as np
import torch

from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig

GAMES = {
    "connect-four": NetworkConfig(blocks=2, channels=32),
    "connect-four(rows=4,cols=5)": NetworkConfig(blocks=3, channels=16, pooling=True, values="wdl"),
    "trio": NetworkConfig(blocks=1, channels=24, pooling=True),
    "tic-tac-toe": NetworkConfig(kind="mlp", values="players"),
    "2048": NetworkConfig(),
    "gomoku(size=7)": NetworkConfig(blocks=2, channels=32),
    "go(size=5)": NetworkConfig(blocks=1, channels=16, pooling=True, values="wdl"),
    "dots-and-boxes": NetworkConfig(blocks=3, channels=32),
    "othello(size=6)": NetworkConfig(blocks=1, channels=32, value_head="regions"),
    "breakthrough(rows=6,cols=5)": NetworkConfig(blocks=1, channels=24, value_head="dense"),
}


def drawn_network(game, config, seed=0):
    """A network with every zero weight drawn, those of the last layers so that answers differ."""
    network = make_network(game, config, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if not parameter.any():
                fan_in = parameter[0].numel() if parameter.ndim > 1 else 16
                size = 1.0 if name.startswith("body") else 6.0
                parameter.normal_(0.0, size * fan_in**-0.5, generator=generator)
    return network


def observations(game, count, seed=0):
    """[count, *shape] of positions met in random play."""
    generator = np.random.default_rng(seed)
    planes, state = [], game.new_state()
    while len(planes) < count:
        if state.is_over:
            state = game.new_state()
        if state.to_play >= 0:
            planes.append(game.observation(state))
        game.apply(state, int(generator.choice(game.legal(state))))
    return np.stack(planes)
