"""Rows of edges as people spell them: arrows and words between the ends, brackets, lists of neighbors, tables, comments
among rows, ids with zeros or signs.
"""

import ast
import contextlib
import csv
import io
import re
from collections.abc import Callable
from random import Random
from typing import Any

import networkx

from fuzz.readings import Drawn, File, Pair, Reading, draw, undirected

FORWARD = ["->", "-->", "=>", "|", ":", "pp", "knows", "to", "->>", "&", "/", ">", "follows", "\u2192", ",", "::", "="]
MUTUAL = ["--", "<->", "-", "~", "<=>", "---"]
BACK = ["<-", "<--", "<="]


def arrows(random: Random) -> File:
    """A word or signs between the ends, with or without blanks, and perhaps a weight behind."""
    graph = draw(random, both=False)
    way = random.choice(["forward", "forward", "mutual", "back"])
    sign = random.choice({"forward": FORWARD, "mutual": MUTUAL, "back": BACK}[way])
    blank = random.choice([" ", " ", "\t", "" if not sign.isalpha() and sign not in "-/" else " "])
    weight = random.choice([" {}", " : {}", " [weight={}]", ",{}", " ({})"]) if graph.weights else ""
    end = random.choice(["", "", "", ";", ","])
    lines = [f"{a}{blank}{sign}{blank}{b}" + (weight.format(*w) if w else "") + end for a, b, *w in graph.rows()]
    pairs = graph.pairs()
    if way == "mutual":
        reads = undirected(pairs, assumed=sign in ("-", "~"))
    else:
        reads = [Reading([(b, a, w) for a, b, w in pairs] if way == "back" else pairs)]
    if sign == "," and not weight and not end:
        reads.append(Reading(pairs))
    reads += [Reading([(a, b, 1.0) for a, b, _ in one.edges], one.directed, "weight") for one in reads if graph.weights]
    if blank and sign == ":" and weight in (" {}", ",{}"):  # lists of two neighbors, too
        lists = [(a, end, 1.0) for a, *ends in graph.rows() for end in ends]
        reads.append(Reading(lists, says="two neighbors; if the last number is a weight"))
    if not blank and sign in "&=:/|~::" and not end and weight in (" {}", ",{}", " : {}"):  # names may have such signs
        reads.append(Reading([(f"{a}{sign}{b}", w, 1.0) for a, b, w in graph.rows()], says="string"))
    return File(
        "\n".join(lines) + "\n",
        f"{sign!r} between the ends, blank {blank!r}, weight {weight!r}, end {end!r}",
        reads,
        r"between|arrow|separator",
    )


def brackets(random: Random) -> File:
    """Tuples, lists, sets, calls: a row each, or all in one line."""
    graph = draw(random)
    left, right = random.choice(["()", "()", "[]", "{}", "<>", ("edge(", ").")] + [("Edge ", "")])
    between = random.choice([", ", ",", " ", "; "])
    words = not graph.ids[0].isdigit()
    quote = random.choice(["'", '"', ""]) if words else random.choice(["", "", "", "'", '"'])
    end = random.choice(["", "", ",", ";"])
    data = random.choice(["", "{{'weight': {}}}"]) if graph.weights else random.choice(["", "", "{}"])
    rows = []
    for a, b, *w in graph.rows():
        cells = [
            f"{quote}{a}{quote}",
            f"{quote}{b}{quote}",
            *([data.format(*w) or w[0]] if w else [data] if data else []),
        ]
        rows.append(f"{left}{between.join(cells)}{right}")
    whole = random.random() < 0.15
    text = "[" + ", ".join(rows) + "]\n" if whole else "".join(f"{row}{end}\n" for row in rows)
    pairs, file = (
        graph.pairs(),
        File(
            text,
            f"rows {left}a{between}b{right}{' with data' * bool(data)}",
            [],
            r"bracket|parenthes|tuple|JSON|list|quote",
        ),
    )
    if not whole and left == "(" and (quote or not words) and between.startswith(",") and not end:
        found = [ast.literal_eval(row) for row in rows]
        assert [(str(a), str(b)) for a, b, *_ in found] == [pair[:2] for pair in pairs]
    file.readings = [
        Reading(pairs),
        *([Reading([(a, b, 1.0) for a, b, _ in pairs], says="weight")] if graph.weights else []),
    ]
    return file


