"""Rows that may not be edges: an error if no reading is likely, otherwise a warning."""

import re
from collections.abc import Iterator
from itertools import chain

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import named_ends, plain
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.cells import (
    DECIMAL_BETWEEN,
    DECIMAL_LAST,
    NUMBER,
    Layout,
    cells,
    refuse_comma,
    row_shown,
    text_of,
)
from csaw.partition.ingestion.text.row_checks import Type
from csaw.partition.ingestion.text.shape import Shape

MANY = 8  # entries
LONGEST = 40  # bytes of a number
ARROW = b"-=<>~"
INNER_QUOTES = re.compile(rb'\s*[^\s",;][^",;\t]*\s"[^"]*"')
LONGEST_LINE = 1 << 10
NODES = {(one, other) for one in ("id", "nodeid", "node", "vertex") for other in ("label", "name", "labels")}
BETWEEN = re.compile(rb"\S+\s+(\S+)\s+\S+")
SIGN = re.compile(rb"[^\w\s\x80-\xff]+")
WHOLE = re.compile(rb"[0-9]{1,18}")
SPELLED = re.compile(
    rb"[-+]?(0[xXoObB][0-9a-fA-F]+|[0-9]+(_[0-9]+)+|([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+|[0-9]*\.[0-9]+)|\+[0-9]+"
)
TIMES_FIRST = re.compile(rb"((\d{4}-\d\d-\d\d\S*|1\d{9}|1\d{12})( |$))+")
GAP = re.compile(rb"(?<=[^\s,;])[\s,;]+(?=[^\s,;])")
NUMBERED = re.compile(rb"[\[(]?\d+[\]).:]")
MISSING = {b"na", b"n/a", b"<na>", b"nan", b"none", b"null", b"\\n"}  # as programs write that there is no value


def refuse_words_between(where: str, layout: Layout, rows: list[list[bytes]], options: IngestOptions) -> None:
    """Raise FormatError for rows whose second cell is a word and whose third is no weight, or as well an end.

    In SIF it is the kind of an edge: ``1 pp 2``. What options say of the columns decides it.
    """
    wishes = options.wishes
    if (wishes.source and wishes.target) or wishes.weight not in ("auto", "none") or wishes.further or wishes.time:
        return
    three = [row for row in rows if len(row) >= 3]
    if not layout.strings or 2 * len(three) <= len(rows):
        return
    ends = all(WHOLE.fullmatch(row[0]) and WHOLE.fullmatch(row[2]) and not NUMBER.fullmatch(row[1]) for row in three)
    words = not any(NUMBER.fullmatch(row[2]) for row in three)
    if ends or words:
        mark = f"{row_shown(three[0][1])} is between {row_shown(three[0][0])} and {row_shown(three[0][2])}"
        weight = "3 if the first two are, with a weight" if ends else "none if the first two are"
        raise FormatError(
            f"{where}: {mark}, as in SIF, whose second column is the kind of an edge; if the first and the third "
            "cell are the ends, pass --source-column 1 --target-column 3 --weight-column none, otherwise "
            f"--source-column 1 --target-column 2 --weight-column {weight}"
        )


def refuse_marks(where: str, layout: Layout, rows: list[list[bytes]], shape: Shape, options: IngestOptions) -> None:
    """Raise FormatError for an arrow or names of columns that would be vertices, or quotes that would stay in one."""
    wishes = options.wishes
    if not shape.strings or (wishes.source and wishes.target):
        return
    if layout.separator in (b"\t", b",", b";") and (
        line := next((line for line in layout.lines if INNER_QUOTES.match(line.text[:LONGEST_LINE])), None)
    ):
        raise FormatError(
            f"{where}: quotes that begin inside a cell would become part of the id: {row_shown(line.text)}; quote "
            "the whole cell, or pass --format edges"
        )
    for row, line in zip(rows[1:], layout.lines[1:], strict=True):
        names = text_of(row)
        if (found := named_ends(names)) and all(len(plain(names[end])) > 1 for end in found):
            raise FormatError(
                f"{where[: where.rindex(':')]}:{line.number}: found names of columns below other rows, "
                f"{row_shown(line.text)}; pass --skip-lines {line.number - 1} if there are no edges above them, "
                "or --format edges if they are vertices"
            )
    sides = [[row[end] for row in rows if len(row) > end] for end in (shape.read.source, shape.read.target)]
    marks = (cell for side in sides for cell in side if len(cell) > 1 and not cell.strip(ARROW))
    alone = (side[0] for side in sides if len({*side}) == 1 and SIGN.fullmatch(side[0]))
    if mark := next(chain(marks, alone), None):
        raise FormatError(
            f"{where}: {row_shown(mark)} would be a vertex; if it is not, choose the columns of the ends with "
            "--source-column and --target-column; if it is, pass --format edges"
        )
    _refuse_inner(where, layout, sides)


