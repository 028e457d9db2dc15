"""Findings that are brought up to date from an earlier version have the bits of those that are found anew."""

import gc
import logging
import tracemalloc

import numpy as np
import pytest
from helpers.networks import same

import csaw
from csaw.engine.analytics.cpu import changes
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation import updates
from csaw.engine.analytics.evaluation.evaluate import evaluate, plan
from csaw.engine.plan.footprint import NOTHING
from csaw.partition import open_graph
from csaw.partition.graph.changed_rows import changed_partitions
from csaw.partition.graph.versions import compact

WISH = {"measures": "degree,components,triangles", "device": "cpu", "threads": 2}
UPDATED = "brought up to date from version"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(changes, "LOOKUPS", 1e9)
    monkeypatch.setattr(changes, "CHANGED", 1e-9)  # many changes of a small graph are measured by them, too


def remarks(caplog):
    """What is said of each measure since it was last asked; nothing of those that are found in the cache."""
    said = dict(one.getMessage().split(": ", 1) for one in caplog.records if one.name == updates.__name__)
    caplog.clear()
    return said


def random_edges(rng, count, vertices):
    return np.column_stack([rng.integers(0, vertices, count) ** 2 // vertices, rng.integers(0, vertices, count)])


def grown(path, rng, *, steps, vertices=60, weighted=False, remove=True, **how):
    """A store with versions of random edges, added and removed in turns; loops, repeats and new vertices occur."""
    edges = random_edges(rng, 6 * vertices, vertices)
    weights = {"weights": np.ones(len(edges))} if weighted else {}
    csaw.partition(edges, path, partitions=3, **weights, **how)
    for step in range(steps):
        if remove and step % 3 == 2:
            gone = np.concatenate([edges[rng.integers(0, len(edges), 30)], random_edges(rng, 5, vertices)])
            csaw.append(path, gone, remove=True)
            continue
        more = random_edges(rng, int(rng.integers(1, 40)), vertices + 5 * step)
        weights = {"weights": np.ones(len(more))} if weighted else {}
        csaw.append(path, more, again=True, **weights)
        edges = np.concatenate([edges, more])
    return open_graph(path)


def held(path, version, memory=None, **wish):
    """Measure a version by way of the earlier ones, then anew, and compare bit for bit."""
    store = open_graph(path, version=version)
    found = evaluate(store, memory=memory, **(WISH | wish))
    assert same(found.by_measure, evaluate(store, memory=memory, refresh=True, **(WISH | wish)).by_measure)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "how",
    [
        {"directed": False, "duplicates": "first", "self_loops": "drop"},
        {"directed": False, "duplicates": "keep"},
        {"directed": True, "duplicates": "keep"},
        {"directed": True, "duplicates": "sum", "weighted": True},
    ],
    ids=["simple", "undirected", "directed", "weighted"],
)
def test_updates_have_the_bits_of_measuring_anew(tmp_path, caplog, how, seed):
    caplog.set_level(logging.INFO)
    newest = grown(tmp_path / "g.zarr", np.random.default_rng(seed), steps=6, **how).version
    held(tmp_path / "g.zarr", 0)
    assert remarks(caplog) == {}
    for version in range(1, newest + 1):
        held(tmp_path / "g.zarr", version)
        said = remarks(caplog)
        assert said["triangles"] == said["degree"] == f"{UPDATED} {version - 1}"
        store = open_graph(tmp_path / "g.zarr", version=version)
        removed = store.report["append"]["edges_removed"] > 0
        because = "new edges may join any number of strongly connected components" if store.directed else "edges were"
        assert said["components"].startswith(f"measured anew, because {because}") == (store.directed or removed)
        assert (said["components"] == f"{UPDATED} {version - 1}") == (not store.directed and not removed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_versions_between_may_be_left_out(tmp_path, caplog, seed, directed):
    """Edges are added and removed at once, often of the same triangle, as the graph has few vertices."""
    caplog.set_level(logging.INFO)
    rng, how = np.random.default_rng(seed), {"directed": directed, "duplicates": "keep"}
    newest = grown(tmp_path / "g.zarr", rng, steps=6, vertices=25, **how).version
    held(tmp_path / "g.zarr", 1)
    held(tmp_path / "g.zarr", newest)
    assert remarks(caplog)["triangles"] == f"{UPDATED} 1"


def test_changes_of_a_large_graph_in_blocks(tmp_path, caplog):
    """The rows come from disk block by block, those of the older version in pieces."""
    caplog.set_level(logging.INFO)
    rng = np.random.default_rng(3)
    csaw.partition(
        random_edges(rng, 60_000, 4000), tmp_path / "g.zarr", partitions=5, directed=False, self_loops="drop"
    )
    csaw.append(tmp_path / "g.zarr", random_edges(rng, 60, 4050))
    held(tmp_path / "g.zarr", 0)
    remarks(caplog)
    planned = plan(open_graph(tmp_path / "g.zarr", version=1), measures="triangles", device="cpu", memory=1_400_000)
    assert "blocks" in planned[0]["graph"]
    held(tmp_path / "g.zarr", 1, memory=1_400_000)
    assert remarks(caplog) == dict.fromkeys(("degree", "components", "triangles"), f"{UPDATED} 0")


@pytest.mark.parametrize("memory", [1_400_000, 8_000_000])
def test_an_update_allocates_no_more_than_it_sets_aside(tmp_path, memory):
    rng, how = np.random.default_rng(3), {"directed": False, "self_loops": "drop"}
    csaw.partition(random_edges(rng, 60_000, 4000), tmp_path / "g.zarr", **how)
    csaw.append(tmp_path / "g.zarr", random_edges(rng, 60, 4050))
    old, new = (open_graph(tmp_path / "g.zarr", version=version) for version in (0, 1))
    for peak in (0, 1):  # the first compiles
        network = HostNetwork(new, memory=memory, threads=2, kept=NOTHING)
        network.keep(changes.room_of(network))
        gc.collect()
        tracemalloc.start()
        found = changes.HostChanges(old, network)
        found.components(np.arange(old.vertices, dtype=old.id_dtype))
        found.triangles()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        network.close()
    assert 0 < peak <= memory


def test_entries_are_those_of_a_slow_comparison(tmp_path):
    rng = np.random.default_rng(5)
    new = grown(tmp_path / "g.zarr", rng, steps=3, directed=True, duplicates="keep")
    old = open_graph(tmp_path / "g.zarr", version=0)

    def counts(store):
        graph, out = store.load(), {}
        for v in range(store.vertices):
            for u in graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist():
                out[v, u] = out.get((v, u), 0) + 1
        return out

    before, now = counts(old), counts(new)
    wanted = [
        (*edge, now.get(edge, 0) - before.get(edge, 0), (edge not in before) - (edge not in now))
        for edge in sorted(before.keys() | now.keys())
        if now.get(edge, 0) != before.get(edge, 0)
    ]
    network = HostNetwork(new)
    found = changes.HostChanges(old, network).entries
    network.close()
    assert list(zip(*(array.tolist() for array in found), strict=True)) == wanted


def test_rows_of_linked_partitions_are_not_read(tmp_path, monkeypatch):
    edges = np.column_stack([np.arange(0, 3000), np.arange(1, 3001)])
    csaw.partition(edges, tmp_path / "g.zarr", partitions=6, directed=True)
    csaw.append(tmp_path / "g.zarr", [(0, 7), (3, 9)])
    old, new = (open_graph(tmp_path / "g.zarr", version=version) for version in (0, 1))
    assert changed_partitions(old, new, ["indices"]) == [new.partitions[0]]
    assert changed_partitions(old, old, ["indices"]) == []


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        ({"measures": "triangles", "approximate": 100}, "its random draws depend on all edges"),
        ({"measures": "triangles", "memory": 533_000}, "there is too little memory"),
    ],
)
def test_what_cannot_be_updated_is_measured_anew(tmp_path, caplog, wish, reason):
    caplog.set_level(logging.INFO)
    grown(tmp_path / "g.zarr", np.random.default_rng(1), steps=1, directed=False, duplicates="first")
    memory = wish.pop("memory", None)
    held(tmp_path / "g.zarr", 0, **wish)
    held(tmp_path / "g.zarr", 1, memory=memory, **wish)
    assert remarks(caplog)["triangles"].startswith(f"measured anew, because {reason}")