def edge_data(random: Random) -> File:
    """networkx's edge lists: a dictionary behind each edge."""
    graph = draw(random)
    made = _networkx(graph, networkx.DiGraph)
    between = random.choice([" ", ",", "\t"])
    lines = list(networkx.generate_edgelist(made, delimiter=between, data=random.choice([True, True, ["weight"]])))
    again = (
        networkx.parse_edgelist(lines, delimiter=between, create_using=networkx.DiGraph, data=True)
        if "{" in lines[0] and between != ","
        else made
    )
    assert set(again.edges) == set(made.edges)
    reads = [Reading(graph.pairs()), Reading([(a, b, 1.0) for a, b, _ in graph.pairs()], says="weight|\\{")]
    return File(
        "\n".join(lines) + "\n",
        f"networkx edge list {lines[0].split(between)[2:]!r}",
        reads,
        r"\{|dict|brace",
        (".edgelist", ".txt"),
    )


def _networkx(graph: Drawn, kind: Any) -> Any:
    made = kind()
    made.add_nodes_from(graph.ids)
    for a, b, *w in graph.rows():
        made.add_edge(a, b, **({"weight": float(w[0])} if w else {}))
    return made


def adjacency(random: Random) -> File:
    """A vertex and its neighbors: networkx's, one row a vertex or several, or with colons, commas, weights."""
    kind = random.choice(
        ["networkx", "networkx undirected", "multiline", "colon", "colon", "weights", "comma", "colon comma"]
    )
    graph = draw(random, weighted=kind == "weights", both=kind != "networkx undirected")
    pairs, directed = graph.pairs(), kind != "networkx undirected"
    reads = [Reading(pairs)] if directed else undirected(pairs, assumed=True)
    if kind.startswith(("networkx", "multi")):
        made = _networkx(graph, networkx.DiGraph if directed else networkx.Graph)
        write = networkx.generate_multiline_adjlist if kind == "multiline" else networkx.generate_adjlist
        read = networkx.parse_multiline_adjlist if kind == "multiline" else networkx.parse_adjlist
        head = random.choice([["#/usr/bin/python", "# GMT Fri Nov 28 2026", "#"], []])
        lines = [*head, *write(made)]
        if not directed:  # each edge is listed once, at the vertex that comes first
            pairs = [(a, b, 1.0) for a, b in read(iter(lines), create_using=networkx.DiGraph).edges]
            reads = undirected(pairs, assumed=True)
        again = read(iter(lines), create_using=type(made))
        assert again.number_of_edges() == made.number_of_edges()
        assert all(again.has_edge(*edge) for edge in made.edges)
    else:
        left, between, inner = {
            "colon": (": ", " ", ""),
            "weights": (" ", " ", ":"),
            "comma": (",", ",", ""),
            "colon comma": (": ", ", ", ""),
        }[kind]
        left = random.choice([left, left.replace(" ", "") or left]) if kind == "colon" else left
        alone = random.random() < 0.5
        lines = []
        for vertex, places in enumerate(graph.neighbors()):
            ends = [graph.ids[graph.edges[k][1]] + (inner + graph.weights[k] if graph.weights else "") for k in places]
            if ends or alone:
                lines.append(
                    f"{graph.ids[vertex]}{left}{between.join(ends)}".rstrip(" ,")
                    if ends
                    else graph.ids[vertex] + left.strip(" ,")
                )
    if not any(":" in line for line in lines) and kind != "multiline":
        reads += _equal_rows(lines, "," if kind == "comma" else None, pairs)
    return File(
        "\n".join(lines) + "\n", f"adjacency list, {kind}", reads, r"adjacency|neighbors", (".adjlist", ".adj", ".txt")
    )


