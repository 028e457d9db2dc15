"""Formats that are not read: each is refused by its name with the way to read it, never taken for rows of edges."""

import io
import json

import numpy as np
import pytest
from helpers.ingested import read, rows
from helpers.machine import need_package

import csaw
from csaw.partition.errors import CsawError

networkx = need_package("networkx")
KARATE = networkx.karate_club_graph()
NAMES = ["g.txt", "g.edges", "g", "g.csv", "g.graph"]


def written(write, graph=KARATE):
    """The text that networkx or igraph writes of a graph."""
    out = io.BytesIO()
    write(graph, out)
    return out.getvalue().decode()


def tgf(graph, label):
    vertices = "".join(f"{v} {label(v)}".rstrip() + "\n" for v in graph)
    return f"{vertices}#\n" + "".join(f"{u} {v}\n" for u, v in graph.edges)


def lgl(graph, weight):
    return "".join(
        f"# {u}\n" + "".join(f"{v}{weight}\n" for v in graph[u] if v > u) for u in graph if any(v > u for v in graph[u])
    )


def sif(graph, kind, name=str):
    return "".join(f"{name(u)} {kind(u)} {name(v)}\n" for u, v in graph.edges)


PAIRS = [(1, 2), (2, 3), (3, 1), (4, 2)]
CASES = {
    "GraphML": [
        written(networkx.write_graphml),
        "<graphml>\n</graphml>",
        "<?xml version='1.0'?>\n<!-- by hand -->\n<graphml>",
        "<!DOCTYPE x>\n<graphml>",
        "\n\n<GraphML>\n",
    ],
    "GEXF": [
        written(networkx.write_gexf),
        "<gexf>\n</gexf>",
        "<?xml version='1.0'?>\n<gexf xmlns='x'>",
        "<!-- x -->\n<gexf>",
        "<g:gexf>",
    ],
    "GML": [
        "\n".join(networkx.generate_gml(KARATE)),
        "graph\n[\n  node [ id 1 ]\n]\n",
        'Creator "x"\nVersion 1\ngraph\n[',
        "# x\ngraph [",
        "GRAPH [ directed 1",
    ],
    "Pajek": [
        "\n".join(networkx.generate_pajek(KARATE)),
        "*Vertices 2\n1 a\n2 b\n*Edges\n1 2\n",
        "*vertices 3\r\n*arcs\r\n1 2\r\n",
        "*Arcs\n1 2 1\n2 3 1\n",
        "% x\n*Network x\n*Vertices 2\n",
    ],
    "DOT": [
        "strict graph {\n 1 -- 2;\n}\n",
        'digraph "G" {\n a -> b [weight=3];\n}\n',
        "graph G{1--2}",
        "// x\ndigraph {\n",
        "/* x */ digraph G\n{\n a -> b\n}\n",
    ],
    "JSON of nodes and links": [
        json.dumps(networkx.node_link_data(KARATE)),
        json.dumps(networkx.node_link_data(KARATE), indent=1),
        '{"links": []}',
        '\n{ "edges": [[1, 2]] }',
        '{"adjacency": []}',
    ],
    "JSON in lines": [
        "".join(json.dumps({"source": u, "target": v}) + "\n" for u, v in PAIRS),
        '{"a": 1}\n{"a": 2}\n',
        '{"s":1,"t":2}\r\n{"s":2,"t":3}\r\n',
        '{ "s": "a" }\n\n{ "s": "b" }\n',
        "".join(json.dumps({"e": [u, v]}) + "\n" for u, v in PAIRS),
    ],
    "UCINET DL": [
        "dl n=3 format=edgelist1\nlabels:\na,b,c\ndata:\n1 2\n",
        "DL N = 5\nDATA:\n0 1\n",
        "dl format=nodelist1 n=3\n",
        "dl nr=3, nc=4\n",
        "dl, n=3\n",
    ],
    "graph6": [
        written(networkx.write_graph6),
        ">>graph6<<A_\n",
        ">>graph6<<Bw\n>>graph6<<A_\n",
        "\n>>graph6<<D?{",
        ">>graph6<<@",
    ],
    "sparse6": [written(networkx.write_sparse6), ">>sparse6<<:A_\n", ":Fa@x^\n", ":An\n:Bcf\n", "\n:DaY_~"],
    "GDF": [
        "nodedef>name VARCHAR\na\nedgedef>node1,node2\na,b\n",
        "nodedef> name\n",
        "NODEDEF>name,label\n1,2\n",
        "nodedef >x",
        "\nnodedef>a",
        "edgedef>node1 VARCHAR,node2 VARCHAR\na,b\nb,c\n",
        "edgedef> node1,node2\n1,2\n",
    ],
    "DIMACS": [
        "c road\np sp 3 2\na 1 2 3\na 2 3 4\n",
        "p edge 3 2\ne 1 2\ne 2 3\n",
        "c a\nc b\n\np col 3 2\ne 1 2\n",
        "e 1 2\ne 2 3\n",
        "a 1 2 30\na 2 1 30\n",
        "c x\ne 1 2\ne 3 2\n",
    ],
    "gSpan": [
        "t # 0\nv 0 1\nv 1 1\ne 0 1 2\n",
        "t # -1\n",
        "v 0 a\nv 1 b\ne 0 1 x\n",
        "t # 1\nv 0 0\nt # 2\nv 0 0\n",
        "\nt # 7\nv 0 3\ne 0 0 1\n",
    ],
    "TGF": [
        tgf(KARATE, lambda v: f"n{v}"),
        tgf(KARATE, lambda v: v),
        tgf(networkx.path_graph(200), lambda v: f"a{v}"),
        "1 January\n2 March\n#\n1 2\n",
        "1 x\r\n2 y\r\n#\r\n1 2 label\r\n",
    ],
    "LGL": [
        lgl(KARATE, " 0.5"),
        lgl(KARATE, ""),
        lgl(networkx.relabel_nodes(KARATE, {v: f"v{v:02d}" for v in KARATE}), " 2"),
        "# 1\n2\n3\n# 2\n3\n",
        "# a\nb 1\n# b\nc 2\n",
    ],
    "SIF": [
        sif(KARATE, lambda v: "pp"),
        sif(KARATE, lambda v: ("pp", "pd")[v % 2]),
        sif(KARATE, lambda v: "pp", "v{}".format),
        "1\txx\t2\n2\txx\t3\n",
        "a xx b\n",
        "1 is 2\n3 is 4\n",
    ],
    "a multiline adjacency list of networkx": [
        "".join(f"{line}\n" for line in networkx.generate_multiline_adjlist(graph))
        for graph in (
            KARATE,
            networkx.path_graph(3),
            networkx.star_graph(5),
            networkx.DiGraph([(1, 2)]),
            networkx.cycle_graph(9),
        )
    ],
    "an edge list of networkx with data in braces": [
        written(networkx.write_edgelist),
        written(networkx.write_edgelist, networkx.path_graph(5)),
        "1 2 {'weight': 3}\n2 3 {'weight': 1, 'a': 2}\n",
        "a b {}\nb c {}\n",
        "1 2 {}\n",
        "(0, 0) (0, 1) {}\n(0, 1) (1, 1) {}\n",
    ],
    "a list in brackets": [
        *(
            "".join(form % pair for pair in PAIRS)
            for form in ("(%s, %s)\n", "[%s, %s]\n", "{%s,%s}\n", "(%s,%s),\n", "<%s, %s>\n")
        ),
        f"{PAIRS}\n",
        json.dumps(PAIRS) + "\n",
        json.dumps(PAIRS, indent=1),
        "(a,b)\n(b,c)\n",
        "('a', 'b')\n('b', 'c')\n",
        "(1, 2, 0.5)\n(2, 3, 1)\n",
        "1 [2, 3]\n2 [3]\n",
        "1: [2, 3]\n2: [3]\n",
        "{1: [2, 3], 2: [3]}\n",
        "((1, 2))\n((2, 3))\n",
        "(0, 0) (0, 1)\n(0, 1) (1, 1)\n",
        *("".join(form % pair for pair in PAIRS) for form in ("%s&%s [weight=7]\n", "v%s [to=%s]\n")),
    ],
    "pairs of numbers with ':' between": [
        "1:2\n2:3\n",
        "1:2 0.5\n2:3 1\n",
        "1:2,3\n2:3,4\n",
        "1 2:0.5\n2 3:0.5\n",
        "1 2:1 3:1\n2 3:1 4:1\n",
    ],
    "rows with a word before the edge": [
        "Edge 1, 2\nEdge 2, 3\n",
        "edge a; b\nedge b; c\n",
        "Arc 5, 6, 0.5\nArc 6, 7, 1\n",
        "LINK x,y\nLINK y,z\n",
        "from 1, 2\nfrom 3, 4\n",
        "Edge 0 1\nEdge 1 2\n",
        "Edge 0 1 {}\nEdge 1 2 {}\n",
        "arc a b\narc b c\n",
        "x,1,2\nx,2,3\n",
        "link\t5\t6\n",
        "from 1 2 0.5\nfrom 2 3 1\n",
    ],
    "words in single quotes": [
        "'a' 'b'\n'b' 'c'\n",
        "'a','b'\n'b','c'\n",
        "'a'; 'b'; 1\n",
        "'1' '2'\n'2' '3'\n",
        "x 'a', 'b'\ny 'b', 'c'\n",
    ],
    "rows that end with a semicolon": ["x y;\ny x;\n", "a b;\nb c;\n", "1 2;\n2 3;\n", "a,b;\nb,c;\n", "1\t2;\n"],
    "are vertices, too": [
        "a:b c\nb:c d\nc:d a\nd:a b\n",
        "a b:2\nb c:3\nc a:1\n",
        "x:y\ny:z\nz:x\n",
        "p:q r s\nq:r s p\nr:p q\ns:p\n",
        "v1 v2:0.5\nv2 v1:0.5\n",
        "a b:2\nb c:3\nc\n",
    ],
    "is between the ends": [
        "1->>2 5\n2->>3 1\n",
        "1 ::: 2\n2 ::: 3\n",
        "1~~2\n",
        "a->b 2\nb->c 3\n",
        "1 =>> 2\n",
        "a == b c\nd == e f\n",
        "a->b : 1\nb->c : 2\n",
    ],
    "may be a vertex and its weight": [
        "p q:2\nr s:0.5\n",
        "a b:1e-3\n",
        "a b:1\nc d:2\n",
        "a,b:1\nc,d:2\n",
        "x y:80\n",
    ],
    "an edge followed by a weight in brackets": [
        "a,b (5)\nb,c (6)\n",
        "a\tb (0.5)\n",
        "a b (1)\n",
        "1,2 (3)\n",
        "a;b (1e-3)\n",
    ],
    "found brackets after it": [
        "a|b [w=1]\nb|c [w=1]\n",
        "a|b {1}\n",
        "1 -> 2 [w=1]\n",
        "a -- b (2)\nb -- c (3)\n",
        "1|2 (0.5)\n",
    ],
    "is between words of one cell": [
        "1 - 2,3\n2 - 3,4\n",
        "a ~ b,5\n",
        "alice knows bob;5\nbob knows carol;3\n",
        "1 to 2,0.5\n2 to 3,1\n",
        "a / b\t5\n",
        "1 & 2,3\n",
    ],
    "the row has a colon after its first word and a number at its end": [
        "1: 2 0.5\n2: 3 1\n",
        "a : b 5\nb : c 5\n",
        "1|2 : 5\n2|3 : 6\n",
        "a: 0.5\n",
        "1: 2,0.5\n",
        "a-b: 3\nb-c: 4\n",
    ],
    "expected a decimal point": [
        "a;b;0,5\nb;c;1,25\n",
        "a b 3,5\nb c 3,5\n",
        "a;b;0,5;0,7\nb;c;0,7;0,8\n",
        "1;2;0,5\n",
        "x y 0,5\n",
        "source;target;weight\na;b;0,5\n",
    ],
    "is between the ends, as in": [
        "TP53<->Q42 [weight=12]\nQ42<->x [weight=3]\n",
        "a->b [w=1]\n",
        "a--b (2)\nb--c (3)\n",
        "x==>y {2}\n",
        "a<-b [1]\n",
    ],
    "'->' and a comma or semicolon both separate": [
        "a -> b,7\nb -> c,8\n",
        "n -> a.b; 7\n",
        "x -> y,1\n",
        "1 -> a,1e-3\n",
        "née -> a.b , 7\n",
    ],
    "pairs of numbers with '>' between": ["1>2 3\n2>3 0.5\n", "1>2\n", "1>2,3\n3>4,5\n", "10>20\n20>30\n", "1>2 .5\n"],
    "'|' and a comma or semicolon both separate": [
        "TP53 | eve,0.5\neve | bob,2\n",
        "a|b,5\n",
        "1 | 2,3\n2 | 3,4\n",
        "a | b; 0.5\n",
        "x|y ,1e-3\n",
    ],
    "a PDF document": [f"%PDF-1.{k}\n%x\n1 0 obj\n<< /Type /Catalog >>\n" for k in range(5)],
    "would be a vertex": [
        "a - 1\nb - 3\n",
        "a ->\nb ->\n",
        "-> a\n-> b\n",
        "a ---\nb ---\n",
        "== ==\n",
        "~~ a\n~~ b\n",
    ],
    "columns of a vertex table": [
        "Id,Label\n1,x\n2,y\n",
        "id\tname\na\tb\n",
        "node;label\na;b\n",
        "nodeId,Label\na,b\n",
        "vertex,name\nx,y\n",
    ],
    "found names of columns below": [
        "--1\t2\nsource\ttarget\n1\t2\n",
        "a b\nsrc dst\nb c\n",
        "x,y\nfrom,to\nx,z\n",
        "t u\nnode1 node2\na b\n",
        "a;b;1\nsource;target;weight\n",
    ],
    "quotes that begin inside a cell": [
        'Edge "a", "b"\nx "b", "c"\n',
        'x "1"; 2\ny "3"; 4\n',
        'the "a"\tb\n',
        'p "q",r\n',
        'of "x", y\n',
    ],
    "a row that ends with a cell": [
        "a -> b;\n",
        "1|2,\n2|3,\n",
        "1 -- 2;\n2 -- 3;\n",
        "a <- b,\nb <- c,\n",
        "x | y;\n",
    ],
    "a web page": [
        "<!DOCTYPE html>\n<html><body>404</body></html>\n",
        "<html>\n1 2\n2 3\n</html>\n",
        "\n<!-- x -->\n<HTML lang='en'>\n",
        "<head><title>x</title>\n",
        "<!doctype HTML PUBLIC '-//W3C'>\n1 2\n",
    ],
    "RDF": [
        "<http://a> <http://p> <http://b> .\n<http://b> <http://p> <http://c> .\n",
        '<a:x> <a:y> "text" .\n',
        "@prefix a: <http://a> .\na:b a:c a:d .\n",
        "# x\n@prefix a: <http://a> .\n",
        "<a> <b> _:c .\n",
    ],
    "an adjacency graph of Ligra": [
        "AdjacencyGraph\n3\n2\n0\n1\n2\n1\n2\n",
        "WeightedAdjacencyGraph\n3\n",
        "\nAdjacencyGraph\n1\n",
        "ADJACENCYGRAPH\n2\n",
        "adjacencygraph 3 2\n",
    ],
    "a dump of a database": [
        "CREATE TABLE edges (a int, b int);\nINSERT INTO edges VALUES (1, 2);\n",
        "INSERT INTO e VALUES (1,2);\n",
        "-- dump\nDROP TABLE IF EXISTS e;\n",
        "COPY e (a, b) FROM stdin;\n1\t2\n",
        "/* x */\ncreate table e (a int);\n",
    ],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("what", "text"), [(what, text) for what, texts in CASES.items() for text in texts])
