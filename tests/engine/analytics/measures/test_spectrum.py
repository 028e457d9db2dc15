"""Singular values and the network value are those of a dense matrix."""

import numpy as np
import pytest
from helpers.graphs import random_store
from helpers.networks import GRAPHS, neighbors_of, pairs_of, same

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measure import find
from csaw.partition.errors import BudgetError, OptionError


def dense(store):
    rows = pairs_of(store)[0] if store.directed else neighbors_of(store)
    matrix = np.zeros((len(rows), len(rows)))
    for v, row in enumerate(rows):
        for u in row:
            matrix[v, u] += 1
    return matrix


@pytest.mark.parametrize("graph", GRAPHS)
def test_leading_values_and_vector_are_those_of_the_dense_matrix(graph, tmp_path):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    left, values, _ = np.linalg.svd(dense(store))
    for size in (3, 20):
        assert_leading(find("spectrum")(spectrum_size=size).findings(HostNetwork(store)), left, values[:size])


def assert_leading(found, left, wanted):
    """The singular values are ``wanted``, and the vector is the first ``left`` one where it is the only one."""
    assert np.allclose(found["singular values"].y, wanted, atol=1e-6)
    assert found["largest singular value"].value == pytest.approx(wanted[0], abs=1e-6)
    vector = found["network value"].values
    if wanted[0] > 1.001 * max([*wanted[1:2], 1e-9]):  # else it has more than one direction
        assert np.allclose(vector, np.abs(left[:, 0]), atol=1e-5)
    curve = found["network values"]
    assert np.array_equal(curve.y, -np.sort(-vector)[curve.x - 1])
    assert curve.x[0] == 1
    assert np.all(np.diff(curve.x) > 0)


def test_it_is_the_same_with_any_threads(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=700, edges=6000)
    found = [find("spectrum")().findings(HostNetwork(store, threads=threads)) for threads in (1, 1, 4)]
    assert same(found[0], found[1])
    assert same(found[0], found[2])


def test_a_graph_that_is_not_in_memory_is_refused_with_numbers(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=700, edges=6000)
    with pytest.raises(BudgetError, match="20 leading values take 681,536 bytes for vectors"):
        find("spectrum")().findings(HostNetwork(store, memory=200_000, derived=tmp_path))


def test_values_that_do_not_settle_are_said(tmp_path, monkeypatch):
    from scipy.sparse import linalg

    def fail(*arguments, **options):
        raise linalg.ArpackNoConvergence("no convergence", np.zeros(0), np.zeros((0, 0)))

    monkeypatch.setattr(linalg, "eigsh", fail)
    with pytest.raises(OptionError, match="--spectrum-size: 20 leading values did not converge"):
        find("spectrum")().findings(HostNetwork(random_store(tmp_path / "g.zarr")))
