"""Atomic operations on elements of arrays, for concurrent threads, which Numba offers only on GPUs.

Each returns the value before. The order of memory is relaxed but for the element itself: threads see what others wrote
elsewhere once they are joined.
"""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _operation(emit):
    """The code of ``emit(builder, pointer to the element, *values)``."""

    def codegen(context, builder, signature, arguments):
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]], wraparound=False)
        return emit(builder, pointer, *arguments[2:])

    return codegen


@intrinsic
def exchange_if(typingctx, array, index, expected, value):
    """Set ``array[index]`` to ``value`` if it is ``expected``."""

    def emit(builder, pointer, expected, value):
        return builder.extract_value(builder.cmpxchg(pointer, expected, value, "monotonic", "monotonic"), 0)

    return array.dtype(array, index, array.dtype, array.dtype), _operation(emit)


@intrinsic
def fetch_add(typingctx, array, index, value):
    """Add ``value`` to ``array[index]``."""
    return array.dtype(array, index, array.dtype), _operation(
        lambda builder, pointer, value: builder.atomic_rmw("add", pointer, value, "monotonic")
    )


@intrinsic
def fetch_or(typingctx, array, index, bits):
    """Set ``bits`` in ``array[index]``."""
    return array.dtype(array, index, array.dtype), _operation(
        lambda builder, pointer, bits: builder.atomic_rmw("or", pointer, bits, "monotonic")
    )


@intrinsic
def fetch_min(typingctx, array, index, value):
    """Lower ``array[index]``, an unsigned integer, to ``value`` if it is more."""
    return array.dtype(array, index, array.dtype), _operation(
        lambda builder, pointer, value: builder.atomic_rmw("umin", pointer, value, "monotonic")
    )


@intrinsic
def fetch_least(typingctx, array, index, value):
    """Lower ``array[index]``, a signed integer or a float that is not NaN, to ``value`` if it is more."""
    operation = "fmin" if isinstance(array.dtype, types.Float) else "min"
    return array.dtype(array, index, array.dtype), _operation(
        lambda builder, pointer, value: builder.atomic_rmw(operation, pointer, value, "monotonic")
    )


@intrinsic
def fetch_most(typingctx, array, index, value):
    """Raise ``array[index]``, a signed integer or a float that is not NaN, to ``value`` if it is less."""
    operation = "fmax" if isinstance(array.dtype, types.Float) else "max"
    return array.dtype(array, index, array.dtype), _operation(
        lambda builder, pointer, value: builder.atomic_rmw(operation, pointer, value, "monotonic")
    )
