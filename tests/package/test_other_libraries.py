"""Samples as objects of pandas, networkx and SciPy, dicts of neighbors as graphs, and what Python shows of them."""

import re
from collections import OrderedDict, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from helpers.machine import need_package

import csaw
from csaw.partition.errors import OptionError

WORDS = [("a", "b"), ("b", "c"), ("d", "e")]  # c and e have no edge out


def drawn(graph, algo, **options):
    if algo == "random-node":
        options["frontier_size"] = 3
    return csaw.sample(graph, algo=algo, seed=3, **options)


def edges_of(samples):
    """(instance, src, dst) of every edge, from what an export to CSV writes, or from the walks."""
    if samples.has_walks:
        walks = [samples.names(samples.walk(number)).tolist() for number in range(samples.instances)]
        return [(number, *pair) for number, walk in enumerate(walks) for pair in pairwise(walk)]
    found = samples.layout.edges(samples.group(0, samples.instances), samples.fill)
    ends = (samples.names(found[name]).tolist() for name in ("src", "dst"))
    return list(zip(found["instance"].tolist(), *ends, strict=True))


ALGORITHMS = ("deepwalk", "ppr", "neighbor", "minibatch", "forest-fire", "layer", "ladies", "random-node")


@pytest.mark.parametrize("algo", ALGORITHMS)
@pytest.mark.parametrize("graph", ["karate", "words"])
def test_a_table_has_the_edges_of_the_samples(algo, graph):
    pandas = need_package("pandas")
    samples = drawn(csaw.graph(WORDS) if graph == "words" else graph, algo)
    table = samples.to_pandas()
    if samples.has_walks:
        walks = table.groupby("instance")["vertex"].agg(list)
        assert walks.tolist() == [samples.names(samples.walk(k)).tolist() for k in range(samples.instances)]
        assert (table["step"] == table.groupby("instance").cumcount()).all()
        return
    there = table[table["dst"].notna()]
    assert list(there[["instance", "src", "dst"]].itertuples(index=False, name=None)) == edges_of(samples)
    assert isinstance(table, pandas.DataFrame)
    assert ("weight" in table) == (algo == "ladies")


@pytest.mark.parametrize("algo", ALGORITHMS)
@pytest.mark.parametrize(("graph", "directed"), [("karate", False), ("words", True)])
def test_a_graph_and_a_matrix_count_how_often_each_edge_was_drawn(algo, graph, directed):
    nx, _ = need_package("networkx"), need_package("scipy")
    samples = drawn(csaw.graph(WORDS) if graph == "words" else graph, algo)
    wanted = {}
    for _, u, v in edges_of(samples):
        wanted[u, v] = wanted.get((u, v), 0) + 1
    matrix, ids = samples.to_scipy()
    rows, columns = matrix.nonzero()
    names = ids.tolist()
    counts = zip(rows.tolist(), columns.tolist(), matrix.data.tolist(), strict=True)
    assert {(names[i], names[j]): count for i, j, count in counts} == wanted
    made = samples.to_networkx()
    assert isinstance(made, nx.DiGraph) is directed
    assert set(made) == set(names)
    if directed:
        assert {(u, v): count for u, v, count in made.edges(data="count")} == wanted
    else:
        assert sum(count for _, _, count in made.edges(data="count")) == sum(wanted.values())
        assert {frozenset(pair) for pair in made.edges} == {frozenset(pair) for pair in wanted}


def test_vertices_without_an_edge_are_kept():
    samples = drawn(csaw.graph(WORDS), "forest-fire")
    table = samples.to_pandas()
    assert {"c", "e"} <= set(table[table["dst"].isna()]["src"])
    assert {*table["src"]} == {*"abcde"}
    assert sorted(drawn(csaw.graph(WORDS), "neighbor").to_networkx()) == ["a", "b", "c", "d", "e"]
    alone = drawn(csaw.graph(WORDS), "neighbor", sources="random:1")[0:1]
    assert alone.to_scipy()[0].shape[0] == len(alone.to_networkx())


