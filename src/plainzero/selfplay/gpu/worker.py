"""Thousands of games on a GPU, played without the host; finished ones are harvested.

The host starts rounds and harvests. It learns one harvest late how many games have finished, so
that the GPU never waits for it.
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plainzero.compiler.gpu_memory import put, synchronize, upload, view
from plainzero.games.contract import Game, has_chance
from plainzero.games.rules import register
from plainzero.networks.gpu.backend import GpuNetworkEvaluator
from plainzero.networks.gpu.graphs import record
from plainzero.search.config import SearchConfig, check_for_game
from plainzero.search.gpu.pipeline import Part, Pipeline, make_parts
from plainzero.search.gpu.trees import GPU_MEMORY
from plainzero.search.gpu.warp_lanes import lanes_for
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import edges_per_node
from plainzero.search.resolve_options import as_arguments, make_options, resolve
from plainzero.search.runner import check_faults
from plainzero.search.scratch_memory import make_scratch
from plainzero.search.tree_memory import make_tree, plan_tree
from plainzero.selfplay.config import SelfPlayConfig, check_selfplay_search, resolve_selfplay
from plainzero.selfplay.games_in_progress import (
    Games,
    make_games,
    make_play_options,
    move_dtype,
    set_step,
    status_dtype,
)
from plainzero.selfplay.gpu import kernels
from plainzero.selfplay.gpu.harvest import (
    FAULTS,
    GAMES,
    NUM_COUNTS,
    WAITING,
    Harvest,
)
from plainzero.selfplay.observations import Positions
from plainzero.selfplay.worker import reused_nodes
from plainzero.targets.all_targets import Rows, decays_of, row_shapes
from plainzero.targets.target import USUAL_CHOICE, Choice

_KNOWN_RESULTS = 2  # a round waits for its slowest game: docs/lab-notebook.md
_SPARE_GAMES = 2  # additional room in a store, in games of the greatest length


class Store(NamedTuple):
    """Memory on the GPU for the games of a generation. G games, M moves, N targets."""

    games: Tensor  # [G, bytes]
    moves: Tensor  # [M, bytes]
    states: Tensor  # [N, bytes]
    columns: dict[str, Tensor]  # [N, …] of targets; see targets/
    taken: Tensor  # [NUM_COUNTS] what it holds so far
    limits: Tensor  # [3] of games, moves and targets


class GpuWorker:
    """Plays games side by side on the GPU, with a network there.

    Args:
        game: the game.
        evaluator: the network.
        search: options of the searches.
        config: options of the games.
        seed: random seed of all games.
        choice: the targets that are learned.
    """

    def __init__(  # noqa: D107
        self,
        game: Game,
        evaluator: GpuNetworkEvaluator,
        search: SearchConfig,
        config: SelfPlayConfig,
        seed: int,
        choice: Choice = USUAL_CHOICE,
    ) -> None:
        check_for_game(search, game)
        check_selfplay_search(search, config)
        self.game, self.evaluator, self.device = game, evaluator, evaluator.device
        self.choice = choice
        self.search = resolve(search, evaluator, "cuda")
        self.config = resolve_selfplay(config, game)
        self._tag, self._count = register(game), self.config.games
        self._lanes = lanes_for(edges_per_node(game), self._count)
        count = self._count
        size = plan_tree(game, self.search, count, reused_nodes(search, self.config))
        tree = make_tree(game, self.search, count, size, GPU_MEMORY)
        scratch = Scratch(*map(upload, make_scratch(game, self.search, count, seed)))
        games = Games(*map(upload, make_games(game, count)))
        self._play_options = make_play_options(self.config, self.search, choice)
        self._arrays = (tree, scratch, games, upload(self._play_options))
        self._options = as_arguments(make_options(self.search, game, _KNOWN_RESULTS))
        # Proofs and moves are more work between two evaluations than fits beside one, so that
        # several parts would gain nothing.
        parts = make_parts(evaluator, count, count=1)
        self._stream = parts[0].batch.stream
        self._pipeline = Pipeline(parts, self._turn)
        self._counts = torch.zeros((NUM_COUNTS, count), dtype=torch.int64, device=self.device)
        # The recorded harvest of each store, by its address; stores stay alive to keep theirs.
        self._recorded: dict[int, tuple[Store, Any]] = {}
        self._is_started = False
        self._decays = upload(decays_of(choice))

    def use_weights(self, step: int) -> None:
        """Restarts the searches, since the evaluator now has the weights of that step."""
        set_step(self._play_options, self.config, self.search, step)
        put(self._play_options, self._arrays[-1])
        if self._is_started:
            self._run(kernels.begin_searches)
            return
        self._run(kernels.begin_games)
        synchronize()  # before the options change
        self._play_options["staggered"] = False
        put(self._play_options, self._arrays[-1])
        self._is_started = True

    def play(self, rounds: int) -> None:
        """Starts `rounds` rounds of all games."""
        if not self._is_started:
            self.use_weights(0)
        self._pipeline.play(rounds)

    def make_store(self, positions: int) -> Store:
        """Memory for the games of `positions` positions, with some to spare."""
        sizes = games, moves, targets = self._plan_store(positions)
        room = functools.partial(torch.zeros, device=self.device)
        shapes = row_shapes(self.game, self.choice, targets).items()

        def records(count: int, dtype: np.dtype[Any]) -> Tensor:
            return room((count, dtype.itemsize), dtype=torch.uint8)

        return Store(
            games=records(games, status_dtype(self.game)),
            moves=records(moves, move_dtype(self.game)),
            states=records(targets, self.game.dtype),
            columns={name: room(shape) for name, shape in shapes},
            taken=room(NUM_COUNTS, dtype=torch.int64),
            limits=torch.tensor(sizes, device=self.device),
        )

    def _plan_store(self, positions: int) -> tuple[int, int, int]:
        """The number of games, moves and targets of a store.

        There is always room for enough targets. Games and moves may run out by chance: the room is
        what that number of targets needs on average, if every game had an average opening and
        ended with its first searched move.
        """
        config, longest = self.config, self.game.max_turns + 1
        targets = positions + min(self._count, positions) + _SPARE_GAMES * longest
        searches = math.ceil(targets / config.full_share)
        turns = 2 if has_chance(self.game) else 1  # the mover's, and chance's
        most, mean = 1 + config.opening_plies, 1 + config.opening_share * config.opening_plies / 2
        moves = math.ceil(searches * min(longest, turns * mean))
        most_opening = longest if config.staggered else min(longest, turns * most)
        moves += min(self._count, positions) * most_opening
        return searches, moves + _SPARE_GAMES * longest, targets

    def harvest(self, store: Store) -> None:
        """Starts to move the finished games that fit into the store.

        The others, `store.taken[WAITING]` of them, wait for another store.
        """
        key = id(store.taken)
        if key in self._recorded:
            self._recorded[key][1]()
            return
        self._take(store)  # not recorded: this compiles
        self._recorded[key] = store, record(lambda: self._take(store), self.device)

    def check(self, taken: NDArray[np.int64]) -> None:
        """Raises an error for faults of the games; `taken` is a store's, on the host."""
        check_faults(self.game, int(taken[FAULTS]))

    def _take(self, store: Store) -> None:
        tree, scratch, games, play_options = self._arrays
        counts, stream = self._counts, self._stream()
        self._launch(kernels.count_games, scratch, games, view(counts), stream=stream)
        ends = counts.cumsum(1) + store.taken[:, None]
        has_room = (ends[: len(store.limits)] <= store.limits[:, None]).all(0)
        fits = has_room & (counts[GAMES] > 0)
        harvest = Harvest(
            games=_as_records(store.games, status_dtype(self.game)),
            moves=_as_records(store.moves, move_dtype(self.game)),
            rows=Rows(
                states=_as_records(store.states, self.game.dtype),
                decays=self._decays,
                **{name: view(column) for name, column in store.columns.items()},
            ),
        )
        self._launch(
            kernels.take_games,
            tree,
            scratch,
            games,
            play_options,
            view(fits.to(torch.int8)),
            view(ends),
            harvest,
            stream=stream,
        )
        faults = counts[FAULTS].amax()
        store.taken.add_((counts * fits).sum(1))
        store.taken[FAULTS] = faults
        store.taken[WAITING] = (counts[GAMES] * ~fits).sum()

    def _turn(self, part: Part, finishes: bool, selects: bool) -> None:
        """Finishes the leaves of a part, plays moves of finished searches, selects new leaves."""
        tree, scratch, games, _ = self._arrays
        leaves, rows = part.leaves(), (part.first, part.last)
        how: dict[str, Any] = {"lanes": self._lanes, "stream": part.batch.stream()}
        if finishes:
            kernels.finish_turns(self._tag, *self._arrays, self._options, leaves, *rows, **how)
        if selects:
            kernels.select_turns(
                self._tag, tree, scratch, self._options, games, leaves, *rows, **how
            )

    def _run(self, kernel: Any) -> None:
        self._launch(kernel, *self._arrays, stream=self._stream())

    def _launch(self, kernel: Any, *arguments: Any, stream: int) -> None:
        kernel(self._tag, *arguments, 0, self._count, stream=stream)


