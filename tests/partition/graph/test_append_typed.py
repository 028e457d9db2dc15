"""Graphs of several types grow: held against dictionaries of edges by relation, and against ``csaw partition`` of all
edges.
"""

import random

import numpy as np
import pytest
from helpers.forged_graphs import edited
from helpers.machine import need_package

import csaw
from csaw.partition import open_graph
from csaw.partition.errors import CsawError, FormatError, OptionError, StoreError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.edge_ids import read_edge_ids
from csaw.partition.graph.types import RELATION, Relation

TRIPLES = ("author", "writes", "paper"), ("author", "likes", "paper"), ("paper", "cites", "paper")
WAYS = ["first", "keep", "sum", "last", "remove"]


class Typed:
    """Edges of relations: the values of each by (source, relation, target), all names as users see them."""

    def __init__(self, reverses):
        self.reverses, self.edges = reverses, {}

    def take(self, rows, policy):
        """Rows by relation, each (source, target, *values); the numbers of entries added, repeated and removed."""
        counts = dict.fromkeys(("added", "repeated", "removed"), 0)
        for (source, name, target), edges in rows.items():
            for a, b, *values in edges:
                self._take((f"{source}:{a}", name, f"{target}:{b}"), tuple(values), policy, counts)
        return counts

    def _take(self, key, values, policy, counts):
        held = self.edges.setdefault(key, [])
        if policy == "remove":
            counts["removed"] += len(self.edges.pop(key))
            return
        counts["added" if policy == "keep" or not held else "repeated"] += 1
        if policy == "keep" or not held:
            held.append(values)
        elif policy == "sum":
            held[0] = (held[0][0] + values[0], *held[0][1:])
        elif policy == "last":
            held[0] = values

    def sorted(self):
        rows = [(*key, *values) for key, several in self.edges.items() for values in several]
        rows += [(b, f"rev_{name}", a, *more) for a, name, b, *more in rows] if self.reverses else []
        return sorted(rows)


def edges_of(store, columns=()):
    graph = store.load(store.further_columns)
    names, owners = store.vertex_ids(), np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    relations = [store.types.relations[number].name for number in graph.columns["relation"]]
    weights = [] if graph.weights is None else [graph.weights.tolist()]
    beside = [graph.columns[name].tolist() for name in columns]
    return list(zip(names[owners], relations, names[graph.indices], *weights, *beside, strict=True))


def require_good(store):
    assert [found for found in check_store(store) if not found.ok] == []
    graph = store.load(store.further_columns)
    for row in range(store.vertices):  # by neighbor, then by relation
        here = slice(graph.indptr[row], graph.indptr[row + 1])
        keys = list(zip(graph.indices[here].tolist(), graph.columns["relation"][here].tolist(), strict=True))
        assert keys == sorted(keys)


def files(place, name, rows):
    found = {}
    for triple, edges in rows.items():
        path = place / f"{name}-{triple[1]}.txt"
        path.write_text("".join(" ".join(map(str, row)) + "\n" for row in edges))
        found[triple] = str(path)
    return found


def some(rng, authors, papers, count, values, triples=TRIPLES):
    pools = {"author": authors, "paper": papers}
    return {
        triple: [
            (rng.choice(pools[triple[0]]), rng.choice(pools[triple[2]]), *(rng.randrange(1, 9) for _ in range(values)))
            for _ in range(count)
        ]
        for triple in triples
    }


