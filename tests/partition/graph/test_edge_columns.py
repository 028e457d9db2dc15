"""Edge columns of graph stores: their names and values, reading and writing, derived graphs, and damage."""

import json
import shutil

import numpy as np
import pytest
from helpers.edge_columns import columns_of, in_memory, with_columns
from helpers.graphs import random_store

import csaw
from csaw.engine.api.expression import CALLS, FIELDS
from csaw.partition import open_graph, write_graph
from csaw.partition.arrays.nodes import digest
from csaw.partition.errors import CsawError, OptionError, StoreError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.edge_columns import DTYPES, EDGE_ID, RESERVED, WEIGHT, EdgeColumn, distinct, given_columns
from csaw.partition.graph.views import Coalesced, Recut, Split

ROWS = ([0, 2, 3, 3], [1, 2, 0])  # 0 -> 1, 0 -> 2, 1 -> 0


def write(path, columns, **how):
    return write_graph(path, *map(np.array, ROWS), directed=True, edge_columns=columns, **how)


def values(store, name):
    (column,) = [one for one in store.further_columns if one.name == name]
    return store.load([column]).columns[name]


@pytest.mark.parametrize(
    ("text", "name", "dtype", "units"),
    [
        ("time:int64", "time", "int64", "1"),
        ("time:int64:seconds since 1970-01-01 00:00:00", "time", "int64", "seconds since 1970-01-01 00:00:00"),
        ("score", "score", "float64", "1"),
        ("Kind_2:uint8:", "Kind_2", "uint8", "1"),
    ],
)
def test_a_text_names_a_column(text, name, dtype, units):
    column = EdgeColumn.parsed(text)
    assert column == EdgeColumn(name, np.dtype(dtype), units)
    assert EdgeColumn.parsed(column.text) == column


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "name of at most 64 letters"),
        ("2nd:int8", "name of at most 64 letters"),
        ("a b:int8", "name of at most 64 letters"),
        ("_hidden", "name of at most 64 letters"),
        ("zeit_ä", "name of at most 64 letters"),
        ("class:int8", "name of at most 64 letters"),
        ("x" * 65, "name of at most 64 letters"),
        ("time:int128", "expected a type of int8"),
        ("time:str", "expected a type of int8"),
        ("time:bool", "expected a type of int8"),
        ("time:float16", "expected a type of int8"),
        *(
            (name, "this name is reserved for hooks")
            for name in ("weight", "Weight", "src", "dst_degree", "random", "ids")
        ),
    ],
)
def test_other_texts_are_refused(text, said):
    with pytest.raises(OptionError, match=said):
        EdgeColumn.parsed(text)


def test_names_that_hooks_have_are_reserved():
    assert {*FIELDS, *CALLS, "id", "degree", "edge_id"} <= RESERVED


def test_names_are_different_whatever_their_case():
    with pytest.raises(OptionError, match="each name once, found time and Time"):
        distinct([EdgeColumn.parsed("time"), EdgeColumn.parsed("Time")])


@pytest.mark.parametrize(
    ("dtype", "given", "held"),
    [
        ("int8", [-128, 127], True),
        ("int8", [0, 128], False),
        ("int16", [1.0, 2.0], True),
        ("int16", [1.5, 2], False),
        ("int64", [2**63 - 1, -(2**63)], True),
        ("int64", np.array([2**63, 0], np.uint64), False),
        ("int64", [2.0**60, 0.0], False),  # a float may stand for other integers, too
        ("uint8", [True, False], True),
        ("uint32", [-1, 0], False),
        ("uint64", np.array([2**63 - 1, 0], np.uint64), True),
        ("uint64", np.array([2**63, 0], np.uint64), False),  # no int64, which hooks read
        ("float32", [np.nan, np.inf], True),
        ("float32", [1e39, 0.0], False),
        ("float32", [0.1, 0.2], True),
        ("float32", [2**24 + 1, 0], False),
        ("float64", [2**53 + 1, 0], False),
        ("float64", [2**53, -1], True),
    ],
)
def test_values_fit_their_column_or_are_refused(dtype, given, held):
    column = EdgeColumn.named("time", dtype)
    if held:
        found = column.values(given, 2)
        assert found.dtype == dtype
        assert np.array_equal(found, np.asarray(given).astype(dtype), equal_nan=dtype.startswith("float"))
        return
    with pytest.raises(StoreError, match=f"time: expected numbers that {dtype} holds"):
        column.values(given, 2)


