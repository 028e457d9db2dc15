"""Prefetching a cache line, adding atomically, and arrays without reference counts.

Numba does not offer these by itself.

Random walks are bound by memory latency: with 64 walkers in flight a thread, a line that was asked for has arrived when
its walker's turn comes (13 times the rate of one walker at a time).
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from csaw.partition.base.kernel_tools import prefetch

__all__ = ["atomic_add", "borrow", "lowest", "matches", "prefetch"]


@intrinsic
def borrow(typingctx, value):
    """Return the same array without its reference count; of a tuple, the same with each array in it.

    Every thread would update the count atomically at each use from a tuple.
    """

    def codegen(context, builder, signature, arguments):
        return _borrowed(context, builder, signature.args[0], arguments[0])

    return value(value), codegen


def _borrowed(context, builder, kind, value):
    """The code of a value of this type without reference counts."""
    if isinstance(kind, types.BaseTuple):
        parts = [_borrowed(context, builder, one, builder.extract_value(value, k)) for k, one in enumerate(kind)]
        return context.make_tuple(builder, kind, parts)
    if not isinstance(kind, types.Array):
        return value
    view = context.make_array(kind)(context, builder, value)
    view.meminfo = ir.Constant(view.meminfo.type, None)
    view.parent = ir.Constant(view.parent.type, None)
    return view._getvalue()


@intrinsic
def atomic_add(typingctx, array, index, value):
    """Add to ``array[index]`` (1-d, C order, integers) whole, whatever other threads add there; no bounds check."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.atomic_rmw("add", builder.gep(data, [arguments[1]]), arguments[2], "monotonic")
        return context.get_dummy_value()

    return types.void(array, types.uint64, array.dtype), codegen


@intrinsic
def matches(typingctx, array, index, value):
    """Bit k: whether ``array[index + k]`` is ``value``, for k below 8 (1-d, C order), in one comparison of vectors.

    It checks no bounds.
    """
    kind = types.uint64(array, types.uint64, array.dtype)

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        item = data.type.pointee
        eight = ir.VectorType(item, 8)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), eight.as_pointer())
        held = builder.load(place)
        held.align = context.get_abi_alignment(item)
        wanted = ir.Constant(eight, ir.Undefined)
        for k in range(8):
            wanted = builder.insert_element(wanted, arguments[2], ir.Constant(ir.IntType(32), k))
        mask = builder.bitcast(builder.icmp_unsigned("==", held, wanted), ir.IntType(8))
        return builder.zext(mask, ir.IntType(64))

    return kind, codegen


@intrinsic
def lowest(typingctx, bits):
    """The number of the lowest bit of ``bits`` that is set; they are not all zero."""

    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen
