"""Induced subgraphs hold every edge among the vertices that an instance has met, and GraphSAINT's samplers meet them by
their laws.
"""

import json
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.graphs import SQUARE, arrays_of, random_store, rows_of, store_of
from helpers.laws import assert_picks_are_independent
from helpers.stats import assert_drawn_from

from csaw.cli.commands.sample import sample as sample_command
from csaw.cli.commands.verify import verify as command
from csaw.engine import open_samples, sample
from csaw.engine.algorithm import MatrixEntries
from csaw.engine.algorithms.saint_edge import SaintEdge
from csaw.engine.api import registry
from csaw.engine.batches import induced
from csaw.engine.samples import ahead
from csaw.engine.samples.inclusion import inclusion
from csaw.engine.sources.seeds import SeedOrder
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError

MANY = 30_000
LOOSE = [*SQUARE, (6, 6, 1)]  # and vertex 5 without an edge
CASES = [
    ("deepwalk", {"walk_length": 6}),
    ("deepwalk", {"walk_length": 0}),
    ("neighbor", {"fanout": (3, 2)}),
    ("snowball", {"depth": 1}),
    ("layer", {"depth": 2, "neighbor_size": 4}),
    ("multidimensional", {"frontier_size": 4, "walk_length": 10}),
    ("ladies", {"frontier_size": 4, "layer_sizes": (5, 4)}),
    ("random-node", {"frontier_size": 20}),
    ("random-edge", {"neighbor_size": 20}),
]


FROM_THE_WHOLE = [name for name in registry.names() if registry.find(name).sources_from in ("every", "clusters")]


def sets_of(drawn):
    """The vertices of each instance."""
    return np.split(drawn["vertices"].astype(int), drawn["vertices_ptr"][1:-1])


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("algo", "options"), CASES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(CASES)])
def test_all_edges_among_the_vertices_that_were_met_are_there(tmp_path, algo, options):
    store = random_store(tmp_path / "g.zarr", directed=True, edges=900)
    options = options | {"instances": 60, "seed": 3}
    plain = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    met = [set() for _ in range(60)]
    for name, of in (("src", "instance_ptr"), ("dst", "instance_ptr"), ("vertices", "vertices_ptr")):
        if name in plain:
            for i, some in enumerate(np.split(plain[name], plain[of][1:-1])):
                met[i] |= set(some.tolist())
    sources = open_samples(tmp_path / "s.zarr")
    for i in range(60):
        for name, array in sources.group(i, i + 1).items():
            if name in ("walks", "sources") or name.startswith("hop_"):
                met[i] |= set(array.ravel().tolist()) - {-1}
    drawn, rows = arrays_of(store, tmp_path / "t.zarr", algo, induced=True, **options), rows_of(store, False)
    for i, vertices in enumerate(sets_of(drawn)):
        span = slice(*drawn["instance_ptr"][i : i + 2])
        assert vertices.tolist() == sorted(met[i])
        found = list(zip(drawn["src"][span].tolist(), drawn["dst"][span].tolist(), strict=True))
        assert found == [(u, v) for u in sorted(met[i]) for v, _ in rows[u] if v in met[i]]


def test_the_command_line_has_it_and_exports_keep_vertices_without_edges(tmp_path):
    store = store_of(tmp_path / "g.zarr", LOOSE, directed=False)
    out = tmp_path / "s.zarr"
    done = CliRunner().invoke(
        sample_command, [str(store.path), str(out), "--walk-length", "2", "--induced"], catch_exceptions=False
    )
    assert done.exit_code == 0
    samples = open_samples(out)
    assert samples.manifest["request"]["induced"]
    batch = samples.pyg()
    of = [batch["n_id"][batch["batch"] == i].tolist() for i in range(samples.instances)]
    assert of[5] == [5]
    assert [sorted(ids) for ids in of] == [
        s.tolist() for s in np.split(samples.vertices[:].astype(int), samples.vertices_ptr[1:-1])
    ]
    assert batch["num_sampled_nodes"].sum() == samples.vertices.shape[0]


