"""What every implementation of a network on a GPU provides.

It is a function from observations to logits and values, both float32. It never synchronises with
the GPU, so a call can be recorded as a graph, and new weights replace old ones in place.
"""

from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn


class GpuNetwork(Protocol):
    """One implementation of a network."""

    name: str
    at_once: int
    """Positions that it reads at the same time; 0 if it leaves no room for other kernels."""

    def load(self, network: nn.Module) -> None:
        """Replaces the weights in place by those of a network of the same shape."""

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] and values [B, 1 or players] of observations [B, *shape]."""


@runtime_checkable
class TwoStepNetwork(GpuNetwork, Protocol):
    """A network in two steps; the second leaves room for another batch's first step."""

    def make_buffers(self, rows: int) -> Any:
        """Buffers between the two steps, for `rows` observations."""

    def read(self, planes: Tensor, buffers: Any) -> None:
        """The first step: from observations [B, *shape] to what the second step reads."""

    def answer(self, buffers: Any, logits: Tensor, values: Tensor) -> None:
        """The second: writes logits [B, A] and values [B, 1 or players]."""
