"""A store that grew is the store made at once of the same edges with the same numbers, byte by byte: held against lists
of Python, and where ids rise against ``csaw partition`` of all files.
"""

import itertools
import random

import numpy as np
import pytest
from helpers.machine import need_package

import csaw
from csaw.partition import IngestOptions, ingest, open_graph
from csaw.partition.errors import CsawError, FormatError, OptionError, StoreError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.edge_ids import read_edge_ids
from csaw.partition.graph.fingerprint import fingerprint_of_arrays
from csaw.partition.ingestion.append import append_edges


class Listed:
    """A graph as lists: ``ids`` in the order of their numbers, and the values of each edge in each row."""

    def __init__(self, directed):
        self.directed, self.ids, self.edges = directed, [], {}

    def take(self, rows, policy):
        """Rows (source, target, *values), as csaw partition or csaw append takes them."""
        if policy == "remove":
            for pair in self._pairs(rows):
                self.edges.pop(pair[:2], None)
            return self
        self.ids += sorted({end for row in rows for end in row[:2]} - set(self.ids))
        before = set(self.edges) if policy == "last" else set()
        for source, target, values in self._pairs(rows):
            held = self.edges.setdefault((source, target), [])
            if policy == "keep" or not held:
                held.append(values)
            elif policy == "sum":
                held[0] = (held[0][0] + values[0], *held[0][1:])
            elif policy == "last":
                held[:] = [values]
        assert before <= set(self.edges)
        return self

    def _pairs(self, rows):
        for source, target, *values in rows:
            yield source, target, tuple(values)
            if not self.directed and source != target:
                yield target, source, tuple(values)

    def rows(self):
        """(row, neighbor, *values) by number, sorted by row and neighbor."""
        number = {name: place for place, name in enumerate(self.ids)}
        return [
            (*ends, *values)
            for ends, several in sorted(((number[a], number[b]), held) for (a, b), held in self.edges.items())
            for values in several
        ]


def rows_of(store, names=()):
    graph = store.load([column for column in store.edge_columns if column.name in names])
    owners = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    weights = [] if graph.weights is None else [graph.weights.tolist()]
    columns = [graph.columns[name].tolist() for name in names]
    return list(zip(owners.tolist(), graph.indices.tolist(), *weights, *columns, strict=True))


def canonical(store):
    """The fingerprint of the arrays of a store, computed at once."""
    graph = store.load(store.further_columns)
    arrays = {"indices": graph.indices} | {one.array: graph.columns[one.name] for one in store.further_columns}
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    return fingerprint_of_arrays(graph.indptr, arrays, store.id_arrays, store.further_columns)


def require_good(store):
    assert [found for found in check_store(store) if not found.ok] == []
    assert store.fingerprint == canonical(store)


def written(path, rows):
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    return path


KINDS = {
    "identity": range,
    "apart": lambda n: range(5, 5 + 3 * n, 3),
    "words": lambda n: [f"w{k:02}" for k in range(n)],
}


