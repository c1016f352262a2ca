"""`plainzero bench search`: the speed and memory of searches and playouts."""

from plainzero.bench.cpu_rates import (
    bot_playout_rate,
    bot_rate,
    open_spiel_name,
    playout_rate,
    search_rate,
)
from plainzero.bench.measure import Workload
from plainzero.games.contract import Game
from plainzero.games.registry import make_game
from plainzero.search.api import search
from plainzero.search.config import SearchConfig

_LARGE = 100_000


def search_workloads() -> list[Workload]:
    """The workloads in the order of the table's rows."""
    four, three = make_game("connect-four"), make_game("tic-tac-toe")
    peer = open_spiel_name()
    bot = bot_rate("connect_four", simulations=20_000) if peer else None
    return [
        Workload(
            "Connect Four, UCT + rollout, 20,000 simulations",
            "simulations/s",
            search_rate(four, "rollout", 20_000),
            peer,
            bot,
        ),
        Workload(
            "Connect Four, PUCT, constant, 64 × 800",
            "simulations/s",
            search_rate(four, "uniform", 800, games=64),
            peer,
            bot,
        ),
        Workload(
            "Connect Four, random playouts",
            "playouts/s",
            playout_rate(four, 100_000),
            peer,
            bot_playout_rate("connect_four", 10_000) if peer else None,
        ),
        Workload(
            "tic-tac-toe, random playouts",
            "playouts/s",
            playout_rate(three, 200_000),
            peer,
            bot_playout_rate("tic_tac_toe", 100_000) if peer else None,
        ),
        Workload(
            "Connect Four, UCT + rollout, 512 × 800, two threads",
            "simulations/s",
            search_rate(four, "rollout", 800, games=512, threads=2),
            "one thread",
            search_rate(four, "rollout", 800, games=512),
        ),
        Workload(
            "Connect Four, PUCT, 512 × 800, two threads",
            "simulations/s",
            search_rate(four, "uniform", 800, games=512, threads=2),
            "one thread",
            search_rate(four, "uniform", 800, games=512),
        ),
        *_memory_workloads(four),
    ]


def _memory_workloads(game: Game) -> list[Workload]:
    def tree_bytes() -> float:
        config = SearchConfig(simulations=_LARGE)
        return float(search(game, game.new_state(), "uniform", config).tree.used_bytes)

    return [
        Workload(
            "Connect Four, a node with its edges",
            "bytes",
            lambda: tree_bytes() / _LARGE,
            is_rate=False,
        ),
        Workload(
            f"Connect Four, tree of {_LARGE:,} simulations", "bytes", tree_bytes, is_rate=False
        ),
    ]
