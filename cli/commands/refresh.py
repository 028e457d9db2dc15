"""``csaw refresh``."""

import click

from csaw.cli import console, values
from csaw.cli.options import given, made_option
from csaw.engine.plan.options import options as run_options
from csaw.partition.base.plain_data import OptionValue

RUN = ("sources", "columns", "device", "memory", "gpu_memory", "threads")
"""The options of a run that it has: what a sample does not store of its request, and those that change no byte."""


@click.command(params=[made_option(name, run_options()[name], "Options") for name in RUN])
@click.argument("sample", type=values.Place())
@click.argument("out", type=values.Place(), required=False)
@click.option("--graph", type=values.Place(), help="Graph store to draw from [default: that of the sample].")
@values.version
@values.algo_file
@click.option("--overwrite", is_flag=True, help="Replace the sample store at OUT.")
@click.option("--dry-run", is_flag=True, help="Only count the instances that would be drawn again.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@console.tones("all counts")
def refresh(
    sample: str,
    out: str | None,
    graph: str | None,
    version: int | None,
    algo: str | None,
    overwrite: bool,
    dry_run: bool,
    as_json: bool,
    **options: OptionValue,
) -> None:
    """Bring a stored sample up to date with the newest version of its graph.

    csaw draws the instances again whose sources or rows have changed, and copies the others. The sample has the same
    bytes as one that is drawn from the new version from the beginning, with the same options. It replaces SAMPLE, or is
    written to OUT. If csaw refresh is killed, SAMPLE is as it was; run the same command again to continue.

    Where every instance may have changed, csaw says why and draws all of them. A virtual sample stays virtual, and
    nothing is drawn. If a sample was drawn with --columns, give them again, with numbers for all vertices.

    \b
    Example:
        csaw append web.zarr new-edges.txt
        csaw refresh walks.zarr
    """
    from csaw.cli.reports.closing_lines import report_refresh

    with console.progress("comparing", enabled=not as_json) as shown:
        from csaw.engine.runs.comparison import compare
        from csaw.engine.runs.refresh import refresh as bring_up_to_date

        found = compare(sample, graph, version, algo=algo, **dict(given(options)))
        if dry_run:
            results = {"refreshed": found.counts(found.all_again())}
        else:
            shown.begin("sampling", found.instances, "instances")
            results = bring_up_to_date(found, out, overwrite=overwrite, progress=shown)
    report_refresh(results, out or sample, found, as_json)
