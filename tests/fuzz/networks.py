"""Formats of programs for networks, each with a reader written from its definition or taken from another library.

The file is written by hand, and what is meant is what that reader finds in it: where they differ, the fuzzer is wrong.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from fuzz import readings
from fuzz.readings import File, Pair, Reading, agree, as_rows, draw, undirected


def gspan(random: Random) -> File:
    """Vertices and edges with labels, of one graph or of several."""
    graph = draw(random, "from 0", weighted=False, both=False)
    labels = random.random() < 0.8
    body = [f"v {one} {random.randrange(5)}" for one in graph.ids]
    body += [f"e {a} {b}" + (f" {random.randrange(3)}" if labels else "") for a, b, *_ in graph.rows()]
    several = random.random() < 0.3
    lines = ["t # 0", *body, *(["t # 1", *body] if several else []), *random.choice([[], ["t # -1"]])]
    lines = lines[1:] if not several and random.random() < 0.15 else lines
    reads = [] if several else undirected(graph.pairs(), assumed=False)
    return File(
        "\n".join(lines) + "\n",
        "gSpan" + " of several graphs" * several,
        reads,
        r"gSpan|DIMACS",
        (".txt", ".gspan", ".lg", ".data"),
    )


def tgf(random: Random) -> File:
    """Trivial Graph Format: vertices, a line of #, edges."""
    graph = draw(random)
    graph.weights = None
    label: Callable[[], str] = random.choice(
        [lambda: "", lambda: "a label", lambda: str(random.randrange(2000)), lambda: "x"]
    )
    edge_label = random.choice([lambda: "", lambda: "", lambda: "knows", lambda: str(random.randrange(1, 5))])
    lines = [*(f"{one} {label()}".strip() for one in graph.ids), "#"]
    lines += [f"{a} {b} {edge_label()}".strip() for a, b in graph.rows()]
    reads = [Reading(graph.pairs())]
    if edge_label().isdigit():
        weighted = [
            (a, b, float(line.split()[2]))
            for (a, b), line in zip(graph.rows(), lines[-len(graph.edges) :], strict=True)
        ]
        reads.append(Reading(weighted, says="weight"))
    return File(
        "\n".join(lines) + "\n",
        "TGF",
        [*reads, *undirected(graph.pairs(), assumed=True)[:1]],
        "TGF|trivial graph",
        (".tgf", ".tgf", ".txt"),
    )


def lgl(random: Random) -> File:
    """Each vertex behind a #, its neighbors below."""
    graph = draw(random, both=False)
    lines = []
    for vertex, places in enumerate(graph.neighbors()):
        if places:
            lines.append(f"# {graph.ids[vertex]}")
            lines += [" ".join(graph.rows()[k][1:]) for k in places]
    text = "\n".join(lines) + "\n"
    agree(_by_igraph("lgl", text), graph.pairs(), "LGL", ends_alone=True)
    reads = undirected(graph.pairs(), assumed=False)
    if text.count("#") == 1 and graph.weights:  # a comment above an edge list looks so, too
        reads.append(Reading(as_rows(text), says="columns"))
    return File(
        text,
        f"LGL{' weighted' * bool(graph.weights)}",
        reads,
        r"\bLGL\b",
        (".lgl", ".lgl", ".txt"),
    )


def ncol(random: Random) -> File:
    """Rows of two names and perhaps a weight, without directions: an edge list."""
    graph = draw(random, both=False)
    text = "\n".join(" ".join(row) for row in graph.rows()) + "\n"
    agree(_by_igraph("ncol", text), graph.pairs(), "NCOL", ends_alone=True)
    return File(
        text,
        "NCOL",
        [Reading(graph.pairs(), says=r"\bdirected"), Reading(graph.pairs(), directed=False)],
        "",
        (".ncol", ".txt", ".el", ".edges"),
        must=True,
    )