def _equal_rows(lines: list[str], separator: str | None, pairs: list[Pair]) -> list[Reading]:
    """Two or three columns in each row may as well be edges; where the third is a number it may be a weight."""
    rows = [line.split(separator) for line in lines if not line.startswith("#")]
    if {len(row) for row in rows} == {2}:
        return [Reading(pairs)]
    if {len(row) for row in rows} == {3} and all(re.fullmatch(r"[\d.]+", row[2]) for row in rows):
        return [Reading([(a, b, float(w)) for a, b, w in rows], says="weight")]
    return []


def one_colon(random: Random) -> File:
    """Pairs around a colon, with and without quotes: JSON without its braces, YAML, dictionaries of Python."""
    graph = draw(random, weighted=False)
    first = {a for a, _ in graph.edges}
    graph.edges = [next(edge for edge in graph.edges if edge[0] == a) for a in sorted(first)]
    quote, between = random.choice(["", "", '"']), random.choice([": ", ":", " : "])
    lines = [f"{quote}{a}{quote}{between}{quote}{b}{quote}" for a, b in graph.rows()]
    if random.random() < 0.2:
        lines = ["{", *(f"{line}," for line in lines[:-1]), lines[-1], "}"]
    return File(
        "\n".join(lines) + "\n",
        f"pairs with {between!r}, quote {quote!r}",
        [Reading(graph.pairs())],
        "colon|JSON|adjacency|quote|neighbors",
    )


def matrix(random: Random) -> File:
    """A matrix of neighbors, as NumPy and spreadsheets write it, with and without names."""
    graph = draw(random, random.choice(["from 0", "words"]), weighted=False)
    size = random.choice([2, 3, 4, len(graph.ids)])
    size = min(size, len(graph.ids))
    ids = graph.ids[:size]
    edges = [(a, b) for a, b in graph.edges if a < size and b < size] or [(0, 1)]
    cells = [[str(int((a, b) in edges)) for b in range(size)] for a in range(size)]
    between, named = random.choice([" ", ",", "\t", ";"]), not ids[0].isdigit()
    if named:
        between = "," if between == " " else between
        cells = [["", *ids], *([name, *row] for name, row in zip(ids, cells, strict=True))]
    pairs = [(ids[a], ids[b], 1.0) for a, b in edges]
    reads = [Reading(pairs)]
    if not named and size in (2, 3):
        reads.append(
            Reading(
                [(row[0], row[1], float(row[2]) if size == 3 else 1.0) for row in cells],
                says="weight" if size == 3 else "source|column",
            )
        )
    if not named:
        reads.append(Reading([(str(a + 1), str(b + 1), 1.0) for a, b in edges]))
    return File(
        "\n".join(between.join(row) for row in cells) + "\n",
        f"a matrix of {'names' if named else 'numbers'}, {size} columns, {between!r}",
        reads,
        "matrix",
        (".csv", ".txt", ".tsv", ".dat"),
    )


