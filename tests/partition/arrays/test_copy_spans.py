"""Spans of an array in memory are copied as slices are, by any number of threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from csaw.partition.arrays import spans


@pytest.mark.parametrize("dtype", [np.uint32, np.float32, np.int64])
@pytest.mark.parametrize("at_a_time", [1, 100, 1 << 20])
def test_spans_are_copied_as_slices_are(monkeypatch, dtype, at_a_time):
    monkeypatch.setattr(spans, "COPIED", at_a_time)
    random = np.random.default_rng(1)
    source = random.integers(0, 1 << 20, 5000).astype(dtype)
    count = np.concatenate([random.integers(0, 40, 60), [0, 3000, 0, 1]])
    begin = random.integers(0, source.size - count + 1)
    to = 5 + count.cumsum() - count
    out = np.zeros(to[-1] + count[-1] + 7, dtype)
    expected = out.copy()
    for first, size, place in zip(begin, count, to, strict=True):
        expected[place : place + size] = source[first : first + size]
    with ThreadPoolExecutor(3) as threads:
        spans.copy_spans(source, begin, count, out, to, threads)
    assert out.tolist() == expected.tolist()
