"""The tables of docs/contributing/benchmarks.md, and figures of other pages, from JSON of real runs.

``python -m csaw.engine.bench.report PAGE [OTHERS]...`` writes the tables of PAGE, and the figures in the text of all
these pages (see figures.py). PAGE has these blocks, whose text is generated; everything else is written by hand.

    <!-- table RUN SUITE [of WORK; WORK; ...] -->  some or all works of a suite  <!-- end -->
    <!-- other runs -->  a line for each run with suites that have no table  <!-- end -->

Runs are ``RUN.json``, and their plots ``RUN-SUITE.svg``, both in the folder that has PAGE's name. WORK is the name of a
work, or ``NAME on GRAPH``, and may have ``*`` for any text. A table names its command and machine, unless the table
above it, under the same heading, is of that run.
"""

import re
import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from csaw.engine.bench import earlier_runs, figures, plots
from csaw.engine.bench.bench_row import (
    MACHINE,
    Row,
    ceiling_text,
    day,
    duration,
    exceeded,
    goal_text,
    limits_text,
    measured,
    met_text,
    share_text,
    spread,
)
from csaw.engine.bench.run import judged_again
from csaw.engine.bench.show import HOLDS, machine
from csaw.partition.base.quoting import short
from csaw.partition.errors import FormatError

MOST_FIGURES = 100  # in a picture of several graphs
PART = re.compile(r"(<!-- table (\S+) (\S+)(?: of ([^>]+?))? -->\n).*?(<!-- end -->)", re.DOTALL)
OTHERS = re.compile(r"(<!-- other runs -->\n).*?(<!-- end -->)", re.DOTALL)
# heading: the text of a bench row's cell, empty if the row lacks the column
COLUMNS: dict[str, Callable[[Row], str]] = {
    "work": lambda row: row["work"],
    "rate": lambda row: short(row["rate"], row["unit"]),
    "slowest to fastest": spread,
    "time": lambda row: duration(row["seconds"]) if "seconds" in row else "",
    "of the ceiling": lambda row: ceiling_text(row).removesuffix(" of the ceiling").removesuffix(" the ceiling"),
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
    "comparison": lambda row: _beside(row),
    "peak": lambda row: f"{row['peak_mib']:,} MiB" if "peak_mib" in row else "",
}


def _beside(row: Row) -> str:
    plain = share_text(row["of_plain_write"], "a plain write") if "of_plain_write" in row else limits_text(row)
    times = f"{row['times']:.3g} x {row['times_of']}" if row.get("times", 1.0) != 1.0 else ""
    return ", ".join(filter(None, (times, plain, row.get("note", ""))))


def filled(page: str, folder: Path) -> str:
    """The page with every table generated again from the JSON in ``folder``."""
    before: re.Match | None = None
    graphs = ""  # of the table before

    def part(found: re.Match) -> str:
        nonlocal before, graphs
        start, run, suite, works, end = found.groups()
        near = before is not None and before[2] == run and "\n#" not in page[before.end() : found.start()]
        shown = [work.strip() for work in (works or "*").split(";")]
        rows = figures.read(folder, run)
        text = table(rows, suite, f"{folder.name}/{run}-{suite}", shown, graphs if near else None)
        before, graphs = found, _graphs(_chosen(rows, suite, shown))
        return start + text + end

    def others(found: re.Match) -> str:
        return found[1] + other_runs(page, folder) + found[2]

    return OTHERS.sub(others, PART.sub(part, page))


def parts(page: str) -> list[tuple[str, str]]:
    """The (run, suite) of each table that a page has."""
    return [(found[2], found[3]) for found in PART.finditer(page)]


def other_parts(page: str, folder: Path) -> dict[str, list[str]]:
    """The suites of each run in ``folder`` that have figures and no table on a page."""
    tables = parts(page)
    found = {}
    for run in sorted(file.stem for file in folder.glob("*.json")):
        suites = dict.fromkeys(row["suite"] for row in measured(figures.read(folder, run)) if row["suite"] != MACHINE)
        found[run] = [suite for suite in suites if (run, suite) not in tables]
    return {run: suites for run, suites in found.items() if suites}


def other_runs(page: str, folder: Path) -> str:
    """A line for each run with suites that have no table on a page: their plots and verdicts, and the command."""
    lines = ["| run | suites, and whether their claims hold | on | command |", "|---|---|---|---|"]
    for run, suites in other_parts(page, folder).items():
        rows = figures.read(folder, run)
        said = "; ".join(_suite(rows, suite, f"{folder.name}/{run}-{suite}") for suite in suites)
        name, where = f"[{run}]({folder.name}/{run}.json)", f"{rows[0]['device']}, {day(rows[0]['date'])}"
        lines.append(f"| {name} | {said} | {where} | `{rows[0]['command']}` |")
    return "\n".join([*lines, "", ""])


def _suite(rows: list[Row], suite: str, stem: str) -> str:
    holds = [HOLDS[row["holds"]] for row in rows if row["suite"] == suite and "claim" in row]
    return ", ".join([*(f"[{suite}]({plot})" for plot in pictures(rows, suite, stem)), *holds])


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


