"""PUCT with your own evaluator: a function from observations to logits and values.

python examples/own_evaluator.py
"""

import numpy as np

from plainzero import SearchConfig, make_game, search

OPENINGS = ["", "2232", "4455", "45354", "665565", "121212", "7172636", "44333"]  # columns in order


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
    """Searches eight positions side by side, sixteen leaves of each at a time."""
    game = make_game("connect-four")
    states = [game.new_state() for _ in OPENINGS]
    for opening, state in zip(OPENINGS, states, strict=True):
        for column in opening:
            game.apply(state, int(column) - 1)
    config = SearchConfig(simulations=400, leaves=16, fpu="reduction")
    results = search(game, states, prefer_the_centre, config, seed=1)

    columns = "".join(f"{game.action_name(action):>5}" for action in range(game.num_actions))
    print(f"after     visits:{columns}   best   value")
    for opening, result in zip(OPENINGS, results, strict=True):
        visits = "".join(f"{count:5}" for count in result.visits)
        best = game.action_name(result.best_action)
        print(f"{opening or 'start':17}{visits}   {best:>4}  {result.value:+.3f}")


if __name__ == "__main__":
    main()