@pytest.mark.parametrize("reverses", [False, True])
@pytest.mark.parametrize("policy", WAYS)
@pytest.mark.parametrize("seed", range(4))
def test_appends_agree_with_dictionaries(tmp_path, policy, reverses, seed):
    """Of ids that are integers or words, weighted or not, in one partition or many; new papers among them."""
    rng = random.Random(seed * 11 + len(policy) + reverses)
    values = int(policy == "sum" or seed % 2)
    authors = [f"a{k}" for k in range(9)] if seed < 2 else list(range(3, 30, 3))
    papers = list(range(5, 45, 2))
    made = policy if policy in ("first", "keep") else "first"
    first = some(rng, authors, papers[:12], 60, values)
    first["author", "writes", "paper"] += [(one, papers[0], *[1] * values) for one in authors]
    model = Typed(reverses)
    model.take(first, made)
    how = {"duplicates": made, "reverse_relations": reverses, "partition_size": rng.choice([300, 10**6])}
    csaw.partition(files(tmp_path, "first", first), tmp_path / "g.zarr", progress=False, **how)
    for number in range(3):
        rows = some(rng, authors, papers, 25, values, rng.sample(TRIPLES, rng.randrange(1, 4)))
        counts, before = model.take(rows, policy), open_graph(tmp_path / "g.zarr")
        given = {"remove": True} if policy == "remove" else {"duplicates": policy, "again": True}
        store = csaw.append(tmp_path / "g.zarr", files(tmp_path, f"n{number}", rows), partition_size=400, **given)
        assert sorted(edges_of(store)) == model.sorted()
        said = store.report["append"]
        counted = ("added", "removed") if policy == "remove" else ("added", "repeated")
        assert {name: said[f"edges_{name}"] for name in counted} == {name: counts[name] for name in counted}
        assert store.original_ids(np.arange(before.vertices)).tolist() == before.vertex_ids().tolist()
        assert store.types.bounds == (*before.types.bounds[:-1], store.vertices)
        require_good(store)
    whole = files(tmp_path, "all", {triple: [] for triple in TRIPLES})
    for triple, path in whole.items():
        name = triple[1]
        rows = [(a.split(":")[1], b.split(":")[1], *more) for a, n, b, *more in model.sorted() if n == name]
        assert rows, "every relation has edges"
        with open(path, "w") as file:
            file.writelines(" ".join(map(str, row)) + "\n" for row in rows)
    csaw.partition(whole, tmp_path / "h.zarr", progress=False, duplicates="keep", reverse_relations=reverses)
    anew, grown = open_graph(tmp_path / "h.zarr"), open_graph(tmp_path / "g.zarr")
    assert sorted(edges_of(anew)) == sorted(edges_of(grown))
    assert dict(zip(map(str, anew.types.relations), anew.types.edges, strict=True)) == dict(
        zip(map(str, grown.types.relations), grown.types.edges, strict=True)
    )


@pytest.mark.parametrize("ids", [False, True])
def test_where_ids_rise_it_is_the_store_of_all_edges(tmp_path, ids):
    """With weights, times, edge columns and, without reverses, the rows of edges."""
    rng = random.Random(5)
    old, new = (some(rng, range(10, 16), papers, 40, 3) for papers in (range(10, 30), range(15, 40)))
    for triple, rows in old.items():
        rows += [(k if triple[0] == "author" else 10, 10 + k, 1, 2, 3) for k in range(10, 16)]
    both = {triple: old[triple] + new[triple] for triple in TRIPLES}
    names = {"weight_column": 3, "edge_columns": ["kind:uint8=4"], "time_column": 5}
    how = names | {"reverse_relations": not ids, "edge_ids": ids}
    csaw.partition(files(tmp_path, "old", old), tmp_path / "g.zarr", progress=False, partition_size=600, **how)
    csaw.partition(files(tmp_path, "all", both), tmp_path / "h.zarr", progress=False, **how)
    given = names | {"edge_columns": ["kind=4"]}
    store = csaw.append(tmp_path / "g.zarr", files(tmp_path, "new", new), partition_size=900, **given)
    anew = open_graph(tmp_path / "h.zarr")
    assert sorted(edges_of(store, ["kind", "time"])) == sorted(edges_of(anew, ["kind", "time"]))
    assert (store.fingerprint == anew.fingerprint) == (store.partitioner == "range")
    assert store.types.edges == anew.types.edges
    if ids:
        assert np.sort(read_edge_ids(store)).size == store.attributes["edge_ids"] == 3 * (40 + 6) + 3 * 40
    require_good(store)


