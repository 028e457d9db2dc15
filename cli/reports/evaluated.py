"""Reports of evaluations: a profile, and a table for each sample beside it."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from csaw.cli.reports.sections import Facts, plain, print_table, size
from csaw.partition.base.notebook import counted

if TYPE_CHECKING:
    from csaw.engine.analytics.evaluation.evaluate import Evaluation, Row


def print_evaluation(found: "Evaluation") -> None:
    """Print the profile of a graph, or a table for each of its samples."""
    if not found.samples:
        _print_table(
            found.graph,
            ("finding", "graph", "method"),
            [[row.finding, _value(row.graph, row.graph_error), row.method] for row in found.rows()],
        )
        return
    for number, sample in enumerate(found.samples):
        rows = [
            [
                row.finding,
                _value(row.graph, row.graph_error),
                _value(row.sample, row.sample_error),
                _distance(row),
                row.kind,
                row.method,
            ]
            for row in sample.rows
        ]
        click.echo("\n" * (number > 0), nl=False)
        _print_table(
            f"{sample.path}: {counted(sample.instances, 'instance')}, beside {found.graph}",
            ("finding", "graph", "sample", "distance", "", "method"),
            rows,
        )


def print_plan(planned: Sequence[Facts]) -> None:
    """Print where each measure would run."""
    rows = [
        [
            one["measure"],
            one["device"],
            one["graph"],
            size(one["graph_bytes"]),
            size(one["memory"]),
            "found in the cache" if one["kept"] else "",
        ]
        for one in planned
    ]
    _print_table(
        "Measures", ("measure", "device", "the graph is", "of", "memory", "", "method"), [[*row, ""] for row in rows]
    )


def _print_table(heading: str, names: tuple[str, ...], rows: list[list[str]]) -> None:
    """A heading and rows. A method of all rows is said once."""
    methods = {row[-1] for row in rows}
    if len(rows) > 1 and len(methods) == 1:
        heading = f"{heading}{'; ' * bool(rows[0][-1])}{rows[0][-1]}"
        rows = [[*row[:-1], ""] for row in rows]
    print_table(heading, names, rows, right=("graph", "sample", "distance"))


def _value(value: float | None, error: float | None = None) -> str:
    """A number with four digits, an integer in full, and its standard error."""
    if value is None:
        return ""
    if math.isnan(value):
        return "undefined"
    shown = plain(int(value)) if float(value).is_integer() and abs(value) < 2**53 else f"{value:.4g}"
    return shown + (f" ± {error:.2g}" if error else "")


def _distance(row: "Row") -> str:
    """A distance with its standard error: relative errors in percent."""
    if row.distance is None:
        return "undefined"
    percent = row.kind == "relative error" and math.isfinite(row.distance)
    error = (
        f" ± {100 * row.distance_error:.2g} %"
        if percent and row.distance_error
        else f" ± {row.distance_error:.2g}"
        if row.distance_error
        else ""
    )
    return (f"{100 * row.distance:+.3g}{' %' * (not error)}" if percent else f"{row.distance:.4g}") + error
