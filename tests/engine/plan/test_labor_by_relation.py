"""Fanouts by relation of labor: the law by enumeration, the same bytes wherever it is drawn, and what verify finds."""

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from helpers.graphs import arrays_of
from helpers.invariance import assert_request_decides, assert_same
from helpers.relations import (
    FANOUT,
    SEEDS,
    exported,
    graph_in_time,
    no_relation,
    other_relation,
    other_target,
    partitioned,
)
from helpers.remade import remade
from helpers.stats import assert_drawn_from

import csaw
from csaw.engine.batches.in_time import SharedDrawsByRelationInTime
from csaw.engine.batches.relations import SharedDrawsByRelation, sizes_of_relations
from csaw.partition.errors import OptionError
from csaw.partition.graph.types import RELATION

QUIET = {"device": "cpu", "progress": False}
LABOR = {"fanout": FANOUT, "sources": "type:b", "frontier_size": 20, "instances": 90}


def drawn_sets(sample):
    """How often each set of edges was drawn, by names."""
    names, bounds = sample.names, sample["instance_ptr"][:]
    rows = list(zip(names(sample.src[:]), names(sample.dst[:]), sample["relation"][:].tolist(), strict=True))
    return Counter(frozenset(rows[a:b]) for a, b in pairwise(bounds))


def law_of(edges, fanouts):
    """The chance of each set of edges (src, dst, relation), by enumeration: each end has a number of [0, 1), which
    falls between the chances of the edges to it.
    """
    degree = Counter((src, relation) for src, _, relation in edges)
    chance = {edge: min(1.0, fanouts[edge[2]] / degree[edge[0], edge[2]]) for edge in edges}
    of_ends = []
    for end in sorted({dst for _, dst, _ in edges}):
        marks = sorted({0.0, 1.0, *(chance[edge] for edge in edges if edge[1] == end)})
        of_ends.append(
            [
                (high - low, frozenset(edge for edge in edges if edge[1] == end and chance[edge] >= high))
                for low, high in pairwise(marks)
            ]
        )
    law = Counter()
    for parts in product(*of_ends):
        law[frozenset().union(*(kept for _, kept in parts))] += np.prod([share for share, _ in parts])
    return law


def test_relations_share_the_number_of_a_vertex_and_have_degrees_of_their_own(tmp_path):
    """P0 has three authors by one relation and two of them by another, P1 two of them: 1/3, 1/2, and 1/2."""
    files = {"paper-by-author": "0 0\n0 1\n0 2\n1 0\n1 1\n", "paper-of-author": "0 0\n0 1\n"}
    store = partitioned(tmp_path, files)
    options = {"fanout": {"by": (1,), "of": (1,)}, "sources": ["paper:0", "paper:1"] * 8000, "frontier_size": 2}
    sample = csaw.sample(store, algo="labor", **QUIET | options)
    edges = [(f"paper:{p}", f"author:{a}", 0) for p, a in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))]
    edges += [("paper:0", f"author:{a}", 1) for a in (0, 1)]
    law, found = law_of(edges, {0: 1, 1: 1}), drawn_sets(sample)
    assert found.keys() <= law.keys()
    assert len(law) == 3 * 3 * 2
    assert_drawn_from([found[one] for one in law], list(law.values()))


def test_minus_one_keeps_all_edges_of_a_relation_and_zero_none(tmp_path):
    files = {"a-r-b": "0 0\n0 1\n0 2\n", "a-s-b": "0 1\n0 2\n", "a-t-b": "0 0\n"}
    store, options = partitioned(tmp_path, files), {"sources": ["a:0"] * 500, "frontier_size": 1}
    found = drawn_sets(csaw.sample(store, algo="labor", fanout={"r": (-1,), "s": (0,)}, **QUIET | options))
    assert found == {frozenset(("a:0", f"b:{b}", 0) for b in range(3)): 500}


def test_one_relation_alone_gives_the_sample_of_a_graph_without_types(tmp_path, store):
    rows = "".join(f"{v} {(v * k + 7 * k) % 60}\n" for v in range(60) for k in range(1, 12))
    one, options = partitioned(tmp_path, {"x-r-x": rows}), {"frontier_size": 6, "seed": 3}
    plain = arrays_of(one, tmp_path / "s.zarr", "labor", fanout=(4, 3), **options)
    found = arrays_of(one, tmp_path / "t.zarr", "labor", fanout={"r": (4, 3)}, **options)
    assert (found.pop("relation") == 0).all()
    assert_same(plain, found)


def test_the_request_decides_the_bytes(tmp_path, store, pieces):
    assert_request_decides(store, pieces, tmp_path / "s.zarr", "labor", **LABOR)
    expected = arrays_of(store, tmp_path / "s.zarr", "labor", **LABOR)
    assert "relation" in expected
    for in_place in (True, False):
        how = {"residency": "disk", "in_flight": 7, "in_place": in_place}
        assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "labor", **LABOR | how))


