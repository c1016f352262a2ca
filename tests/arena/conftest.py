"""A run on disk with untrained weights."""

import pytest
from arena_agents import TIC_TAC_TOE


@pytest.fixture(scope="session")
def untrained_run(tmp_path_factory):
    """The folder of a tic-tac-toe run with the weights of steps 0 and 10."""
    return make_untrained_run(tmp_path_factory.mktemp("runs") / "a.b:c, d")


def make_untrained_run(path, game=TIC_TAC_TOE):
    import torch

    from plainzero.networks.architectures import make_network
    from plainzero.networks.weights import save_weights
    from plainzero.training.run_folder import RunFolder
    from plainzero.training.settings import default_config, resolve_run

    folder = RunFolder(path)
    folder.make()
    config = resolve_run(default_config(game), game)
    folder.write_config(config, game, game.name)
    for step in (0, 10):
        network = make_network(game, config.network, step)
        torch.manual_seed(step)
        for parameter in network.parameters():  # heads start at zero, so all outputs would be equal
            parameter.data += 0.1 * torch.randn_like(parameter)
        save_weights(network, folder.weights_file(step), {})
    return path
