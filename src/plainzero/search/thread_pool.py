"""Threads that share the games of a batch, or any other range."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy as np

from plainzero.compiler.cpu_kernels import Kernel

_PARTS_PER_THREAD = 4  # so that a delayed thread leaves work to the others


class ThreadPool:
    """Runs kernels over ranges, a share in each thread; one thread means the caller's own."""

    def __init__(self, threads: int = 1) -> None:
        """That many threads; leaving the `with` block ends them."""
        self._threads = threads
        self._executor = ThreadPoolExecutor(threads) if threads > 1 else None

    def run(self, kernel: Kernel, tag: str, arguments: tuple[Any, ...], count: int) -> int:
        """Calls kernel(tag, *arguments, first, last) until 0 … `count` − 1 is covered.

        Returns the sum of what the calls return; None counts as 0.
        """
        if self._executor is None:
            return int(kernel(tag, *arguments, 0, count) or 0)
        parts = min(count, _PARTS_PER_THREAD * self._threads)
        bounds = np.linspace(0, count, parts + 1).astype(int).tolist()
        jobs = [
            self._executor.submit(kernel, tag, *arguments, first, last)
            for first, last in itertools.pairwise(bounds)
        ]
        return sum(int(job.result() or 0) for job in jobs)

    def __enter__(self) -> "ThreadPool":
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Waits for its threads and ends them."""
        if self._executor is not None:
            self._executor.shutdown()
