"""The imbalance between multiprocessors is that of their clocks, pass by pass."""

import numpy as np
import pytest

from csaw.engine.cuda.busy import deviation


def test_even_work_deviates_by_nothing_and_one_busy_processor_by_much():
    assert deviation(np.full((3, 8), 5, np.uint64), 8) == 0.0
    alone = np.zeros((1, 4), np.uint64)
    alone[0, 2] = 8
    assert deviation(alone, 4) == pytest.approx(np.sqrt(3))


def test_numbers_that_no_processor_has_and_passes_without_work_do_not_count():
    clocks = np.array([[4, 0, 0, 4, 0], [0, 0, 0, 0, 0], [1, 0, 0, 3, 0]], np.uint64)
    assert deviation(clocks, 2) == pytest.approx((0 + 0.5) / 2)
    assert deviation(clocks[1:2], 2) == 0.0
