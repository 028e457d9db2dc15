"""Spans of plain chunks: compiled code reads what Python reads, and says of damage what Python says."""

import numpy as np
import pytest

from csaw.partition.arrays import loader
from csaw.partition.arrays.checksums import sums_of
from csaw.partition.arrays.loader import PIECE, PlainSpan, read_plain
from csaw.partition.errors import StoreError

ITEMS = 5 * PIECE // 4 + 1000  # of four bytes: five whole pieces and a part of one
FILLED = 7 * PIECE + 4096  # bytes of the file, of which zeros fill the end


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(1).integers(0, 1000, ITEMS, dtype=np.uint32)


@pytest.fixture
def file(tmp_path, values):
    path = tmp_path / "0"
    path.write_bytes(values.tobytes() + bytes(FILLED - values.nbytes))
    return path


def span(file, first, count, *, whole=False, limit=999, checked=True):
    out = np.zeros(count, np.uint32)
    end = FILLED if whole else 4 * (first + count)
    return PlainSpan(file, FILLED, sums_of(file.read_bytes()) if checked else None, 4 * first, end, out, limit)


@pytest.fixture(params=["compiled", "python"])
def way(request, monkeypatch):
    monkeypatch.setattr(loader, "stays_little", lambda size, code: request.param == "python")


@pytest.mark.parametrize("spread_out", [False, True])
@pytest.mark.parametrize(("first", "count"), [(0, ITEMS), (1, ITEMS - 2), (1023, 3 * PIECE // 4), (7, 100), (0, 1)])
@pytest.mark.parametrize("checked", [False, True])
def test_spans_are_read(way, file, values, spread_out, first, count, checked):
    asked = span(file, first, count, whole=first == 0 and count == ITEMS, checked=checked)
    read_plain([asked], spread_out=spread_out)
    assert np.array_equal(asked.out, values[first : first + count])


def test_spans_of_several_files_are_read_together(way, file, values):
    asked = [span(file, first, 5 * PIECE // 16) for first in (0, 10, PIECE // 4)]
    read_plain(asked, spread_out=True)
    for first, one in zip((0, 10, PIECE // 4), asked, strict=True):
        assert np.array_equal(one.out, values[first : first + one.out.size])


@pytest.mark.parametrize("at", [0, 4096, 2 * PIECE + 5, 4 * PIECE - 1, 5 * PIECE + 10, FILLED - 1])
def test_damage_is_named_with_its_block(way, file, at):
    asked = span(file, 0, ITEMS, whole=True)
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)
    with pytest.raises(StoreError, match=f"bytes from {at // 4096 * 4096:,} on have changed"):
        read_plain([asked], spread_out=True)


def test_a_value_beyond_the_limit_is_named(way, file):
    with pytest.raises(StoreError, match=r"expected values from 0 to 900, found \d+ to 99\d"):
        read_plain([span(file, 0, ITEMS, limit=900)], spread_out=False)
