"""Threads that walk one tree together: on a GPU a game has several, its lanes; elsewhere one.

All lanes of a game run the same code and take the same branches. What they read is the same for
all, so nobody minds; loops over edges they share, each taking every n-th; and what is written once
is written by the leader alone, between two `join_lanes`, so that nobody reads it half done. A
function with a loop that is shared must be called by all lanes, never by the leader alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cuda, types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.numpy_support import as_dtype

from tesuji.compiling import KERNEL

MOST_LANES = 32
"""Threads of a warp."""

_VECTOR = 16  # bytes that one thread of a GPU can write at once, where they begin at such a place
_WORD = ir.IntType(32)

# Of all games; with more, games wait for each other: docs/measurements.md. Beside a network there
# is room for four warps on each of 132 multiprocessors, and a few may wait.
_MOST_THREADS, _MOST_THREADS_BESIDE = 65_536, 20_480


def lanes_for(edges: int, games: int, is_beside: bool = False) -> int:
    """How many threads walk each of so many trees, whose nodes have at most so many edges.

    Fewer where that `is_beside` a network's work.
    """
    most = _MOST_THREADS_BESIDE if is_beside else _MOST_THREADS
    lanes = 1
    while lanes < min(edges, MOST_LANES) and 2 * lanes * games <= most:
        lanes *= 2
    return lanes


def copy_record(records: Any, b: Any, target: Any, source: Any) -> None:
    """Writes record [b, source] over [b, target]; its words are shared by the threads."""
    records[b, target] = records[b, source]


def fill_record(record: Any, values: Any) -> None:
    """Writes the fields of a record, all of them, in their order."""
    for name, value in zip(record.dtype.names, values, strict=True):
        record[name] = value


def lane() -> Any:
    """The number of this thread among its game's, from 0."""
    return 0


def num_lanes() -> Any:
    """How many threads the game has."""
    return 1


# For counting.py: loops over what threads share count upwards.
lane.is_natural = num_lanes.is_natural = True  # type: ignore[attr-defined]


def leads() -> Any:
    """Whether this is the thread that writes."""
    return True


def join_lanes() -> None:
    """Waits for the game's other threads; what any of them wrote before, all see after it."""


def leaders(value: Any) -> Any:
    """The leader's value of an integer."""
    return value


def largest_of_lanes(value: Any) -> Any:
    """The largest of all threads' values."""
    return value


def best_of_lanes(place: Any, score: Any) -> Any:
    """The place of the largest score, of equals the first."""
    return place


def _gpu_copy_record(records: Any, b: Any, target: Any, source: Any) -> None:
    copy_words(records[b, target], records[b, source], lane(), num_lanes())


