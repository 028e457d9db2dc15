"""Flags in arrays of NumPy or CuPy: whether one is set, and how many are.

CuPy has the functions that these call compiled already, or other steps compile them, too. Its ``any`` and
``count_nonzero``, and its sums of flags, take seconds to compile on a GPU's first use.
"""

from types import ModuleType

from csaw.engine.plan.contracts import Array


def any_set(flags: Array) -> bool:
    """Whether one of ``flags``, bool or uint8 of any shape, is not 0."""
    return flags.size > 0 and bool(flags.view("uint8").max())


def set_count(xp: ModuleType, flags: Array) -> int:
    """How many of ``flags``, of any shape, are not 0."""
    return int(xp.flatnonzero(flags).size)