@pytest.mark.parametrize(
    "given", [[1], [1, 2, 3], [[1, 2]], ["a", "b"], [None, 1], [1j, 2], [2**64, 1], "ab", {"a": 1, "b": 2}]
)
def test_what_is_no_number_for_each_edge_is_refused(given):
    with pytest.raises(CsawError, match="edge column"):
        given_columns({"time": given}, 2)


@pytest.mark.parametrize(
    "given", [[1, 2], "time", {1: [1, 2]}, {"time": [1, 2], "Time": [1, 2]}, {"time": [1, 2], "time:int64": [1, 2]}]
)
def test_columns_are_given_by_different_names(given):
    with pytest.raises(OptionError, match="edge.column"):
        given_columns(given, 2)


def test_the_type_of_an_array_is_that_of_its_column():
    given = {"a": np.array([1, 2], np.int16), "b": [1, 2], "c": [1.0, 2], "d": [True, False], "e:int8:m": [1, 2]}
    given |= {"f": np.array([1, 2], ">f4"), "g": np.array([1, 2], np.float16)}
    found = [(column.name, column.dtype.name, column.units) for column in given_columns(given, 2)]
    types = ["int16", "int64", "float64", "uint8", "int8", "float32", "float32"]
    assert found == [(name, kind, "m" if name == "e" else "1") for name, kind in zip("abcdefg", types, strict=True)]


@pytest.mark.parametrize("compression", [None, "lz4"])
@pytest.mark.parametrize("partitions", [1, 4])
def test_what_is_written_is_read(tmp_path, compression, partitions):
    store = with_columns(tmp_path / "g.zarr", partitions=partitions, compression=compression)
    written = columns_of(store.edges)
    found = store.load(store.further_columns)
    assert list(found.columns) == list(written) == [f"of_{dtype}" for dtype in DTYPES]
    for name, array in written.items():
        assert found.columns[name].dtype == array.dtype
        assert np.array_equal(found.columns[name], array)
    assert all(finding.ok for finding in check_store(store))
    assert store.partitions[0].nbytes >= store.partitions[0].edges * (4 + 4 + sum(a.itemsize for a in written.values()))


def test_unsorted_rows_take_their_values_along(tmp_path):
    store = write_graph(
        tmp_path / "g.zarr", np.array([0, 3]), np.array([0, 0, 0]), directed=True, edge_columns={"time": [3, 1, 2]}
    )
    assert values(store, "time").tolist() == [3, 1, 2]  # repeats stay in their order
    graph = write(tmp_path / "h.zarr", {"time": [1, 2, 3]})
    swapped = write_graph(
        tmp_path / "i.zarr", np.array(ROWS[0]), np.array([2, 1, 0]), directed=True, edge_columns={"time": [2, 1, 3]}
    )
    assert swapped.fingerprint == graph.fingerprint
    assert values(swapped, "time").tolist() == [1, 2, 3]


def test_views_and_graphs_in_memory_have_the_columns_of_their_store(tmp_path):
    store = with_columns(tmp_path / "g.zarr", partitions=5)
    expected = columns_of(store.edges)
    for view in (Split(store, 200), Coalesced(store, 2), Recut(store, [(0, 0)]), in_memory(store)):
        found = view.load(view.further_columns)
        assert view.fingerprint == store.fingerprint
        for name, array in expected.items():
            assert np.array_equal(found.columns[name], array)
        part = view.partitions[-1]
        some = {"edge_of_int16": np.empty(2, np.int16), "indices": np.empty(2, np.uint32)}
        view.read_edges(part.number, some, part.edges - 2)
        assert np.array_equal(some["edge_of_int16"], expected["of_int16"][-2:])


