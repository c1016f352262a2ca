"""Searches to compare between devices; as a program, it prints their visits on each as JSON."""

import contextlib
import dataclasses
import functools
import json
import sys
import types

import numpy as np

from plainzero import CHANCE, SearchConfig, Searcher, StopFlag, make_game, search
from plainzero.compiler.cpu_kernels import KernelOptions
from plainzero.compiler.gpu_kernels import GpuKernel, specialised
from plainzero.compiler.gpu_memory import IS_SIMULATED
from plainzero.compiler.gpu_source import gpu_version

HOMES = ("plainzero.search", "plainzero.selfplay")  # packages of the functions that kernels call
GAMES = ("tic-tac-toe", "connect-four")
OPTIONS = {
    "uct": ({"selection": "uct"}, "rollout"),
    "puct": ({"selection": "puct"}, "uniform"),
    "puct with a network": ({"selection": "puct", "noise_weight": 0.25}, "network"),
    "gumbel": ({"selection": "gumbel"}, "network"),
    "several leaves": ({"leaves": 4, "pending": "loss"}, "network"),
    "proofs": ({"proven_values": True}, "uniform"),
    "templates": ({"proven_values": True, "templates": 64}, "rollout"),
    "grave": ({"amaf": "grave", "grave_visits": 5}, "rollout"),
}
RARER_OPTIONS = {
    "puct-log": ({"selection": "puct-log", "c_puct_base": 20.0}, "network"),
    "parent's value first": ({"fpu": "parent", "visit_term": "node"}, "network"),
    "reduced value first": ({"fpu": "reduction", "visit_term": "sum"}, "network"),
    "all moves first": ({"fpu": "infinite", "visit_exponent": 0.6}, "network"),
    "spread": ({"c_puct_spread": 0.8, "visit_term": "max-one"}, "network"),
    "rescaled gumbel": (
        {"selection": "gumbel", "gumbel_rescale": True, "gumbel_c_scale": 0.1},
        "network",
    ),
    "widening": ({"widening": 1.5, "prior_threshold": 0.01}, "network"),
    "pruning": ({"prune_margin": 0.2, "prune_visits": 3}, "network"),
    "forced playouts": ({"forced_playouts": 2.0, "noise_weight": 0.25}, "network"),
    "rave": ({"amaf": "rave", "amaf_bias": 0.01}, "rollout"),
    "rollouts and network": ({"rollout_weight": 0.5, "rollouts": 2}, "network"),
    "pending draws": ({"leaves": 3, "pending": "draw"}, "network"),
    "visits": ({"visits": 20}, "network"),
    "nodes": ({"nodes": 9}, "network"),
    "drawn outcomes": ({"chance": "drawn"}, "network"),
}
OPTIONS |= RARER_OPTIONS
CASES = [
    *(
        f"{game} {options}"
        for game in GAMES
        for options in OPTIONS
        if options not in ("templates", *RARER_OPTIONS)
    ),
    *(f"tic-tac-toe {options}" for options in RARER_OPTIONS),
    "gomoku(size=12) puct with a network",  # many edges for each of 32 threads
]
OTHER_GAMES = (
    "dots-and-boxes",
    "trio",
    "2048(size=3,target=64)",
    "pig(target=20,horizon=40)",
    "ultimate-tic-tac-toe",
    "breakthrough(rows=5,cols=4)",
    "gomoku(size=6)",
    "gomoku(size=7,rule=renju)",
    "gomoku-42(size=6)",
    "othello(size=4)",
    "hex(size=4,swap=True)",
    "go(size=4)",
    "orbit",
    "sensor-jammer",
)
OTHER_CASES = [
    *(f"{game} {options}" for game in OTHER_GAMES for options in ("uct", "gumbel")),
    "pig(target=20,horizon=40) drawn outcomes",
    "hex(size=3) templates",
    "tic-tac-toe kept puct with a network",
    "hex(size=3) kept templates",
]


