"""Weak scaling has graphs that grow with the number of devices, and the verdict is about two GPUs."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.bench import row
from helpers.bench_works import printed, replace_clocks
from helpers.graphs import random_store

from csaw.datasets.spec import Rmat
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.bench.graphs import by_partitioner, copied
from csaw.engine.bench.suites import gunrock
from csaw.engine.bench.suites.gunrock import (
    BFS,
    IN_EDGES,
    IN_VERTICES,
    PAGERANK,
    PARTITIONERS,
    STRONG,
    TRIANGLES,
    crossing_share,
)
from csaw.engine.bench.suites.gunrock import gunrock_verdict as verdict


@pytest.mark.parametrize("number", [1, 2, 3, 4, 6, 8])
def test_weak_scaling_has_as_many_draws_for_each_device(number):
    base = Rmat(scale=10, edge_factor=5)
    assert gunrock._grown(base, IN_EDGES, number) == Rmat(scale=10, edge_factor=5 * number)
    grown = gunrock._grown(base, IN_VERTICES, number)
    if number in (3, 6):
        assert grown is None  # its vertices are no power of two
    else:
        assert grown.edge_factor == 5
        assert grown.draws == number * base.draws


def rates(work, efficiency, *, kind=STRONG, gpus=2, what="GPU(s)", stored_edges=10):
    more = {"measure": work, "kind": kind, "gpus": gpus, "efficiency": efficiency, "stored_edges": stored_edges}
    return row(f"{work}, {kind}, {gpus} {what}", 1.0, suite="gunrock", **more)


def test_the_verdict_is_of_two_gpus_and_of_searches_of_large_graphs_alone():
    assert verdict([]).holds is None
    assert verdict([rates(PAGERANK, 0.9, what="thread(s)")]).holds is None
    assert verdict([rates(PAGERANK, 0.9, kind=IN_EDGES), rates(PAGERANK, 0.9, gpus=4)]).holds is None
    assert verdict([rates(BFS, 0.9)]).holds is None  # too small
    assert verdict([rates(PAGERANK, 0.86), rates(TRIANGLES, 0.9)]).holds
    found = verdict([rates(PAGERANK, 0.86), rates(BFS, 0.6, stored_edges=1 << 30)])
    assert not found.holds
    assert found.found == f"{PAGERANK} 1.72 times as fast; {BFS} 1.2 times as fast"


@pytest.mark.parametrize("partitioner", [how for how in PARTITIONERS if how != "metis"])
def test_a_copy_of_a_partitioner_is_the_same_graph(partitioner, tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=500, edges=4000, weighted=False, partitions=3)
    plain = copied(store, 1, tmp_path)
    made, numbers = by_partitioner(plain, partitioner, 4, tmp_path)
    assert (len(made.partitions), made.partitioner) == (4, partitioner)
    assert sorted(numbers.tolist()) == list(range(store.vertices))
    for source in (0, 7, 499):
        wanted = HostNetwork(store).compute("bfs", source=source)
        found = HostNetwork(made).compute("bfs", source=int(numbers[source]))
        assert np.array_equal(found[numbers], wanted)


def test_entries_cross_between_ranges(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=300, edges=2000, weighted=False)
    graph, cuts = store.load(), [0, 96, 96, 224, 300]
    rows = np.repeat(np.arange(300), np.diff(graph.indptr))
    owners = [np.searchsorted(cuts, ends, side="right") for ends in (rows, graph.indices)]
    ranges = list(pairwise(cuts))
    assert crossing_share(store, ranges) == np.mean(owners[0] != owners[1])
    assert crossing_share(store, [(0, 300)]) == 0


def test_partitioners_are_measured_on_several_gpus(tmp_path, monkeypatch):
    replace_clocks(monkeypatch, tmp_path)
    command = "csaw bench rmat:scale=10 --suite gunrock --only pooled --device "
    works = [work for _, _, work in printed(command + "cuda:0,1", 2)]
    assert works == [f"{work}, {how}, 2 GPUs, pooled" for how in PARTITIONERS for work in (BFS, PAGERANK)]
    assert printed(command + "cuda:0", 2) == []
