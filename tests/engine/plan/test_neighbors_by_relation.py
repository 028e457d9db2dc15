"""Fanouts by relation of neighbor samples: the law by counting, the same bytes wherever it is drawn, and what verify
finds.
"""

import json
from collections import Counter

import numpy as np
import pandas
import pytest
from helpers.faults import plant
from helpers.graphs import arrays_of
from helpers.invariance import assert_request_decides, assert_same
from helpers.machine import need_package
from helpers.relations import FIXED, SEEDS, TIMED_HOPS, WAYS_OF_HOPS, graph_in_time, partitioned
from helpers.remade import remade
from helpers.stats import assert_drawn_from

import csaw
from csaw.partition.errors import OptionError
from csaw.partition.graph.types import RELATION

QUIET = {"device": "cpu", "progress": False}


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("timed")
    (folder / "pieces").mkdir()
    return graph_in_time(folder), graph_in_time(folder / "pieces", partitions=4)


def test_each_relation_is_drawn_by_itself(tmp_path):
    """LAWS A1: two of three authors and one of two papers, six outcomes of 1/6, in the places of their relations."""
    store = partitioned(tmp_path, {"paper-by-author": "0 0\n0 1\n0 2\n", "paper-cites-paper": "0 1\n0 2\n"})
    fanout = {"by": (2,), "cites": (1,)}
    sample = csaw.sample(store, algo="neighbor", fanout=fanout, sources=["paper:0"] * 3000, **QUIET)
    hop, names = sample["hop_1"][:], sample.names(np.arange(store.vertices))
    assert (sample["relation_1"][:] == [0, 0, 1]).all()
    counts = Counter((frozenset(names[row[:2]]), names[row[2]]) for row in hop)
    assert len(counts) == 6
    assert_drawn_from(list(counts.values()), [1 / 6] * 6)


def test_a_vertex_of_a_hop_draws_by_its_type_whatever_was_met(tmp_path):
    """LAWS A2 of trees: the author of P0 draws P0 or P1, each with 1/2, and P0 has no second author."""
    store = partitioned(tmp_path, {"paper-by-author": "0 0\n", "author-of-paper": "0 0\n0 1\n"})
    fanout = {"by": (2, 2), "of": (1, 1)}
    sample = csaw.sample(store, algo="neighbor", fanout=fanout, sources=["paper:0"] * 2000, **QUIET)
    names, fill = sample.names(np.arange(store.vertices)), sample.fill
    first, second = sample["hop_1"][:], sample["hop_2"][:]
    assert first.shape[1] == 2
    assert set(names[first[:, 0]]) == {"author:0"}
    assert (first[:, 1] == fill).all()
    assert (second[:, 1:] == fill).all()
    assert_drawn_from([(names[second[:, 0]] == one).sum() for one in ("paper:0", "paper:1")], [0.5, 0.5])


@pytest.mark.parametrize("how", WAYS_OF_HOPS)
def test_the_request_decides_the_bytes(tmp_path, store, pieces, how):
    options = {"sources": "type:b"} | WAYS_OF_HOPS[how]
    assert_request_decides(store, pieces, tmp_path / "s.zarr", "neighbor", **options)
    expected = arrays_of(store, tmp_path / "s.zarr", "neighbor", **options)
    assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "neighbor", residency="disk", **options))


@pytest.mark.parametrize("how", TIMED_HOPS)
def test_in_time_the_request_decides_the_bytes(tmp_path, timed, how):
    options = {"sources": SEEDS} | TIMED_HOPS[how]
    assert_request_decides(*timed, tmp_path / "s.zarr", "neighbor", **options)
    expected = arrays_of(timed[0], tmp_path / "s.zarr", "neighbor", **options)
    assert_same(expected, arrays_of(timed[1], tmp_path / "s.zarr", "neighbor", residency="disk", **options))


@pytest.mark.parametrize("how", WAYS_OF_HOPS)
def test_verify_finds_no_fault(tmp_path, store, how):
    options = {"sources": "type:b", "instances": 5000} | WAYS_OF_HOPS[how]
    csaw.sample(store, tmp_path / "s.zarr", algo="neighbor", **QUIET | options)
    report = csaw.verify(tmp_path / "s.zarr")
    assert report.ok, report
    assert any(check.p_value is not None for check in report.checks)


