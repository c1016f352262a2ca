"""Several threads that search one tree together give the result of a single thread.

The functions of the search run here as plain Python, in real threads with a barrier, switched as
often as possible. A shared loop that only the leader runs, lanes that diverge, or a number read
while the leader changes it, breaks the barrier or changes the visits.
"""

import sys
import threading

import numpy as np
import pytest
from gpu_search_program import network, played

from plainzero import SearchConfig, make_game
from plainzero.games.rules import register
from plainzero.search.kernels import expansion, lanes, proof, root, selection, simulation
from plainzero.search.resolve_options import make_options, resolve
from plainzero.search.scratch_memory import make_scratch
from plainzero.search.tree_memory import TreeSize, make_tree, plan_tree

MODULES = (expansion, proof, root, selection, simulation)
PATIENCE = 500.0  # seconds that a thread waits for the others before the test fails


class Team:
    """The lanes of one game as threads."""

    def __init__(self, count):
        self.count, self.own = count, threading.local()
        self._barrier, self._slots = threading.Barrier(count), [None] * count

    def lane(self):
        return self.own.lane

    def num_lanes(self):
        return self.count

    def leads(self):
        return self.own.lane == 0

    def join_lanes(self):
        self._barrier.wait(PATIENCE)

    def leaders(self, value):
        return self._exchange(value)[0]

    def largest_of_lanes(self, value):
        return max(self._exchange(value))

    def best_of_lanes(self, place, score):
        return max(self._exchange((score, -place)))[1] * -1

    def run(self, work):
        """Runs `work` in all lanes; raises the first error, if any."""
        errors = []

        def walk(lane):
            self.own.lane = lane
            try:
                work()
            except Exception as error:
                errors.append(error)
                self._barrier.abort()

        threads = [threading.Thread(target=walk, args=(lane,)) for lane in range(self.count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for error in sorted(errors, key=lambda error: "Broken" in type(error).__name__):
            raise error

    def _exchange(self, value):
        self._slots[self.own.lane] = value
        self._barrier.wait(PATIENCE)
        values = list(self._slots)
        self._barrier.wait(PATIENCE)
        return values


def search_by(team, game, state, config, size=None):
    """The root's visits and other statistics of the tree after a search by the team."""
    register(game)
    evaluator = network(game)
    config = resolve(config, evaluator)
    tree = make_tree(game, config, 1, size or plan_tree(game, config, 1))
    scratch, options = make_scratch(game, config, 1, 3), make_options(config, game)[0]
    planes = np.zeros((config.leaves, *game.observation_shape), np.float32)

    def select():
        simulation.select_in_game(tree, scratch, options, 0, state)
        team.join_lanes()
        simulation.observe_leaves(tree, scratch, 0, planes, 0)

    while not simulation.is_finished(tree, scratch, options, 0) or not tree.roots[0].num_nodes:
        planes[:] = 0
        team.run(select)
        logits, values = (np.float32(answer) for answer in evaluator(planes))
        team.run(
            lambda: simulation.finish_leaves(tree, scratch, options, 0, logits, values, 0)  # noqa: B023
        )
    first, node = tree.nodes[0, 0].first_edge, tree.nodes[0, 0]
    edges = tree.edges[0, first : first + node.num_edges]
    return {
        "visits": edges["visits"].tolist(),
        "q": edges["q"].tolist(),
        "value": node.value_sum.tolist(),
        "nodes": int(tree.roots[0].num_nodes),
        "simulations": int(scratch.work[0].simulations),
        "notes": int(scratch.work[0].notes),
    }


@pytest.fixture
def switching_often():
    """Threads are switched after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize(
    ("name", "options", "size"),
    [
        ("tic-tac-toe", {"noise_weight": 0.25}, None),
        ("tic-tac-toe", {"selection": "gumbel", "proven_values": True}, None),
        ("tic-tac-toe", {"leaves": 3, "pending": "loss"}, None),
        ("tic-tac-toe", {"widening": 1.0, "fpu": "reduction", "forced_playouts": 2.0}, None),
        ("tic-tac-toe", {"proven_values": True}, TreeSize(8, 40)),  # a tree that is soon full
        ("gomoku(size=5)", {"noise_weight": 0.25}, None),  # 24 edges
        ("connect-four(rows=4,cols=5)", {"selection": "puct-log"}, None),
        ("pig(target=20,horizon=40)", {"selection": "puct"}, None),  # chance
        ("hex(size=3)", {"proven_values": True, "templates": 64}, None),
    ],
)
@pytest.mark.parametrize("count", [2, 4])
def test_several_threads_search_like_one(name, options, size, count, monkeypatch, switching_often):
    game = make_game(name)
    state, config = played(game, 1), SearchConfig(simulations=14, **options)
    alone = search_by(Alone(), game, state, config, size)
    team = Team(count)
    shared = [name for name in vars(Team) if not name.startswith("_") and name != "run"]
    for module in MODULES:
        for function in shared:
            if hasattr(module, function):
                monkeypatch.setattr(module, function, getattr(team, function))
    assert search_by(team, game, state, config, size) == alone
    assert sum(alone["visits"]) == alone["simulations"] > 5


class Alone:
    """One thread."""

    def join_lanes(self):
        lanes.join_lanes()

    def run(self, work):
        work()
