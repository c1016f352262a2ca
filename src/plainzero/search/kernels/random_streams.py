"""Random numbers for kernels: one stream per game, the same on every device.

MWC64X: state x, output high ⊕ low, next state A · low + high. The product of two 32-bit numbers
plus a third never overflows 64 bits, so NumPy, CPU and GPU agree without wrapping arithmetic;
it passes TestU01's BigCrush (Thomas, 2011).
"""

import math

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIER = np.uint64(4294883355)


@kernel_function
def random_bits(streams: NDArray[np.uint64], b: int) -> np.uint64:
    """32 random bits from game b's stream."""
    x = streams[b]
    low, high = x & LOW, x >> HALF
    streams[b] = low * MULTIPLIER + high
    return low ^ high


@kernel_function
def random_below(streams: NDArray[np.uint64], b: int, count: int) -> int:
    """A whole number from 0 to count − 1."""
    return int(np.int64((random_bits(streams, b) * np.uint64(count)) >> HALF))


@kernel_function
def random_unit(streams: NDArray[np.uint64], b: int) -> float:
    """A number strictly between 0 and 1."""
    high = np.float64(random_bits(streams, b) >> np.uint64(5))  # 27 bits
    low = np.float64(random_bits(streams, b) >> np.uint64(6))  # 26 bits
    return (high * 67108864.0 + low + 0.5) / 9007199254740992.0


@kernel_function
def random_normal(streams: NDArray[np.uint64], b: int) -> float:
    """A standard normal number, by Box and Muller."""
    radius = math.sqrt(-2.0 * math.log(random_unit(streams, b)))
    return radius * math.cos(2.0 * math.pi * random_unit(streams, b))


@kernel_function
def random_gamma(streams: NDArray[np.uint64], b: int, alpha: float) -> float:
    """A number from Gamma(alpha, 1), by Marsaglia and Tsang (2000)."""
    boost = 1.0
    if alpha < 1.0:  # Gamma(α) = Gamma(α + 1) · U^(1/α)
        boost = math.exp(math.log(random_unit(streams, b)) / alpha)
        alpha += 1.0
    d = alpha - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = random_normal(streams, b)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(random_unit(streams, b)) < 0.5 * x * x + d - d * v + d * math.log(
            v
        ):
            return boost * d * v


@kernel_function
def random_gumbel(streams: NDArray[np.uint64], b: int) -> float:
    """A number from the standard Gumbel distribution."""
    return -math.log(-math.log(random_unit(streams, b)))
