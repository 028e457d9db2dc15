"""Formats that are read: each gives the edges that an independent reader finds in the same text."""

import gzip
import io

import numpy as np
import pytest
import scipy.io as scipy_io
from helpers.ingested import read, rows
from helpers.machine import need_package

import csaw
from csaw.partition.errors import CsawError

networkx = need_package("networkx")


def edges_of(graph, key="weight"):
    """(source, target[, weight]) of a networkx graph, undirected edges in both directions, sorted."""
    held = graph if graph.is_directed() else graph.to_directed()
    data = held.edges(data=key)
    return sorted((u, v) if w is None else (u, v, float(w)) for u, v, w in data)


MATRICES = {
    "two signs": "%%MatrixMarket matrix coordinate real general\n4 4 3\n1 2 0.5\n2 3 1\n3 4 2\n",
    "symmetric": "%%MatrixMarket matrix coordinate integer symmetric\n% a comment\n4 4 3\n2 1 5\n3 2 1\n4 3 2\n",
    "pattern": "%%MatrixMarket matrix coordinate pattern general\n4 4 3\n1 2\n2 3\n3 4\n",
    "small letters": "%%matrixmarket MATRIX Coordinate Real General\n4 4 2\n1 2 1.5e-3\n4 3 7\n",
    "blank lines": "%%MatrixMarket matrix coordinate real general\n\n%\n\n 3 3 2\n1 2 4\n3 1 5\n",
    "loops": "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 4\n2 1 5\n3 3 6\n",
}


def entries_of(text):
    found = scipy_io.mmread(io.StringIO(text.replace("%%matrixmarket", "%%MatrixMarket"))).tocoo()
    cells = zip((found.row + 1).tolist(), (found.col + 1).tolist(), found.data.tolist(), strict=True)
    is_pattern = "pattern" in text.lower()
    return sorted((u, v) if is_pattern else (u, v, float(np.float32(w))) for u, v, w in cells)


@pytest.mark.parametrize("name", ["m.mtx", "m.txt", "m.edges", "m.wel", "m"])
@pytest.mark.parametrize("text", MATRICES.values(), ids=MATRICES)
def test_matrix_market_is_read_as_scipy_reads_it_whatever_the_file_is_called(tmp_path, text, name):
    store = read(tmp_path, text, name)
    assert rows(store) == entries_of(text)
    assert store.report["read_as"][0].startswith("Matrix Market, ")


@pytest.mark.parametrize("text", MATRICES.values(), ids=MATRICES)
def test_a_banner_with_one_sign_is_a_banner(tmp_path, text):
    """Whose size line was an edge with a weight."""
    assert rows(read(tmp_path, text.replace("%%", "%", 1))) == entries_of(text)


@pytest.mark.parametrize("name", ["m.mtx", "m.txt", "m.edges", "m.wel", "m"])
@pytest.mark.parametrize("text", MATRICES.values(), ids=MATRICES)
def test_a_size_line_without_a_banner_is_no_edge(tmp_path, text, name):
    bare = text.partition("\n")[2]
    with pytest.raises(CsawError, match="--format matrix-market|--skip-lines"):
        read(tmp_path, bare, name)
    general = text.replace("symmetric", "general").replace("integer", "real")
    assert rows(read(tmp_path, bare, name, format="matrix-market")) == entries_of(general)


def test_a_size_line_above_many_rows_is_no_edge(tmp_path):
    """The last row decides whether it is one."""
    rng = np.random.default_rng(3)
    body = [f"{u} {v} {w}\n" for u, v, w in zip(*rng.integers(1, 999, (3, 200_000)), strict=True)]
    with pytest.raises(CsawError, match="edges.txt:1: the first row, 999 999 200000, is 'rows columns entries'"):
        read(tmp_path, "999 999 200000\n" + "".join(body))
    assert read(tmp_path, "999 999 200001\n" + "".join(body)).report["edges"] == 200_001
    kept = read(tmp_path, "999 999 200000\n" + "".join(body), format="edges")
    assert kept.report["edges"] == 200_001


