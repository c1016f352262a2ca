"""What a learner trains: a network, and heads beside it that never play."""

import logging
from typing import Any

from torch import Tensor, nn

from plainzero.networks.architectures import Output
from plainzero.networks.extra_heads import ExtraHeads

_log = logging.getLogger("plainzero")


class Learned:
    """A network and its extra heads, if any.

    Attributes:
        network: from `make_network`.
        heads: from `make_extra_heads`, or None.
    """

    def __init__(self, network: Any, heads: ExtraHeads | None) -> None:
        """Takes both as they are."""
        self.network, self.heads = network, heads if heads else None

    def __call__(self, planes: Tensor) -> Output:
        """The output for observations [B, *shape], with the answers of the extra heads."""
        features = self.network.body(planes)
        output: Output = self.network.answer(features)
        return output if self.heads is None else output._replace(extras=self.heads(features))

    def named_parameters(self) -> dict[str, nn.Parameter]:
        """All weights by a name for the optimiser: a number, or heads.NAME."""
        numbered = {str(i): weight for i, weight in enumerate(self.network.parameters())}
        if self.heads is None:
            return numbered
        return numbered | {f"heads.{name}": w for name, w in self.heads.named_parameters()}

    def parameters(self) -> list[nn.Parameter]:
        """All weights, the network's first."""
        return list(self.named_parameters().values())

    def state(self) -> dict[str, Tensor]:
        """The tensors of both, by name."""
        heads = {} if self.heads is None else self.heads.state_dict()
        return {f"network.{name}": t for name, t in self.network.state_dict().items()} | {
            f"heads.{name}": tensor for name, tensor in heads.items()
        }

    def restore_heads(self, tensors: dict[str, Tensor]) -> dict[str, nn.Parameter | None]:
        """Restores the heads that `state` had, as far as they are the same; others stay as new.

        Returns:
            `named_parameters`, with None instead of those of new heads.
        """
        found: dict[str, nn.Parameter | None] = dict(self.named_parameters())
        for name, head in (self.heads or {}).items():
            prefix, own = f"heads.{name}.", head.state_dict()
            saved = {k: tensors[f"{prefix}{k}"] for k in own if f"{prefix}{k}" in tensors}
            if {k: t.shape for k, t in saved.items()} == {k: t.shape for k, t in own.items()}:
                head.load_state_dict(saved)
                continue
            _log.warning("the head of %s starts anew: the saved state has none like it", name)
            found |= {label: None for label in found if label.startswith(prefix)}
        return found
