"""PUCT with your own evaluator: a function from observations to logits and values.

python examples/own_evaluator.py
"""

import numpy as np

from plainzero import SearchConfig, make_game, search


def prefer_the_centre(planes):
    """Logits that favour the middle columns, and the value 0. A real network would go here.

    Args:
        planes: [B, 2, rows, cols], the mover's stones and the opponent's.

    Returns:
        Logits [B, cols], and values [B] for the player to move.
    """
    batch, _, _, cols = planes.shape
    logits = -np.abs(np.arange(cols) - (cols - 1) / 2)
    return np.tile(logits, (batch, 1)), np.zeros(batch)


def main() -> None:
    """Searches eight games side by side, sixteen leaves of each at a time."""
    game = make_game("connect-four")
    states = [game.new_state() for _ in range(8)]
    for first_move, state in enumerate(states[: game.num_actions]):
        game.apply(state, first_move)
    config = SearchConfig(simulations=400, leaves=16, fpu="reduction")
    for result in search(game, states, prefer_the_centre, config, seed=1):
        visits = " ".join(f"{count:4}" for count in result.visits)
        print(f"{visits}   best {game.action_name(result.best_action)}  value {result.value:+.3f}")


if __name__ == "__main__":
    main()
