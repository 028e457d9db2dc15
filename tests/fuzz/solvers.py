"""Formats of solvers and graph engines, whose vertices are numbers, each with a reader written from its
definition or taken from another library: where that finds other edges than are written, the fuzzer is wrong.
"""

import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import scipy.io

from fuzz.readings import File, Pair, Reading, agree, as_rows, draw, undirected


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
        agree(
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
    agree([(a, b, w) for a, b, w in edges if a < b], wanted, "METIS")
    file = File(
        text,
        f"METIS form {form or 'none'}",
        [Reading(graph.pairs(), directed=False)],
        NAMES["metis"],
        (".metis", ".graph", ".graph", ".txt"),
    )
    lengths = {len(line.split()) for line in text.split("\n")[:-1] if not line.startswith("%")}
    if lengths in ({2}, {3}):  # nothing but the counts tell it from an edge list
        file.readings.append(Reading(as_rows(text), says=r"counts|METIS"))
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
    agree(
        [e for e in _metis_edges(text) if int(e[0]) < int(e[1])],
        [(*sorted(e[:2], key=int), e[2]) for e in wanted],
        "csaw's METIS",
    )
    file = File(text, "csaw's METIS", [Reading(wanted, directed=False)], NAMES["metis"], (".metis", ".graph", ".txt"))
    if {len(line.split()) for line in text.split("\n")[:-1]} in ({2}, {3}):
        file.readings.append(Reading(as_rows(text), says=r"counts|METIS"))
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
                as_rows("\n".join(" ".join(row) for row in rows)),
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
    "pbbs": pbbs,
    "leda": leda,
    "degrees": offsets,
    "rutherford-boeing": harwell,
    "ascii graph": ascii_graph,
    "counted": counted,
}
