"""Motion near a circular orbit: the equations of Clohessy and Wiltshire on whole numbers.

In Hill's frame, which turns with the orbit at n radians per second, x is radial, outwards, and y
along the track, forwards; x'' = 3n²x + 2ny' and y'' = −2nx'. With velocities written as v / n, all
four coordinates are lengths, and the matrix that moves them has no units and depends only on the
angle by which the orbit turns. It is kept as integers, and coordinates are rounded to whole units:
every machine computes the very same, and −z moves to just minus where z moves.
"""

import math
from typing import Any

PHASES = 8
"""Places on an ellipse where a craft may begin."""

BITS = 20
"""After the point, of the numbers in the matrix."""

HALF = 1 << (BITS - 1)


def coasting_matrix(angle: float) -> tuple[int, ...]:
    """The Clohessy–Wiltshire transition while the orbit turns by `angle`, times 2^BITS.

    Rows for x, y − its old value, x' / n and y' / n; columns for x, x' / n and y' / n.
    """
    s, c = math.sin(angle), math.cos(angle)
    numbers = (
        *(4 - 3 * c, s, 2 * (1 - c)),
        *(6 * (s - angle), -2 * (1 - c), 4 * s - 3 * angle),
        *(3 * s, c, 2 * s),
        *(-6 * (1 - c), -2 * s, 4 * c - 3),
    )
    return tuple(round(number * 2**BITS) for number in numbers)


def move_freely(matrix: Any, x: Any, y: Any, u: Any, w: Any) -> tuple[Any, Any, Any, Any]:
    """x, y, u = x' / n and w = y' / n after coasting by a matrix of `coasting_matrix`."""
    return (
        nearest(matrix[0] * x + matrix[1] * u + matrix[2] * w),
        y + nearest(matrix[3] * x + matrix[4] * u + matrix[5] * w),
        nearest(matrix[6] * x + matrix[7] * u + matrix[8] * w),
        nearest(matrix[9] * x + matrix[10] * u + matrix[11] * w),
    )


def nearest(number: Any) -> Any:
    """The number without its BITS after the point, rounded; −z gives just minus what z gives."""
    if number >= 0:
        return (number + HALF) >> BITS
    return -((HALF - number) >> BITS)


def ellipse_starts(half_axis: float) -> tuple[int, ...]:
    """x, y, x' / n and y' / n of each place on the ellipse, the second half mirroring the first.

    It is the closed orbit about the asset that a craft keeps to with its engine off, twice as long
    as high; the places are equally spaced in time.
    """
    first: list[int] = []
    for phase in range(PHASES // 2):
        angle = 2 * math.pi * phase / PHASES
        a, b = half_axis * math.cos(angle), half_axis * math.sin(angle)
        first += [round(a), round(-2 * b), round(-b), round(-2 * a)]
    return (*first, *(-number for number in first))
