"""Whether loops are worth compiled code: loading Numba takes as long as NumPy takes for hundreds of megabytes.

A command on a GPU draws without Numba. What is left to the processor is to check what it reads and to convert ids, and
of little that is done sooner with NumPy alone. So is more, the first time on a machine, than waiting for the compiler.
"""

import sys
from collections.abc import Callable, Sized
from typing import Protocol

LITTLE = 128 << 20  # bytes that NumPy checks or converts in a fraction of the time that Numba takes to load,
MORE = 256 << 20  # and that it checks while Numba would compile
_done = 0


class Compiled(Protocol):
    """A function that Numba compiles, once for the types of its arguments."""

    @property
    def overloads(self) -> Sized: ...


Code = Callable[[], Compiled]
"""Imports a compiled function, and returns it."""


def is_little(size: int, code: Code | None = None) -> bool:
    """Whether ``size`` more bytes of simple work are done with NumPy, because this process has done little so far.

    ``code``: as of ``stays_little``.
    """
    global _done
    _done += size
    return stays_little(0, code)


def stays_little(size: int, code: Code | None = None) -> bool:
    """Whether ``size`` bytes that are still to come will be done with NumPy.

    Up to LITTLE where Numba is not loaded, and up to MORE where it has nothing compiled of ``code()``, which loads it.
    """
    if "numba" not in sys.modules and _done + size <= LITTLE:
        return True
    return code is not None and _done + size <= MORE and not _is_compiled(code())


def _is_compiled(function: Compiled) -> bool:
    from csaw.partition.base.compile import is_cached

    return bool(function.overloads) or is_cached(function)
