"""Views that cannot be written of what can, and arrays for kernels."""

import numpy as np
import pytest

from csaw.partition.base.read_only import frozen, thawed


def test_a_frozen_view_shares_memory_and_cannot_be_written():
    held = np.arange(5)
    view = frozen(held)
    assert np.shares_memory(view, held)
    assert held.flags.writeable
    for one in (view, view[1:], view.reshape(1, 5), frozen(view)):
        with pytest.raises(ValueError, match="read-only"):
            one[:] = 0
    assert thawed(held) is held
    assert all(thawed(one).flags.writeable for one in (view, view[1:], frozen(view)))
    assert not view.flags.writeable


def test_memory_that_cannot_be_written_stays_as_it_is():
    held = np.frombuffer(b"12345678", np.int64)
    assert thawed(held) is held
