"""Formats with a grammar of more than rows, written and read again by libraries, and files that are no graph."""

import io
import json
import pickle
import re
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import networkx
import numpy as np

from fuzz.readings import File, Pair, Reading, draw, undirected
from fuzz.spellings import _networkx


def _of(made: Any, name: Callable[[Any], str] = str) -> Reading:
    """What networkx has read."""
    edges: list[Pair] = [(name(a), name(b), float(data.get("weight", 1))) for a, b, data in made.edges(data=True)]
    return Reading(edges, made.is_directed())


def _made(random: Random, ids: str = "any") -> Any:
    directed = random.random() < 0.5
    graph = draw(random, ids, both=directed)
    return _networkx(graph, networkx.DiGraph if directed else networkx.Graph)


def graphml(random: Random) -> File:
    made = _made(random)
    text = "\n".join(networkx.generate_graphml(made, prettyprint=random.random() < 0.7)) + "\n"
    again = networkx.parse_graphml(text)
    assert again.number_of_edges() == made.number_of_edges()
    return File(text, "GraphML", [_of(again)], "GraphML|XML", (".graphml", ".graphml", ".xml"))


def gml(random: Random) -> File:
    made = _made(random)
    lines = list(networkx.generate_gml(made))
    text = "\n".join(lines) + "\n"
    reads = [_of(networkx.parse_gml(text, label=key)) for key in ("label", "id")]
    if random.random() < 0.2:
        text = " ".join(line.strip() for line in lines) + "\n"
    if random.random() < 0.3:
        text = f'Creator "made by hand on 28 November 2026"\n{text}'
    return File(text, "GML", reads, r"\bGML\b", (".gml", ".gml", ".txt"))


def gexf(random: Random) -> File:
    made = _made(random)
    text = "\n".join(networkx.generate_gexf(made)) + "\n"
    assert networkx.read_gexf(io.BytesIO(text.encode())).number_of_edges() == made.number_of_edges()
    return File(text, "GEXF", [_of(made)], "GEXF|XML", (".gexf", ".xml"))


def dot(random: Random) -> File:
    """DOT, as Graphviz takes it: in one line or many, with attributes, chains, quotes, ports."""
    made = _made(random)
    sign, kind = ("->", "digraph") if made.is_directed() else ("--", "graph")
    quote = random.choice(['"', ""]) if all(re.fullmatch(r"\w+", str(n)) for n in made) else '"'
    blank, end, name = random.choice([" ", ""]), random.choice([";", ";", ""]), random.choice(["", "G "])
    rows = []
    for a, b, data in made.edges(data=True):
        attributes = f" [weight={data['weight']}]" if data else random.choice(["", "", " [color=red]"])
        rows.append(f"{quote}{a}{quote}{blank}{sign}{blank}{quote}{b}{quote}{attributes}{end}")
    heads = random.choice([[], ["node [shape=box];"], ["rankdir=LR;"], [f"{quote}{n}{quote};" for n in made]])
    line = random.choice(["\n", "\n", "\n", " "]) if end else "\n"
    text = f"{kind} {name}{{{line}" + line.join([*heads, *rows]) + f"{line}}}\n"
    reads = [_of(made)]
    if any(data for *_, data in made.edges(data=True)):
        reads.append(Reading([(a, b, 1.0) for a, b, _ in reads[0].edges], reads[0].directed, "weight"))
    return File(
        text, f"DOT in {'one line' if line == ' ' else 'lines'}", reads, "DOT|Graphviz", (".dot", ".gv", ".txt")
    )


def in_json(random: Random) -> File:
    """Node-link and adjacency data, Cytoscape's, arrays of pairs, objects by line."""
    made = _made(random)
    kind = random.choice(
        [
            "node-link",
            "links",
            "adjacency",
            "cytoscape",
            "pairs",
            "lines",
            "array lines",
            "d3",
            "dict of lists",
            "giraph",
        ]
    )
    links = [{"source": a, "target": b, **data} for a, b, data in made.edges(data=True)]
    value: Any = {
        "node-link": lambda: networkx.node_link_data(made, edges="edges"),
        "links": lambda: networkx.node_link_data(made, edges="links"),
        "adjacency": lambda: networkx.adjacency_data(made),
        "cytoscape": lambda: networkx.cytoscape_data(made),
        "pairs": lambda: [[a, b] for a, b in made.edges],
        "lines": lambda: links,
        "array lines": lambda: [[a, b, *data.values()] for a, b, data in made.edges(data=True)],
        "d3": lambda: links,
        "giraph": lambda: [[a, 0, [[b, data.get("weight", 1)] for b, data in made.adj[a].items()]] for a in made],
        "dict of lists": lambda: {a: list(made.adj[a]) for a in made},
    }[kind]()
    if kind in ("lines", "array lines", "giraph"):
        text = "\n".join(json.dumps(one, ensure_ascii=random.random() < 0.5) for one in value) + "\n"
    else:
        text = json.dumps(value, indent=random.choice([None, 1, 2]), ensure_ascii=random.random() < 0.5) + "\n"
    reads = [_of(made)]
    if not made.is_directed():
        reads += undirected(reads[0].edges, assumed=True)[1:]
    reads += [
        Reading([(a, b, 1.0) for a, b, _ in one.edges], one.directed, "weight" if kind != "pairs" else "")
        for one in reads
    ]
    return File(text, f"JSON, {kind}", reads, "JSON|bracket|brace|quot", (".json", ".json", ".jsonl", ".txt"))


