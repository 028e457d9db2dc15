"""Layers keep their law however far the weights of a graph are apart: light vertices beside heavy ones."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.graphs import arrays_of, random_store, store_of
from helpers.invariance import assert_same
from helpers.stats import assert_drawn_from

from csaw.engine.batches import layers
from csaw.engine.batches.integer_sums import finer
from csaw.engine.batches.layers import Columns, LayerEdges
from csaw.engine.cpu.batches.layers import HostLayers
from csaw.engine.stores.verify import verify

FAR = [(0, 1, 1e10), (0, 2, 1), (0, 3, 3)]
MANY = 20_000


def star(path, light, partitions=1):
    """Edges of weight 1 from vertex 0 to ``light`` vertices, and one of weight 1e15 to vertex 1."""
    weights = [1e15] + [1] * light
    edges = [(0, v, weight) for v, weight in enumerate(weights, 1)]
    return store_of(path, edges, directed=True, vertices=light + 2, partitions=partitions)


def test_what_is_left_of_a_layer_beside_a_heavy_vertex_is_drawn_by_its_norms(tmp_path):
    store = store_of(tmp_path / "g.zarr", FAR, directed=True)
    options = {"layer_sizes": (2,), "frontier_size": 1, "sources": [0], "normalize": "none", "replace": False}
    drawn = arrays_of(store, tmp_path / "s.zarr", "ladies", instances=MANY, seed=1, **options)
    first, second = drawn["vertices"].reshape(-1, 2).T
    assert (first == 1).all()
    assert_drawn_from(np.bincount(second, minlength=4)[2:], [1, 9])
    assert drawn["probability"].reshape(-1, 2)[second == 2, 1] == pytest.approx(1e-20, rel=1e-9, abs=0)
    report = verify(tmp_path / "s.zarr", store)
    assert report.ok, [check for check in report.checks if not check.ok]


def test_light_vertices_of_a_large_pool_keep_their_norms(tmp_path):
    weights = np.where(np.arange(50_000) % 2, 3.0, 1.0)
    weights[:3] = 1e7
    store = store_of(tmp_path / "g.zarr", [(0, v, w) for v, w in enumerate(weights, 1)], directed=True)
    options = {"layer_sizes": (1000,), "frontier_size": 1, "sources": [0], "normalize": "none", "replace": False}
    drawn = arrays_of(store, tmp_path / "s.zarr", "ladies", instances=20, seed=1, **options)
    light = weights[drawn["vertices"].astype(int) - 1]
    assert_drawn_from([(light == 1).sum(), (light == 3).sum()], [1, 9])


@pytest.mark.parametrize("replace", [True, False])
def test_pools_with_far_apart_weights_are_the_same_by_threads_and_by_sorting(tmp_path, replace, monkeypatch):
    edges = np.random.default_rng(3).integers(0, 40, (300, 2)).tolist()
    store = store_of(tmp_path / "g.zarr", [(u, v, 10.0 ** (u % 7 * v % 15)) for u, v in edges], directed=False)
    options = {"layer_sizes": (6, 5), "frontier_size": 3, "replace": replace, "normalize": "none", "instances": 50}
    refined, right = [], layers.finer
    monkeypatch.setattr(layers, "finer", lambda *given: refined.append(1) or right(*given))
    expected = arrays_of(store, tmp_path / "s.zarr", "ladies", **options)
    assert bool(refined) is not replace  # so few edges show nothing of the rounding with replacement
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "ladies", batch_size=7, **options))
    monkeypatch.setattr(HostLayers, "_edges_to_layers", lambda batch: LayerEdges(batch))
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "ladies", **options))


def test_light_vertices_add_no_chance_to_a_pool(tmp_path, monkeypatch):
    """Each of them once counted as one unit of 2^43."""
    found, right = [], LayerEdges.candidates
    monkeypatch.setattr(LayerEdges, "candidates", lambda edges: found.append(right(edges)) or found[-1])
    store = star(tmp_path / "g.zarr", 1 << 16)
    options = {"layer_sizes": (10,), "frontier_size": 1, "sources": [0], "normalize": "none", "instances": 1}
    arrays_of(store, tmp_path / "s.zarr", "ladies", **options)
    [pools] = [one for one in found if one.sums.size]
    assert int(pools.total[0] - pools.sums[0]) <= int(pools.total[0]) >> 40


def columns_of(store, out, monkeypatch, **options):
    """The sums that layers of the whole graph are drawn by."""
    found, right = [], Columns.advance
    with monkeypatch.context() as patched:
        patched.setattr(Columns, "advance", lambda columns: found.append(right(columns)) or found[-1])
        options = {"layer_sizes": (10,), "frontier_size": 1, "normalize": "none", "instances": 1} | options
        drawn = arrays_of(store, out, "fastgcn", **options)
    return found[-1], drawn


@pytest.mark.parametrize("partitions", [1, 5])
def test_light_vertices_add_no_chance_to_the_whole_graph(tmp_path, partitions, monkeypatch):
    store = star(tmp_path / "g.zarr", 1 << 16, partitions)
    disk = {"residency": "disk"} if partitions > 1 else {}
    incoming, _ = columns_of(store, tmp_path / "s.zarr", monkeypatch, sources=[0], **disk)
    total = int(incoming.upto[-1])
    assert 2**59 < total < 2**62
    assert total - int(incoming.sums[1]) <= total >> 40


def test_sums_of_the_whole_graph_keep_what_light_edges_add_up_to(tmp_path, monkeypatch):
    """A third of a unit each, which nothing rounds away."""
    light = 1 << 16
    weight = (2.0**-61 / 3) ** 0.5
    edges = [(0, 1, 1.0)] + [(0, v, weight) for v in range(2, light + 2)]
    store = store_of(tmp_path / "g.zarr", edges, directed=True)
    incoming, _ = columns_of(store, tmp_path / "s.zarr", monkeypatch, sources=[0])
    total, exact = int(incoming.upto[-1]), light * float(np.float32(weight)) ** 2
    assert abs((total - int(incoming.sums[1])) - exact * total) <= 2
    assert (np.diff(incoming.upto) >= 0).all()


def test_near_weights_have_the_sums_they_always_had(tmp_path, monkeypatch):
    """Their samples keep their bytes."""
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000)
    monkeypatch.setattr(layers, "finer", None)
    arrays_of(store, tmp_path / "s.zarr", "ladies", instances=30, layer_sizes=(12, 7), frontier_size=8, replace=False)
    incoming, _ = columns_of(store, tmp_path / "s.zarr", monkeypatch)
    assert int(incoming.upto[-1]) < 2**59  # those of a third pass use more bits


def test_finer_sums_are_those_of_fractions():
    draw = np.random.default_rng(8)
    local, dst = np.sort(draw.integers(0, 4, 400)), draw.integers(0, 60, 400)
    local = np.where(local == 2, 1, local)  # an instance without edges
    bias = np.ldexp(draw.random(400) + 0.5, draw.integers(-250, 250, 400))
    owner, units, rates = finer(np, local, dst, bias, 4, 60)
    exact = {}
    for i, v, b in zip(local.tolist(), dst.tolist(), bias.tolist(), strict=True):
        exact[i, v] = exact.get((i, v), 0) + Fraction(b)
    keys = sorted(exact)
    assert owner.tolist() == [i for i, _ in keys]
    for i in (0, 1, 3):
        at = np.flatnonzero(owner == i)
        sums = [exact[key] for key in keys if key[0] == i]
        scale = Fraction(float(rates[at].max())) / max(sums)
        for rate, one in zip(rates[at].tolist(), sums, strict=True):
            assert abs(Fraction(rate) / (one * scale) - 1) < Fraction(1, 2**40)
        upto = np.cumsum([0, *sums])
        assert 2**58 < units[at].sum() < 2**62
        for low, high in ((0, 5), (3, 20), (1, len(sums)), (0, len(sums))):
            assert abs(int(units[at][low:high].sum()) - (upto[high] - upto[low]) * scale) < 2 + scale * upto[-1] / 2**50