def _refuse_inner(where: str, layout: Layout, sides: list[list[bytes]]) -> None:
    """Raise FormatError for words with an edge in them above its weight, ``1 - 2,0.5``, or with a decimal comma."""
    row, found = layout.lines[0].text, [BETWEEN.fullmatch(cell) for cell in sides[0]]
    marks = {each[1] for each in found if each}
    sign = len(marks) == 1 and (len(found) > 1 or all(map(SIGN.fullmatch, marks)))
    if all(found) and sign and all(map(NUMBER.fullmatch, sides[1])):
        mark = marks.pop().decode()
        raise FormatError(
            f"{where}: {mark!r} is between words of one cell, as in {row_shown(row)}; if these are the ends of an "
            "edge, replace it with a comma; otherwise pass --format edges"
        )
    if layout.separator == b"," and all(DECIMAL_LAST.search(line.text) for line in layout.lines):
        refuse_comma(where, row, DECIMAL_LAST)


def is_size_line(first: tuple[int, int, int], entries: int, largest: int) -> bool:
    """Whether the first row has the size of the matrix that so many rows behind it make: a square one, which would be a
    loop of the last vertex, or one of so many entries that chance makes no such row.
    """
    rows, columns, said = first
    return said == entries >= (1 if rows == columns else MANY) and 0 < largest <= max(rows, columns) and min(first) > 0


def are_counts(first: tuple[int, int], edges: int, largest: int) -> bool:
    """Whether the first row may have the counts of so many rows behind it: vertices and edges, edges and vertices, or
    edges and a flag.
    """
    one, other = first
    return (other == edges and largest <= one) or (one == edges and (largest <= other or 0 <= other < 2))


def size_line(where: str, first: tuple[int, int, int]) -> FormatError:
    """The error for a first row that may be a size line."""
    return FormatError(
        f"{where}: the first row, {' '.join(map(str, first))}, is 'rows columns entries' of the rows below it, as in "
        "Matrix Market without its banner; pass --format matrix-market if it is, or --format edges if it is an edge"
    )


def look_twice(
    where: str, layout: Layout, rows: list[list[bytes]], comment: bytes, shape: Shape, options: IngestOptions
) -> None:
    """Refuse rows that are likely to be no edges, and warn of rows that may mean something else; ``comment``: the line
    above them.
    """
    see_types(where, layout, rows, shape, options)
    _refuse_halves(where, layout, rows, shape)
    _refuse_vertices(where, layout, options)
    if shape.header_line is None and shape.names is None:
        refuse_words_between(where, layout, rows, options)
        refuse_marks(where, layout, rows, shape, options)
        by_place = options.weight_column == "auto" and shape.read.weight == 2 and len(rows) > 1
        if by_place and all(NUMBERED.fullmatch(row[0]) for row in rows):
            raise FormatError(
                f"{where}: {row_shown(rows[0][0])} at the begin of {row_shown(layout.lines[0].text)} may be a row "
                "number; if it is, pass --source-column 2 --target-column 3 --weight-column none; if it is a "
                "vertex, pass --source-column 1 --target-column 2 --weight-column 3"
            )
        if rows and len(rows[0]) == 3 and all(map(WHOLE.fullmatch, rows[0])):
            one, other, third = map(int, rows[0])
            shape.first = one, other, third
    shape.warnings += _doubts(layout, rows, comment, shape, options)


def _refuse_halves(where: str, layout: Layout, rows: list[list[bytes]], shape: Shape) -> None:
    """Raise FormatError for a number with a decimal comma between blanks, whose first half would be read as a cell."""
    for line in layout.lines[-len(rows) :][:1] if layout.separator is None else []:
        found = DECIMAL_BETWEEN.search(line.text)
        if found and len(cells(line.text[: found.start()], None)) in (shape.read.weight, *shape.read.further):
            refuse_comma(f"{where[: where.rindex(':')]}:{line.number}", line.text, DECIMAL_BETWEEN)


def _refuse_vertices(where: str, layout: Layout, options: IngestOptions) -> None:
    """Raise FormatError for a table of vertices and their names."""
    names, wishes = tuple(map(plain, text_of(layout.rows[0]))), options.wishes
    if names in NODES and not (wishes.source and wishes.target):
        raise FormatError(
            f"{where}: {row_shown(layout.lines[0].text)} look like the columns of a vertex table, expected a "
            "table of edges; if these words are vertices, pass --format edges"
        )


def _doubts(layout: Layout, rows: list[list[bytes]], comment: bytes, shape: Shape, options: IngestOptions) -> list[str]:
    said = list(_doubts_of_ids(layout, rows, shape, options)) if layout.strings else []
    if shape.names is None and options.weight_column == "auto" and shape.read.weight == 2:
        said += _doubts_of_weights(layout, rows, comment)
    return said