def test_a_store_without_columns_is_what_it_was(tmp_path):
    plain = write(tmp_path / "g.zarr", None)
    attributes = json.loads((plain.path / "zarr.json").read_text())["attributes"]
    assert attributes["format_version"] == 2
    assert "edge_columns" not in attributes
    assert plain.fingerprint == "918aa61b204ec9b8a7ddcb39e5da3fd0"


def test_a_fingerprint_depends_on_names_types_and_values_but_not_on_order_or_units(tmp_path):
    def fingerprint(columns):
        return write(tmp_path / "g.zarr", columns, overwrite=True).fingerprint

    one, two = {"a": [1, 2, 3]}, {"a": [1, 2, 3], "b": [0.5, 1, 2]}
    different = [None, one, two, {"a": [1, 2, 4]}, {"c": [1, 2, 3]}, {"a:int32": [1, 2, 3]}, {"b": [0.5, 1, 2]}]
    assert len({fingerprint(columns) for columns in different}) == len(different)
    assert (
        fingerprint(two)
        == fingerprint(dict(reversed(two.items())))
        == fingerprint({"a:int64:s": [1, 2, 3], "b": two["b"]})
    )


def test_the_columns_of_a_store_are_listed_weight_first(tmp_path):
    graph = random_store(tmp_path / "p.zarr").load()
    store = write_graph(
        tmp_path / "g.zarr",
        graph.indptr,
        graph.indices,
        graph.weights,
        directed=True,
        edge_columns={"time:int32:s": np.arange(graph.indices.size)},
    )
    assert store.edge_columns == (WEIGHT, EdgeColumn("time", np.dtype(np.int32), "s"))
    assert store.hook_columns == store.edge_columns
    (tmp_path / "e.txt").write_text("0 1 2\n1 2 3\n")
    kept = csaw.partition(tmp_path / "e.txt", tmp_path / "e.zarr", edge_ids=True)
    assert kept.edge_columns == (WEIGHT, EDGE_ID)
    assert kept.hook_columns == (WEIGHT,)  # the fingerprint does not depend on the rows of the input


def test_arrays_say_what_they_are_of(tmp_path):
    store = write(tmp_path / "g.zarr", {"time:int16:seconds since 1970-01-01": [1, 2, 3]})
    said = json.loads((store.path / "partitions/00000/edge_time/zarr.json").read_text())
    assert said["dimension_names"] == ["edge"]
    assert said["attributes"]["units"] == "seconds since 1970-01-01"
    assert said["attributes"]["long_name"].startswith("time of each edge")


def test_a_store_with_columns_can_be_replaced_and_strangers_files_not(tmp_path):
    write(tmp_path / "g.zarr", {"time": [1, 2, 3]})
    write(tmp_path / "g.zarr", {"score": [1, 2, 3]}, overwrite=True)
    (tmp_path / "g.zarr/partitions/00000/notes").mkdir()
    with pytest.raises(StoreError, match="notes, which csaw did not write"):
        write(tmp_path / "g.zarr", None, overwrite=True)


@pytest.mark.parametrize("how", ["byte", "missing", "short"])
def test_a_damaged_column_is_an_error_where_it_is_read(tmp_path, how):
    store = with_columns(tmp_path / "g.zarr", partitions=2)
    folder = store.path / "partitions/00001/edge_of_int32"
    if how == "missing":
        shutil.rmtree(folder)
    else:
        data = bytearray((folder / "c/0").read_bytes())
        data[9] ^= 1
        (folder / "c/0").write_bytes(data if how == "byte" else data[:-4])
    left = open_graph(store.path)
    left.load()  # which does not read it
    with pytest.raises(StoreError, match="edge_of_int32"):
        values(left, "of_int32")
    assert not check_store(left)[0].ok


