"""Few ids are converted and counted with NumPy, many by compiled loops, to the same numbers."""

from types import SimpleNamespace

import numpy as np
import pytest

from csaw.engine.samples import identifiers
from csaw.engine.samples.identifiers import Identifiers
from csaw.engine.samples.layouts import hops
from csaw.partition.base import first_work

FEW_AND_MANY = pytest.mark.parametrize("few", [True, False])
TABLES = [
    np.array([5, 0, 7], np.int64),
    np.array([-5, 2**40, -(2**63)], np.int64),
    np.array([2**64 - 1, 0, 2**63], np.uint64),
    np.empty(0, np.int64),
]


@FEW_AND_MANY
@pytest.mark.parametrize("dense_dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_ids_of_the_input_stand_for_dense_ones(monkeypatch, few, dense_dtype, table):
    monkeypatch.setattr(identifiers, "is_little", lambda size: few)
    chosen = Identifiers.choose(dense_dtype, table, "original", table.size)
    nothing = np.iinfo(dense_dtype).max
    dense = np.array([*range(table.size), nothing, *range(table.size)], dense_dtype)
    expected = [*table.tolist(), chosen.fill, *table.tolist()]
    found = chosen.converted("walks", dense.reshape(1, -1))
    assert (found.dtype, found.shape) == (chosen.dtype, (1, dense.size))
    assert found.tolist() == [expected]
    stored = np.concatenate([piece.copy() for piece in chosen.stored("walks", dense)])
    assert stored.view(chosen.dtype).tolist() == expected


@FEW_AND_MANY
@pytest.mark.parametrize(("dtype", "fill"), [(np.uint32, 2**32 - 1), (np.int32, -1), (np.int64, -1)])
def test_edges_of_hops_are_counted_without_fill(monkeypatch, few, dtype, fill):
    monkeypatch.setattr(hops, "is_little", lambda size: few)
    arrays = {
        "hop_0": np.array([[3], [fill]], dtype),
        "hop_1": np.array([[1, fill], [fill, fill]], dtype),
        "hop_2": np.array([[0, 2, fill, fill], [fill] * 4], dtype),
    }
    assert hops.Hops().edges_of_each(arrays, fill).tolist() == [3, 0]
    assert hops.Hops().edges_of_each({"hop_0": arrays["hop_0"]}, fill).tolist() == [0, 0]


def test_work_is_little_up_to_a_limit_and_until_numba_is_there(monkeypatch):
    monkeypatch.setattr(first_work, "_done", 0)
    monkeypatch.setattr(first_work, "LITTLE", 100)
    monkeypatch.setattr(first_work, "MORE", 200)
    monkeypatch.setattr(first_work, "sys", SimpleNamespace(modules={}))
    assert [first_work.is_little(40) for _ in range(3)] == [True, True, False]
    monkeypatch.setattr(first_work, "_done", 0)
    monkeypatch.setattr(first_work, "sys", SimpleNamespace(modules={"numba": None}))
    assert not first_work.is_little(1)


def test_more_work_is_little_where_numba_would_compile_for_it(monkeypatch):
    monkeypatch.setattr(first_work, "LITTLE", 100)
    monkeypatch.setattr(first_work, "MORE", 200)
    function, on_disk = SimpleNamespace(overloads={}), []
    monkeypatch.setattr("csaw.partition.base.compile.is_cached", lambda one: bool(on_disk))

    def answers():
        monkeypatch.setattr(first_work, "_done", 0)
        return [first_work.is_little(80, lambda: function) for _ in range(3)]

    assert answers() == [True, True, False]
    on_disk.append(function)
    assert not any(answers())
    function.overloads, on_disk = {"a signature": None}, []
    assert not any(answers())
