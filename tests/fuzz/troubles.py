"""What is wrong with a text: one thing each, of which its author knows whether anybody could read it rightly."""

from collections.abc import Callable

from fuzz.grammar import MAY, NEVER, Text, edge_of, pack

NO_ID = ["x7", "1.5", "1e3", "0x1F", "1_000", "\u00b2", "\u0661", "--1", "1-2", "nan", "+", "'1'"]
TOO_LARGE = [str(1 << 64), str(10**30), "9" * 400, str(-(1 << 63) - 1)]
NO_WEIGHT = ["nan", "inf", "-1", "1e39", "abc", "0x1p3", "\u00b2", "1e", "-inf", "1e400", ".", "--2", "1.2.3", "1_0"]
SNIFFED = 32  # rows that are looked at before any is read: what is wrong with one of them may be said of all
FOREIGN = [
    b"graph [ node [ id 1 ] ]\n",
    b"<?xml version='1.0'?><graphml/>\n",
    b'{"nodes": []}\n',
    b"*Vertices 3\n1 2\n",
    b"p sp 3 2\na 1 2 5\n",
    b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n",
    b"version https://git-lfs.github.com/spec/v1\n",
]


def _spoil(text: Text, told: str, change: Callable[[list[str]], list[str]]) -> None:
    """Change one row, for the worse; sometimes with ``--on-error skip``, after which the others must be there."""
    number = text.random.randrange(len(text.rows))
    text.rows[number] = change(text.rows[number])
    text.told = f"row {number}, {text.rows[number]!r:.60}: {told}"
    text.verdict, text.line_of = NEVER, number
    if text.random.random() < 0.25 and number > 0:
        text.options += ["--on-error", "skip"]
        text.verdict = MAY
        del text.edges[number]


def bad_id(text: Text) -> None:
    bad, column = text.random.choice([*NO_ID, *TOO_LARGE]), text.random.randrange(2)
    if text.strings:
        return bad_weight(text)
    return _spoil(
        text,
        "an id that is no number of 64 bits",
        lambda row: [bad if k == column else cell for k, cell in enumerate(row)],
    )


def bad_weight(text: Text) -> None:
    bad = text.random.choice(NO_WEIGHT)
    if not text.weighted:
        return short_row(text)
    return _spoil(text, "a weight that is no finite number from 0", lambda row: [*row[:2], bad])


def short_row(text: Text) -> None:
    keep = 1 if not text.weighted else text.random.choice([1, 2])
    _spoil(text, "too few columns", lambda row: row[:keep])
    _lenient_line(text)


def long_row(text: Text) -> None:
    _spoil(text, "too many columns", lambda row: [*row, *["8"] * text.random.choice([1, 1, 2, 5])])
    _lenient_line(text)


def empty_cell(text: Text) -> None:
    column = text.random.randrange(len(text.rows[0]))
    text.separator = text.random.choice([",", ";", "\t"] if text.strings else [",", ";"])
    _spoil(text, "an empty cell", lambda row: ["" if k == column else cell for k, cell in enumerate(row)])
    _lenient_line(text)


def _lenient_line(text: Text) -> None:
    if text.line_of is not None and text.line_of < SNIFFED:
        text.line_of = None


def quotes(text: Text) -> None:
    """Quotes around some or all cells: read without them, or refused."""
    share = text.random.choice([0.1, 1.0])
    text.separator = ","
    text.rows = [[f'"{cell}"' if text.random.random() < share else cell for cell in row] for row in text.rows]
    text.verdict, text.told = MAY, "quotes"


def float_ids(text: Text) -> None:
    """Ids as pandas writes them beside a missing value: numbers, or refused; never 1 and 1.0 as two vertices."""
    if text.strings:
        return quotes(text)
    share = text.random.choice([0.2, 1.0])
    text.rows = [
        [f"{cell}.0" if k < 2 and text.random.random() < share else cell for k, cell in enumerate(row)]
        for row in text.rows
    ]
    text.verdict, text.told = MAY, "ids such as 1.0"
    if share == 1.0:
        text.others.append(
            [(*(cell.encode() for cell in row[:2]), edge[2]) for row, edge in zip(text.rows, text.edges, strict=True)]
        )
    return None


def adjacency(text: Text) -> None:
    """A vertex and all its neighbors: not rows of edges."""
    random = text.random
    text.rows = [
        [row[0], *(random.choice(text.rows)[1] for _ in range(2 + number % 4))] for number, row in enumerate(text.rows)
    ]
    text.verdict, text.told = NEVER, "an adjacency list"


def counts_row(text: Text) -> None:
    """A first row of counts: of three numbers refused, of two an edge that is warned of, or none."""
    if text.strings or text.weighted:
        return adjacency(text)
    counts = [str(len({end for edge in text.edges for end in edge[:2]})), str(len(text.edges))]
    if text.random.random() < 0.5:
        text.rows.insert(0, [counts[0], *counts])
        text.verdict, text.told = NEVER, "a first row of three counts"
        return None
    text.rows.insert(0, counts)
    text.verdict, text.told = MAY, "a first row of counts"
    text.others.append([edge_of(counts, text), *text.edges])
    return None


def skipped_lines(text: Text) -> None:
    junk = text.random.choice([["12 40 480"], ["graph of friends", "made 2024-01-01 by \u00b2"], ["{", "}"]])
    text.before = junk + text.before
    text.options += ["--skip-lines", str(len(junk))]
    text.told, text.directed, text.plain = f"{len(junk)} lines to skip", True, True


