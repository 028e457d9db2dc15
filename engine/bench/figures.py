"""Figures in the text of a page, each taken from the JSON of the run that it names.

A page has, in its lines or as whole blocks,

    <!-- figure RUN SUITE: COLUMN of WORK -->115 M<!-- /figure -->
    <!-- peers RUN [PROGRAM,...] -->  a table of csaw and each other program of the run, or some  <!-- end -->
    <!-- others ahead -->  all rows of all runs in which another program is ahead of csaw, or may be  <!-- end -->

The text between the marks is written anew by ``python -m csaw.engine.bench.report`` and when the site is built; all
else is written by hand. COLUMN is one of a figure's row (COLUMNS below), or of the run, which needs no WORK (HEADS).
``lead`` is how many times as fast as this work csaw's is, in the same run, ``started`` the same with the start of the
process; ``times`` is the reverse. ``least`` is the time of the slowest of a work's limits. Of several works, with ``;``
between them, the least and the largest stand there. ``run`` is the day of the run, as a link to its table.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from csaw.engine.bench import earlier_runs
from csaw.engine.bench.bench_row import Ratio, Row, day, duration, measured, ratio
from csaw.partition.base.quoting import meant, short
from csaw.partition.errors import FormatError

FIGURE = re.compile(r"(<!-- figure (\S+) (\S+): ([^>]+?) -->)(.*?)(<!-- /figure -->)", re.DOTALL)
PEERS = re.compile(r"(<!-- peers (\S+)(?: (\S+))? -->\n).*?(<!-- end -->)", re.DOTALL)
AHEAD = re.compile(r"(<!-- others ahead -->\n).*?(<!-- end -->)", re.DOTALL)
MARKS = re.compile(r"<!-- (?:figure [^>]+|/figure|peers [^>]+|others ahead|end) -->\n?")
CSAW, RUN = "csaw", "run"
NAMES = {  # of programs, as their authors write them
    "c-saw": "C-SAW",
    "dgl": "DGL",
    "duckdb": "DuckDB",
    "flowwalker": "FlowWalker",
    "graphbolt": "GraphBolt",
    "knightking": "KnightKing",
    "nextdoor": "NextDoor",
    "pecanpy": "PecanPy",
    "skywalker": "Skywalker",
    "tempest": "Tempest",
    "thunderrw": "ThunderRW",
}


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"


def many(count: float) -> str:
    """``31401342`` as ``31.4 million``."""
    scale, name = next(
        ((scale, name) for scale, name in ((1e9, " billion"), (1e6, " million")) if count >= scale), (1, "")
    )
    return f"{count / scale:.3g}{name}" if name else f"{count:,.0f}"


COLUMNS: dict[str, tuple[Callable[[Row], float], Callable[[float], str]]] = {
    "rate": (lambda row: row["rate"], short),
    "seconds": (lambda row: row["seconds"], duration),
    "least": (lambda row: max(row["limits"].values()), duration),
    "peak": (lambda row: row["peak_mib"], lambda mib: f"{mib:,} MiB"),
    "ceiling": (lambda row: row["of_ceiling"], percent),
    "waiting": (lambda row: row["waiting_share"], percent),
    "times": (lambda row: row["times"], lambda times: f"{times:.3g}"),
    "lead": (lambda row: 1 / row["times"], lambda times: f"{times:.3g}"),
    "started": (lambda row: 1 / row["process_times"], lambda times: f"{times:.3g}"),
    "vertices": (lambda row: row["vertices"], many),
    "edges": (lambda row: row["stored_edges"], many),
}
HEADS: dict[str, Callable[[Row], str]] = {
    "date": lambda head: day(head["date"]),
    "device": lambda head: head["device"],
    "threads": lambda head: str(head["threads"]),
    "load": lambda head: str(head["load"]),
}


def filled(text: str, page: Path, tables: Path) -> str:
    """The text of ``page`` with each figure taken anew. ``tables``: the page of tables, beside the folder of runs."""
    folder = tables.with_suffix("")

    def one(found: re.Match) -> str:
        start, run, suite, asked, _, end = found.groups()
        if asked == RUN:
            return f"{start}[{day(read(folder, run)[0]['date'])}]({_link(page, tables, run, suite)}){end}"
        return start + figure(folder, run, suite, asked) + end

    def of_run(found: re.Match) -> str:
        return found[1] + beside_peers(folder, found[2], found[3], _link(page, tables, found[2], "peers")) + found[4]

    text = FIGURE.sub(one, text)
    text = PEERS.sub(of_run, text)
    return AHEAD.sub(lambda found: found[1] + ahead(folder, page, tables) + found[2], text)


def unmarked(text: str) -> str:
    """The text of a page without the marks of its figures."""
    return MARKS.sub("", text)


def figure(folder: Path, run: str, suite: str, asked: str) -> str:
    """The text of a figure. Raises FormatError if the run has none like that."""
    rows, (column, _, works) = read(folder, run), asked.partition(" of ")
    if column in HEADS:
        return HEADS[column](rows[0])
    if column not in COLUMNS or not works:
        known = ", ".join([*COLUMNS, *HEADS, RUN])
        raise FormatError(f"<!-- figure {run} {suite}: {asked} -->: expected COLUMN of WORK, with a column of {known}")
    value, said = COLUMNS[column]
    found = [value(_row(rows, run, suite, work.strip())) for work in works.split(";")]
    return " to ".join(dict.fromkeys((said(min(found)), said(max(found)))))


def read(folder: Path, run: str) -> list[Row]:
    """The rows of a run in ``folder``."""
    file = folder / f"{run}.json"
    if not file.exists():
        raise FormatError(f"{file} does not exist; csaw bench --export-json {file} writes it")
    return earlier_runs.read(file)


def _row(rows: list[Row], run: str, suite: str, work: str) -> Row:
    found = measured(rows, suite=suite, work=work)
    if len(found) != 1:
        there = sorted({row["work"] for row in measured(rows, suite=suite)})
        said = "has no figure of" if not found else f"has {len(found)} figures, of as many graphs, of"
        raise FormatError(f"{run}.json: the suite {suite} {said} {work!r}{meant(work, there)}")
    return found[0]


def _link(page: Path, tables: Path, run: str, suite: str) -> str:
    """The place of a run's table on the page of tables, or of the list of other runs, as a link of ``page``."""
    text = tables.read_text()
    mark = re.search(rf"\n<!-- table {re.escape(run)} {re.escape(suite)}(?: of [^>]+)? -->\n", text)
    if mark is None and measured(read(tables.with_suffix(""), run), suite=suite):
        mark = re.search(r"\n<!-- other runs -->\n", text)
    if mark is None:
        raise FormatError(f"{tables} has no table of the suite {suite} of {run}.json")
    heading = re.findall(r"^#+ (.+)$", text[: mark.start()], re.MULTILINE)[-1]
    anchor = re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())
    return f"{os.path.relpath(tables, page.parent)}#{anchor}"


