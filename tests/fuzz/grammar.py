"""What people call an edge list: ids, weights, separators, headers, comments, line ends and packing, drawn at random.

A ``Text`` knows the edges that its author meant. Its parts are drawn one after the other; ``troubles`` spoils some.
"""

import bz2
import gzip
from dataclasses import dataclass, field
from random import Random

MUST, MAY, NEVER = "must", "may", "never"  # be accepted
WORDS = [
    "alice",
    "bob",
    "Q42",
    "node_7",
    "n\u00e9e",
    "\u5317\u4eac",
    "x" * 300,
    "a.b",
    "1a",
    "nan",
    "null",
    "e5",
    "v-1",
    "True",
    "_",
    "A/B",
]
WEIGHTS = [
    "1",
    "2",
    "1.0",
    "2.",
    ".5",
    "1e0",
    "1E+2",
    "2.5e-3",
    "+2",
    "0",
    "0.0",
    "1e-45",
    "3.4e38",
    "123456789.123456789",
    "000.5",
    "7",
]
NAMES = [
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("FromNodeId", "ToNodeId"),
    ("Source", "Target"),
    ("node_1", "node_2"),
]
EXTRAS = ["time", "timestamp", "label", "id", ""]
VAGUE = [("a", "b"), ("node", "neighbor"), ("x", "y"), ("col1", "col2"), ("head", "tail")]
SNAP = [
    "# Directed graph (each unordered pair of nodes is saved once): graph.txt",
    "# Nodes: 75879 Edges: 508837",
    "# FromNodeId\tToNodeId",
]
PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": None}


@dataclass
class Text:
    """A file, the options to read it with, and what its author meant by it."""

    random: Random
    rows: list[list[str]] = field(default_factory=list)  # cells by column, in the order of the file
    edges: list[tuple] = field(default_factory=list)
    strings: bool = False
    weighted: bool = False
    separator: str = " "
    header: list[str] | None = None
    before: list[str] = field(default_factory=list)  # lines above everything
    newline: str = "\n"
    options: list[str] = field(default_factory=list)
    directed: bool = True
    verdict: str = MUST
    told: str = "nothing is wrong"
    line_of: int | None = None  # the row whose line the error must name
    others: list[list[tuple]] = field(default_factory=list)  # other edges it may be read as
    other_weighted: bool = False  # it may be read with its third column as weights, too
    plain: bool = False  # no decoration: the trouble is in the bytes themselves
    name: str = "graph.txt"
    data: bytes = b""
    line: int | None = None


def text_of(random: Random, most: int = 60) -> Text:
    """Rows with nothing wrong, not yet written."""
    text = Text(random)
    kind = random.choice(["small", "small", "sparse", "signed", "below", "wide", "words", "words"])
    text.strings = kind == "words"
    ids = draw_ids(kind, random)
    for _ in range(random.randrange(5, most)):
        text.rows.append([random.choice(ids), random.choice(ids)])
    _weights(text)
    text.edges = [edge_of(row, text) for row in text.rows]
    text.separator = random.choice(
        [" ", "\t", ",", ";", "  ", ", ", " \t ", ","] if not text.strings else [" ", "\t", ",", ";", ","]
    )
    text.newline = random.choice(["\n", "\n", "\n", "\r\n", "\r"])
    return text


def draw_ids(kind: str, random: Random) -> list[str]:
    """Some ids, as a file has them."""
    if kind == "words":
        return random.sample(WORDS, random.randrange(4, len(WORDS)))
    numbers = {
        "small": lambda: random.randrange(12),
        "sparse": lambda: random.choice([random.randrange(10**6), random.randrange(10**12)]),
        "signed": lambda: random.randrange(-20, 20),
        "below": lambda: (1 << 63) - 1 - random.randrange(9),
        "wide": lambda: random.choice(
            [(1 << 64) - 1 - random.randrange(9), (1 << 63) + random.randrange(3), random.randrange(3)]
        ),
    }
    zeros = random.choice(["", "", "", "00"]) if kind in ("small", "sparse") else ""
    ids = [f"{zeros}{numbers[kind]()}" for _ in range(random.randrange(3, 14))]
    return [*ids, "-1"] if kind == "signed" else [*ids, str(1 << 63)] if kind == "wide" else ids


def edge_of(row: list[str], text: Text) -> tuple:
    """Its ends and its weight."""
    ends = [cell.encode("utf-8", "surrogateescape") if text.strings else int(cell) for cell in row[:2]]
    return (*ends, float(row[2]) if text.weighted else 1.0)


def _weights(text: Text) -> None:
    text.weighted = text.random.random() < 0.4
    if text.weighted:
        for row in text.rows:
            row.append(text.random.choice(WEIGHTS))