def run_case(case, device):
    """The visits of two positions searched as one batch."""
    game_name, _, option_name = case.partition(" ")
    if option_name.startswith("kept "):
        return run_kept(make_game(game_name), *OPTIONS[option_name.removeprefix("kept ")], device)
    options, evaluator = OPTIONS[option_name]
    game = make_game(game_name)
    states = [played(game, 0), played(game, 1 if game_name in GAMES else 6)]
    simulations = 120 if "templates" in options else 40 if game_name in GAMES else 12
    config = SearchConfig(simulations=simulations, **options)
    results = search(
        game,
        states,
        network(game) if evaluator == "network" else evaluator,
        config,
        seed=3,
        device=device,
    )
    return [result.visits.tolist() for result in results]


def run_kept(game, options, evaluator, device):
    """The visits of two positions; of the positions after a move, in reused trees that must grow;
    and of a search that is stopped before it begins."""
    states, config = [played(game, 0), played(game, 1)], SearchConfig(simulations=12, **options)
    given = network(game) if evaluator == "network" else evaluator
    searcher = Searcher(game, given, config, device=device)
    found = [searcher.search(states, seed=3)]
    searcher.advance([int(result.best_action) for result in found[0]])
    for state, result in zip(states, found[0], strict=True):
        game.apply(state, int(result.best_action))
    searcher.config = dataclasses.replace(searcher.config, simulations=70)
    found.append(searcher.search(states, seed=4))
    stop = StopFlag()
    stop.set()
    found.append(searcher.search(states, seed=5, stop=stop))
    return [result.visits.tolist() for results in found for result in results]


def played(game, plies):
    """The position after `plies` plies, or a few more if chance would be next."""
    state = game.new_state()
    while state.turn < plies or state.to_play == CHANCE:
        legal = game.legal(state)
        game.apply(state, legal[(3 + state.turn) % len(legal)])
    return state


def network(game):
    """Made-up logits, and a made-up value for each player."""
    width = game.num_players

    def evaluate(planes):
        flat = planes.reshape(len(planes), -1)
        weights = np.sin(np.arange(flat.shape[1] * (game.num_actions + width)))
        outputs = flat @ weights.reshape(flat.shape[1], -1)
        return outputs[:, :-width], np.tanh(outputs[:, -width:])

    return evaluate


def call_what_a_gpu_gets():
    """Makes the simulator's kernels call the functions as rewritten for a GPU's compiler."""
    start = GpuKernel.__call__

    def start_rewritten(self, tag, *arguments, **how):
        # Only specialised kernels know option values at compile time.
        is_specialised = specialised.__name__ in self.function.__code__.co_names
        options = next((given for given in arguments if isinstance(given, KernelOptions)), None)
        with rewritten_functions(
            options.compile_time_values() if options and is_specialised else ()
        ):
            start(self, tag, *arguments, **how)

    GpuKernel.__call__ = start_rewritten


@contextlib.contextmanager
def rewritten_functions(known):
    """Within it, the search's functions are replaced by those compiled for a GPU.

    Args:
        known: the compile-time values of the options."""
    places = gpu_functions(known)
    for module, name, _, made in places:
        setattr(module, name, made)
    try:
        yield
    finally:
        for module, name, function, _ in places:
            setattr(module, name, function)


@functools.cache
def gpu_functions(known):
    """Each function's module, name, original, and rewritten version; the latter call each other."""
    places = [
        (module, name, function)
        for module in [sys.modules[name] for name in sys.modules if name.startswith(HOMES)]
        for name, function in vars(module).items()
        if isinstance(function, types.FunctionType) and function.__module__.startswith(HOMES)
    ]
    made = {function: gpu_function(function, known) for _, _, function in places}
    for function, after in made.items():
        if after is not function:
            names = after.__globals__
            names.update({n: made[f] for n, f in names.items() if is_among(f, made)})
    return [(module, name, function, made[function]) for module, name, function in places]


def is_among(thing, functions):
    return isinstance(thing, types.FunctionType) and thing in functions


def gpu_function(function, known):
    """The rewritten function; not the cached one, because its callees are replaced too."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if "options" not in names:
        return gpu_version.__wrapped__(function)
    return gpu_version.__wrapped__(function, names.index("options"), known)


if __name__ == "__main__":
    if IS_SIMULATED:
        call_what_a_gpu_gets()
    devices, cases = sys.argv[1].split(","), sys.argv[2:]
    found = {case: {device: run_case(case, device) for device in devices} for case in cases}
    json.dump(found, sys.stdout)