def test_walks_in_time_have_the_time_of_each_step():
    need_package("pandas")
    graph = csaw.graph([(0, 1), (1, 2), (2, 3)], time=np.array([5, 7, 9]))
    table = csaw.sample(graph, algo="temporal", sources=[0], seed=1).to_pandas()
    assert table["time"].isna().tolist() == [True, *[False] * (len(table) - 1)]
    assert table["time"].dropna().tolist() == [5, 7, 9][: len(table) - 1]


def test_no_instances_are_an_empty_table_graph_and_matrix():
    for algo in ("deepwalk", "neighbor", "forest-fire"):
        samples = csaw.sample("karate", algo=algo)[0:0]
        assert len(samples.to_pandas()) == len(samples.to_networkx()) == samples.to_scipy()[0].nnz == 0


@pytest.mark.parametrize(
    ("data", "edges", "weights"),
    [
        ({0: [1, 2], 1: [2], 3: []}, [(0, 1), (0, 2), (1, 2)], None),
        ({"a": ("b",), "b": {"a"}}, [("a", "b"), ("b", "a")], None),
        ({0: {1: 2.5, 2: 1}, 1: {}}, [(0, 1), (0, 2)], [2.5, 1.0]),
        ({0: {1: {"weight": 3}, 2: {}}}, [(0, 1), (0, 2)], [3.0, 1.0]),
        ({0: np.array([2, 1])}, [(0, 1), (0, 2)], None),
    ],
)
def test_a_dict_of_neighbors_is_a_graph(data, edges, weights):
    graph = csaw.graph(data)
    named = np.asarray(graph.original_ids(np.arange(graph.vertices))).tolist()
    indptr, indices = graph.read_indptr(), graph.load().indices
    found = [(named[u], named[v]) for u in range(graph.vertices) for v in indices[indptr[u] : indptr[u + 1]]]
    assert sorted(map(tuple, found)) == sorted(edges)
    assert graph.weighted is (weights is not None)
    assert set(data) <= set(named)
    if weights:
        assert graph.load().weights.tolist() == weights


def test_a_dict_is_the_graph_that_networkx_makes_of_it():
    nx = need_package("networkx")
    club = nx.karate_club_graph()
    assert csaw.graph(nx.to_dict_of_dicts(club)).fingerprint == csaw.graph(club.to_directed()).fingerprint


def test_a_dict_of_a_multigraph_keeps_parallel_edges_and_their_weights():
    nx = need_package("networkx")
    several = nx.MultiDiGraph([(1, 2, {"weight": 0.5}), (1, 2, {"weight": 2.0}), (2, 3, {})])
    found = csaw.graph(nx.to_dict_of_dicts(several))
    assert found.fingerprint == csaw.graph(several).fingerprint
    assert found.load().weights.tolist() == [0.5, 2.0, 1.0]


def test_other_kinds_of_dicts_are_dicts():
    made = {0: [1], 1: [2]}
    for kind in (OrderedDict(made), defaultdict(list, made)):
        assert csaw.graph(kind).fingerprint == csaw.graph(made).fingerprint


@pytest.mark.parametrize("unit", ["ns", "us", "ms"])
def test_times_of_polars_keep_their_unit(unit):
    pl = need_package("polars")
    times = np.array([1_700_000_000_123_456_789, 1_700_000_000_123_456_790], "datetime64[ns]")
    table = pl.DataFrame({"source": [1, 2], "target": [2, 3], "when": pl.Series(times).cast(pl.Datetime(unit))})
    found = csaw.graph(table, time="when")
    assert found.time.units == csaw.graph([(1, 2), (2, 3)], time=times.astype(f"datetime64[{unit}]")).time.units
    assert found.fingerprint == csaw.graph(table.to_arrow(), time="when").fingerprint


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"ann": "bob"}, "dict of neighbors: 'ann': expected a list of vertices"),
        ({0: 1}, "dict of neighbors: 0: expected a list of vertices"),
        ({"source": [0], "target": [1]}, "expected the neighbors of each vertex, found columns source, target"),
        ({0: [None]}, "dict of neighbors: expected an id at both ends of each edge, found None"),
    ],
)
def test_other_dicts_are_refused(data, said):
    with pytest.raises(OptionError, match=said):
        csaw.graph(data)
    with pytest.raises(OptionError, match="weights: dict of neighbors"):
        csaw.graph({0: [1]}, weights="cost")


