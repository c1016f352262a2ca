"""Columns of tensors that hold the latest rows; rows that stay are not copied."""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

Column = tuple[tuple[int, ...], torch.dtype]
"""The shape and the type of one row."""


class Ring:
    """Columns of equal length in which new rows overwrite those that are dropped.

    A full ring is reallocated with at least twice the capacity, so that a row is copied about once
    on average, even if rows are added one by one.

    Attributes:
        columns: by name, [capacity, …]; the row after the last is the first.
        reallocations: how often the columns got other addresses.
    """

    def __init__(self, columns: Mapping[str, Column], capacity: int, device: torch.device) -> None:
        """An empty ring for `capacity` rows, at least 1."""
        self.columns = {
            name: torch.zeros((capacity, *shape), dtype=dtype, device=device)
            for name, (shape, dtype) in columns.items()
        }
        self.reallocations = 0
        self._device, self._capacity = device, capacity
        self._first = self._count = 0

    def __len__(self) -> int:
        """The number of rows in use."""
        return self._count

    def rows(self) -> Tensor:
        """[N] the indices of the rows in use, oldest first."""
        return (torch.arange(self._count, device=self._device) + self._first) % self._capacity

    def in_order(self, name: str) -> Tensor:
        """[N, …] a copy of the rows in use of a column, oldest first."""
        column = self.columns[name]
        return torch.cat([column[:0], *(column[part] for part in self._parts(0, self._count))])

    def put(self, name: str, values: Tensor) -> None:
        """Overwrites the rows in use of a column with values [N, …], oldest first."""
        done = 0
        for part in self._parts(0, self._count):
            length = part.stop - part.start
            self.columns[name][part] = values[done : done + length]
            done += length

    def append(self, new: Mapping[str, Tensor], keep: int) -> None:
        """Adds new rows to all columns, then drops all but the latest `keep` rows."""
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
        for name in self.columns:  # one by one, so that only one column is held twice
            old = self.in_order(name)
            self.columns[name] = old.new_zeros((capacity, *old.shape[1:]))
            self.columns[name][: len(old)] = old
        self._first, self._capacity = 0, capacity
        self.reallocations += 1

    def _parts(self, offset: int, length: int) -> Iterator[slice]:
        """The `length` rows from the offset-th on, as one or two slices of the columns."""
        start = (self._first + offset) % self._capacity
        head = min(length, self._capacity - start)
        if head:
            yield slice(start, start + head)
        if length > head:
            yield slice(0, length - head)
