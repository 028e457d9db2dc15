"""Formats of programs for networks, each with a reader written from its definition or taken from another library.

The file is written by hand, and what is meant is what that reader finds in it: where they differ, the fuzzer is wrong.
"""

import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import scipy.io

from fuzz import readings
from fuzz.readings import File, Pair, Reading, draw, undirected


def _agree(found: list[Pair], wanted: list[Pair], told: str, *, ends_alone: bool = False) -> None:
    found, wanted = (
        ([(*sorted(pair[:2]), pair[2]) for pair in pairs] for pairs in (found, wanted))
        if ends_alone
        else (found, wanted)
    )
    if sorted(found) != sorted(wanted):
        raise AssertionError(f"{told}: an independent reader finds {sorted(found)}, written were {sorted(wanted)}")


def matrix_market(random: Random) -> File:
    """A matrix with a proper banner, one of one percent sign, or none; coordinates or an array."""
    graph = draw(random, "from 1", loops=True)
    size, symmetric = len(graph.ids), random.random() < 0.4
    kind = random.choice(["pattern", "real", "integer", "real"])
    entries = sorted({(max(e), min(e)) for e in graph.edges}) if symmetric else sorted(set(graph.edges))
    values = [
        random.choice({"integer": ["1", "2", "7"], "real": ["0.5", "1e-2", "3", "2.0"]}.get(kind, [""]))
        for _ in entries
    ]
    pairs = [(str(a + 1), str(b + 1), float(v or 1)) for (a, b), v in zip(entries, values, strict=True)]
    symmetry = (
        random.choice(["symmetric", "symmetric", "hermitian" if kind == "real" else "symmetric"])
        if symmetric
        else "general"
    )
    symmetry = symmetry if symmetry != "hermitian" else "symmetric"
    between = random.choice([" ", " ", "  ", "\t"])
    lines = [between.join([a, b, v] if v else [a, b]) for (a, b, _), v in zip(pairs, values, strict=True)]
    size_line = between.join(map(str, (size, size, len(entries))))
    banner = f"MatrixMarket matrix coordinate {kind} {symmetry}"
    notes = random.choice([[], ["%"], ["% made by hand", "% rows columns entries"], ["%-----"], [""]])
    mark = random.choice(["%%", "%%", "%", "", "% no", "lower", "array", "skew", "rectangle"])
    reads = [Reading(pairs, directed=not symmetric)]
    file = File(
        "", f"Matrix Market {mark or 'without banner'} {kind} {symmetry}", reads, NAMES["mm"], (".mtx", ".mtx", ".mm")
    )
    if mark == "array":
        return _array(random, file)
    if mark == "skew":
        banner, reads = "MatrixMarket matrix coordinate real skew-symmetric", []
        lines = [f"{b} {a} 1.5" for (a, b, _) in pairs if a != b]
        file.readings, size_line = reads, f"{size} {size} {len(lines)}"
    elif mark == "rectangle":
        file.readings, size_line = [Reading(pairs, says="rect|square")], f"{size} {size + 2} {len(lines)}"
    head = {"%": f"%{banner}", "": None, "% no": "% a matrix", "lower": f"%%{banner.lower()}"}.get(mark, f"%%{banner}")
    if head is None and random.random() < 0.5:
        notes = []
    file.text = "\n".join([*([head] if head else []), *notes, size_line, *lines]) + "\n"
    if mark == "%%":
        _agree(
            _by_scipy(file.text),
            pairs if not symmetric else [*pairs, *((b, a, w) for a, b, w in pairs if a != b)],
            file.told,
        )
        file.must = "" not in notes and file.suffixes[0] in file.suffixes
    if not head and kind == "pattern":  # three counts above rows of two, or with % a note above an edge list
        file.told += ", three counts above two columns"
    if mark in ("", "% no") and symmetric:  # only the banner said so
        file.readings = undirected(pairs, assumed=True)
    return file


def _by_scipy(text: str) -> list[Pair]:
    matrix = scipy.io.mmread(io.BytesIO(text.encode())).tocoo()
    return [(str(a + 1), str(b + 1), float(w)) for a, b, w in zip(matrix.row, matrix.col, matrix.data, strict=True)]


def _array(random: Random, file: File) -> File:
    size = random.choice([2, 3, 4])
    cells = [[random.choice(["0", "1", "2"]) for _ in range(size)] for _ in range(size)]
    column_major = [cells[row][column] for column in range(size) for row in range(size)]
    file.text = "\n".join(["%%MatrixMarket matrix array integer general", f"{size} {size}", *column_major]) + "\n"
    edges = [(str(a + 1), str(b + 1), float(v)) for a, row in enumerate(cells) for b, v in enumerate(row) if v != "0"]
    file.readings, file.told = [Reading(edges)] if edges else [], "Matrix Market array"
    return file