def printed(random: Random) -> File:
    """Tables as programs print them: pandas, SQL, Markdown, LaTeX, R."""
    graph = draw(random, "any", weighted=random.random() < 0.3)
    names = ["source", "target", *(["weight"] if graph.weights else [])]
    rows = [row[:2] + [str(float(w)) for w in row[2:]] for row in graph.rows()]
    kind = random.choice(
        ["pandas", "psql", "markdown", "latex", "R", "R index", "pandas csv", "insert", "scipy", "yaml", "cypher"]
    )
    text = {
        "pandas": lambda: _pandas(rows, names).to_string(),
        "psql": lambda: "\n".join(
            [
                " | ".join(names),
                "-+-".join("-" * len(n) for n in names),
                *(" | ".join(r) for r in rows),
                f"({len(rows)} rows)",
            ]
        ),
        "markdown": lambda: "\n".join(
            [f"| {' | '.join(names)} |", "|" + "---|" * len(names), *(f"| {' | '.join(r)} |" for r in rows)]
        ),
        "latex": lambda: "\n".join(" & ".join(r) + r" \\" for r in rows),
        "R": lambda: "\n".join(
            [" ".join(f'"{n}"' for n in names), *(" ".join([f'"{k}"', *r]) for k, r in enumerate(rows, 1))]
        ),
        "R index": lambda: "\n".join([" ".join(["", *names]), *(f"{k} {' '.join(r)}" for k, r in enumerate(rows, 1))]),
        "pandas csv": lambda: _pandas(rows, names).to_csv().rstrip("\n"),
        "insert": lambda: "\n".join(f"INSERT INTO edges VALUES ({', '.join(r)});" for r in rows),
        "scipy": lambda: "\n".join(f"  ({r[0]}, {r[1]})\t{(r[2:] or ['1.0'])[0]}" for r in rows),
        "yaml": lambda: "\n".join(f"- [{', '.join(r)}]" for r in rows),
        "cypher": lambda: "\n".join(f"CREATE (a{r[0]})-[:KNOWS]->(a{r[1]})" for r in rows),
    }[kind]()
    reads = [Reading(graph.pairs())]
    if kind == "cypher":
        reads.append(Reading([(f"a{a}", f"a{b}", w) for a, b, w in graph.pairs()]))
    if kind in ("markdown", "psql", "latex", "insert", "yaml", "cypher") and graph.weights:
        reads.append(Reading([(a, b, 1.0) for a, b, _ in graph.pairs()], says="weight"))
    return File(
        text + "\n",
        f"a table of {kind}",
        reads,
        "table|Markdown|LaTeX|SQL|YAML|bracket|index|Cypher",
        (".txt", ".csv", ".md", ".sql"),
    )


def _pandas(rows: list[list[str]], names: list[str]) -> Any:
    import pandas

    return pandas.DataFrame(rows, columns=names)


def triples(random: Random) -> File:
    """Facts of a knowledge graph: head, relation, tail, as words, numbers or RDF."""
    graph = draw(random, random.choice(["words", "from 0"]), weighted=False)
    kind = random.choice(["words", "numbers", "rdf", "openke", "turtle"])
    if kind in ("numbers", "openke"):
        graph = draw(random, "from 0", weighted=False)
    relations = [
        random.choice(["likes", "/film/actor", "part_of"]) if kind == "words" else str(random.randrange(4))
        for _ in graph.edges
    ]
    rows = [[a, r, b] for (a, b), r in zip(graph.rows(), relations, strict=True)]
    text = {
        "words": lambda: "\n".join("\t".join(row) for row in rows),
        "numbers": lambda: "\n".join("\t".join(row) for row in rows),
        "rdf": lambda: "\n".join(f"<http://x.org/{a}> <http://x.org/p{r}> <http://x.org/{b}> ." for a, r, b in rows),
        "turtle": lambda: "\n".join(f":{a} :p{r} :{b} ." for a, r, b in rows),
        "openke": lambda: "\n".join([str(len(rows)), *(f"{a} {b} {r}" for a, r, b in rows)]),
    }[kind]()
    reads = [Reading(graph.pairs())]
    if kind == "numbers":
        reads.append(Reading([(a, r, float(b)) for a, r, b in rows], says="weight"))
    if kind == "openke":
        reads.append(Reading([(a, b, float(r)) for a, r, b in rows], says="weight"))
    form = {"rdf": "<http://x.org/{}>", "turtle": ":{}"}.get(kind)
    if form:
        reads.append(Reading([(form.format(a), form.format(b), w) for a, b, w in graph.pairs()]))
    return File(text + "\n", f"triples, {kind}", reads, "triple|RDF|relation|count", (".txt", ".tsv", ".nt", ".ttl"))


