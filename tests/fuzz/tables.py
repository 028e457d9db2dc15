"""Tables as programs print and export them: matrices, triples, edge tables with headers, and comments and second
headers among their rows.
"""

import csv
import io
from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.readings import File, Reading, draw


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
        reads = [Reading(pairs, says="Id|header"), Reading([("Id", "Label", 1.0), *pairs], says="--id-type|header")]
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


WRITERS: dict[str, Callable[[Random], File]] = {
    "matrix": matrix,
    "printed": printed,
    "triples": triples,
    "gephi": gephi,
    "loads": loads,
    "joined": joined,
    "comments": comments,
    "hashtags": hashtags,
}
