"""Self-play and search on a device beside the CPU's; as a program it prints what it found as JSON.

In Numba's simulator it must be a process of its own: see tests/search/gpu/test_gpu_search.py.
"""

import json
import sys
import weakref
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from played_games import as_key

from plainzero import SearchConfig, make_game, search
from plainzero.networks.gpu.backend import GpuBatch
from plainzero.search.gpu.trees import GPU_MEMORY
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.selfplay.games_in_progress import move_dtype, status_dtype
from plainzero.selfplay.gpu.compile_worker import SEARCH, SELFPLAY, compile_kernels
from plainzero.selfplay.gpu.harvest import GAMES, MOVES, TARGETS, WAITING
from plainzero.selfplay.gpu.worker import GpuWorker, observe_rows, positions_of
from plainzero.selfplay.observations import Positions, observe_all, targets_of
from plainzero.selfplay.records import columns_of, expand_policies, from_table, to_table
from plainzero.selfplay.worker import Worker
from plainzero.targets import all_targets
from plainzero.targets.target import Choice

STEP = 7  # the weights that play
EVERYTHING = Choice(tuple(target.name for target in all_targets.TARGETS), horizons=(1.0, 3.0))
CASES = {
    "gumbel": ("tic-tac-toe", {"selection": "gumbel", "proven_values": True}, {}),
    "puct": (
        "tic-tac-toe",
        {"selection": "puct", "noise_weight": 0.25},
        {"reuse_tree": True, "full_share": 0.5, "cheap_simulations": 3},
    ),
    "resigning": ("tic-tac-toe", {}, {"resign_below": 0.1, "resign_turns": 1, "end_proven": False}),
    "boxes": ("dots-and-boxes", {}, {}),
    "three players": ("trio", {}, {"temperature_turns": 3}),
    "chance": ("2048(size=2,target=16)", {}, {}),
}
SEARCHES = {
    "puct": {"noise_weight": 0.25},
    "gumbel": {"selection": "gumbel"},
    "several leaves": {"leaves": 3},
    "proofs": {"proven_values": True},
}


class ExactEvaluator:
    """Answers that are the same on every device and in every batch: sums of whole numbers."""

    def __init__(self, game, device="cpu", factor=1.0):
        generator = np.random.default_rng(3)
        columns = game.num_players if game.num_players > 2 else 1
        size = int(np.prod(game.observation_shape)), game.num_actions + columns
        self.game, self.device = game, torch.device(device)
        self._weights = torch.tensor(generator.integers(-8, 9, size), dtype=torch.float64)
        self._weights = (self._weights * factor).to(self.device)

    def network(self, planes):
        sums = (planes.flatten(1).double() @ self._weights).float()
        actions = self.game.num_actions
        return sums[:, :actions] / 8, (sums[:, actions:] / 64).clamp(-1, 1)

    def __call__(self, planes):
        logits, values = self.network(torch.from_numpy(planes).to(self.device))
        values = values if values.shape[1] > 1 else values[:, 0]
        return logits.cpu().numpy(), values.cpu().numpy()

    rows_at_once = 0

    def leaf_batch(self, rows):
        network = (
            TwoSteps(self.network, self.game, self.device) if self.rows_at_once else self.network
        )
        return GpuBatch(network, self.game, rows, self.device)


class TwoSteps:
    """A network that copies the observations first, and answers when it is asked to."""

    name, at_once = "two steps", 1

    def __init__(self, network, game, device):
        self._network, self._game, self._device = network, game, device

    def load(self, network):
        raise AssertionError("nobody does")

    def __call__(self, planes):
        return self._network(planes)

    def make_buffers(self, rows):
        return torch.zeros((rows, *self._game.observation_shape), device=self._device)

    def read(self, planes, buffers):
        buffers.copy_(planes)

    def answer(self, buffers, logits, values):
        for mine, answer in zip((logits, values), self._network(buffers), strict=True):
            mine.copy_(answer)


def play_case(name, device, is_exact):
    """What is to be found of a case's games: how many, and how many the CPU does not play too."""
    title, search_options, options = CASES[name]
    game = make_game(title)
    config = SelfPlayConfig(games=6, **options)
    settings = SearchConfig(simulations=5, **search_options), config, 1
    worker = GpuWorker(game, ExactEvaluator(game, device), *settings, choice=EVERYTHING)
    worker.use_weights(STEP)
    store = worker.make_store(24)
    while store.taken[TARGETS] < 24:
        worker.play(4)
        worker.harvest(store)
        worker.check(store.taken.cpu().numpy())
    records, positions = records_in(game, store), positions_in(game, store)
    reference = Worker(game, ExactEvaluator(game), *settings, choice=EVERYTHING)
    reference.use_weights(STEP)
    key = as_key if is_exact else moves_of
    unknown, played = Counter(map(key, records)), 0
    while unknown and played < 5 * len(records):
        expected = reference.play_round()
        unknown -= Counter(map(key, expected))
        played += len(expected)
    replayed = flat(targets_of(game, records, EVERYTHING))
    return {
        "games": len(records),
        "endings": sorted({record.ending for record in records}),
        "steps": sorted({(record.first_step, record.last_step) for record in records}),
        "unknown": unknown.total(),
        "differing": [
            column for column, mine in positions.items() if not is_same(mine, replayed[column])
        ],
    }


def is_same(mine, other):
    """Whether both hold the same; an unknown score is NaN."""
    is_float = mine.dtype.kind == "f"
    return np.array_equal(mine, other, equal_nan=is_float)


def moves_of(record):
    return tuple(record.moves), tuple(record.is_target), tuple(record.returns), record.ending


