"""``csaw algorithms``."""

import shutil
import sys
from typing import TYPE_CHECKING

import click

from csaw.cli.colors import bold

if TYPE_CHECKING:
    from csaw.engine.api.algorithm import Algorithm

UNLIMITED = 1 << 20  # columns of a pipe or a file
NARROWEST = 20  # columns, less than which a terminal breaks lines itself


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
    from csaw.engine.samples.layouts import LAYOUTS

    if as_json:
        print_json(registry.described())
        return
    found = [registry.find(name) for name in registry.names()]
    for layout in (one for one in LAYOUTS.values() if one.heading):
        click.echo(f"{bold(layout.heading)}\n")
        for one in found:
            if one.layout == layout:
                _print_algorithm(one)


def _print_algorithm(algorithm: "type[Algorithm]") -> None:
    """Its name and paper, what it draws, and its options with defaults and ranges."""
    from csaw.cli.options import help_of
    from csaw.engine.api.option import flag_of

    width = max(shutil.get_terminal_size().columns - 4, NARROWEST) if sys.stdout.isatty() else UNLIMITED
    formatter = click.HelpFormatter(width=width)
    with formatter.indentation():
        formatter.write_text(f"{algorithm.name()} ({algorithm.paper})")
        with formatter.indentation():
            formatter.write_text(" ".join((algorithm.__doc__ or "").split()))
            options = [(flag_of(name), help_of(option)) for name, option in algorithm.options().items()]
            if options:
                formatter.write_dl(options)
    click.echo(formatter.getvalue())
