"""Flags in arrays of NumPy or CuPy: whether one is set, and how many are.

CuPy has the functions that these call compiled already, or other steps compile them, too. Its `any` and
`count_nonzero`, and its sums of flags, take seconds to compile on a GPU's first use.
"""

from types import ModuleType

import numpy as np

AT_A_TIME = 1 << 22  # flags that CuPy counts at a time: their places take eight bytes each


def any_set(flags: np.ndarray) -> bool:
    """Whether one of ``flags``, bool or uint8 of any shape, is not 0."""
    return flags.size > 0 and bool(flags.view("uint8").max())


def set_count(xp: ModuleType, flags: np.ndarray) -> int:
    """How many of ``flags``, of any shape, are not 0."""
    if xp is np:
        return int(np.count_nonzero(flags))
    flat = flags.ravel()
    return sum(int(xp.flatnonzero(flat[k : k + AT_A_TIME]).size) for k in range(0, flat.size, AT_A_TIME))