def gephi(random: Random) -> File:
    """Gephi's edge table: a column Type says whether a row has a direction."""
    graph = draw(random, both=False)
    kind = random.choice(["Directed", "Undirected", "Undirected", "Mixed"])
    types = [random.choice(["Directed", "Undirected"]) if kind == "Mixed" else kind for _ in graph.edges]
    if random.random() < 0.2:
        types = [one.lower() for one in types]
    names = [
        "Source",
        "Target",
        "Type",
        *random.choice([[], ["Id", "Label", "timeset"]]),
        *(["Weight"] if graph.weights else []),
    ]
    cells = {
        "Type": types,
        "Id": list(map(str, range(len(types)))),
        "Label": [""] * len(types),
        "timeset": [""] * len(types),
        "Weight": graph.weights or [],
    }
    cells |= {"Source": [row[0] for row in graph.rows()], "Target": [row[1] for row in graph.rows()]}
    random.shuffle(names) if random.random() < 0.3 else None
    out, between = io.StringIO(), random.choice([",", ",", ";", "\t"])
    csv.writer(out, delimiter=between, lineterminator="\n").writerows(
        [names, *zip(*(cells[name] for name in names), strict=True)]
    )
    pairs = graph.pairs()
    if {one.lower() for one in types} == {"undirected"}:
        reads = [Reading(pairs, directed=False)]
    else:
        both = [(b, a, w) for (a, b, w), one in zip(pairs, types, strict=True) if one.lower() == "undirected"]
        reads = [
            Reading([*pairs, *both]),
            Reading(pairs, says="--directed"),
            Reading(pairs, False, says="--undirected"),
        ]
    return File(
        out.getvalue(),
        f"Gephi {kind}",
        reads,
        "Type|directed",
        (".csv", ".csv", ".tsv", ".txt"),
        must=kind == "Directed" and types[0] == kind,
    )


def loads(random: Random) -> File:
    """Headers of tools that load graphs into databases."""
    graph = draw(random, weighted=False)
    kind = random.choice(
        [
            "neo4j",
            "neptune",
            "graphframes",
            "cytoscape",
            "movielens",
            "swapped",
            "nodes",
            "musae",
            "ldbc",
            "jodie",
            "european",
        ]
    )
    rows = graph.rows()
    table = {
        "neo4j": lambda: [[":START_ID", ":END_ID", ":TYPE"], *([a, b, "KNOWS"] for a, b in rows)],
        "neptune": lambda: [
            ["~id", "~from", "~to", "~label"],
            *([f"e{k}", a, b, "knows"] for k, (a, b) in enumerate(rows)),
        ],
        "graphframes": lambda: [["src", "dst", "relationship"], *([a, b, "friend"] for a, b in rows)],
        "cytoscape": lambda: [
            ["SUID", "interaction", "name"],
            *([str(k), "pp", f"{a} (pp) {b}"] for k, (a, b) in enumerate(rows)),
        ],
        "movielens": lambda: [
            ["userId", "movieId", "rating", "timestamp"],
            *([a, b, "4.5", "964982703"] for a, b in rows),
        ],
        "swapped": lambda: [["target", "source"], *([b, a] for a, b in rows)],
        "musae": lambda: [["id_1", "id_2"], *rows],
        "ldbc": lambda: [["Person.id|Person.id|creationDate"], *([f"{a}|{b}|2012-08-17"] for a, b in rows)],
        "jodie": lambda: [
            ["", "u", "i", "ts", "label", "idx"],
            *([str(k), a, b, f"{k}.5", "0", str(k + 1)] for k, (a, b) in enumerate(rows)),
        ],
        "european": lambda: [["source;target;weight"], *([f"{a};{b};0,5"] for a, b in rows)],
        "nodes": lambda: [["Id", "Label"], *([one, f"name {k}"] for k, one in enumerate(graph.ids))],
    }[kind]()
    reads = [Reading(graph.pairs())]
    if kind == "nodes":
        pairs = [(one, f"name {k}", 1.0) for k, one in enumerate(graph.ids)]
        reads = [Reading(pairs, says="Id|header"), Reading([("Id", "Label", 1.0), *pairs], says="--ids|header")]
    if kind == "european":
        reads = [Reading([(a, b, 0.5) for a, b in rows])]
    if kind == "movielens":
        reads += [Reading([(a, b, 4.5) for a, b in rows])]
    return File(
        "\n".join(",".join(row) for row in table) + "\n",
        f"the header of {kind}",
        reads,
        "header",
        (".csv", ".txt"),
        must=kind in ("graphframes", "swapped", "musae"),
    )