def test_arrays_and_samples_show_what_they_hold(tmp_path):
    samples = csaw.sample("karate", tmp_path / "w.zarr", algo="node2vec", walk_length=20, seed=7)
    assert re.fullmatch(r"<int32 \[34, 21\]: \[\[ *\d+ +\d+ +\d+ \.\.\. .*\] \.\.\.\]>", repr(samples.walks))
    assert "first walks" in samples._repr_html_()
    assert " ".join(map(str, samples.walk(1)[:12].tolist())) + " ..." in samples._repr_html_()
    assert repr(samples[2:4].walks) == "<int32 [2, 21]>"
    csaw.sample("karate", tmp_path / "v.zarr", algo="node2vec", virtual=True)
    virtual = csaw.open_samples(tmp_path / "v.zarr")
    assert "first walks" not in virtual._repr_html_()
    (tmp_path / "w.zarr" / "walks" / "c.0.0").write_bytes(b"")
    damaged = csaw.open_samples(tmp_path / "w.zarr")
    assert repr(damaged.walks) == "<int32 [34, 21]>"
    assert "first walks" in damaged._repr_html_()


def test_a_report_of_verify_is_a_table(tmp_path):
    csaw.sample("karate", tmp_path / "w.zarr", algo="deepwalk")
    report = csaw.verify(tmp_path / "w.zarr")
    lines = str(report).splitlines()
    assert lines[0].startswith(f"{tmp_path / 'w.zarr'}: no fault found (")
    assert lines[1].split() == ["result", "check", "p-value", "details"]
    assert len(lines) == 2 + len(report.checks)
    assert report._repr_html_().count("<tr>") == 1 + len(report.checks)


def test_public_names_of_loaders_algorithms_and_measures():
    from csaw.algorithm import Walk
    from csaw.engine.algorithm import Walk as OldWalk
    from csaw.engine.measure import Measure as OldMeasure
    from csaw.measure import Measure

    assert (Walk, Measure) == (OldWalk, OldMeasure)
    need_package("torch")
    from csaw.engine.loaders import WalkDataset as OldDataset
    from csaw.loader import WalkDataset

    assert WalkDataset is OldDataset is csaw.loader.WalkDataset
    with pytest.raises(AttributeError):
        _ = csaw.loader.Nothing


def test_datasets_are_listed():
    found = {one["name"]: one for one in csaw.datasets()}
    assert found["web-Google"]["vertices"] == 875_713
    assert found["web-Google"]["url"].startswith("https://snap.stanford.edu/")


def test_a_series_whose_index_is_of_other_rows_is_refused():
    pd = need_package("pandas")
    edges = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0], "t": [5, 7, 9]}, index=[10, 11, 12])
    some = edges[edges["t"] > 5]
    assert csaw.graph(some[["source", "target"]], time=some["t"]).edges == 2
    assert csaw.graph([(0, 1), (1, 2)], time=pd.Series([5, 7])).edges == 2
    turned = edges["t"].iloc[::-1]
    for given in ({"time": turned}, {"weights": turned}, {"edge_columns": {"time": turned}}):
        with pytest.raises(
            OptionError, match="expected numbers in the order of the edges, found a Series with another index"
        ):
            csaw.graph(edges[["source", "target"]], **given)
    with pytest.raises(OptionError, match="another index"):
        csaw.graph([(0, 1), (1, 2)], time=some["t"])
