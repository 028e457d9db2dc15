"""Lists of triangles, and of edges with the triangles of each, are those of sets of neighbors, in one order, whatever
the threads and the memory.
"""

import errno
import os
import re

import numpy as np
import pytest
from helpers.graphs import random_store, store_of
from helpers.machine import need_data, need_package
from helpers.networks import GRAPHS, neighbors_of

from csaw.datasets.resolve import resolve
from csaw.engine.analytics.cpu import common_neighbors, footprints
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.plan.choices import Residency
from csaw.partition import open_graph
from csaw.partition.errors import BudgetError, StoreError

PUBLISHED = {
    "snap/ca-GrQc.txt.gz": 48_260,
    "snap/wiki-Vote.txt.gz": 608_389,
    "snap/facebook_combined.txt.gz": 1_612_010,
}


def of_sets(sets):
    """All triangles, and all edges with the number of those of each, in order, from sets of neighbors."""
    edges = [(u, v) for u, row in enumerate(sets) for v in sorted(row) if u < v]
    return (
        [(u, v, w) for u, v in edges for w in sorted(sets[u] & sets[v]) if v < w],
        [(u, v, len(sets[u] & sets[v])) for u, v in edges],
    )


def listed(network):
    triangles = [tuple(row) for piece in common_neighbors.triangle_list(network) for row in piece.table.tolist()]
    support = [
        row
        for piece in common_neighbors.support_list(network)
        for row in zip(*(column.tolist() for column in piece[1:]), strict=True)
    ]
    return triangles, support


@pytest.mark.parametrize("name", GRAPHS)
def test_lists_are_those_of_sets(name, tmp_path):
    store = GRAPHS[name](tmp_path / "g.zarr")
    wanted = of_sets(neighbors_of(store))
    for threads in (1, 3):
        assert listed(HostNetwork(store, threads=threads).undirected) == wanted


def test_hubs_at_any_place_are_found(tmp_path):
    """Long rows meet short ones both ways round, so that each is looked up and searched."""
    for hubs in ((0, 1), (200, 399), (398, 399)):
        spokes = [(hub, v, 1) for hub in hubs for v in range(400) if v not in hubs]
        store = store_of(tmp_path / "g.zarr", [*spokes, (*hubs, 1), (3, 4, 1), (300, 301, 1)], directed=False)
        wanted = of_sets(neighbors_of(store))
        assert len(wanted[0]) == 398 + 4
        assert listed(HostNetwork(store, threads=2).undirected) == wanted


def small_windows(monkeypatch, triangles, entries):
    for name, value in (("MOST", triangles), ("ENTRIES", entries), ("VERTICES", 1 << 40)):
        monkeypatch.setattr(common_neighbors, name, value)
    for module in (common_neighbors, footprints):
        monkeypatch.setattr(module, "LEAST_TRIANGLES", triangles)


@pytest.mark.parametrize("triangles", [1, 50, 10_000])
def test_windows_of_any_size_give_the_same(tmp_path, monkeypatch, triangles):
    store = random_store(tmp_path / "g.zarr", vertices=90, edges=1100, weighted=False)
    wanted = of_sets(neighbors_of(store))
    small_windows(monkeypatch, triangles, 97)
    assert listed(HostNetwork(store, threads=2)) == wanted


def least(network):
    """The least memory for lists, by the refusal of less."""
    with pytest.raises(BudgetError, match="lists of triangles need .* for rows of .* raise --memory to") as refusal:
        next(common_neighbors.triangle_list(network))
    needed, allowed = (
        int(re.search(rf"([\d,]+) {what}", str(refusal.value))[1].replace(",", "")) for what in ("bytes", "are")
    )
    assert allowed == network.memory < needed
    return needed


def test_rows_that_pass_by_give_the_same(tmp_path, monkeypatch):
    small_windows(monkeypatch, 300, 500)
    store = random_store(tmp_path / "g.zarr", vertices=700, edges=9000, partitions=3, weighted=False)
    wanted = listed(HostNetwork(store))
    smallest = least(HostNetwork(store, memory=48 * 700 + 8 * store.max_degree + 100, threads=2))
    parts = []
    for memory in (smallest, smallest + 40_000, smallest + 4_000_000):
        network = HostNetwork(store, memory=memory, threads=2, residency=Residency.DISK)
        parts.append(len(list(common_neighbors._parts(network))))
        assert listed(network) == wanted
    assert parts[0] > parts[1] > parts[2] == 1


def test_a_full_disk_under_the_temporary_file_is_named(tmp_path, monkeypatch):
    store = random_store(tmp_path / "g.zarr", vertices=300, edges=4000, weighted=False)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.pwrite", full)
    network = HostNetwork(store, derived=tmp_path / "kept", residency=Residency.DISK)
    with pytest.raises(
        StoreError, match="kept: a temporary file for triangles .* No space left on device; raise --memory, or"
    ):
        list(common_neighbors.triangle_list(network))


def test_a_directed_graph_on_disk_is_listed_without_directions(tmp_path, monkeypatch):
    small_windows(monkeypatch, 300, 500)
    store = random_store(tmp_path / "g.zarr", vertices=300, edges=4000, directed=True)
    network = HostNetwork(store, threads=2, derived=tmp_path, residency=Residency.DISK)
    assert not network.undirected.resident
    assert listed(network.undirected) == of_sets(neighbors_of(store))


def test_lists_agree_with_networkx(tmp_path):
    networkx = need_package("networkx")
    store = random_store(tmp_path / "g.zarr", vertices=300, edges=3000, weighted=False)
    graph = networkx.Graph((u, v) for u, row in enumerate(neighbors_of(store)) for v in row)
    triangles, support = listed(HostNetwork(store))
    assert {frozenset(one) for one in triangles} == {
        frozenset(one) for one in networkx.enumerate_all_cliques(graph) if len(one) == 3
    }
    assert all(len(list(networkx.common_neighbors(graph, u, v))) == count for u, v, count in support)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_counts_are_listed(name):
    network = HostNetwork(open_graph(resolve(str(need_data(name)), directed=False))).undirected
    tables = [piece.table for piece in common_neighbors.triangle_list(network)]
    table = np.concatenate(tables).astype(np.int64)
    assert len(table) == PUBLISHED[name]
    assert (np.diff(table, axis=1) > 0).all()
    keys = (table[:, 0] * network.vertices + table[:, 1]) * network.vertices + table[:, 2]
    assert (np.diff(keys) > 0).all()
    total, each = network.compute("triangles")
    assert total == len(table)
    assert np.array_equal(np.bincount(table.ravel(), minlength=network.vertices), each)
    assert sum(int(piece.triangles.sum()) for piece in common_neighbors.support_list(network)) == 3 * total
