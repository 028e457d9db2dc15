"""Page-locked memory is there as long as anything looks at it, and no longer."""

import numpy as np
from helpers.gpu import device_or_skip

device_or_skip()

import cupy

from csaw.engine.cuda.memory import on_device, page_locked


def _is_locked(address: int) -> bool:
    return cupy.cuda.runtime.pointerGetAttributes(address).type == 1  # cudaMemoryTypeHost


def test_a_view_keeps_it():
    array = page_locked(1_000_000, np.uint32)
    address, view = array.ctypes.data, array[10:].view(np.uint8)
    array[:] = 7
    assert _is_locked(address)
    del array
    assert _is_locked(address)
    assert (view == np.array([7, 0, 0, 0] * (view.size // 4), np.uint8)).all()
    del view
    again = page_locked(1_000_000, np.uint32)  # what was given back can be locked anew
    assert _is_locked(again.ctypes.data)


def test_nothing_takes_nothing():
    assert page_locked(0, np.float32).size == 0


def test_a_copy_on_the_device():
    host = np.arange(100_000)
    assert np.array_equal(on_device(host).get(), host)
