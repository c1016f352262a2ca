"""Random numbers for kernels: one stream per game, the same on every device.

MWC64X: state x, output high ⊕ low, next state A · low + high. The product of two 32-bit numbers
plus a third never overflows 64 bits, so NumPy, compiled code and CUDA agree without wrapping
arithmetic; it passes TestU01's BigCrush (Thomas, 2011).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIER = np.uint64(4294883355)


def make_streams(seed: int, count: int, first: int = 0) -> NDArray[np.uint64]:
    """States for games `first` … `first + count − 1`: splitmix64 of the seed and of the game."""
    games = np.arange(first, first + count, dtype=np.uint64)
    root = _mix(np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64))
    streams = _mix(root + games * np.uint64(0x9E3779B97F4A7C15))
    low = np.maximum(streams & _LOW, np.uint64(1))  # 0 would stay 0
    high = (streams >> _HALF) % _MULTIPLIER
    states: NDArray[np.uint64] = high << _HALF | low
    return states


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of splitmix64; arrays wrap silently where scalars would warn."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel_function
def random_bits(streams: Any, b: Any) -> Any:
    """32 random bits from game b's stream."""
    x = streams[b]
    low, high = x & _LOW, x >> _HALF
    streams[b] = low * _MULTIPLIER + high
    return low ^ high


@kernel_function
def random_below(streams: Any, b: Any, count: Any) -> Any:
    """A whole number from 0 to count − 1."""
    return np.int64((random_bits(streams, b) * np.uint64(count)) >> _HALF)


@kernel_function
def random_unit(streams: Any, b: Any) -> Any:
    """A number between 0 and 1, never either."""
    high = np.float64(random_bits(streams, b) >> np.uint64(5))  # 27 bits
    low = np.float64(random_bits(streams, b) >> np.uint64(6))  # 26 bits
    return (high * 67108864.0 + low + 0.5) / 9007199254740992.0


@kernel_function
def random_normal(streams: Any, b: Any) -> Any:
    """A standard normal number, by Box and Muller."""
    radius = math.sqrt(-2.0 * math.log(random_unit(streams, b)))
    return radius * math.cos(2.0 * math.pi * random_unit(streams, b))


@kernel_function
def random_gamma(streams: Any, b: Any, alpha: Any) -> Any:
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
def random_gumbel(streams: Any, b: Any) -> Any:
    """A number from the standard Gumbel distribution."""
    return -math.log(-math.log(random_unit(streams, b)))
