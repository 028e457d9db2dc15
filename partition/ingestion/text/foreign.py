"""Texts that are not rows of edges, recognized by how they begin; each is an error that explains how to read it."""

import re
from typing import NamedTuple

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import Wishes
from csaw.partition.ingestion.text.cells import NUMBER, Head, Line, row_shown
from csaw.partition.ingestion.text.row_checks import IN_BRACKETS

LOOKED_AT = 1 << 16


class Foreign(NamedTuple):
    """A format, how its texts begin, and what reads it."""

    name: str
    begins: re.Pattern[bytes]
    way: str


def _is(name: str, begins: bytes, way: str) -> Foreign:
    return Foreign(name, re.compile(begins, re.IGNORECASE | re.DOTALL), way)


def through(call: str) -> str:
    """Say which call of Python gives csaw the graph of FILE."""
    return f"in Python, csaw.partition({call}, OUT) reads it"


OF_DIMACS = (
    "grep '^[ae]' FILE | csaw partition - OUT --source-column 2 --target-column 3 reads its edges, with "
    "--weight-column 4 if each has a length, otherwise none"
)
OF_GSPAN = "it has several graphs: take the lines of one that begin with e out of it"
FORMATS = (
    _is("a web page (HTML)", rb"<(!doctype\s+html|html|head|body)\b", "download the file that it links to"),
    _is("GraphML", rb"(<!doctype[^>]*>\s*)?<graphml\b", through("networkx.read_graphml(FILE)")),
    _is("GEXF", rb"<(\w{1,20}:)?gexf\b", through("networkx.read_gexf(FILE)")),
    _is("GML", rb"graph\s*\[", through("networkx.read_gml(FILE)")),
    _is("Pajek", rb"\*(vertices|network|arcs|edges|arcslist|edgeslist|matrix)\b", through("networkx.read_pajek(FILE)")),
    _is("VNA", rb"\*(node|tie)\s+(data|properties)\b", "take the rows below '*tie data' out of it"),
    _is("UCINET DL", rb"dl\b[\s,]*((n|nr|nc|nm)\s*=|format\s*=)", through("igraph.Graph.Read_DL(FILE)")),
    _is(
        "DOT (Graphviz)",
        rb"(strict\s+)?(di)?graph\b(\s+(\"[^\"]*\"|[\w.-]+))?\s*\{",
        through("networkx.nx_pydot.read_dot(FILE)"),
    ),
    _is("GDF", rb"(node|edge)def\s*>", "take the rows below 'edgedef>' out of it"),
    _is("graph6", rb">>graph6<<", through("networkx.read_graph6(FILE)")),
    _is("sparse6", rb">>sparse6<<|:[?-~]+\s*(\n|\Z)", through("networkx.read_sparse6(FILE)")),
    _is("digraph6", rb">>digraph6<<", through("networkx.from_graph6_bytes(LINE)")),
    _is("JSON in lines", rb"\{\s*\"[^\n]*\}\s*\n\s*\{", through("pandas.read_json(FILE, lines=True)")),
    _is("JSON of nodes and links", rb"\{\s*\"", through("networkx.node_link_graph(json.load(open(FILE)))")),
    _is("JSON", rb"\[\s*(\{|\Z)", through("pandas.read_json(FILE)")),
    _is("DIMACS", rb"p\s+[a-z_]+\s+\d+\s+\d+", OF_DIMACS),
    _is("gSpan", rb"t\s+\#\s+-?\d+", OF_GSPAN),
    _is("an adjacency graph of Ligra or GBBS", rb"(weighted)?adjacencygraph\s", "convert it to 'source target' rows"),
    _is(
        "RDF",
        rb"@prefix|prefix\s+\w*:|<[^>\s]+>\s+<[^>\s]+>\s+[<\"_][^\n]*\.\s*\n",
        "convert it to 'source target' rows first",
    ),
    _is(
        "a dump of a database (SQL)",
        rb"(create\s+(table|database)|insert\s+into|drop\s+table|copy\s+\S+[^\n]*\sfrom\s+stdin)\b",
        "export its table of edges as CSV",
    ),
)
REMARKS = {b"<?xml": b"?>", b"<!--": b"-->", b"/*": b"*/", b"//": b"\n", b"--": b"\n", b"#": b"\n", b"%": b"\n"}
"""What may stand before a graph: how it begins and ends."""
PREAMBLE = re.compile(rb"(creator|version|comment|c)(\s|$)", re.IGNORECASE)  # lines of GML, and of DIMACS
BINARY = {b"PAR1": "Parquet, which csaw knows by the suffix .parquet", b"ARROW1": "Arrow, known by the suffix .arrow"}