def test_only_the_last_type_gets_vertices(tmp_path):
    old = {("author", "writes", "paper"): [("ann", 1), ("bob", 2)], ("paper", "cites", "paper"): [(1, 2)]}
    csaw.partition(files(tmp_path, "old", old), tmp_path / "g.zarr", progress=False)
    new = files(tmp_path, "new", {("author", "writes", "paper"): [("ann", 9), ("ann", 2), ("zoe", 1), ("zoe", 2)]})
    said = r"author-writes-paper: .*new-writes.txt: row 3: author:zoe is not in .*the last type, paper, can grow; make"
    with pytest.raises(FormatError, match=said):
        csaw.append(tmp_path / "g.zarr", new)
    assert not (tmp_path / "g.zarr" / "versions").exists()
    gone = csaw.append(tmp_path / "g.zarr", new, remove=True)  # edges that cannot be there are counted
    assert gone.version == 0
    store = csaw.append(tmp_path / "g.zarr", files(tmp_path, "c", {("paper", "cites", "paper"): [(2, 9), (0, 10)]}))
    assert store.vertex_ids().tolist() == [
        "author:ann",
        "author:bob",
        "paper:1",
        "paper:2",
        "paper:0",
        "paper:10",
        "paper:9",
    ]
    assert store.types.span("paper") == (2, 7)
    require_good(store)


def test_an_edge_of_another_relation_is_another_edge(tmp_path):
    old = {("author", "writes", "paper"): [("ann", 1, 2.0)], ("author", "likes", "paper"): [("ann", 2, 3.0)]}
    csaw.partition(files(tmp_path, "old", old), tmp_path / "g.zarr", progress=False)
    new = files(tmp_path, "new", {("author", "likes", "paper"): [("ann", 1, 5.0)]})
    store = csaw.append(tmp_path / "g.zarr", new, duplicates="error")
    assert (store.multigraph, store.types.edges) == (True, (1, 2))
    with pytest.raises(FormatError, match="has the edge author:ann paper:1 of author-likes-paper already"):
        csaw.append(tmp_path / "g.zarr", new, duplicates="error")
    store = csaw.append(tmp_path / "g.zarr", new, duplicates="sum")  # although the ends have two edges
    assert edges_of(store)[:2] == [("author:ann", "writes", "paper:1", 2), ("author:ann", "likes", "paper:1", 10)]
    store = csaw.append(tmp_path / "g.zarr", new, duplicates="keep")
    with pytest.raises(FormatError, match="author:ann paper:1 of author-likes-paper several times"):
        csaw.append(tmp_path / "g.zarr", new, duplicates="last")
    store = csaw.append(tmp_path / "g.zarr", new, remove=True)
    assert edges_of(store) == [("author:ann", "writes", "paper:1", 2), ("author:ann", "likes", "paper:2", 3)]
    require_good(store)


def test_ids_are_read_as_before(tmp_path):
    """007 is paper:7 in a relation of integers, and paper:007 in one of words."""
    old = {("author", "writes", "paper"): [("ann", "01")], ("paper", "cites", "paper"): [(7, "07")]}
    csaw.partition(files(tmp_path, "old", old), tmp_path / "g.zarr", progress=False)
    new = {("author", "writes", "paper"): [("ann", "007")], ("paper", "cites", "paper"): [("007", 7)]}
    store = csaw.append(tmp_path / "g.zarr", files(tmp_path, "new", new))
    assert store.vertex_ids().tolist() == ["author:ann", "paper:01", "paper:7", "paper:007"]
    with pytest.raises(FormatError, match="word"):
        csaw.append(tmp_path / "g.zarr", files(tmp_path, "w", {("paper", "cites", "paper"): [("word", 7)]}))


def test_a_relation_without_weights_has_the_weight_1(tmp_path):
    old = {("author", "writes", "paper"): [(1, 1, 2.0)], ("paper", "cites", "paper"): [(1, 2)]}
    csaw.partition(files(tmp_path, "old", old), tmp_path / "g.zarr", progress=False)
    store = csaw.append(tmp_path / "g.zarr", files(tmp_path, "c", {("paper", "cites", "paper"): [(2, 1)]}))
    assert ("paper:2", "cites", "paper:1", 1) in edges_of(store)
    with pytest.raises(FormatError, match="author-writes-paper: .* has weights, but the new edges have none"):
        csaw.append(tmp_path / "g.zarr", files(tmp_path, "w", {("author", "writes", "paper"): [(1, 2)]}))


