"""Slots for partitions: no two share a place, and together they keep no more memory than they may."""

from pathlib import Path

import numpy as np
from helpers.machine import need_system

from csaw.engine.cpu.graph import Slots
from csaw.engine.cpu.places import HUGE, PAGE, Reserved

PAGES = Path("/proc/self/pagemap")
EDGES, PARTS, MOST = 1_000_000, 12, 400_000
WIDTHS = ((np.uint32, 1), (np.uint64, 3))  # type of an array's elements, and how many an edge has


def resident_bytes(array):
    """Bytes of memory that an array takes now, in whole pages."""
    first, last = array.ctypes.data // PAGE, -(-(array.ctypes.data + array.nbytes) // PAGE)
    with PAGES.open("rb") as pages:
        pages.seek(8 * first)
        found = np.frombuffer(pages.read(8 * (last - first)), np.uint64)
    return PAGE * int((found >> np.uint64(63)).sum())  # the highest bit: the page is in memory


def overcommits():
    """Whether the system gives address space beyond its memory to those who ask for it."""
    setting = Path("/proc/sys/vm/overcommit_memory")
    return setting.exists() and setting.read_text().strip() != "2"


def test_an_array_may_be_larger_than_the_memory_of_the_machine():
    need_system(overcommits(), "the system counts address space as memory")
    array = Reserved(1 << 44, np.dtype(np.uint8))
    array.array[-1] = 1
    assert resident_bytes(array.array[-PAGE:]) <= HUGE


def test_slots_hold_what_is_written_in_no_more_memory_than_they_may_keep():
    need_system(PAGES.exists(), "the system does not show which pages of an array are in memory")
    rng = np.random.default_rng(3)
    sizes = rng.integers(50_000, 150_000, PARTS).tolist()
    parts = (EDGES, max(sizes), PARTS)
    arrays = [(Reserved(each * Slots.places(*parts), np.dtype(kind)), each) for kind, each in WIDTHS]
    slots, held = Slots(arrays, *parts[:2], MOST), {}
    for part in rng.integers(0, PARTS, 100).tolist():
        if part in held:
            continue
        while sum(sizes[one] for one in held) + sizes[part] > MOST:
            out = next(iter(held))
            slots.give_back(out)
            del held[out]
        held[part] = slots.take(part, sizes[part])
        for array, each in arrays:
            array.array[each * held[part] : each * (held[part] + sizes[part])] = part
            assert resident_bytes(array.array) <= each * array.item * MOST + (PARTS + 1) * PAGE
            for one, begin in held.items():
                assert (array.array[each * begin : each * (begin + sizes[one])] == one).all()
    used = sum(sizes[part] for part in held)
    slots.trim()
    assert resident_bytes(arrays[0][0].array) <= 4 * used + (PARTS + 1) * PAGE
    for part in held:
        slots.give_back(part)
    assert resident_bytes(arrays[0][0].array) >= 4 * used  # for the next partitions
    slots.trim()
    assert resident_bytes(arrays[0][0].array) <= PARTS * PAGE
