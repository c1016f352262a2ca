"""Which rows of a ring the next steps use, drawn and kept on the ring's device."""

import numpy as np
import torch
from torch import Tensor

from plainzero.training.ring import Ring
from plainzero.training.settings import TrainingConfig

SURPLUS = -1
"""Stands for no position in a step that has fewer than batch_size; never the first of a step."""


class PlannedSteps:
    """A buffer of steps [S, B] on a device, read one by one by a counter on that device.

    Attributes:
        num_turns: symmetries of which each row gets one; 1 is none but the identity.
        done: [1] how many of the steps were read.
        moves: how often the buffer got another address.
        plan: whose steps they are, while these may be used.
    """

    def __init__(self, batch_size: int, num_turns: int, device: torch.device) -> None:
        """No steps."""
        self.batch_size, self.num_turns, self.device = batch_size, num_turns, device
        self.done = torch.zeros(1, dtype=torch.int64, device=device)
        self.moves = 0
        self.plan: RowPlan | None = None
        self._make(1)

    def _make(self, steps: int) -> None:
        shape = (steps, self.batch_size)
        self._rows = torch.zeros(shape, dtype=torch.int64, device=self.device)
        self._turns = torch.zeros(shape, dtype=torch.int16, device=self.device)

    def put(self, rows: Tensor, generator: torch.Generator) -> None:
        """Has the steps [S, B] read next, with symmetries at random."""
        if len(rows) > len(self._rows):
            self._make(max(len(rows), 2 * len(self._rows)))
            self.moves += 1
        self._rows[: len(rows)] = rows
        self._turns[: len(rows)].random_(0, self.num_turns, generator=generator)
        self.done.zero_()

    def next(self) -> tuple[Tensor, Tensor]:
        """The rows [B] and symmetries [B] of the next step; can be captured."""
        rows, turns = (a.index_select(0, self.done)[0] for a in (self._rows, self._turns))
        self.done.add_(1)
        return rows, turns.long()


class RowPlan:
    """The rows that a generation's steps use, drawn on the device; see `Plan`.

    Every step has batch_size rows. Where there are fewer positions that may be used, as in a window
    smaller than a batch, each is in the step once and the rest of its rows is surplus.
    """

    def __init__(
        self,
        ring: Ring,
        steps: PlannedSteps,
        config: TrainingConfig,
        batches: int,
        generator: np.random.Generator,
    ) -> None:
        """Plans so many steps; uniform rows are all drawn here."""
        self._ring, self._steps, self._config = ring, steps, config
        self._batches, self._begun = batches, 0
        self._generator = torch.Generator(steps.device)
        self._generator.manual_seed(int(generator.integers(2**63 - 1)))
        steps.plan = self
        if config.priority > 0:
            left = (config.max_uses - ring.in_order("uses")).clamp(min=0)
            self._uses_left = int(left.sum())
        else:
            rows = _draw_passes(ring, config, batches, self._generator)
            self._batches = len(rows)
            steps.put(rows, self._generator)

    def prepare(self) -> bool:
        """Whether there is another step, whose rows are then those that are read next.

        Raises:
            RuntimeError: when the window has changed since, or there is another plan.
        """
        if self._steps.plan is not self:
            raise RuntimeError("this plan is out of date: use it before the next add or plan")
        if self._begun == self._batches:
            return False
        self._begun += 1
        return self._config.priority == 0 or self._draw_by_priority()

    def _draw_by_priority(self) -> bool:
        """Draws one step's rows: not captured with the step, since the window's size varies."""
        ring, config, size = self._ring, self._config, self._steps.batch_size
        rows, uses = ring.rows(), ring.in_order("uses")
        # At least so many may be used, since each may max_uses times at most. Only when that is no
        # batch, and thus perhaps nothing, is the host made to wait for the device.
        usable = (self._uses_left - (self._begun - 1) * size) // config.max_uses
        if usable < size and not bool((uses < config.max_uses).any()):
            return False
        # Those with the largest log p + Gumbel noise are drawn by p without repeats.
        noise = torch.empty(len(rows), device=self._steps.device)
        noise.exponential_(generator=self._generator).clamp_(min=1e-30).log_()
        keys = config.priority * ring.in_order("priorities").log() - noise
        keys = keys.masked_fill(uses >= config.max_uses, -torch.inf)
        best = keys.topk(min(size, len(rows)))
        step = _empty_step(size, self._steps.device)
        step[0, : len(best.indices)] = rows[best.indices].where(best.values > -torch.inf, SURPLUS)
        self._steps.put(step, self._generator)
        return True


def _draw_passes(
    ring: Ring, config: TrainingConfig, batches: int, generator: torch.Generator
) -> Tensor:
    """[S, B] rows in passes over all that may still be used; S is less where there are none."""
    places, uses, size = ring.rows(), ring.in_order("uses"), config.batch_size
    device = places.device
    steps, planned = [_empty_step(size, device)[:0]], 0
    waiting = places[:0]  # what a pass left that filled no batch
    while planned < batches:
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
        full = min((len(order) - first) // size, batches - planned - 1)
        end = first + full * size
        step = _empty_step(size, device)
        step[0, :first] = places[order[:first]]
        steps += [step, places[order[first:end]].view(full, size)]
        waiting, planned = order[end:], planned + 1 + full
    return torch.cat(steps)


def _empty_step(size: int, device: torch.device) -> Tensor:
    return torch.full((1, size), SURPLUS, device=device)