def test_samples_streams_and_virtual_samples_are_the_same(tmp_path, store):
    kept = csaw.sample(store.path, tmp_path / "s.zarr", "labor", **QUIET | LABOR)
    virtual = csaw.sample(store.path, tmp_path / "v.zarr", "labor", virtual=True, **QUIET | LABOR)
    with csaw.stream(store.path, algo="labor", device="cpu", **LABOR) as stream:
        parts = [batch.arrays() for batch in stream]
    for name in ("src", "dst", "depth", "relation", "sources"):
        assert np.array_equal(kept[name][:], virtual[name][:]), name
        assert np.array_equal(kept[name][:], np.concatenate([part[name] for part in parts]).astype(kept[name].dtype))
    assert csaw.verify(tmp_path / "v.zarr").ok


@pytest.mark.parametrize("fanout", [FANOUT, {"*": (2, 2)}, {"to_c": (1, 1), "b-to_b-b": (3, 1)}])
def test_verify_finds_no_fault(tmp_path, store, fanout):
    options = LABOR | {"fanout": fanout, "instances": 200}
    csaw.sample(store, tmp_path / "s.zarr", algo="labor", **QUIET | options)
    report = csaw.verify(tmp_path / "s.zarr")
    assert report.ok, report
    assert any(check.p_value is not None for check in report.checks)


def test_exports_have_the_relation_of_each_edge(tmp_path, store):
    sample = csaw.sample(store, algo="labor", **QUIET | LABOR | {"instances": 3})
    names, graph = sample.names(np.arange(store.vertices)), store.load([RELATION])
    source = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    known = set(zip(names[source], names[graph.indices], graph.columns["relation"].tolist(), strict=True))
    rows = exported(sample, tmp_path, store.types)
    assert set(rows[["src", "dst", "relation"]].itertuples(index=False, name=None)) <= known


@pytest.mark.parametrize("fault", [other_relation, no_relation, other_target])
def test_wrong_samples_are_found(tmp_path, store, fault):
    csaw.sample(store, tmp_path / "s.zarr", algo="labor", ids="dense", **QUIET | LABOR)
    remade(tmp_path / "s.zarr", tmp_path / "t.zarr", fault)
    wrong = {one.name for one in csaw.verify(tmp_path / "t.zarr").checks if not one.ok}
    assert wrong & {"thresholds", "edges"}
    remade(tmp_path / "s.zarr", tmp_path / "u.zarr", lambda arrays: arrays.pop("relation") is None or arrays)
    assert "request" in {one.name for one in csaw.verify(tmp_path / "u.zarr").checks if not one.ok}


def with_numbers_of_their_own(self, entries):
    """Select by numbers that a vertex has for each relation."""
    for relation in range(len(self.shifts)):
        some = entries[self.relation[entries] == relation]
        size = int(sizes_of_relations(self.algorithm)[self.depth][relation])
        at = self.depth + 100 * relation
        self.backend.select_shared(self.instance, self.vertex, self.start, some, at, size, self.out)


def with_all_degrees(self, entries):
    """Select the edges of each relation with the fanout of the first."""
    size = int(sizes_of_relations(self.algorithm)[self.depth][0])
    self.backend.select_shared(self.instance, self.vertex, self.start, entries, self.depth, size, self.out)


@pytest.mark.parametrize("wrong", [with_numbers_of_their_own, with_all_degrees])
def test_a_wrong_law_is_found(tmp_path, store, monkeypatch, wrong):
    with monkeypatch.context() as during:
        during.setattr(SharedDrawsByRelation, "_select", wrong)
        csaw.sample(store, tmp_path / "s.zarr", algo="labor", **QUIET | LABOR)
    assert "thresholds" in {one.name for one in csaw.verify(tmp_path / "s.zarr").checks if not one.ok}