def positions_of(store: Store, count: int) -> Positions:
    """The first `count` targets in a store."""
    wanted = {name: column[:count] for name, column in store.columns.items() if len(column)}
    return Positions(store.states[:count], wanted)


def observe_rows(game: Game, states: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The observations and the legal actions of states[rows]; on PyTorch's current stream.

    Args:
        game: the game.
        states: uint8 [N, itemsize], the bytes of the game's records.
        rows: int64 [B].

    Returns:
        float32 [B, *shape] and bool [B, A].
    """
    count, room = len(rows), functools.partial(torch.zeros, device=states.device)
    planes = room((count, *game.observation_shape))
    actions = torch.empty((count, game.num_actions), dtype=torch.int32, device=states.device)
    legal = room((count, game.num_actions), dtype=torch.bool)
    stream = int(torch.cuda.current_stream(planes.device).cuda_stream) if planes.is_cuda else 0
    kernels.observe_positions(
        register(game),
        _as_records(states, game.dtype),
        view(rows),
        view(planes),
        view(actions),
        view(legal),
        0,
        count,
        stream=stream,
    )
    return planes, legal


def _as_records(raw: Tensor, dtype: np.dtype[Any]) -> Any:
    """[N] the records whose bytes are `raw` [N, itemsize]."""
    return view(raw.reshape(-1), dtype)
