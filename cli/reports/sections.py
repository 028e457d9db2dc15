"""Reports for people: figures under headings, one a line, each with its unit."""

import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeGuard

import click

from csaw.cli.colors import bold
from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import format_size, printable, short, text_rows

Section = tuple[str, list[tuple[str, str]]]  # a heading, and names with what stands beside them
Facts = Record  # such as the summary of a run
NO_STYLES: Mapping[str, str] = {}


class Line(NamedTuple):
    """A line of a report: the key of its value, its name, and the function that writes the value."""

    key: str
    name: str
    write: Callable[..., str] = lambda value: plain(value)


def print_report(sections: Iterable[Section]) -> None:
    """Print each section that has lines: its heading, then its lines, with all values in one column. A blank line
    separates sections.
    """
    printed = [(heading, lines) for heading, lines in sections if lines]
    width = max((len(name) for _, lines in printed for name, _ in lines), default=0)
    for number, (heading, lines) in enumerate(printed):
        click.echo("\n" * (number > 0) + bold(printable(heading)))
        for name, text in lines:
            click.echo(printable(f"  {name:<{width}}  {text}".rstrip()))


def print_table(
    heading: str,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Collection[str] = (),
    styles: Mapping[str, str] = NO_STYLES,
) -> None:
    """Print a heading and rows under names. ``styles``: colors of some cells, by their text.

    On a terminal, cells that are too wide are wrapped; elsewhere each row is one line.

    Columns that are empty in all rows are left out; those named in ``right`` are aligned right.
    """
    table = [[printable(cell) for cell in row] for row in rows]
    if heading:
        click.echo(bold(printable(heading)))
    if sys.stdout.isatty():
        kept = [k for k in range(len(names)) if k == 0 or any(row[k] for row in rows)]
        _print_wrapped([names[k] for k in kept], [[row[k] for k in kept] for row in table], right, styles)
        return
    for line in text_rows(list(map(printable, names)), table, right):
        click.echo(line)


def _print_wrapped(
    names: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str], styles: Mapping[str, str]
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD if any(names) else None, show_header=any(names), pad_edge=True, padding=(0, 1))
    for name in names:
        flush = name in right
        table.add_column(Text(name), justify="right" if flush else "left", no_wrap=flush, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, styles.get(cell.strip(), "")) for cell in row))
    Console(highlight=False).print(table)


def lines_of(values: Facts, lines: Iterable[Line], zeros: bool = True) -> list[tuple[str, str]]:
    """Names and texts of the lines that have a value. ``zeros=False`` also leaves out values of 0."""
    found = [(line, values[line.key]) for line in lines if values.get(line.key) is not None]
    return [(line.name, line.write(value)) for line, value in found if zeros or value]


def plain(value: object) -> str:
    """A value as text: on or off, integers with separators, items with commas."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def yes(value: object) -> str:
    """A truth as an answer."""
    return ("no", "yes")[value] if isinstance(value, bool) else plain(value)


def size(value: object) -> str:
    """Bytes as GiB, MiB or KiB."""

    return format_size(value) if _is_number(value) else plain(value)


def seconds(value: object) -> str:
    """Seconds with three figures, such as ``2.23 ms`` or ``61.3 s``."""
    if not _is_number(value):
        return plain(value)
    for scale, unit in ((1.0, "s"), (1e3, "ms")):
        if value * scale >= 1:
            return f"{value * scale:,.0f} {unit}" if value * scale >= 999.5 else f"{value * scale:.3g} {unit}"
    return f"{value * 1e6:.3g} µs" if value else "0 s"


def rate(value: object) -> str:
    """Edges a second, such as ``4 M edges/s``."""

    return short(value, "edges/s") if _is_number(value) else plain(value)


def counted(unit: str) -> Callable[[object], str]:
    """A writer of numbers of ``unit``, which is a noun in the plural."""
    return lambda value: f"{plain(value)} {unit}"


def mean(value: object) -> str:
    """A mean with one decimal."""
    return f"{value:,.1f}" if _is_number(value) else plain(value)


def share(value: object) -> str:
    """A part of 1 as a percentage."""
    return f"{100 * value:.3g} %" if _is_number(value) else plain(value)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
