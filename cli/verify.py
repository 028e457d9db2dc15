"""``csaw verify``."""

from typing import TYPE_CHECKING

import click

from csaw.cli import values

if TYPE_CHECKING:
    from csaw.engine.verify import Report


@click.command()
@click.argument("store", type=values.Place())
@click.option(
    "--graph", type=values.Place(), help="Graph store that was sampled [default: where it was when it was sampled]."
)
@click.option("--columns", type=values.Place(), help="File of the columns of data that the sample was drawn with.")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@click.pass_context
def verify(ctx: click.Context, store: str, graph: str | None, columns: str | None, as_json: bool) -> None:
    """Check that a sample or a graph store is right.

    Of a graph store, csaw reads every file and checks that its bytes are those that were written, that all numbers are within their ranges, and that the attributes agree with them.
    Of a sample, it also checks that the sample follows the rules of its algorithm on its graph, and that every choice was drawn from the exact law, independently of the others. All statistical checks together reject a right sample once in a million.

    Each statistical check says the smallest deviations that it would have found 99 times out of 100, as shares of the choices. A check that tests nothing says "not tested" and the reason. The exit status is 3 when a check fails, and when nothing of the law was tested though some of it could have been.

    \b
    Example:
        csaw verify walks.zarr
    """
    from csaw.cli.console import print_json
    from csaw.engine.verify import verify as check
    from csaw.engine.verify import verify_graph
    from csaw.partition.attributes import is_graph

    report = verify_graph(store) if is_graph(store) else check(store, graph, columns=columns)
    if as_json:
        print_json(report.as_dict())
    else:
        _print_checks(report)
        click.echo(f"{store}: {_summary(report)}")
    if not report.ok:
        ctx.exit(3)


def _print_checks(report: "Report") -> None:
    """A line for each check, under headings: first what is right or wrong, then what is judged by chance."""
    law = [one.p_value is not None or not one.tested for one in report.checks]
    width = max(len(one.name) for one in report.checks)
    for heading, of_law in (("Files and rules", False), ("Law of the algorithm", True)):
        if of_law in law:
            click.echo(heading)
        for one in (one for one, its in zip(report.checks, law, strict=True) if its == of_law):
            p = "" if one.p_value is None else f"p = {one.p_value:.3g}"
            click.echo(f"  {one.status:<10}  {one.name:<{width}}  {p:<13}  {one.details}")


def _summary(report: "Report") -> str:
    """What a reader needs of all checks in one line."""
    counts = report.counts
    apart = f", {counts['not_tested']} not tested" if counts["not_tested"] else ""
    if counts["failed"]:
        return f"FAILED: {counts['failed']} of {len(report.checks)} checks{apart}"
    if report.untested:
        return f"NOT TESTED: {counts['passed']} checks passed{apart}; none of them is of the law"
    return f"all checks passed{apart}" if apart else "all checks passed"
