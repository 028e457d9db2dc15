"""``csaw info``."""

from typing import TYPE_CHECKING

import click

from csaw.cli import values
from csaw.cli.colors import bold
from csaw.partition.base.quoting import counted, printable

if TYPE_CHECKING:
    from csaw.cli.reports.sections import Facts

PARTITIONS_SHOWN = 8
BAR = 40
VERSIONS = ("number", "vertices", "stored edges", "bytes", "of it alone", "appended")
WORDS = {"visits": "visits", "degree": "degree in the sample, where an edge counts at both ends"}


@click.command()
@click.argument("store", type=values.Place())
@click.option(
    "--full",
    is_flag=True,
    help="Read the whole store: count the degrees of a graph, or the edges of each instance of a sample.",
)
@click.option("--graph", type=values.Place(), help="Graph store of a virtual sample [default: the path in the sample].")
@values.algo_file
@values.version
@click.option("--json", "as_json", is_flag=True, help="Print the description as JSON.")
def info(store: str, full: bool, graph: str | None, algo: str | None, version: int | None, as_json: bool) -> None:
    """Describe a graph store or a sample store.

    If csaw append has added to a graph, csaw also lists its versions, and how many bytes belong to each alone. For a
    sample, csaw also reads some instances, and shows how many vertices they have, how long or large they are, and how
    often vertices occur.

    \b
    Example:
        csaw info web.zarr --full
    """
    from csaw.cli.console import print_json
    from csaw.cli.reports.sections import print_report
    from csaw.datasets.resolve import refuse_name
    from csaw.engine.stores.describe import describe_store

    refuse_name(store)
    shown = describe_store(store, full, algo, graph, version)
    if as_json:
        print_json(shown)
    elif "partitions" in shown:
        _print_graph(shown)
    else:
        from csaw.cli.reports.run import sample_sections

        print_report(sample_sections(shown))
        _print_look(store, algo, graph)


def _print_graph(shown: "Facts") -> None:
    from csaw.cli.reports.graphs import graph_sections
    from csaw.cli.reports.sections import print_report

    print_report(graph_sections(shown, shown["report"]))
    if "degrees" in shown:
        _print_bins("Vertices by degree", [{**b, "count": b["vertices"]} for b in shown["degrees"]])
    if "versions" in shown:
        from csaw.cli.reports.graphs import version_rows
        from csaw.cli.reports.sections import print_table

        click.echo("")
        print_table("Versions", VERSIONS, version_rows(shown["versions"]), right=VERSIONS[:-1])
    _print_partitions(shown["partitions"])


def _print_look(store: str, algo: str | None, graph: str | None) -> None:
    """Print histograms of some instances of a sample, or the reason why they cannot be read."""
    from csaw.engine.samples.describe import look
    from csaw.engine.stores import open_samples
    from csaw.partition.errors import StoreError

    samples = open_samples(store, graph, algo)
    try:
        found = look(samples)
    except StoreError as error:
        click.echo(f"\nInstances\n  not read: {printable(str(error))}")
        return
    if found is None:
        return
    names = samples.layout.words[1]
    some = "all" if found["instances"] == samples.instances else f"{found['instances']:,} of {samples.instances:,}"
    click.echo(f"\nDifferent vertices of {some} {names}: {found['vertices']:,}")
    _print_bins(f"{names.capitalize()} by {'steps' if samples.has_walks else 'edges'}", found["sizes"])
    for what, bins in found["vertices_by"].items():
        _print_bins(f"Vertices by {WORDS[what]}", bins)


def _print_bins(heading: str, bins: list[dict[str, int]]) -> None:
    """Numbers of things by their sizes, with bars; the longest is of the largest number."""
    most = max((b["count"] for b in bins), default=1)
    labels = [f"{b['from']:,}" if b["from"] == b["to"] else f"{b['from']:,} to {b['to']:,}" for b in bins]
    width = max(map(len, labels), default=0)
    click.echo(f"\n{bold(heading)}")
    for label, b in zip(labels, bins, strict=True):
        click.echo(f"  {label:>{width}}  {b['count']:>13,}  {'#' * round(BAR * b['count'] / most)}".rstrip())


def _print_partitions(parts: list[dict[str, int]]) -> None:
    from csaw.cli.reports.sections import size

    click.echo(f"\n{bold('Partitions')}")
    for p in parts[:PARTITIONS_SHOWN]:
        held = f"{counted(p['last_vertex'] - p['first_vertex'], 'vertex', 'vertices')} from {p['first_vertex']:,}"
        click.echo(f"  partition {p['number']}: {held}, {counted(p['edges'], 'edge')}, {size(p['nbytes'])}")
    if len(parts) > PARTITIONS_SHOWN:
        click.echo(f"  ... and {len(parts) - PARTITIONS_SHOWN} more")
