"""``--target``: instances joined from base instances are what a slow reference joins, however they are drawn."""

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from itertools import count, groupby, pairwise, permutations
from operator import itemgetter

import numpy as np
import pytest
from helpers.graphs import SQUARE, random_store, rows_of, store_of
from helpers.interrupted import interrupted_after
from helpers.invariance import assert_same
from helpers.machine import need_package
from helpers.stats import assert_drawn_from

from csaw.engine import open_samples, prepare, sample, stream
from csaw.engine.api.algorithm import PLANNED_HOPS
from csaw.engine.draws.random import words
from csaw.engine.plan.target import number_of
from csaw.engine.runs.sample_stream import Stream
from csaw.engine.runs.virtual import commit_virtual
from csaw.engine.schedule import targets
from csaw.engine.stores.export import export
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError

LIKE_ANOTHER = pytest.mark.slow(reason="a case of the same kind as a quick one")
ALGORITHMS = {
    "forest-fire": {"burn_prob": 0.5},
    "snowball": {"depth": 1},
    "neighbor": {"fanout": (2, 2)},
    "layer": {"neighbor_size": 3},
    "multidimensional": {"walk_length": 5, "frontier_size": 2},
    "random-edge": {"neighbor_size": 4},
    "deepwalk": {"walk_length": 5},
    "node2vec": {"walk_length": 5, "p": 0.5, "q": 2.0},
    "jump": {"walk_length": 5},
    "restart": {"walk_length": 5},
    "metropolis-hastings": {"walk_length": 5},
    "ppr": {},
    "saint-walk": {},
}
JOINED = [
    pytest.param(algorithm, whole, id=f"{algorithm}-{'induced' if whole else 'drawn'}", marks=marks)
    for number, algorithm in enumerate(ALGORITHMS)
    for whole in (False, True)
    for marks in [() if whole == bool(number % 2) else LIKE_ANOTHER]
]


def address(instance, j):
    """The number of base instance j, from 0, of an instance."""
    round_ = (j + 1).bit_length() - 1
    return number_of(instance, round_) + j + 1 - 2**round_


def base_job(store, algorithm, **given):
    """A stream of base instances, one by one, by their numbers."""
    job = prepare(store, algorithm, device="cpu", in_flight=1, ids="dense", target=1, **given)
    request = replace(job.plan.request, target=0, instances=2**63 - 1, induced=False)
    return Stream(replace(job, plan=replace(job.plan, request=request, induced=False, sorts_steps=False)))


