"""How many bits of a number are set, and which is the lowest: an instruction each when compiled.

Rules whose board is the bits of an integer list its cells like this, with `ONE = np.uint64(1)`:

    while bits:
        cell = lowest_bit(bits)
        bits &= bits - ONE
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from plainzero.compiler.cpu_kernels import compiled_as

_WORD = 2**64 - 1


def count_bits(bits: Any) -> int:
    """How many of the 64 bits of an integer are set."""
    return (int(bits) & _WORD).bit_count()


def lowest_bit(bits: Any) -> int:
    """The number of the lowest bit that is set, 0 to 63; 64 if none is."""
    return count_bits(~int(bits) & (int(bits) - 1))


@compiled_as(count_bits)
def _count_bits(bits: Any) -> Any:
    return lambda bits: _population_count(np.uint64(bits))


@compiled_as(lowest_bit)
def _lowest_bit(bits: Any) -> Any:
    # The bits below the lowest one; for NVIDIA's compiler these three are as short as its own way.
    return lambda bits: _population_count(~np.uint64(bits) & (np.uint64(bits) - np.uint64(1)))


@intrinsic
def _population_count(_typing_context: Any, bits: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(bits), generate
