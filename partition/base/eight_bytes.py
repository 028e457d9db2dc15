"""Eight bytes of an array as one number, for Numba."""

import sys

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


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
