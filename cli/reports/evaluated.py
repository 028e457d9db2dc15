"""Reports of evaluations: the table of findings or distances, and where each measure would run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from csaw.cli.reports.sections import Facts, print_table, size

if TYPE_CHECKING:
    from csaw.engine.analytics.evaluation.evaluate import Evaluation


def print_evaluation(found: "Evaluation") -> None:
    """Print the profile of a graph, or the distances of its samples, measure by sample."""
    table = found.shown
    print_table("\n".join(table.heading), table.names, table.rows, right=table.right)


def print_plan(planned: Sequence[Facts]) -> None:
    """Print where each measure would run."""
    rows = [
        [
            one["measure"],
            one["device"],
            one["graph"],
            size(one["graph_bytes"]),
            size(one["measure_bytes"]),
            size(one["memory"]),
            "found in the cache" if one["kept"] else "",
        ]
        for one in planned
    ]
    print_table("Measures", ("measure", "device", "the graph is", "of", "also keeps", "memory", ""), rows)