def table(rows: list[Row], suite: str, stem: str, works: Sequence[str] = ("*",), above: str | None = None) -> str:
    """Write one suite of a run: its command, the machine, the graphs, a table, the verdict, links to the plots.

    The names of plots begin with ``stem``. ``works``: those to show. ``above``: the graphs of the table above this one,
    if it is of the same run, so that the command and the machine stand there.
    """
    shown = _chosen(rows, suite, works)
    graphs = _graphs(shown)
    lines = []
    if above is None:
        limits = "; ".join(f"{row['work']}: {short(row['rate'], row['unit'])}" for row in measured(rows, suite=MACHINE))
        about = f"{machine(rows[0])}, {rows[0]['date']}; {limits}."
        lines = [f"    {rows[0]['command']}", "", f"{about} {graphs}".strip(), ""]
    elif graphs not in ("", above):
        lines = [graphs, ""]
    lines += [*_table(shown), *_gaps(shown)]
    said = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in exceeded(measured(shown))]
    said += [
        f"Claim: {row['claim']}. It {HOLDS[row['holds']]}: {row['found']}."
        for row in rows
        if row["suite"] == suite and "claim" in row
    ]
    links = [f"[{plots.alternative(some, suite)}]({plot})" for plot, some in pictures(rows, suite, stem).items()]
    said += [f"Plot of all works: {', '.join(links)}."] if links else []
    return "\n".join([*lines, " ".join(said), ""])


def _chosen(rows: list[Row], suite: str, works: Sequence[str]) -> list[Row]:
    """The rows of a suite's works that have one of these names."""
    if not any(row["suite"] == suite for row in rows):
        raise FormatError(f"no row of the suite {suite} in this run: {rows[0]['command']}")
    rows = [row for row in rows if row["suite"] == suite and "work" in row]
    names = [(row["work"], f"{row['work']} on {row.get('graph', '')}") for row in rows]
    found = {work: [any(fnmatchcase(name, work) for name in both) for both in names] for work in works}
    if missing := [work for work, matches in found.items() if not any(matches)]:
        known = "; ".join(dict.fromkeys(name for name, _ in names))
        raise FormatError(f"no work {missing[0]!r} of the suite {suite} in this run, which has: {known}")
    return [row for row, *matches in zip(rows, *found.values(), strict=True) if any(matches)]


def _graphs(rows: list[Row]) -> str:
    """The graphs of rows with their sizes, as a sentence."""
    first: dict[str, Row] = {}
    for row in measured(rows):
        first.setdefault(row.get("graph", ""), row)
    size = "{graph}, {vertices:,} vertices, {stored_edges:,} stored edges"
    said = [size.format(**row) if "vertices" in row else graph for graph, row in first.items() if graph]
    return f"{'Graphs' if len(said) > 1 else 'Graph'}: {'; '.join(said)}." if said else ""


def _table(rows: list[Row]) -> list[str]:
    """The lines of a table of figures, with their graphs if there are several."""
    found = measured(rows)
    if not found:
        return []
    graphs = {"graph": lambda row: row.get("graph", "")} if len({row.get("graph") for row in found}) > 1 else {}
    heads = graphs | {head: cell for head, cell in COLUMNS.items() if any(cell(row) for row in found)}
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return [*lines, *("| " + " | ".join(cell(row) for cell in heads.values()) + " |" for row in found), ""]


def _gaps(rows: list[Row]) -> list[str]:
    """The paragraph on works that were not measured, with the reasons."""
    several, works = len({row.get("graph") for row in rows if "graph" in row}) > 1, dict[str, list[str]]()
    for row in rows:
        if "not_measured" in row:
            name = f"{row['work']} on {row['graph']}" if several and "graph" in row else row["work"]
            works.setdefault(row["not_measured"], []).append(name)
    said = [f"{'; '.join(dict.fromkeys(names))}: {reason}." for reason, names in works.items()]
    return [f"Not measured: {' '.join(said)}", ""] if said else []


def main(page: Path, *pages: Path) -> None:
    """Judge the runs' claims as suites do today, write the page's tables, and draw its plots.

    Then take the figures of all pages anew: see figures.py.
    """
    folder, text = page.with_suffix(""), page.read_text()
    others = other_parts(text, folder) if OTHERS.search(text) else {}
    shown = [*parts(text), *((run, suite) for run, suites in others.items() for suite in suites)]
    for run in dict.fromkeys(run for run, _ in shown):
        earlier_runs.write_rows(judged_again(figures.read(folder, run)), folder / f"{run}.json")
    page.write_text(filled(text, folder))
    for run, suite in shown:
        for plot, rows in pictures(figures.read(folder, run), suite, f"{run}-{suite}").items():
            plots.save(rows, suite, [folder / plot])
    for one in (page, *pages):
        one.write_text(figures.filled(one.read_text(), one, page))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