def steps(bases, number):
    """The sources of a base instance, and its edges (src, dst, depth) in order."""
    [batch] = bases.draw(number, number + 1)
    arrays = {name: array.tolist() for name, array in batch.arrays().items()}
    if "walks" in arrays:
        walk = np.ravel(arrays["walks"])[: arrays["lengths"][0] + 1].tolist()
        return walk[:1], [(a, b, k) for k, (a, b) in enumerate(pairwise(walk))]
    if "hop_0" in arrays:
        hops, edges = [np.ravel(hop).tolist() for hop in arrays.values()], []
        for depth in range(len(hops) - 1):
            fanout = len(hops[depth + 1]) // len(hops[depth])
            pairs = [(hops[depth][i // fanout], v) for i, v in enumerate(hops[depth + 1])]
            edges += [(u, v, depth) for u, v in pairs if v != 2**32 - 1]
        return hops[0], edges
    edges = list(zip(arrays["src"], arrays["dst"], arrays["depth"], strict=True))
    sets = itemgetter(0, 2) if arrays["sources"] else itemgetter(2)  # what is selected together is met in random order
    bits = [tuple(words(bases.job.plan.request.seed, number, 2**32 - 1, 2**31 + k)[:2]) for k in range(len(edges))]
    groups = groupby(zip(edges, bits, strict=True), lambda pair: sets(pair[0]))
    return arrays["sources"], [edge for _, some in groups for edge, _ in sorted(some, key=itemgetter(1))]


def reference(bases, instance, target, rows, whole=False, most=None):
    """The vertices, sources and edges of an instance, vertex by vertex. ``rows``: the neighbors of each vertex."""
    met, sources, edges, barren = set(), [], [], 0
    for j in count():
        if len(met) == target or barren == (most or 10**9):
            break
        before, kept, (starts, taken) = len(met), (sources[:], edges[:]), steps(bases, address(instance, j))
        for vertex in starts:
            if len(met) < target:
                met.add(vertex)
                sources.append(vertex)
        for src, dst, depth in taken:
            if len(met) == target:
                break
            met.add(src)
            if len(met) < target or dst in met:
                met.add(dst)
                edges.append((src, dst, depth))
        barren = 0 if len(met) > before else barren + 1
        if barren:
            sources, edges = kept
    if whole:
        edges = [(u, v, 0) for u in sorted(met) for v in rows[u] if v in met]
    return sorted(met), sources, [(u, v, d) for u, v, d in edges if v in rows[u]]


def drawn(store, algorithm, **given):
    """Each instance of a sample as the reference gives them."""
    out = []
    with stream(store, algorithm, ids="dense", **{"device": "cpu", **given}) as batches:
        for batch in batches:
            arrays = batch.arrays()
            ends = {n: np.cumsum(arrays[n]) for n in ("counts", "source_counts", "vertex_counts")}
            for i in range(batch.instances):

                def cut(name, by, i=i, arrays=arrays, ends=ends):
                    return arrays[name][ends[by][i] - arrays[by][i] : ends[by][i]].tolist()

                edges = list(zip(*(cut(n, "counts") for n in ("src", "dst", "depth")), strict=True))
                out.append((cut("vertices", "vertex_counts"), cut("sources", "source_counts"), edges))
    return out


@pytest.mark.parametrize(("algorithm", "whole"), JOINED)
def test_instances_are_what_a_slow_reference_joins(tmp_path, algorithm, whole):
    store = random_store(tmp_path / "g.zarr", vertices=80, edges=300)
    rows = {v: [u for u, _ in row] for v, row in enumerate(rows_of(store, False))}
    given = ALGORITHMS[algorithm] | {"seed": 5}
    found = drawn(store, algorithm, target=30, instances=3, induced=whole, **given)
    with base_job(store, algorithm, **given) as bases:
        expected = [reference(bases, k, 30, rows, whole or algorithm == "saint-walk") for k in range(3)]
    for (vertices, sources, edges), (met, starts, taken) in zip(found, expected, strict=True):
        assert len(vertices) == 30
        assert vertices == met
        assert edges == taken
        assert sources == (starts or (vertices if whole else []))


def chances(rows, target, burn):
    """The exact chance of each set of ``target`` vertices by fires of one hop, whatever their order: fires of the
    closed form, summed over all ways.
    """
    vertices = range(len(rows))

    @lru_cache(None)
    def after(met):
        """The chances of sets once ``met`` is there and a fire is to be lit; fires that meet nothing new change
        nothing.
        """
        if len(met) == target:
            return {met: 1.0}
        found = Counter()
        for source in vertices:
            for burnt, chance in fires(source):
                found[tuple(v for v in burnt if v not in met)] += chance / len(rows)
        barren = found.pop((), 0.0)
        out = Counter()
        for new, chance in found.items():
            for final, p in after(met | frozenset(new[: target - len(met)])).items():
                out[final] += p * chance / (1 - barren)
        return dict(out)

    def fires(source):
        """The vertices that a fire burns, in order, and the chance of that."""
        degree = len(rows[source])
        for lit in range(degree + 1):
            chance = burn**lit * (1 - burn if lit < degree else 1.0)
            orders = list(permutations(rows[source], lit))
            for order in orders:
                yield (source, *order), chance / len(orders)

    return after(frozenset())


@pytest.mark.parametrize("directed", [False, True])
def test_fires_give_sets_of_vertices_by_their_exact_law(tmp_path, directed):
    store = store_of(tmp_path / "g.zarr", [*SQUARE, (6, 3, 1)], directed=directed)  # and vertex 5 without an edge
    rows = [[u for u, _ in row] for row in rows_of(store, False)]
    law = chances(rows, 4, 0.6)
    assert abs(sum(law.values()) - 1) < 1e-12
    found = drawn(store, "forest-fire", burn_prob=0.6, depth=1, target=4, instances=30_000, weighted=False, seed=1)
    counts = Counter(frozenset(vertices) for vertices, _, _ in found)
    assert counts.keys() <= law.keys()
    assert_drawn_from([counts[one] for one in law], list(law.values()))


def test_instances_are_resumed_and_virtual_ones_have_the_same_bytes(tmp_path, monkeypatch):
    store = random_store(tmp_path / "g.zarr")
    given = {"target": "10%", "instances": 12, "seed": 3, "device": "cpu"}
    monkeypatch.setattr("csaw.engine.plan.planning.GROUP_BYTES", 2000)
    whole = sample(store.path, tmp_path / "whole.zarr", "forest-fire", **given)
    assert whole.group_size < 4
    with interrupted_after(2):
        sample(store.path, tmp_path / "s.zarr", "forest-fire", **given)
    resumed = sample(store.path, tmp_path / "s.zarr", "forest-fire", resume=True, **given)
    assert resumed.checksums == whole.checksums
    assert resumed.results["least_vertices"] == 30
    commit_virtual(prepare(store.path, "forest-fire", **given), tmp_path / "v.zarr")
    virtual = open_samples(tmp_path / "v.zarr")
    assert_same(virtual.group(0, 12), whole.group(0, 12))
    assert all(verify(tmp_path / name).ok for name in ("s.zarr", "v.zarr"))


def test_every_export_keeps_vertices_without_edges(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1)], directed=False, vertices=6)
    held = sample(store.path, tmp_path / "s.zarr", "forest-fire", target=6, seed=2)
    assert held.vertices[:].tolist() == [*range(6)]
    for suffix in ("txt", "npy", "parquet", "npz"):
        export(tmp_path / "s.zarr", tmp_path / f"out.{suffix}")
    lines = [line.split() for line in (tmp_path / "out.txt").read_text().splitlines()]
    assert sorted(int(line[1]) for line in lines if len(line) == 2) == [2, 3, 4, 5]
    table = np.load(tmp_path / "out.npy")
    assert sorted(table["src"][table["depth"] < 0].tolist()) == [2, 3, 4, 5]
    rows = need_package("pyarrow.parquet").read_table(tmp_path / "out.parquet").to_pylist()
    assert sorted(row["src"] for row in rows if row["dst"] is None) == [2, 3, 4, 5]
    with np.load(tmp_path / "out.npz") as batch:
        assert sorted(batch["n_id"].tolist()) == [*range(6)]


@pytest.mark.parametrize("target", [0, -1, 7, "0%", "150%", "-1%", "many", "", "1.5", "nan%"])
def test_targets_that_no_instance_can_have_are_refused(tmp_path, target):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False, vertices=6)
    with pytest.raises(OptionError, match="--target: expected a number of vertices from 1 to the graph's 6"):
        prepare(store, "forest-fire", target=target)


