"""Draws the rows of a ring that each step learns from, on the ring's device."""

import numpy as np
import torch
from torch import Tensor

from plainzero.training.ring import Ring
from plainzero.training.settings import TrainingConfig

PADDING = -1
"""Fills up a step that has fewer than batch_size positions; always at its end."""


class StepBuffer:
    """The rows of the next steps [S, B], read one step at a time.

    The number of steps read is on the device: a captured read gives the next step each time.

    Attributes:
        num_symmetries: of the game, the identity included; 1 if positions are not transformed.
        done: [1] how many of the steps were read.
        reallocations: how often the buffer got another address.
    """

    def __init__(self, batch_size: int, num_symmetries: int, device: torch.device) -> None:
        """A buffer without steps."""
        self.batch_size, self.num_symmetries, self.device = batch_size, num_symmetries, device
        self.done = torch.zeros(1, dtype=torch.int64, device=device)
        self.reallocations = 0
        self._allocate(1)

    def _allocate(self, steps: int) -> None:
        shape = (steps, self.batch_size)
        self._rows = torch.zeros(shape, dtype=torch.int64, device=self.device)
        self._symmetries = torch.zeros(shape, dtype=torch.int16, device=self.device)

    def put(self, rows: Tensor, generator: torch.Generator) -> None:
        """Replaces the steps by rows [S, B], each with a random symmetry."""
        if len(rows) > len(self._rows):
            self._allocate(max(len(rows), 2 * len(self._rows)))
            self.reallocations += 1
        self._rows[: len(rows)] = rows
        self._symmetries[: len(rows)].random_(0, self.num_symmetries, generator=generator)
        self.done.zero_()

    def next(self) -> tuple[Tensor, Tensor]:
        """The rows [B] and symmetries [B] of the next step; can be captured in a CUDA graph."""
        rows, symmetries = (a.index_select(0, self.done)[0] for a in (self._rows, self._symmetries))
        self.done.add_(1)
        return rows, symmetries.long()


class BatchSampler:
    """Draws the rows of a generation's steps: uniformly without repeats, or by priority.

    Uniform rows are drawn in passes over all positions that may still be used; rows by priority are
    drawn anew for each step. No row is in a step twice. A step with fewer usable positions than
    batch_size, as in a small window, is filled up with `PADDING`.
    """

    def __init__(
        self,
        ring: Ring,
        buffer: StepBuffer,
        config: TrainingConfig,
        steps: int,
        generator: np.random.Generator,
    ) -> None:
        """Plans at most `steps` steps; uniform rows are all drawn here."""
        self._ring, self._buffer, self._config = ring, buffer, config
        self._steps, self._begun = steps, 0
        self._generator = torch.Generator(buffer.device)
        self._generator.manual_seed(int(generator.integers(2**63 - 1)))
        if config.priority > 0:
            left = (config.max_uses - ring.in_order("uses")).clamp(min=0)
            self._uses_left = int(left.sum())
        else:
            rows = _draw_passes(ring, config, steps, self._generator)
            self._steps = len(rows)
            buffer.put(rows, self._generator)

    def prepare_step(self) -> bool:
        """Whether there is another step; its rows are then next in the buffer."""
        if self._begun == self._steps:
            return False
        self._begun += 1
        return self._config.priority == 0 or self._draw_by_priority()

    def _draw_by_priority(self) -> bool:
        """Draws the rows of one step. Not captured with the step: the window's size varies."""
        ring, config, size = self._ring, self._config, self._buffer.batch_size
        rows, uses = ring.rows(), ring.in_order("uses")
        # At least `usable` positions are left, since each counts max_uses times at most. The host
        # waits for the device only if that is less than a batch, and thus perhaps nothing.
        usable = (self._uses_left - (self._begun - 1) * size) // config.max_uses
        if usable < size and not bool((uses < config.max_uses).any()):
            return False
        # The largest log p + Gumbel noise: a draw by p without repeats.
        noise = torch.empty(len(rows), device=self._buffer.device)
        noise.exponential_(generator=self._generator).clamp_(min=1e-30).log_()
        keys = config.priority * ring.in_order("priorities").log() - noise
        keys = keys.masked_fill(uses >= config.max_uses, -torch.inf)
        best = keys.topk(min(size, len(rows)))
        step = _empty_step(size, self._buffer.device)
        step[0, : len(best.indices)] = rows[best.indices].where(best.values > -torch.inf, PADDING)
        self._buffer.put(step, self._generator)
        return True


def _draw_passes(
    ring: Ring, config: TrainingConfig, steps: int, generator: torch.Generator
) -> Tensor:
    """[S, B] rows in passes over all that may still be used; S < steps once none are left."""
    places, uses, size = ring.rows(), ring.in_order("uses"), config.batch_size
    device = places.device
    drawn, planned = [_empty_step(size, device)[:0]], 0
    waiting = places[:0]  # the end of a pass, too short for a step
    while planned < steps:
        usable = torch.nonzero(uses < config.max_uses)[:, 0]
        order = usable[torch.randperm(len(usable), generator=generator, device=device)]
        uses[order] += 1
        is_waiting = torch.zeros(len(places), dtype=torch.bool, device=device)
        is_waiting[waiting] = True
        is_again = is_waiting[order]
        order = torch.cat([waiting, order[~is_again], order[is_again]])
        first = min(size, len(order) - int(is_again.sum()))  # none of these is a repeat
        if first == 0:
            break
        full = min((len(order) - first) // size, steps - planned - 1)
        end = first + full * size
        step = _empty_step(size, device)
        step[0, :first] = places[order[:first]]
        drawn += [step, places[order[first:end]].view(full, size)]
        waiting, planned = order[end:], planned + 1 + full
    return torch.cat(drawn)


def _empty_step(size: int, device: torch.device) -> Tensor:
    return torch.full((1, size), PADDING, device=device)