GRAPHS = {
    "karate": networkx.karate_club_graph(),
    "cycle": networkx.cycle_graph(40),  # each line has two numbers, as an edge has
    "star": networkx.star_graph(9),
    "grid": networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(6, 7)),
    "random": networkx.gnm_random_graph(60, 150, seed=4),
    "with lonely vertices": networkx.gnm_random_graph(60, 40, seed=5),
    "complete": networkx.complete_graph(4),  # each line has three numbers, as a weighted edge has
}


def as_metis(graph, weighted=False, sizes=""):
    """METIS's manual 5.1, section 4.1.1, written from a networkx graph with vertices 0 .. V - 1."""
    fmt = {"": " 001" if weighted else "", "3 ": f" 10{int(weighted)}", "3 4 ": f" 01{int(weighted)} 2"}[sizes]
    lines = [f"{len(graph)} {graph.number_of_edges()}{fmt}"]
    for vertex in sorted(graph):
        near = sorted(graph[vertex])
        cells = [f"{other + 1} {1 + (vertex + other) % 5}" if weighted else f"{other + 1}" for other in near]
        lines.append(sizes + " ".join(cells))
    return "\n".join(lines) + "\n"


def shifted(graph, weighted=False):
    found = networkx.Graph()
    for u, v in graph.edges:
        found.add_edge(u + 1, v + 1, **({"weight": 1 + (u + v) % 5} if weighted else {}))
    return edges_of(found)


