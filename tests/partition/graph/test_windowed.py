"""A window of time of a graph has the edges that a filter of all of its edges keeps, and all vertices."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.temporal import TIED, events_store, random_events

import csaw
from csaw.partition import open_graph, write_graph
from csaw.partition.errors import StoreError
from csaw.partition.graph import views
from csaw.partition.graph.edge_columns import TIME, TIME_ORDER, EdgeColumn
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.graph.time_order import time_order
from csaw.partition.graph.views import LEAST_TIME, Recut, Split, Window, Windowed

LAST = 2**63 - 1
KIND = EdgeColumn("kind", np.dtype(np.uint8))
WINDOWS = [
    (LEAST_TIME, 0),
    (LEAST_TIME, LAST),
    (-10, 10),
    (3, 3),
    (51, 60),
    (LEAST_TIME, -51),
    (LEAST_TIME, LEAST_TIME),
]


@pytest.fixture(params=[1, 7, 1 << 18], autouse=True)
def _piece(request, monkeypatch):
    """Pieces within rows, and of whole partitions."""
    monkeypatch.setattr(views, "PIECE", request.param)
    monkeypatch.setattr(views, "PACKED_PIECE", request.param)


def stored(path, partitions=1, compression=None, vertices=40, edges=700, **more):
    """A weighted multigraph with times and another column, and vertices without edges at both ends."""
    rng = np.random.default_rng(4)
    source, target = 3 + rng.integers(0, vertices - 6, (2, edges))
    source[rng.random(edges) < 0.3] = 5
    order = np.lexsort((target, source))
    return write_graph(
        path,
        np.cumsum([0, *np.bincount(source, minlength=vertices)]),
        target[order],
        rng.integers(1, 9, edges) / 4,
        directed=True,
        partitions=partitions,
        compression=compression,
        edge_columns={"time:int64": rng.integers(-50, 51, edges), "kind:uint8": rng.integers(0, 200, edges)},
        **more,
    )


def filtered(store, first, last):
    """Offsets, and each array of the edges in a window, by a filter of all edges."""
    graph = store.load([TIME, KIND])
    kept = [first <= time <= last for time in graph.columns["time"].tolist()]
    counts = [sum(kept[a:b]) for a, b in pairwise(graph.indptr.tolist())]
    arrays = {"indices": graph.indices, "weights": graph.weights} | {
        f"edge_{name}": values for name, values in graph.columns.items()
    }
    return np.cumsum([0, *counts]), {name: values[np.array(kept, bool)] for name, values in arrays.items()}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("partitions", "compression"), [(1, None), (5, None), (3, "lz4")])
def test_rows_are_those_of_a_filter(tmp_path, window, partitions, compression):
    store = stored(tmp_path / "g.zarr", partitions, compression)
    indptr, arrays = filtered(store, *window)
    view = Windowed(store, Window(*window))
    assert view.edges == indptr[-1]
    assert view.max_degree == np.diff(indptr).max()
    assert view.vertices == store.vertices
    for cut in (view, Split(view, 9), Recut(view, [(0, 0)])):
        loaded = cut.load([TIME, KIND])
        assert np.array_equal(loaded.indptr, indptr)
        found = {"indices": loaded.indices, "weights": loaded.weights}
        found |= {f"edge_{name}": values for name, values in loaded.columns.items()}
        assert all(np.array_equal(found[name], values) for name, values in arrays.items())
    for part in view.partitions:
        offsets = view.read_offsets(part.number)
        assert np.array_equal(offsets, indptr[part.first_vertex : part.last_vertex + 1] - part.first_edge)


def test_any_part_of_a_partition_can_be_read(tmp_path):
    store, rng = stored(tmp_path / "g.zarr", 2), np.random.default_rng(1)
    view = Windowed(store, Window(-20, 20))
    _, arrays = filtered(store, -20, 20)
    for part in view.partitions:
        ends = np.sort(rng.integers(0, part.edges + 1, (30, 2)), axis=1).tolist()
        for first, end in [(0, part.edges), (part.edges - 1, part.edges), (7, 7), (part.edges, part.edges), *ends]:
            found = {name: np.empty(end - first, values.dtype) for name, values in arrays.items()}
            view.read_edges(part.number, found, first)
            span = slice(part.first_edge + first, part.first_edge + end)
            assert all(np.array_equal(found[name], values[span]) for name, values in arrays.items())


def test_a_window_of_a_graph_in_memory(tmp_path):
    store = stored(tmp_path / "g.zarr")
    graph = store.load([TIME, KIND])
    held = InMemory("g", graph.indptr, graph.indices, graph.weights, edge_columns=graph.columns)
    view = Windowed(held, Window(0, 9))
    assert view.in_memory
    assert np.array_equal(view.load().indices, filtered(store, 0, 9)[1]["indices"])
    held.arrays[TIME.array][:] = 50
    with pytest.raises(StoreError, match="have changed since they were counted"):
        view.load()


def test_ids_and_clusters_are_those_of_the_store(tmp_path):
    ids, clusters = 7 + 3 * np.arange(40), np.arange(40) % 4
    store = stored(tmp_path / "g.zarr", vertex_ids=ids, clusters=clusters)
    view = Windowed(store, Window(3, 3))
    assert np.array_equal(view.stored_ids(), ids)
    assert view.dense_ids([10]).tolist() == [1]
    assert view.original_ids(np.array([2, -1])).tolist() == [13, -1]
    assert np.array_equal(view.read_clusters(), clusters)
    words = csaw.graph([("b", "a"), ("a", "c")], time=[1, 2], directed=False)
    assert Windowed(words, Window(2, 2)).vertex_ids().tolist() == ["a", "b", "c"]


def test_a_window_has_a_name_of_its_own_in_the_cache(tmp_path):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    views = [Windowed(store, Window(*window)) for window in [(3, 3), (LEAST_TIME, 3), (LEAST_TIME, 4), (LEAST_TIME, 9)]]
    assert len({one.identity for one in (store, *views)}) == 5
    assert len({one.fingerprint for one in (store, *views)}) == 5
    again = Windowed(open_graph(store.path), Window(3, 3))
    assert (again.identity, again.fingerprint) == (views[0].identity, views[0].fingerprint)
    assert views[0].time == store.time is not None
    assert views[0].edge_columns == store.edge_columns


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("partitions", "compression"), [(1, None), (5, None), (3, "lz4")])
def test_the_order_by_time_is_that_of_a_graph_of_these_edges(tmp_path, window, partitions, compression):
    store = stored(tmp_path / "g.zarr", partitions, compression)
    indptr, arrays = filtered(store, *window)
    expected, rng = time_order(indptr, arrays["edge_time"]), np.random.default_rng(2)
    for view in (Windowed(store, Window(*window)), Recut(Windowed(store, Window(*window)), [(0, 0)])):
        for part in view.partitions:
            ends = np.sort(rng.integers(0, part.edges + 1, (9, 2)), axis=1).tolist()
            for first, end in [(0, part.edges), (0, 0), (part.edges, part.edges), *ends]:
                found = {
                    TIME_ORDER.array: np.empty(end - first, np.uint32),
                    TIME.array: np.empty(end - first, np.int64),
                }
                view.read_edges(part.number, found, first)
                span = slice(part.first_edge + first, part.first_edge + end)
                assert np.array_equal(found[TIME_ORDER.array], expected[span])
                assert np.array_equal(found[TIME.array], arrays["edge_time"][span])
                alone = {TIME_ORDER.array: np.empty(end - first, np.uint32)}
                view.read_edges(part.number, alone, first)
                assert np.array_equal(alone[TIME_ORDER.array], expected[span])


@pytest.mark.parametrize(("vertices", "edges"), [(1, 0), (5, 0), (1, 9)])
def test_small_graphs(tmp_path, vertices, edges):
    store = events_store(tmp_path / "g.zarr", random_events(vertices, edges, 1), vertices) if edges else None
    if store is None:
        none = np.empty(0, np.int64)
        store = write_graph(
            tmp_path / "g.zarr", np.zeros(vertices + 1, int), none, directed=False, edge_columns={"time": none}
        )
    for window in WINDOWS:
        view = Windowed(store, Window(*window))
        times = store.load([TIME]).columns["time"]
        assert view.edges == ((times >= window[0]) & (times <= window[1])).sum()
        assert view.load().indptr.size == vertices + 1


def test_bytes_that_have_changed_are_found(tmp_path):
    store = stored(tmp_path / "g.zarr")
    file = store.path / "partitions/00000/edge_time/c/0"
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)
    with pytest.raises(StoreError, match="have changed"):
        Windowed(store, Window(0, 9))


def test_no_file_is_read_past_the_filter(tmp_path):
    view = Windowed(stored(tmp_path / "g.zarr", 3), Window(0, 9))
    assert not view.is_plain
    assert not Split(view, 9).is_plain
    with pytest.raises(StoreError, match="no file has the indices of some edges alone"):
        view.opened(0, "indices")


def test_what_is_released_is_counted_again(tmp_path):
    store = stored(tmp_path / "g.zarr", 3)
    view, (indptr, arrays) = Windowed(store, Window(-20, 20)), filtered(store, -20, 20)
    for _ in range(2):
        loaded = view.load([KIND])
        assert np.array_equal(loaded.indptr, indptr)
        assert np.array_equal(loaded.columns["kind"], arrays["edge_kind"])
        view.release()
        assert not any(isinstance(held, np.ndarray) for held in vars(view).values())


def test_what_reads_offsets_may_write_to_them(tmp_path):
    view = Windowed(stored(tmp_path / "g.zarr"), Window(-10, 10))
    expected = view.read_indptr().tolist()
    view.read_indptr()[:] = -1
    assert view.read_indptr().tolist() == expected
