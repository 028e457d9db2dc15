"""``csaw verify``."""

import click

from csaw.cli import values


@click.command()
@click.argument("store", type=values.Place())
@click.option("--graph", type=values.Place(), help="The graph store of a sample [default: where it was sampled].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def verify(ctx: click.Context, store: str, graph: str | None, as_json: bool) -> None:
    """Check a sample against its graph and law, or a graph store against its checksums.

    Of a graph store, every file is read: are its bytes those that were written, are all numbers within their ranges, do its attributes agree with them?
    Of a sample: is it intact, within its algorithm's rules on this graph, and drawn from the exact law, every choice independently? The statistical checks together reject a right sample once in a million. Exit status 3 when a check fails.

    \b
    Example:
        csaw verify walks.zarr
    """
    from csaw.cli.console import print_json
    from csaw.engine.verify import verify as check
    from csaw.engine.verify import verify_graph
    from csaw.partition.attributes import is_graph

    report = verify_graph(store) if is_graph(store) else check(store, graph)
    if as_json:
        print_json(report.as_dict())
    else:
        width = max(len(one.name) for one in report.checks)
        for one in report.checks:
            p = "" if one.p_value is None else f"p = {one.p_value:.3g}"
            click.echo(f"{'ok  ' if one.ok else 'FAIL'}  {one.name:<{width}}  {p:<13}  {one.details}")
        click.echo(f"{store}: {'all checks passed' if report.ok else 'FAILED'}")
    if not report.ok:
        ctx.exit(3)
