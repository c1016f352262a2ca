"""Bits of integers: compiled code and plain Python agree, and rules may call both functions."""

import numpy as np
import pytest
from numba import njit, types

from plainzero.compiler.bind_rules import Binder
from plainzero.compiler.bit_numbers import count_bits, lowest_bit
from plainzero.compiler.cpu_kernels import rule_function
from plainzero.compiler.gpu_ptx import function_to_ptx, missing_compiler

NUMBERS = [
    (np.uint64(2**63), 1, 63),
    (np.uint64(2**64 - 1), 64, 0),
    (np.int32(-8), 61, 3),
    (np.int8(24), 2, 3),
    (0b101000, 2, 3),
    (0, 0, 64),
]


class Bits:
    def both(self, bits):
        return count_bits(bits), lowest_bit(bits)


@pytest.mark.parametrize(("bits", "count", "lowest"), NUMBERS)
def test_python_and_compiled_rules_count_alike(bits, count, lowest):
    assert Bits().both(bits) == (count, lowest)
    rule = Binder(Bits(), rule_function, "bits").method("both")
    assert njit(lambda bits: rule(bits))(bits) == (count, lowest)


@pytest.mark.skipif(bool(missing_compiler()), reason="needs NVIDIA's compiler")
def test_a_gpu_has_an_instruction_for_it():
    assert "popc.b64" in function_to_ptx(_store_lowest, (types.int64[:], types.uint64))


def _store_lowest(numbers, bits):
    numbers[0] = lowest_bit(bits)