def test_many_changes_are_measured_anew(tmp_path, caplog, monkeypatch):
    caplog.set_level(logging.INFO)
    grown(tmp_path / "g.zarr", np.random.default_rng(1), steps=2, directed=False, duplicates="first")
    monkeypatch.setattr(changes, "CHANGED", 1000)
    held(tmp_path / "g.zarr", 0)
    held(tmp_path / "g.zarr", 2)
    assert remarks(caplog)["triangles"] == "measured anew, because too many edges have changed"


def test_a_damaged_earlier_version_is_no_obstacle(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    grown(tmp_path / "g.zarr", np.random.default_rng(1), steps=1, directed=False, duplicates="first")
    held(tmp_path / "g.zarr", 0)
    chunk = tmp_path / "g.zarr/partitions/00000/indices/c/0"
    chunk.write_bytes(bytes(reversed(chunk.read_bytes())))
    held(tmp_path / "g.zarr", 1)
    assert "have changed since they were written" in remarks(caplog)["triangles"]


def test_the_only_version_is_measured_anew_without_a_remark(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    grown(tmp_path / "g.zarr", np.random.default_rng(1), steps=1, directed=False, duplicates="first")
    held(tmp_path / "g.zarr", 0)
    compact(tmp_path / "g.zarr")
    held(tmp_path / "g.zarr", 1)
    assert remarks(caplog) == {}


def test_a_measure_of_the_user_is_not_taken_for_the_one_it_derives_from(tmp_path, caplog):
    from csaw.engine.analytics.measures.triangles import Triangles

    class Doubled(Triangles):
        def findings(self, network):
            return {"twice": 2 * len(super().findings(network))}

    caplog.set_level(logging.INFO)
    store = grown(tmp_path / "g.zarr", np.random.default_rng(1), steps=1, directed=False, duplicates="first")
    Doubled.__module__ = __name__
    for version in (0, 1):
        assert Doubled().name() == Doubled.name()
        with pytest.raises((AttributeError, TypeError)):  # no finding: what matters is that it was measured anew
            evaluate(open_graph(tmp_path / "g.zarr", version=version), measures=[Doubled], device="cpu")
    assert remarks(caplog) == {}
    assert store.version == 1