def some(rng, ids, count, weighted):
    return [(rng.choice(ids), rng.choice(ids), *[rng.randrange(1, 9)] * weighted) for _ in range(count)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("policy", ["first", "keep", "sum", "last", "remove"])
def test_appends_agree_with_lists(tmp_path, seed, policy):
    """Of directed and undirected graphs, weighted or not, of any ids, in one partition or many, packed or plain; three
    appends one after the other, among them ids in between and vertices that are all new.
    """
    rng = random.Random(seed * 7 + len(policy))
    directed, weighted = seed % 2 == 0, policy == "sum" or seed % 3 == 0
    names = list(KINDS[sorted(KINDS)[seed % 3]](40))
    first = rng.sample(names, 30) if seed % 4 else names[:30]
    made = policy if policy in ("first", "keep") else "first"
    how = {"partition_bytes": rng.choice([200, 1000, None]), "compression": rng.choice([None, "lz4"])}
    listed, file = Listed(directed), tmp_path / "rows.txt"
    rows = some(rng, first, 200, weighted)
    listed.take(rows, made)
    options = IngestOptions(directed=directed, duplicates=made, self_loops="keep", **how)
    ingest(str(written(file, rows)), tmp_path / "g.zarr", options)
    for pool in (names[:20], names, names[25:]):
        rows = some(rng, pool, 60, weighted)
        listed.take(rows, policy)
        how = {"remove": True} if policy == "remove" else {"duplicates": policy}
        if policy == "keep":
            how["again"] = True
        done = append_edges(tmp_path / "g.zarr", [str(written(file, rows))], how | {"partition_bytes": 900})
        assert rows_of(done.store) == listed.rows()
        ids = done.store.vertex_ids()
        assert (list(range(done.store.vertices)) if ids is None else list(ids)) == listed.ids
        require_good(done.store)
        dense = done.store.dense_ids(listed.ids)
        assert dense.tolist() == list(range(len(listed.ids)))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("times", [False, True])
def test_where_ids_rise_it_is_the_store_of_all_files(tmp_path, directed, times):
    rng = random.Random(3)
    old, new = (some(rng, range(low, 60), 150, True) for low in (0, 20))
    old, new = ([(*row, rng.randrange(50), rng.randrange(5)) for row in rows] for rows in (old, new))
    old += [(v, v, 1, 0, 0) for v in range(60)]
    new += [(60, 61, 1, 4, 2)]
    files = [str(written(tmp_path / name, rows)) for name, rows in (("a.txt", old), ("b.txt", new))]
    columns = {"edge_columns": ("kind:uint8=5",), "weight_column": 3, "edge_ids": True}
    columns |= {"time_column": 4} if times else {}
    grown, whole = tmp_path / "g.zarr", tmp_path / "h.zarr"
    ingest(files[0], grown, IngestOptions(directed=directed, partition_bytes=1000, **columns))
    ingest(files, whole, IngestOptions(directed=directed, **columns))
    given = {"edge_columns": ("kind=5",), "weight_column": 3} | ({"time_column": 4} if times else {})
    done = append_edges(grown, files[1:], given)
    found, expected = done.store, open_graph(whole)
    assert found.fingerprint == expected.fingerprint
    assert np.array_equal(read_edge_ids(found), read_edge_ids(expected))
    assert found.attributes["edge_ids"] == len(old) + len(new)
    assert rows_of(found, ["kind"]) == rows_of(expected, ["kind"])
    require_good(found)


def test_h1_a_new_id_gets_the_next_number_even_if_it_is_smaller(tmp_path):
    """LAWS.md H1: path 0-1-2-3 of the ids 10, 11, 12, 13; append 11-4."""
    csaw.partition([(10, 11), (11, 12), (12, 13)], tmp_path / "g.zarr", directed=False)
    store = csaw.append(tmp_path / "g.zarr", [(11, 4)])
    assert store.vertex_ids().tolist() == [10, 11, 12, 13, 4]
    assert store.dense_ids([4, 10]).tolist() == [4, 0]
    assert store.attributes["partitioner"] == {"method": "append"}
    assert store.attributes["format_version"] == 3
    assert rows_of(store) == [(0, 1), (1, 0), (1, 2), (1, 4), (2, 1), (2, 3), (3, 2), (4, 1)]
    require_good(store)


def test_walks_that_read_no_changed_row_keep_their_bytes(tmp_path):
    """H1 again: only walks that read row 1, or stand behind such a step, change."""
    csaw.partition([(0, 1), (1, 2), (2, 3), (5, 6)], tmp_path / "g.zarr", directed=False)
    how = {"sources": "all", "walk_length": 30, "seed": 5, "num_walks": 1, "ids": "dense"}
    before = csaw.sample(tmp_path / "g.zarr", **how).walks[:]
    csaw.append(tmp_path / "g.zarr", [(1, 9)])
    after = csaw.sample(tmp_path / "g.zarr", **how).walks[:]
    assert np.array_equal(before[4:6], after[4:6])  # 5 and 6 never leave their edge
    read = [walk[:-1].tolist().index(1) if 1 in walk[:-1] else 30 for walk in before]
    assert all(
        np.array_equal(one[: at + 1], other[: at + 1]) for one, other, at in zip(before, after, read, strict=False)
    )


@pytest.mark.parametrize(
    ("ids", "more", "kind", "rising"),
    [
        (range(4), [4, 5], "identity", True),
        (range(4), [9], "int64", True),
        (range(4), [-3], "int64", False),
        ([2, 5], [7], "int64", True),
        ([2, 5], [3], "int64", False),
        ([2, 5], [2**63 + 1], "uint64", True),
        (["a", "c"], ["d"], "string", True),
        (["a", "c"], ["b"], "string", False),
        (["\u00e4", "c"], ["zebra"], "string", False),
    ],
)
def test_ids_after_an_append(tmp_path, ids, more, kind, rising):
    ids = list(ids)
    csaw.partition([(one, ids[0]) for one in ids], tmp_path / "g.zarr")
    before = list(open_graph(tmp_path / "g.zarr").original_ids(np.arange(len(ids))))
    store = csaw.append(tmp_path / "g.zarr", [(one, ids[0]) for one in more])
    assert list(store.original_ids(np.arange(store.vertices))) == before + more
    assert (store.id_kind, store.partitioner) == (kind, "range" if rising else "append")
    assert store.dense_ids(before + more).tolist() == list(range(len(before + more)))
    require_good(open_graph(tmp_path / "g.zarr"))


def test_ids_of_no_common_type_are_refused(tmp_path):
    csaw.partition([(-1, 2)], tmp_path / "g.zarr")
    with pytest.raises(FormatError, match="fit in one 64-bit type"):
        csaw.append(tmp_path / "g.zarr", [(2**63 + 5, 2)])


def test_only_partitions_that_change_are_written(tmp_path):
    edges = [(k, (k + 1) % 400) for k in range(400)]
    base = csaw.partition(edges, tmp_path / "g.zarr", partitions=8)
    store = csaw.append(tmp_path / "g.zarr", [(5, 9), (6, 1), (120, 3)])
    said = store.report["append"]
    assert (said["partitions_written"], said["partitions_kept"]) == (2, 6)
    for part in range(8):
        files = [path / f"partitions/{part:05d}/indices/c/0" for path in (base.path, store.path)]
        assert files[0].samefile(files[1]) == (part not in (0, 2))
    require_good(store)


def test_a_partition_that_grows_too_large_is_split_without_renumbering(tmp_path):
    base = csaw.partition([(k, k + 1) for k in range(300)], tmp_path / "g.zarr", partitions=2)
    limit = max(part.nbytes for part in base.partitions)
    more = [(k, j) for k in range(40) for j in range(100, 130)]
    store = csaw.append(tmp_path / "g.zarr", more, partition_size=limit)
    sizes = [part.nbytes for part in store.partitions]
    assert len(sizes) == 2 + -(-1200 * 4 // limit)
    assert max(sizes) < 1.5 * limit  # a cut falls between rows, and new edges are estimated by row
    listed = Listed(True).take([(k, k + 1) for k in range(300)], "first").take(more, "first")
    assert rows_of(store) == listed.rows()
    require_good(store)


def test_new_vertices_fill_the_last_partition_or_get_their_own(tmp_path):
    csaw.partition([(k, k + 1) for k in range(100)], tmp_path / "g.zarr", partitions=2)
    store = csaw.append(tmp_path / "g.zarr", [(200, 1)])
    assert [part.last_vertex for part in store.partitions][1:] == [102]
    store = csaw.append(tmp_path / "g.zarr", [(1000 + k, 1001 + k) for k in range(300)], partition_size=1300)
    assert len(store.partitions) > 4
    assert store.vertices == 102 + 301
    require_good(store)


def test_the_memory_limit_changes_no_byte(tmp_path):
    rng = np.random.default_rng(1)
    old, new = (rng.integers(0, 3000, (40_000, 2)) for _ in range(2))
    found = []
    for number, memory in enumerate(("16MiB", "1GiB")):
        place = tmp_path / f"{number}.zarr"
        csaw.partition(old, place)
        found.append(csaw.append(place, written(tmp_path / "new.txt", new.tolist()), memory=memory))
    assert found[0].fingerprint == found[1].fingerprint


def test_edges_that_wait_in_files_are_those_in_memory(tmp_path, monkeypatch):
    from csaw.partition.ingestion import append

    csaw.partition([(k, k + 1) for k in range(500)], tmp_path / "g.zarr", partitions=5)
    monkeypatch.setattr(append, "KEPT_SHARE", 1 << 60)
    rows = some(random.Random(4), range(600), 3000, weighted=False)
    store = csaw.append(tmp_path / "g.zarr", rows)
    listed = Listed(True).take([(k, k + 1) for k in range(500)], "first").take(rows, "first")
    assert rows_of(store) == listed.rows()
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr"]


@pytest.mark.parametrize("policy", ["first", "last", "error"])
def test_nothing_new_makes_no_version(tmp_path, policy):
    csaw.partition([(1, 2), (2, 3)], tmp_path / "g.zarr")
    if policy == "error":
        with pytest.raises(FormatError, match=r"g.zarr has the edge 1 2 already; pass duplicates='first'"):
            csaw.append(tmp_path / "g.zarr", [(1, 2)], duplicates=policy)
    else:
        assert csaw.append(tmp_path / "g.zarr", [(1, 2)], duplicates=policy).version == 0
    assert not (tmp_path / "g.zarr" / "versions").exists()


def test_an_empty_file_makes_no_version(tmp_path):
    csaw.partition([(1, 2)], tmp_path / "g.zarr")
    assert csaw.append(tmp_path / "g.zarr", []).version == 0
    (tmp_path / "empty.txt").write_text("# nothing today\n")
    done = append_edges(tmp_path / "g.zarr", [str(tmp_path / "empty.txt")], {})
    assert (done.is_new, done.report["rows"], done.store.version) == (False, 0, 0)


def test_removing_all_edges_leaves_the_vertices(tmp_path):
    edges = [(0, 1), (0, 2), (2, 2), (3, 0)]
    csaw.partition(edges, tmp_path / "g.zarr", directed=False)
    store = csaw.append(tmp_path / "g.zarr", [*edges, (0, 9), (1, 2)], remove=True)
    assert (store.vertices, store.edges, store.max_degree) == (4, 0, 0)
    assert store.report["append"]["edges_removed"] == 4
    assert store.report["append"]["edges_missing"] == 2
    require_good(store)
    again = csaw.append(tmp_path / "g.zarr", edges)
    assert again.fingerprint == csaw.open_graph(tmp_path / "g.zarr", version=0).fingerprint


def test_removing_takes_all_parallel_edges(tmp_path):
    csaw.partition([(0, 1), (0, 1), (1, 0), (1, 2)], tmp_path / "g.zarr", duplicates="keep")
    store = csaw.append(tmp_path / "g.zarr", [(0, 1)], remove=True)
    assert rows_of(store) == [(1, 0), (1, 2)]
    assert store.report["append"]["edges_removed"] == 2
    assert not store.multigraph


@pytest.mark.parametrize("policy", ["keep", "sum"])
def test_the_same_edges_twice_need_a_word(tmp_path, policy):
    """A killed append is run again: where that would count edges twice, it says that the version is there."""
    csaw.partition([(1, 2, 2.0), (2, 3, 1.0)], tmp_path / "g.zarr")
    rows = [(1, 2, 4.0)]
    csaw.append(tmp_path / "g.zarr", rows, duplicates=policy)
    with pytest.raises(StoreError, match="newest version, 1, was made by appending the same edges"):
        csaw.append(tmp_path / "g.zarr", rows, duplicates=policy)
    store = csaw.append(tmp_path / "g.zarr", rows, duplicates=policy, again=True)
    assert [row[2] for row in rows_of(store)][:-1] == ([2, 4, 4] if policy == "keep" else [10])


def test_what_is_counted(tmp_path):
    csaw.partition([(0, 1, 1.0), (1, 2, 1.0)], tmp_path / "g.zarr", directed=False)
    done = append_edges(
        tmp_path / "g.zarr",
        [str(written(tmp_path / "n.txt", [(1, 0, 1), (2, 1, 5), (2, 1, 7), (4, 5, 1)]))],
        {"duplicates": "last"},
    )
    wanted = {"rows": 4, "edges_added": 1, "edges_repeated": 3, "edges_changed": 1, "vertices_added": 2}
    assert {name: done.report[name] for name in wanted} == wanted


@pytest.mark.parametrize("of_a_file", [True, False])
def test_edges_that_repeat_in_the_input_are_counted(tmp_path, of_a_file):
    """Self loops stand in one row of an undirected graph, other edges in two."""
    rows = [(1, 1), (1, 1), (1, 1), (1, 2), (2, 1), (1, 2), (3, 3)]
    data = written(tmp_path / "n.txt", rows) if of_a_file else rows
    made = csaw.partition(data, tmp_path / "h.zarr", directed=False).report
    assert [made[name] for name in ("edges", "duplicates", "self_loops")] == [7, 4, 4]
    csaw.partition([(3, 3)], tmp_path / "g.zarr", directed=False)
    report = csaw.append(tmp_path / "g.zarr", data).report
    assert [report["append"][name] for name in ("rows", "edges_added", "edges_repeated")] == [7, 2, 5]
    assert [report[name] for name in ("edges", "duplicates", "self_loops")] == [8, 5, 5]


def test_times_are_read_in_the_units_of_the_store(tmp_path):
    (tmp_path / "a.csv").write_text("source,target,sent\n0,1,2026-11-20T00:00:00\n")
    (tmp_path / "b.csv").write_text("source,target,sent\n1,2,1795219200\n")
    csaw.partition(tmp_path / "a.csv", tmp_path / "g.zarr", time_column="sent", time_format="iso")
    with pytest.raises(OptionError, match="has times in seconds since 1970-01-01; say how the new edges have them"):
        csaw.append(tmp_path / "g.zarr", tmp_path / "b.csv", time_column="sent")
    with pytest.raises(OptionError, match="expected times in seconds since 1970"):
        csaw.append(tmp_path / "g.zarr", tmp_path / "b.csv", time_column="sent", time_format="unix-ms")
    store = csaw.append(tmp_path / "g.zarr", tmp_path / "b.csv", time_column="sent", time_format="unix")
    assert rows_of(store, ["time"]) == [(0, 1, 1795132800), (1, 2, 1795219200)]
    require_good(store)


def test_a_table_is_appended(tmp_path):
    pandas = need_package("pandas")
    csaw.partition([(0, 1)], tmp_path / "g.zarr", edge_columns={"kind": np.array([3], np.int16)})
    table = pandas.DataFrame({"to": [0, 5], "from": [1, 5], "kind": [7, 8]})
    store = csaw.append(tmp_path / "g.zarr", table, source_column="from", target_column="to")
    assert rows_of(store, ["kind"]) == [(0, 1, 3), (1, 0, 7), (2, 2, 8)]
    require_good(store)


@pytest.mark.parametrize("of_files", [*itertools.product([True, False], repeat=2)])
def test_a_store_remembers_how_it_was_made(tmp_path, of_files):
    old, new = [(0, 1), (1, 1), (1, 0)], [(0, 1), (0, 2), (2, 2)]
    rows, more = (
        written(tmp_path / f"{len(edges)}{edges[1]}.txt", edges) if is_file else edges
        for is_file, edges in zip(of_files, (old, new), strict=True)
    )
    csaw.partition(rows, tmp_path / "g.zarr", self_loops="drop", reverse=True, duplicates="sum")
    store = csaw.append(tmp_path / "g.zarr", more)
    assert rows_of(store) == [(0, 1, 1), (1, 0, 2), (2, 0, 1)]


HOSTILE = {
    "typed": (
        lambda place: csaw.partition({("a", "to", "b"): written(place / "r.txt", [(1, 2)])}, place / "g.zarr"),
        "several types",
    ),
    "samples": (
        lambda place: csaw.sample("karate", place / "g.zarr", walk_length=2),
        "is a sample store; expected a graph store",
    ),
    "file": (lambda place: (place / "g.zarr").write_text("mine"), "is a regular file; expected a graph store"),
    "nothing": (lambda place: None, "does not exist; make it with csaw partition"),
    "link": (lambda place: (place / "g.zarr").symlink_to(place), "is a symbolic link"),
    "strings": (lambda place: csaw.partition([("a", "b")], place / "g.zarr"), "expected vertex ids that are strings"),
    "weights": (
        lambda place: csaw.partition([(1, 2, 0.5)], place / "g.zarr"),
        "has weights, but the new edges have none",
    ),
    "columns": (
        lambda place: csaw.partition([(1, 2)], place / "g.zarr", edge_columns={"kind": [1]}),
        "its columns have no names",
    ),
    "times": (
        lambda place: csaw.partition([(1, 2)], place / "g.zarr", time=[5]),
        "has the edge columns time:int64; expected the same",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_cannot_grow_is_refused_and_stays(tmp_path, what):
    make, said = HOSTILE[what]
    make(tmp_path)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with pytest.raises(CsawError, match=said):
        csaw.append(tmp_path / "g.zarr", [(1, 2)])
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"duplicates": "sum"}, "has no weights"),
        ({"duplicates": "second"}, "expected one of first, sum, last, keep, error"),
        ({"remove": True, "duplicates": "first"}, "only for edges that are added"),
        ({"directed": False}, "is directed"),
        ({"time_column": 3}, "has no times"),
        ({"weight_column": 3}, "has no weights"),
        ({"edge_columns": ["kind=3"]}, "expected a column of .*, found another; it has none"),
        ({"time": [1]}, "it is for graphs in memory|expected an option"),
        ({"partitions": 4}, "it is not an option"),
        ({"memory": "1MiB"}, "at least 16MiB"),
        ({"skip_lines": -1}, "skip_lines"),
    ],
)
def test_options_that_contradict_the_store_are_refused(tmp_path, options, said):
    csaw.partition([(1, 2)], tmp_path / "g.zarr")
    with pytest.raises(CsawError, match=said):
        csaw.append(tmp_path / "g.zarr", written(tmp_path / "n.txt", [(1, 3)]), **options)
    assert [path.name for path in (tmp_path / "g.zarr").iterdir() if path.name == "versions"] == []


