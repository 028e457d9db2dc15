"""The description of an open store or sample in Python: a line for ``repr``, a small table where a notebook shows
HTML, and a table as text.
"""

from collections.abc import Collection, Iterable, Sequence
from html import escape


def counted(number: int, one: str, several: str = "") -> str:
    """``1 walk``, ``2,000 walks``."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def line(what: str, name: object, facts: Iterable[str]) -> str:
    """``<what name: fact, fact>``; facts that are empty are left out."""
    return f"<{what} {name}: {', '.join(filter(None, facts))}>"


def html_facts(heading: str, facts: Iterable[tuple[str, object]]) -> str:
    """A table of two columns, names and values."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in facts
    )
    return f"<table><caption>{escape(heading)}</caption>{rows}</table>"


def html_rows(heading: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a row of names above the others."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(heading)}</caption><tr>{head}</tr>{body}</table>"


def text_rows(names: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> list[str]:
    """Lines of text: rows under names, in columns; those named in ``right`` stand flush right.

    Columns but the first that are empty in all rows are left out.
    """
    kept = [k for k in range(len(names)) if k == 0 or any(row[k] for row in rows)]
    table = [*([names] if any(names) else []), *rows]
    widths = [max((len(row[k]) for row in table), default=0) for k in kept]
    return [
        "  "
        + "  ".join(
            f"{row[k]:>{width}}" if names[k] in right else f"{row[k]:<{width}}"
            for k, width in zip(kept, widths, strict=True)
        ).rstrip()
        for row in table
    ]