@pytest.mark.parametrize("how", TIMED_HOPS)
def test_verify_finds_no_fault_in_time(tmp_path, timed, how):
    csaw.sample(timed[0], tmp_path / "s.zarr", algo="neighbor", **QUIET | {"sources": SEEDS} | TIMED_HOPS[how])
    report = csaw.verify(tmp_path / "s.zarr")
    assert report.ok, report


def test_no_relation_shows_a_source_what_is_later(tmp_path):
    """LAWS E1 and E2: one user at several times, and two of three orders that are early enough."""
    orders = "source,target,time\n0,0,1\n0,1,2\n0,2,9\n"
    store = partitioned(tmp_path, {"user-placed-order": orders, "user-saw-item": orders}, time_column="time")
    seeds = {"ids": ["user:0"] * 3000, "time": [5, 1, 9] * 1000}
    options = {"sources": seeds, "time_strategy": "uniform", "fanout": {"placed": (2,), "saw": (1,)}}
    sample = csaw.sample(store, algo="neighbor", **QUIET | options)
    names, hop = np.append(sample.names(np.arange(store.vertices)), ""), sample["hop_1"][:]
    found = [Counter(tuple(sorted(row)) for row in names[hop[k::3]]) for k in range(3)]
    assert_drawn_from([found[0]["item:0", "order:0", "order:1"], found[0]["item:1", "order:0", "order:1"]], [0.5, 0.5])
    assert found[1] == {("", "item:0", "order:0"): 1000}
    assert len(found[2]) == 9


def test_exports_have_the_relation_of_each_edge(tmp_path, store):
    torch, data = need_package("torch"), need_package("torch_geometric.data")
    sample = csaw.sample(store, algo="neighbor", fanout=FIXED, sources="type:b:40", weighted=False, **QUIET)
    names, graph = sample.names(np.arange(store.vertices)), store.load([RELATION])
    source = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    known = set(zip(names[source], names[graph.indices], graph.columns["relation"].tolist(), strict=True))
    csaw.export(sample, tmp_path / "e.csv")
    rows = pandas.read_csv(tmp_path / "e.csv")
    assert set(rows[["src", "dst", "relation"]].itertuples(index=False, name=None)) <= known
    csaw.export(sample, tmp_path / "e.parquet")
    assert pandas.read_parquet(tmp_path / "e.parquet")["relation"].tolist() == rows["relation"].tolist()
    csaw.export(sample, tmp_path / "e.pt")
    held = data.HeteroData(torch.load(tmp_path / "e.pt", weights_only=True))
    counts = rows["relation"].value_counts()
    for number, (neighbor, _, vertex) in enumerate(store.types.edge_types):
        row, col = held[store.types.edge_types[number]].edge_index
        ends = (np.array(held[name].original_id)[held[name].n_id[at]] for name, at in ((vertex, col), (neighbor, row)))
        edges = list(zip(*ends, [number] * row.numel(), strict=True))
        assert len(edges) == counts.get(number, 0)
        assert set(edges) <= known
    assert held["b"].batch_size == 40


def moved(arrays):
    """A neighbor in the place of another relation."""
    hop, relation = arrays["hop_1"], arrays["relation_1"]
    row = np.flatnonzero((hop[:, 0] >= 0) & (hop[:, -1] < 0))[0]
    hop[row, -1], relation[row, -1] = hop[row, 0], relation[row, 0]
    hop[row, 0], relation[row, 0] = -1, 0
    return arrays


def renamed(arrays):
    """An edge that says that it is of another relation."""
    arrays["relation_2"][arrays["hop_2"] >= 0] += 1
    return arrays


def other_relation(arrays):
    """A neighbor by another relation than the place that it has."""
    hop, relation = arrays["hop_1"], arrays["relation_1"]
    one, other = (np.flatnonzero((relation == number).any(axis=1) & (hop >= 0).all(axis=1))[0] for number in (1, 2))
    column = [np.flatnonzero(relation[row] == number)[0] for row, number in ((one, 1), (other, 2))]
    hop[one, column[0]] = hop[other, column[1]]
    return arrays