def both_signs(text: Text) -> None:
    """Ids below zero and from 2^63 on: no type has both."""
    if text.strings:
        return quotes(text)
    for number, value in ((0, "-5"), (len(text.rows) - 1, str(1 << 63))):
        text.rows[number][0] = value
    text.verdict, text.told = NEVER, "ids below zero and from 2^63 on"
    return None


def strings_forced(text: Text) -> None:
    """``--id-type string`` keeps what the file says, zeros and all."""
    text.strings = True
    text.separator = text.random.choice([" ", "\t", ","])
    text.edges = [edge_of(row, text) for row in text.rows]
    text.options += ["--id-type", "string"]
    text.told = "--id-type string"


def numbers_forced(text: Text) -> None:
    """``--id-type int`` where ids are words."""
    text.options += ["--id-type", "int"]
    text.verdict, text.told = (NEVER, "--id-type int for words") if text.strings else (text.verdict, "--id-type int")


def odd_spaces(text: Text) -> None:
    """Spaces that only some programs take for spaces: as they are meant, or refused."""
    space = text.random.choice(["\u00a0", "\x0b", "\x0c", "\u2003", "\x1c"])
    text.separator = text.random.choice([space, f" {space}", f"{space},"])
    text.verdict, text.told = MAY, f"{space!r} between columns"
    if text.separator != space:
        text.others.append(
            [
                (*(part.encode() for part in _with(space, text.separator, row)), edge[2])
                for row, edge in zip(text.rows, text.edges, strict=True)
            ]
        )


def _with(space: str, separator: str, row: list[str]) -> list[str]:
    """The ends of a row, with the odd spaces that belong to them."""
    return [row[0], space + row[1]] if separator.startswith(" ") else [row[0] + space, row[1] + space * (len(row) > 2)]


def note_behind(text: Text) -> None:
    """A comment behind a row: left out, or refused."""
    number = text.random.randrange(len(text.rows))
    text.rows[number] = [*text.rows[number], text.random.choice(["# a note", "#", "% 7", "// x"])]
    text.verdict, text.told = MAY, f"a comment behind row {number}"
    text.separator = " "


IN_ROWS = [
    bad_id,
    bad_id,
    bad_weight,
    bad_weight,
    short_row,
    long_row,
    empty_cell,
    quotes,
    float_ids,
    adjacency,
    counts_row,
    skipped_lines,
    both_signs,
    strings_forced,
    numbers_forced,
    odd_spaces,
    note_behind,
]


def nothing(text: Text) -> None:
    text.data = text.random.choice(
        [
            b"",
            b"\n",
            b" \n\t\n",
            b"# only\n# comments\n",
            b"\xef\xbb\xbf",
            b"source,target\n",
            b"5\n",
            b"\r\r",
            b"\x1f\x8b",
        ]
    )
    text.verdict, text.told = NEVER, f"no edges: {text.data!r}"


def foreign(text: Text) -> None:
    text.data = text.random.choice(FOREIGN)
    text.verdict, text.told = NEVER, f"another format: {text.data[:30]!r}"


def wide_text(text: Text) -> None:
    text.data = text.data.decode("utf-8", "replace").encode("utf-16")
    text.verdict, text.told = NEVER, "UTF-16"


def zero_byte(text: Text) -> None:
    place = text.random.randrange(len(text.data) - 1)
    text.data = text.data[:place] + b"\0" + text.data[place:]
    text.verdict, text.told = NEVER, f"a zero byte at {place}"


def cut_short(text: Text) -> None:
    pack(text, text.random.choice([".gz", ".bz2", ".zst"]))
    size = text.random.randrange(4, len(text.data) - 1)
    text.verdict, text.told = NEVER, f"{size} of {len(text.data)} packed bytes"
    text.data = text.data[:size]


def broken_packing(text: Text) -> None:
    pack(text, text.random.choice([".gz", ".bz2"]))
    place = text.random.randrange(12, len(text.data) - 8)
    text.data = text.data[:place] + bytes([text.data[place] ^ 0x55]) + text.data[place + 1 :]
    text.verdict, text.told = MAY, f"packed byte {place} changed"  # some bits of a stream say nothing


def garbage_behind(text: Text) -> None:
    pack(text, text.random.choice([".gz", ".bz2"]))
    text.data += b"garbage\n"
    text.verdict, text.told = MAY, "garbage behind packed data"


IN_BYTES = [nothing, foreign, wide_text, zero_byte, cut_short, cut_short, broken_packing, garbage_behind]


def matrix_market(text: Text) -> None:
    """A matrix of the same edges, its size line right or wrong."""
    random, size = text.random, 12
    pairs = [(random.randrange(1, size + 1), random.randrange(1, size + 1)) for _ in text.rows]
    kind, symmetry = random.choice(["pattern", "real", "integer"]), random.choice(["general", "symmetric"])
    text.weighted, text.strings, text.directed = kind != "pattern", False, symmetry == "general"
    text.rows = [[str(a), str(b), *([str(random.randrange(1, 9))] if text.weighted else [])] for a, b in pairs]
    text.edges = [edge_of(row, text) for row in text.rows]
    wrong = random.choice([None, None, "count", "bound", "square"])
    sizes = {
        None: (size, size, len(pairs)),
        "count": (size, size, len(pairs) + 1),
        "square": (size, size + 1, len(pairs)),
    }
    rows, columns, entries = sizes.get(wrong, (max(map(max, pairs)) - 1,) * 2 + (len(pairs),))
    text.before = [f"%%MatrixMarket matrix coordinate {kind} {symmetry}", "% a comment", f"{rows} {columns} {entries}"]
    text.separator, text.newline, text.plain, text.header = " ", "\n", True, None
    text.verdict, text.told = (
        text.verdict if wrong is None else NEVER,
        f"Matrix Market {kind} {symmetry}, wrong {wrong}",
    )