def _by_igraph(form: str, text: str) -> list[Pair]:
    """What igraph reads, by the names of the vertices or, for forms that number these, their numbers from 1."""
    import igraph

    options = {"lgl": {"weights": "if_present"}, "ncol": {"weights": "if_present"}}.get(form, {})
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"graph.{form}"
        path.write_text(text)
        graph = getattr(igraph.Graph, f"Read_{'DL' if form == 'dl' else form.capitalize()}")(str(path), **options)
    names = graph.vs["name"] if form in ("lgl", "ncol") else [str(k + 1) for k in range(graph.vcount())]
    weights = graph.es["weight"] if "weight" in graph.es.attributes() else [1.0] * graph.ecount()
    return [
        (names[e.source], names[e.target], 1.0 if w is None else float(w))
        for e, w in zip(graph.es, weights, strict=True)
    ]


def sif(random: Random) -> File:
    """Cytoscape's simple interaction format: a vertex, a type, one or several others."""
    graph = draw(random, weighted=False)
    kind, between = random.choice(["pp", "pd", "xx", "interacts_with"]), random.choice([" ", "\t"])
    lines = []
    if random.random() < 0.5:
        lines = [between.join([a, kind, b]) for a, b in graph.rows()]
    else:
        lines = [
            between.join([graph.ids[v], kind, *(graph.ids[graph.edges[k][1]] for k in places)])
            if places
            else graph.ids[v]
            for v, places in enumerate(graph.neighbors())
        ]
    reads = [Reading(graph.pairs()), *undirected(graph.pairs(), assumed=True)[:1]]
    return File("\n".join(lines) + "\n", "SIF", reads, r"\bSIF\b|Cytoscape", (".sif", ".sif", ".txt", ".tsv"))


def konect(random: Random) -> File:
    """The header of the KONECT collection says directions, sides and weights."""
    kind = random.choice(["sym", "asym", "bip", "bip"])
    weights = random.choice(["unweighted", "positive", "posweighted", "signed"])
    columns = {"unweighted": 2, "positive": 3, "posweighted": 3, "signed": 3}[weights] + random.choice([0, 0, 0, 1])
    graph = draw(random, "from 1", weighted=columns > 2, both=kind != "sym")
    pairs, times = graph.pairs(), columns - 2 > (weights != "unweighted")
    if weights == "signed":
        graph.weights = [random.choice(["1", "-1"]) for _ in graph.edges]
    rows = [[*row, "1082008561"] if len(row) < columns else row for row in graph.rows()] if times else graph.rows()
    size = random.choice([[f"% {len(pairs)} {len(graph.ids)} {len(graph.ids)}"], []])
    text = (
        "\n".join(
            [
                f"% {kind} {weights}{random.choice(['', ' '])}",
                *size,
                *(random.choice([" ", "\t"]).join(row) for row in rows),
            ]
        )
        + "\n"
    )
    if columns == 3 and weights == "unweighted":  # of edges and times
        plain = [(a, b, 1.0) for a, b, _ in pairs]
        reads = [
            Reading(plain, kind != "sym"),
            Reading(
                [(a, b, 1082008561.0 if graph.weights is None else w) for a, b, w in pairs],
                kind != "sym",
                says="weight",
            ),
        ]
    else:
        reads = [Reading(pairs, kind != "sym")]
    if weights == "signed":
        reads = [Reading([(a, b, 1.0) for a, b, _ in pairs], kind != "sym", says="weight|sign")]
    if kind == "bip":
        reads = [
            Reading(_apart(one.edges, shift, side), directed, "bip|side|two kinds")
            for one in reads
            for directed in (True, False)
            for shift, side in (("", ""), ("", "r"), ("l", "r"))
        ] + [
            Reading([(a, str(int(b) + len(graph.ids)), w) for a, b, w in one.edges], directed)
            for one in reads
            for directed in (True, False)
        ]
    return File(
        text,
        f"KONECT {kind} {weights}, {columns} columns",
        reads,
        "KONECT|bipartite|% bip|% sym",
        ("", ".txt", ".konect", ".edges"),
        newlines=False,
    )


