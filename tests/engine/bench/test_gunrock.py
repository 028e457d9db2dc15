"""Weak scaling has graphs that grow with the number of devices, and the verdict is about two GPUs."""

import pytest
from helpers.bench import row

from csaw.datasets.spec import Rmat
from csaw.engine.bench.suites import gunrock
from csaw.engine.bench.suites.gunrock import BFS, IN_EDGES, IN_VERTICES, PAGERANK, STRONG, TRIANGLES, verdict


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