@pytest.mark.parametrize(
    ("algorithm", "given", "said"),
    [
        ("minibatch", {}, "minibatch cannot be repeated"),
        ("ladies", {}, "ladies cannot be repeated"),
        ("cluster-gcn", {"clusters_per_batch": 2}, "cluster-gcn cannot be repeated"),
        ("deepwalk", {"num_walks": 2}, "--num-walks: expected 1 with --target"),
        ("random-node", {"frontier_size": 5}, "--frontier-size: expected 3 with --target"),
        ("deepwalk", {"instances": 2**31 + 1}, "--instances: expected at most 2,147,483,648"),
    ],
)
def test_what_makes_no_sense_with_a_target_is_refused(tmp_path, algorithm, given, said):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False, vertices=6)
    with pytest.raises(OptionError, match=said):
        prepare(store, algorithm, target=3, **given)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("algorithm", "given", "vertices"),
    [
        ("snowball", {"depth": None, "sources": [0]}, [0, 1]),
        ("random-edge", {}, [0, 1]),
        ("deepwalk", {"sources": [2]}, [2]),
        pytest.param("forest-fire", {}, [0, 1, 2, 3], marks=LIKE_ANOTHER),
        pytest.param("random-edge", {"neighbor_size": 0}, [], marks=LIKE_ANOTHER),
    ],
)
def test_an_instance_ends_where_tries_in_a_row_meet_nothing_new(tmp_path, caplog, algorithm, given, vertices):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1)], directed=False, vertices=4)
    held = sample(store.path, tmp_path / "s.zarr", algorithm, target=4, device="cpu", **given)
    assert held.vertices[:].tolist() == vertices
    assert held.results["least_vertices"] == len(vertices)
    assert ("1,024 fires or walks in a row meet nothing new" in caplog.text) == (len(vertices) < 4)
    assert verify(tmp_path / "s.zarr").ok


