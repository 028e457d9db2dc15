"""The table of an evaluation as text, CSV and LaTeX: the findings of a graph, or their distances, measure by sample."""

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.evaluation.distances import KINDS
from csaw.engine.analytics.measure import Column, Curve, Distribution, Finding, Findings, Number
from csaw.partition.base.quoting import counted, near, text_rows

# The table of an evaluation: a row for each finding, of the graph and of a sample beside it.

Distance = Callable[[Finding, Finding, np.ndarray], float]


class Row(NamedTuple):
    """A finding of a graph and of a sample.

    ``graph`` and ``sample``: a number, or the mean of a distribution; None where a finding is no number.

    ``distance`` is of the ``kind`` that KINDS names. ``sample_error`` and ``distance_error``: standard errors, of an
    estimate or over instances. ``method``: how the sample's or the graph's was found. ``of``: path of the sample.
    """

    finding: str
    graph: float | None
    sample: float | None = None
    distance: float | None = None
    kind: str = ""
    sample_error: float | None = None
    distance_error: float | None = None
    graph_error: float | None = None
    method: str = ""
    of: str = ""


@dataclass
class Compared:
    """A sample beside its graph.

    ``findings``: of each of its graphs, one, or one an instance; ``rows``: the table's.
    """

    path: str
    instances: int
    findings: list[tuple[Findings, np.ndarray]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


def value_of(finding: Finding) -> float | None:
    """The number that stands for a finding in the table."""
    if isinstance(finding, Number):
        return finding.value
    return finding.mean if isinstance(finding, Distribution) else None


def plain_row(name: str, finding: Finding) -> Row:
    """A row of the graph alone."""
    return Row(name, value_of(finding), graph_error=_error_of(finding), method=finding.method)


def _error_of(finding: Finding) -> float | None:
    return finding.error if isinstance(finding, Number) else None


def compared(path: str, profile: Findings, found: list[tuple[Findings, np.ndarray]], distance: Distance) -> list[Row]:
    """Make a row for each finding of the graph that the sample has, too.

    With several graphs of the sample, rows have means and their standard errors.
    """
    rows = []
    for name, graph in profile.items():
        mine = [(findings[name], vertices) for findings, vertices in found if type(findings.get(name)) is type(graph)]
        if not mine or (isinstance(graph, Column) and graph.kind != "rank"):
            continue
        values, apart = [value_of(one) for one, _ in mine], [distance(graph, one, vertices) for one, vertices in mine]
        own = _error_of(mine[0][0]) if len(mine) == 1 else standard_error(values)
        rows.append(
            Row(
                name,
                value_of(graph),
                _mean(values),
                _mean(apart),
                KINDS[type(graph)],
                own,
                standard_error(apart),
                _error_of(graph),
                _methods(graph, [one.method for one, _ in mine]),
                path,
            )
        )
    return rows


def _methods(graph: Finding, mine: Sequence[str]) -> str:
    """How the graph's finding was found, and that of the sample where that is one and was found in another way."""
    if len(mine) > 1 or mine[0] == graph.method:
        return graph.method
    return "; of the sample ".join(filter(None, [graph.method, mine[0]]))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and not math.isnan(value)]
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.mean(known)) if known else None


def standard_error(values: Sequence[float | None]) -> float | None:
    """The standard error of the mean of independent values; None for fewer than two."""
    known = [value for value in values if value is not None and not math.isnan(value)]
    if len(known) < 2 or not np.isfinite(known).all():
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.std(known, ddof=1) / math.sqrt(len(known)))
    return error if math.isfinite(error) else None


def as_plain(finding: Finding) -> dict[str, object]:
    """A finding as plain data; of a column its summary alone, since it has a number for each vertex."""
    said: dict[str, object] = {"kind": type(finding).__name__.lower(), "method": finding.method}
    if isinstance(finding, Number):
        return said | {"value": finding.value, "error": finding.error}
    if isinstance(finding, Distribution):
        return said | {"values": finding.values.tolist(), "counts": finding.counts.tolist()}
    if isinstance(finding, Curve):
        return said | {"x": finding.x.tolist(), "y": finding.y.tolist(), "labels": list(finding.labels)}
    assert isinstance(finding, Column)
    ends = finding.shortened().ends
    return said | ({} if ends is None else {"min": ends[0], "max": ends[1]})


# The table of an evaluation.

D_STATISTIC, RELATIVE = KINDS[Distribution], KINDS[Number]
VALUE = "value"
SHOWN = {RELATIVE: f"{VALUE} ({RELATIVE})"}
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    ">=": r"$\geq$",
}
LATEX |= {one: f"\\{one}" for one in "&%$#_{}"}


class Table(NamedTuple):
    """Lines of text above rows of cells under names; the columns in ``right`` stand flush right."""

    heading: list[str]
    names: list[str]
    rows: list[list[str]]
    right: list[str]


