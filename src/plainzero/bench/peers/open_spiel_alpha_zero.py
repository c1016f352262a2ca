# mypy: ignore-errors
"""Self-play of OpenSpiel's AlphaZero actors: its model, its evaluator and its Python MCTS."""

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts
from open_spiel.python.algorithms.alpha_zero import evaluator, model_nnx

PACKAGES = ("open_spiel", "jax", "flax")

# From its example for Connect Four.
_UCT_C = 2.0
_NOISE = (0.25, 1.0)
_TEMPERATURE_DROP = 10


def make_player(settings):
    """A function that plays one move and returns what it did, as counts.

    `settings` are simulations, blocks, channels and seed.
    """
    game = pyspiel.load_game("connect_four")
    model = model_nnx.Model.build_model(
        model_type="resnet",
        input_shape=game.observation_tensor_shape(),
        output_size=game.num_distinct_actions(),
        nn_width=settings["channels"],
        nn_depth=settings["blocks"],
        weight_decay=1e-4,
        learning_rate=1e-3,
        path=None,
        seed=settings["seed"],
    )
    evaluate = evaluator.AlphaZeroEvaluator(game, model)
    bots = [_make_bot(game, evaluate, settings["simulations"]) for _ in range(2)]
    random = np.random.RandomState(settings["seed"])
    state = game.new_initial_state()

    def play():
        nonlocal state
        misses = evaluate.cache_info().misses
        root = bots[state.current_player()].mcts_search(state)
        state.apply_action(_choose(root, state.move_number(), random))
        is_over = state.is_terminal()
        if is_over:
            state = game.new_initial_state()
        return {
            "positions": 1,
            "games": int(is_over),
            "simulations": settings["simulations"],
            "evaluations": evaluate.cache_info().misses - misses,
        }

    return play


def _make_bot(game, evaluate, simulations):
    return mcts.MCTSBot(
        game,
        _UCT_C,
        simulations,
        evaluate,
        solve=False,
        dirichlet_noise=_NOISE,
        child_selection_fn=mcts.SearchNode.puct_value,
        dont_return_chance_node=True,
    )


def _choose(root, turn, random):
    """Samples by visits in the first moves of a game; later chooses the best move."""
    if turn >= _TEMPERATURE_DROP:
        return root.best_child().action
    visits = np.array([child.explore_count for child in root.children], float)
    return root.children[random.choice(len(visits), p=visits / visits.sum())].action
