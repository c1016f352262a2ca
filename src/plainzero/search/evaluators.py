"""What evaluates leaves: the protocols of host and GPU evaluators, and the checks of their output.

`"uniform"` and `"rollout"` are built in and run inside the compiled loop. Anything else is a
function from observations [B, *shape] to logits [B, A] and values: [B], for the player to move
(games of one player, or of two players whose returns sum to zero), or [B, players], starting with
the mover: column k belongs to the k-th player after the mover in seat order, (mover + k) mod
players, and column 0 to the mover.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plainzero.games.contract import Game

BUILT_IN = ("uniform", "rollout")


class EvaluatorError(ValueError):
    """An unusable evaluator, or output of the wrong shape or not finite."""


@runtime_checkable
class HostEvaluator(Protocol):
    """A function that evaluates observations in host memory."""

    def __call__(self, planes: NDArray[np.float32], /) -> tuple[ArrayLike, ArrayLike]:
        """Logits [B, A], and values [B] or [B, players], of observations [B, *shape]."""


class LeafBatch(Protocol):
    """A round of leaves in GPU memory, and a network on the same GPU that evaluates it.

    The arrays are contiguous, visible to kernels (`__cuda_array_interface__`), and never move.
    """

    planes: Any  # [R, *shape] float32 observations
    logits: Any  # [R, A] float32
    values: Any  # [R, 1 or players] float32

    def run(self) -> None:
        """Evaluates all rows, except for what is left to `answer`."""

    def answer(self) -> None:
        """Writes logits and values of the rows evaluated last, if `run` has not.

        It uses so little of the GPU that another batch's `run` can proceed at the same time.
        """

    def stream(self) -> int:
        """The driver's handle of the stream that work is submitted to now."""

    def on_side_stream(self, work: Callable[[], object]) -> None:
        """Does `work` after everything submitted before; what follows does not wait for it.

        In a graph, what is on the main stream has priority.
        """

    def join_side_stream(self) -> None:
        """Makes what follows wait for the work on the side stream."""

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """Returns a function that replays `work` as one graph; does not do it now."""


@runtime_checkable
class GpuEvaluator(HostEvaluator, Protocol):
    """An evaluator whose network is on a GPU: searches on that GPU leave their leaves there."""

    @property
    def device(self) -> object:
        """The GPU, as PyTorch names it; `cpu` in Numba's simulator."""

    @property
    def rows_at_once(self) -> int:
        """Rows that the network evaluates at a time; 0 if it leaves no room for other kernels."""

    def leaf_batch(self, rows: int) -> LeafBatch:
        """Room for that many leaves, with this network."""


Evaluator = str | HostEvaluator
"""One of `BUILT_IN`, or a function; a `GpuEvaluator` is a function too."""


class LeafArrays(NamedTuple):
    """The arrays of a `LeafBatch` as kernels see them."""

    planes: Any  # [R, *shape]
    cells: Any  # [R, cells of a row] the same memory
    logits: Any  # [R, A]
    values: Any  # [R, 1 or players]


def check_evaluator(evaluator: object) -> None:
    """Refuses what cannot evaluate.

    Raises:
        EvaluatorError: says what can.
    """
    if isinstance(evaluator, str):
        if evaluator not in BUILT_IN:
            raise EvaluatorError(
                f"unknown evaluator {evaluator!r}; choose {' or '.join(BUILT_IN)}, or pass a "
                "function from observations to (logits, values)"
            )
    elif not isinstance(evaluator, HostEvaluator):
        raise EvaluatorError(
            f"the evaluator is a {type(evaluator).__name__}; it must be {' or '.join(BUILT_IN)}, "
            "or a function from observations to (logits, values)"
        )


def device_of(evaluator: object) -> str:
    """The device on which a search needs no copies to use the evaluator: its GPU, or cpu."""
    if not isinstance(evaluator, GpuEvaluator):
        return "cpu"
    own = str(evaluator.device)
    return own if own.startswith("cuda") else "cuda"  # in the simulator the network is on the CPU


def evaluate(
    evaluator: HostEvaluator, planes: NDArray[np.float32], game: Game
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Logits [B, A] and values [B, 1 or players] of the observations.

    Raises:
        EvaluatorError: if the output has another shape.
    """
    returned: object = evaluator(planes)
    if not (isinstance(returned, tuple | list) and len(returned) == 2):
        raise EvaluatorError("the evaluator must return a pair: logits and values")
    logits, values = (np.ascontiguousarray(array, np.float32) for array in returned)
    batch, players = len(planes), game.num_players
    if logits.shape != (batch, game.num_actions):
        raise EvaluatorError(
            f"the evaluator returned logits of shape {logits.shape}; {game.name} needs "
            f"{(batch, game.num_actions)}: one row per observation, one column per action"
        )
    shapes = [(batch, players)] + ([(batch,)] if players <= 2 else [])
    if values.shape not in shapes:
        raise EvaluatorError(
            f"the evaluator returned values of shape {values.shape}; {game.name} needs "
            + " or ".join(str(shape) for shape in shapes)
        )
    return logits, values.reshape(batch, -1)