REFUSED = [
    ({"induced": True}, "induced and fanouts by relation exclude each other"),
    ({"target": "50%"}, "target"),
    ({"metapath": "b,c"}, "metapath"),
    ({"fanout": {"nothing": (1,)}}, "no relation is called 'nothing'"),
    ({"fanout": {"to_c": (-2,)}}, "fanout"),
    ({"time_strategy": "last", "start_time": 5}, "time_strategy"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_cannot_be_is_refused(tmp_path, store, options, said):
    graph = graph_in_time(tmp_path) if "time_strategy" in options else store
    with pytest.raises(OptionError, match=said):
        csaw.sample(graph, algo="labor", **QUIET | {"fanout": {"to_c": (1,)}} | options)


# In time.

IN_TIME = {"fanout": FANOUT, "sources": SEEDS, "frontier_size": 20, "instances": 90, "time_strategy": "uniform"}
RULES = {
    "root": {},
    "previous": {"time_against": "previous"},
    "strict, window": {"time_order": "strict", "time_window": 20},
}


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    return graph_in_time(tmp_path_factory.mktemp("timed"))


def test_in_time_copies_share_the_number_of_a_vertex_and_have_edges_of_their_own(tmp_path):
    """At 9 P0 has three authors by one relation and two by another, and at 2 two and one of these."""
    header = "source,target,time\n"
    files = {"paper-by-author": f"{header}0,0,1\n0,1,2\n0,2,3\n0,3,10\n", "paper-of-author": f"{header}0,0,2\n0,1,5\n"}
    store = partitioned(tmp_path, files, time_column="time")
    given = {"sources": {"ids": ["paper:0"] * 16000, "time": [9, 2] * 8000}, "frontier_size": 2}
    sample = csaw.sample(store, algo="labor", fanout={"*": (1,)}, time_strategy="uniform", **QUIET | given)
    events = [(0, author, 0, time) for author, time in ((0, 1), (1, 2), (2, 3), (3, 10))] + [(0, 0, 1, 2), (0, 1, 1, 5)]
    edges = [((now, src), f"author:{dst}", kind) for now in (9, 2) for src, dst, kind, time in events if time <= now]
    law, found, bounds = law_of(edges, {0: 1, 1: 1}), Counter(), sample["instance_ptr"][:]
    columns = sample["src_time"][:].tolist(), sample.names(sample["dst"][:]), sample["relation"][:].tolist()
    rows = [((now, 0), dst, kind) for now, dst, kind in zip(*columns, strict=True)]
    found = Counter(frozenset(rows[a:b]) for a, b in pairwise(bounds))
    assert found.keys() <= law.keys()
    assert_drawn_from([found[one] for one in law], list(law.values()))


@pytest.mark.parametrize("how", RULES)
def test_in_time_the_request_decides_the_bytes(tmp_path, timed, how):
    pieces, options = graph_in_time(tmp_path, partitions=4), IN_TIME | RULES[how]
    assert_request_decides(timed, pieces, tmp_path / "s.zarr", "labor", **options)
    expected = arrays_of(timed, tmp_path / "s.zarr", "labor", **options)
    assert {"relation", "time", "src_time", "dst_time", "seed_time"} <= expected.keys()
    assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "labor", residency="disk", in_flight=7, **options))


@pytest.mark.parametrize("how", RULES)
def test_in_time_verify_proves_that_no_edge_is_later(tmp_path, timed, how):
    csaw.sample(timed, tmp_path / "s.zarr", algo="labor", **QUIET | IN_TIME | RULES[how])
    sample = csaw.open_samples(tmp_path / "s.zarr")
    assert (sample["time"][:] <= sample["src_time"][:]).all()
    report = csaw.verify(tmp_path / "s.zarr")
    assert report.ok, report
    assert any(check.p_value is not None for check in report.checks)


def test_after_all_events_labor_keeps_the_edges_that_it_keeps_without_times(tmp_path, timed):
    given = {"fanout": FANOUT, "sources": "type:b", "frontier_size": 20, "seed": 4}
    without = arrays_of(timed, tmp_path / "s.zarr", "labor", **given)
    later = arrays_of(timed, tmp_path / "t.zarr", "labor", time_strategy="uniform", start_time=2**62, **given)
    assert (without["instance_ptr"] == later["instance_ptr"]).all()
    instance = np.repeat(np.arange(without["instance_ptr"].size - 1), np.diff(without["instance_ptr"]))
    named = ("depth", "src", "dst", "relation")
    a, b = (np.stack([instance, *(one[name] for name in named)]) for one in (without, later))
    assert (a[:, np.lexsort(a[::-1])] == b[:, np.lexsort(b[::-1])]).all()


def test_in_time_streams_virtual_samples_and_exports_have_relations_and_times(tmp_path, timed):
    kept = csaw.sample(timed.path, tmp_path / "s.zarr", "labor", **QUIET | IN_TIME)
    virtual = csaw.sample(timed.path, tmp_path / "v.zarr", "labor", virtual=True, **QUIET | IN_TIME)
    for name in ("src", "dst", "relation", "time", "src_time"):
        assert np.array_equal(kept[name][:], virtual[name][:]), name
    rows = exported(kept, tmp_path, timed.types)
    assert rows["relation"].astype(int).tolist() == kept["relation"][:].tolist()
    assert rows["time"].astype(int).tolist() == kept["time"][:].tolist()


def later(arrays):
    """An edge of a time after the one that its vertex knows."""
    arrays["time"][arrays["time"] < arrays["src_time"]] = 49
    return arrays


@pytest.mark.parametrize("fault", [other_relation, no_relation, other_target, later])
def test_wrong_samples_in_time_are_found(tmp_path, timed, fault):
    csaw.sample(timed, tmp_path / "s.zarr", algo="labor", ids="dense", **QUIET | IN_TIME)
    remade(tmp_path / "s.zarr", tmp_path / "t.zarr", fault)
    assert {one.name for one in csaw.verify(tmp_path / "t.zarr").checks if not one.ok} & {"sources", "edges", "order"}


def in_time_of_the_first(self):
    """The fanout of the first relation for all."""
    return int(sizes_of_relations(self.algorithm)[self.depth][0])


def test_a_wrong_law_in_time_is_found(tmp_path, timed, monkeypatch):
    with monkeypatch.context() as during:
        during.setattr(SharedDrawsByRelationInTime, "_asked", in_time_of_the_first)
        csaw.sample(timed, tmp_path / "s.zarr", algo="labor", **QUIET | IN_TIME)
    assert "thresholds" in {one.name for one in csaw.verify(tmp_path / "s.zarr").checks if not one.ok}
