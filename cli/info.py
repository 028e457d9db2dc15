"""``csaw info``."""

from pathlib import Path
from typing import Any

import click

from csaw.cli import values

PARTITIONS_SHOWN = 8
BAR = 40


@click.command()
@click.argument("store", type=values.Place())
@click.option(
    "--full",
    is_flag=True,
    help="Read the whole store: degrees of a graph; edges of each instance of a sample, counted anew.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the description as JSON.")
def info(store: str, full: bool, as_json: bool) -> None:
    """Show what a graph store or a sample store says of itself.

    \b
    Example:
        csaw info web.zarr --full
    """
    from csaw.cli.console import print_json
    from csaw.cli.report import print_report

    shown = _describe(store, full)
    if as_json:
        print_json(shown)
    elif "partitions" in shown:
        _print_graph(shown)
    else:
        from csaw.cli.runs import sample_sections

        print_report(sample_sections(shown))


def _print_graph(shown: dict[str, Any]) -> None:
    from csaw.cli.graphs import graph_sections
    from csaw.cli.report import print_report

    print_report(graph_sections(shown, shown["report"]))
    _print_degrees(shown.get("degrees", []))
    _print_partitions(shown["partitions"])


def _describe(path: str, full: bool) -> dict[str, Any]:
    """The store as plain data. A path that is neither kind of store goes to open_graph, whose error says what is wrong with it."""
    if _is_samples(Path(path)):
        from csaw.engine.samples.describe import describe

        return describe(path, full)
    from csaw.partition import open_graph

    return _graph(open_graph(path), full)


def _is_samples(path: Path) -> bool:
    """Whether ``path`` is a sample store, be it whole, damaged or unfinished."""
    from csaw.partition.replace import GRAPH, SAMPLES, standing

    found = standing(path.resolve())
    unfinished = path.name.endswith(".partial") or Path(f"{path}.partial").is_dir()
    return found == SAMPLES or (found != GRAPH and (unfinished or (path / "results").is_dir()))


def _graph(store: Any, full: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from csaw.cli.graphs import describe

    return describe(store) | {
        "report": store.report,
        **({"degrees": _histogram(store.read_indptr())} if full else {}),
        "partitions": [asdict(p) for p in store.partitions],
    }


def _histogram(indptr: Any) -> list[dict[str, int]]:
    """Numbers of vertices by degree: 0, then bins whose width doubles."""
    import numpy as np

    degrees = np.diff(indptr)
    edges = np.append(0, 2 ** np.arange(int(degrees.max(initial=0)).bit_length() + 1))
    counts = np.histogram(degrees, edges)[0].tolist()
    bins = zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), counts, strict=True)
    return [{"from": low, "to": high, "vertices": n} for low, high, n in bins if n]


def _print_degrees(bins: list[dict[str, int]]) -> None:
    most = max((b["vertices"] for b in bins), default=1)
    click.echo("\nVertices by degree")
    for b in bins:
        label = str(b["from"]) if b["from"] == b["to"] else f"{b['from']} to {b['to']}"
        click.echo(f"  degree {label:>23}  {b['vertices']:>14,}  {'#' * round(BAR * b['vertices'] / most)}".rstrip())


def _print_partitions(parts: list[dict[str, int]]) -> None:
    from csaw.cli.report import size

    click.echo("\nPartitions")
    for p in parts[:PARTITIONS_SHOWN]:
        held = f"{p['last_vertex'] - p['first_vertex']:,} vertices from {p['first_vertex']:,}"
        click.echo(f"  partition {p['number']}: {held}, {p['edges']:,} edges, {size(p['nbytes'])}")
    if len(parts) > PARTITIONS_SHOWN:
        click.echo(f"  ... and {len(parts) - PARTITIONS_SHOWN} more")
