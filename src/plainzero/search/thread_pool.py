"""Threads that share out the games of a batch, or any other range."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy as np

_PARTS_PER_THREAD = 4  # so that a thread which was held up leaves work to the others


class Pool:
    """Runs kernels over ranges, a share in each thread; with one thread the caller does it all."""

    def __init__(self, threads: int = 1) -> None:
        """That many threads; used in a `with`, which ends them."""
        self._threads = threads
        self._executor = ThreadPoolExecutor(threads) if threads > 1 else None

    def run(self, kernel: Any, tag: str, arguments: tuple[Any, ...], count: int) -> None:
        """Calls kernel(tag, *arguments, first, last) until 0 to `count` is covered."""
        if self._executor is None:
            kernel(tag, *arguments, 0, count)
            return
        parts = min(count, _PARTS_PER_THREAD * self._threads)
        bounds = np.linspace(0, count, parts + 1).astype(int).tolist()
        jobs = [
            self._executor.submit(kernel, *(tag, *arguments, first, last))
            for first, last in itertools.pairwise(bounds)
        ]
        for job in jobs:
            job.result()

    def __enter__(self) -> "Pool":
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Waits for its threads, and ends them."""
        if self._executor is not None:
            self._executor.shutdown()
