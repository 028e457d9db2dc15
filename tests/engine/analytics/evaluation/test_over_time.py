"""Windows of time follow each other without a gap, and each has what it has when it is measured alone."""

import csv
import io
import json
from itertools import pairwise

import numpy as np
import pytest
from helpers.networks import same
from helpers.temporal import TIED, events_store, random_events

import csaw
from csaw.engine.analytics import measure
from csaw.engine.analytics.evaluation import profiles
from csaw.engine.analytics.evaluation.evaluate import evaluate, plan
from csaw.engine.analytics.evaluation.over_time import _equal, _long
from csaw.engine.analytics.evaluation.over_versions import evaluate_several
from csaw.partition import write_graph
from csaw.partition.errors import OptionError

WISH = {"measures": "degree,triangles", "device": "cpu"}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "cache_dir", lambda: tmp_path / "cache")


@pytest.fixture
def store(tmp_path):
    return events_store(tmp_path / "g.zarr", random_events(40, 600, 7), 40, partitions=2)  # times -50 .. 49


def spans(found):
    return [tuple(one.store.window) for one in found.windows]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 99])
def test_equal_windows_cut_the_time(count):
    for first, last in [(-50, 49), (0, 98), (-(2**63), 2**63 - 1), (2**62, 2**62 + 500)]:
        each = _equal(first, last, count)
        lengths = [one.last - one.first + 1 for one in each]
        assert (each[0].first, each[-1].last, len(each)) == (first, last, count)
        assert all(one.last + 1 == two.first for one, two in pairwise(each))
        assert max(lengths) - min(lengths) <= 1
        assert min(lengths) >= 1


@pytest.mark.parametrize("length", [1, 7, 10, 1000])
def test_windows_of_a_length_follow_each_other(length):
    for begin, last in [(-50, 49), (5, 5), (-3, 700)]:
        each = _long(begin, last, length)
        assert [one.first for one in each] == list(range(begin, last + 1, length))
        assert all(one.last - one.first + 1 == length for one in each)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"windows": 4}, [(-50, -26), (-25, -1), (0, 24), (25, 49)]),
        ({"windows": 2, "between": (-3, 6)}, [(-3, 1), (2, 6)]),
        ({"windows": 2, "until": -41}, [(-50, -46), (-45, -41)]),
        ({"every": 40}, [(-80, -41), (-40, -1), (0, 39), (40, 79)]),
        ({"every": 40, "between": "-30,20"}, [(-30, 9), (10, 20)]),
        ({"every": 40, "until": 5}, [(-80, -41), (-40, -1), (0, 5)]),
        ({"every": "40", "cumulative": True}, [(-80, last) for last in (-41, -1, 39, 79)]),
        ({"windows": 2, "between": (-3, 6), "cumulative": True}, [(-3, 1), (-3, 6)]),
    ],
)
def test_each_window_is_what_it_is_alone(store, options, wanted):
    found = evaluate_several(store, **WISH, **options)
    assert spans(found) == wanted
    for (first, last), one in zip(wanted, found.windows, strict=True):
        alone = evaluate(store, refresh=True, **WISH, between=(first, last)).by_measure
        assert same(one.by_measure, {name: profiles.shortened(findings) for name, findings in alone.items()})


def test_the_table_has_a_line_for_each_window(store):
    found = evaluate_several(store, **WISH, windows=3)
    names = ["from", "to", "edges", *found.findings]
    assert "mean out-degree" in names
    assert "triangles" in names
    lines = str(found).splitlines()
    assert lines[0] == f"{store.path} in 3 windows of time"
    assert [line.split()[:2] for line in lines[2:]] == [[str(a), str(b)] for a, b in spans(found)]
    rows = list(csv.DictReader(io.StringIO(found.table("csv"))))
    assert list(rows[0]) == names
    for row, one in zip(rows, found.windows, strict=True):
        assert int(row["edges"]) == one.store.edges
        assert float(row["mean out-degree"]) == one.profile["mean out-degree"].value
    assert sum(int(row["edges"]) for row in rows) == store.edges
    assert found.table("latex").count("\\\\\n") == 4
    assert len(found.rows()) == sum(len(one.rows()) for one in found.windows)
    assert "3 windows of time" in repr(found)
    assert "<td>" in found._repr_html_()
    plain = json.loads(json.dumps(found.as_dict()))
    assert plain["measures"].keys() == {"degree", "triangles"}
    assert [(one["first"], one["last"]) for one in plain["windows"]] == spans(found)
    assert plain["windows"][0]["profile"]["triangles"]["value"] == found.windows[0].profile["triangles"].value


def test_a_graph_that_grows_begins_with_its_first_edge(store):
    found = evaluate_several(store, **WISH, windows=4, cumulative=True)
    assert found.shown.names[:2] == ["from", "to"]
    edges = [one.store.edges for one in found.windows]
    assert edges == sorted(edges)
    assert edges[-1] == store.edges
    assert [one["first"] for one in found.as_dict()["windows"]] == [-50] * 4
    assert [line.startswith("-50,") for line in found.table("csv").splitlines()[1:]] == [True] * 4