@pytest.mark.parametrize(
    ("edges", "options", "said"),
    [
        ([(1, 3)], {"weights": [2.0]}, "weights: .*g.zarr has no weights; leave it out"),
        ([(1, 3)], {"skip_lines": 1}, "again, partition_size, memory, threads$"),
        (
            csaw.graph([(1, 3)]),
            {},
            "edges: expected files or a graph of another library, found list of edges in memory",
        ),
    ],
)
def test_what_a_graph_in_memory_cannot_be_is_refused(tmp_path, edges, options, said):
    csaw.partition([(1, 2)], tmp_path / "g.zarr")
    with pytest.raises(OptionError, match=said):
        csaw.append(tmp_path / "g.zarr", edges, **options)


def test_a_header_that_says_undirected_is_not_read_as_directed(tmp_path):
    csaw.partition([(1, 2)], tmp_path / "g.zarr")
    (tmp_path / "n.txt").write_text("# Undirected graph\n3 1\n")
    with pytest.raises(FormatError, match="is directed, but the new edges are undirected; pass directed=True"):
        csaw.append(tmp_path / "g.zarr", tmp_path / "n.txt")
    assert csaw.append(tmp_path / "g.zarr", tmp_path / "n.txt", directed=True).edges == 2


def test_targets_are_raised_as_those_of_the_store_were(tmp_path):
    text = "% bip unweighted\n% 2 {} 2\n1 1\n2 {}\n"
    for name, sizes in (("a", (2, 2)), ("b", (7, 3))):
        (tmp_path / name).write_text(text.format(*sizes))
    store = csaw.partition(tmp_path / "a", tmp_path / "g.zarr")
    assert store.report["target_offset"] == 2
    store = csaw.append(tmp_path / "g.zarr", tmp_path / "b")
    assert store.vertex_ids().tolist() == [1, 2, 3, 4, 5]
    store = csaw.append(tmp_path / "g.zarr", written(tmp_path / "c", [(2, 4)]))
    assert store.vertex_ids().tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(FormatError, match="2 is added to each target, and one source is 3"):
        csaw.append(tmp_path / "g.zarr", written(tmp_path / "d", [(3, 1)]))
    with pytest.raises(OptionError, match="has targets to which 2 was added; leave it out"):
        csaw.append(tmp_path / "g.zarr", tmp_path / "c", target_offset=3)