def joined(random: Random) -> File:
    """CSV files one after the other, each with its header."""
    graph = draw(random)
    names = random.choice([["source", "target"], ["src", "dst"], ["from", "to"], ["u", "v"], ["Source", "Target"]]) + (
        ["weight"] if graph.weights else []
    )
    between = random.choice([",", "\t", ";", " "])
    rows = [names, *graph.rows()]
    again = [random.randrange(2, len(rows) + 1) for _ in range(random.choice([1, 1, 2]))]
    for place in sorted(again, reverse=True):
        rows.insert(place, [name.title() for name in names] if random.random() < 0.1 else names)
    pairs = graph.pairs()
    reads = [Reading(pairs, says="header|skip")]
    return File(
        "\n".join(between.join(row) for row in rows) + "\n",
        f"a second header, {between!r}",
        reads,
        "header",
        (".csv", ".txt"),
    )


def comments(random: Random) -> File:
    """Rows that begin with a mark of comments, above and below the header and among the rows."""
    graph = draw(random, both=False)
    header = random.random() < 0.5
    between = random.choice([",", "\t", ";", " "])
    names = ["source", "target", *(["weight"] if graph.weights else [])]
    mark = random.choice(["#", "#", "# ", "%", "% ", "//", "--", ";", "!"])
    note = random.choice(["edge", "edge", "note"])
    rows = [between.join(row) for row in graph.rows()]
    lost = draw(random, "numbers" if graph.ids[0].isdigit() else "words", weighted=bool(graph.weights)).rows()
    noted = [
        mark + (between.join(random.choice(lost)) if note == "edge" else "a note of 2026")
        for _ in range(random.choice([1, 1, 3]))
    ]
    where = random.choice(["top", "below the header", "among"])
    lines = [*([between.join(names)] if header else []), *rows]
    place = {"top": 0, "below the header": int(header), "among": random.randrange(1, len(lines) + 1)}[where]
    lines[place:place] = noted
    above = place == 0 and mark[0] in "#%"  # where comments are expected
    reads = [Reading(graph.pairs(), says="" if above else "comment|begin|skip")]
    if note == "edge" and mark.strip() == mark != between:  # a name may begin with this mark
        cells = [line.split(between) for line in noted]
        as_edges = [(c[0], c[1], float(c[2]) if graph.weights else 1.0) for c in cells]
        reads.append(Reading([*graph.pairs(), *as_edges]))
    return File(
        "\n".join(lines) + "\n",
        f"{mark!r} before {note}, {where}, {'header' if header else 'no header'}, {between!r}",
        reads,
        "comment",
        (".txt", ".csv", ".edges"),
    )


def hashtags(random: Random) -> File:
    """Names that begin with # or %, as tags and percentages do."""
    graph = draw(random, "words", weighted=False)
    mark = random.choice("##%@")
    share = random.choice([0.2, 1.0])
    ids = [mark + one if random.random() < share else one for one in graph.ids]
    rows, between, header = (
        [[ids[a], ids[b]] for a, b in graph.edges],
        random.choice([",", "\t", " "]),
        random.random() < 0.5,
    )
    lines = [*(["source" + between + "target"] if header else []), *(between.join(row) for row in rows)]
    pairs = [(a, b, 1.0) for a, b in rows]
    left = [pair for pair in pairs if not pair[0].startswith(("#", "%"))]
    reads = [Reading(pairs), *([Reading(left, says="comment|begin|skip")] if left else [])]
    return File(
        "\n".join(lines) + "\n",
        f"names with {mark!r}, {'header' if header else 'no header'}, {between!r}",
        reads,
        "comment|no edges|no rows",
        (".csv", ".txt"),
    )


