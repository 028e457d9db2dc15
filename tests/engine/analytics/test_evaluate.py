"""csaw evaluate: samples as graphs, their distances, and estimates that are right on average."""

import json

import numpy as np
import pytest
from helpers.graphs import TROUBLED, random_store, store_of
from scipy.stats import ks_2samp, norm

import csaw
from csaw.engine import open_samples, sample
from csaw.engine.analytics import measure
from csaw.engine.analytics.computations import SHARED, lacking
from csaw.engine.analytics.cpu.network import STATE_BYTES, HostNetwork
from csaw.engine.analytics.evaluation import distances, profiles, sampled
from csaw.engine.analytics.evaluation.evaluate import evaluate, plan
from csaw.engine.analytics.evaluation.measuring import Measuring
from csaw.engine.analytics.evaluation.options import EvaluateOptions, chosen
from csaw.engine.analytics.evaluation.visits import distribution, gelman_rubin
from csaw.engine.analytics.measure import Column, Curve, Distribution, Number, find
from csaw.engine.analytics.measures.degree import Degree
from csaw.engine.measure import Measure, vertex_option
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import OptionError, StoreError, UnknownNameError

ALPHA = 1e-4


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "cache_dir", lambda: tmp_path / "cache")


def edges_of(network):
    [block] = network.blocks()
    return {(v, int(u)) for v in range(network.vertices) for u in block.indices[block.indptr[v] : block.indptr[v + 1]]}


# Distances


def test_d_statistic_is_that_of_kolmogorov_and_smirnov():
    rng = np.random.default_rng(1)
    for _ in range(20):
        one, other = rng.integers(0, 30, rng.integers(1, 400)), rng.poisson(7, rng.integers(1, 400))
        assert distances.d_statistic(distribution(one), distribution(other)) == pytest.approx(
            ks_2samp(one, other).statistic, abs=1e-12
        )


def test_other_distances():
    assert distances.relative_error(4.0, 3.0) == -0.25
    assert distances.relative_error(0.0, 0.0) == 0.0
    assert distances.relative_error(0.0, 1.0) == np.inf
    one, other = (
        Curve(np.array([1, 2, 5]), np.array([0.5, 0.4, 0.1])),
        Curve(np.array([2, 5, 9]), np.array([0.1, 0.3, 8.0])),
    )
    assert distances.curve_distance(one, other) == pytest.approx(0.3)
    graph = np.arange(1000.0)
    last = np.arange(950, 1000)
    assert distances.overlap(Column(graph), Column(graph[950:]), last) == 0.5
    assert distances.overlap(Column(graph), Column(-graph[950:]), last) == 0.5  # its only 50 are all in the top 100
    far = np.where(np.arange(graph.size) < 10, graph, 2**62)
    assert distances.overlap(Column(far, none=2**62), Column(far[8:], none=2**62), np.arange(8, graph.size)) == 0.2
    assert np.isnan(distances.d_statistic(distribution(np.empty(0)), distribution(np.ones(1))))


def test_what_is_kept_opens_no_network(tmp_path):
    store, one = random_store(tmp_path / "g.zarr"), find("degree")()
    with Measuring(store, EvaluateOptions(device="cpu")) as measuring:
        expected = measuring.profile([one], lambda doing: None)
    with Measuring(store, EvaluateOptions(device="cpu")) as measuring:
        measuring.networks.gpus = (object(), object())  # which nothing can be asked of
        found = measuring.profile([one], lambda doing: None)
        assert found["degree"]["largest degree"] == expected["degree"]["largest degree"]
        assert not {"gpu", "beside"} & vars(measuring.networks).keys()


# Samples as graphs


def slow_edges(samples, store, first, last):
    """Edges of stored samples, one by one."""
    out = set()
    for k in range(first, last):
        arrays = samples.group(k, k + 1)
        if samples.layout == "walks":
            steps = samples.dense(arrays["walks"][0])[: arrays["lengths"][0] + 1]
            out |= set(zip(steps[:-1].tolist(), steps[1:].tolist(), strict=True))
        else:
            out |= set(zip(samples.dense(arrays["src"]).tolist(), samples.dense(arrays["dst"]).tolist(), strict=True))
    return out