@pytest.mark.parametrize("name", ["g.graph", "g.metis", "g.txt", "g"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_metis_is_known_by_its_content(tmp_path, graph, weighted, name):
    store = read(tmp_path, "% a comment\n" + as_metis(graph, weighted), name)
    assert rows(store) == shifted(graph, weighted)
    assert not store.directed
    assert store.report["read_as"][0].startswith("METIS")


@pytest.mark.parametrize("sizes", ["3 ", "3 4 "], ids=["sizes", "two weights of a vertex"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_numbers_of_the_vertices_of_metis_are_passed_over_with_a_word(tmp_path, graph, weighted, sizes):
    store = read(tmp_path, as_metis(graph, weighted, sizes), format="metis")
    assert rows(store) == shifted(graph, weighted)
    assert store.report["warnings"][0] == "sizes and weights of vertices are not read"


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_what_metis_says_twice_must_agree(tmp_path, graph):
    """Each edge is in two lines; the counts of the first line hold."""
    lines = as_metis(graph, weighted=True).splitlines()
    vertices, edges, _ = lines[0].split()
    busy = next(k for k, line in enumerate(lines[1:], 1) if line)
    other = lines[busy].split()
    spoiled = {
        "in the lines of both its ends, with one weight": [" ".join([other[0], "9", *other[2:]])],
        "in the lines of both": [" ".join(other[2:])],
        "neighbors from 1 to": [" ".join([str(len(lines)), *other[1:]])],
        "other than the vertex itself": [" ".join([str(busy), *other[1:]])],
        "as many numbers as the first line says": [" ".join(other[:-1])],
        "expected numbers of vertices": [" ".join(["x", *other[1:]])],
    }
    for message, changed in spoiled.items():
        text = "\n".join(lines[:busy] + changed + lines[busy + 1 :])
        with pytest.raises(CsawError, match=message):
            read(tmp_path, text, format="metis")
    for first, message in ((f"{vertices} {int(edges) + 1} 001", "edges by the first line"), ("x 3", "the counts")):
        with pytest.raises(CsawError, match=message):
            read(tmp_path, "\n".join([first, *lines[1:]]), format="metis")
    with pytest.raises(CsawError, match="vertices by the first line"):
        read(tmp_path, "\n".join([f"{int(vertices) + 1} {edges} 001", *lines[1:]]), format="metis")


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_an_export_as_metis_is_read_as_the_same_graph(tmp_path, graph, weighted):
    import csaw

    named = networkx.Graph()
    named.add_nodes_from(vertex + 1 for u, v in graph.edges for vertex in (u, v))
    for u, v in graph.edges:
        named.add_edge(u + 1, v + 1, **({"weight": 1 + (u + v) % 5} if weighted else {}))
    named = networkx.convert_node_labels_to_integers(named, 1, "sorted")
    store = csaw.partition(named, tmp_path / "first.zarr")
    csaw.export(store, tmp_path / "out.graph")
    again = csaw.partition(tmp_path / "out.graph", tmp_path / "second.zarr")
    assert again.fingerprint == store.fingerprint
    assert rows(again) == rows(store)


@pytest.mark.parametrize("name", ["x.graph", "x.metis", "x.gml", "x.gr", "x.adj", "x.net"])
@pytest.mark.parametrize("text", ["1 2\n2 3\n3 1\n", "1 2 0.5\n2 3 1\n", "4 5\n1 2\n2 3\n", "a b\nb c\n"])
def test_an_edge_list_may_be_called_anything(tmp_path, name, text):
    assert rows(read(tmp_path, text, name)) == rows(read(tmp_path, text))


def test_a_large_metis_graph_is_known_by_the_lines_that_are_there(tmp_path):
    graph = networkx.gnm_random_graph(60_000, 180_000, seed=1)
    assert rows(read(tmp_path, as_metis(graph), "g.graph", threads=2)) == shifted(graph)
    ring = networkx.cycle_graph(200_000)
    assert rows(read(tmp_path, as_metis(ring), "g.txt")) == shifted(ring)


def lists(graph, form):
    return "".join(form(u, sorted(graph[u])) + "\n" for u in graph)


FORMS = {
    "colon": lambda u, near: f"{u}: {' '.join(map(str, near))}",
    "colon between blanks": lambda u, near: f"{u} : {' '.join(map(str, near))}",
    "tab": lambda u, near: f"{u}:\t" + "\t".join(map(str, near)),
}
WORDS = {k: networkx.relabel_nodes(g, {v: f"v{v}" for v in g}) for k, g in GRAPHS.items()}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("graph", [*GRAPHS.values(), *WORDS.values()], ids=[*GRAPHS, *(f"words {k}" for k in WORDS)])
def test_a_colon_behind_each_vertex_makes_adjacency_lists(tmp_path, graph, form):
    store = read(tmp_path, lists(graph, form))
    assert [row[:2] for row in rows(store)] == [row[:2] for row in edges_of(graph, key="none")]
    assert store.report["read_as"][0].startswith("adjacency lists")


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("graph", [*GRAPHS.values(), *WORDS.values()], ids=[*GRAPHS, *(f"words {k}" for k in WORDS)])
def test_lists_of_networkx_are_read_as_networkx_reads_them(tmp_path, graph, directed):
    """By the comments that it writes, by the suffix, or by the option."""
    kind = networkx.DiGraph if directed else networkx.Graph
    networkx.write_adjlist(kind(graph), tmp_path / "written")
    text = (tmp_path / "written").read_text()
    known = networkx.read_adjlist(tmp_path / "written", nodetype=type(next(iter(graph))), create_using=kind)
    bare = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    for given, name, options in ((text, "g", {}), (bare, "g.adjlist", {}), (bare, "g.txt", {"format": "adjacency"})):
        store = read(tmp_path, given, name, directed=directed, **options)
        assert rows(store) == edges_of(known)


@pytest.mark.parametrize(
    "text",
    ["1 2 3\n2 3\n3 4 5 6\n", "0 1 2\n1 0\n2\n", "1 2\n2 3 4\n3 1\n4 1 2 3\n", "1\n2 1\n3 1 2\n", "5 6 7 8\n6 7\n"],
)
def test_lists_that_nothing_tells_from_rows_are_refused_and_skipping_is_no_advice(tmp_path, text):
    with pytest.raises(CsawError, match="--format adjacency") as caught:
        read(tmp_path, text)
    assert "--on-error skip" not in str(caught.value)
    known = networkx.parse_adjlist(text.splitlines(), nodetype=int, create_using=networkx.DiGraph)
    assert rows(read(tmp_path, text, format="adjacency")) == edges_of(known)


@pytest.mark.parametrize(
    "text", ["1 2 3\n2 3 1\n3 1 2\n", "0 1 2\n1 2 3\n2 3 0\n3 0 1\n", "1,2,3\n2,1,3\n3,1,2\n", "9 8 7\n8 7 9\n7 9 8\n"]
)
def test_lists_of_equal_length_are_weights_with_a_word(tmp_path, text):
    store = read(tmp_path, text)
    assert "third column is read as weights" in store.report["warnings"][0]
    assert "--format adjacency" in store.report["warnings"][0]
    assert read(tmp_path, text, weight_column="3").report["warnings"] == []
    if "," not in text:
        known = networkx.parse_adjlist(text.splitlines(), nodetype=int, create_using=networkx.DiGraph)
        assert rows(read(tmp_path, text, format="adjacency")) == edges_of(known)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("mark", ["->", "-->", "=>", "==>", "\u2192"])
@pytest.mark.parametrize("weighted", [False, True], ids=["pairs", "weighted"])
@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
def test_an_arrow_between_the_ends_is_no_vertex(tmp_path, mark, weighted, words, packed):
    rng = np.random.default_rng(6)
    pairs = sorted(set(map(tuple, rng.integers(0, 50, (300, 2)).tolist())))
    name = (lambda v: f"v{v}") if words else int
    expected = sorted((name(u), name(v), *([float(u % 7)] if weighted else [])) for u, v in pairs)
    lines = [f"{u} {mark} {v}{f' {w[0]:g}' if w else ''}\n" for u, v, *w in expected]
    text = "".join(lines).encode()
    store = read(tmp_path, gzip.compress(text) if packed else text)
    assert sorted(rows(store)) == expected
    assert f"with '{mark}' between them" in store.report["read_as"][0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1->2", [(1, 2)]),
        ("7 <- 8", [(8, 7)]),
        ("7 <-- 8 0.5", [(8, 7, 0.5)]),
        ("1 -- 2", [(1, 2), (2, 1)]),
        ("1 <-> 2", [(1, 2), (2, 1)]),
        ("1 | 2", [(1, 2)]),
        ("1|2|0.5", [(1, 2, 0.5)]),
        ("a|b", [("a", "b")]),
    ],
)
def test_other_marks_say_what_they_mean(tmp_path, line, expected):
    assert rows(read(tmp_path, f"{line}\n")) == expected


@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
@pytest.mark.parametrize("odd", ["3 4", "3 <- 4", "3 -- 4", "3 -> 4 -> 5", "-> 4", "3 ->", "3 => 4"])
def test_each_row_has_the_mark_of_the_first(tmp_path, odd, far):
    text = "1 -> 2\n2 -> 3\n" * (500 if far else 1) + odd + "\n5 -> 6\n"
    with pytest.raises(CsawError, match="edges.txt:"):
        read(tmp_path, text)
    if far:
        kept = read(tmp_path, text, on_error="skip")
        assert (rows(kept), kept.report["skipped"]) == ([(1, 2), (2, 3), (5, 6)], 1)


@pytest.mark.parametrize("sizes", [True, False], ids=["with sizes", "without sizes"])
@pytest.mark.parametrize("weights", ["unweighted", "positive", "posweighted", "weighted", "multiweighted"])
def test_both_sides_of_a_konect_file_stay_apart(tmp_path, weights, sizes):
    """Each is numbered from 1: target 1 is another vertex than source 1."""
    pairs = [(1, 1), (1, 2), (2, 1), (3, 3)]
    cell = "" if weights == "unweighted" else " 2"
    text = f"% bip {weights}\n" + "% 4 3 3\n" * sizes + "".join(f"{u} {v}{cell}\n" for u, v in pairs)
    graph = networkx.Graph((u, 3 + v) for u, v in pairs)
    options = {} if sizes else {"target_offset": 3}
    if not sizes:
        with pytest.raises(CsawError, match="--target-offset N, at least the largest source"):
            read(tmp_path, text)
    store = read(tmp_path, text, **options)
    assert [row[:2] for row in rows(store)] == edges_of(graph)
    assert "3 added to targets" in store.report["read_as"][0]
    merged = networkx.Graph(pairs)
    assert [row[:2] for row in rows(read(tmp_path, text, target_offset=0))] == edges_of(merged)


@pytest.mark.parametrize("weights", ["unweighted", "positive", "weighted", "signed", "dynamic"])
@pytest.mark.parametrize("way", ["sym", "asym"])
def test_konect_says_whether_edges_have_a_direction(tmp_path, way, weights):
    text = f"% {way} {weights}\n% 3 4 4\n1 2\n2 3\n4 1\n"
    graph = (networkx.Graph if way == "sym" else networkx.DiGraph)([(1, 2), (2, 3), (4, 1)])
    assert rows(read(tmp_path, text)) == edges_of(graph)
    assert len(rows(read(tmp_path, text, directed=way == "sym"))) != graph.number_of_edges() * (2 - (way == "asym"))


def test_the_sides_of_a_konect_file_stay_apart_whichever_is_the_source(tmp_path):
    text = "% bip unweighted\n% 3 2 5\n1 1\n2 5\n1 3\n"
    turned = networkx.Graph([(1, 5 + 1), (5, 5 + 2), (3, 5 + 1)])
    assert rows(read(tmp_path, text, source_column=2, target_column=1)) == edges_of(turned)
    as_edges = networkx.Graph([(1, 2 + 1), (2, 2 + 5), (1, 2 + 3)])
    assert rows(read(tmp_path, text, format="edges")) == edges_of(as_edges)
    with pytest.raises(CsawError, match="--target-offset N, at least the largest source"):
        read(tmp_path, "% bip unweighted\n% 2 2 2\n0 1 1\n0 2 2\n", source_column=2, target_column=3)


@pytest.mark.parametrize("options", [{}, {"source_column": 2, "target_column": 1}])
def test_a_source_beyond_the_count_of_a_konect_file_is_an_error(tmp_path, options):
    text = "% bip unweighted\n% 3 2 2\n1 1\n2 2\n3 3\n"
    with pytest.raises(CsawError, match="says that there are 2 sources, and one source is 3; pass --target-offset N"):
        read(tmp_path, text, **options)
    assert read(tmp_path, text, target_offset=3, **options).vertices == 6
    with pytest.raises(CsawError, match="2 is added to each target, and one source is 3; pass --target-offset N"):
        read(tmp_path, text, target_offset=2, **options)


def test_konect_files_with_sides_of_different_sizes_are_no_one_graph(tmp_path):
    for name, sizes in (("a", "2 2"), ("b", "5 2")):
        (tmp_path / name).write_text(f"% bip unweighted\n% 2 {sizes}\n1 1\n2 2\n")
    files = [str(tmp_path / name) for name in "ab"]
    with pytest.raises(
        CsawError, match="b: expected target offset: 2, as in .*a, found 5; .* say how with target_offset"
    ):
        csaw.partition(files, tmp_path / "g.zarr")
    assert csaw.partition(files, tmp_path / "g.zarr", target_offset=5).report["target_offset"] == 5


@pytest.mark.parametrize("text", ["1 -- 2\n3 -- 4\n", "1--2\n3--4\n", "1\t--\t2\n3\t--\t4\n"])
def test_arrows_between_ends_are_no_vertices_where_rows_of_edges_are_asked_for(tmp_path, text):
    graph = networkx.Graph([(1, 2), (3, 4)])
    assert rows(read(tmp_path, text, format="edges")) == edges_of(graph) == rows(read(tmp_path, text))


@pytest.mark.parametrize("signs", [";", ",", "; ", " ", "mixed"])
def test_adjacency_lists_with_any_separator(tmp_path, signs):
    text = "1;2,3\n2 3\n" if signs == "mixed" else f"1{signs}2{signs}3\n2{signs}3\n"
    graph = networkx.DiGraph([(1, 2), (1, 3), (2, 3)])
    assert rows(read(tmp_path, text, format="adjacency")) == edges_of(graph)


@pytest.mark.parametrize("word", ["% bip", "% Bip", "% BIP unweighted", "%bip ", "% bip posweighted of 2013"])
def test_konects_first_word_is_enough(tmp_path, word):
    both = networkx.Graph([(1, 2 + 1), (2, 2 + 3), (1, 2 + 2)])
    assert rows(read(tmp_path, f"{word}\n% 3 2 3\n1 1\n2 3\n1 2\n")) == edges_of(both)