def odd_ids(random: Random) -> File:
    """Numbers with zeros, signs, exponents or another base: as they are written, or as numbers if that is printed."""
    kind = random.choice(
        [
            "zeros",
            "zeros",
            "exponent",
            "plus",
            "hex",
            "underscore",
            "fraction",
            "dates",
            "addresses",
            "one word",
            "percent",
            "thousands",
        ]
    )
    graph = draw(random, "from 1", weighted=False)
    spelled: dict[str, Callable[[int], str]] = {
        "zeros": lambda k: f"{k * 1003:05d}",
        "exponent": lambda k: random.choice([f"{k}e3", f"{k}000"]),
        "plus": lambda k: random.choice([f"+{k}", f"{k}"]),
        "hex": lambda k: hex(k + 20),
        "underscore": lambda k: f"1_00{k}",
        "fraction": lambda k: random.choice([f"{k}.0", f"{k}", f"{k}.00"]),
        "dates": lambda k: f"2026-11-{k:02d}",
        "addresses": lambda k: f"10.0.0.{k}",
        "one word": lambda k: f"{k}",
        "percent": lambda k: f"{k}%",
        "thousands": lambda k: f"1'00{k}",
    }
    rows = [[spelled[kind](a + 1), spelled[kind](b + 1)] for a, b in graph.edges]
    if kind == "one word":
        late = random.choice([1, len(rows)]) if len(rows) > 1 else 1
        rows.insert(late, [random.choice(["1e3", "0x1f", "x7", "01003", "1.0", "+5", "NA"]), rows[0][0]])
    between = random.choice([" ", "\t", ","])
    if random.random() < 0.3:
        rows.insert(0, ["source", "target"])
    text = "\n".join(between.join(row) for row in rows) + "\n"
    rows = rows[1:] if rows[0][0] == "source" else rows
    reads = [
        Reading(
            [(a, b, 1.0) for a, b in rows], says="" if kind in ("dates", "addresses") else r"\bids|string|word|text"
        )
    ]
    numbers = {"exponent": lambda one: int(float(one)), "hex": lambda one: int(one, 16)}.get(
        kind, lambda one: int(float(one))
    )
    with contextlib.suppress(ValueError):
        reads.append(
            Reading([(str(numbers(a)), str(numbers(b)), 1.0) for a, b in rows], says=r"zero|\bids|\bint|number")
        )
    return File(text, f"ids with {kind}", reads, "ids?|number|word", (".txt", ".csv", ".edges"))


def plain(random: Random) -> File:
    """An edge list with the name of another format."""
    graph = draw(random, "any", loops=True)
    between, header = random.choice([" ", "\t", ",", ";"]), random.random() < 0.3
    names = ["source", "target", *(["weight"] if graph.weights else [])]
    lines = [*([between.join(names)] if header else []), *(between.join(row) for row in graph.rows())]
    suffixes = (
        ".graph",
        ".metis",
        ".txt",
        ".csv",
        ".edges",
        ".el",
        ".net",
        ".gr",
        ".sif",
        ".dat",
        ".gml",
        ".json",
        "",
        ".adj",
        ".lgl",
        ".dot",
        ".tgf",
    )
    return File("\n".join(lines) + "\n", "an edge list", [Reading(graph.pairs())], "", suffixes, must=True)