def _doubts_of_ids(layout: Layout, rows: list[list[bytes]], shape: Shape, options: IngestOptions) -> Iterator[str]:
    """Warnings about words that are read as ids."""
    read = shape.read
    ends = [row[end] for row in rows for end in (read.source, read.target) if len(row) > end]
    numbers = [cell for cell in ends if len(cell) <= LONGEST and SPELLED.fullmatch(cell)]
    if numbers and options.id_type == "auto":
        yield (
            f"ids such as {numbers[0].decode()} are read as words, as others are: two spellings of one number are "
            "two vertices"
        )
    if missing := next((cell for cell in ends if cell.lower() in MISSING), None):
        yield (
            f"{row_shown(missing)} is read as a vertex; if it means that a value is missing, remove such rows, "
            "or, if other ids are numbers, pass --id-type int --on-error skip"
        )
    if noted := next((cell for cell in ends if b" #" in cell), None):
        yield f"{row_shown(noted)} is read as one id; remove what follows # if it is a comment"
    if joined := _joined(rows, read.source, read.target):
        yield (
            f"{row_shown(joined)} is read as one id, with separators in it; if rows have a vertex and its neighbors, "
            "separate these with spaces and pass --format adjacency"
        )


def _doubts_of_weights(layout: Layout, rows: list[list[bytes]], comment: bytes) -> Iterator[str]:
    """Warnings about three columns without names, which are read as two ends and a weight."""
    if not layout.strings and like_lists(rows):
        yield (
            "the third column is read as weights, but each row has another first number and all third numbers are ids, "
            "too; if rows have a vertex and its neighbors, pass --format adjacency, otherwise --weight-column 3"
        )
    if TIMES_FIRST.fullmatch(b" ".join(row[0] for row in rows)):
        first = rows[0][0]
        unit = "iso" if b"-" in first else "unix" if len(first) == 10 else "unix-ms"
        yield (
            f"the first column, such as {first.decode()}, is read as the source and the third as the weight; if it has "
            f"times, pass --source-column 2 --target-column 3 --time-column 1 --time-format {unit}"
        )
    if not layout.strings and all(len({*gaps(line.text)}) > 1 for line in layout.lines):
        yield (
            f"rows such as {row_shown(layout.lines[0].text)} have two separators, and their third number is read as a "
            "weight; if rows have a vertex and its neighbors, pass --format adjacency"
        )
    if len(rows) == 3 and {cell for row in rows for cell in row} == {b"0", b"1"}:
        yield (
            "three rows of three zeros and ones are read as edges with weights; if they are a matrix, pass it to "
            "csaw.partition in Python, as scipy.sparse.csr_matrix(numpy.loadtxt(FILE))"
        )
    named = comment.strip().split(layout.separator) if layout.separator in (b"\t", b",", b";") else []
    if len(named) == 3 and not any(map(NUMBER.search, named)):
        yield (
            f"the comment above the rows, {row_shown(comment)}, may name their columns, which are read as source, "
            "target and weight; name others with --source-column, --target-column and --weight-column"
        )


def gaps(line: bytes) -> Iterator[bytes]:
    """The separators of a row, one after the other: a blank, a tab, a comma or a semicolon."""
    for gap in GAP.findall(line.partition(b"#")[0]):
        yield gap.strip() or (b"\t" if b"\t" in gap else b" ")


def _joined(rows: list[list[bytes]], source: int, target: int) -> bytes | None:
    """A cell of an end that has separators in it as all of its side have, or words that are vertices elsewhere."""
    sides = [[row[end] for row in rows if len(row) > end] for end in (source, target)]
    known = {cell for side in sides for cell in side}
    for side in sides:
        inner = [(cell, re.split(rb"[\s,;|]+", cell)) for cell in side]
        several = [(cell, words) for cell, words in inner if len(words) > 1]
        words = [word for _, words in several for word in words]
        marked = len(several) == len(side) > 1 and not any(b" " in cell for cell in side)
        if several and (marked or 2 * sum(word in known for word in words) > len(words)):
            return several[0][0]
    return None


def like_lists(rows: list[list[bytes]]) -> bool:
    """Whether rows, most of three cells, may be a vertex and its neighbors each."""
    thirds = [row[2] for row in rows if len(row) == 3]
    known = {cell for row in rows for cell in row[:2]}
    return (
        len(thirds) > 2
        and len({row[0] for row in rows if row}) == len(rows)
        and all(WHOLE.fullmatch(cell) and cell in known for cell in thirds)
    )


# A column that says of each edge whether it has a direction, as Gephi writes it.

WORDS = {b"directed", b"undirected", b"mixed"}


def see_types(where: str, layout: Layout, rows: list[list[bytes]], shape: Shape, options: IngestOptions) -> None:
    """Read the direction of all edges from their column ``Type``; FormatError where edges have different ones."""
    place = next((k for k, name in enumerate(shape.names or ()) if plain(name) == "type"), None)
    if place is None or options.directed is not None or not rows:
        return
    found = {row[place].lower() for row in rows if len(row) > place}
    if not found <= WORDS:
        return
    if len(found) > 1 or found == {b"mixed"}:
        raise FormatError(
            f"{where}: column {place + 1} contains {' and '.join(sorted(word.decode() for word in found))}, "
            "but a graph is either directed or undirected; pass --directed or --undirected to read all edges in one way"
        )
    word = found.pop()
    shape.says_direction, shape.undirected = True, word == b"undirected"
    shape.checks += (Type(place, layout.separator, word),)