def test_sums_beyond_float32_are_refused(tmp_path):
    csaw.partition([(1, 2, 3e38)], tmp_path / "g.zarr")
    with pytest.raises(FormatError, match="more than float32 can hold"):
        csaw.append(tmp_path / "g.zarr", [(1, 2, 3e38)], duplicates="sum")


def test_sum_and_last_need_edges_that_are_there_once(tmp_path):
    csaw.partition([(1, 2, 1.0), (1, 2, 2.0)], tmp_path / "g.zarr", duplicates="keep")
    for policy in ("sum", "last"):
        with pytest.raises(OptionError, match="has repeated edges"):
            csaw.append(tmp_path / "g.zarr", [(1, 2, 1.0)], duplicates=policy)
    csaw.partition([(1, 2, 1.0)], tmp_path / "h.zarr", duplicates="sum")
    csaw.append(tmp_path / "h.zarr", [(1, 2, 2.0)], duplicates="keep")
    with pytest.raises(OptionError, match="duplicates sum: .* has repeated edges"):
        csaw.append(tmp_path / "h.zarr", [(1, 2, 4.0)])


def test_it_does_not_matter_in_how_many_appends_edges_come(tmp_path):
    """Whether ids rise from part to part or not, the store has the same edges by their ids."""
    rows = some(random.Random(9), range(50), 120, weighted=False)
    for rising in (False, True):
        given, found = sorted(rows, key=max) if rising else rows, set()
        for number, cuts in enumerate(([], [40], [30, 60, 90])):
            place = tmp_path / f"{rising}{number}.zarr"
            parts = [given[a:b] for a, b in itertools.pairwise([0, *cuts, len(given)])]
            csaw.partition(parts[0], place)
            for part in parts[1:]:
                csaw.append(place, part)
            store = open_graph(place)
            ids = store.original_ids(np.arange(store.vertices)).tolist()
            found.add(tuple(sorted((ids[a], ids[b]) for a, b in rows_of(store))))
        assert found == {tuple(sorted(set(rows)))}
