"""Helpers that kernels share: arrays of one dimension, hashes of numbers, eight bytes as a number, lines of memory."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing import signature
from numba.extending import intrinsic

from csaw.partition.base.compile import inner

if TYPE_CHECKING:
    from numba.core.cgutils import _StructProxy
    from numba.core.cpu import CPUContext

# Arrays of one dimension in kernels: `np.empty`, `np.zeros`, `np.full`, `np.copy` and `np.searchsorted`, for
# less time of the compiler.
#
# Numba compiles functions of its own for each of these, for each type of element and of size, in every process that
# compiles a kernel: .05 to .25 s a piece, and a fourth of the time that a walk's kernel took. Here, an allocation is
# instructions of the kernel itself. Use `copy` in place of `out[:] = array`: Numba's assignment of an array to a
# slice compiles what joins the words of an error, for 2 s, and copies 4 GB/s where a loop copies as fast as memory.


def instructions(function: Callable[..., object]) -> Callable[..., np.ndarray]:
    """``intrinsic``, called in kernels with other arguments than its function has."""
    return intrinsic(function)


@instructions
def empty(typingctx, count, dtype):
    """An array of ``count`` elements that hold anything."""
    made = types.Array(dtype.dtype, 1, "C")

    def codegen(context, builder, kind, arguments):
        return _allocated(context, builder, made, arguments[0])._getvalue()

    return signature(made, types.int64, dtype), codegen


@instructions
def zeros(typingctx, count, dtype):
    """An array of ``count`` zeros."""
    made = types.Array(dtype.dtype, 1, "C")

    def codegen(context, builder, kind, arguments):
        array = _allocated(context, builder, made, arguments[0])
        size = builder.mul(arguments[0], array.itemsize)
        cgutils.memset(builder, array.data, size, 0)
        return array._getvalue()

    return signature(made, types.int64, dtype), codegen


@instructions
def full(typingctx, count, value, dtype):
    """An array of ``count`` elements that are ``value``."""
    made = types.Array(dtype.dtype, 1, "C")

    def codegen(context, builder, kind, arguments):
        array = _allocated(context, builder, made, arguments[0])
        with cgutils.for_range(builder, arguments[0]) as loop:
            builder.store(arguments[1], builder.gep(array.data, [loop.index]))
        return array._getvalue()

    return signature(made, types.int64, dtype.dtype, dtype), codegen


def _allocated(context: "CPUContext", builder: ir.IRBuilder, made: types.Array, count: ir.Value) -> "_StructProxy":
    """The code of an array of this type: ValueError where its bytes cannot be counted, MemoryError where there are too
    many.
    """
    from numba.np.arrayobj import (  # half of what a kernel from the cache spares
        get_itemsize,
        make_array,
        populate_array,
    )

    array, itemsize = make_array(made)(context, builder), context.get_constant(types.intp, get_itemsize(context, made))
    product = builder.umul_with_overflow(count, itemsize)
    with builder.if_then(builder.extract_value(product, 1), likely=False):
        context.call_conv.return_user_exc(builder, ValueError, ("array is too big",))
    align = context.get_constant(types.uint32, context.get_preferred_array_alignment(made.dtype))
    memory = context.nrt.meminfo_alloc_aligned(builder, builder.extract_value(product, 0), align)
    data = builder.bitcast(context.nrt.meminfo_data(builder, memory), context.get_data_type(made.dtype).as_pointer())
    populate_array(array, data=data, shape=[count], strides=[itemsize], itemsize=itemsize, meminfo=memory)
    return array


@inner
def copied(array):
    """A copy, contiguous."""
    out = empty(array.size, array.dtype)
    for i in range(array.size):
        out[i] = array[i]
    return out


@inner
def copy(array, out):
    """Copy an array to the beginning of ``out``."""
    for i in range(array.size):
        out[i] = array[i]


@inner
def place_of(array, value):
    """The first place of a sorted array whose element is at least ``value``."""
    return place_between(array, 0, array.size, value)


@inner
def place_between(array, low, high, value):
    """The first place of the sorted array[low:high] whose element is at least ``value``; ``high`` where none is."""
    while low < high:
        middle = (low + high) >> 1
        if array[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def place_behind(array, value):
    """The first place of a sorted array whose element is above ``value``."""
    low, high = 0, array.size
    while low < high:
        middle = (low + high) >> 1
        if array[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


# Hashes of numbers in kernels: the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

GAMMA = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio, between a word and the next


@inner
def mixed(word: np.uint64) -> np.uint64:
    """The word, uint64, with its bits mixed."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


# Eight bytes of an array as one number, for Numba.


@intrinsic
def eight_bytes(typing_context, text, position):
    """The bytes of ``text`` (uint8, contiguous) from ``position`` on as a number, little-endian: one load, and one
    instruction to compile.
    """

    def build(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        loaded = builder.load(builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer()))
        loaded.align = 1
        return loaded if sys.byteorder == "little" else builder.bswap(loaded)

    return types.uint64(text, position), build


# Lines of memory, for kernels that wait for it: asked for early, and searched by one comparison of vectors.


def _prefetched(locality: int) -> Callable[..., np.ndarray]:
    """An intrinsic that asks for a line: 3 for all levels of the cache, 2 for all but the first."""

    @intrinsic
    def prefetch(typingctx, array, index):
        """Read-prefetch the line of ``array[index]`` (1-d, C order); it checks no bounds and never faults."""

        def codegen(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            pointer = builder.gep(data, [arguments[1]])
            word = ir.IntType(32)
            byte = builder.bitcast(pointer, ir.IntType(8).as_pointer())
            kind = ir.FunctionType(ir.VoidType(), [byte.type, word, word, word])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(function, [byte, ir.Constant(word, 0), ir.Constant(word, locality), ir.Constant(word, 1)])
            return context.get_dummy_value()

        return types.void(array, types.uint64), codegen

    return prefetch


# The first level has few places for lines that are on their way, which limits how many a core can wait for.
prefetch, prefetch_second = _prefetched(3), _prefetched(2)


LINE = 16  # entries of an array that are compared at a time: a cache line, of 4 bytes each


def _compared(how: str) -> Callable[..., np.ndarray]:
    """An intrinsic that compares LINE entries with a number."""

    @intrinsic
    def compare(typingctx, array, index, value):
        """Bit k: whether ``array[index + k]`` compares so with ``value``, for k below LINE; it checks no bounds."""
        kind = array.dtype

        def codegen(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            item, word = data.type.pointee, ir.IntType(32)
            line, lanes = ir.VectorType(item, LINE), ir.VectorType(word, LINE)
            held = builder.load(builder.bitcast(builder.gep(data, [arguments[1]]), line.as_pointer()))
            held.align = context.get_abi_alignment(item)
            one = builder.insert_element(ir.Constant(line, ir.Undefined), arguments[2], ir.Constant(word, 0))
            each = builder.shuffle_vector(one, ir.Constant(line, ir.Undefined), ir.Constant(lanes, None))
            found = (builder.icmp_signed if kind.signed else builder.icmp_unsigned)(how, held, each)
            return builder.zext(builder.bitcast(found, ir.IntType(LINE)), ir.IntType(64))

        return signature(types.uint64, array, types.uint64, kind), codegen

    return compare


line_equal, line_upto = _compared("=="), _compared("<=")


@intrinsic
def bits_set(typingctx, word):
    """How many bits of a number are set."""

    def codegen(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), codegen