def metis(random: Random) -> File:
    """Neighbors of each vertex, in all forms of weights that the manual has."""
    graph = draw(random, "from 1", both=False)
    form = random.choice(["", "", "0", "1", "001", "10", "11", "011", "100"])
    on_edges, on_vertices, sizes = (form.zfill(3)[k] == "1" for k in (2, 1, 0))
    count = random.choice(["", "", "1", "2"]) if on_vertices else ""
    graph.weights = [str(random.randrange(1, 9)) for _ in graph.edges] if on_edges else None
    around: list[list[tuple[int, str]]] = [[] for _ in graph.ids]
    for (a, b), weight in zip(graph.edges, graph.weights or ["1"] * len(graph.edges), strict=True):
        around[a].append((b + 1, weight))
        around[b].append((a + 1, weight))
    lines = [
        " ".join(map(str, (len(graph.ids), len(graph.edges), *([form] if form else []), *([count] if count else []))))
    ]
    for row in around:
        before = ["1"] * sizes + [str(random.randrange(1, 5)) for _ in range(int(count or 1))] * on_vertices
        lines.append(
            " ".join(
                [*before, *(cell for one, w in sorted(row) for cell in ([str(one), w] if on_edges else [str(one)]))]
            )
        )
    if random.random() < 0.2:
        lines.insert(random.choice([0, 1, len(lines) // 2 + 1]), "% a comment")
    text = "\n".join(lines) + "\n"
    edges, wanted = _metis_edges(text), [(*sorted((a, b)), w) for a, b, w in graph.pairs()]
    _agree([(a, b, w) for a, b, w in edges if a < b], wanted, "METIS")
    file = File(
        text,
        f"METIS form {form or 'none'}",
        [Reading(graph.pairs(), directed=False)],
        NAMES["metis"],
        (".metis", ".graph", ".graph", ".txt"),
    )
    lengths = {len(line.split()) for line in text.split("\n")[:-1] if not line.startswith("%")}
    if lengths in ({2}, {3}):  # nothing but the counts tell it from an edge list
        file.readings.append(Reading(_as_rows(text), says=r"counts|METIS"))
    file.newlines = False
    return file


def _metis_edges(text: str) -> list[Pair]:
    """Both directions of each edge, as the manual of METIS 5 says (section 4.1.1)."""
    head, *rows = [line.split() for line in text.split("\n")[:-1] if not line.startswith("%")]
    form = head[2].zfill(3) if len(head) > 2 else "000"
    skip = int(form[0]) + int(form[1]) * (int(head[3]) if len(head) > 3 else 1)
    found = []
    for vertex, row in enumerate(rows[: int(head[0])], 1):
        cells = row[skip:]
        ends, weights = (cells[::2], cells[1::2]) if form[2] == "1" else (cells, ["1"] * len(cells))
        found += [(str(vertex), end, float(w)) for end, w in zip(ends, weights, strict=True)]
    return found


def _as_rows(text: str) -> list[Pair]:
    rows = [line.split() for line in text.split("\n") if line.strip() and line[0] not in "%#"]
    return [(row[0], row[1], float(row[2]) if len(row) > 2 else 1.0) for row in rows]


def csaw_metis(random: Random) -> File:
    """What csaw itself exports as METIS."""
    import csaw

    graph = draw(random, "from 1", both=False)
    weights = [str(random.randrange(1, 9)) for _ in graph.edges] if graph.weights else None
    index = {k: place for place, k in enumerate(sorted({end for edge in graph.edges for end in edge}))}
    source, target = ([int(graph.ids[edge[k]]) for edge in graph.edges] for k in (0, 1))
    held = csaw.graph((source, target), weights=[float(w) for w in weights] if weights else None, directed=False)
    with TemporaryDirectory() as folder:
        csaw.export(held, Path(folder) / "graph.metis")
        text = (Path(folder) / "graph.metis").read_text()
    wanted = [
        (str(index[a] + 1), str(index[b] + 1), float(w))
        for (a, b), w in zip(graph.edges, weights or ["1"] * len(source), strict=True)
    ]
    _agree(
        [e for e in _metis_edges(text) if int(e[0]) < int(e[1])],
        [(*sorted(e[:2], key=int), e[2]) for e in wanted],
        "csaw's METIS",
    )
    file = File(text, "csaw's METIS", [Reading(wanted, directed=False)], NAMES["metis"], (".metis", ".graph", ".txt"))
    if {len(line.split()) for line in text.split("\n")[:-1]} in ({2}, {3}):
        file.readings.append(Reading(_as_rows(text), says=r"counts|METIS"))
    return file


def hypergraph(random: Random) -> File:
    """hMETIS: each row is a set of vertices, not an edge."""
    rows = [random.sample(range(1, 9), random.choice([2, 3, 3, 4])) for _ in range(random.randrange(3, 9))]
    if random.random() < 0.3:
        rows = [row[:2] for row in rows]
    pairs = [(str(row[0]), str(row[1]), 1.0) for row in rows]
    text = "\n".join([f"{len(rows)} 8", *(" ".join(map(str, row)) for row in rows)]) + "\n"
    head = (str(len(rows)), "8", 1.0)
    short = [pair for pair, row in zip(pairs, rows, strict=True) if len(row) == 2]
    reads = [Reading([head, *short], says="--on-error")] if 2 * len(short) > len(rows) else []  # few rows are longer
    if short == pairs:
        reads = [*undirected(pairs, assumed=True), Reading([head, *pairs], says="counts|columns")]
    return File(text, "hMETIS", reads, "hMETIS|hypergraph", (".hgr", ".txt"))


def dimacs(random: Random) -> File:
    """Rows of e or of a, with and without the line of the problem."""
    letter = random.choice(["e", "a", "a"])
    graph = draw(random, "from 1", weighted=letter == "a" or random.random() < 0.2)
    if graph.weights:
        graph.weights = [str(random.randrange(1, 30)) for _ in graph.weights]
    problem = random.choice({"e": ["edge", "col"], "a": ["sp", "max", "asn"]}[letter])
    lines = [" ".join([letter, *row]) for row in graph.rows()]
    head = random.choice(
        [[], [f"p {problem} {len(graph.ids)} {len(graph.edges)}"], [f"p {problem} {len(graph.ids)} {len(graph.edges)}"]]
    )
    notes = random.choice([[], ["c a comment"], ["c 1 2 3", "c"]])
    if problem == "max" and head:
        head += ["n 1 s", "n 2 t"]
    pairs = graph.pairs()
    reads = undirected(pairs, assumed=False) if letter == "e" else [Reading(pairs)]
    return File(
        "\n".join([*notes, *head, *lines]) + "\n",
        f"DIMACS {letter} {'with' if head else 'without'} p",
        reads,
        NAMES["dimacs"],
        (".gr", ".col", ".dimacs", ".txt", ".max"),
    )


def pace(random: Random) -> File:
    """The .gr of the PACE challenge: a line of the problem, then rows without a letter."""
    graph = draw(random, "from 1", weighted=False, both=False)
    lines = [
        *random.choice([[], ["c made by hand"]]),
        f"p {random.choice(['tw', 'ds'])} {len(graph.ids)} {len(graph.edges)}",
    ]
    lines += [" ".join(row) for row in graph.rows()]
    return File(
        "\n".join(lines) + "\n",
        "PACE",
        [*undirected(graph.pairs(), assumed=False)],
        NAMES["dimacs"] + "|PACE",
        (".gr", ".td", ".txt"),
    )


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
    _agree(_by_igraph("lgl", text), graph.pairs(), "LGL", ends_alone=True)
    reads = undirected(graph.pairs(), assumed=False)
    if text.count("#") == 1 and graph.weights:  # a comment above an edge list looks so, too
        reads.append(Reading(_as_rows(text), says="columns"))
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
    _agree(_by_igraph("ncol", text), graph.pairs(), "NCOL", ends_alone=True)
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
    _agree(_by_igraph("pajek", text), graph.pairs(), f"Pajek {part}", ends_alone=not directed)
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
        _agree(_by_igraph("dl", same), graph.pairs(), f"UCINET {form}")
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


def pbbs(random: Random) -> File:
    """PBBS and Ligra: a word, counts, offsets, neighbors, one a line."""
    graph = draw(random, "from 0", weighted=False)
    places = graph.neighbors()
    starts = [sum(len(k) for k in places[:v]) for v in range(len(places))]
    ends = [graph.ids[graph.edges[k][1]] for ks in places for k in ks]
    if random.random() < 0.6:
        lines = ["AdjacencyGraph", str(len(places)), str(len(ends)), *map(str, starts), *ends]
    else:
        lines = [random.choice(["EdgeArray", "WeightedEdgeArray"][:1]), *(" ".join(row) for row in graph.rows())]
    return File(
        "\n".join(lines) + "\n",
        lines[0],
        [Reading(graph.pairs())],
        "Adjacency|EdgeArray|Ligra|PBBS",
        (".adj", ".txt", ".edges"),
    )


def leda(random: Random) -> File:
    """LEDA's own format: vertices, edges with types, in sections."""
    graph = draw(random, "from 1", weighted=False)
    kind = random.choice(["-1", "-2"])
    lines = [
        "LEDA.GRAPH",
        "string",
        "int",
        kind,
        str(len(graph.ids)),
        *(f"|{{v{one}}}|" for one in graph.ids),
        str(len(graph.edges)),
    ]
    lines += [f"{a} {b} 0 |{{4}}|" for a, b in graph.rows()]
    return File(
        "\n".join(lines) + "\n",
        "LEDA",
        [Reading(graph.pairs(), directed=kind == "-1")],
        "LEDA",
        (".gw", ".lgr", ".txt"),
    )


def offsets(random: Random) -> File:
    """Rows of a vertex, the number of its neighbors, and these, as Giraph and Pegasus take them."""
    graph = draw(random, "numbers", weighted=False)
    rows = [
        [graph.ids[v], str(len(ks)), *(graph.ids[graph.edges[k][1]] for k in ks)]
        for v, ks in enumerate(graph.neighbors())
    ]
    reads = [Reading(graph.pairs())]
    if {len(row) for row in rows} in ({2}, {3}):
        reads.append(
            Reading(
                _as_rows("\n".join(" ".join(row) for row in rows)),
                says="weight" if len(rows[0]) == 3 else r"\bcolumn|source",
            )
        )
    return File(
        "\n".join(" ".join(row) for row in rows) + "\n",
        "rows of vertex, degree, neighbors",
        reads,
        "adjacency|neighbors",
        (".adj", ".txt"),
    )


def harwell(random: Random) -> File:
    """Rutherford-Boeing: pointers and indices in columns of fixed width."""
    graph = draw(random, "from 1", weighted=False)
    places, size = graph.neighbors(), len(graph.ids)
    pointers = [1, *(1 + sum(len(ks) for ks in places[: v + 1]) for v in range(size))]
    indices = [b + 1 for ks in places for _, b in sorted(graph.edges[k] for k in ks)]
    card = lambda numbers: ["".join(f"{one:>8}" for one in numbers[k : k + 10]) for k in range(0, len(numbers), 10)]
    first, second = card(pointers), card(indices)
    lines = [
        f"{'a matrix':<72}key",
        f"{len(first) + len(second):>14}{len(first):>14}{len(second):>14}",
        f"{'pua':<14}{size:>14}{size:>14}{len(indices):>14}{0:>14}",
        f"{'(10I8)':<16}{'(10I8)':<16}",
        *first,
        *second,
    ]
    return File("\n".join(lines) + "\n", "Rutherford-Boeing", [], "Boeing|Harwell", (".rb", ".rua", ".txt"))


def ascii_graph(random: Random) -> File:
    """WebGraph's ASCII form: the number of vertices, then in each row the successors of one."""
    graph = draw(random, "from 0", weighted=False)
    rows = [" ".join(sorted((graph.ids[graph.edges[k][1]] for k in ks), key=int)) for ks in graph.neighbors()]
    text = "\n".join([str(len(graph.ids)), *rows]) + "\n"
    names = "ASCII|WebGraph|METIS|adjacency"
    return File(text, "WebGraph's ASCII", [Reading(graph.pairs())], names, (".graph-txt", ".txt"), newlines=False)


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
        reads = [Reading(_as_rows("\n".join(lines)), says="weight" if columns == {3} else "columns|source")]
    return File(
        "\n".join(lines) + "\n", "sets of vertices", reads, "communit|adjacency|sets", (".txt", ".cmty", ".circles")
    )


def counted(random: Random) -> File:
    """Rows of edges below the numbers of vertices and edges, as contests and courses have them."""
    graph = draw(random, random.choice(["from 1", "from 0"]), both=False)
    vertices, edges = str(len(graph.ids)), str(len(graph.edges))
    head = random.choice([[vertices, edges], [edges, vertices], [vertices], [edges], [vertices, vertices, edges]])
    head = [*head, *(random.choice([[], [], ["1"]]) if len(head) == 2 < len(graph.edges) else [])]
    lines = [" ".join(head), *(" ".join(row) for row in graph.rows())]
    file = File("\n".join(lines) + "\n", f"counts {len(head)} above the edges", undirected(graph.pairs(), assumed=True))
    file.names, file.suffixes = "counts?", (".txt", ".in", ".edges", ".graph")
    if len(head) == len(graph.rows()[0]):
        file.as_words = [(head[0], head[1], float(head[2]) if len(head) > 2 else 1.0), *graph.pairs()]
        file.readings += [Reading(file.as_words, one, "counts?") for one in (True, False)]
    return file


NAMES = {
    "mm": r"matrix.?market|\.mtx\b|size line|banner",
    "metis": r"\bMETIS\b",
    "dimacs": r"DIMACS",
}
WRITERS: dict[str, Callable[[Random], File]] = {
    "matrix market": matrix_market,
    "metis": metis,
    "csaw's metis": csaw_metis,
    "hmetis": hypergraph,
    "dimacs": dimacs,
    "pace": pace,
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
    "pbbs": pbbs,
    "leda": leda,
    "degrees": offsets,
    "rutherford-boeing": harwell,
    "ascii graph": ascii_graph,
    "vna": vna,
    "communities": communities,
    "counted": counted,
}