CASES = [
    ("deepwalk", {"walk_length": 6, "instances": 9}),
    ("jump", {"walk_length": 30, "instances": 5, "jump_prob": 0.5}),
    ("metropolis-hastings", {"walk_length": 9, "instances": 5}),
    ("forest-fire", {"instances": 6}),
    ("random-node", {"instances": 3, "frontier_size": 40}),
    ("random-edge", {"instances": 3}),
]


@pytest.mark.parametrize(("algo", "options"), CASES)
@pytest.mark.parametrize("directed", [False, True])
def test_drawn_and_induced_graphs(tmp_path, algo, options, directed):
    store = random_store(tmp_path / "g.zarr", vertices=120, edges=500, directed=directed, weighted=False)
    sample(store, tmp_path / "s.zarr", algo, seed=3, **options)
    samples = open_samples(tmp_path / "s.zarr")
    graph = store.load()
    known = {(v, int(u)) for v in range(120) for u in graph.indices[graph.indptr[v] : graph.indptr[v + 1]]}
    for memory in (None, STATE_BYTES * 120 + 8 * store.max_degree):
        host = HostNetwork(store, memory=memory)
        for first, last in [(0, samples.instances), (2, 3)]:
            held = sampled.held(samples, host, first, last)
            met, drawn = held.vertices, sampled.drawn(held, host).network
            expected = {(u, v) for u, v in slow_edges(samples, store, first, last) if (u, v) in known}
            expected |= set() if directed else {(v, u) for u, v in expected}
            assert {(met[u], met[v]) for u, v in edges_of(drawn)} == expected
            assert set(np.unique(sampled.visits_between(samples, store, first, last))) <= set(met)
            induced = sampled.induced(held, host).network
            assert {(met[u], met[v]) for u, v in edges_of(induced)} == {
                (u, v) for u, v in known if {u, v} <= set(met.tolist())
            }
            assert drawn.directed == induced.directed == directed


def test_a_vertex_without_edges_is_a_vertex_of_the_sample(tmp_path):
    store = store_of(tmp_path / "g.zarr", TROUBLED, directed=True, vertices=7)
    sample(store, tmp_path / "s.zarr", "neighbor", fanout=(2,), sources=np.array([4, 6]))
    found = evaluate(store, [tmp_path / "s.zarr"], measures="degree")
    [(findings, vertices)] = found.samples[0].findings
    assert vertices.tolist() == [4, 6]
    assert findings["mean out-degree"].value == 0.0


# The table


@pytest.mark.parametrize("how", ["per_instance", "estimate"])
def test_what_is_asked_of_samples_needs_some(tmp_path, how):
    with pytest.raises(OptionError, match=r"found none"):
        evaluate(random_store(tmp_path / "g.zarr"), [], measures="degree", **{how: True})


def test_each_instance_gives_a_mean_and_its_error(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=200, edges=1500)
    sample(store, tmp_path / "s.zarr", "forest-fire", instances=12, seed=1)
    found = evaluate(store, [tmp_path / "s.zarr"], per_instance=True, measures="degree")
    means = [findings["mean degree"].value for findings, _ in found.samples[0].findings]
    row = next(row for row in found.rows() if row.finding == "mean degree")
    assert len(means) == 12
    assert row.sample == pytest.approx(np.mean(means))
    assert row.sample_error == pytest.approx(np.std(means, ddof=1) / 12**0.5)


def test_the_whole_graph_as_a_sample_has_no_distance(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=60, edges=900)
    sample(store, tmp_path / "s.zarr", "random-node", instances=1, frontier_size=60)
    found = evaluate(store, [tmp_path / "s.zarr"], measures="degree")
    assert {row.finding: row.distance for row in found.rows()} == {
        "degree": 0.0,
        "degree of vertices": 1.0,
        "mean degree": 0.0,
        "largest degree": 0.0,
    }
    json.dumps(found.as_dict())


