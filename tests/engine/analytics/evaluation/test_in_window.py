"""Every measure of a window finds what it finds of a graph that is made of the window's edges alone."""

import itertools
import os

import networkx
import numpy as np
import pytest
from helpers.networks import same
from helpers.temporal import TIED, events_store

import csaw
from csaw.engine.analytics import measure
from csaw.engine.analytics.evaluation import networks, profiles
from csaw.engine.analytics.evaluation.evaluate import evaluate, plan
from csaw.engine.measure import Measure, vertex_option
from csaw.partition import write_graph
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.graph import views

VERTICES = 60
OPTIONS = {
    "bfs": {"bfs_source": "103"},
    "sssp": {"sssp_source": "103"},
    "betweenness": {"betweenness_sources": VERTICES},
    "personalized-pagerank": {"rank_sources": "100,109"},
    "hops": {"hops": "exact"},
    "spectrum": {"spectrum_size": 4},
}
IN_BLOCKS = {"degree", "components", "core", "pagerank", "assortativity", "hops", "bfs", "sssp"}
"""Measures that take blocks of two rows."""
WINDOWS = {
    "all": ({"until": 99}, -99, 99),
    "until": ({"until": 4}, -99, 4),
    "between": ({"between": (-3, 11)}, -3, 11),
    "a tie": ({"between": "6,6"}, 6, 6),
    "before the first": ({"until": "-50"}, -99, -50),
    "a gap": ({"between": (100, 200)}, 100, 200),
}


class Lightest(Measure):
    """The least sum of weights from a vertex: a class of the user's own."""

    source: int = vertex_option(help="vertex that sums are taken from")

    def start(self, v):
        return 0.0 if v.id == self.source else v.nothing

    def edge(self, e):
        return e.value + e.weight


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "cache_dir", lambda: tmp_path / "cache")


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(views, "PIECE", 50)


def events(seed=3, edges=700):
    """(source, target, weight, time): hubs, self loops, repeats at the same time and at others."""
    rng = np.random.default_rng(seed)
    ends = np.where(rng.random((edges, 2)) < 0.2, 3, rng.integers(0, VERTICES - 4, (edges, 2)))
    table = np.column_stack([ends, rng.integers(0, 9, edges), rng.integers(-20, 21, edges)])
    return np.concatenate([table, table[:40], table[40:80] + [0, 0, 1, 2]])


def made(path, table, *, directed, weighted):
    """A store of these events, with all vertices, whose ids are not the dense ones."""
    if not len(table):  # which networkx would make a graph without weights
        ids, none = 100 + np.arange(VERTICES), np.empty(0, np.uint32)
        weights = np.empty(0, np.float32) if weighted else None
        return write_graph(path, np.zeros(VERTICES + 1, int), none, weights, directed=directed, vertex_ids=ids)
    graph = networkx.MultiDiGraph() if directed else networkx.MultiGraph()
    graph.add_nodes_from(range(100, 100 + VERTICES))
    for u, v, weight, time in table.tolist():
        graph.add_edge(100 + u, 100 + v, weight=weight / 4, time=time)
    return csaw.partition(graph, path, weights="weight" if weighted else "none", time="time", partitions=3)


def found(graph, name, **options):
    """The findings of a measure, measured now; None where the memory does not hold what it needs."""
    own = {"source": 103} if name is Lightest else OPTIONS.get(name, {})
    try:
        return evaluate(graph, measures=[name], refresh=True, device="cpu", **own, **options).by_measure
    except BudgetError:
        return None


def least(store, name):
    """Bytes of memory for two of the longest rows in both directions and what a measure keeps."""
    kind = name if name is Lightest else measure.find(name)
    kept = kind().keeps("cpu", store.directed).bytes(VERTICES, store.edges, 4)
    return kept + 2 * (4 + 4 * store.weighted) * 2 * store.max_degree


