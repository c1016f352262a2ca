"""Copies and writes records in large words on a GPU, and field by field on a CPU."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import implement
from plainzero.compiler.record_types import Record
from plainzero.search.kernels.lanes import lane, num_lanes

_VECTOR = 16  # bytes that one thread of a GPU moves at once, if they are aligned
_WORD = ir.IntType(32)


def copy_record(records: NDArray[Any], b: int, target: int, source: int) -> None:
    """Copies record [b, source] to [b, target]; on a GPU the threads of a game share the work."""
    records[b, target] = records[b, source]


def fill_record(record: Record, values: tuple[float, ...]) -> None:
    """Writes all fields of a record, in order."""
    for name, value in zip(record.dtype.names or (), values, strict=True):
        record[name] = value


def _gpu_copy_record(records: NDArray[Any], b: int, target: int, source: int) -> None:
    copy_words(records[b, target], records[b, source], lane(), num_lanes())


@intrinsic
def copy_words(_: Any, target: Any, source: Any, first: Any, step: Any) -> Any:
    """Copies every `step`-th word of a record, starting at `first`, in the largest aligned words.

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


def _cpu_fill_record(record: Record, values: tuple[float, ...]) -> None:
    store_fields(record, values)


def _gpu_fill_record(record: Record, values: tuple[float, ...]) -> None:
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
    """`store_fields`, 16 bytes at a time, for records of 4- and 8-byte numbers without gaps.

    On a GPU each store of a thread is a separate transaction, however small.
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
    """The values of a tuple, cast to the types of a record's fields."""
    fields = [record.typeof(name) for name in record.fields]
    return [
        context.cast(builder, builder.extract_value(given, place), *kinds)
        for place, kinds in enumerate(zip(values, fields, strict=True))
    ]


implement(copy_record, copy_record, "cpu")
implement(copy_record, _gpu_copy_record, "cuda")
implement(fill_record, _cpu_fill_record, "cpu")
implement(fill_record, _gpu_fill_record, "cuda")