def test_a_window_is_kept_without_the_values_of_vertices(store, tmp_path, monkeypatch):
    calls, degree = [], measure.find("degree")
    inner = degree.findings
    monkeypatch.setattr(degree, "findings", lambda self, network: calls.append(1) or inner(self, network))

    def measured(**options):
        return evaluate_several(store, measures="degree", device="cpu", **options)

    found = measured(windows=3)
    for one in found.windows:
        column = one.profile["out-degree of vertices"]
        assert column.values.size == 0
        assert 0 <= column.ends[0] < column.ends[1]
        assert "_kept" not in vars(one.store)  # 8 bytes a vertex
        assert one.store.load().indices.size == one.store.edges  # which are counted again
    for file in (tmp_path / "cache").rglob("*.npz"):
        assert all(array.size < store.vertices for array in np.load(file).values())
    assert len(calls) == 3
    assert measured(windows=3).as_dict() == found.as_dict()
    assert len(calls) == 3
    first = measured(between=spans(found)[0])
    assert first.profile["out-degree of vertices"].values.size == store.vertices
    assert len(calls) == 4
    plain = first.as_dict()["profile"]
    assert plain == found.as_dict()["windows"][0]["profile"]
    assert plain["out-degree of vertices"]["max"] == first.store.max_degree
    assert measured(windows=3).as_dict() == found.as_dict()
    assert len(calls) == 4
    measured(windows=3, refresh=True)
    assert len(calls) == 7
    measured(between=spans(found)[0])  # what was found before the refresh is gone
    assert len(calls) == 8


def test_windows_of_dates_in_python():
    days = np.array(["2026-11-01T12", "2026-11-01T13", "2026-11-03T00"], "M8[s]")
    graph = csaw.graph([("a", "b"), ("b", "c"), ("a", "c")], time=days)
    said = []
    found = csaw.evaluate(graph, measures="degree", every="1d", progress=said.append)
    assert [row.split(",")[:3] for row in found.table("csv").splitlines()[1:]] == [
        ["2026-11-01T00:00:00Z", "2026-11-01T23:59:59Z", "2"],
        ["2026-11-02T00:00:00Z", "2026-11-02T23:59:59Z", "0"],
        ["2026-11-03T00:00:00Z", "2026-11-03T23:59:59Z", "1"],
    ]
    assert said[1].endswith(", window 2 of 3")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"windows": 0}, "windows: expected 1 to 10000, found 0"),
        ({"windows": 101}, "windows: expected at most 100, the number of times"),
        ({"windows": 2, "every": 5}, "windows: expected windows or every, found both"),
        ({"every": "5h"}, "every: expected a length of time, a number above 0 without decimals, found '5h'"),
        ({"every": 0}, "every: expected a length of time"),
        ({"every": 1, "between": (0, 10**6)}, "every: expected at most 10,000 windows, found 1,000,001"),
        ({"cumulative": True}, "cumulative: expected windows or every with it, found neither"),
        ({"windows": 2, "until": -51}, "until: expected a time not before the first, -50, found an earlier one"),
        ({"windows": 2, "until": 5, "between": (0, 5)}, "until: expected until or between, found both"),
        ({"windows": 2, "between": (5, 0)}, "the first not after the last"),
    ],
)
def test_what_are_no_windows_is_refused_in_words(store, options, said):
    with pytest.raises(OptionError, match=said):
        csaw.evaluate(store, **WISH, **options)


def test_what_cannot_have_windows_is_refused_in_words(tmp_path, store):
    events = events_store(tmp_path / "t.zarr", TIED, 5)
    with pytest.raises(OptionError, match="windows: expected only the graph, found 1 sample"):
        csaw.evaluate(events, csaw.sample(events, walk_length=2), windows=2)
    with pytest.raises(OptionError, match="windows: .*: expected times of the edges, found none"):
        csaw.evaluate("karate", windows=2)
    none = np.empty(0, np.int64)
    empty = write_graph(tmp_path / "e.zarr", np.zeros(3, int), none, directed=True, edge_columns={"time": none})
    with pytest.raises(OptionError, match="windows: .* has no edges and therefore no first time; give it with between"):
        csaw.evaluate(empty, windows=2)
    assert spans(csaw.evaluate(empty, windows=2, between=(0, 1), **WISH)) == [(0, 0), (1, 1)]
    with pytest.raises(
        OptionError,
        match="--windows cannot be combined with .*, because several windows are measured one after the other",
    ):
        plan(store, windows=2)
    with pytest.raises(OptionError, match="plot: expected one window"):
        csaw.evaluate(store, windows=2, **WISH).plot(tmp_path / "plots")
