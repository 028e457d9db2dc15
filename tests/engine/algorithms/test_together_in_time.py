"""Frontiers that select together in time, of labor and layer, follow the law that lists of events give."""

import numpy as np
import pytest
from helpers.copies_in_time import assert_pools_in_time, assert_shared_in_time, candidates, followed
from helpers.graphs import arrays_of, store_of
from helpers.neighbors_in_time import rows_in_order
from helpers.temporal import TIED, events_store, random_events

from csaw.engine import prepare
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError

CASES = {
    "root": {},
    "strict": {"time_order": "strict"},
    "window": {"time_window": 3},
    "previous": {"time_against": "previous"},
    "previous, strict window": {"time_against": "previous", "time_order": "strict", "time_window": 4},
}
GRAPHS = {"tied": (TIED, 5), "random": (random_events(6, 60, 7, span=8), 6)}
every_case = pytest.mark.parametrize("case", CASES)
every_graph = pytest.mark.parametrize("graph", GRAPHS)


def sources_of(events, vertices, count=36, seed=3):
    """Sources with times among and beyond those of the events; some are there twice, some vertices at two times."""
    rng, times = np.random.default_rng(seed), [time for *_, time in events]
    ids = np.repeat(rng.integers(0, vertices, count // 2), 2)
    return {"ids": ids, "time": rng.integers(min(times) - 2, max(times) + 3, ids.size)}


@pytest.mark.one_in(3)
@every_graph
@every_case
def test_labor_follows_the_law(tmp_path, case, graph):
    (events, vertices), options = GRAPHS[graph], {"time_strategy": "uniform"} | CASES[case]
    store, sizes = events_store(tmp_path / "g.zarr", events, vertices), (2, 1)
    given = {"sources": sources_of(events, vertices), "frontier_size": 3, "fanout": sizes, "instances": 6000}
    found = arrays_of(store, tmp_path / "s.zarr", "labor", **given, **options)
    assert assert_shared_in_time(found, events, vertices, sizes, options) > 100  # copies without an earlier edge


@every_graph
@every_case
def test_layers_follow_the_law(tmp_path, case, graph):
    (events, vertices), options = GRAPHS[graph], {"time_strategy": "uniform"} | CASES[case]
    store, sizes = events_store(tmp_path / "g.zarr", events, vertices), (2, 2, 2)
    given = {"sources": sources_of(events, vertices), "frontier_size": 3, "depth": 3, "neighbor_size": 2}
    found = arrays_of(store, tmp_path / "s.zarr", "layer", instances=6000, **given, **options)
    assert assert_pools_in_time(found, events, vertices, sizes, options) > 10


@pytest.mark.parametrize("fanout", [(-1, 10**9), (3, -1)])
@every_case
def test_all_earlier_edges_are_kept_where_all_are_asked_for(tmp_path, case, fanout):
    events, options = random_events(12, 150, 5, span=9), {"time_strategy": "uniform"} | CASES[case]
    store, sources = events_store(tmp_path / "g.zarr", events, 12), sources_of(events, 12)
    found = arrays_of(store, tmp_path / "s.zarr", "labor", sources=sources, frontier_size=4, fanout=fanout, **options)
    rows = rows_in_order(events, 12)
    for depth, frontier, _, edges in followed(found, 2, options):
        if fanout[depth] != 3:
            assert edges == candidates(frontier, rows, options)


def test_after_all_events_labor_keeps_the_edges_that_it_keeps_without_times(tmp_path):
    """A vertex has the same number in time: of the whole graph the same edges are kept."""
    store = events_store(tmp_path / "g.zarr", random_events(60, 900, 5), 60)
    given = {"frontier_size": 6, "fanout": (3, 2), "seed": 4}
    without = arrays_of(store, tmp_path / "s.zarr", "labor", **given)
    later = arrays_of(store, tmp_path / "t.zarr", "labor", time_strategy="uniform", start_time=2**62, **given)
    assert (without["instance_ptr"] == later["instance_ptr"]).all()
    instance = np.repeat(np.arange(without["instance_ptr"].size - 1), np.diff(without["instance_ptr"]))
    a, b = (np.stack([instance, *(one[name] for name in ("depth", "src", "dst"))]) for one in (without, later))
    assert (a[:, np.lexsort(a[::-1])] == b[:, np.lexsort(b[::-1])]).all()
    assert (later["src_time"] == 2**62).all()


def test_copies_of_a_vertex_decide_by_one_number(tmp_path):
    """At 4 vertex 0 has four edges, at 2 two of these: whatever the copy at 4 keeps of the two, that at 2 keeps."""
    events, many = [(0, v, v) for v in range(1, 5)], 4000
    store = events_store(tmp_path / "g.zarr", events, 5)
    given = {"ids": np.zeros(2 * many, int), "time": np.tile([4, 2], many)}
    found = arrays_of(store, tmp_path / "s.zarr", "labor", sources=given, frontier_size=2, fanout=(1,), **UNIFORM)
    kept = {}
    for number, (_, _, _, edges) in enumerate(followed(found, 1, UNIFORM)):
        late, early = ({dst for (_, known), dst, _ in edges if known == now} for now in (4, 2))
        assert late & {1, 2} <= early
        kept[number] = len(late), len(early)
    assert abs(np.mean([late for late, _ in kept.values()]) - 1.0) < 0.1
    assert abs(np.mean([early for _, early in kept.values()]) - 1.0) < 0.1


def test_edges_of_a_copy_to_one_vertex_are_kept_together(tmp_path):
    events = [(0, 1, 1), (0, 1, 2), (0, 1, 2), (0, 2, 3), (0, 1, 9)]
    store = events_store(tmp_path / "g.zarr", events, 3)
    found = arrays_of(
        store, tmp_path / "s.zarr", "labor", sources=[0], instances=500, start_time=5, fanout=(1,), **UNIFORM
    )
    times = [tuple(time for _, _, time in edges) for *_, edges in followed(found, 1, UNIFORM)]
    assert set(times) == {(), (3,), (1, 2, 2), (1, 2, 2, 3)}


def test_a_copy_enters_a_layer_once(tmp_path):
    """Vertex 1 enters at both times that lead to it, and neither comes back."""
    events = [(0, 1, 1), (0, 1, 3), (1, 0, 1), (1, 2, 2), (2, 0, 1)]
    store, given = events_store(tmp_path / "g.zarr", events, 3), {"neighbor_size": 9, "depth": None, "sources": [0]}
    root = arrays_of(store, tmp_path / "s.zarr", "layer", start_time=5, **given, **UNIFORM)
    assert root["dst"].tolist().count(1) == 2  # both edges, of one copy that enters once
    assert sorted(zip(root["src"].tolist(), root["dst"].tolist(), strict=True)) == [(0, 1), (0, 1), (1, 2)]
    fall = arrays_of(store, tmp_path / "s.zarr", "layer", start_time=5, time_against="previous", **given, **UNIFORM)
    columns = (fall[name].tolist() for name in ("src", "src_time", "dst", "time"))
    assert sorted(zip(*columns, strict=True)) == [
        (0, 5, 1, 1),
        (0, 5, 1, 3),
        (1, 1, 0, 1),
        (1, 3, 0, 1),
        (1, 3, 2, 2),
    ]


def test_a_layer_ends_at_a_total_of_copies(tmp_path):
    events = random_events(30, 900, 5)
    store = events_store(tmp_path / "g.zarr", events, 30)
    given = {"sources": sources_of(events, 30), "frontier_size": 2, "depth": None, "neighbor_size": 2, "total": 9}
    found = arrays_of(store, tmp_path / "s.zarr", "layer", **given, **UNIFORM)
    for i in range(found["instance_ptr"].size - 1):
        span, met = (
            slice(*found["instance_ptr"][i : i + 2]),
            set(
                zip(
                    found["sources"][2 * i : 2 * i + 2].tolist(),
                    found["seed_time"][2 * i : 2 * i + 2].tolist(),
                    strict=True,
                )
            ),
        )
        rows = [found[name][span].tolist() for name in ("depth", "dst", "src_time")]
        for level in range(max(rows[0], default=-1) + 1):
            assert len(met) < 9
            met |= {(dst, known) for depth, dst, known in zip(*rows, strict=True) if depth == level}


def test_times_at_the_ends_of_64_bits(tmp_path):
    least, largest = -(2**63), 2**63 - 1
    events = [(0, 1, least), (0, 2, largest), (0, 3, 0), (1, 2, least)]
    store, rows = events_store(tmp_path / "g.zarr", events, 4), rows_in_order(events, 4)
    for now in (least + 1, least + 2, 0, largest):
        for more in ({}, {"time_order": "strict"}, {"time_window": 2**63 - 1}, {"time_window": 0}):
            options, sources = UNIFORM | more, {"ids": [0, 1], "time": [now, now]}
            found = arrays_of(
                store, tmp_path / "s.zarr", "labor", sources=sources, frontier_size=2, fanout=(9, 9), **options
            )
            for _, frontier, _, edges in followed(found, 2, options):
                assert edges == candidates(frontier, rows, options)


UNIFORM = {"time_strategy": "uniform"}
BESIDE = UNIFORM | {"start_time": 3}


@pytest.mark.parametrize(
    ("algo", "options", "said"),
    [
        ("labor", UNIFORM, "--time-strategy: expected a time for each source, found none"),
        (
            "labor",
            {"time_strategy": "last", "start_time": 3},
            "last: expected uniform for labor, .* need no shared number; neighbor",
        ),
        (
            "layer",
            {"time_strategy": "last", "start_time": 3},
            "last: expected uniform for layer, .* have no order; neighbor selects",
        ),
        ("labor", {"time_against": "previous"}, "--time-against: expected --time-strategy"),
        ("layer", {"start_time": 3}, "--start-time: expected --time-strategy"),
        ("labor", BESIDE | {"induced": True}, "--induced and --time-strategy exclude each other"),
        ("labor", BESIDE | {"target": 3}, "--target: labor cannot be repeated"),
        ("layer", BESIDE | {"target": 3}, "--target: layer cannot be repeated"),
        ("layer", BESIDE | {"unique": True}, "--time-strategy and --unique exclude each other"),
        ("layer", BESIDE | {"bias": "degree"}, "expected edges that are equally likely, .* pass --bias=none"),
        ("labor", BESIDE | {"edge_bias": "e.dst + 1"}, "expected edges that are equally likely"),
        ("labor", BESIDE | {"select": "uniform"}, "--select uniform cannot draw labor with --time-strategy"),
    ],
)
def test_options_at_odds_are_refused(tmp_path, algo, options, said):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    with pytest.raises(OptionError, match=said):
        prepare(store, algo, **options)


@pytest.mark.parametrize("algo", ["labor", "layer"])
def test_a_graph_needs_times(tmp_path, algo):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1)], directed=True, vertices=2)
    with pytest.raises(OptionError, match=f"expected times of the edges for {algo}, found none"):
        prepare(store, algo, weighted=False, **BESIDE)