DOCUMENTS = {b"%PDF-": "a PDF document", b"%!PS": "PostScript", b"{\\rtf": "a document (RTF)"}


def refuse_unreadable(name: str, head: bytes) -> None:
    """Raise FormatError for what is no text, or stands for another file."""
    if head.startswith(b"version https://git-lfs"):
        raise FormatError(
            f"{name}:1: this is a Git LFS pointer, not the file that it points to; fetch the file with git lfs pull"
        )
    if head[257:262] == b"ustar":
        raise FormatError(f"{name}: a tar archive; unpack it with tar -xf, and give the file of edges in it")
    if document := next((what for magic, what in DOCUMENTS.items() if head.startswith(magic)), None):
        raise FormatError(f"{name}:1: this is {document}, not rows of edges; export its table as CSV")
    if b"\0" in head[:4096]:
        known = next((f"{what}; rename it" for magic, what in BINARY.items() if head.startswith(magic)), "")
        raise FormatError(f"{name}: binary data; " + (known or "expected text, plain or packed by gzip, bz2 or zstd"))


def refuse_foreign(name: str, text: bytes) -> None:
    """Raise FormatError for a text of a known format that has no rows of edges, by its begin ``text``."""
    begins = _behind_remarks(text)
    behind = _behind_preamble(begins)
    for known in FORMATS:
        if known.begins.match(begins) or (known.name in ("DIMACS", "GML") and known.begins.match(behind)):
            raise refusal(name, known.name, known.way)
    if text.lstrip().startswith((b"<?xml", b"<!--")):
        raise refusal(name, "XML", "convert it to 'source target [weight]' rows first")


def _behind_remarks(text: bytes) -> bytes:
    """The text without what stands before a graph."""
    begin = 0
    while True:
        while begin < len(text) and text[begin : begin + 1].isspace():
            begin += 1
        end = next((end for mark, end in REMARKS.items() if text.startswith(mark, begin)), None)
        if end is None:
            return text[begin:]
        found = text.find(end, begin + 2 * (end != b"\n"))
        begin = len(text) if found < 0 else found + len(end)


def _behind_preamble(text: bytes) -> bytes:
    """The text without the lines that stand before a graph in some formats."""
    begin = 0
    while PREAMBLE.match(text, begin) or (begin < len(text) and text[begin : begin + 1].isspace()):
        begin = text.find(b"\n", begin) + 1 or len(text)
    return text[begin:]


def refusal(where: str, what: str, way: str) -> FormatError:
    """The error for a text of a format that is not read."""
    return FormatError(f"{where}: this is {what}, not rows of edges; {way} (--format edges reads its rows anyway)")


# Formats whose lines look like rows of edges, known by their first lines; each is refused with the way to read it.

LONGEST = 1 << 10  # bytes of a row that are looked at
ALONE = re.compile(rb"\n#[ \t]*\n")
LGL = re.compile(r"\.lgl(\.\w+)?$")
VERTEX = re.compile(rb"(?:\A|(?<=\n))#[ \t]*(\S+)[ \t]*\n(?=[^#%\s])")  # a line # NAME above a row
LONE = re.compile(rb"\s*[\(\[\{]\s*$")
BRACKET = re.compile(rb"\s*([^\s\(\[\{<]*\s*:?\s*)?[\(\[\{<]")
BRACKETS = re.compile(
    BRACKET.pattern + rb"(\s*$|[^\)\]\}>]*[,;\s\(\[\{]|(?<=\{)[^\}]*:|(?<=\[)[^\]]*=|[^\)\]\}>]*[\)\]](-\[|->|<-|--))"
)
"""Rows of Python, JSON and Cypher that begin with a bracket."""
LETTERED = re.compile(rb"\s*[acdenpstvx](\s|$)")
DIMACS_EDGE = re.compile(rb"\s*[ae]\s+\d+\s+\d+(\s+-?[\d.]+)?\s*$")
GSPAN_VERTEX = re.compile(rb"\s*(v\s+\d+\s+\S+\s*$|t\s+#)")
QUOTES = re.compile(rb"\s*([^\s']+\s+)?'[^']*'\s*[,;\s]\s*'[^']*'")
NAMED = re.compile(rb"\s*([A-Za-z]+)([\s,;])\s*([^\s,;]+)\s*([\s,;])\s*([^\s,;]+)")  # Edge 1, 2
EDGES = {b"edge", b"arc", b"link"}
COLON = re.compile(rb"\s*(?!\S*\d{4}-\d\d-\d\d\s)(\S+\s+)?\d+([:=~&<>]+)\d+(\.\d*)?([eE][-+]?\d+)?(\s|,|$)")


