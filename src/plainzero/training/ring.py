"""Rows of tensors on a device of which the latest are kept, without moving those that stay."""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

Column = tuple[tuple[int, ...], torch.dtype]
"""The shape and the type of one row."""


class Ring:
    """Columns of equal length in which new rows overwrite those that are dropped.

    When there is no room the columns are exchanged for others of at least twice the length, so that
    a row is copied about once on average, however many are added one by one.

    Attributes:
        columns: by name, [capacity, …]; the row after the last is the first.
        moves: how often the columns were exchanged.
    """

    def __init__(self, columns: Mapping[str, Column], capacity: int, device: torch.device) -> None:
        """Room for `capacity` rows, which is 1 or more, and none of them used."""
        self.columns = {
            name: torch.zeros((capacity, *shape), dtype=dtype, device=device)
            for name, (shape, dtype) in columns.items()
        }
        self.moves = 0
        self._device, self._capacity = device, capacity
        self._first = self._count = 0

    def __len__(self) -> int:
        """The rows in use."""
        return self._count

    def rows(self) -> Tensor:
        """[N] where the rows in use are, the oldest first."""
        return (torch.arange(self._count, device=self._device) + self._first) % self._capacity

    def in_order(self, name: str) -> Tensor:
        """[N, …] a copy of what a column has in use, the oldest first."""
        column = self.columns[name]
        return torch.cat([column[:0], *(column[part] for part in self._parts(0, self._count))])

    def put(self, name: str, values: Tensor) -> None:
        """Overwrites a column; values [N, …] are the oldest first."""
        done = 0
        for part in self._parts(0, self._count):
            length = part.stop - part.start
            self.columns[name][part] = values[done : done + length]
            done += length

    def append(self, new: Mapping[str, Tensor], keep: int) -> None:
        """Adds the latest of the new rows of all columns, then has at most `keep` of the latest."""
        given = len(next(iter(new.values())))
        count = min(given, keep)
        stay = min(self._count, keep - count)
        self._first = (self._first + self._count - stay) % self._capacity
        self._count = stay
        self._reserve(stay + count)
        done = given - count
        for part in self._parts(stay, count):
            length = part.stop - part.start
            for name, column in self.columns.items():
                column[part] = new[name][done : done + length]
            done += length
        self._count = stay + count

    def _reserve(self, count: int) -> None:
        if count <= self._capacity:
            return
        capacity = max(count, 2 * self._capacity)
        for name in self.columns:  # one after the other, so that only one is there twice
            old = self.in_order(name)
            self.columns[name] = old.new_zeros((capacity, *old.shape[1:]))
            self.columns[name][: len(old)] = old
        self._first, self._capacity = 0, capacity
        self.moves += 1

    def _parts(self, offset: int, length: int) -> Iterator[slice]:
        """So many rows from the offset-th on, as one or two stretches of the columns."""
        start = (self._first + offset) % self._capacity
        head = min(length, self._capacity - start)
        if head:
            yield slice(start, start + head)
        if length > head:
            yield slice(0, length - head)