@pytest.mark.one_in(5)  # each window but one, and each kind of graph
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("directed", "weighted"), [(True, True), (False, True), (True, False), (False, False)])
def test_every_measure(tmp_path, window, directed, weighted):
    table, (options, first, last) = events(), WINDOWS[window]
    store = made(tmp_path / "g.zarr", table, directed=directed, weighted=weighted)
    kept = table[(table[:, 3] >= first) & (table[:, 3] <= last)]
    alone = made(tmp_path / "w.zarr", kept, directed=directed, weighted=weighted)
    assert (alone.vertices, alone.weighted) == (VERTICES, weighted)
    names = [*measure.names(), *([Lightest] if weighted else [])]
    for number, name in itertools.product(range(3), names):
        where = ({}, {"threads": 3, "residency": "disk"}, {"memory": least(store, name)})[number]
        if name != "sssp" or weighted:
            wanted = found(alone, name, **where)
            assert wanted is not None or "memory" in where, name
            assert same(found(store, name, **options, **where), wanted), (name, where)
            assert wanted is not None or name not in IN_BLOCKS


def test_where_it_would_run_is_told_of_the_window(tmp_path):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    [planned] = plan(store, measures="degree", until=3, device="cpu")
    kept = sum(time <= 3 for _, _, time in TIED)
    assert planned["graph_bytes"] == 4 * kept
    assert not planned["kept"]


def test_what_was_found_of_a_window_is_kept_for_that_window(tmp_path, monkeypatch):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    calls = []
    degree = measure.find("degree")
    inner = degree.findings
    monkeypatch.setattr(degree, "findings", lambda self, network: calls.append(network.edges) or inner(self, network))

    def mean(**options):
        return evaluate(store, measures="degree", device="cpu", **options).profile["mean out-degree"].value

    whole, early, late = mean(), mean(until=3), mean(between=(4, 9))
    assert (mean(), mean(until=3), mean(between="4,9"), mean(until="3.0")) == (whole, early, late, early)
    assert calls == [19, 11, 8]
    assert 5 * early == 11
    assert 5 * late == 8


def test_the_window_is_said(tmp_path):
    table = csaw.graph([(0, 1), (1, 2), (0, 2)], time=np.array(["2026-11-01", "2026-11-02", "2026-11-05"], "M8[s]"))
    found = csaw.evaluate(table, measures="degree", until="2026-11-02")
    assert "until 2026-11-02T00:00:00Z, 2 of 3 stored edges" in str(found).splitlines()[0]
    assert "until 2026-11-02T00:00:00Z" in repr(found)
    assert found.as_dict()["window"] == {
        "first": None,
        "last": 1793577600,
        "units": "seconds since 1970-01-01",
        "edges": 2,
        "of": 3,
    }
    found = csaw.evaluate(table, measures="degree", between=(np.datetime64("2026-11-02"), "2026-11-05"))
    assert " from 2026-11-02T00:00:00Z to 2026-11-05T00:00:00Z, 2 of 3 stored edges" in found.title
    assert "window" not in csaw.evaluate(table, measures="degree").as_dict()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"until": 3, "between": (1, 2)}, "until: expected until or between, found both; leave one out"),
        ({"between": (3, 2)}, "between: expected two times, the first not after the last, found 3 and 2"),
        ({"between": "1,2,3"}, "between: expected two times, such as 2026-11-01,2026-11-30, found '1,2,3'"),
        ({"between": 5}, "between: expected two times"),
        ({"between": "5"}, "between: expected two times"),
        ({"between": ",5"}, "between: expected a number without decimals that int64 holds"),
        ({"between": (1, float("nan"))}, "between: expected a number .*, found nan"),
        ({"until": float("nan")}, "until: expected a number .*, found nan"),
        ({"until": 2**63}, "until: expected a number .* that int64 holds"),
        ({"until": True}, "until: expected a number .*, found True"),
        ({"until": ""}, "until: expected a number .*, found ''"),
    ],
)
def test_what_is_no_window_is_refused_in_words(tmp_path, options, said):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    with pytest.raises(OptionError, match=said):
        csaw.evaluate(store, measures="degree", **options)


