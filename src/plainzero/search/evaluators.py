"""What may evaluate a leaf, and the check of what it returned.

`"uniform"` and `"rollout"` are built in and run inside the native loop. Anything else is a function
from observations [B, *shape] to logits [B, A] and values: [B], for the player to move (games of one
player, or of two whose returns sum to zero), or [B, players], from the mover on: column k is for
the k-th player after the mover in seat order, (mover + k) mod players, and column 0 for the mover.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game

Evaluator = str | Callable[[NDArray[np.float32]], tuple[Any, Any]]

BUILT_IN = ("uniform", "rollout")


class EvaluatorError(ValueError):
    """An evaluator that is none, or that returned something of the wrong shape or not a number."""


def check_evaluator(evaluator: Evaluator) -> None:
    """Refuses what cannot evaluate.

    Raises:
        EvaluatorError: says what can.
    """
    if isinstance(evaluator, str) and evaluator not in BUILT_IN:
        raise EvaluatorError(
            f"there is no evaluator {evaluator!r}; choose {' or '.join(BUILT_IN)}, or give a "
            "function from observations to (logits, values)"
        )
    if not isinstance(evaluator, str) and not callable(evaluator):
        raise EvaluatorError(
            f"the evaluator is a {type(evaluator).__name__}; it must be {' or '.join(BUILT_IN)}, "
            "or a function from observations to (logits, values)"
        )


def evaluate(
    evaluator: Callable[[NDArray[np.float32]], tuple[Any, Any]],
    planes: NDArray[np.float32],
    game: Game,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Logits [B, A] and values [B, 1 or players] of the observations.

    Raises:
        EvaluatorError: when what came back has another shape.
    """
    returned: Any = evaluator(planes)
    if not (isinstance(returned, tuple | list) and len(returned) == 2):
        raise EvaluatorError("the evaluator must return a pair: logits and values")
    logits, values = returned
    logits = np.ascontiguousarray(logits, np.float32)
    values = np.ascontiguousarray(values, np.float32)
    batch, players = len(planes), game.num_players
    if logits.shape != (batch, game.num_actions):
        raise EvaluatorError(
            f"the evaluator returned logits of shape {logits.shape}; {game.name} needs "
            f"{(batch, game.num_actions)}: a row per observation, a column per action"
        )
    shapes = [(batch, players)] + ([(batch,)] if players <= 2 else [])
    if values.shape not in shapes:
        raise EvaluatorError(
            f"the evaluator returned values of shape {values.shape}; {game.name} needs "
            + " or ".join(str(shape) for shape in shapes)
        )
    return logits, values.reshape(batch, -1)


class LeafArrays(NamedTuple):
    """The arrays of a `DeviceBatch` as kernels see them."""

    planes: Any  # [R, *shape]
    cells: Any  # [R, all cells of a row] the same memory
    logits: Any  # [R, A]
    values: Any  # [R, 1 or players]


class DeviceBatch(Protocol):
    """Room for a round of leaves in the memory of a GPU, and a network there that reads it.

    An evaluator that has a method `device_batch(rows)` which returns this is asked on the GPU; its
    `at_once` says how many rows it reads at the same time if it leaves room for other kernels, else
    0. The arrays can be seen by kernels (`__cuda_array_interface__`), lie in order, and stay there.
    """

    planes: Any  # [R, *shape] float32 observations
    logits: Any  # [R, A] float32
    values: Any  # [R, 1 or players] float32

    def run(self) -> None:
        """Reads all rows, which is most of the work."""

    def answer(self) -> None:
        """Writes logits and values of the rows read last, if `run` has not.

        It takes so little of the GPU that another batch's `run` goes on beside it.
        """

    def stream(self) -> int:
        """The stream on which all that is asked for now is done, as the driver knows it."""

    def apart(self, work: Callable[[], object]) -> None:
        """Does `work` after all that was asked for before; what follows does not wait for it.

        In a graph, what is not done apart has precedence.
        """

    def join(self) -> None:
        """What follows waits for what was done apart."""

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """Does not do `work` but returns what does it again and again, as one graph."""
