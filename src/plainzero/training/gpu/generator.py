"""A generation's games on a GPU; a thread writes them while the next generation is played.

A generation that a killed process left incomplete is played again, with other random numbers.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plainzero.devices import use_device
from plainzero.games.contract import Game
from plainzero.networks.gpu.backend import GpuNetworkEvaluator
from plainzero.selfplay.games_in_progress import move_dtype, status_dtype
from plainzero.selfplay.gpu.harvest import (
    GAMES,
    MOVES,
    SEARCHES,
    SIMULATIONS,
    TARGETS,
    WAITING,
)
from plainzero.selfplay.gpu.worker import GpuWorker, Store, positions_of
from plainzero.selfplay.observations import targets_of
from plainzero.selfplay.records import columns_of, columns_per_game, expand_policies, join
from plainzero.selfplay.shards import list_shards, read_shard, write_shard
from plainzero.training.interfaces import Compilers, Played
from plainzero.training.metrics import describe_games
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import RunConfig, choice_of

_log = logging.getLogger("plainzero")
_HARVESTS_PER_SEARCH = 2
_AHEAD = 2  # harvests started before the counts of the oldest are read; those started when a
# generation is complete find little room, so that finished games have to wait
_MOST_AHEAD = 32  # the same while a generation is saved; the driver queues about 1,000 launches


class PendingCopy:
    """A tensor that is being copied to the host, while the GPU continues."""

    def __init__(self, tensor: Tensor) -> None:
        """Starts the copy, after everything that was started before."""
        self._event: Any = None
        if not tensor.is_cuda:
            self._tensor = tensor.clone()
            return
        self._tensor = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        self._tensor.copy_(tensor, non_blocking=True)
        make_event: Any = torch.cuda.Event
        self._event = make_event()
        self._event.record()

    def array(self) -> NDArray[Any]:
        """The copy, once it is complete."""
        if self._event is not None:
            self._event.synchronize()
        return self._tensor.numpy()


class GpuGenerator:
    """Plays the games of each generation on a GPU; see `Generator`."""

    def __init__(
        self,
        folder: RunFolder,
        config: RunConfig,
        game: Game,
        network: nn.Module,
        device: str,
        compilers: Compilers | None = None,
    ) -> None:
        """Does little: `begin` makes the worker, once its kernels are compiled."""
        self.folder, self.config, self.game, self._device = folder, config, game, device
        self._choice = choice_of(config.training)
        is_bf16 = config.run.backend == "gpu-bf16"
        rows = config.selfplay.games
        self._evaluator = GpuNetworkEvaluator(network, game, device, is_bf16, rows)
        budget = max(config.search.simulations, config.search.visits)
        self._rounds = max(1, budget // _HARVESTS_PER_SEARCH)  # of one harvest
        self._compilers = compilers
        self._worker: GpuWorker | None = None
        self._stores: list[Store] = []
        self._counts: list[PendingCopy] = []  # of the harvests that were started
        self._harvests = 0  # of this generation, or of the previous one
        self._begun, self._since = 0, 0.0  # the generation in progress, and since when
        self._writer = ThreadPoolExecutor(1)
        self._written: Future[Any] | None = None
        self._is_stopped = False

    def prepare(self) -> None:
        """Does nothing: other processes compile meanwhile, and `begin` waits for them."""

    def stop(self) -> None:
        """Ends self-play after the harvests that were started."""
        self._is_stopped = True

    def use_weights(self, network: nn.Module) -> None:
        """Loads new weights into the evaluator; recorded graphs use them too."""
        self._evaluator.load(network)

    def begin(self, generation: int, step: int) -> None:
        """Starts a generation with the weights of `step`, so that the GPU has work until `play`."""
        if self._begun == generation:
            return
        self._begun, self._since = generation, time.monotonic()
        if self._worker is None:
            if self._compilers is not None:
                self._compilers.wait()
            seed = hash((self.config.run.seed, generation)) if generation > 1 else 0
            self._worker = GpuWorker(
                self.game,
                self._evaluator,
                self.config.search,
                self.config.selfplay,
                self.config.run.seed + seed,
                self._choice,
            )
            positions = self.config.training.generation_positions
            self._stores = [self._worker.make_store(positions) for _ in range(2)]
        self._worker.use_weights(step)
        self._store.taken.zero_()
        self._counts = []
        # Most of a generation, so that the GPU has work until `play` is called.
        ahead = max(_AHEAD, min(_MOST_AHEAD, self._harvests * 3 // 4))
        self._harvests = 0
        for _ in range(ahead):
            self._start_harvest()

    def play(
        self,
        generation: int,
        step: int,
        on_progress: Callable[[int, int, int], None],
        seconds: float,
    ) -> Played | None:
        """Plays a generation, or reads it if it was played before; see `Generator`.

        If the games have more moves than fit into a store, the generation has fewer positions.

        Raises:
            ValueError: if the store is full without a single position to learn from.
        """
        shard = next(
            (s for s in list_shards(self.folder.games) if s.generation == generation), None
        )
        if shard is not None and (records := read_shard(self.game, shard)):
            columns = join(records)
            metrics = describe_games(columns.per_game, columns.lengths)
            positions = targets_of(self.game, records, self._choice)
            return Played(positions, len(records), metrics)
        deadline = time.monotonic() + seconds
        wanted = self.config.training.generation_positions
        self.begin(generation, step)
        assert self._worker is not None
        while True:
            counts = self._counts.pop(0).array()
            self._worker.check(counts)
            on_progress(generation, int(counts[TARGETS]), wanted)
            if counts[TARGETS] >= wanted or self._is_full(counts, wanted):
                break
            if self._is_stopped or time.monotonic() > deadline:
                return None
            if len(self._counts) < _AHEAD:
                self._start_harvest()
        while self._counts:
            counts = self._counts.pop(0).array()
            self._worker.check(counts)
        return self._finish(generation, counts, time.monotonic() - self._since)

    def _is_full(self, counts: NDArray[np.int64], wanted: int) -> bool:
        """Whether the store is full, so that no game can be added."""
        if not counts[WAITING]:
            return False
        found = f"{counts[GAMES]:,} games of {counts[MOVES]:,} moves"
        if not counts[TARGETS]:
            raise ValueError(f"{found} had no position to learn from; set a larger full_share")
        _log.warning(
            "%s have %s of %s positions to learn from, and there is no room for more: this "
            "generation ends here; a larger full_share or fewer opening_plies would make more",
            *(found, f"{counts[TARGETS]:,}", f"{wanted:,}"),
        )
        return True

    def wait_until_saved(self) -> None:
        """Returns once the games of all generations played are on disk."""
        if self._written is not None:
            self._written.result()

    def forget(self, generation: int) -> None:
        """Does nothing: games in progress are not on disk."""

    @property
    def _store(self) -> Store:
        return self._stores[self._begun % 2]

    def _start_harvest(self) -> None:
        """Starts rounds, a harvest, and the copy of its counts."""
        assert self._worker is not None
        self._harvests += 1
        self._worker.play(self._rounds)
        self._worker.harvest(self._store)
        self._counts.append(PendingCopy(self._store.taken))

    def _finish(self, generation: int, counts: NDArray[np.int64], seconds: float) -> Played:
        """The generation; its games are written by a thread."""
        store, games = self._store, int(counts[GAMES])
        found = _as_records(PendingCopy(store.games[:games]).array(), status_dtype(self.game))
        moves = PendingCopy(store.moves[: int(counts[MOVES])])
        policies = PendingCopy(store.columns["policies"][: int(counts[TARGETS])])
        self.wait_until_saved()
        self._written = self._writer.submit(self._write, generation, found, moves, policies)
        speed = {
            "games_per_second": games / seconds,
            "positions_per_second": float(counts[SEARCHES]) / seconds,
            "simulations_per_second": float(counts[SIMULATIONS]) / seconds,
        }
        metrics = speed | describe_games(columns_per_game(found), found["length"])
        return Played(positions_of(store, int(counts[TARGETS])), games, metrics)

    def _write(
        self, generation: int, games: NDArray[Any], moves: PendingCopy, policies: PendingCopy
    ) -> None:
        use_device(self._device)  # in this thread, which waits for copies from there
        played = _as_records(moves.array(), move_dtype(self.game))
        columns = columns_of(games, played, expand_policies(played, policies.array()))
        write_shard(self.folder.games, self.game, generation, columns)


def _as_records(raw: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """[N] the records whose bytes are `raw` [N, itemsize]."""
    records: NDArray[Any] = raw.reshape(-1).view(dtype)
    return records