@pytest.mark.parametrize("threads", [1, 2])
def test_batches_of_layers_have_all_their_vertices_and_the_weights_of_edges(tmp_path, threads, monkeypatch):
    monkeypatch.setattr(ahead, "PIECE", 1 << 10)
    store = random_store(tmp_path / "g.zarr")
    samples = sample(
        store, tmp_path / "s.zarr", "fastgcn", frontier_size=4, layer_sizes=(20, 10), instances=50, device="cpu"
    )
    batch = samples.pyg(threads=threads)
    ids, (to, of) = batch["n_id"], batch["edge_index"]
    drawn = samples.group(0, 50)
    ends = np.stack([batch["batch"][of], ids[of], ids[to], batch["edge_weight"].view(np.int32)])
    instance = np.repeat(np.arange(50), drawn["counts"])
    expected = np.stack([instance, drawn["src"], drawn["dst"], drawn["weight"].view(np.int32)])
    assert sorted(map(tuple, ends.T.tolist())) == sorted(map(tuple, expected.T.tolist()))
    owner = np.repeat(np.arange(50), drawn["vertex_counts"])
    assert set(zip(owner.tolist(), drawn["vertices"].tolist(), strict=True)) <= set(
        zip(batch["batch"].tolist(), ids.tolist(), strict=True)
    )


def test_nodes_are_drawn_by_the_norms_of_their_columns(tmp_path):
    store = store_of(tmp_path / "g.zarr", LOOSE, directed=False)
    drawn = arrays_of(store, tmp_path / "s.zarr", "saint-node", subgraph_nodes=2, instances=MANY, weighted=False)
    rows, chance = rows_of(store, False), np.zeros(7)
    for row in rows:
        for u, _ in row:
            chance[u] += 1 / len(row) ** 2
    picks = drawn["sources"].reshape(MANY, 2).astype(int)
    possible = np.flatnonzero(chance)
    assert_picks_are_independent(np.searchsorted(possible, picks), chance[possible], chance[possible])
    assert all(set(a) == set(b) for a, b in zip(sets_of(drawn)[:500], picks.tolist(), strict=False))


def edges_by_degree(drawn, store):
    """Fail unless instances of one edge are edges by 1 / d(u) + 1 / d(v)."""
    rows = rows_of(store, False)
    edges = sorted({(min(u, v), max(u, v)) for u, row in enumerate(rows) for v, _ in row})
    chance = [sum(1 / len(rows[v]) for v in {u, w}) for u, w in edges]
    found = [tuple(s.tolist()) if s.size == 2 else (s[0], s[0]) for s in sets_of(drawn)]
    counts = [found.count(edge) for edge in edges]
    assert sum(counts) == len(found)
    assert_drawn_from(counts, chance)


def test_edges_are_drawn_by_the_degrees_of_their_ends(tmp_path):
    store = store_of(tmp_path / "g.zarr", LOOSE, directed=False)
    edges_by_degree(arrays_of(store, tmp_path / "s.zarr", "saint-edge", frontier_size=1, instances=MANY), store)


def test_walks_visit_what_uniform_walks_visit(tmp_path):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    drawn = arrays_of(store, tmp_path / "s.zarr", "saint-walk", frontier_size=1, walk_length=2, instances=MANY)
    rows, law = rows_of(store, False), {}
    for root, row in enumerate(rows):
        for second, _ in row:
            for third, _ in rows[second]:
                key = tuple(sorted({root, second, third}))
                law[key] = law.get(key, 0) + 1 / len(row) / len(rows[second])
    found = [tuple(s.tolist()) for s in sets_of(drawn)]
    assert set(found) <= set(law)
    assert_drawn_from([found.count(key) for key in law], list(law.values()))