def nowhere(arrays):
    """An empty place with what is neither a vertex nor the sign of an empty one."""
    hop = arrays["hop_2"]
    hop[np.unravel_index(np.flatnonzero(hop == -1)[0], hop.shape)] = -2
    return arrays


FAULTS = [(moved, "sizes"), (renamed, "sizes"), (other_relation, "edges"), (nowhere, "sizes")]


@pytest.mark.parametrize(("fault", "check"), FAULTS)
def test_wrong_samples_are_found(tmp_path, store, fault, check):
    options = {"fanout": FIXED, "sources": "type:b", "weighted": False}
    csaw.sample(store, tmp_path / "s.zarr", algo="neighbor", **QUIET | options)
    remade(tmp_path / "s.zarr", tmp_path / "t.zarr", fault)
    assert check in {one.name for one in csaw.verify(tmp_path / "t.zarr").checks if not one.ok}


def test_an_empty_place_with_no_vertex_is_found_without_relations_too(tmp_path, store):
    csaw.sample(store, tmp_path / "s.zarr", algo="neighbor", fanout=(40, 2), sources="type:b", **QUIET)
    remade(tmp_path / "s.zarr", tmp_path / "t.zarr", nowhere)
    assert "sizes" in {one.name for one in csaw.verify(tmp_path / "t.zarr").checks if not one.ok}


def test_verify_knows_types_without_vertices(tmp_path):
    """Type a has none, and so its relation begins where those of b do."""
    need_package("pyarrow")
    tables = {
        "a": {"file": "a.csv", "key": "id", "references": {"of": "b"}},
        "b": {"file": "b.csv", "key": "id", "references": {"next": "b", "other": "b"}},
    }
    (tmp_path / "a.csv").write_text("id,of\n")
    (tmp_path / "b.csv").write_text("id,next,other\n" + "".join(f"{k},{(k + 1) % 9},{(k + 4) % 9}\n" for k in range(9)))
    (tmp_path / "t.json").write_text(json.dumps({"tables": tables}))
    store = csaw.partition(tmp_path / "t.json", tmp_path / "g.zarr", progress=False)
    for algo in ("neighbor", "minibatch"):
        csaw.sample(store, tmp_path / f"{algo}.zarr", algo=algo, fanout={"*": (2, 2)}, sources="type:b", **QUIET)
        report = csaw.verify(tmp_path / f"{algo}.zarr")
        assert report.ok, report


def test_relations_that_share_random_numbers_are_found(tmp_path, monkeypatch):
    rows = "".join(f"{v} {(v + 7 * k) % 300}\n" for v in range(300) for k in range(1, 13))
    store = partitioned(tmp_path, {f"x-r{k}-x": rows for k in range(3)})
    plant(monkeypatch, "hops_by_relation.py", "uint64(at + r)", "uint64(at)")
    options = {"fanout": {"*": (1, 1)}, "instances": 3000}
    csaw.sample(store, tmp_path / "s.zarr", algo="neighbor", **QUIET | options)
    wrong = {check.name for check in csaw.verify(tmp_path / "s.zarr").checks if not check.ok}
    assert "neighbors, independence" in wrong


REFUSED = [
    ({"fanout": {"to_c": (-1,)}, "replace": True}, "replace: expected fanouts of at least 0, found -1"),
    ({"fanout": {"to_c": (1,)}, "unique": True, "replace": True}, "unique and replace exclude each other"),
    ({"fanout": {"to_c": (1,)}, "induced": True}, "induced and fanouts by relation exclude each other"),
    ({"fanout": {"to_c": (1,)}, "target": "50%"}, "target and fanouts by relation exclude each other"),
    ({"fanout": {"to_c": (1,)}, "metapath": "b,c"}, "metapath and fanouts by relation exclude each other"),
    ({"fanout": {"to_c": (1,)}, "bias": "degree"}, "selects uniformly or by weight"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_cannot_be_is_refused(store, options, said):
    with pytest.raises(OptionError) as error:
        csaw.sample(store, algo="neighbor", **QUIET | options)
    assert said in str(error.value)
