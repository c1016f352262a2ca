"""Records as a GPU likes to move them: in large words, many bytes at once; elsewhere plainly."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

from plainzero.search.gpu.warp_lanes import differ, lane, num_lanes

_VECTOR = 16  # bytes that one thread of a GPU moves at once, where they begin at such a place
_WORD = ir.IntType(32)


def copy_record(records: Any, b: Any, target: Any, source: Any) -> None:
    """Writes record [b, source] over [b, target]; its words are shared by the threads."""
    records[b, target] = records[b, source]


def fill_record(record: Any, values: Any) -> None:
    """Writes the fields of a record, all of them, in their order."""
    for name, value in zip(record.dtype.names, values, strict=True):
        record[name] = value


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


differ(copy_record, _gpu_copy_record)
differ(fill_record, _gpu_fill_record, _cpu_fill_record)