def test_another_graph_and_what_is_unknown_are_refused(tmp_path):
    store, other = (random_store(tmp_path / f"{k}.zarr", seed=k) for k in range(2))
    sample(store, tmp_path / "s.zarr", "forest-fire", instances=2)
    with pytest.raises(StoreError, match="was sampled from a graph with the fingerprint"):
        evaluate(other, [tmp_path / "s.zarr"])
    with pytest.raises(UnknownNameError, match="no measure called 'degrees'; there are .*degree"):
        evaluate(store, measures="degrees")
    with pytest.raises(OptionError, match="--walk-length: neither an evaluation nor a measure has this option"):
        evaluate(store, walk_length=3)
    with pytest.raises(OptionError, match="expected samples to estimate from"):
        evaluate(store, estimate=True)
    with pytest.raises(
        OptionError, match="forest-fire visits a vertex has no closed form; estimate from samples of deepwalk, "
    ):
        evaluate(store, [tmp_path / "s.zarr"], estimate=True)


@pytest.mark.parametrize(
    ("algo", "options", "why"),
    [
        ("deepwalk", {"induced": True}, "with induced=True, which keeps each vertex of an instance once"),
        ("deepwalk", {"target": 9}, "with target, which ends an instance by what it has visited"),
        ("random-edge", {"target": 9}, "with target"),
        ("random-node", {"frontier_size": 2, "sources": [1, 2, 3, 34]}, "with sources of a list"),
    ],
)
def test_an_estimate_is_refused_where_the_law_of_visits_is_another(algo, options, why):
    samples = csaw.sample("karate", algo=algo, weighted=False, seed=1, **options)
    with pytest.raises(OptionError, match=f"estimate: .*has no closed form {why}"):
        csaw.evaluate("karate", samples, measures="degree", estimate=True)


@pytest.mark.parametrize(("steps", "said"), [(5, True), (0, True), (30, False)])
def test_an_estimate_says_that_short_walks_depend_on_their_sources(steps, said):
    samples = csaw.sample("karate", algo="deepwalk", weighted=False, walk_length=steps, num_walks=9)
    found = csaw.evaluate("karate", samples, measures="degree", estimate=True)
    assert ("walks of so few steps depend on their sources" in str(found.as_dict())) is said


class From(Measure):
    source: int = vertex_option(help="vertex that a search begins at")

    def start(self, v):
        return 0 if v.id == self.source else v.nothing


@pytest.mark.parametrize("asked", [evaluate, plan])
@pytest.mark.parametrize(
    ("measure", "options", "said"),
    [
        ("sssp", {}, "^sssp: expected a graph with weights to add, found none in "),
        ("bfs", {"bfs_source": 100}, "^--bfs-source: vertex 100 is not in "),
        ("personalized-pagerank", {"rank_sources": "3,100"}, "^--rank-sources: vertex 100 is not in "),
        (From, {"source": 100}, "^--source: vertex 100 is not in "),
        (From, {"source": "x"}, "^--source: expected an integer, the id of a vertex, found 'x'"),
        ("patterns", {"pattern": "wedge:1:1:1", "vertex_labels": np.zeros(9)}, "^--vertex-labels: labels: expected a "),
    ],
)
def test_what_a_graph_lacks_is_said_before_anything_is_measured(tmp_path, monkeypatch, asked, measure, options, said):
    store = random_store(tmp_path / "g.zarr", vertices=100, weighted=False)
    monkeypatch.setattr(Degree, "findings", lambda *_: pytest.fail("it was measured"))
    with pytest.raises(OptionError, match=said):
        asked(store, measures=["degree", measure], refresh=True, device="cpu", **options)


# What is kept


def test_findings_are_kept_and_damage_is_measured_again(tmp_path):
    measure = find("degree")()
    findings = {
        "a": Number(3, "counted", 0.5),
        "b": Distribution(np.arange(3), np.array([1, 2, 5]), "b"),
        "c": Curve(np.arange(2.0), np.ones(2), ("x", "y"), "exact"),
        "d": Column(np.arange(4)),
    }
    assert profiles.read("f" * 64, measure) is None
    profiles.keep("f" * 64, measure, findings)
    found = profiles.read("f" * 64, measure)
    assert found["a"] == findings["a"]
    assert found["c"].labels == ("x", "y")
    assert [np.array_equal(found["b"].values, np.arange(3)), np.array_equal(found["d"].values, np.arange(4))] == [
        True,
        True,
    ]
    place = profiles.place_of("f" * 64, measure)
    place.write_bytes(place.read_bytes()[:-40])
    assert profiles.read("f" * 64, measure) is None