def choose_options(text: Text) -> None:
    """Options that change what the edges become."""
    random = text.random
    for flag, values in (
        ("--duplicates", ["keep", "first", "sum"]),
        ("--self-loops", ["keep", "drop"]),
        ("--partitions", ["1", "2", "5"]),
    ):
        if random.random() < 0.2:
            text.options += [flag, random.choice(values)]
    if random.random() < 0.2:
        text.directed = random.random() < 0.5
        text.options.append("--directed" if text.directed else "--undirected")
    elif not text.plain and random.random() < 0.1:
        text.before.append("# Undirected graph: friends")
        text.directed = False


def known_header(text: Text) -> None:
    """Names in any order, with columns that are not of the edge beside them: the names decide."""
    random = text.random
    names = [*random.choice(NAMES), *(["weight"] if text.weighted else [])]
    if text.separator.strip() or text.separator == "\t":
        extras = random.sample(EXTRAS, random.choice([0, 0, 1, 2]))
        names += extras
        for number, row in enumerate(text.rows):
            row += [str(number) if name in ("", "id") else random.choice(["3", "1700000000", "12"]) for name in extras]
    order = random.sample(range(len(names)), len(names))
    text.header = [names[k] for k in order]
    text.rows = [[row[k] for k in order] for row in text.rows]
    text.told = f"the header {text.header}"


def asked_columns(text: Text) -> None:
    """A header of which options say what is read, whatever the names seem to say."""
    random = text.random
    names = random.sample(["a", "b", "source", "target", "weight", "time"], 3)
    text.separator = random.choice([",", ";", "\t", " "])
    if not text.weighted:
        for row in text.rows:
            row.append(str(random.randrange(9)))
    order = random.sample(range(3), 3)
    text.header = [names[k] for k in order]
    text.rows = [[row[k] for k in order] for row in text.rows]
    text.options += [
        "--source-column",
        names[0],
        "--target-column",
        names[1],
        "--weight-column",
        names[2] if text.weighted else "none",
    ]
    text.told = f"the header {text.header} and options"


def vague_header(text: Text) -> None:
    """Names that do not say which is which: refused, or read by position."""
    text.header = [*text.random.choice(VAGUE), *(["value"] if text.weighted else [])]
    text.verdict, text.told = MAY, f"the header {text.header} does not say what is what"
    text.other_weighted = text.weighted
    if text.strings:
        text.others.append([(*(name.encode() for name in text.header[:2]), 1.0), *text.edges])


def more_columns(text: Text) -> None:
    """Four and five columns without a header: refused, unless an option says where the weights are."""
    random, extra = text.random, text.random.choice([1, 2])
    if text.strings or not text.weighted:
        return
    for row in text.rows:
        row += [str(random.randrange(100)) for _ in range(extra)]
    choice = random.choice(["", "3", "none"])
    text.options += ["--weight-column", choice] if choice else []
    text.weighted, text.told = choice == "3", f"{3 + extra} columns, --weight-column {choice}"
    text.verdict = MUST if choice else NEVER


def lines_of(text: Text) -> list[str]:
    """All lines, decorated; notes the line of the row that the error must name."""
    random, separator = text.random, text.separator
    lines = list(text.before)
    if not text.plain and random.random() < 0.2:
        lines += SNAP
    if text.header is not None:
        lines.append(separator.join(text.header))
    for number, row in enumerate(text.rows):
        if not text.plain and random.random() < 0.03:
            lines.append(random.choice(["", "   ", "# a note, with 1 2", "% 3 4", "#"]))
        if number == text.line_of:
            text.line = len(lines) + 1
        around = random.choice(["", "", "", "", " "]) if not text.strings and not text.plain else ""
        lines.append(around + separator.join(row) + random.choice(["", "", "", around]))
    return lines


def write(text: Text) -> None:
    """The bytes of the file, packed."""
    random = text.random
    data = text.newline.join(lines_of(text)).encode("utf-8", "surrogateescape")
    if text.newline == "\n" and not text.plain and random.random() < 0.1:
        half = data.find(b"\n", len(data) // 2)
        data = data[:half] + data[half:].replace(b"\n", b"\r\n")  # two files, one after the other
    if text.plain or random.random() < 0.8:
        data += text.newline.encode()
    if not text.plain and random.random() < 0.1:
        data = b"\xef\xbb\xbf" + data
    text.data = data
    if random.random() < 0.25:
        pack(text, random.choice(sorted(PACKED)))


def pack(text: Text, suffix: str) -> None:
    """Compress, sometimes as two members after each other."""
    import pyarrow

    name = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}[suffix]
    half = text.random.choice([0, len(text.data) // 2])
    parts = [part for part in (text.data[:half], text.data[half:]) if part] if suffix != ".zst" else [text.data]
    text.data = b"".join(
        (PACKED[suffix] or (lambda part: pyarrow.compress(part, name, asbytes=True)))(part) for part in parts
    )
    text.name += text.random.choice([suffix, ""])
