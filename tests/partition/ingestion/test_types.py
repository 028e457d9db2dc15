"""Graphs of several types of vertices: what files of relations become, and what a store says that is checked."""

import os
from collections import Counter
from itertools import product
from threading import Thread

import numpy as np
import pytest
from helpers.forged_graphs import edited, failed, replaced
from helpers.machine import need_package

import csaw
from csaw.partition import open_graph
from csaw.partition.errors import BudgetError, CsawError, FormatError, OptionError, StoreError
from csaw.partition.graph.types import RELATION, Relation
from csaw.partition.ingestion.typed_rows import relations_given

WRITES = "author,paper\n7,1\n7,2\n-8,2\n-8,30\n7,1\n"
CITES = "1 2\n30 1\n30 2\n1 1\n"
RELATIONS = {"author-writes-paper": "writes.csv", "paper-cites-paper": "cites.txt"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "writes.csv").write_text(WRITES)
    (tmp_path / "cites.txt").write_text(CITES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edges_of(store):
    """(source, relation, target) of each stored edge, by name, with its weight if there is one."""
    graph = store.load(store.further_columns)
    names = store.vertex_ids()
    owners = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    relations = [store.types.relations[number].name for number in graph.columns["relation"]]
    weights = [] if graph.weights is None else [graph.weights.tolist()]
    return list(zip(names[owners], relations, names[graph.indices], *weights, strict=True))


def made(relations=RELATIONS, out="g.zarr", **options):
    return csaw.partition(dict(relations), out, overwrite=True, progress=False, **options)


def test_vertices_of_a_type_stand_together_and_edges_know_their_relation(here):
    store = made()
    assert store.types.names == ("author", "paper")
    assert store.types.bounds == (0, 2, 5)
    assert store.vertex_ids().tolist() == ["author:-8", "author:7", "paper:1", "paper:2", "paper:30"]
    assert edges_of(store) == [
        ("author:-8", "writes", "paper:2"),
        ("author:-8", "writes", "paper:30"),
        ("author:7", "writes", "paper:1"),
        ("author:7", "writes", "paper:2"),
        ("paper:1", "cites", "paper:1"),
        ("paper:1", "cites", "paper:2"),
        ("paper:30", "cites", "paper:1"),
        ("paper:30", "cites", "paper:2"),
    ]
    assert store.types.edges == (4, 4)
    assert str(store.types.relations[0]) == "author-writes-paper"
    assert csaw.verify("g.zarr").ok


def test_each_relation_may_have_a_reverse(here):
    store = made(reverse_relations=True)
    assert [str(one) for one in store.types.relations[2:]] == ["paper-rev_writes-author", "paper-rev_cites-paper"]
    forward = Counter((a, name, b) for a, name, b in edges_of(store) if not name.startswith("rev_"))
    reverse = Counter((b, name[4:], a) for a, name, b in edges_of(store) if name.startswith("rev_"))
    assert forward == reverse
    assert csaw.verify("g.zarr").ok


def rows_of(draw, relations, rows):
    """Rows of each relation, with weights and many repeats."""
    return {
        one: [(*draw.integers(0, 6, 2).tolist(), int(draw.integers(1, 9))) for _ in range(rows)] for one in relations
    }


@pytest.mark.parametrize("policy", ["keep", "first", "sum"])
@pytest.mark.parametrize("options", [{}, {"partitions": 4, "threads": 1}, {"memory": "16MiB", "threads": 3}])
def test_repeats_are_merged_within_their_relation_alone(here, policy, options):
    """Against dicts; two relations join the same types."""
    relations = ["a-likes-b", "a-buys-b", "b-likes-a", "b-near-b"]
    rows = rows_of(np.random.default_rng(5), relations, 60)
    for one, held in rows.items():
        (here / f"{one}.txt").write_text("".join(f"{a} {b} {w}\n" for a, b, w in held))
    store = made({one: f"{one}.txt" for one in relations}, duplicates=policy, **options)
    wanted = []
    for relation in map(Relation.parsed, relations):
        found = {}
        for a, b, w in rows[str(relation)]:
            found.setdefault((f"{relation.source}:{a}", relation.name, f"{relation.target}:{b}"), []).append(float(w))
        for edge, weights in found.items():
            kept = {"keep": weights, "first": weights[:1], "sum": [sum(weights)]}[policy]
            wanted += [(*edge, weight) for weight in kept]
    assert Counter(edges_of(store)) == Counter(wanted)
    assert sum(store.types.edges) == store.edges == len(wanted)
    assert csaw.verify("g.zarr").ok


def test_repeats_of_one_relation_are_an_error_if_they_are_to_be(here):
    (here / "likes.txt").write_text("1 2\n")
    (here / "buys.txt").write_text("1 2\n")
    both = {"a-likes-b": "likes.txt", "a-buys-b": "buys.txt"}
    assert made(both, duplicates="error").multigraph
    (here / "buys.txt").write_text("1 2\n1 2\n")
    with pytest.raises(FormatError, match="some edges are repeated"):
        made(both, duplicates="error")


def test_a_relation_without_weights_has_the_weight_1(here):
    (here / "weighted.txt").write_text("1 2 0.5\n")
    store = made({"author-writes-paper": "writes.csv", "paper-cites-paper": "weighted.txt"})
    assert ("paper:1", "cites", "paper:2", 0.5) in edges_of(store)
    assert ("author:7", "writes", "paper:1", 1.0) in edges_of(store)


def test_columns_and_times_stand_beside_the_relation(here):
    for name in ("a", "b"):
        (here / f"{name}.csv").write_text("source,target,score,time\n1,2,7,100\n2,1,8,200\n")
    store = made({"x-a-y": "a.csv", "y-b-x": "b.csv"}, edge_columns=["score:int64"], time_column="time")
    graph = store.load(store.further_columns)
    assert graph.columns["relation"].tolist() == [0, 0, 1, 1]
    assert graph.columns["score"].tolist() == [7, 8, 7, 8]
    assert graph.columns["time"].tolist() == [100, 200, 100, 200]
    assert csaw.verify("g.zarr").ok


@pytest.mark.parametrize("header", ["paper,year,author", "paper_id,year,AuthorID", "Paper ID,year,author id"])
def test_a_header_may_call_the_columns_as_the_types(here, header):
    (here / "w.csv").write_text(f"{header}\n1,1999,7\n")
    assert edges_of(made({"author-writes-paper": "w.csv"})) == [("author:7", "writes", "paper:1")]


def test_a_relation_may_have_a_folder_of_tables(here):
    pandas = need_package("pandas")
    (here / "parts").mkdir()
    for number in range(3):
        rows = {"author": [number, f"x{number}"[1:]], "paper": [1, 2]}
        pandas.DataFrame(rows).astype(str).to_parquet(here / "parts" / f"{number}.parquet")
    store = made({("author", "writes", "paper"): "parts"})
    assert store.types.edges == (6,)


def test_a_type_without_edges_is_there(here):
    (here / "none.txt").write_text("")
    store = made({"venue-has-paper": "none.txt", "paper-cites-paper": "cites.txt"})
    assert store.types.names == ("paper", "venue")
    assert store.types.span("venue") == (3, 3)
    assert store.types.edges == (0, 4)


def test_both_sides_of_a_bipartite_file_keep_their_numbers(here):
    (here / "out.likes").write_text("% bip unweighted\n% 2 2 2\n1 1\n2 2\n")
    store = made({"user-likes-item": "out.likes"})
    assert store.vertex_ids().tolist() == ["item:1", "item:2", "user:1", "user:2"]


def test_a_file_that_says_it_is_undirected_is_read_as_directed_only_if_asked(here):
    (here / "snap.txt").write_text("# Undirected graph: ../../data/output/a.txt\n# FromNodeId\tToNodeId\n1\t2\n")
    with pytest.raises(OptionError, match="a-near-a: snap.txt says that its edges have no direction"):
        made({"a-near-a": "snap.txt"})
    assert made({"a-near-a": "snap.txt"}, directed=True).edges == 1


WRONG = [
    ({"author-writes-paper": "nope.csv"}, {}, "nope.csv cannot be read"),
    ({"a-b-c-": "writes.csv"}, {}, "expected SOURCE-NAME-TARGET"),
    ({("a", "b b", "c"): "writes.csv"}, {}, "the name of a relation is a letter"),
    ({"paper-author-paper": "cites.txt", "author-writes-paper": "writes.csv"}, {}, "the name of a type and of a"),
    ({"a-b-c": "writes.csv", ("a", "b", "c"): "writes.csv"}, {}, "a-b-c is there twice"),
    (RELATIONS, {"directed": False}, "directed=False: each relation has a direction; reverse_relations"),
    (RELATIONS, {"reverse": True}, "reverse: not possible for a graph of several types"),
    (RELATIONS, {"partitioner": "random"}, "partitioner: not possible for a graph of several"),
    (RELATIONS, {"num_clusters": 2, "clustering": "lp"}, "num_clusters: not possible for a graph of several"),
    (RELATIONS, {"edge_columns": ["relation=1"]}, "relation"),
    (RELATIONS, {"edge_ids": True, "reverse_relations": True}, "edge_ids: with reverse_relations two edges come"),
    ({"a-x-b": "cites.txt", "b-rev_x-a": "cites.txt"}, {"reverse_relations": True}, "b-rev_x-a is there twice"),
    (RELATIONS, {"reverse_relations": "maybe"}, "reverse_relations: expected"),
    (
        {("a", "to", "b"): None},
        {},
        r"\('a', 'to', 'b'\): expected the path of a file or folder, or several, found None",
    ),
    ({("a", "to", "b"): "cites.txt", ("a", "of", "b"): np.zeros((2, 2))}, {}, r"\('a', 'of', 'b'\): expected the path"),
]


@pytest.mark.parametrize(("relations", "options", "said"), WRONG)
def test_what_is_no_graph_of_types_is_refused(here, relations, options, said):
    with pytest.raises(CsawError, match=said):
        made(relations, **options)
    assert not (here / "g.zarr").exists()


def test_a_relation_without_a_file_is_refused(here):
    with pytest.raises(OptionError, match="'paper-cites-paper=': expected a file or folder after the =, found nothing"):
        relations_given(["author-writes-paper=writes.csv", "paper-cites-paper="])
    (here / "a-b-c=").write_text("1 2\n")
    assert relations_given(["a-b-c="]) is None


def test_more_relations_than_a_byte_numbers_are_refused(here):
    with pytest.raises(OptionError, match="at most 256 relations, found 257"):
        made({f"a-r{number}-b": "cites.txt" for number in range(257)})


def test_verify_finds_edges_between_other_types_than_those_of_their_relation(here):
    made()
    replaced(here / "g.zarr", f"partitions/00000/{RELATION.array}", lambda held: 1 - held)
    assert failed(here / "g.zarr") == {"fingerprint", "relations"}


def test_verify_finds_types_that_are_not_those_of_the_ids(here):
    made()

    def change(said):
        said["types"]["vertices"] = {"author": 3, "paper": 2}

    edited(here / "g.zarr", change)
    assert failed(here / "g.zarr") == {"types", "relations"}


def test_verify_finds_relations_with_another_name_or_other_numbers_of_edges(here):
    made()

    def rename(said):
        said["types"]["relations"][0]["name"] = "reviews"

    edited(here / "g.zarr", rename)
    assert failed(here / "g.zarr") == {"fingerprint"}
    made()

    def recount(said):
        for one, edges in zip(said["types"]["relations"], (3, 5), strict=True):
            one["edges"] = edges

    edited(here / "g.zarr", recount)
    assert failed(here / "g.zarr") == {"relations"}


FORGED = [
    lambda said: said.update(types=[]),
    lambda said: said["types"].update(vertices={"author": 2, "paper": 2}),
    lambda said: said["types"].update(vertices={"author": 2, "paper": "3"}),
    lambda said: said["types"].update(vertices={"author": 2, "papers": 3}),
    lambda said: said["types"]["relations"].pop(),
    lambda said: said["types"]["relations"][0].update(edges=-1),
    lambda said: said["types"]["relations"][0].update(name=""),
    lambda said: said.pop("types"),
    lambda said: said.update(edge_columns=[{"name": "relation", "dtype": "uint8", "units": "1"}]),
]


@pytest.mark.parametrize("change", FORGED, ids=map(str, range(len(FORGED))))
def test_a_store_whose_types_make_no_sense_is_not_opened(here, change):
    made()
    edited(here / "g.zarr", change)
    with pytest.raises(StoreError, match=r"zarr\.json"):
        open_graph(here / "g.zarr")


def hetero(torch, draw):
    from torch_geometric.data import HeteroData

    data = HeteroData()
    data["author"].num_nodes, data["paper"].x = 4, torch.ones(6, 2)
    for source, name, target in (
        ("author", "writes", "paper"),
        ("paper", "cites", "paper"),
        ("author", "reads", "paper"),
    ):
        sizes = [{"author": 4, "paper": 6}[one] for one in (source, target)]
        pairs = draw.choice(list(product(*map(range, sizes))), 9, replace=False)
        data[source, name, target].edge_index = torch.tensor(pairs.T.copy())
    return data


def test_hetero_data_is_a_graph_whose_nodes_are_numbers_of_their_type(here):
    torch, _ = need_package("torch"), need_package("torch_geometric")
    data = hetero(torch, np.random.default_rng(2))
    data["author", "reads", "paper"].edge_weight = torch.arange(9) + 1.0
    graph = csaw.graph(data)
    assert graph.types.span("paper") == (4, 10)
    wanted = []
    for source, name, target in data.edge_types:
        held = data[source, name, target]
        weights = getattr(held, "edge_weight", torch.ones(9)).tolist()
        for (a, b), w in zip(held.edge_index.T.tolist(), weights, strict=True):
            wanted.append((f"{source}:{a}", name, f"{target}:{b}", w))
    assert Counter(edges_of(graph)) == Counter(wanted)
    store = csaw.partition(data, "h.zarr")
    assert store.fingerprint == graph.fingerprint
    assert store.types == graph.types
    assert csaw.verify("h.zarr").ok


def test_hetero_data_keeps_types_without_relations_and_ids_of_few_bits(here):
    torch, data = need_package("torch"), need_package("torch_geometric.data").HeteroData()
    data["a"].num_nodes, data["b"].num_nodes, data["z"].num_nodes = 100, np.int64(200), 3
    data["a", "to", "b"].edge_index = torch.tensor([[0, 1], [100, 190]], dtype=torch.uint8)
    graph = csaw.partition(data, "h.zarr")
    assert edges_of(graph) == [("a:0", "to", "b:100"), ("a:1", "to", "b:190")]
    assert graph.types.span("z") == (300, 303)
    assert csaw.verify("h.zarr").ok
    data["a", "has", "b"].edge_attr = torch.ones(2)
    with pytest.raises(OptionError, match="a-has-b: expected an edge_index, found none"):
        csaw.graph(data)
    del data["a", "has", "b"]
    data["a", "of", "c"].edge_index = torch.tensor([[0], [0]])
    with pytest.raises(OptionError, match="c: expected num_nodes or features, found None"):
        csaw.graph(data)


def test_a_report_counts_rows_once_with_reverse_relations(here):
    (here / "q.txt").write_text("1 1\n1 2\n1 2\n")
    report = made({"a-x-a": "q.txt"}, reverse_relations=True).report
    assert [report[name] for name in ("edges", "duplicates", "self_loops")] == [3, 1, 1]


def test_a_window_counts_its_own_edges_of_each_relation(here):
    (here / "t.csv").write_text("source,target,time\n1,2,10\n2,1,20\n3,1,30\n")
    store = made({"a-x-b": "t.csv"}, time_column="time", reverse_relations=True)
    window = csaw.partition.graph.views.Windowed(store, csaw.partition.graph.views.Window(15, 25))
    assert window.types.edges == (1, 1)


def test_a_dict_of_neighbors_is_no_graph_of_types(here):
    store = csaw.partition({"550e8400-aa-b": ["x"], "e-f-g": ["y", "z"]}, "d.zarr")
    assert (store.types, store.edges) == (None, 3)


def test_hetero_data_with_options_or_wrong_nodes_is_refused(here):
    torch, _ = need_package("torch"), need_package("torch_geometric")
    data = hetero(torch, np.random.default_rng(3))
    with pytest.raises(OptionError, match="directed: a HeteroData object says this itself"):
        csaw.graph(data, directed=False)
    data["author", "writes", "paper"].edge_index[1, 0] = 6
    with pytest.raises(OptionError, match="author-writes-paper: targets: expected nodes from 0 to 5, found 6"):
        csaw.graph(data)
    data["author", "writes", "paper"].edge_index[1, 0] = 0
    for nodes in (5 * 10**13, 2**62):
        data["author"].num_nodes = nodes
        with pytest.raises(BudgetError, match="HeteroData: rows of .* vertices take at least"):
            csaw.graph(data)


def test_a_stream_whose_header_names_both_ends_in_another_order_is_refused(tmp_path):
    def piped(text):
        os.mkfifo(fifo := tmp_path / f"{len(os.listdir(tmp_path))}")
        writer = Thread(target=fifo.write_text, args=(text,))
        writer.start()
        try:
            return csaw.partition({"author-writes-paper": fifo}, tmp_path / "g.zarr", progress=False)
        finally:
            writer.join()

    with pytest.raises(OptionError, match="expected author and paper in the first two columns of"):
        piped("paper,author\n1,ann\n2,bob\n")
    store = piped("author_id,paper_id\nann,1\nbob,2\n")
    assert store.types.span("author") == (0, 2)
    assert store.vertex_ids()[0] == "author:ann"


def test_a_header_behind_a_first_file_without_one_names_the_ends_in_order_or_is_refused(tmp_path):
    folder = tmp_path / "writes"
    folder.mkdir()
    (folder / "0.csv").write_text("7,1\n")
    (folder / "1.csv").write_text("paper,author\n2,8\n")
    with pytest.raises(OptionError, match=r"first two columns of .*1.csv, found the header 'paper,author'"):
        csaw.partition({"author-writes-paper": folder}, tmp_path / "g.zarr", progress=False)
    (folder / "1.csv").write_text("author,paper\n8,2\n")
    store = csaw.partition({"author-writes-paper": folder}, tmp_path / "g.zarr", progress=False)
    wanted = [("author:7", "writes", "paper:1"), ("author:8", "writes", "paper:2")]
    assert sorted(edges_of(store)) == wanted
    (folder / "0.csv").write_text("author_id,paper_id\n7,1\n")
    (folder / "1.csv").write_text("8,2\n")
    assert sorted(edges_of(made({"author-writes-paper": folder}, tmp_path / "g.zarr"))) == wanted


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        ("author-knows-author", "author,author\nann,bob\n"),
        ("author-knows-author", "author_id;author_id\nann;bob\n"),
        ("author-writes-paper", "# paper author\n1 ann\n2 bob\n"),
        ("author-writes-paper", "% paper,author\n1,ann\n"),
    ],
)
def test_names_of_types_that_would_be_read_as_a_row_or_passed_over_are_refused(tmp_path, relation, text):
    (tmp_path / "rows.txt").write_text(text)
    with pytest.raises(OptionError, match="begins with .*, which names its columns"):
        made({relation: tmp_path / "rows.txt"}, tmp_path / "g.zarr")


def test_comments_that_name_ends_in_order_or_nothing_are_passed_over(tmp_path):
    (tmp_path / "rows.txt").write_text("# author paper\nann 1\nbob 2\n")
    out = tmp_path / "g.zarr"
    assert ("author:ann", "writes", "paper:1") in edges_of(made({"author-writes-paper": tmp_path / "rows.txt"}, out))
    (tmp_path / "rows.txt").write_text("# who knows whom\nann bob\n")
    found = edges_of(made({"author-knows-author": tmp_path / "rows.txt"}, out))
    assert found == [("author:ann", "knows", "author:bob")]