def test_a_report_that_does_not_tell_of_reverses(tmp_path):
    old = {("author", "writes", "paper"): [(1, 1)]}
    csaw.partition(files(tmp_path, "old", old), tmp_path / "g.zarr", progress=False, reverse_relations=True)
    edited(tmp_path / "g.zarr", lambda said: said["report"].pop("reverse_relations"))
    with pytest.raises(StoreError, match="does not say whether paper-rev_writes-author always has the edges of author"):
        csaw.append(tmp_path / "g.zarr", files(tmp_path, "new", {("author", "writes", "paper"): [(1, 2)]}))


WRONG = {
    "no relation": (lambda one: one, "has several types of vertices; expected the files of each relation"),
    "pairs": (lambda one: [(1, 2)], "its relations are author-writes-paper, paper-cites-paper"),
    "unknown": (
        lambda one: {("author", "reads", "paper"): one},
        "author-reads-paper: .* has no such relation; expected",
    ),
    "turned": (
        lambda one: {("paper", "rev_writes", "author"): one},
        "from those of another relation; expected author-w",
    ),
    "other type": (lambda one: {("author", "writes", "venue"): one}, "author-writes-venue: .* has no such relation"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused(tmp_path, what):
    old = {("author", "writes", "paper"): [(1, 1)], ("paper", "cites", "paper"): [(1, 2)]}
    csaw.partition(files(tmp_path, "old", old), tmp_path / "g.zarr", progress=False, reverse_relations=True)
    path = files(tmp_path, "new", {("author", "writes", "paper"): [(1, 2)]})["author", "writes", "paper"]
    given, said = WRONG[what]
    with pytest.raises(OptionError, match=said):
        csaw.append(tmp_path / "g.zarr", given(path))
    for option in ({"directed": False}, {"target_offset": 3}, {"weight_column": 3}, {"time_column": 3}):
        with pytest.raises(CsawError):
            csaw.append(tmp_path / "g.zarr", {("author", "writes", "paper"): path}, **option)
    csaw.partition([(1, 2)], tmp_path / "one.zarr")
    with pytest.raises(OptionError, match="has one type of vertices"):
        csaw.append(tmp_path / "one.zarr", {("author", "writes", "paper"): path})


def hetero(edges, papers, weights=None):
    from torch import int64, tensor
    from torch_geometric.data import HeteroData

    data = HeteroData()
    data["author"].num_nodes, data["paper"].num_nodes = 3, papers
    for triple, pairs in edges.items():
        data[triple].edge_index = tensor(pairs, dtype=int64).reshape(-1, 2).T
        if weights and triple in weights:
            data[triple].edge_weight = tensor(weights[triple])
    return data


@pytest.mark.parametrize("reverses", [False, True])
def test_hetero_data(tmp_path, reverses):
    need_package("torch_geometric")
    writes, cites = TRIPLES[0], TRIPLES[2]
    if reverses:
        rows = {writes: [(0, 1), (1, 0), (2, 0)], cites: [(0, 1)]}
        base = files(tmp_path, "old", rows)
        csaw.partition(base, tmp_path / "g.zarr", progress=False, reverse_relations=True)
    else:
        csaw.partition(hetero({writes: [(0, 1), (0, 1)], cites: [(0, 1)]}, 2), tmp_path / "g.zarr")
    model = Typed(reverses)
    model.edges = {row[:3]: [()] for row in edges_of(open_graph(tmp_path / "g.zarr")) if "rev_" not in row[1]}
    new = {writes: [(0, 1), (0, 1), (2, 11), (2, 9)], cites: [(10, 2), (1, 1)]}
    counts = model.take(new, "first")
    store = csaw.append(tmp_path / "g.zarr", hetero(new, 12), duplicates="first")
    held = edges_of(store)
    assert sorted(set(held)) == model.sorted()
    assert len(held) == len(set(held)) + (not reverses)  # an edge that the base has twice
    assert store.vertex_ids().tolist()[-12:] == [f"paper:{k}" for k in range(12)]
    assert store.report["append"]["edges_added"] == counts["added"]
    require_good(store)
    more = hetero(new, 12)
    more["author"].num_nodes = 4
    with pytest.raises(FormatError, match="HeteroData: author:3 is not in"):
        csaw.append(tmp_path / "g.zarr", more)
    with pytest.raises(OptionError, match="author-reads-paper: .* has no such relation"):
        csaw.append(tmp_path / "g.zarr", hetero({("author", "reads", "paper"): [(0, 0)]}, 2))
    with pytest.raises(OptionError, match="weights: a HeteroData object says this itself"):
        csaw.append(tmp_path / "g.zarr", hetero(new, 12), weights=[1.0])
    store = csaw.append(tmp_path / "g.zarr", hetero(new, 12), remove=True)
    assert not set(edges_of(store)) & {(f"{a}:{x}", n, f"{b}:{y}") for (a, n, b), rows in new.items() for x, y in rows}
    require_good(store)


def test_hetero_data_with_weights(tmp_path):
    need_package("torch_geometric")
    writes, cites = TRIPLES[0], TRIPLES[2]
    csaw.partition(hetero({writes: [(0, 1)], cites: [(0, 1)]}, 2, {writes: [2.0]}), tmp_path / "g.zarr")
    new = hetero({writes: [(0, 1), (0, 1)], cites: [(1, 0)]}, 2, {writes: [3.0, 4.0]})
    store = csaw.append(tmp_path / "g.zarr", new, duplicates="sum")
    assert edges_of(store) == [
        ("author:0", "writes", "paper:1", 9),
        ("paper:0", "cites", "paper:1", 1),
        ("paper:1", "cites", "paper:0", 1),
    ]
    store = csaw.append(tmp_path / "g.zarr", hetero({cites: [(0, 0)]}, 2))
    assert ("paper:0", "cites", "paper:0", 1) in edges_of(store)
    with pytest.raises(FormatError, match="author-writes-paper: .* has weights, but the new edges have none"):
        csaw.append(tmp_path / "g.zarr", hetero({writes: [(0, 0)]}, 2))


SAMPLES = {
    "metapath": {"algo": "deepwalk", "metapath": "author,writes,paper,rev_writes,author", "walk_length": 4},
    "neighbor": {"algo": "neighbor", "sources": "type:paper", "fanout": {"rev_writes": (3, 2), "*": (2, 2)}},
    "hgt": {"algo": "hgt", "sources": "type:paper", "num_samples": [4, 4]},
}


@pytest.mark.parametrize("what", SAMPLES)
def test_samples_of_old_versions_verify_and_become_those_of_the_new(tmp_path, what):
    rng = random.Random(8)
    old, new = (some(rng, range(8), range(15), count, 0) for count in (50, 12))
    csaw.partition(files(tmp_path, "old", old), tmp_path / "g.zarr", progress=False, reverse_relations=True)
    how = {**SAMPLES[what], "seed": 3}
    csaw.sample(tmp_path / "g.zarr", tmp_path / "s.zarr", **how)
    new["paper", "cites", "paper"] += [(3, 50), (50, 51)]
    csaw.append(tmp_path / "g.zarr", files(tmp_path, "new", new))
    assert csaw.verify(tmp_path / "s.zarr").ok
    samples = csaw.refresh(tmp_path / "s.zarr", tmp_path / "r.zarr")
    assert samples.results["refreshed"]["why"] == ""
    assert csaw.verify(tmp_path / "r.zarr").ok
    whole = csaw.sample(tmp_path / "g.zarr", tmp_path / "w.zarr", **how)
    assert whole.instances == samples.instances
    files_of = {path.relative_to(whole.path): path for path in whole.path.rglob("*") if path.is_file()}
    files_of = {name: path for name, path in files_of.items() if name.name != "zarr.json"}
    assert files_of
    assert all((tmp_path / "r.zarr" / name).read_bytes() == path.read_bytes() for name, path in files_of.items())


def test_relations_that_stand_in_kept_partitions_are_counted(tmp_path):
    rows = {("paper", "cites", "paper"): [(k, k + 1) for k in range(300)], ("paper", "like", "paper"): [(0, 1)]}
    csaw.partition(files(tmp_path, "old", rows), tmp_path / "g.zarr", progress=False, partitions=6)
    store = csaw.append(tmp_path / "g.zarr", files(tmp_path, "new", {("paper", "like", "paper"): [(0, 2)]}))
    assert (store.report["append"]["partitions_written"], store.types.edges) == (1, (300, 2))
    assert store.types.relations[1] == Relation("paper", "like", "paper")
    assert RELATION in store.further_columns
    require_good(store)


def test_edges_that_wait_in_files_are_those_in_memory(tmp_path, monkeypatch):
    from csaw.partition.ingestion import append

    rng, model = random.Random(4), Typed(True)
    old, new = (some(rng, range(9), range(30), count, 1) for count in (200, 80))
    model.take(old, "first")
    csaw.partition(
        files(tmp_path, "old", old), tmp_path / "g.zarr", progress=False, reverse_relations=True, partitions=4
    )
    monkeypatch.setattr(append, "KEPT_SHARE", 1 << 60)
    model.take(new, "last")
    store = csaw.append(tmp_path / "g.zarr", files(tmp_path, "new", new), duplicates="last")
    assert sorted(edges_of(store)) == model.sorted()
    require_good(store)


def test_tables_with_keys_grow_by_files_of_relations(tmp_path):
    need_package("pyarrow")
    (tmp_path / "customers.csv").write_text("id\n07\n8\n")
    (tmp_path / "orders.csv").write_text("id,customer\no1,07\no2,8\n")
    (tmp_path / "shop.json").write_text(
        '{"tables": {"customer": {"file": "customers.csv", "key": "id"}, "order": {"file": "orders.csv", "key": "id", '
        '"references": {"customer": {"table": "customer", "name": "by"}}}}}'
    )
    csaw.partition(tmp_path / "shop.json", tmp_path / "g.zarr", reverse_relations=True)
    store = csaw.append(tmp_path / "g.zarr", files(tmp_path, "new", {("order", "by", "customer"): [("o3", "07")]}))
    assert edges_of(store)[0] == ("customer:07", "rev_by", "order:o1")
    assert ("customer:07", "rev_by", "order:o3") in edges_of(store)
    with pytest.raises(FormatError, match="customer:7 is not in"):  # keys are text
        csaw.append(tmp_path / "g.zarr", files(tmp_path, "n", {("order", "by", "customer"): [("o4", "7")]}))
    require_good(store)


def test_nodes_without_edges_are_added(tmp_path):
    need_package("torch_geometric")
    csaw.partition(hetero({TRIPLES[0]: [(0, 1)]}, 2), tmp_path / "g.zarr")
    store = csaw.append(tmp_path / "g.zarr", hetero({TRIPLES[0]: []}, 4))
    assert (store.types.span("paper"), store.edges) == ((3, 7), 1)
    require_good(store)


def test_a_generated_graph_knows_its_reverses(tmp_path):
    from csaw.datasets.mag import generate_mag

    store = generate_mag("mag:scale=0.0001", tmp_path / "g.zarr")
    one = store.types.relations[1]
    ends = [store.original_ids(np.array([store.types.span(kind)[0]]))[0] for kind in (one.source, one.target)]
    rows = [tuple(end.split(":")[1] for end in ends)]
    given = files(tmp_path, "new", {(one.source, one.name, one.target): rows})
    assert csaw.append(tmp_path / "g.zarr", given).version == 0  # first, as it was made
    grown = csaw.append(tmp_path / "g.zarr", given, duplicates="keep")
    assert (grown.report["append"]["edges_added"], grown.edges) == (1, store.edges + 2)
    require_good(grown)
