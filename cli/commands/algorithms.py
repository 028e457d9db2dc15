"""``csaw algorithms``."""

import shutil
import sys
from typing import Any

import click

HEADINGS = {
    "walks": "Walks: a sample is the vertices of each walk in order",
    "hops": "Neighbor samples: a sample is a table of neighbors for each hop",
    "batches": "Mini-batches: a sample is the nodes and edges of a mini-batch, numbered for a graph neural network",
    "subgraphs": "Subgraphs: a sample is the edges of each instance",
}
UNLIMITED = 1 << 20  # columns of a pipe or a file


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print names, papers and defaults as JSON.")
def algorithms(as_json: bool) -> None:
    """List the algorithms with their papers and options.

    \b
    Example:
        csaw algorithms
    """
    from csaw.cli.console import print_json
    from csaw.engine.api import registry

    found = [registry.find(name) for name in registry.names()]
    if as_json:
        print_json(
            {a.name(): {"paper": a.paper, "options": {k: o.default for k, o in a.options().items()}} for a in found}
        )
        return
    for layout, heading in HEADINGS.items():
        click.echo(f"{heading}\n")
        for one in found:
            if one.layout == layout:
                _print_algorithm(one)


def _print_algorithm(algorithm: Any) -> None:
    """Its name and paper, what it draws, and its options with defaults and ranges."""
    from csaw.cli.options import flag_of, help_of

    width = shutil.get_terminal_size().columns - 4 if sys.stdout.isatty() else UNLIMITED
    formatter = click.HelpFormatter(width=width)
    with formatter.indentation():
        formatter.write_text(f"{algorithm.name()} ({algorithm.paper})")
        with formatter.indentation():
            formatter.write_text(" ".join((algorithm.__doc__ or "").split()))
            options = [(flag_of(name), help_of(option)) for name, option in algorithm.options().items()]
            if options:
                formatter.write_dl(options)
    click.echo(formatter.getvalue())
