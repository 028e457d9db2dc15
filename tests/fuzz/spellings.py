"""Rows of edges as people spell them: arrows and words between the ends, brackets, lists of neighbors, ids with zeros
or signs, and much of one kind.
"""

import ast
import contextlib
import csv
import re
from collections.abc import Callable
from random import Random
from typing import Any

import networkx

from fuzz.readings import Drawn, File, Pair, Reading, draw, undirected

FORWARD = ["->", "-->", "=>", "|", ":", "pp", "knows", "to", "->>", "&", "/", ">", "follows", "\u2192", ",", "::", "="]
MUTUAL = ["--", "<->", "-", "~", "<=>", "---"]
BACK = ["<-", "<--", "<="]
NASTY = [*"([{<\"'#%-*:,;|&~", "a ", "1 ", "1,", "a:", "- ", "->", "e 1 ", "{}", "[]", "()", '""', "\t", "<a>", "#a "]
"""What a regular expression may try in too many ways, if there is much of it."""


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
    "ids": odd_ids,
    "plain": plain,
    "long": long,
    "heavy": heavy,
}
