"""Whether loops are worth compiled code: loading Numba takes as long as NumPy takes for hundreds of megabytes.

A command on a GPU draws without Numba. What is left to the processor is to check what it reads and to convert ids, and
of little that is done sooner with NumPy alone.
"""

import sys

LITTLE = 128 << 20  # bytes that NumPy checks or converts in a fraction of the time that Numba takes to load
_done = 0


def is_little(size: int) -> bool:
    """Whether ``size`` more bytes of simple work are done with NumPy, because Numba is not loaded and this process has
    done little so far.
    """
    global _done
    _done += size
    return stays_little(0)


def stays_little(size: int) -> bool:
    """Whether ``size`` bytes that are still to come will be done with NumPy."""
    return _done + size <= LITTLE and "numba" not in sys.modules
