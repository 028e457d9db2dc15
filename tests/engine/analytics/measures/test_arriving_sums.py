"""Sums over the ends of edges are the same, pulled over rows of the other direction or pushed along a graph's own."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.networks import GRAPHS, networks, pairs_of

from csaw.engine.analytics.cpu.kernels import sums


@pytest.mark.parametrize("graph", GRAPHS)
def test_sums_are_those_of_a_list_of_edges(graph, tmp_path):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    values = np.random.default_rng(1).integers(0, 2**50, store.vertices)
    wanted = [0] * store.vertices
    for v, row in enumerate(pairs_of(store)[0]):
        for u in row:
            wanted[u] += int(values[v])
    pushed = []
    for network in networks(store, tmp_path / "derived"):
        assert network.compute("arriving_sums", values=values).tolist() == wanted
        pushed.append("incoming" not in vars(network))
        assert pushed[-1] == (network.directed and not network.can_have_incoming)
        network.close()
    assert graph != "random directed" or pushed == [False, False, True, True]


@pytest.mark.parametrize("cuts", [[0, 700], [0, 1, 350, 699, 700], [0, 700, 700]])
def test_ranges_of_targets_together_are_all(cuts, tmp_path):
    graph = GRAPHS["random directed"](tmp_path / "g.zarr").load()
    values, out = np.arange(700) + 5, np.zeros(700, np.int64)
    for low, high in pairwise(cuts):
        sums.push_rows(low, high, 0, graph.indptr, graph.indices, values, out)
    rows = np.repeat(values, np.diff(graph.indptr))
    assert np.array_equal(out, np.bincount(graph.indices, rows, 700).astype(np.int64))
