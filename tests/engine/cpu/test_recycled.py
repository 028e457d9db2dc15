"""Claims of recycled memory: an array's memory serves the next one when nobody holds the first any more, and never
before.
"""

import numpy as np

from csaw.engine.cpu.runner import Recycled

IDS = np.dtype(np.uint32)


def test_memory_of_a_dropped_array_is_handed_out_again():
    recycled = Recycled()
    first = recycled.empty((1000, 10), IDS)
    address = first.ctypes.data
    del first
    assert recycled.empty((900, 10), IDS).ctypes.data == address


def test_memory_that_a_view_still_shows_is_not_handed_out():
    recycled = Recycled()
    first = recycled.empty((1000, 10), IDS)
    first[:] = 7
    view = first[100:200].T
    del first
    recycled.empty((1000, 10), IDS)[:] = 8
    assert (view == 7).all()


def test_an_array_larger_than_the_spare_memory_and_an_empty_one_have_their_shape():
    recycled = Recycled()
    for rows in (10, 1000, 0, 3):
        array = recycled.empty((rows, 81), IDS)
        array[:] = rows
        assert array.shape == (rows, 81)
        assert (array == rows).all()


def test_memory_of_several_arrays_serves_as_many_next_ones_of_about_their_sizes():
    recycled = Recycled()
    sizes = (5, 1000, 60)
    first = [recycled.filled((size,), size, IDS) for size in sizes]
    places = [array.ctypes.data for array in first]
    del first
    assert [recycled.empty((size - 1,), IDS).ctypes.data for size in sizes] == places


def test_there_are_no_more_blocks_than_arrays_at_a_time():
    recycled = Recycled()
    for size in (10, 100, 1000, 100_000, 10, 1000):
        recycled.empty((size,), IDS)
    assert len(recycled.spares) == 1