def test_a_profile_is_measured_once_unless_refreshed(tmp_path, monkeypatch):
    store, calls = random_store(tmp_path / "g.zarr"), []
    kind, original = find("degree"), find("degree").findings
    monkeypatch.setattr(kind, "findings", lambda self, network: calls.append(1) or original(self, network))
    for options, expected in (({}, 1), ({}, 1), ({"refresh": True}, 2)):
        evaluate(store, measures="degree", **options)
        assert len(calls) == expected


def test_a_store_that_claims_another_graphs_fingerprint_does_not_give_it_its_figures(tmp_path):
    store, other = (random_store(tmp_path / f"{size}.zarr", vertices=size) for size in (90, 70))
    other.attributes["fingerprint"] = other.fingerprint = store.fingerprint
    wanted = [one.edges / one.vertices for one in (other, store)]
    found = [{row.finding: row.graph for row in evaluate(one, measures="degree").rows()} for one in (other, store)]
    assert [one["degree"] for one in found] == pytest.approx(wanted)


# Estimates


def estimates(store, tmp_path, algo, seeds, **options):
    """Means of the degree and numbers of vertices that samples of some seeds estimate, with their standard errors."""
    rows = []
    for seed in range(seeds):
        sample(store, tmp_path / "s.zarr", algo, seed=seed, overwrite=True, **options)
        found = {
            row.finding: row for row in evaluate(store, [tmp_path / "s.zarr"], estimate=True, measures="degree").rows()
        }
        rows.append([found[name] for name in ("degree of vertices", "vertices")])
    return rows


DESIGNS = [
    ("random-node", {"instances": 40, "frontier_size": 30}),
    ("random-edge", {"instances": 40, "neighbor_size": 30}),
    ("deepwalk", {"instances": 60, "walk_length": 60, "sources": "random:60"}),
    ("metropolis-hastings", {"instances": 60, "walk_length": 120, "sources": "random:60"}),
    ("multidimensional", {"instances": 20, "frontier_size": 20, "walk_length": 120}),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("algo", "options", "weighted"),
    [
        (algo, options, weighted)
        for algo, options in DESIGNS
        for weighted in (False, True)
        if not (weighted and algo == "multidimensional")  # has no closed form with weights
    ],
)
def test_estimates_are_right_on_average(tmp_path, algo, options, weighted):
    """Over seeds the mean of the estimates is the graph's within its error, and as wide as the jackknife says."""
    store = random_store(tmp_path / "g.zarr", vertices=150, edges=2500, weighted=weighted)
    keep = np.flatnonzero(np.diff(store.read_indptr()) > 0)
    assert keep.size > 140
    rows = estimates(store, tmp_path, algo, 25, **options)
    for k, truth in enumerate((store.edges / store.vertices, store.vertices)):
        truth = (
            truth if algo == "random-node" else (store.edges / keep.size, keep.size)[k]
        )  # others never see a vertex without edges
        values, errors = np.array([row[k].sample for row in rows]), np.array([row[k].sample_error for row in rows])
        z = (values.mean() - truth) / (values.std(ddof=1) / len(values) ** 0.5)
        assert 2 * norm.sf(abs(z)) > ALPHA, (k, truth, values.mean())
        assert 0.5 < errors.mean() / values.std(ddof=1) < 2.0


def test_an_estimate_without_its_correction_would_be_found_wrong(tmp_path, monkeypatch):
    store = random_store(tmp_path / "g.zarr", vertices=150, edges=2500, weighted=False)
    monkeypatch.setattr("csaw.engine.analytics.evaluation.visits.chances", lambda samples, host: np.ones(host.vertices))
    values = np.array(
        [row[0].sample for row in estimates(store, tmp_path, "random-edge", 10, instances=40, neighbor_size=30)]
    )
    z = (values.mean() - store.edges / store.vertices) / (values.std(ddof=1) / 10**0.5)
    assert 2 * norm.sf(abs(z)) < ALPHA


