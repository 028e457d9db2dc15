"""Arrays that are returned as read-only views."""

import numpy as np


def frozen(array: np.ndarray) -> np.ndarray:
    """A view of an array that cannot be written, so that a change of it does not change what is held."""
    view = array.view()
    view.flags.writeable = False
    return view


def thawed(array: np.ndarray) -> np.ndarray:
    """A view of an array for kernels that only read it, which Numba would compile anew for arrays that cannot be
    written; of memory that cannot be written the array itself.
    """
    if array.flags.writeable:
        return array
    view = array.view()
    try:
        view.flags.writeable = True
    except ValueError:
        return array
    return view
