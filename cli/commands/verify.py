"""``csaw verify``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from csaw.cli import colors, console, values
from csaw.partition.base.quoting import printable

if TYPE_CHECKING:
    from csaw.engine.verify import Report
    from csaw.engine.verify.checks import Check


@click.command()
@click.argument("store", type=values.Place())
@click.option("--graph", type=values.Place(), help="Graph store that was sampled [default: the path in the sample].")
@click.option("--columns", type=values.Place(), help="File with the columns of data that were used to draw the sample.")
@values.algo_file
@values.version
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@console.tones("all findings of each check")
@click.pass_context
def verify(
    ctx: click.Context,
    store: str,
    graph: str | None,
    columns: str | None,
    algo: str | None,
    version: int | None,
    as_json: bool,
) -> None:
    """Check that a sample or a graph store is correct.

    For a graph store, csaw reads every file and checks that its bytes are unchanged, that all numbers are within their
    ranges, and that the attributes agree with them. For a sample, it also checks that the sample follows the rules of
    its algorithm on its graph. It then tests whether the choices have the exact probabilities (the law) and are
    independent of each other. Together, the statistical checks reject one correct sample in a million.

    With --verbose, each statistical check reports the smallest deviations that it would have found 99 times out of 100,
    as shares of the choices. A check that tests nothing is "not tested", with the reason. The exit status is 3 if a
    check fails, or if the law could have been tested but no part of it was.

    \b
    Example:
        csaw verify walks.zarr
    """
    from csaw.cli.reports.closing_lines import of_checks
    from csaw.datasets.resolve import refuse_name

    refuse_name(store)
    with console.progress(f"verifying {store}", enabled=not as_json):
        from csaw.engine.stores.verify import of_graph
        from csaw.engine.stores.verify import verify as check
        from csaw.partition.arrays.nodes import require_store
        from csaw.partition.graph.attributes import is_graph
        from csaw.partition.graph.versions import at_version

        require_store(Path(store))
        if is_graph(store):
            report = of_graph(at_version(store, version))
        elif version is not None:
            raise click.UsageError("--version is for graph stores; csaw finds the version that a sample was drawn from")
        else:
            report = check(store, graph, columns=columns, algo=algo)
    if as_json:
        console.print_json(report.as_dict())
    elif not report.ok or not console.is_quiet():
        _print_checks(report)
        for line in filter(None, of_checks(report)):
            click.echo(printable(line))
    if not report.ok:
        ctx.exit(3)


def _print_checks(report: "Report") -> None:
    """Print a line for each check, under headings: first checks with a definite answer, then statistical ones."""
    from csaw.cli.reports.sections import print_table

    law = [one.p_value is not None or not one.tested for one in report.checks]
    width = max(len(one.name) for one in report.checks)
    for heading, of_law in (("Files and rules", False), ("Law of the algorithm", True)):
        its = [one for one, judged in zip(report.checks, law, strict=True) if judged == of_law]
        rows = [(f"{one.status:<10}", f"{one.name:<{width}}", _p(one), _details(one)) for one in its]
        if rows:
            print_table(heading, ("",) * 4, rows, styles=colors.CHECKS)


def _p(check: "Check") -> str:
    return "" if check.p_value is None else f"p = {check.p_value:.3g}"


def _details(check: "Check") -> str:
    """Return the findings of a check, or only their first part if it passed and ``--verbose`` was not given."""
    whole = console.is_verbose() or not check.ok or not check.tested
    return check.details if whole else check.details.partition(";")[0]
