"""``csaw seal``."""

import click

from csaw.cli import console, values


@click.command()
@click.argument("out", type=values.Place())
@click.option("--graph", type=values.Place(), help="Graph store that is sampled [default: the path in the sample].")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@console.tones("all counts and times")
def seal(out: str, graph: str | None, as_json: bool) -> None:
    """Finish the sample OUT after all of its shards are drawn.

    The last shard of csaw sample --shard does this by itself. If it was killed, run csaw seal: it compares every group
    with its checksums and gives the sample its final name, or lists the groups that are missing or damaged.

    \b
    Example:
        csaw seal walks.zarr
    """
    from csaw.cli.reports.closing_lines import report_run
    from csaw.engine.cluster.shards import seal_sample

    with console.progress("comparing checksums"):
        results = dict(seal_sample(out, graph))
    results.pop("plan", None)
    report_run(results, out, as_json)