def test_a_graph_without_times_and_samples_are_refused(tmp_path):
    with pytest.raises(
        OptionError, match=r"until: .*: expected times of the edges, found none; .* --time-column COLUMN"
    ):
        csaw.evaluate("karate", until=3)
    with pytest.raises(OptionError, match=r"csaw.graph\(data, time=times\)"):
        csaw.evaluate([(0, 1), (1, 2)], until=3)
    other = csaw.graph([(0, 1), (1, 2)], edge_columns={"Time": np.array([1, 2], np.uint32)})
    with pytest.raises(OptionError, match="expected times of the edges, found the edge column Time:uint32; make"):
        csaw.evaluate(other, until=3)
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    view = evaluate(store, until=5, measures="degree", device="cpu").store
    with pytest.raises(OptionError, match="until: .*: expected a whole graph, found a window of it already"):
        csaw.evaluate(view, until=3)
    with pytest.raises(OptionError, match="windows: .*: expected a whole graph, found a window of it already"):
        csaw.evaluate(view, windows=3)
    walks = csaw.sample(store, walk_length=3)
    with pytest.raises(OptionError, match="until: expected only the graph, found 1 sample"):
        csaw.evaluate(store, walks, until=3)


# Stores that are made of a window


@pytest.fixture
def networks_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(networks, "cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "networks"


@pytest.mark.parametrize("ends", ["well", "in an error", "by Ctrl-C"])
def test_nothing_is_left_of_a_window(tmp_path, networks_folder, monkeypatch, ends):
    store, seen = events_store(tmp_path / "g.zarr", TIED, 5), []
    others = {"in an error": BudgetError("no memory"), "by Ctrl-C": KeyboardInterrupt()}

    def progress(doing):
        seen.append([path.name for folder in networks_folder.glob("window-*") for path in folder.glob("*.zarr")])
        if len(seen) == 3 and ends in others:
            raise others[ends]

    wish = {"until": 5, "measures": "core,triangles,pagerank", "residency": "disk", "device": "cpu"}
    if ends == "well":
        evaluate(store, progress=progress, **wish)
    else:
        with pytest.raises(type(others[ends])):
            evaluate(store, progress=progress, **wish)
    assert len(seen) == 3
    assert [name.rpartition("-")[2] for name in seen[2]] == ["undirected.zarr"]
    assert list(networks_folder.iterdir()) == []


def test_a_folder_is_removed_where_the_memory_is_too_little(tmp_path, networks_folder):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    with pytest.raises(BudgetError, match="raise --memory"):
        evaluate(store, until=5, memory=10, device="cpu")
    assert list(networks_folder.iterdir()) == []


def test_what_a_kill_has_left_is_removed_and_what_is_in_use_stays(networks_folder, monkeypatch):
    monkeypatch.setattr(networks.socket, "gethostname", lambda: "node[1]-a")
    left = networks_folder / "window-left@node_1_-a"
    (left / "x.zarr").mkdir(parents=True)
    draft = networks_folder / ".csaw-window-left@node_1_-a"
    draft.mkdir()
    os.utime(draft, (0, 0))
    used = networks.WindowFolder()
    assert list(networks_folder.iterdir()) == [used.path]
    other = networks.WindowFolder()
    assert {used.path, other.path} == set(networks_folder.iterdir())
    used.close()
    used.close()
    assert list(networks_folder.iterdir()) == [other.path]
    other.close()


def test_what_another_host_has_made_stays(networks_folder, monkeypatch):
    names = [
        "window-x@b",
        "window-x@a-b",
        "window-x@ab",
        ".csaw-window-x@b",
        "window-a",
        ".csaw-window-new@a",
        "x.zarr",
    ]
    monkeypatch.setattr(networks.socket, "gethostname", lambda: "a")
    for name in names:
        (networks_folder / name).mkdir(parents=True)
        os.utime(networks_folder / name, None if "new" in name else (0, 0))
    folder = networks.WindowFolder()
    assert folder.path.name.endswith("@a")
    assert sorted(path.name for path in networks_folder.iterdir()) == sorted([*names, folder.path.name])
    folder.close()
