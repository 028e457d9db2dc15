"""Telling a header from a row of edges, and finding the names of columns in it or in a comment."""

from collections.abc import Iterator

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import named_ends, plain
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.cells import NUMBER, row_shown
from csaw.partition.ingestion.text.separators import Layout, text_of
from csaw.partition.ingestion.text.shape import Shape


def is_header(name: str, layout: Layout, is_own: bool, options: IngestOptions) -> bool:
    """Whether the first row holds column names: known names, names that options ask for, or words above numbers.

    Where csaw wrote the file, words are vertices. FormatError for names that stand among the rows, too.
    """
    first, rest = layout.rows[0], layout.rows[1:]
    names = text_of(first)
    if {plain(name) for name in names} & {plain(name) for name in options.wishes.names}:
        return True
    if layout.strings and is_own:
        return False
    if ends := named_ends(names):
        below = {cell for row in rest for cell in row}
        if not (layout.strings and below & {first[end] for end in ends}):
            return True
        if first in rest and options.format == "auto":
            line = layout.lines[1 + rest.index(first)]
            raise FormatError(
                f"{name}:{line.number}: the first row, {row_shown(line.text)}, stands here again: remove it if it is a "
                "header, as where files are joined; pass --format edges if both are edges"
            )
        beside = [k for k in range(len(first)) if k not in ends]
        return any(_is_above_numbers(first, rest, k) for k in beside)  # otherwise vertices are called u and v
    if not rest:
        return False
    if not first[0] and len(first) > 2:  # the name of an index, which is empty
        return all(row[0] for row in rest)
    if any(all(map(NUMBER.fullmatch, cell.split())) for cell in first):
        return False
    above = range(2 if options.ids == "string" else 0, len(first))
    return any(_is_above_numbers(first, rest, k) for k in above)


def _is_above_numbers(first: list[bytes], rest: list[list[bytes]], k: int) -> bool:
    """Whether column ``k`` has a word in the first row, and numbers in all that follow."""
    return not NUMBER.fullmatch(first[k]) and all(len(row) > k and NUMBER.fullmatch(row[k]) for row in rest)


def names_in_comment(comment: bytes, separator: bytes | None, columns: int) -> list[str] | None:
    """The names in the last comment before the rows, if they name both ends and are as many as the columns.

    Otherwise None.
    """
    line = comment.strip().lstrip(b"#% \t")
    cuts: Iterator[list[bytes]] = (line.split(by) for by in (separator, None, b",") if line)
    named = (text_of([cell.strip(b' "') for cell in cut]) for cut in cuts if len(cut) == columns)
    return next((names for names in named if named_ends(names)), None)


def refuse_digits(where: str, names: list[str], shape: Shape) -> None:
    """Raise FormatError for a header of unknown names in which the name of an end begins with a digit: 0x1 may be a
    vertex.
    """
    ends = names[shape.read.source : shape.read.source + 1] + names[shape.read.target : shape.read.target + 1]
    if names[0] and any(name[:1].isdigit() for name in ends):
        raise FormatError(
            f"{where}: expected an edge or a header of words, found "
            f"{row_shown(str(shape.header_line).encode())}, which may be either; pass "
            f"--ids string if it is an edge, --skip-lines {shape.skip_lines} if it is a header"
        )