def graph6(random: Random) -> File:
    """graph6, sparse6 and digraph6 of nauty, with and without their header."""
    made = networkx.convert_node_labels_to_integers(_made(random))
    header = random.random() < 0.5
    if made.is_directed():
        made = made.to_undirected()
    kind = random.choice(["graph6", "sparse6"])
    data = getattr(networkx, f"to_{kind}_bytes")(made, header=header)
    again = getattr(networkx, f"from_{kind}_bytes")(data.strip())
    data = data * random.choice([1, 1, 3])
    reads = [Reading([(str(a), str(b), 1.0) for a, b in again.edges], directed=False)]
    return File(
        data,
        kind,
        reads if data.count(b"\n") == 1 else [],
        "graph6|sparse6|nauty",
        (f".{kind[0]}6", ".txt"),
        newlines=False,
        encodings=False,
    )


def html(random: Random) -> File:
    """A page in place of the file: of an error, of a login, of a list that is shown."""
    graph = draw(random, "numbers")
    rows = [" ".join(row) for row in graph.rows()]
    table = "\n".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b, *_ in graph.rows())
    body = random.choice(
        [
            "<h1>404 Not Found</h1>\n<hr>\nnginx",
            "<pre>\n" + "\n".join(rows) + "\n</pre>",
            f"<table>\n{table}\n</table>",
            "Sign in to continue",
            "<p>a b\n</p>\n<p>c d\n</p>",
        ]
    )
    head = random.choice(
        [
            "<!DOCTYPE html>\n<html>\n<head><title>x y</title></head>\n<body>\n",
            "<html>\n",
            "<HTML><BODY>\n",
            "\n\n<!doctype html><html lang=en>\n",
            "<html><body>",
            "<!-- saved from x -->\n<html>\n",
        ]
    )
    reads = (
        [Reading(graph.pairs()), Reading([(a, b, 1.0) for a, b, _ in graph.pairs()])]
        if "<pre>" in body or "<table>" in body
        else []
    )
    return File(
        f"{head}{body}\n</body>\n</html>\n",
        "an HTML page",
        reads,
        "HTML|web page|XML",
        (".html", ".txt", ".edges", ".csv"),
    )


def xml(random: Random) -> File:
    """XML of no graph format, a feed, SVG."""
    graph = draw(random, "numbers")
    rows = "\n".join(f'<edge from="{a}" to="{b}"/>' for a, b, *_ in graph.rows())
    text = (
        random.choice(['<?xml version="1.0"?>\n', ""])
        + f"<{(name := random.choice(['gxl', 'graph', 'rss', 'svg']))}>\n{rows}\n</{name}>\n"
    )
    return File(
        text,
        "XML",
        [Reading(graph.pairs()), Reading([(a, b, 1.0) for a, b, _ in graph.pairs()])],
        "XML|HTML|<",
        (".xml", ".gxl", ".txt"),
    )


def binary(random: Random) -> File:
    """Bytes of another program."""
    graph = draw(random, "from 0")
    rows = [(int(a), int(b)) for a, b, *_ in graph.rows()]
    packed, zipped, archive = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(packed, indptr=np.arange(3), indices=np.arange(2))
    with zipfile.ZipFile(zipped, "w") as file:
        file.writestr("graph.txt", "".join(f"{a} {b}\n" for a, b in rows))
    np.save(archive, np.array(rows))
    kind = random.choice(["pickle", "npz", "zip", "npy", "sqlite", "hdf5", "pdf", "int32", "int64", "git lfs", "tar"])
    data = {
        "pickle": lambda: pickle.dumps(rows),
        "npz": packed.getvalue,
        "zip": zipped.getvalue,
        "npy": archive.getvalue,
        "sqlite": lambda: b"SQLite format 3\0" + bytes(84),
        "hdf5": lambda: b"\x89HDF\r\n\x1a\n" + bytes(88),
        "pdf": lambda: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n",
        "int32": lambda: np.array(rows, "<i4").tobytes(),
        "int64": lambda: np.array(rows, "<i8").tobytes(),
        "git lfs": lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "tar": lambda: _tar("".join(f"{a} {b}\n" for a, b in rows).encode()),
    }[kind]()
    return File(
        data,
        f"bytes of {kind}",
        [Reading([(str(a), str(b), 1.0) for a, b in rows])],
        "binary|zero byte|NUL|archive|zip|tar|NumPy|pickle|PDF|SQLite|HDF5|LFS|pack",
        (".bin", ".txt", ".npz", ".dat", ""),
        newlines=False,
        encodings=False,
    )


def _tar(data: bytes) -> bytes:
    import tarfile

    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        about = tarfile.TarInfo("graph.txt")
        about.size = len(data)
        file.addfile(about, io.BytesIO(data))
    return out.getvalue()


WRITERS: dict[str, Callable[[Random], File]] = {
    "graphml": graphml,
    "gml": gml,
    "gexf": gexf,
    "dot": dot,
    "json": in_json,
    "graph6": graph6,
    "html": html,
    "xml": xml,
    "binary": binary,
}
