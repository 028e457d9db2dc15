"""Samples of layers follow the laws of FastGCN and LADIES, and their weights estimate the products that layers of a
network compute.
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.faults import plant
from helpers.graphs import arrays_of, random_store, rows_of, store_of
from helpers.invariance import assert_same
from helpers.laws import assert_picks_are_independent, assert_picks_are_successive
from helpers.stats import assert_drawn_from

import csaw
from csaw.cli.commands.verify import verify as command
from csaw.engine import sample
from csaw.engine.algorithm import MatrixEntries
from csaw.engine.api import registry
from csaw.engine.batches import layers
from csaw.engine.batches.integer_sums import scaled
from csaw.engine.batches.layers import Columns, LayerEdges
from csaw.engine.cpu.batches import layers as host_layers
from csaw.partition.errors import OptionError

MANY = 40_000
FEW = 6_000
EDGES = [(0, 2, 3), (0, 3, 1), (1, 3, 2), (1, 4, 4), (2, 4, 1), (3, 4, 2), (4, 5, 1)]  # undirected


def entries_of(store, normalize="symmetric"):
    """The matrix of which layers are a sample: {(v, u): squared entry}, from lists."""
    rows = rows_of(store, True)
    by = {
        "symmetric": lambda v, u: len(rows[v]) * len(rows[u]),
        "row": lambda v, u: len(rows[v]) ** 2,
        "none": lambda v, u: 1,
    }
    return {(v, u): w * w / by[normalize](v, u) for v, row in enumerate(rows) for u, w in row}


def norms(store, frontier=None, normalize="symmetric"):
    """The chance of each vertex, up to a factor: the squared norm of its column, of all rows
    or of those of a frontier.
    """
    out = np.zeros(store.vertices)
    for (v, u), square in entries_of(store, normalize).items():
        out[u] += square if frontier is None or v in frontier else 0
    return out


def batches(store, out, algo, many=MANY, **options):
    """Instances that all begin with the vertices 0 and 1; their layers [many, size], one for each depth."""
    options = {"frontier_size": 2, "sources": np.tile([0, 1], many)} | options
    drawn = arrays_of(store, out, algo, **options)
    sizes = options["layer_sizes"]
    assert (np.diff(drawn["vertices_ptr"]) == sum(sizes)).all()
    return drawn, np.split(drawn["vertices"].reshape(many, -1).astype(int), np.cumsum(sizes)[:-1], axis=1)


@pytest.mark.one_in(3)  # of other columns, weight laws
@pytest.mark.parametrize("normalize", ["symmetric", "row", "none"])
def test_ladies_draws_neighbors_by_their_columns_of_the_frontiers_rows(tmp_path, normalize):
    store = store_of(tmp_path / "g.zarr", EDGES, directed=False)
    _, [layer] = batches(store, tmp_path / "s.zarr", "ladies", layer_sizes=(2,), normalize=normalize)
    chance = norms(store, {0, 1}, normalize)
    assert chance[[0, 1, 5]].sum() == 0
    assert_picks_are_independent(layer - 2, chance[2:5], chance[2:5])


def test_ladies_without_replacement_draws_one_after_the_other(tmp_path):
    store = store_of(tmp_path / "g.zarr", EDGES, directed=False)
    _, [layer] = batches(store, tmp_path / "s.zarr", "ladies", layer_sizes=(2,), replace=False)
    assert_picks_are_successive(layer - 2, norms(store, {0, 1})[2:5].tolist())


def test_later_layers_are_drawn_from_the_neighbors_of_the_one_before(tmp_path):
    store = store_of(tmp_path / "g.zarr", EDGES, directed=False)
    _, [first, second] = batches(store, tmp_path / "s.zarr", "ladies", layer_sizes=(2, 1))
    for frontier in ({2}, {2, 3}, {3, 4}):
        then = second[[set(row) == frontier for row in first.tolist()]]
        chance = norms(store, frontier)
        possible = np.flatnonzero(chance)
        assert_picks_are_independent(np.searchsorted(possible, then), chance[possible])
        assert np.isin(then, possible).all()


def test_fastgcn_draws_all_layers_by_the_columns_of_the_whole_matrix(tmp_path):
    store = store_of(tmp_path / "g.zarr", EDGES, directed=False)
    _, [first, second] = batches(store, tmp_path / "s.zarr", "fastgcn", layer_sizes=(2, 1))
    assert_picks_are_independent(first, *[norms(store)] * 2)
    assert_picks_are_independent(np.column_stack([first[:, 0], second]), *[norms(store)] * 2)


@pytest.mark.parametrize(("algo", "options"), [("ladies", {}), ("ladies", {"replace": False}), ("fastgcn", {})])
def test_edges_between_layers_are_all_there_with_their_weights(tmp_path, algo, options):
    """A slow reference; loops and repeated edges are among the edges."""
    pairs = np.random.default_rng(5).integers(0, 15, (90, 2)).tolist()
    store = store_of(tmp_path / "g.zarr", [(u, v, 1 + (u + v) % 3) for u, v in pairs], directed=True, vertices=17)
    drawn, found = batches(store, tmp_path / "s.zarr", algo, 200, layer_sizes=(6, 4), **options)
    rows = rows_of(store, True)
    chances = drawn["probability"].reshape(200, -1)
    for i in range(200):
        span = slice(*drawn["instance_ptr"][i : i + 2])
        expected, frontier, begin = [], {0, 1}, 0
        for depth, layer in enumerate(found):
            picks = layer[i].tolist()
            chance = dict(zip(picks, chances[i, begin : begin + len(picks)].tolist(), strict=True))
            total = norms_of_rows(rows, frontier if algo == "ladies" else range(len(rows)))
            for u in picks:
                assert chance[u] == pytest.approx(total[u] / sum(total), rel=1e-9)
            for v in frontier:
                for u, w in rows[v]:
                    if u in chance and rows[u]:
                        entry = w / (len(rows[v]) * len(rows[u])) ** 0.5
                        expected.append((depth, v, u, entry * picks.count(u) / (len(picks) * chance[u])))
            frontier, begin = set(picks), begin + len(picks)
        kept = zip(*(drawn[name][span].tolist() for name in ("depth", "src", "dst", "weight")), strict=True)
        assert sorted(kept) == [pytest.approx(one, rel=1e-6) for one in sorted(expected)]


def norms_of_rows(rows, frontier):
    out = [0.0] * len(rows)
    for v in frontier:
        for u, w in rows[v]:
            out[u] += w * w / (len(rows[v]) * len(rows[u])) if rows[u] else 0
    return out


@pytest.mark.parametrize("algo", ["ladies", "fastgcn"])
def test_weights_estimate_every_entry_without_bias(tmp_path, algo):
    store = store_of(tmp_path / "g.zarr", EDGES, directed=False)
    drawn, _ = batches(store, tmp_path / "s.zarr", algo, layer_sizes=(3,))
    for (v, u), square in entries_of(store).items():
        if v < 2:
            here = drawn["weight"][(drawn["src"] == v) & (drawn["dst"] == u)].astype(float)
            mean, deviation = here.sum() / MANY, ((here**2).sum() / MANY - (here.sum() / MANY) ** 2) ** 0.5
            assert abs(mean - square**0.5) < 6 * deviation / MANY**0.5


def test_layers_of_dead_ends_are_empty_and_of_everything_hold_it(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1), (1, 2, 1)], directed=True, vertices=4)
    for algo in ("ladies", "fastgcn"):
        drawn = arrays_of(
            store, tmp_path / "s.zarr", algo, sources=[2, 3], frontier_size=1, layer_sizes=(2, 2), weighted=False
        )
        assert drawn["src"].size == 0
        assert drawn["vertices"].size == (0 if algo == "ladies" else 8)
    whole = {"sources": [0, 1], "frontier_size": 2, "layer_sizes": (9,), "normalize": "row", "replace": False}
    drawn = arrays_of(store, tmp_path / "s.zarr", "ladies", **whole)
    assert sorted(drawn["vertices"].tolist()) == [1, 2]
    assert drawn["dst"].tolist() == [1, 2]
    empty = store_of(tmp_path / "h.zarr", [], directed=False, vertices=3)
    assert arrays_of(empty, tmp_path / "s.zarr", "fastgcn", frontier_size=1)["vertices"].size == 0


def test_biases_that_depend_on_more_than_their_edge_are_refused(tmp_path):
    store = store_of(tmp_path / "g.zarr", EDGES, directed=False)
    for algo in ("ladies", "fastgcn"):
        with pytest.raises(
            OptionError, match="expected a bias that depends only on the edge, found one that reads depth"
        ):
            sample(store, tmp_path / "s.zarr", algo, edge_bias="e.weight + e.depth")


def unsquared(self, e):
    return e.weight / e.src_degree


def by_rows(self, vertices, degree):
    """The norms of rows instead of columns."""
    xp, upto = self.xp, self.xp.cumsum(degree)
    out, biases = xp.empty(int(upto[-1]), self.dtype), xp.empty(int(upto[-1]))
    self.backend.weigh_rows(vertices, upto - degree, xp.flatnonzero(degree), out, biases)
    self.largest = max(self.largest, float(biases.max()))
    if self.adding:
        xp.add.at(self.sums, xp.repeat(vertices, degree), scaled(xp, biases, self.shift))


FAULTS = {
    "ladies, entries not squared": ("ladies", {}, MatrixEntries, "edge_bias", unsquared, "neighbors"),
    "ladies, in turn": ("ladies", {"replace": False}, MatrixEntries, "edge_bias", unsquared, "neighbors"),
    "fastgcn, entries not squared": ("fastgcn", {}, MatrixEntries, "edge_bias", unsquared, "neighbors"),
    "fastgcn, rows for columns": ("fastgcn", {}, Columns, "_weigh", by_rows, "neighbors"),
    "ladies, edges left out": ("ladies", {}, layers.Layers, "_keep", None, "layers"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_layer_is_found(tmp_path, fault, monkeypatch):
    algo, options, owner, name, wrong, found_by = FAULTS[fault]
    store = store_of(
        tmp_path / "g.zarr",
        [(0, 2, 3), (0, 3, 1), (1, 3, 1), (1, 4, 4), (2, 5, 1), (2, 3, 2), (2, 4, 9)],
        directed=True,
    )
    if wrong is None:

        def wrong(self, kept, layer, right=layers.Layers._keep):
            right(self, type(kept)(*(values[::2] for values in kept)), layer)

    options = {"normalize": "row", "layer_sizes": (2,), "frontier_size": 2, "sources": np.tile([0, 1], FEW)} | options
    with monkeypatch.context() as planted:
        planted.setattr(owner, name, wrong)
        drawn = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    done = CliRunner().invoke(command, [str(tmp_path / "s.zarr"), "--json"])
    assert found_by in {check["name"] for check in json.loads(done.output)["checks"] if not check["ok"]}, done.output
    if found_by == "neighbors":
        chance = norms(store, {0, 1} if algo == "ladies" else None, "row")
        possible = np.flatnonzero(chance)
        picks = np.searchsorted(possible, drawn["vertices"].reshape(FEW, 2).astype(int))
        given = (
            (picks, chance[possible], chance[possible])
            if options.get("replace", True)
            else (picks, chance[possible].tolist())
        )
        with pytest.raises(AssertionError):
            (assert_picks_are_independent if len(given) == 3 else assert_picks_are_successive)(*given)


def test_layers_are_the_same_from_disk(tmp_path):
    """Norms of columns of a streamed graph, in ranges of vertices."""
    store = random_store(tmp_path / "g.zarr", vertices=400, edges=6000, partitions=9)
    for algo in ("ladies", "fastgcn"):
        options = {"frontier_size": 8, "layer_sizes": (12, 7), "seed": 5}
        expected = arrays_of(store, tmp_path / "s.zarr", algo, **options)
        found = arrays_of(store, tmp_path / "s.zarr", algo, residency="disk", batch_size=7, **options)
        for name in expected:
            assert np.array_equal(expected[name], found[name]), name


# LABOR: numbers that frontier vertices share

SHARED = (
    [(0, v, 1) for v in range(3, 7)] + [(1, v, 1) for v in range(3, 5)] + [(2, 3, 1)]
)  # degrees 4, 2, 1; all reach vertex 3


def kept_by(drawn, many=MANY):
    """The edges that each instance has kept, as a number of bits in the order of SHARED."""
    bit = {(u, v): 1 << i for i, (u, v, _) in enumerate(SHARED)}
    instance = np.repeat(np.arange(many), np.diff(drawn["instance_ptr"]))
    bits = [bit[edge] for edge in zip(drawn["src"].tolist(), drawn["dst"].tolist(), strict=True)]
    return np.bincount(instance, bits, many).astype(int)


def shared_law():
    """Chance of each set of edges: u's number is below 1 / d for the frontier vertices of degree d that keep their
    edges.
    """
    law = {0: 1.0}
    for u in range(3, 7):
        chances = sorted({1.0, *(1 / sum(a == v for a, _, _ in SHARED) for v, w, _ in SHARED if w == u)})
        parts = {}
        for low, high in zip([0.0, *chances], chances, strict=False):
            bits = sum(
                1 << i for i, (v, w, _) in enumerate(SHARED) if w == u and 1 / sum(a == v for a, _, _ in SHARED) >= high
            )
            parts[bits] = high - low
        if chances[-2:] and max(1 / sum(a == v for a, _, _ in SHARED) for v, w, _ in SHARED if w == u) < 1.0:
            parts[0] = 1.0 - chances[-2]
        law = {a | b: p * q for a, p in law.items() for b, q in parts.items()}
    return law


def assert_shared(drawn, many=MANY):
    found, law = kept_by(drawn, many), shared_law()
    assert sum(law.values()) == pytest.approx(1.0)
    assert set(found.tolist()) <= law.keys()
    assert_drawn_from([np.sum(found == key) for key in law], list(law.values()))


def labor(store, out, many=MANY):
    return arrays_of(store, out, "labor", frontier_size=3, sources=np.tile([0, 1, 2], many), fanout=(1,))


def test_labor_keeps_the_edges_whose_ends_have_small_numbers(tmp_path):
    assert_shared(labor(store_of(tmp_path / "g.zarr", SHARED, directed=True), tmp_path / "s.zarr"))


def test_labor_draws_new_numbers_at_each_hop(tmp_path):
    store = store_of(
        tmp_path / "g.zarr", [(0, 1, 1), (0, 2, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1), (2, 0, 1)], directed=True
    )
    drawn = arrays_of(
        store, tmp_path / "s.zarr", "labor", frontier_size=1, sources=np.zeros(MANY, int), fanout=(2, 1, 1)
    )
    second = drawn["depth"] == 1
    instance = np.repeat(np.arange(MANY), np.diff(drawn["instance_ptr"]))
    zero = [
        np.bincount(instance[(drawn["depth"] == depth) & (drawn["dst"] == 1)], minlength=MANY) > 0 for depth in (1, 2)
    ]
    asked = (
        np.bincount(instance[second & (drawn["dst"] != 1)], minlength=MANY) > 0
    )  # the third hop has a row with vertex 1
    assert_drawn_from(np.bincount(2 * zero[0][asked] + zero[1][asked], minlength=4), [1, 1, 1, 1])


def test_labor_with_all_neighbors_is_every_edge_of_its_frontiers(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    drawn = arrays_of(store, tmp_path / "s.zarr", "labor", frontier_size=2, fanout=(-1, 10**9))
    rows = rows_of(store, False)
    for i in range(20):
        span = slice(*drawn["instance_ptr"][i : i + 2])
        first = sorted((u, v) for u in (2 * i, 2 * i + 1) for v, _ in rows[u])
        second = sorted((u, v) for u in {v for _, v in first} for v, _ in rows[u])
        found = list(zip(drawn["src"][span].tolist(), drawn["dst"][span].tolist(), strict=True))
        assert found == first + second


def test_labor_draws_less_vertices_than_neighbor_sampling(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000)
    given = {"fanout": (10,), "seed": 3}
    shared = arrays_of(store, tmp_path / "s.zarr", "labor", frontier_size=1000, **given)
    apart = arrays_of(store, tmp_path / "t.zarr", "neighbor", weighted=False, **given)
    assert np.unique(shared["dst"][: shared["instance_ptr"][1]]).size < 0.9 * np.unique(apart["hop_1"][:1000]).size
    with pytest.raises(OptionError, match="labor.edge_bias: expected a constant"):
        sample(store, tmp_path / "u.zarr", "labor", edge_bias="e.weight")


LABOR_FAULTS = {
    "numbers apart": (
        "shared_word(seed, uint64(instance[i]), depth, uint64(dst))",
        "shared_word(seed, uint64(instance[i]), vertex[i], uint64(dst))",
        {"thresholds"},
    ),
    "one number for all": ("dst & LOW)", "uint64(0))", {"neighbors", "neighbors, independence"}),
    "one more": ("< uint64(size)", "<= uint64(size)", {"neighbors"}),
}


@pytest.mark.parametrize("fault", LABOR_FAULTS)
def test_a_wrong_labor_is_found(tmp_path, fault, monkeypatch):
    right, wrong, found_by = LABOR_FAULTS[fault]
    store = store_of(tmp_path / "g.zarr", SHARED, directed=True)
    with monkeypatch.context() as planted:
        plant(planted, "layers.py", right, wrong)
        drawn = labor(store, tmp_path / "s.zarr", FEW)
    with pytest.raises(AssertionError):
        assert_shared(drawn, FEW)
    done = CliRunner().invoke(command, [str(tmp_path / "s.zarr"), "--json"])
    assert found_by & {check["name"] for check in json.loads(done.output)["checks"] if not check["ok"]}, done.output


def test_threads_add_up_and_match_instances(tmp_path, monkeypatch):
    """They draw the same as what sorts all edges at once."""
    store, called = random_store(tmp_path / "g.zarr", vertices=400, edges=6000), []
    options = {"frontier_size": 8, "layer_sizes": (12, 7), "seed": 5, "instances": 30}
    expected = arrays_of(store, tmp_path / "s.zarr", "ladies", **options)
    for name in ("add_up", "match"):
        right = getattr(host_layers, name)
        monkeypatch.setattr(
            host_layers, name, lambda *given, name=name, right=right: called.append(name) or right(*given)
        )
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "ladies", **options))
    assert {*called} == {"add_up", "match"}
    monkeypatch.setattr(host_layers.HostLayers, "_edges_to_layers", lambda batch: LayerEdges(batch))
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "ladies", **options))


# Biases of the user's own: squared entries of another matrix


@pytest.mark.parametrize("algo", ["ladies", "fastgcn"])
def test_a_bias_is_the_square_of_an_entry_that_weights_estimate(tmp_path, algo):
    store = store_of(tmp_path / "g.zarr", EDGES, directed=False)
    options = {"layer_sizes": (3,), "edge_bias": "e.dst + 1"}
    drawn, [layer] = batches(store, tmp_path / "s.zarr", algo, 200, **options)
    norm = np.zeros(store.vertices)
    for v, row in enumerate(rows_of(store, True)):
        for u, _ in row if algo == "fastgcn" or v < 2 else ():
            norm[u] += u + 1
    instance = np.repeat(np.arange(200), np.diff(drawn["instance_ptr"]))
    ends, weights = drawn["dst"].astype(int), drawn["weight"]
    times = (layer[instance] == ends[:, None]).sum(axis=1)
    assert weights == pytest.approx(np.sqrt(ends + 1) * times / (3 * norm[ends] / norm.sum()))


@pytest.mark.parametrize("algo", ["ladies", "fastgcn", "saint-node"])
def test_a_normalization_beside_a_bias_is_refused(tmp_path, algo):
    store = store_of(tmp_path / "g.zarr", EDGES, directed=False)
    default = registry.find(algo).options()["normalize"].default
    for given in ({"normalize": default}, {"normalize": "none"}):
        with pytest.raises(OptionError, match="--normalize: .* has no effect with --edge-bias"):
            sample(store, tmp_path / "s.zarr", algo, edge_bias="e.weight", **given)
    with pytest.raises(OptionError, match="has no effect"):
        sample(store, tmp_path / "s.zarr", registry.find(algo)(normalize="none"), edge_bias="e.weight")


def test_virtual_layers_with_a_bias_are_drawn_again(tmp_path):
    graph = csaw.graph(EDGES, directed=False)
    options = {"algo": "ladies", "layer_sizes": (3,), "frontier_size": 2, "edge_bias": "e.dst + 1.0", "instances": 5}
    csaw.partition(EDGES, tmp_path / "g.zarr", directed=False)
    csaw.sample(tmp_path / "g.zarr", tmp_path / "v.zarr", virtual=True, **options)
    found, expected = csaw.open_samples(tmp_path / "v.zarr").group(0, 5), csaw.sample(graph, **options).group(0, 5)
    assert (found["vertices"] == expected["vertices"]).all()
