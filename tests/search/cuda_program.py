"""Searches to compare between devices; run as a program it prints the visits on CUDA as JSON."""

import json
import sys

import numpy as np

from tesuji import SearchConfig, make_game, search

GAMES = ("tic-tac-toe", "connect-four")
OPTIONS = {
    "uct": ({"selection": "uct"}, "rollout"),
    "puct": ({"selection": "puct"}, "uniform"),
    "puct with a network": ({"selection": "puct", "noise_weight": 0.25}, "network"),
    "gumbel": ({"selection": "gumbel"}, "network"),
    "several leaves": ({"leaves": 4, "pending": "loss"}, "network"),
    "proofs": ({"proven_values": True}, "uniform"),
    "grave": ({"amaf": "grave", "grave_visits": 5}, "rollout"),
}
CASES = [f"{game} {options}" for game in GAMES for options in OPTIONS]


def run_case(case, device):
    """The visits of two positions searched side by side."""
    game_name, _, option_name = case.partition(" ")
    options, evaluator = OPTIONS[option_name]
    game = make_game(game_name)
    states = [game.new_state(), game.new_state()]
    game.apply(states[1], 3)
    config = SearchConfig(simulations=40, **options)
    results = search(
        game,
        states,
        network(game) if evaluator == "network" else evaluator,
        config,
        seed=3,
        device=device,
    )
    return [result.visits.tolist() for result in results]


def network(game):
    def evaluate(planes):
        flat = planes.reshape(len(planes), -1)
        weights = np.sin(np.arange(flat.shape[1] * (game.num_actions + 1)))
        outputs = flat @ weights.reshape(flat.shape[1], -1)
        return outputs[:, :-1], np.tanh(outputs[:, -1])

    return evaluate


if __name__ == "__main__":
    json.dump({case: run_case(case, "cuda") for case in sys.argv[1:]}, sys.stdout)