def test_a_graph_without_edges_gives_its_vertices(tmp_path):
    store = store_of(tmp_path / "g.zarr", [], directed=False, vertices=5)
    for algorithm in ("forest-fire", "deepwalk", "jump", "random-node"):
        for whole in (False, True):
            held = sample(store.path, tmp_path / "s.zarr", algorithm, target=3, induced=whole, overwrite=True)
            names = "vertices" if "vertices" in held else "sources"
            assert len(set(held[names][:].tolist())) == 3
            assert held.src.shape == (0,)


def test_a_target_as_a_share_is_the_nearest_number_and_the_request_has_it(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=300)
    for given, wanted in (("10%", 30), ("12.5 %", 38), ("0.01%", 1), ("100%", 300), (7, 7), ("7", 7)):
        assert prepare(store, "snowball", target=given).plan.request.as_dict()["target"] == wanted
    assert "target" not in prepare(store, "snowball").plan.request.as_dict()
    assert prepare(store, "random-node", target="10%").algorithm.frontier_size == 30


def test_numbers_of_base_instances_differ_and_have_64_bits():
    numbers = {address(k, j) for k in (*range(50), 2**31 - 1) for j in (*range(200), 2**32 - 2)}
    assert len(numbers) == 51 * 201
    assert max(numbers) < 2**63


@pytest.mark.one_in(3)
@pytest.mark.parametrize("fault", ["cut", "order", "edge", "depth", "sources", "one source"])
def test_verify_finds_what_was_joined_wrongly(tmp_path, monkeypatch, fault):
    store = random_store(tmp_path / "g.zarr")
    if fault == "order":
        monkeypatch.setattr(targets.Joined, "_shuffled", lambda self, edges, counts, first: edges)
    else:
        samples = targets.Joined.samples

        def changed(self):
            arrays = samples(self)
            counts = arrays["counts"] - (fault == "cut")
            kept = np.arange(arrays["src"].size) < counts.sum()
            cut = {name: arrays[name][kept] for name in ("src", "dst", "depth")}
            if fault == "edge":
                cut["dst"] = cut["src"].copy()
            if fault == "depth":
                cut["depth"] = np.zeros_like(cut["depth"])
            if fault == "sources":
                cut |= {"sources": arrays["vertices"], "source_counts": arrays["vertex_counts"]}
            if fault == "one source":
                cut |= {"sources": arrays["vertices"][-1:], "source_counts": np.ones(1, np.int64)}
            return arrays | cut | {"counts": counts}

        monkeypatch.setattr(targets.Joined, "samples", changed)
    sample(store.path, tmp_path / "s.zarr", "forest-fire", target=50, instances=1, device="cpu", seed=1)
    failed = {check.name for check in verify(tmp_path / "s.zarr").checks if not check.ok}
    assert "joined" in failed
    assert ("edges" in failed) == (fault == "edge")


@pytest.mark.parametrize("algorithm", ["forest-fire", "snowball"])
def test_without_a_limit_of_depth_all_that_can_be_reached_is_met(tmp_path, algorithm):
    line = store_of(tmp_path / "g.zarr", [(v, v + 1, 1) for v in range(500)], directed=True)
    given = {"depth": None, "sources": [0], "weighted": False, "device": "cpu"}
    far = given | ({"burn_prob": 0.999999} if algorithm == "forest-fire" else {})
    held = sample(line.path, tmp_path / "s.zarr", algorithm, **far)
    assert held.dst.shape[0] > 2 * PLANNED_HOPS
    assert held.depth[:].tolist() == [*range(held.dst.shape[0])]
    job = prepare(line, algorithm, **given)
    assert job.plan.batch_bytes < 400 * line.vertices * job.plan.batch


def test_base_instances_of_several_sources_begin_with_different_ones(tmp_path, monkeypatch):
    """Verify says of others that they are wrong, and ends."""
    store = random_store(tmp_path / "g.zarr", vertices=5, edges=8)
    how = {"frontier_size": 2, "target": 4, "instances": 100}
    sample(store.path, tmp_path / "s.zarr", "layer", **how)
    assert verify(tmp_path / "s.zarr").ok
    monkeypatch.setattr("csaw.engine.sources.sources.are_sets", lambda algorithm: False)
    sample(store.path, tmp_path / "t.zarr", "layer", **how)
    assert not verify(tmp_path / "t.zarr").ok