def test_a_known_format_is_refused_by_name(tmp_path, what, text, name):
    with pytest.raises(CsawError) as caught:
        read(tmp_path, text, name)
    assert what in str(caught.value)
    assert any(
        way in str(caught.value)
        for way in ("write ", "csaw.partition(", "csaw partition -", "--source-column", "rows", "lines", "--format")
    )


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("e 1 2\ne 2 3\n", {"source_column": 2, "target_column": 3, "weight_column": "none"}, [(1, 2), (2, 3)]),
        (
            "a 1 2 5\na 2 3 7\n",
            {"source_column": 2, "target_column": 3, "weight_column": 4},
            [(1, 2, 5.0), (2, 3, 7.0)],
        ),
        ("1 pp 2\n2 pp 3\n", {"source_column": 1, "target_column": 3, "weight_column": "none"}, [(1, 2), (2, 3)]),
        (
            "a pp b\nb pp c\n",
            {"source_column": 1, "target_column": 3, "weight_column": "none"},
            [("a", "b"), ("b", "c")],
        ),
        ("1 pp 2\n2 pd 3\n", {"weight_column": 3}, [("1", "pp", 2.0), ("2", "pd", 3.0)]),
        ("1 2 {}\n2 3 {}\n", {"weight_column": "none"}, [(1, 2), (2, 3)]),
        (
            "hub 1 5\nhub 2 6\n",
            {"source_column": 1, "target_column": 2},
            [("hub", "1", 5.0), ("hub", "2", 6.0)],
        ),
        ("a - b,5\nb - c,6\n", {"format": "edges"}, [("a - b", "5"), ("b - c", "6")]),
        ("a: 1\nb: 2\n", {"format": "adjacency"}, [("a", "1"), ("b", "2")]),
        ("1 2 {'weight': 3}\n2 3 {'a': 1, 'b': 2}\n", {"weight_column": "none"}, [(1, 2), (2, 3)]),
    ],
)
def test_the_way_out_is_one(tmp_path, text, options, expected):
    assert sorted(rows(read(tmp_path, text, **options))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 alice 0.5\n2 bob 2\n", [("1", "alice", 0.5), ("2", "bob", 2.0)]),
        ("a x 1\nb y 2\n", [("a", "x", 1.0), ("b", "y", 2.0)]),
        ("p q 3\nq r 2\n", [("p", "q", 3.0), ("q", "r", 2.0)]),
        ("# part\n1 2\n# part\n2 3\n", [(1, 2), (2, 3)]),
        ("# one\n1 2\n# two\n2 3\n", [(1, 2), (2, 3)]),
        ("1 2\n#\n# more\n#\n2 3\n", [(1, 2), (2, 3)]),
        ("[a] [b]\n[b] [c]\n", [("[a]", "[b]"), ("[b]", "[c]")]),
        ("<http://a> <http://b>\n", [("<http://a>", "<http://b>")]),
        ("x->y z\nz x->y\n", [("x->y", "z"), ("z", "x->y")]),
        ("a:b c:d\nc:d e\n", [("a:b", "c:d"), ("c:d", "e")]),
        ("graph theory\ntheory graph\n", [("graph", "theory"), ("theory", "graph")]),
        ("e f\nf e\n", [("e", "f"), ("f", "e")]),
        ("x 1 2\ny 2 3\n", [("x", "1", 2.0), ("y", "2", 3.0)]),
        ("hub 1 0.5\nhub 2 0.25\n", [("hub", "1", 0.5), ("hub", "2", 0.25)]),
        ("hub 1\nhub 2\n", [("hub", "1"), ("hub", "2")]),
        ("New York City,5\nLos Angeles County,6\n", [("Los Angeles County", "6"), ("New York City", "5")]),
        ("New York,5\nBonn,7\n", [("Bonn", "7"), ("New York", "5")]),
        ("a: b c\nb: c a\n", [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c")]),
    ],
)
def test_rows_that_look_a_little_like_another_format_are_rows(tmp_path, text, expected):
    assert sorted(rows(read(tmp_path, text))) == expected


@pytest.mark.parametrize(
    "text", ["1 2\n#\n2 3\n", "e 1 2\ne 2 3\n", "1 pp 2\n", "t v\nv e\n", "# a\nb 1\n# b\nc 2\n", "(a b)\n(b c)\n"]
)
def test_rows_of_edges_can_be_insisted_on(tmp_path, text):
    assert read(tmp_path, text, format="edges").report["edges"] == sum(
        line[:1] not in "#" for line in text.splitlines()
    )


@pytest.mark.parametrize("kind", ["metis", "adjacency"])
@pytest.mark.parametrize(
    "option", [{"source_column": 2}, {"weight_column": 3}, {"time_column": 3}, {"edge_columns": ("a",)}]
)
def test_lists_of_neighbors_have_no_columns(tmp_path, kind, option):
    with pytest.raises(CsawError, match="expected none, because .* have no columns"):
        read(tmp_path, "3 2\n2\n1 3\n2\n", format=kind, **option)


@pytest.mark.parametrize("magic", [b"PAR1\0\0", b"ARROW1\0\0"])
def test_a_table_without_its_suffix_is_named(tmp_path, magic):
    with pytest.raises(CsawError, match="csaw knows by the suffix|known by the suffix"):
        read(tmp_path, magic + bytes(100))


def test_rows_are_parsed_at_random_as_a_reader_in_python_does(tmp_path):
    """Numbers between blanks that no format claims."""
    rng = np.random.default_rng(9)
    for columns in (2, 3):
        for _ in range(20):
            cells = rng.integers(0, 30, (40, columns)).tolist()
            text = "".join(" ".join(map(str, row)) + "\n" for row in cells)
            found = rows(read(tmp_path, text, duplicates="keep"))
            assert sorted(found) == sorted((u, v, *map(float, w)) for u, v, *w in cells)


@pytest.mark.parametrize("text", ["v 0 0\nv 1 3\ne 0 1 1\ne 1 0 2 \nt # -1\n", "c a\ne 1 2\ne 3 2\n", "t # 0\nv 0 1\n"])
def test_rows_of_another_format_are_no_lists_whatever_the_file_is_called(tmp_path, text):
    """The name of an adjacency list."""
    (tmp_path / "graph.adjlist").write_text(text)
    with pytest.raises(CsawError, match="this is (gSpan|DIMACS)"):
        csaw.partition(tmp_path / "graph.adjlist", tmp_path / "g.zarr")
    (tmp_path / "letters.adjlist").write_text("a c d\nc d e\ne a\n")
    assert csaw.partition(tmp_path / "letters.adjlist", tmp_path / "l.zarr").edges == 5