def refuse_foreign_rows(head: Head, lines: list[Line], wishes: Wishes) -> None:
    """Raise FormatError for ``lines``, the first rows of ``head``, that are those of a known format.

    Where ``wishes`` say which columns are read, the others may have anything.
    """
    where, texts = _begun(head, lines)
    if _is_tgf(head, lines):
        way = "the rows below its line '#' are edges: sed '1,/^#$/d' FILE | csaw partition - OUT"
        raise refusal(where, "TGF (Trivial Graph Format)", way)
    if _is_lgl(head, texts):
        raise refusal(where, "LGL (Large Graph Layout)", through("igraph.Graph.Read_Lgl(FILE)"))
    refuse_lettered_rows(head, lines, wishes)
    _refuse_named(where, texts, wishes)
    braces = {min(len(text.partition(b"{")[0].split()), 2) for text in texts if _has_data(text)}
    if 2 in braces and wishes.weight == "auto":
        way = (
            "--weight-column none reads the ends only, networkx.write_weighted_edgelist writes rows with weights, and "
            + through("networkx.read_edgelist(FILE)")
        )
        raise refusal(where, "an edge list of networkx with data in braces", way)
    if braces == {1}:
        raise refusal(where, "a multiline adjacency list of networkx", through("networkx.read_multiline_adjlist(FILE)"))
    _refuse_colons(where, texts)
    _refuse_marks(where, texts)


def _has_data(text: bytes) -> bool:
    """Whether a row ends with braces behind a blank."""
    before, brace, _ = text.partition(b"{")
    return bool(brace) and before[-1:].isspace() and text.endswith(b"}")


def _is_tgf(head: Head, lines: list[Line]) -> bool:
    """Whether a line of nothing but # stands between rows of different vertices, each with its name, and rows of edges
    between these.
    """
    begin = lines[0].end - len(lines[0].text)
    parts = ALONE.split(head.begin(len(head.text), begin), maxsplit=1)
    if len(parts) < 2:
        return False
    above, below = parts
    vertices = [line.split(None, 1) for line in above.split(b"\n") if line.strip()]
    known, labels = {cells[0] for cells in vertices}, [cells[-1].strip() for cells in vertices]
    if len(known) < len(vertices) or (labels != [cells[0] for cells in vertices] and known >= set(labels)):
        return False
    edges = [line.split(None, 2)[:2] for line in below[:LOOKED_AT].split(b"\n")[:-1] or [below] if line.strip()]
    return all(len(ends) == 2 and known >= set(ends) for ends in edges)


def _is_lgl(head: Head, texts: list[bytes]) -> bool:
    """Whether lines ``# NAME`` stand above rows of one cell, or two with a weight: other names above each, as the ids
    in the rows are, and one at the begin.
    """
    names = VERTEX.findall(head.begin(LOOKED_AT))
    rows = [text.split() for text in texts]
    if not head.text.lstrip().startswith(b"#") or max(map(len, rows)) > 2 or len(set(names)) < len(names):
        return False
    if all(row[0].isdigit() for row in rows) != all(map(bytes.isdigit, names)):
        return False
    return len(names) > (0 if LGL.search(head.name) else 1)


def _begun(head: Head, lines: list[Line]) -> tuple[str, list[bytes]]:
    """The place of the first row, and the beginnings of all."""
    return f"{head.name}:{lines[0].number}", [line.text[:LONGEST].rstrip() for line in lines]