OWN = """
from csaw.engine.algorithm import InTime, Traversal, against_option

class Shared(InTime, Traversal):
    shares_draws = True
    visited_once = False
    frontier_size = 3
    time_against: str = against_option()

    def edge_bias(self, e):
        return 2.0

    def sizes(self):
        return (2, 1)

class Pool(InTime, Traversal):
    collective = True
    visited_once = False
    frontier_size = 3

    def edge_bias(self, e):
        return 1.0

    def sizes(self):
        return (2, -1)
"""


def test_classes_of_ones_own_select_together_in_time(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    store, sources = events_store(tmp_path / "g.zarr", TIED, 5), sources_of(TIED, 5)
    given, options = {"sources": sources, "instances": 2000}, UNIFORM | {"time_against": "previous"}
    found = arrays_of(store, tmp_path / "s.zarr", f"{tmp_path / 'mine.py'}:Shared", **given, **options)
    assert_shared_in_time(found, TIED, 5, (2, 1), options)
    found = arrays_of(store, tmp_path / "t.zarr", f"{tmp_path / 'mine.py'}:Pool", **given, **UNIFORM)
    rows = rows_in_order(TIED, 5)
    for depth, frontier, _, edges in followed(found, 2, UNIFORM):
        may = candidates(frontier, rows, UNIFORM)
        assert len(edges) == (min(2, len(may)) if depth == 0 else len(may))
    for name in ("Shared", "Pool"):
        with pytest.raises(OptionError, match="--time-strategy last: expected uniform for"):
            prepare(store, f"{tmp_path / 'mine.py'}:{name}", time_strategy="last", start_time=3)
    assert verify(tmp_path / "t.zarr", algo=f"{tmp_path / 'mine.py'}:Pool").ok
    assert verify(tmp_path / "s.zarr", algo=f"{tmp_path / 'mine.py'}:Shared").ok