@intrinsic
def copy_words(_: Any, target: Any, source: Any, first: Any, step: Any) -> Any:
    """Copies every `step`-th word of a record, from the `first` on; words as large as it allows.

    Numba copies records byte by byte on a GPU.
    """

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        size = as_dtype(target).alignment
        word = ir.IntType(8 * size)
        places = [builder.bitcast(pointer, word.as_pointer()) for pointer in arguments[:2]]
        count = ir.Constant(arguments[2].type, target.size // size)
        with cgutils.for_range_slice(builder, arguments[2], count, arguments[3]) as (index, _):
            to, source_word = (builder.gep(place, [index]) for place in places)
            builder.store(builder.load(source_word), to)
        return None

    return types.void(target, source, first, step), generate


def _cpu_fill_record(record: Any, values: Any) -> None:
    store_fields(record, values)


def _gpu_fill_record(record: Any, values: Any) -> None:
    store_vectors(record, values)


@intrinsic
def store_fields(_: Any, record: Any, values: Any) -> Any:
    """Writes a tuple into the fields of a record, one by one."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        numbers = _cast_to_fields(context, builder, record, values, arguments[1])
        for name, number in zip(record.fields, numbers, strict=True):
            field = record.typeof(name)
            kind = context.get_data_type(field)
            place = cgutils.get_record_member(builder, arguments[0], record.offset(name), kind)
            context.pack_value(builder, field, number, place, align=1)
        return None

    return types.void(record, values), generate


@intrinsic
def store_vectors(_: Any, record: Any, values: Any) -> Any:
    """The same, 16 bytes at a time, for records of numbers of 4 and 8 bytes without gaps.

    On a GPU each store of a thread is a transaction of its own, however few its bytes are.
    """
    sizes = [as_dtype(record.typeof(name)).itemsize for name in record.fields]
    assert set(sizes) <= {4, 8} and sum(sizes) == record.size and record.size % _VECTOR == 0

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        words = []
        for number in _cast_to_fields(context, builder, record, values, arguments[1]):
            if number.type in (ir.FloatType(), _WORD):
                words.append(builder.bitcast(number, _WORD))
            else:
                halves = builder.bitcast(number, ir.VectorType(_WORD, 2))
                words += [builder.extract_element(halves, _WORD(half)) for half in range(2)]
        kind = ir.VectorType(_WORD, _VECTOR // 4)
        vectors = builder.bitcast(arguments[0], kind.as_pointer())
        for first in range(0, len(words), kind.count):
            vector = ir.Constant(kind, ir.Undefined)
            for index in range(kind.count):
                vector = builder.insert_element(vector, words[first + index], _WORD(index))
            place = builder.gep(vectors, [_WORD(first // kind.count)])
            builder.store(vector, place, align=_VECTOR)
        return None

    return types.void(record, values), generate


def _cast_to_fields(context: Any, builder: Any, record: Any, values: Any, given: Any) -> list[Any]:
    """The values of a tuple, as the fields of a record have them."""
    fields = [record.typeof(name) for name in record.fields]
    return [
        context.cast(builder, builder.extract_value(given, place), *kinds)
        for place, kinds in enumerate(zip(values, fields, strict=True))
    ]


def _gpu_lane() -> Any:
    return cuda.threadIdx.x


def _gpu_num_lanes() -> Any:
    return cuda.blockDim.x


def _gpu_leads() -> Any:
    return cuda.threadIdx.x == 0


def _gpu_join_lanes() -> Any:
    if cuda.blockDim.x > 1:
        cuda.syncwarp(_mask())


def _gpu_leaders(value: Any) -> Any:
    value = np.int64(value)
    if cuda.blockDim.x > 1:
        value = cuda.shfl_sync(_mask(), value, cuda.threadIdx.y * cuda.blockDim.x)
    return value


def _gpu_largest_of_lanes(value: Any) -> Any:
    offset = cuda.blockDim.x >> 1
    while offset > 0:
        value = max(value, cuda.shfl_xor_sync(_mask(), value, offset))
        offset >>= 1
    return value


def _gpu_best_of_lanes(place: Any, score: Any) -> Any:
    place = np.int64(place)
    offset = cuda.blockDim.x >> 1
    while offset > 0:
        other = cuda.shfl_xor_sync(_mask(), score, offset)
        other_place = cuda.shfl_xor_sync(_mask(), place, offset)
        if other > score or (other == score and other_place < place):
            score, place = other, other_place
        offset >>= 1
    return place


def _mask() -> Any:
    """The bits of the game's threads in its warp. A block is one warp, of whole games."""
    return 0  # pragma: no cover; on a GPU only


def _gpu_mask() -> Any:
    lanes = cuda.blockDim.x
    return ((1 << lanes) - 1) << (cuda.threadIdx.y * lanes)


def _differ(
    function: Callable[..., Any],
    on_gpu: Callable[..., Any],
    on_cpu: Callable[..., Any] | None = None,
) -> None:
    """Compiles calls of `function` as `on_gpu` for a GPU, for the CPU as `on_cpu` or as it is."""
    overload(function, strict=False, jit_options=KERNEL, target="cpu")(
        lambda *_: on_cpu or function
    )
    overload(function, strict=False, target="cuda")(lambda *_: on_gpu)


_differ(copy_record, _gpu_copy_record)
_differ(fill_record, _gpu_fill_record, _cpu_fill_record)
_differ(lane, _gpu_lane)
_differ(num_lanes, _gpu_num_lanes)
_differ(leads, _gpu_leads)
_differ(join_lanes, _gpu_join_lanes)
_differ(leaders, _gpu_leaders)
_differ(largest_of_lanes, _gpu_largest_of_lanes)
_differ(best_of_lanes, _gpu_best_of_lanes)
_differ(_mask, _gpu_mask)