def _apart(pairs: Any, left: str, right: str) -> list[Pair]:
    return [(left + a, right + b, w) for a, b, w in pairs]


def snap(random: Random) -> File:
    """Comments of the SNAP collection: kind, counts and names of the columns."""
    graph = draw(random, "numbers", weighted=False)
    kind = random.choice(["Directed", "Undirected"])
    if kind == "Undirected":
        graph.edges = list({frozenset(edge): edge for edge in graph.edges}.values())
    about = random.choice(
        [f"# {kind} graph (each unordered pair of nodes is saved once): graph.txt", f"# {kind} graph: graph.txt"]
    )
    swapped = random.random() < 0.25
    names = random.choice([("FromNodeId", "ToNodeId"), ("FromNodeId", "ToNodeId"), ("source", "target")])
    lines = [about, random.choice(["# A network", "# "]), f"# Nodes: {len(graph.ids)} Edges: {len(graph.edges)}"]
    lines += [
        "# " + "\t".join(names[::-1] if swapped else names),
        *("\t".join(row[::-1] if swapped else row) for row in graph.rows()),
    ]
    file = File(
        "\n".join(lines) + "\n",
        f"SNAP {kind}{' swapped' * swapped}",
        [Reading(graph.pairs(), directed=kind == "Directed")],
        "",
        (".txt", ".txt", ".txt", ".edges"),
        must=True,
    )
    if swapped:
        file.must = False
    return file


def pajek(random: Random) -> File:
    """*Vertices, and *Arcs, *Edges, *Arcslist, *Edgeslist or *Matrix."""
    graph = draw(random, "from 1", both=False)
    part = random.choice(["*Arcs", "*Edges", "*Arcslist", "*Edgeslist", "*Matrix", "*arcs"])
    if part.endswith(("list", "Matrix")):
        graph.weights = None
    names = readings.draw_ids(random, "words", len(graph.ids))
    vertices = random.choice(
        [
            [f'{one} "{name}"' for one, name in zip(graph.ids, names, strict=True)],
            [],
            [f'{one} "{name}" 0.1 0.2 0.5' for one, name in zip(graph.ids, names, strict=True)],
        ]
    )
    if part == "*Matrix":
        body = [" ".join(str(int((a, b) in graph.edges)) for b in range(len(graph.ids))) for a in range(len(graph.ids))]
    elif part.endswith("list"):
        body = [
            " ".join([graph.ids[v], *(graph.ids[graph.edges[k][1]] for k in ks)])
            for v, ks in enumerate(graph.neighbors())
            if ks
        ]
    else:
        body = [" ".join(row) for row in graph.rows()]
    directed = part not in ("*Edges", "*Edgeslist")
    reads = [Reading(graph.pairs(), directed)]
    if vertices:
        as_name = dict(zip(graph.ids, names, strict=True))
        reads.append(Reading([(as_name[a], as_name[b], w) for a, b, w in graph.pairs()], directed))
    head = random.choice(
        [
            [f"*Vertices {len(graph.ids)}"],
            [f"*vertices {len(graph.ids)}"],
            ["*Network x", f"*Vertices {len(graph.ids)}"],
        ]
    )
    text = "\n".join([*head, *vertices, part, *body]) + "\n"
    agree(_by_igraph("pajek", text), graph.pairs(), f"Pajek {part}", ends_alone=not directed)
    return File(text, f"Pajek {part}", reads, "Pajek", (".net", ".paj", ".txt"))