def beside_peers(folder: Path, run: str, programs: str | None, link: str) -> str:
    """The table of a run: each work that csaw and another program did, with both rates and the faster of them.

    ``programs``: those to show, with commas between them; None: all.
    """
    rows = read(folder, run)
    pairs = [one for one in _pairs(rows) if programs is None or one.program in programs.split(",")]
    if missing := set((programs or "").split(",")) - {"", *(one.program for one in pairs)}:
        raise FormatError(f"{run}.json: no work that csaw and {' or '.join(sorted(missing))} did")
    about = next(row for row in measured(rows, suite="peers") if "stored_edges" in row)
    said = (
        f"{rows[0]['device']}, {rows[0]['threads']} threads, load {rows[0]['load']} before it began; "
        f"`{about['graph']}`, {many(about['stored_edges'])} stored edges; [{day(rows[0]['date'])}]({link}):"
    )
    lines = [said, "", "| work | csaw | other program | its rate | faster |", "|---|---|---|---|---|"]
    lines += [_cells(one.work, short(one.mine["rate"]), one.name, short(one.its["rate"]), one.faster) for one in pairs]
    notes = dict.fromkeys(f"\\* {one.its['note'].capitalize()}." for one in pairs if "note" in one.its)
    return "\n".join([*lines, "", *(f"{note}\n" for note in notes), ""])


def ahead(folder: Path, page: Path, tables: Path) -> str:
    """The table of all runs' works in which another program was faster than csaw, or in some repeats."""
    lines = ["| work | other program | faster | on |", "|---|---|---|---|"]
    for file in sorted(folder.glob("*.json")):
        rows = read(folder, file.stem)
        for one in _pairs(rows):
            if one.times.high > 1:
                where = f"{rows[0]['device']}, `{one.its['graph']}`"
                linked = f"[{day(rows[0]['date'])}]({_link(page, tables, file.stem, one.its['suite'])})"
                lines.append(_cells(one.work, one.name, one.faster, f"{where}, {linked}"))
    return "\n".join([*lines, "", ""])


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


class Pair(NamedTuple):
    """A work that csaw and another program did in one run, with the row of either."""

    work: str
    program: str
    mine: Row
    its: Row

    @property
    def name(self) -> str:
        return NAMES.get(self.program, self.program) + "\\*" * ("note" in self.its and "peer" in self.its)

    @property
    def times(self) -> Ratio:
        """How many times as fast as csaw it was."""
        return ratio(self.its, self.mine)

    @property
    def faster(self) -> str:
        """The faster of the two, and how many times; both where repeats differ."""
        median, low, high = self.times
        if low > 1:
            return f"**{self.name}, {median:.3g} times**"
        if high < 1:
            return f"csaw, {1 / median:.3g} times"
        return f"undecided: csaw is {1 / median:.3g} times as fast, {1 / high:.3g} to {1 / low:.3g} by repeats"


def _pairs(rows: list[Row]) -> list[Pair]:
    """Each work that csaw and another program did in a run."""
    mine = {(row["suite"], row.get("graph"), row["work"]): row for row in measured(rows)}
    found = []
    for row in measured(rows, times_of=CSAW):
        work, _, program = row["work"].rpartition(", ")
        here, all_of_it = row["suite"], (row["suite"], row.get("graph"), CSAW)
        if all_of_it in mine:  # a suite of one work, whose rows have the names of programs
            work, program = here, row["work"]
        other = mine.get((here, row.get("graph"), f"{work}, {CSAW}"), mine.get(all_of_it))
        if other is not None and other is not row:
            found.append(Pair(work, program, other, row))
    return found
