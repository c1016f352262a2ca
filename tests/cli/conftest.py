"""For the tests of commands: solved positions."""

import numpy as np
import pytest

from plainzero import make_game
from plainzero.opponents.perfect import move_outcomes
from plainzero.opponents.solved_positions import write_positions


@pytest.fixture(scope="module")
def positions_file(tmp_path_factory):
    """Solved positions of tic-tac-toe after four moves."""
    game, generator, played, states = make_game("tic-tac-toe"), np.random.default_rng(1), [], []
    for _ in range(60):
        state, moves = game.new_state(), []
        for _ in range(4):
            moves.append(int(generator.choice(game.legal(state))))
            game.apply(state, moves[-1])
        played.append(moves)
        states.append(state)
    path = tmp_path_factory.mktemp("positions") / "some.csv"
    write_positions(game, path, played, move_outcomes(game, states))
    return str(path)
