"""Arrays whose memory moves from one range to another, as partitions come and go."""

import numpy as np
import pytest

from csaw.engine.cpu import reserved
from csaw.engine.cpu.reserved import PAGE, Reserved, overlap, without


@pytest.mark.parametrize("moves", [True, False])
def test_ranges_keep_what_was_written_while_others_take_the_memory_of_those_that_left(monkeypatch, moves):
    if not moves:
        monkeypatch.setattr(reserved, "_mremap", lambda: None)
    rng = np.random.default_rng(7)
    cuts = np.sort(rng.choice(400_000, 8, replace=False))
    ranges = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
    array = Reserved(400_000, np.dtype(np.uint32))
    held: dict[int, int] = {}
    for turn in range(1, 400):
        number = int(rng.integers(len(ranges)))
        first, last = ranges[number]
        if number in held:
            assert (array.array[first:last] == held.pop(number)).all()
            low = first - (PAGE if number > 0 and number - 1 not in held else 0)
            high = last + (PAGE if number + 1 < len(ranges) and number + 1 not in held else 0)
            array.spare_for_later(max(low, cuts[number - 1] if number else 0), min(high, int(cuts[-1])))
        else:
            array.take(first, last)
            array.array[first:last] = held[number] = turn
        for other, written in held.items():
            assert (array.array[slice(*ranges[other])] == written).all()
        for spare in array.spare:
            for other in held:
                low, high = (4 * edge for edge in ranges[other])
                assert not overlap(spare, (low, high))


def test_a_range_without_another_is_what_is_before_and_after():
    assert without((0, 10), (3, 5)) == [(0, 3), (5, 10)]
    assert without((0, 10), (0, 10)) == []
    assert without((0, 10), (12, 15)) == [(0, 10)]
    assert without((5, 10), (0, 7)) == [(7, 10)]