def test_walks_that_have_not_mixed_are_said(tmp_path):
    """Two cliques with one edge between them: short walks stay where they began."""
    pairs = [
        (a + 20 * side, b + 20 * side, 1)
        for side in range(2)
        for a in range(20)
        for b in range(a)
        if side or (a + b) % 3
    ]
    store = store_of(tmp_path / "g.zarr", [*pairs, (0, 20, 1)], directed=False, weighted=False)
    sample(store, tmp_path / "s.zarr", "deepwalk", walk_length=40, num_walks=5)
    said = evaluate(store, [tmp_path / "s.zarr"], estimate=True, measures="degree").rows()[0].method
    assert "walks have not mixed (ratio 3.48" in said
    sample(
        random_store(tmp_path / "r.zarr", vertices=100, edges=4000, weighted=False),
        tmp_path / "t.zarr",
        "deepwalk",
        walk_length=100,
    )
    assert (
        "mixed"
        not in evaluate(tmp_path / "r.zarr", [tmp_path / "t.zarr"], estimate=True, measures="degree").rows()[0].method
    )


def test_the_ratio_of_gelman_and_rubin():
    rng = np.random.default_rng(0)
    same = rng.normal(size=(200, 50))
    apart = same + np.arange(200)[:, None] % 2
    assert gelman_rubin(same.mean(1), same.var(1, ddof=1), 50) == pytest.approx(1.0, abs=0.02)
    assert gelman_rubin(apart.mean(1), apart.var(1, ddof=1), 50) == pytest.approx((1 + 0.25) ** 0.5, abs=0.03)


def test_visits_are_counted_as_often_as_they_were(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=80, edges=700)
    sample(store, tmp_path / "s.zarr", "deepwalk", walk_length=5)
    row = evaluate(store, [tmp_path / "s.zarr"], as_="visits", measures="degree").rows()[0]
    samples, degree = open_samples(tmp_path / "s.zarr"), np.diff(store.read_indptr())
    met = [
        degree[v]
        for walk, n in zip(samples.dense(samples.walks[:]), samples.lengths[:], strict=True)
        for v in walk[: n + 1]
    ]
    assert row.sample == pytest.approx(np.mean(met))
    assert row.distance == pytest.approx(ks_2samp(met, degree).statistic)


class Near(Measure):
    def start(self, v):
        return 0 if v.id == 2 else v.nothing  # the largest integer

    def edge(self, e):
        return e.value + 1


@pytest.mark.parametrize("how", [{"as_": "visits"}, {"estimate": True, "burn_in": 0}])
def test_vertices_without_a_number_are_in_no_mean_and_the_share_of_visits_that_have_one_is_said(tmp_path, how):
    """Two components, and a search that begins in the first."""
    edges = [(0, 1, 1), (1, 2, 2), (2, 0, 1), (2, 3, 4), (4, 5, 1), (5, 6, 3)]
    store = store_of(tmp_path / "g.zarr", edges, directed=False)
    sample(store, tmp_path / "s.zarr", "deepwalk", walk_length=6, num_walks=3, weighted=False)
    found = evaluate(store, [tmp_path / "s.zarr"], measures=["bfs", "sssp", Near], **how)
    rows = {row.finding: row for row in found.rows()}
    samples, degree = open_samples(tmp_path / "s.zarr"), np.diff(store.read_indptr())
    met = samples.dense(samples.walks[:]).ravel()
    weight = 1 / degree[met] if "estimate" in how else np.ones(met.size)
    reached = met < 4
    for name, numbers in {"bfs": [1, 1, 0, 1], "sssp": [1, 2, 0, 4], "Near": [1, 1, 0, 1]}.items():
        row, share = rows[name], rows[f"share with {name}"]
        mine = np.array(numbers)[met[reached]]
        assert row.graph == np.mean(numbers)
        assert row.sample == pytest.approx(np.average(mine, weights=weight[reached]))
        below = [
            abs(np.mean(np.array(numbers) <= x) - weight[reached][mine <= x].sum() / weight[reached].sum())
            for x in numbers
        ]
        assert row.distance == pytest.approx(max(below))
        assert (share.graph, share.kind) == (4 / 7, "relative error")
        assert share.sample == pytest.approx(weight[reached].sum() / weight.sum())
        assert found.as_dict()["profile"][name].items() >= {"min": min(numbers), "max": max(numbers)}.items()


