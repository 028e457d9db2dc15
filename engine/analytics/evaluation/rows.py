"""The table of an evaluation: a row for each finding, of the graph and of a sample beside it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from csaw.engine.analytics.evaluation.distances import KINDS
from csaw.engine.analytics.measure import Column, Curve, Distribution, Finding, Findings, Number

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
    """Of the mean of independent values; None of fewer than two."""
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