@pytest.mark.parametrize(
    "columns",
    [
        "time",
        ["time"],
        [{"name": "time", "dtype": "int64"}],
        [{"name": "time", "dtype": "object", "units": "1"}],
        [{"name": "../../x", "dtype": "int64", "units": "1"}],
        [{"name": "weight", "dtype": "int64", "units": "1"}],
        [{"name": "time", "dtype": 3, "units": "1"}],
        [{"name": "a", "dtype": "int8", "units": "1"}, {"name": "A", "dtype": "int8", "units": "1"}],
    ],
)
def test_forged_lists_of_columns_are_refused(tmp_path, columns):
    path = write(tmp_path / "g.zarr", {"time": [1, 2, 3]}).path
    node = json.loads((path / "zarr.json").read_text())
    attributes = node["attributes"] | {"edge_columns": columns}
    attributes["digest"] = digest({name: value for name, value in attributes.items() if name != "digest"})
    (path / "zarr.json").write_text(json.dumps(node | {"attributes": attributes}))
    with pytest.raises(StoreError, match="edge_columns"):
        open_graph(path)


def test_a_forged_uint64_that_hooks_cannot_read_is_refused(tmp_path):
    path = write(tmp_path / "g.zarr", {"time:uint64": [1, 2, 3]}).path
    file = path / "partitions/00000/edge_time/c/0"
    file.write_bytes(np.array([1, 2**63, 3], np.uint64).tobytes())
    with pytest.raises(StoreError, match="expected values from 0 to 9223372036854775807"):
        values(open_graph(path, checksums=False), "time")


EDGES = np.array([(0, 1), (1, 2), (2, 2), (0, 1), (2, 0)])
TIMES = [10, 11, 12, 13, 14]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, {(0, 1): [10], (1, 2): [11], (2, 2): [12], (2, 0): [14]}),
        ({"duplicates": "keep"}, {(0, 1): [10, 13], (1, 2): [11], (2, 2): [12], (2, 0): [14]}),
        ({"duplicates": "sum"}, {(0, 1): [10], (1, 2): [11], (2, 2): [12], (2, 0): [14]}),
        ({"self_loops": "drop"}, {(0, 1): [10], (1, 2): [11], (2, 0): [14]}),
        ({"reverse": True}, {(1, 0): [10], (2, 1): [11], (2, 2): [12], (0, 2): [14]}),
        (
            {"directed": False},
            {(0, 1): [10], (1, 0): [10], (1, 2): [11], (2, 1): [11], (2, 2): [12], (2, 0): [14], (0, 2): [14]},
        ),
    ],
)
def test_edges_of_a_program_keep_their_values(tmp_path, how, expected):
    given = {"edge_columns": {"time": TIMES}, **how}
    for graph in (csaw.graph(EDGES, **given), csaw.partition(EDGES, tmp_path / "g.zarr", **given)):
        held, found = graph.load(graph.further_columns), {}
        for v in range(graph.vertices):
            for k in range(held.indptr[v], held.indptr[v + 1]):
                found.setdefault((v, int(held.indices[k])), []).append(int(held.columns["time"][k]))
        assert found == expected


def test_columns_are_for_graphs_in_memory_in_python(tmp_path):
    path = write(tmp_path / "g.zarr", {"time": [1, 2, 3]}).path
    with pytest.raises(OptionError, match="edge_columns: only for graphs in memory"):
        csaw.graph(path, edge_columns={"score": [1, 2, 3]})
    held = csaw.graph(indptr=ROWS[0], indices=ROWS[1], edge_columns={"time": [1, 2, 3]})
    assert held.fingerprint == open_graph(path).fingerprint
