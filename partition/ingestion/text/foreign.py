"""Texts that are no rows of edges, known by how they begin; each is refused with the way to read it."""

import re
from typing import NamedTuple

from csaw.partition.errors import FormatError

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
    return FormatError(
        f"{where}: this is {what}, not rows of edges; {way} (--format edges reads its rows all the same)"
    )
