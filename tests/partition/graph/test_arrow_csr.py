"""Claims of graphs as CSR arrays of Arrow: they have the rows of the graph, and a graph in memory shares its arrays."""

import numpy as np
import pytest
from helpers.machine import need_package

import csaw
from csaw.partition.errors import OptionError

pa = need_package("pyarrow")
ENDS = np.random.default_rng(4).integers(0, 60, (500, 2)) * 3
WEIGHTS = np.arange(500) / 4


class OfInterface:
    """An array of a library that has the interface and nothing else."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self.array.__arrow_c_array__(requested_schema)


def graph(**options):
    return csaw.graph(ENDS, weights=WEIGHTS, time=np.arange(500), duplicates="keep", **options)


def edges_of(csr, store):
    """The rows that an array of offsets makes of the others, with original ids."""
    offsets = csr.offsets.to_pylist()
    owners = np.repeat(np.arange(store.vertices), np.diff(offsets))
    ends = [store.original_ids(each).tolist() for each in (owners, csr.indices.to_numpy().astype(np.int64))]
    return sorted(zip(*ends, *(column.to_pylist() for column in csr.columns.values()), strict=True))


@pytest.mark.parametrize("directed", [True, False])
def test_the_arrays_have_the_rows_of_the_graph(tmp_path, directed):
    held = graph(directed=directed)
    stored = csaw.partition(held, tmp_path / "g.zarr", partitions=5)
    expected = [(int(u), int(v), w, t) for (u, v), w, t in zip(ENDS, WEIGHTS, range(500), strict=True)]
    if not directed:
        expected += [(v, u, w, t) for u, v, w, t in expected if u != v]
    for store in (held, stored):
        csr = store.to_arrow_csr(store.further_columns)
        assert [str(one.type) for one in csr[:2]] == ["int64", "uint32"]
        assert {name: str(one.type) for name, one in csr.columns.items()} == {"weight": "float", "time": "int64"}
        assert not any(one.null_count for one in (csr.offsets, csr.indices, *csr.columns.values()))
        assert edges_of(csr, store) == sorted(expected)
        assert list(store.to_arrow_csr().columns) == ["weight"]


def test_a_graph_in_memory_shares_its_arrays_with_whoever_takes_them():
    store = graph()
    csr = store.to_arrow_csr(store.further_columns)
    shared = {
        "offsets": (csr.offsets, store.indptr),
        "indices": (csr.indices, store.indices),
        "weight": (csr.columns["weight"], store.weights),
        "time": (csr.columns["time"], store.arrays[store.time.array]),
    }
    for name, (array, own) in shared.items():
        for taken in (array, pa.array(OfInterface(array))):
            assert taken.buffers()[1].address == own.ctypes.data, name
    lists = pa.LargeListArray.from_arrays(csr.offsets, csr.indices)
    assert lists.flatten().buffers()[1].address == store.indices.ctypes.data
    assert len(lists) == store.vertices


def test_arrays_outlive_their_graph():
    csr = graph().to_arrow_csr()
    assert csr.offsets[-1].as_py() == len(csr.indices) == len(csr.columns["weight"]) == 500


def test_other_libraries_take_the_arrays():
    store = graph()
    csr = store.to_arrow_csr()
    polars = need_package("polars")
    assert polars.Series(OfInterface(csr.indices)).to_list() == csr.indices.to_pylist()
    rows = pa.table({"neighbors": pa.LargeListArray.from_arrays(csr.offsets, csr.indices)})
    found = need_package("duckdb").sql("SELECT sum(len(neighbors)), max(len(neighbors)) FROM rows").fetchall()[0]
    assert found == (500, store.max_degree)
    assert rows.num_rows == store.vertices


def test_a_column_that_the_graph_lacks_is_an_error():
    plain = csaw.graph([(1, 2), (2, 3)])
    assert plain.to_arrow_csr().columns == {}
    with pytest.raises(OptionError, match="columns: expected edge columns of .*, which has none, found time:int64"):
        plain.to_arrow_csr(graph().further_columns)
    with pytest.raises(OptionError, match="columns: expected a list of edge columns"):
        plain.to_arrow_csr(["time"])
