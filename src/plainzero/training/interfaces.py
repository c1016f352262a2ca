"""The parts of a run as its loop sees them; choose_device.py chooses who implements them."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from plainzero.games.contract import Game
from plainzero.networks.network_evaluators import NetworkEvaluator
from plainzero.search.config import SearchConfig
from plainzero.selfplay.observations import Positions
from plainzero.targets.target import Batch


class Played(NamedTuple):
    """The games of a generation: the positions to learn from, and statistics."""

    positions: Positions
    games: int
    metrics: dict[str, float]


class Generator(Protocol):
    """Plays the games of each generation."""

    def prepare(self) -> None:
        """Does what only the first game would have to wait for; changes nothing."""

    def begin(self, generation: int, step: int) -> None:
        """Starts a generation with the weights of `step`, if games can be played concurrently."""

    def play(
        self,
        generation: int,
        step: int,
        on_progress: Callable[[int, int, int], None],
        seconds: float,
    ) -> Played | None:
        """Plays a generation with the weights of `step`, or reads it if it was played before.

        Args:
            generation: counted from 1.
            step: of the weights that play.
            on_progress: called with the generation, the positions so far and the number wanted.
            seconds: after which it gives up.

        Returns:
            The generation; None if it was stopped, or ran out of time, before it was complete.
        """

    def use_weights(self, network: nn.Module) -> None:
        """Loads new weights for the games to come."""

    def stop(self) -> None:
        """Ends self-play as soon as possible; from any thread."""

    def wait_until_saved(self) -> None:
        """Returns once the games of all generations played are on disk."""

    def forget(self, generation: int) -> None:
        """Deletes what is on disk only to resume after that generation."""


class Compilers(Protocol):
    """Compile the kernels of a run in separate processes."""

    def wait(self) -> None:
        """Returns once the kernels of self-play are compiled."""

    def wait_for_search(self) -> None:
        """Returns once those of searches are compiled, if they were requested."""


class Replay(Protocol):
    """The positions to learn from, and the batches drawn from them.

    Attributes:
        total: positions ever added.
    """

    total: int

    def __len__(self) -> int:
        """The number of positions that batches are drawn from."""

    def add(self, positions: Positions, generation: int) -> None:
        """Adds the positions of a generation; drops the oldest if there are too many."""

    def plan_steps(self, count: int, generator: np.random.Generator) -> None:
        """Plans the positions of the next steps, at most `count`."""

    def prepare_step(self) -> bool:
        """Whether another step is planned; `draw` then returns its batch."""

    def draw(self) -> Batch:
        """The batch of the prepared step, whose positions count as used."""

    def learned(self, batch: Batch, losses: Tensor) -> None:
        """Takes note of the loss [B] of each position."""

    def draw_old(self, count: int, random: np.random.Generator) -> NDArray[np.int64]:
        """Up to `count` different rows, drawn from those of generations before the latest."""

    def states_of(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """[K] the states of rows, as the game's records."""

    def replace(self, rows: NDArray[np.int64], columns: Mapping[str, NDArray[Any]]) -> None:
        """Replaces columns of rows by those [K, …] of a new search, except where they are NaN."""

    @property
    def layout(self) -> tuple[int, int]:
        """Changes once `draw` reads from other addresses: a captured step is then invalid."""

    def changed(self) -> list[Tensor]:
        """The tensors that `draw` and `learned` write to."""

    def mean_age(self, generation: int) -> float:
        """The average age of the positions, in generations."""

    def mean_uses(self) -> float:
        """How often each position was used, on average."""

    def saved(self) -> dict[str, NDArray[Any]]:
        """The part of the state that `restore` needs once the same positions are added again."""

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Puts back what `saved` returned, unless it is about other positions."""


class Learner(Protocol):
    """Trains a network.

    Attributes:
        network: the weights after the latest step.
        average: their moving average, which plays.
        step: steps taken so far.
    """

    network: nn.Module
    average: nn.Module
    step: int

    def prepare(self, game: Game) -> None:
        """Does what only the first step would have to wait for; learns nothing."""

    def learn(self, replay: Replay, progress: float) -> dict[str, float]:
        """Takes the steps that the replay has planned.

        Args:
            replay: draws the batches.
            progress: of the run, 0 to 1; sets the learning rate.

        Returns:
            Metrics, averaged over all positions.

        Raises:
            FloatingPointError: if a gradient is not finite.
        """

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on, as tensors on the CPU by name."""

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Resumes from what `state` of any learner returned.

        Raises:
            ValueError: if the tensors are of another network.
        """


class Assessor(Protocol):
    """Measures the strength of weights in the run's folder, at once or in a separate process."""

    @property
    def is_busy(self) -> bool:
        """Whether a request has not been answered yet."""

    def ask(self, step: int) -> None:
        """Requests the strength of the weights of a step."""

    def found(self, waits: bool = False) -> dict[str, float]:
        """The latest answer since the last call, as metrics; with `waits`, to all requests."""


Gate = Callable[[NetworkEvaluator, NetworkEvaluator, SearchConfig, int], bool]
"""Whether new weights (the first) may replace those that play (the second); the last is a seed."""


class Listener(Protocol):
    """Follows the progress of a run."""

    def on_selfplay(self, generation: int, positions: int, wanted: int) -> None:
        """Self-play has made `positions` of the positions wanted."""

    def on_learning(self, generation: int, steps: int) -> None:
        """Learning begins."""

    def on_generation(self, metrics: dict[str, Any], progress: float) -> None:
        """A generation is complete and saved."""
