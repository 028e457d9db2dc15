"""The tables of docs/contributing/benchmarks.md, and figures of other pages, from JSON of real runs.

``python -m csaw.engine.bench.report PAGE [OTHERS]...`` writes the tables of PAGE, and the figures in the text of all
these pages (see figures.py). PAGE has lines ``<!-- table RUN SUITE -->`` and ``<!-- end -->``. The text between them is
generated from ``RUN.json`` and the plot ``RUN-SUITE.svg``, both in the folder beside PAGE that has its name; everything
else is written by hand.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

from csaw.engine.bench import figures, files, plots
from csaw.engine.bench.bench_row import (
    MACHINE,
    Row,
    ceiling_text,
    duration,
    exceeded,
    goal_text,
    limits_text,
    measured,
    met_text,
    share_text,
    spread,
)
from csaw.engine.bench.judge import judged_again
from csaw.engine.bench.show import HOLDS, machine
from csaw.partition.base.sizes import short
from csaw.partition.errors import FormatError

MOST_FIGURES = 100  # in a picture of several graphs
PART = re.compile(r"(<!-- table (\S+) (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
# heading: the text of a bench row's cell, empty if the row lacks the column
COLUMNS: dict[str, Callable[[Row], str]] = {
    "work": lambda row: row["work"],
    "rate": lambda row: short(row["rate"], row["unit"]),
    "slowest to fastest": spread,
    "time": lambda row: duration(row["seconds"]) if "seconds" in row else "",
    "beside the ceiling": lambda row: ceiling_text(row).removesuffix(" of the ceiling").removesuffix(" the ceiling"),
    "goal": lambda row: ", ".join(filter(None, (goal_text(row), met_text(row)))),
    "iterations": lambda row: f"{row['iterations_an_edge']:.2f}" if "iterations_an_edge" in row else "",
    "searches a pick": lambda row: f"{row['searches_an_edge']:,.3g}" if "searches_an_edge" in row else "",
    "efficiency": lambda row: f"{row['efficiency']:.2f}" if row.get("efficiency", 1.0) != 1.0 else "",
    "by seconds of processors": lambda row: f"{row['of_processors']:.2f}" if "of_processors" in row else "",
    "expected": lambda row: duration(row["expected_seconds"]) if "expected_seconds" in row else "",
    "transfers": lambda row: f"{row['transfers']:,.0f}, {short(row['transfer_bytes'])}B" if "transfers" in row else "",
    "of the expected": lambda row: (
        f"{row['of_expected']:.2f} x {short(row['expected_bytes'])}B" if "of_expected" in row else ""
    ),
    "deviation": lambda row: f"{row['kernel_deviation']:.2f}" if row.get("kernel_deviation") else "",
    "copies or kernels alone": lambda row: f"{100 * row['of_limit']:.0f} %" if "of_limit" in row else "",
    "beside": lambda row: _beside(row),
    "peak": lambda row: f"{row['peak_mib']:,} MiB" if "peak_mib" in row else "",
}


def _beside(row: Row) -> str:
    plain = share_text(row["of_plain_write"], "a plain write") if "of_plain_write" in row else limits_text(row)
    times = f"{row['times']:.3g} x {row['times_of']}" if row.get("times", 1.0) != 1.0 else ""
    return ", ".join(filter(None, (times, plain, row.get("note", ""))))


def filled(page: str, folder: Path) -> str:
    """The page with every table generated again from the JSON in ``folder``."""

    def part(found: re.Match) -> str:
        run, suite = found[2], found[3]
        return found[1] + table(figures.read(folder, run), suite, f"{folder.name}/{run}-{suite}") + found[4]

    return PART.sub(part, page)


def parts(page: str) -> list[tuple[str, str]]:
    """The (run, suite) of each table that a page has."""
    return [(found[2], found[3]) for found in PART.finditer(page)]


def pictures(rows: list[Row], suite: str, stem: str) -> dict[str, list[Row]]:
    """The pictures of a suite, and the rows of each: one, or one for each graph where there are many figures."""
    figures = measured(rows, suite=suite)
    graphs = list(dict.fromkeys(row.get("graph", "") for row in figures))
    if len(figures) <= MOST_FIGURES or len(graphs) == 1:
        return {f"{stem}.svg": rows} if figures else {}
    return {
        f"{stem}-{number}.svg": [row for row in rows if row.get("graph", graph) == graph]
        for number, graph in enumerate(graphs, 1)
    }


def table(rows: list[Row], suite: str, stem: str) -> str:
    """Write one suite of a run: its command, the machine, a table for each graph, the verdict, the plots.

    The names of plots begin with ``stem``.
    """
    mine = [row for row in rows if row["suite"] == suite]
    if not mine:
        raise FormatError(f"no row of the suite {suite} in this run: {rows[0]['command']}")
    limits = "; ".join(f"{row['work']}: {short(row['rate'], row['unit'])}" for row in measured(rows, suite=MACHINE))
    lines = [f"    {rows[0]['command']}", "", f"{machine(rows[0])}, {rows[0]['date']}; {limits}."]
    for graph in dict.fromkeys(row.get("graph", "") for row in mine if "work" in row):
        lines += ["", *_graph(graph, [row for row in mine if "work" in row and row.get("graph", "") == graph])]
    if beyond := exceeded(measured(mine)):
        lines += ["", *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in beyond)]
    for row in mine:
        if "claim" in row:
            lines += ["", f"Claim: {row['claim']}. It {HOLDS[row['holds']]}: {row['found']}."]
    for plot, shown in pictures(rows, suite, stem).items():
        lines += ["", f"![{plots.alternative(shown, suite)}]({plot})"]
    return "\n".join([*lines, "", ""])


def _graph(graph: str, rows: list[Row]) -> list[str]:
    figures = measured(rows)
    size = (
        "{vertices:,} vertices, {stored_edges:,} stored edges".format(**figures[0])
        if figures and "vertices" in figures[0]
        else ""
    )
    heads = {head: cell for head, cell in COLUMNS.items() if any(cell(row) for row in figures)}
    lines = [f"{', '.join(filter(None, (graph, size)))}:", ""] if graph and figures else []
    if figures:
        lines += ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
        lines += ["| " + " | ".join(cell(row) for cell in heads.values()) + " |" for row in figures]
    reasons = dict.fromkeys(row["not_measured"] for row in rows if "not_measured" in row)
    for reason in reasons:
        works = "; ".join(row["work"] for row in rows if row.get("not_measured") == reason)
        lines += ["", f"Not measured: {works}: {reason}."]
    return lines


def main(page: Path, *others: Path) -> None:
    """Judge the runs' claims as suites do today, write the page's tables, and draw its plots.

    Then take the figures of all pages anew: see figures.py.
    """
    folder, text = page.with_suffix(""), page.read_text()
    for run in dict.fromkeys(run for run, _ in parts(text)):
        files.write_rows(judged_again(figures.read(folder, run)), folder / f"{run}.json")
    page.write_text(filled(text, folder))
    for run, suite in parts(text):
        for plot, rows in pictures(figures.read(folder, run), suite, f"{run}-{suite}").items():
            plots.save(rows, suite, [folder / plot])
    for one in (page, *others):
        one.write_text(figures.filled(one.read_text(), one, page))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
