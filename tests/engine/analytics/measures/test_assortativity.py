"""Assortativity is the correlation coefficient over a list of all edges, and its sums are exact however large."""

import math

import numpy as np
import pytest
from helpers.graphs import store_of
from helpers.networks import GRAPHS, neighbors_of, networks, pairs_of, same

from csaw.engine.analytics.cpu.kernels.sums import sum_products
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measure import find


def correlation(x, y):
    """Pearson's, in plain floats; NaN where one of them is constant."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return math.nan
    return np.corrcoef(x, y)[0, 1]


def expected(store):
    """Each correlation by a list of edges."""
    near = neighbors_of(store)
    edges = [(u, v) for u, row in enumerate(near) for v in row]
    found = {"assortativity": correlation([len(near[u]) for u, _ in edges], [len(near[v]) for _, v in edges])}
    if store.directed:
        rows, both = pairs_of(store)
        degree = {"out": [len(row) for row in rows], "in": [len(b) - len(r) for r, b in zip(rows, both, strict=True)]}
        edges = [(u, v) for u, row in enumerate(rows) for v in row]
        for here in degree:
            for there in degree:
                x, y = [degree[here][u] for u, _ in edges], [degree[there][v] for _, v in edges]
                found[f"assortativity {here}-{there}"] = correlation(x, y)
    return found


@pytest.mark.parametrize("graph", GRAPHS)
def test_assortativity_is_the_correlation_over_all_edges(graph, tmp_path):
    store, first = GRAPHS[graph](tmp_path / "g.zarr"), None
    for network in networks(store, tmp_path / "derived"):
        found = find("assortativity")().findings(network)
        first = found if first is None else first
        assert same(found, first)
        network.close()
    wanted = expected(store)
    assert {name for name in first if name.startswith("assortativity")} == set(wanted)
    for name, value in wanted.items():
        assert first[name].value == pytest.approx(value, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("graph", GRAPHS)
def test_neighbor_degree_is_the_mean_over_neighbors(graph, tmp_path):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    found, near = find("assortativity")().findings(HostNetwork(store))["neighbor degree"], neighbors_of(store)
    by_degree = {}
    for row in near:
        by_degree.setdefault(len(row), []).extend(len(near[u]) for u in row)
    wanted = {degree: np.mean(them) for degree, them in by_degree.items() if degree}
    assert dict(zip(found.x.tolist(), found.y.tolist(), strict=True)) == pytest.approx(wanted)


def test_a_star_has_the_least_assortativity_and_its_sums_do_not_round(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, v, 1) for v in range(1, 300)], directed=False)
    assert find("assortativity")().findings(HostNetwork(store))["assortativity"].value == -1


def test_sums_of_products_have_128_bits():
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 2**63, 1000, np.uint64) * 2 + 1, rng.integers(0, 2**64 - 1, 1000, np.uint64, endpoint=True)
    x[0] = y[0] = 2**64 - 1
    high, low = sum_products(0, 50, x, y)
    wanted = sum(a * b for a, b in zip(x[:50].tolist(), y[:50].tolist(), strict=True))
    assert (int(high) << 64 | int(low)) == wanted % 2**128