def test_the_multidimensional_sampler_is_frontier_sampling(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    options = {"frontier_size": 5, "walk_length": 30, "instances": 20, "seed": 4}
    expected = arrays_of(store, tmp_path / "s.zarr", "multidimensional", induced=True, **options)
    found = arrays_of(store, tmp_path / "s.zarr", "saint-multidimensional", **options)
    assert all(np.array_equal(expected[name], found[name]) for name in expected)


@pytest.mark.parametrize("sources", ["random:1", "random:4", [1, 2], [0, 1, 2, 3], [], {"ids": [1], "y": [0]}], ids=str)
@pytest.mark.parametrize("algo", FROM_THE_WHOLE)
def test_sources_that_would_not_be_read_are_refused(tmp_path, algo, sources):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    with pytest.raises(OptionError, match=f"sources: {algo} draws .* the whole graph; leave out"):
        sample(store, tmp_path / "s.zarr", algo, sources=sources)
    assert not (tmp_path / "s.zarr").exists()


def test_graphs_without_edges_are_refused_where_edges_are_drawn(tmp_path):
    empty = store_of(tmp_path / "h.zarr", [], directed=False, vertices=3)
    with pytest.raises(OptionError, match="has no edge to start from"):
        sample(empty, tmp_path / "s.zarr", "saint-edge")
    assert arrays_of(empty, tmp_path / "s.zarr", "saint-node")["vertices"].size == 0


def unsquared(self, e):
    return e.weight / e.src_degree


def failed(path):
    done = CliRunner().invoke(command, [str(path), "--json"])
    return {check["name"] for check in json.loads(done.output)["checks"] if not check["ok"]}


def test_wrong_subgraphs_are_found(tmp_path, monkeypatch):
    """Planted: edges of a vertex left out, entries not squared, edges by their weights."""
    store = store_of(tmp_path / "g.zarr", LOOSE, directed=False)
    right = induced.Induced._list

    def without_the_first(self, entries, vertices, degree):
        right(self, entries[1:], vertices[1:], degree[1:])

    with monkeypatch.context() as planted:
        planted.setattr(induced.Induced, "_list", without_the_first)
        arrays_of(store, tmp_path / "s.zarr", "deepwalk", walk_length=4, induced=True)
    assert failed(tmp_path / "s.zarr") == {"sizes"}
    with monkeypatch.context() as planted:
        planted.setattr(MatrixEntries, "edge_bias", unsquared)
        arrays_of(store, tmp_path / "s.zarr", "saint-node", subgraph_nodes=5, instances=4000)
    assert failed(tmp_path / "s.zarr") == {"sources, law", "sources, independence"}
    with monkeypatch.context() as planted:
        planted.setattr(SaintEdge, "sources_from", "random")
        drawn = arrays_of(store, tmp_path / "s.zarr", "saint-edge", frontier_size=1, instances=MANY)
    with pytest.raises(AssertionError):
        edges_by_degree(drawn, store)


@pytest.mark.parametrize(
    ("algo", "options"), [("saint-node", {"subgraph_nodes": 3}), ("saint-edge", {"frontier_size": 2})]
)
def test_inclusion_is_counted_and_exact(tmp_path, algo, options):
    """Counts against a slow count, and against the closed form; and the norms make estimates without bias."""
    store = store_of(tmp_path / "g.zarr", LOOSE, directed=False)
    samples = sample(store, tmp_path / "s.zarr", algo, instances=MANY, device="cpu", **options)
    counted, exact = inclusion(samples, store), inclusion(samples, store, exact=True)
    rows = rows_of(store, False)
    ends = [(u, v) for u, row in enumerate(rows) for v, _ in row]
    sets = [set(s) for s in np.split(samples.vertices[:].tolist(), samples.vertices_ptr[:][1:-1])]
    assert counted.vertices.tolist() == [sum(v in one for one in sets) / MANY for v in range(store.vertices)]
    assert counted.edges.tolist() == [sum(u in one and v in one for one in sets) / MANY for u, v in ends]
    for found, law in ((counted.vertices, exact.vertices), (counted.edges, exact.edges)):
        assert (np.abs(found - law) <= 5.5 * np.sqrt(law * (1 - law) / MANY) + 1e-12).all()
    share = exact.vertices[exact.vertices > 0]
    assert exact.node_norm[exact.vertices > 0] * share * store.vertices == pytest.approx(1.0)
    assert (share < 1).all()
    of = np.array([u for u, _ in ends])
    assert exact.edge_norm * exact.edges == pytest.approx(exact.vertices[of])


# Edges of weight 0, edges of so little weight that they are hardly ever drawn, and a self loop.
RARE = [(0, 1, 1), (1, 2, 2**-20), (2, 3, 0), (3, 3, 1), (4, 0, 2**-30), (4, 5, 0)]
STAR = [(0, k, 1) for k in range(1, 5)]


@pytest.mark.parametrize("edges", [RARE, STAR, LOOSE], ids=["rare", "star", "loose"])
@pytest.mark.parametrize("draws", [1, 2, 3, 50])
@pytest.mark.parametrize("algo", ["saint-node", "saint-edge"])
def test_inclusion_is_that_of_fractions(tmp_path, algo, draws, edges):
    """To 13 digits, however rare, and 0 for what cannot be."""
    store = store_of(tmp_path / "g.zarr", edges, directed=False)
    option = {"saint-node": "subgraph_nodes", "saint-edge": "frontier_size"}[algo]
    samples = sample(store, tmp_path / "s.zarr", algo, instances=5, device="cpu", **{option: draws})
    found = inclusion(samples, store, exact=True)
    rows = [[(u, Fraction(w)) for u, w in row] for row in rows_of(store, algo == "saint-node")]
    weights = {(v, u): (w / len(row)) ** 2 for v, row in enumerate(rows) for u, w in row}
    if algo == "saint-edge":
        weights = {(v, u): Fraction(1, len(row)) for v, row in enumerate(rows) for u, _ in row}
    met = [{u} if algo == "saint-node" else {v, u} for v, u in weights]
    total = sum(weights.values())

    def never(vertices):
        """The chance that no draw gives one of them."""
        return sum(w for w, ends in zip(weights.values(), met, strict=True) if not ends & vertices) ** draws

    def assert_is(value, law):
        assert value == 0.0 if law == 0 else abs(Fraction(float(value)) / law - 1) < 1e-13

    unit = total**draws
    for v, value in enumerate(found.vertices):
        assert_is(value, 1 - never({v}) / unit)
    for (v, u), value in zip(weights, found.edges, strict=True):
        assert_is(value, 1 - (never({v}) + never({u}) - never({v, u})) / unit)
    assert not found.edge_norm[found.edges == 0].any()


def test_inclusion_without_a_closed_form_is_refused(tmp_path):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    samples = sample(store, tmp_path / "s.zarr", "saint-walk", frontier_size=2, device="cpu")
    with pytest.raises(OptionError, match="no closed form is known for the inclusion of saint-walk"):
        inclusion(samples, store, exact=True)
    joined = sample(store, tmp_path / "j.zarr", "saint-edge", frontier_size=2, target=3, instances=5, device="cpu")
    with pytest.raises(OptionError, match="no closed form is known for --target"):
        inclusion(joined, store, exact=True)
    plain = sample(store, tmp_path / "t.zarr", "snowball", device="cpu")
    with pytest.raises(OptionError, match="expected induced subgraphs; sample with --induced"):
        inclusion(plain, store)
    for given, said in (
        ((str(samples.path), store), "samples: expected open samples"),
        ((samples, 3), "graph: expected"),
    ):
        with pytest.raises(OptionError, match=said):
            inclusion(*given)


@pytest.mark.parametrize("options", [{"shuffle": True}, {"drop_last": True}, {"disjoint": True}])
def test_seeds_of_induced_mini_batches_are_verified_and_others_are_found(tmp_path, options):
    store = random_store(tmp_path / "g.zarr", vertices=100, edges=900)
    batches = {"seeds_per_batch": 7, "fanout": (3, 2), "epochs": 2, "induced": True}
    samples = sample(store, tmp_path / "s.zarr", "minibatch", seed=3, **batches, **options)
    assert verify(samples.path).ok
    plain = SeedOrder.positions
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SeedOrder, "positions", lambda order, first, last: plain(order, first + 1, last + 1))
        assert not verify(samples.path).ok
