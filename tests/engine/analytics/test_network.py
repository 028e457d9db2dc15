"""A network has the same rows whatever the memory, in every direction, and undirected they are those of the simple
graph.
"""

import numpy as np
import pytest
from helpers.graphs import TROUBLED, random_store, store_of
from helpers.oracles import reversed_rows, rows_in

from csaw.engine.analytics.cpu.network import STATE_BYTES, HostNetwork, equal_ranges
from csaw.engine.plan.choices import Residency
from csaw.partition.errors import BudgetError


def rows(network):
    return [
        b.indices[b.indptr[v - b.first] : b.indptr[v - b.first + 1]].tolist()
        for b in network.blocks()
        for v in range(b.first, b.last)
    ]


def simple(lists):
    both = zip(range(len(lists)), lists, reversed_rows(lists), strict=True)
    return [sorted({*row, *back} - {v}) for v, row, back in both]


def least(store):
    """Bytes for the longest row in any direction, twice."""
    graph = store.load()
    longest = store.max_degree + (int(np.bincount(graph.indices).max()) if store.directed else 0)
    return STATE_BYTES * store.vertices + 2 * (8 if store.weighted else 4) * longest


def networks(store, folder):
    """In memory, and in blocks of one row and of some."""
    yield HostNetwork(store, residency=Residency.DISK, threads=3, derived=folder)
    for memory in (None, least(store), least(store) + 9000):
        yield HostNetwork(store, memory=memory, threads=3, derived=folder)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("partitions", [1, 4])
def test_rows_in_every_direction(tmp_path, directed, partitions):
    for store in (
        store_of(tmp_path / "t.zarr", TROUBLED, directed=directed, vertices=7, partitions=partitions),
        random_store(
            tmp_path / "r.zarr", vertices=900, edges=9000, directed=directed, partitions=partitions, weighted=False
        ),
    ):
        expected = rows_in(store)
        for network in networks(store, tmp_path / "derived"):
            assert rows(network) == expected
            assert rows(network.incoming) == (reversed_rows(expected) if directed else expected)
            assert rows(network.undirected) == simple(expected)
            assert network.undirected.undirected is network.undirected
            assert network.degrees.tolist() == [len(row) for row in expected]
            network.close()


def test_weights_come_with_their_rows(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=500, edges=9000, partitions=3)
    for network in networks(store, tmp_path):
        found = np.concatenate([b.weights.copy() for b in network.blocks(weights=True)])
        assert np.array_equal(found, store.load().weights)


def test_only_wanted_blocks_are_read(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=900, edges=9000)
    network = HostNetwork(store, memory=least(store))
    found = [(b.first, b.last) for b in network.blocks(wanted=lambda first, last: first <= 600 < last)]
    assert len(found) == 1
    assert found[0][0] <= 600 < found[0][1]


def test_least_memory_is_refused_with_numbers(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=900, edges=9000)
    with pytest.raises(BudgetError, match=f"{least(store):,} bytes are needed .* raise --memory to {least(store):,}"):
        HostNetwork(store, memory=least(store) - 1)


def test_a_graph_that_must_be_in_memory_is_refused_where_it_does_not_fit(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=900, edges=9000)
    needed = 8 * store.edges + STATE_BYTES * store.vertices
    assert HostNetwork(store, memory=needed, residency=Residency.RESIDENT).resident
    with pytest.raises(BudgetError, match=f"{needed:,} bytes are needed for all rows .* raise --memory"):
        HostNetwork(store, memory=needed - 1, residency=Residency.RESIDENT)
    assert not HostNetwork(store, residency=Residency.DISK).resident


def test_a_damaged_derived_store_is_made_again(tmp_path):
    store = random_store(tmp_path / "r.zarr", vertices=900, edges=9000, directed=True)
    first = HostNetwork(store, memory=least(store), derived=tmp_path / "derived").undirected
    expected = rows(first)
    (first.store.path / "zarr.json").write_text("{}")
    assert rows(HostNetwork(store, memory=least(store), derived=tmp_path / "derived").undirected) == expected


def test_a_store_that_claims_the_fingerprint_of_another_graph_shares_no_derived_store_with_it(tmp_path):
    store, other = (random_store(tmp_path / f"{v}.zarr", vertices=v, edges=9 * v, directed=True) for v in (900, 500))
    other.fingerprint = store.fingerprint
    found = [HostNetwork(one, memory=least(one), derived=tmp_path / "derived").undirected for one in (other, store)]
    assert [one.vertices for one in found] == [500, 900]
    assert found[0].store.path != found[1].store.path


@pytest.mark.parametrize("pieces", [0, 1, 3, 100])
def test_ranges_for_threads_cover_every_vertex_once_with_about_as_much_work(pieces):
    work = np.array([5, 0, 0, 900, 1, 1, 1, 80, 80, 3])
    upto = np.concatenate([[0], np.cumsum(work)]) + 7
    found = equal_ranges(upto, pieces, first=20)
    assert [v for low, high in found for v in range(low, high)] == list(range(20, 30))
    assert len(found) <= max(pieces, 1)
    of_ranges = [work[low - 20 : high - 20] for low, high in found]
    assert all(some.sum() - some.max() <= work.sum() / max(pieces, 1) for some in of_ranges)  # none is cut through
    assert equal_ranges(np.zeros(1, np.int64), pieces) == []