def long(random: Random) -> File:
    """Thousands of rows, of which a late one is of another format than the first."""
    count = random.choice([200, 3000])
    rows = [(random.randrange(500), random.randrange(500)) for _ in range(count)]
    rows = list(dict.fromkeys(rows))
    lines = [f"{a} {b}" for a, b in rows]
    place = random.randrange(100, len(lines))
    odd = random.choice(
        [
            "7 -> 8",
            "(7, 8)",
            "7: 8",
            "source target",
            "7 -- 8",
            "*Edges",
            "#",
            "e 7 8",
            "7 8 9 10",
            "7 pp 8",
            "[7, 8]",
            "<tr>",
            "7 8,",
            "7,8",
            "7;8",
        ]
    )
    lines.insert(place, odd)
    pairs = [(str(a), str(b), 1.0) for a, b in rows]
    reads = [Reading(pairs[:place] + [("7", "8", 1.0)] + pairs[place:])]
    if odd in ("#", "*Edges", "<tr>", "source target"):
        reads = [Reading(pairs, says="comment|header|skip")]
    cells = odd.split()
    as_words = [*pairs[:place], (cells[0], cells[1], 1.0), *pairs[place:]] if len(cells) == 2 else ()
    told = f"a late row {odd!r}"
    return File("\n".join(lines) + "\n", told, reads, "", (".txt", ".edges"), as_words=as_words, newlines=False)


NASTY = [*"([{<\"'#%-*:,;|&~", "a ", "1 ", "1,", "a:", "- ", "->", "e 1 ", "{}", "[]", "()", '""', "\t", "<a>", "#a "]
"""What a regular expression may try in too many ways, if there is much of it."""


def heavy(random: Random) -> File:
    """Much of one kind above the edges or in a line: what looks at the start of a file must not take long."""
    graph = draw(random, "numbers", weighted=False)
    count = random.choice([30, 300, 5000])
    rows = ["".join(f"{a} {b}\n" for a, b in graph.rows())]
    above = random.choice(
        ["# a note\n", "#\n", "# 1 2\n", "#a b\n", "% a note\n", "\n", "  \n", "# " + "=" * 70 + "\n", "#\ta\tb\n"]
    )
    if random.random() < 0.5:
        told = f"{above!r} above the edges"
        return File(above * count + rows[0], told, [Reading(graph.pairs())], must=True, newlines=False)
    line = random.choice(NASTY) * count
    behind = random.choice(["", " ", "\n"]) + random.choice(["", random.choice(NASTY) * count])
    if line[0] in "#%" or not line.strip():
        text, reads = f"{line}\n{rows[0]}", [Reading(graph.pairs())]
    else:
        text = f"{line}{behind}\n"
        cells = [row.split() for row in text.split("\n") if row.strip()]
        reads = [Reading([(*cells[0], 1.0)])] if [len(row) for row in cells] == [2] else []
        if '"' in text and len(cells) == 1 and len(row := next(csv.reader([text.strip()], delimiter=" "))) == 2:
            reads.append(Reading([(row[0], row[1], 1.0)]))
        if len(cells[0]) > 2:
            says = "" if cells[0][2][0] in "#%" else "--weight-column"  # a comment behind a row; as csaw's error offers
            reads = [Reading([(*cells[0][:2], 1.0)], says=says)]
    names = "no edges|empty|bracket|quote|JSON|binary|HTML|XML|DIMACS|DOT|GML"
    return File(text, f"a line of {line[:4]!r}", reads, names, newlines=False)


WRITERS: dict[str, Callable[[Random], File]] = {
    "arrows": arrows,
    "brackets": brackets,
    "edge data": edge_data,
    "adjacency": adjacency,
    "colon": one_colon,
    "matrix": matrix,
    "printed": printed,
    "triples": triples,
    "gephi": gephi,
    "loads": loads,
    "joined": joined,
    "comments": comments,
    "hashtags": hashtags,
    "ids": odd_ids,
    "plain": plain,
    "long": long,
    "heavy": heavy,
}