def refuse_lettered_rows(head: Head, lines: list[Line], wishes: Wishes) -> None:
    """Raise FormatError for rows that all begin with a letter, which says what they are."""
    where, texts = _begun(head, lines)
    if wishes.source or wishes.target or not all(map(LETTERED.match, texts)):
        return
    if any(map(GSPAN_VERTEX.match, texts)):
        raise refusal(where, "gSpan", OF_GSPAN)
    if any(map(DIMACS_EDGE.match, texts)):
        raise refusal(where, f"DIMACS, without a line p ({row_shown(texts[0])})", OF_DIMACS)


def _refuse_colons(where: str, texts: list[bytes]) -> None:
    """Raise FormatError for words with colons between vertices, ``a:b c``: words that stand alone in other rows; and
    for a vertex and its weight, ``a b:2``.
    """
    rows = [text.replace(b",", b" ").split() for text in texts]
    pairs = [[cell.split(b":") for cell in row[:2]] for row in rows]
    for end in (0, 1):
        halves = [row[end] for row in pairs if len(row) > end]
        vertices = {row[0][0] for row in pairs if row and (end == 0 or len(row[0]) == 1)}
        others = [half[1 - end] for half in halves if len(half) == 2 and all(half)]
        weights = end == 1 and all(len(row[0]) == 1 and NUMBER.fullmatch(row[1][-1]) for row in pairs if len(row) > 1)
        weights = weights and not any(map(COLON.match, texts))  # which are told of below
        known = 2 * sum(other in vertices for other in others) > len(others)
        if others and len(others) == len(halves) and (weights or known):
            row = row_shown(texts[0])
            kind = "are vertices, too" if known else "may be a vertex and its weight"
            way = (
                "if a weight follows each colon, replace the colon with a space, sed 's/:/ /' FILE; if a vertex "
                "and its neighbors follow, add a space, sed 's/:/: /' FILE"
            )
            raise refusal(where, f"words with ':' between them that {kind} ({row})", way)


def _refuse_marks(where: str, texts: list[bytes]) -> None:
    """Raise FormatError for rows that have brackets or colons around their ends."""
    row = row_shown(texts[0])
    opened = sum(map(bool, map(BRACKET.match, texts)))
    if LONE.match(texts[0]) or (2 * opened > len(texts) and any(map(BRACKETS.match, texts))):
        way = (
            "remove the brackets, tr -d '()[]{}<>' < FILE > edges.txt, if each line is one edge; in Python, "
            "csaw.partition takes a list of tuples"
        )
        raise refusal(where, f"a list in brackets, as Python and JSON write ({row})", way)
    if all(map(IN_BRACKETS.search, texts)):
        way = "write weights without brackets: tr -d '()' < FILE > edges.txt"
        raise refusal(where, f"an edge followed by a weight in brackets ({row})", way)
    if 2 * sum(map(bool, map(QUOTES.match, texts))) > len(texts):
        way = 'write double quotes, or none: tr -d "\'" < FILE > edges.txt'
        raise refusal(where, f"words in single quotes, which would stay in the ids ({row})", way)
    if all(text.endswith(b";") and text.count(b";") == 1 for text in texts):
        raise refusal(where, f"rows that end with a semicolon ({row})", "remove it: tr -d ';' < FILE > edges.txt")
    marks = [found[2] for found in map(COLON.match, texts) if found]
    if 2 * len(marks) > len(texts):
        mark = marks[0].decode()
        way = f"replace it with a space: sed 's/{mark}/ /g' FILE > edges.txt"
        raise refusal(where, f"pairs of numbers with {mark!r} between them ({row})", way)


def _refuse_named(where: str, texts: list[bytes], wishes: Wishes) -> None:
    """Raise FormatError for the same word before the edge in each row: ``Edge 1, 2``, of numbers also ``x 1 2``."""
    named = [found for found in map(NAMED.match, texts) if found]
    words = {found[1].lower() for found in named}
    if len(named) < len(texts) or len(words) > 1 or (wishes.source and wishes.target):
        return
    apart = all(found[2].isspace() and found[4] in b",;" for found in named)
    first, second = (all(found[end].isdigit() for found in named) for end in (3, 5))
    sure = apart or (len(texts) > 1 and second)
    if (first and sure) or (words <= EDGES and (apart or first or len(texts) > 1)):
        way = (
            f"remove it: sed 's/{named[0][1].decode()}.//' FILE | csaw partition - OUT, or pass --source-column 1 "
            "--target-column 2 if it is a vertex"
        )
        raise refusal(where, f"rows with a word before the edge ({row_shown(texts[0])})", way)
