"""Finding the separator of a text: its first rows, cut into cells."""

from typing import TYPE_CHECKING, NamedTuple

from csaw.partition.errors import FormatError
from csaw.partition.ingestion.columns import Wishes, is_number, named_ends
from csaw.partition.ingestion.text.cells import BLANK, INTEGER, cells, fitted, quote_error, width
from csaw.partition.ingestion.text.head import Line

if TYPE_CHECKING:  # which brings Numba
    from csaw.partition.ingestion.ingest_options import IngestOptions


class Layout(NamedTuple):
    """The first rows, cut into cells at one separator."""

    separator: bytes | None
    lines: list[Line]
    rows: list[list[bytes]]
    strings: bool


def laid_out(name: str, lines: list[Line], options: "IngestOptions") -> Layout:
    """The rows cut at their separator.

    A row with wrong quotes is an error, or is left out where malformed rows are skipped.
    """
    layout = _numbers(lines, options.wishes) if options.ids != "string" else None
    if layout is None:
        layout = cut(lines, None, strings=False) if options.ids == "int" else laid_out_as_words(lines)
    if options.on_error == "stop":
        refuse_broken(name, layout)
    kept = [pair for pair in zip(layout.lines, layout.rows, strict=True) if pair[1]]
    return layout._replace(lines=[line for line, _ in kept], rows=[row for _, row in kept])


def _numbers(lines: list[Line], wishes: Wishes) -> Layout | None:
    """The rows cut at the first separator that gives numbers as ends in at least half of them."""
    for separator in (b"\t", b";", b",", None):
        layout = cut(lines, separator, strings=False)
        if separator is None or width(layout.rows) > 2:
            source, target = _likely_ends(cells_of_header(lines[0], layout.rows), wishes)
            whole = [
                max(source, target) < len(row) and INTEGER.fullmatch(row[source]) and INTEGER.fullmatch(row[target])
                for row in layout.rows
            ]
            if 2 * sum(map(bool, whole)) >= len(whole):
                return layout
    return None


def refuse_broken(name: str, layout: Layout) -> None:
    """Raise FormatError for the first row with wrong quotes."""
    broken = next((line for line, row in zip(layout.lines, layout.rows, strict=True) if not row), None)
    if broken:
        raise FormatError(f"{name}:{broken.number}: {quote_error(broken.text, layout.separator)}")


def laid_out_as_words(lines: list[Line]) -> Layout:
    """The rows cut at the first separator that gives them equal numbers of cells, otherwise at blanks."""
    used = [separator for separator in (b"\t", b",", b";") if separator in lines[0].text]
    cuts = (cut(lines, separator, strings=True) for separator in used)
    if found := next((layout for layout in cuts if width(layout.rows) > 1), None):
        return found
    layout = cut(lines, BLANK, strings=True)
    loose = any(cell[:1] in (b",", b";") or cell[-1:] in (b",", b";") for row in layout.rows for cell in row)
    return cut(lines, used[0], strings=True) if used and loose else layout


def cut(lines: list[Line], separator: bytes | None, strings: bool) -> Layout:
    """The rows cut at this separator; a row whose quotes are wrong has no cells."""
    rows = []
    for line in lines:
        try:
            rows.append(cells(line.text, separator))
        except ValueError:
            rows.append([])
    most = max(len(fitted(row, 0, separator)) for row in rows)
    return Layout(separator, lines, [fitted(row, most, separator) for row in rows], strings)


def cells_of_header(line: Line, rows: list[list[bytes]]) -> list[bytes]:
    """The cells of the header. Empty cells count where one separator gives as many cells as the rows have."""
    if len(rows) > 1 and len(rows[0]) != len(rows[1]):
        cuts = (cut([line], separator, strings=False).rows[0] for separator in (b"\t", b";", b","))
        return next((cut for cut in cuts if len(cut) == len(rows[1])), rows[0])
    return rows[0]


def _likely_ends(first: list[bytes], wishes: Wishes) -> tuple[int, int]:
    names = text_of(first)
    known = named_ends(names) or (0, 1)
    return _likely(names, wishes.source, known[0]), _likely(names, wishes.target, known[1])


def _likely(names: list[str], wish: str | None, usual: int) -> int:
    if wish is None:
        return usual
    return int(wish) - 1 if is_number(wish) else names.index(wish) if wish in names else usual


def text_of(row: list[bytes]) -> list[str]:
    """The cells of a row as names."""
    return [cell.decode("utf-8", "replace").strip("\ufeff\"' ") for cell in row]