class Line(NamedTuple):
    """A finding beside all samples: its row of each sample, None where a sample lacks it."""

    finding: str
    kind: str
    rows: list[Row | None]


def names_of(paths: Sequence[str], labels: Sequence[str] | None = None) -> list[str]:
    """Name samples in tables and plots: by their labels, or their files, or their paths where names repeat."""
    if labels is not None:
        return list(labels)
    short = [Path(path).name or path for path in paths]
    names = [name if short.count(name) == 1 else path for name, path in zip(short, paths, strict=True)]
    return [f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names)]


def lines_of(profile: Findings, samples: Sequence[Compared]) -> list[Line]:
    """A line for each finding and kind of distance, D-statistics first.

    A row of visits has both a mean and a D-statistic, and gives two lines.
    """
    found: dict[tuple[str, str], list[Row | None]] = {}
    for place, sample in enumerate(samples):
        for row in sample.rows:
            of_visits = row.kind == D_STATISTIC and isinstance(profile.get(row.finding), Column)
            keys = [(row.finding, row.kind), *([(f"mean {row.finding}", VALUE)] if of_visits else [])]
            for key in keys:
                found.setdefault(key, [None] * len(samples))[place] = row
    order = [D_STATISTIC, VALUE, RELATIVE, *KINDS.values()]
    return sorted((Line(*key, rows) for key, rows in found.items()), key=lambda line: order.index(line.kind))


def mean_d_statistics(lines: Sequence[Line]) -> tuple[int, list[float]]:
    """The number of D-statistics that all samples have, and their mean for each sample."""
    apart = [[row and row.distance for row in line.rows] for line in _of_distributions(lines)]
    known = np.array([row for row in apart if None not in row], np.float64)
    return len(known), known.mean(0).tolist() if len(known) else []


def _of_distributions(lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if line.kind == D_STATISTIC]


# As text


def shown(graph: str, profile: Findings, samples: Sequence[Compared], names: Sequence[str]) -> Table:
    """The table for people: of a graph alone, or of the distances of its samples."""
    if not samples:
        rows = [[name, _said(one), one.method] for name, one in profile.items() if not isinstance(one, Column)]
        return _once(Table([graph], ["finding", "graph", "method"], rows, ["graph"]), "; ")
    lines, methods = lines_of(profile, samples), [{row.method for row in sample.rows} for sample in samples]
    heading = [
        f"{_titled(name, sample.path)}: {counted(sample.instances, 'instance')}, compared with {graph}"
        + (f"\n  {next(iter(method))}" if len(method) == 1 and any(method) else "")
        for name, sample, method in zip(names, samples, methods, strict=True)
    ]
    several = any(len(method) > 1 for method in methods)
    rows = [_cells(line, _method(line) if several else "") for line in lines]
    count, means = mean_d_statistics(lines)
    if count > 1:
        mean = [f"mean of {count} D-statistics", "", *(f"{one:.4g}" for one in means), D_STATISTIC, ""]
        rows.insert(len(_of_distributions(lines)), mean)
    return Table(heading, ["finding", "graph", *names, "distance", "method"], rows, ["graph", *names])


def side_by_side(heading: str, profiles: Mapping[str, Findings]) -> Table:
    """The table for people of several graphs by name, a column for each."""
    found = {name: one for profile in profiles.values() for name, one in profile.items() if not isinstance(one, Column)}
    cells = [[_said(profile[name]) if name in profile else "" for profile in profiles.values()] for name in found]
    rows = [[name, *row, one.method] for (name, one), row in zip(found.items(), cells, strict=True)]
    return _once(Table([heading], ["finding", *profiles, "method"], rows, [*profiles]), "; ")


def side_by_side_csv(profiles: Mapping[str, Findings]) -> str:
    """The same in full precision: numbers, and means of distributions."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["finding", "kind", *profiles, "method"])
    found = {name: one for profile in profiles.values() for name, one in profile.items() if value_of(one) is not None}
    for name, one in found.items():
        values = [value_of(profile[name]) if name in profile else None for profile in profiles.values()]
        writer.writerow([name, type(one).__name__.lower(), *values, one.method])
    return out.getvalue()


def _titled(name: str, path: str) -> str:
    shown = str(near(Path(path)))
    return shown if name in (path, Path(path).name) else f"{name}, {shown}"


def _once(table: Table, mark: str) -> Table:
    """The table with a method of all rows said once, above it."""
    methods = {row[-1] for row in table.rows}
    if len(table.rows) < 2 or len(methods) != 1 or not any(methods):
        return table
    heading = [f"{table.heading[0]}{mark}{methods.pop()}"]
    return table._replace(heading=heading, rows=[[*row[:-1], ""] for row in table.rows])


def _method(line: Line) -> str:
    return next((row.method for row in line.rows if row and row.method), "")


def _cells(line: Line, method: str) -> list[str]:
    of_values = line.kind in (VALUE, RELATIVE)
    known = next(row for row in line.rows if row)
    graph = number(known.graph, known.graph_error) if of_values else ""
    cell = _value_beside if of_values else _distance
    return [
        line.finding,
        graph,
        *("" if row is None else cell(row) for row in line.rows),
        VALUE if line.kind == VALUE else SHOWN.get(line.kind, line.kind),
        method,
    ]


def _value_beside(row: Row) -> str:
    """The sample's value, and its relative error if that is its distance."""
    value = number(row.sample, row.sample_error) or "undefined"
    if row.kind != RELATIVE or row.distance is None or row.sample is None:
        return value
    return f"{value} ({_percent(row.distance)})"


