"""``csaw compact``."""

import click

from csaw.cli import console, values


@click.command()
@click.argument("graph", type=values.Place())
@click.option(
    "--version", type=int, metavar="N", help="Version to keep, by its number in csaw info [default: the newest]."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@console.quiet
def compact(graph: str, version: int | None, as_json: bool) -> None:
    """Drop all versions of a graph store but one, which keeps its number.

    Samples of a version that is dropped stay readable, but csaw verify and --resume need the graph that they were drawn
    from. Processes that still read such a version end with an error.

    \b
    Example:
        csaw compact web.zarr
    """
    from csaw.cli.reports.closing_lines import of_compact
    from csaw.partition.graph.versions import compact as drop

    done = drop(graph, version)
    console.print_json(done) if as_json else console.say(*of_compact(done))