class Tall(Measure):
    def start(self, v):
        return 1e308 - v.id


@pytest.mark.parametrize("how", [{}, {"as_": "visits"}, {"estimate": True}, {"per_instance": True}])
def test_numbers_near_the_largest_float_have_an_infinite_mean_and_no_warning(tmp_path, how):
    store = random_store(tmp_path / "g.zarr", vertices=80, edges=700)
    sample(store, tmp_path / "s.zarr", "deepwalk", walk_length=5)
    rows = evaluate(store, [tmp_path / "s.zarr"], measures=Tall, **how).rows()
    assert np.inf in [row.graph for row in rows]


def test_large_integers_have_the_mean_that_they_have():
    assert Distribution(np.array([2**62, 2**62 + 2**61]), np.array([3, 3])).mean == 2.0**62 + 2.0**60


def test_a_measure_of_weights_is_of_the_graph_alone(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=80, edges=700)
    sample(store, tmp_path / "s.zarr", "deepwalk", walk_length=5)
    found = evaluate(store, [tmp_path / "s.zarr"], measures="sssp,bfs,components")
    assert "largest weight from source" in found.profile
    rows = {row.finding for row in found.rows()}
    assert "reached by weight" not in rows
    assert {"eccentricity", "components"} <= rows
    assert not {"bfs", "sssp", "component"} & rows  # numbers of vertices by which none ranks first


@pytest.mark.parametrize("name", ["bfs", "sssp", "personalized-pagerank"])
def test_the_vertex_of_largest_degree_is_named(tmp_path, name):
    """Vertex 3 has most neighbors in the graph, vertex 6 in the sample, and ids are ten times these numbers."""
    (tmp_path / "edges.txt").write_text("30 10 1\n30 20 1\n30 40 1\n60 50 1\n60 70 1\n")
    ingest(tmp_path / "edges.txt", tmp_path / "g.zarr", IngestOptions(directed=False))
    sample(tmp_path / "g.zarr", tmp_path / "s.zarr", "deepwalk", sources=[50], walk_length=40, weighted=False)
    beside = [] if name == "sssp" else [tmp_path / "s.zarr"]  # which reads weights, of the graph alone
    found = evaluate(tmp_path / "g.zarr", beside, measures=[name])
    assert all(one.method.startswith("from vertex 30") for one in found.profile.values() if one.method)
    assert found.as_dict()["profile"][name.replace("-", " ")]["method"].startswith("from vertex 30")
    said = [row.method for row in found.rows() if row.method]
    assert said
    assert all("; of the sample from vertex 60" in one for one in said if beside)


@pytest.mark.parametrize(
    ("name", "options"), [*((name, {}) for name in measure.names()), ("triangles", {"approximate": 9})]
)
def test_a_measure_says_whether_it_finds_columns(tmp_path, name, options):
    store = random_store(tmp_path / "g.zarr", vertices=30, edges=90)
    [one] = chosen([name], options)
    found = one.findings(HostNetwork(store))
    assert one.finds_columns is any(isinstance(each, Column) for each in found.values())


def test_measures_that_draw_share_one_seed(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=500, edges=7000, weighted=False)
    options = {
        "measures": "hops,betweenness,triangles",
        "hops": "sources",
        "hop_sources": 20,
        "betweenness_sources": 5,
        "approximate": 200,
    }
    one, again, other = (evaluate(store, seed=seed, **options).profile for seed in (1, 1, 2))
    for name in ("mean distance", "triangles"):
        assert one[name] == again[name]
        assert one[name] != other[name]


@pytest.mark.parametrize(("directed", "degrees"), [(True, {"degree"}), (False, set())])  # in-degrees are sums
def test_what_gpus_share_is_there(directed, degrees):
    shared = {name for name in measure.names() if find(name)().needs_only(SHARED, directed)}
    assert (
        shared == {"assortativity", "betweenness", "hops", "pagerank", "personalized-pagerank", "triangles"} | degrees
    )
    assert not lacking("cuda", tuple(SHARED))
