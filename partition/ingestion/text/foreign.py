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


MARKUP = rb"\s*(<\?xml.*?\?>\s*)?(<!--.*?-->\s*)*"
REMARKS = rb"\s*((//[^\n]*|/\*.*?\*/|\#[^\n]*)\s*)*"
OF_DIMACS = (
    "grep '^[ae]' FILE | csaw partition - OUT --source-column 2 --target-column 3 reads its edges, with "
    "--weight-column 4 if each has a length, otherwise none"
)
OF_GSPAN = "it has several graphs: take the lines of one that begin with e out of it"
FORMATS = (
    _is("a web page (HTML)", MARKUP + rb"<(!doctype\s+html|html|head|body)\b", "download the file that it links to"),
    _is("GraphML", MARKUP + rb"(<!doctype[^>]*>\s*)?<graphml\b", through("networkx.read_graphml(FILE)")),
    _is("GEXF", MARKUP + rb"<(\w+:)?gexf\b", through("networkx.read_gexf(FILE)")),
    _is("XML", rb"\s*<\?xml\b|\s*<!--", "convert it to 'source target [weight]' rows first"),
    _is("GML", rb"\s*((Creator|Version|comment)\b[^\n]*\n\s*|\#[^\n]*\n\s*)*graph\s*\[",
        through("networkx.read_gml(FILE)")),
    _is("Pajek", rb"\s*(%[^\n]*\n\s*)*\*(vertices|network|arcs|edges|arcslist|edgeslist|matrix)\b",
        through("networkx.read_pajek(FILE)")),
    _is("VNA", rb"\s*\*(node|tie)\s+(data|properties)\b", "take the rows below '*tie data' out of it"),
    _is("UCINET DL", rb"\s*dl\b\s*,?\s*((n|nr|nc|nm)\s*=|format\s*=)", through("igraph.Graph.Read_DL(FILE)")),
    _is("DOT (Graphviz)", REMARKS + rb"(strict\s+)?(di)?graph\b(\s+(\"[^\"]*\"|[\w.-]+))?\s*\{",
        through("networkx.nx_pydot.read_dot(FILE)")),
    _is("GDF", rb"\s*nodedef\s*>", "take the rows below 'edgedef>' out of it"),
    _is("graph6", rb"\s*>>graph6<<", through("networkx.read_graph6(FILE)")),
    _is("sparse6", rb"\s*(>>sparse6<<|:[?-~]+\s*(\n|\Z))", through("networkx.read_sparse6(FILE)")),
    _is("digraph6", rb"\s*>>digraph6<<", through("networkx.from_graph6_bytes(LINE)")),
    _is("JSON in lines", rb"\s*\{\s*\"[^\n]*\}\s*\n\s*\{", through("pandas.read_json(FILE, lines=True)")),
    _is("JSON of nodes and links", rb"\s*\{\s*\"", through("networkx.node_link_graph(json.load(open(FILE)))")),
    _is("JSON", rb"\s*\[\s*(\{|$)", through("pandas.read_json(FILE)")),
    _is("DIMACS", rb"(c\b[^\n]*\n|\s*\n)*p\s+[a-z_]+\s+\d+\s+\d+", OF_DIMACS),
    _is("gSpan", rb"\s*t\s+\#\s+-?\d+", OF_GSPAN),
    _is("an adjacency graph of Ligra or GBBS", rb"\s*(weighted)?adjacencygraph\s",
        "convert it to 'source target' rows"),
    _is("RDF", rb"\s*(\#[^\n]*\n\s*)*(@prefix|prefix\s+\w*:|<[^>\s]+>\s+<[^>\s]+>\s+[<\"_][^\n]*\.\s*\n)",
        "convert it to 'source target' rows first"),
    _is("a dump of a database (SQL)",
        rb"\s*((--|/\*)[^\n]*\n\s*)*(create\s+(table|database)|insert\s+into|drop\s+table|copy\s+\S+[^\n]*\sfrom\s+stdin)\b",
        "export its table of edges as CSV"),
)  # fmt: skip
BINARY = {b"PAR1": "Parquet, which csaw knows by the suffix .parquet", b"ARROW1": "Arrow, known by the suffix .arrow"}


def refuse_unreadable(name: str, head: bytes) -> None:
    """Raise FormatError for what is no text, or stands for another file."""
    if head.startswith(b"version https://git-lfs"):
        raise FormatError(
            f"{name}:1: this is a Git LFS pointer, not the file that it points to; fetch the file with git lfs pull"
        )
    if head[257:262] == b"ustar":
        raise FormatError(f"{name}: a tar archive; unpack it with tar -xf, and give the file of edges in it")
    if b"\0" in head[:4096]:
        known = next((f"{what}; rename it" for magic, what in BINARY.items() if head.startswith(magic)), "")
        raise FormatError(f"{name}: binary data; " + (known or "expected text, plain or packed by gzip, bz2 or zstd"))


def refuse_foreign(name: str, head: bytes) -> None:
    """Raise FormatError for a text of a known format that has no rows of edges."""
    for known in FORMATS:
        if known.begins.match(head[:LOOKED_AT]):
            raise refusal(name, known.name, known.way)


def refusal(where: str, what: str, way: str) -> FormatError:
    """The error for a text of a format that is not read."""
    return FormatError(
        f"{where}: this is {what}, not rows of edges; {way} (--format edges reads its rows all the same)"
    )