def _percent(share: float) -> str:
    return f"{100 * share:+.3g} %" if math.isfinite(share) else f"{share:+.4g}"


def _distance(row: Row) -> str:
    if row.distance is None:
        return "undefined"
    return f"{row.distance:.4g}" + (f" ± {row.distance_error:.2g}" if row.distance_error else "")


def number(value: float | None, error: float | None = None) -> str:
    """A number with four digits, an integer in full, and its standard error."""
    if value is None:
        return ""
    if math.isnan(value):
        return "undefined"
    whole = float(value).is_integer() and abs(value) < 2**53
    return (f"{int(value):,}" if whole else f"{value:.4g}") + (f" ± {error:.2g}" if error else "")


def _said(finding: Finding) -> str:
    """A number; of a distribution or a curve, which plots draw, the range of its values."""
    if isinstance(finding, Number):
        return number(finding.value, finding.error)
    if isinstance(finding, Distribution):
        return f"{_range(finding.values)}, mean {number(finding.mean)}" if finding.values.size else "no values"
    assert isinstance(finding, Curve)
    return f"{_range(finding.y)} at {counted(finding.y.size, 'point')}" if finding.y.size else "no points"


def _range(values: np.ndarray) -> str:
    low, high = number(float(values.min())), number(float(values.max()))
    return low if low == high else f"{low} to {high}"


def as_text(table: Table) -> str:
    """The table of ``shown`` with its columns below each other."""
    return "\n".join([*table.heading, *text_rows(table.names, table.rows, table.right)]) + "\n"


# As CSV and LaTeX


def as_csv(profile: Findings, samples: Sequence[Compared], names: Sequence[str]) -> str:
    """The table in full precision: values and distances of a finding are rows of their own, errors beside them."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if not samples:
        writer.writerow(["finding", "kind", "value", "error", "method"])
        for name, one in profile.items():
            if not isinstance(one, Column):
                row = plain_row(name, one)
                writer.writerow([name, type(one).__name__.lower(), row.graph, row.graph_error, row.method])
        return out.getvalue()
    lines = lines_of(profile, samples)
    errors = any(row and (row.sample_error or row.distance_error) for line in lines for row in line.rows)
    beside = [f"{name}{what}" for name in names for what in ("", " error")[: 1 + errors]]
    writer.writerow(["finding", "distance", "graph", *beside])
    for line in lines:
        kinds = [VALUE, RELATIVE] if line.kind == RELATIVE else [line.kind]
        for kind in kinds:
            writer.writerow([line.finding, kind, *_numbers(line, kind, errors)])
    count, means = mean_d_statistics(lines)
    if count > 1:
        cells = [cell for one in means for cell in (one, "")[: 1 + errors]]
        writer.writerow([f"mean of {count} D-statistics", D_STATISTIC, "", *cells])
    return out.getvalue()


def _numbers(line: Line, kind: str, errors: bool) -> list[float | None]:
    """The graph's number, and of each sample the number and its error."""
    value = kind == VALUE
    known = next(row for row in line.rows if row)
    cells: list[float | None] = [known.graph if value else None]
    for row in line.rows:
        found = (None, None) if row is None else (row.sample, row.sample_error)
        found = found if value or row is None else (row.distance, row.distance_error)
        cells += found[: 1 + errors]
    return cells


def as_latex(table: Table) -> str:
    """The table of ``shown`` for LaTeX's package booktabs, without the methods."""
    kept = [k for k, name in enumerate(table.names) if name != "method"]
    sides = "".join("r" if table.names[k] in table.right else "l" for k in kept)
    body = [" & ".join(_escaped(row[k]) for k in kept) + r" \\" for row in [table.names, *table.rows]]
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", body[0], r"\midrule", *body[1:], r"\bottomrule"]
    return "\n".join([*(f"% {line}" for line in table.heading), *lines, r"\end{tabular}"]) + "\n"


def _escaped(text: str) -> str:
    text = "".join(LATEX.get(one, one) for one in text.replace(">=", "≥"))
    return text.replace("≥", LATEX[">="])