def ucinet(random: Random) -> File:
    """UCINET DL: a full matrix, an edge list or a list of nodes."""
    graph = draw(random, "from 1", weighted=False)
    form = random.choice(["edgelist1", "edgelist1", "nodelist1", "fullmatrix"])
    head = random.choice(
        [
            f"dl n={len(graph.ids)} format={form}",
            f"DL\nN={len(graph.ids)}\nformat = {form}",
            f"dl n = {len(graph.ids)}, format = {form}",
        ]
    )
    if form == "fullmatrix":
        body = [" ".join(str(int((a, b) in graph.edges)) for b in range(len(graph.ids))) for a in range(len(graph.ids))]
    elif form == "nodelist1":
        body = [
            " ".join([graph.ids[v], *(graph.ids[graph.edges[k][1]] for k in ks)])
            for v, ks in enumerate(graph.neighbors())
            if ks
        ]
    else:
        body = [" ".join(row) for row in graph.rows()]
    text = "\n".join([head, "data:", *body]) + "\n"
    if form != "fullmatrix":  # igraph knows one way to write the head, and wants labels
        same = "\n".join(
            [f"DL n={len(graph.ids)}", f"format={form}", "labels:", ",".join(graph.ids), "data:", *body, ""]
        )
        agree(_by_igraph("dl", same), graph.pairs(), f"UCINET {form}")
    return File(
        text,
        f"UCINET DL {form}",
        [Reading(graph.pairs())],
        r"\bDL\b|UCINET",
        (".dl", ".dat", ".txt"),
    )


def gdf(random: Random) -> File:
    """GUESS: two tables in one CSV file."""
    graph = draw(random)
    label = random.choice([lambda one: one, lambda one: str(random.randrange(9))])
    nodes = random.choice(
        [
            ["nodedef>name VARCHAR", *graph.ids],
            ["nodedef>name VARCHAR,label VARCHAR", *(f"{one},{label(one)}" for one in graph.ids)],
        ]
    )
    names = "edgedef>node1 VARCHAR,node2 VARCHAR" + (",weight DOUBLE" if graph.weights else "")
    lines = [*nodes, names, *(",".join(row) for row in graph.rows())]
    return File(
        "\n".join(lines) + "\n",
        "GDF",
        [Reading(graph.pairs()), Reading(graph.pairs(), directed=False)],
        "GDF|GUESS",
        (".gdf", ".gdf", ".csv", ".txt"),
    )


def vna(random: Random) -> File:
    """NetDraw: two tables with headers below lines of stars."""
    graph = draw(random)
    label: Callable[[str], str] = random.choice([lambda one: one, lambda one: f"{one} {len(one)}"])
    nodes = ["*node data", "ID" if label("a") == "a" else "ID size", *map(label, graph.ids)]
    ties = ["*tie data", "from to" + " strength" * bool(graph.weights), *(" ".join(row) for row in graph.rows())]
    text = "\n".join([*(nodes if random.random() < 0.8 else []), *ties]) + "\n"
    reads = [Reading(graph.pairs()), Reading([(a, b, 1.0) for a, b, _ in graph.pairs()], says="weight")]
    return File(text, "VNA", reads, r"VNA|NetDraw|Pajek|UCINET", (".vna", ".vna", ".txt"))


def communities(random: Random) -> File:
    """Sets of vertices, as SNAP lists communities and circles: no edges."""
    size = random.choice([None, None, 2, 3, 4])
    rows = [random.sample(range(1, 40), size or random.randrange(1, 7)) for _ in range(random.randrange(3, 9))]
    named = random.random() < 0.4
    lines = ["\t".join([*([f"circle{k}"] if named else []), *map(str, row)]) for k, row in enumerate(rows)]
    columns = {line.count("\t") + 1 for line in lines}
    reads = []
    if columns in ({2}, {3}):  # nothing tells it from an edge list
        reads = [Reading(as_rows("\n".join(lines)), says="weight" if columns == {3} else "columns|source")]
    return File(
        "\n".join(lines) + "\n", "sets of vertices", reads, "communit|adjacency|sets", (".txt", ".cmty", ".circles")
    )


WRITERS: dict[str, Callable[[Random], File]] = {
    "gspan": gspan,
    "tgf": tgf,
    "lgl": lgl,
    "ncol": ncol,
    "sif": sif,
    "konect": konect,
    "snap": snap,
    "pajek": pajek,
    "ucinet": ucinet,
    "gdf": gdf,
    "vna": vna,
    "communities": communities,
}
