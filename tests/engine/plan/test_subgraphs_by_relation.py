"""Neighbors by relation of which a vertex may select any number: all of a relation, or each vertex once at a hop. The
law by enumeration, the same bytes wherever it is drawn, and what verify finds.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from helpers.graphs import arrays_of
from helpers.invariance import assert_request_decides, assert_same
from helpers.relations import (
    FANOUT,
    SEEDS,
    WAYS_OF_SUBGRAPHS,
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
from csaw.engine.batches.collective import UniqueByRelation
from csaw.engine.batches.relations import SubgraphsByRelation
from csaw.partition.graph.types import RELATION

QUIET = {"device": "cpu", "progress": False}
every_way = pytest.mark.parametrize("how", WAYS_OF_SUBGRAPHS)
IN_TIME = {"fanout": FANOUT, "sources": SEEDS, "time_strategy": "uniform"}


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    return graph_in_time(tmp_path_factory.mktemp("timed"))


def drawn(sample):
    """How often each list of edges was drawn, in their order, by names."""
    bounds = sample["instance_ptr"][:]
    columns = sample.names(sample["src"][:]), sample.names(sample["dst"][:]), sample["relation"][:].tolist()
    rows = list(zip(*columns, sample["depth"][:].tolist(), strict=True))
    return Counter(tuple(rows[a:b]) for a, b in pairwise(bounds))


def law_of_hop(edges, fanouts, taken=()):
    """The chance of each list of edges of a hop with different ends, by enumeration: src, dst, relation and bias."""
    room = {(src, relation): fanouts[relation] for src, _, relation, _ in edges}
    room.update((row, room[row] - count) for row, count in Counter((src, of) for src, _, of, _ in taken).items())
    ends = {dst for _, dst, _, _ in taken}
    able = [one for one in edges if one[1] not in ends and room[one[0], one[2]] != 0]
    if not able:
        return Counter({tuple(taken): 1.0})
    total, law = sum(bias for *_, bias in able), Counter()
    for one in able:
        for outcome, chance in law_of_hop(edges, fanouts, (*taken, one)).items():
            law[outcome] += chance * one[3] / total
    return law


@pytest.mark.parametrize("fanout", [{"by": 1, "of": 1}, {"by": 2, "of": 1}, {"by": -1, "of": 1}])
@pytest.mark.parametrize("weighted", [False, True])
def test_different_vertices_are_drawn_edge_by_edge_from_all_relations(tmp_path, fanout, weighted):
    """Of two papers that share authors, each has room for so many of each relation; edges of all arrive together."""
    files = {"paper-by-author": "0 0 1\n0 1 3\n1 0 2\n1 2 1\n", "paper-of-author": "0 0 4\n0 2 1\n"}
    store = partitioned(tmp_path, {"venue-has-paper": "0 0 1\n0 1 1\n"} | files)
    number = {one.name: k for k, one in enumerate(store.types.relations)}
    edges = [
        (f"paper:{row[0]}", f"author:{row[2]}", number[relation.split("-")[1]], float(row[4]) if weighted else 1.0)
        for relation, rows in files.items()
        for row in rows.split("\n")[:-1]
    ]
    law = law_of_hop(edges, {number[name]: size for name, size in fanout.items()})
    sizes = {name: (0, size) for name, size in fanout.items()} | {"has": (-1, 0)}
    given = {"sources": ["venue:0"] * 12000, "unique": True, "weighted": weighted}
    found = Counter()
    for outcome, count in drawn(csaw.sample(store, algo="neighbor", fanout=sizes, **QUIET | given)).items():
        assert {edge[1] for edge in outcome[:2]} == {"paper:0", "paper:1"}
        found[outcome[2:]] += count
    named = {tuple((src, dst, of, 1) for src, dst, of, _ in outcome): chance for outcome, chance in law.items()}
    assert found.keys() <= named.keys()
    assert_drawn_from([found[one] for one in named], list(named.values()))


def test_all_of_a_relation_come_beside_some_of_another(tmp_path):
    """P0 has both authors always and one of three venues; each author then selects one of two papers, by itself."""
    files = {
        "paper-by-author": "0 0\n0 1\n",
        "paper-in-venue": "0 0\n0 1\n0 2\n",
        "author-wrote-paper": "0 0\n0 1\n1 0\n1 2\n",
    }
    store, fanout = partitioned(tmp_path, files), {"by": (-1, 0), "in": (1, 0), "wrote": (0, 1)}
    found = drawn(csaw.sample(store, algo="neighbor", fanout=fanout, sources=["paper:0"] * 12000, **QUIET))
    number = {str(one): k for k, one in enumerate(store.types.relations)}
    by, to, wrote = (number[name] for name in ("paper-by-author", "paper-in-venue", "author-wrote-paper"))
    outcomes = []
    for venue in range(3):
        first = [("paper:0", f"author:{a}", by, 0) for a in (0, 1)] + [("paper:0", f"venue:{venue}", to, 0)]
        for one in (0, 1):
            for other in (0, 2):
                second = [("author:0", f"paper:{one}", wrote, 1), ("author:1", f"paper:{other}", wrote, 1)]
                outcomes.append((*sorted(first, key=lambda edge: edge[2]), *second))
    assert set(found) == set(outcomes)
    assert_drawn_from([found[one] for one in outcomes], [1 / 12] * 12)


def test_minus_one_selects_what_a_fanout_above_all_degrees_does(tmp_path, store):
    options = {"sources": "type:a", "weighted": False}
    every = arrays_of(store, tmp_path / "a.zarr", "neighbor", fanout={"a-to_b-b": (-1,)}, **options)
    many = arrays_of(store, tmp_path / "b.zarr", "neighbor", fanout={"a-to_b-b": (60,)}, **options)
    rows = [sorted(row[row >= 0].tolist()) for row in many["hop_1"]]
    assert [sorted(every["dst"][a:b].tolist()) for a, b in pairwise(every["instance_ptr"])] == rows


@pytest.mark.parametrize("options", [{"fanout": (-1, 2)}, {"fanout": (3, 2), "unique": True}])
def test_one_relation_alone_gives_the_sample_of_a_graph_without_types(tmp_path, options):
    rows = "".join(f"{v} {(v * k + 7 * k) % 60}\n" for v in range(60) for k in range(1, 12))
    one = partitioned(tmp_path, {"x-r-x": rows})
    plain = arrays_of(one, tmp_path / "s.zarr", "neighbor", seed=3, **options)
    found = arrays_of(one, tmp_path / "t.zarr", "neighbor", seed=3, **options | {"fanout": {"r": options["fanout"]}})
    assert (found.pop("relation") == 0).all()
    assert_same(plain, found)


@every_way
def test_the_request_decides_the_bytes(tmp_path, store, pieces, how):
    options = {"sources": "type:b", "instances": 300} | WAYS_OF_SUBGRAPHS[how]
    assert_request_decides(store, pieces, tmp_path / "s.zarr", "neighbor", **options)
    expected = arrays_of(store, tmp_path / "s.zarr", "neighbor", **options)
    assert {"relation", "src", "dst"} <= expected.keys()
    for in_place in (True, False):
        disk = {"residency": "disk", "in_flight": 7, "in_place": in_place}
        assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "neighbor", **options | disk))


@pytest.mark.parametrize("more", [{}, {"time_against": "previous"}, {"time_order": "strict", "time_window": 20}])
def test_in_time_the_request_decides_the_bytes(tmp_path, timed, more):
    pieces, options = graph_in_time(tmp_path, partitions=4), IN_TIME | more
    assert_request_decides(timed, pieces, tmp_path / "s.zarr", "neighbor", **options)
    expected = arrays_of(timed, tmp_path / "s.zarr", "neighbor", **options)
    assert {"relation", "time", "seed_time"} <= expected.keys()
    assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "neighbor", residency="disk", in_flight=7, **options))
    csaw.sample(timed, tmp_path / "v.zarr", algo="neighbor", **QUIET | options)
    report = csaw.verify(tmp_path / "v.zarr")
    assert report.ok, report
    assert any(check.p_value is not None for check in report.checks)


def test_in_time_all_earlier_edges_of_a_relation_are_selected(tmp_path, timed):
    fanout = {"b-rev_to_b-a": (-1,), "b-to_b-b": (-1,)}
    found = arrays_of(timed, tmp_path / "s.zarr", "neighbor", **IN_TIME | {"fanout": fanout})
    held = timed.load([column for column in timed.edge_columns if column.name in ("time", "relation")])
    asked = [k for k, one in enumerate(timed.types.relations) if str(one) in fanout]
    for number, (a, b) in enumerate(pairwise(found["instance_ptr"])):
        source, now = found["sources"][number], found["seed_time"][number]
        row = slice(*held.indptr[source : source + 2])
        may = np.isin(held.columns["relation"][row], asked) & (held.columns["time"][row] <= now)
        columns = held.indices[row][may], held.columns["relation"][row][may], held.columns["time"][row][may]
        drawn_here = (found[name][a:b].tolist() for name in ("dst", "relation", "time"))
        assert sorted(zip(*drawn_here, strict=True)) == sorted(zip(*(one.tolist() for one in columns), strict=True))


@every_way
def test_verify_finds_no_fault(tmp_path, store, how):
    csaw.sample(store, tmp_path / "s.zarr", algo="neighbor", **QUIET | {"sources": "type:b"} | WAYS_OF_SUBGRAPHS[how])
    report = csaw.verify(tmp_path / "s.zarr")
    assert report.ok, report
    assert any(check.p_value is not None for check in report.checks)


def test_all_vertices_are_sources_in_turn(tmp_path, store):
    csaw.sample(store, tmp_path / "s.zarr", algo="neighbor", fanout={"*": (-1,)}, **QUIET)
    assert csaw.verify(tmp_path / "s.zarr").ok


@every_way
def test_streams_virtual_samples_and_exports_have_relations(tmp_path, store, how):
    options = {"sources": "type:b", "instances": 40} | WAYS_OF_SUBGRAPHS[how]
    kept = csaw.sample(store.path, tmp_path / "s.zarr", "neighbor", **QUIET | options)
    virtual = csaw.sample(store.path, tmp_path / "v.zarr", "neighbor", virtual=True, **QUIET | options)
    for name in ("src", "dst", "relation", "depth"):
        assert np.array_equal(kept[name][:], virtual[name][:]), name
    graph, names = store.load([RELATION]), kept.names(np.arange(store.vertices))
    source = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    known = set(zip(names[source], names[graph.indices], graph.columns["relation"].tolist(), strict=True))
    rows = exported(kept, tmp_path, store.types)
    assert set(rows[["src", "dst", "relation"]].itertuples(index=False, name=None)) <= known


@pytest.mark.parametrize("fault", [other_relation, no_relation, other_target])
@pytest.mark.parametrize("how", ["all", "unique", "in time"])
def test_wrong_samples_are_found(tmp_path, store, timed, how, fault):
    graph, options = (timed, IN_TIME) if how == "in time" else (store, {"sources": "type:b"} | WAYS_OF_SUBGRAPHS[how])
    csaw.sample(graph, tmp_path / "s.zarr", algo="neighbor", ids="dense", **QUIET | options)
    remade(tmp_path / "s.zarr", tmp_path / "t.zarr", fault)
    assert {one.name for one in csaw.verify(tmp_path / "t.zarr").checks if not one.ok} & {"edges", "sizes", "sources"}


def one_less(self, size):
    """As many edges as are asked for, less one of each row."""
    return np.maximum(CAPACITIES(self, size) - 1, 0)


CAPACITIES = SubgraphsByRelation._capacities


def room_of_a_vertex(self, size):
    """Room for one edge of each relation, whatever was asked for."""
    found = np.where(CAPACITIES(self, size) > 0, self.degree, 0)
    self.room = np.minimum(found, 1)
    return found


@pytest.mark.parametrize(
    ("how", "kind", "wrong"), [("all", SubgraphsByRelation, one_less), ("unique", UniqueByRelation, room_of_a_vertex)]
)
def test_a_wrong_law_is_found(tmp_path, store, monkeypatch, how, kind, wrong):
    with monkeypatch.context() as during:
        during.setattr(kind, "_capacities", wrong)
        options = {"sources": "type:b"} | WAYS_OF_SUBGRAPHS[how]
        csaw.sample(store, tmp_path / "s.zarr", algo="neighbor", **QUIET | options)
    assert {one.name for one in csaw.verify(tmp_path / "s.zarr").checks if not one.ok} & {"sizes", "top-up"}


def test_what_makes_no_sense_is_refused(timed, store):
    with pytest.raises(csaw.CsawError, match="replace: expected fanouts of at least 0, found -1"):
        csaw.sample(store, algo="neighbor", fanout={"to_c": (-1,)}, replace=True, **QUIET)
    with pytest.raises(csaw.CsawError, match="unique exclude each other"):
        csaw.sample(timed, algo="neighbor", unique=True, **QUIET | IN_TIME)
    with pytest.raises(csaw.CsawError, match="relation"):
        csaw.sample(timed, algo="neighbor", fanout={"nothing": (-1,)}, **QUIET | {"sources": SEEDS["ids"]})