def records_in(game, store):
    """The games of a store, by way of the table that is written to disk."""
    taken = store.taken.tolist()
    status = as_records(store.games[: taken[GAMES]], status_dtype(game))
    moves = as_records(store.moves[: taken[MOVES]], move_dtype(game))
    policies = expand_policies(moves, store.columns["policies"][: taken[TARGETS]].cpu().numpy())
    return from_table(game, to_table(game, columns_of(status, moves, policies)))


def positions_in(game, store):
    positions = positions_of(store, int(store.taken[TARGETS]))
    columns = {name: column.cpu().numpy() for name, column in positions.targets.items()}
    return flat(Positions(as_records(positions.states, game.dtype), columns))


def flat(positions):
    return {"states": positions.states, **positions.targets}


def as_records(raw, dtype):
    return raw.cpu().numpy().reshape(-1).view(dtype)


def fill_stores(device):
    """How much two small stores hold, one after the other, and all games that came of it."""
    game = make_game("tic-tac-toe")
    config = SelfPlayConfig(games=4, opening_share=0.0)
    worker = GpuWorker(game, ExactEvaluator(game, device), SearchConfig(simulations=2), config, 0)
    stores = [worker.make_store(1) for _ in range(2)]
    limits = stores[0].limits.tolist()
    worker.play(32)  # all games end, and wait
    found, waiting = [], []
    for store in stores:
        for _ in range(2):
            worker.harvest(store)
            found.append(store.taken.tolist()[: TARGETS + 1])
            waiting.append(store.taken.tolist()[WAITING])
    kept = [weakref.ref(store.taken) for store in stores]
    del store, stores
    is_kept = all(taken() is not None for taken in kept)
    return {"taken": found, "waiting": waiting, "limits": limits, "is_kept": is_kept}


def play_rare_targets(device):
    """What a store has once its games have ended of which few moves are targets."""
    game, wanted = make_game("tic-tac-toe"), 48
    config = SelfPlayConfig(games=4, full_share=0.25, cheap_simulations=1)
    search_config = SearchConfig(simulations=2)
    worker = GpuWorker(game, ExactEvaluator(game, device), search_config, config, 0)
    store = worker.make_store(wanted)
    for _ in range(200):
        worker.play(8)
        worker.harvest(store)
        if store.taken[TARGETS] >= wanted or store.taken[WAITING]:
            break
    return {"is_enough": bool(store.taken[TARGETS] >= wanted), "taken": store.taken.tolist()}


def observe(device):
    """Whether positions are observed as on the host, with the same legal actions."""
    game = make_game("connect-four")
    states = np.zeros(3, game.dtype)
    states[:] = game.new_state()
    for row in range(3):
        for _ in range(6 * row):  # the first columns fill up
            game.apply(states[row], game.legal(states[row])[0])
    raw = torch.from_numpy(states.view(np.uint8).reshape(3, -1)).to(device)
    rows = torch.tensor([2, 0, 2, 1], device=device)
    planes, legal = (found.cpu().numpy() for found in observe_rows(game, raw, rows))
    drawn = states[[2, 0, 2, 1]]
    listed = [np.flatnonzero(row).tolist() for row in legal]
    is_legal = listed == [game.legal(state) for state in drawn]
    return is_legal and np.array_equal(planes, observe_all(game, drawn))


def search_case(name, device):
    """The visits of three positions on the device, in one part and in three, and on the CPU."""
    game, found = make_game("tic-tac-toe"), {}
    states = [game.new_state() for _ in range(3)]
    game.apply(states[1], 4)
    game.apply(states[2], 0)
    config = SearchConfig(simulations=16, **SEARCHES[name])
    for title, place, at_once in (("cpu", "cpu", 0), ("one", "cuda", 0), ("three", "cuda", 1)):
        evaluator = ExactEvaluator(game, "cpu" if place == "cpu" else device)
        evaluator.rows_at_once = at_once
        results = search(game, states, evaluator, config, seed=1, device=place)
        found[title] = [result.visits.tolist() for result in results]
    return found


def message_of(work):
    """What the fault says that this ends with."""
    try:
        work()
    except (ValueError, RuntimeError) as fault:
        return f"{type(fault).__name__}: {fault}"
    return ""


def take_too_much():
    GPU_MEMORY.empty((1 << 46,), np.int8)


def play_with_no_numbers(device):
    game = make_game("tic-tac-toe")
    evaluator = ExactEvaluator(game, device, factor=float("nan"))
    worker = GpuWorker(game, evaluator, SearchConfig(simulations=2), SelfPlayConfig(games=2), 0)
    store = worker.make_store(1)
    worker.play(2)
    worker.harvest(store)
    worker.check(store.taken.cpu().numpy())


def compile_all():
    """The kernels that can be compiled by being called for one game."""
    for name in (names := [*SELFPLAY, *SEARCH]):
        compile_kernels(make_game("tic-tac-toe"), name, SearchConfig(simulations=4))
    return names


def find_all(device, is_exact):
    """Everything there is to know, by what it is about."""
    return {
        "games": {name: play_case(name, device, is_exact) for name in CASES},
        "searches": {name: search_case(name, device) for name in SEARCHES},
        "stores": fill_stores(device),
        "rare targets": play_rare_targets(device),
        "is_observed": observe(device),
        "compiled": compile_all(),
        "too much": message_of(take_too_much),
        "no numbers": message_of(lambda: play_with_no_numbers(device)),
    }


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1] / "search" / "gpu"))
    from gpu_search_program import call_what_a_gpu_gets

    call_what_a_gpu_gets()
    json.dump(find_all("cpu", is_exact=True), sys.stdout)
