"""``csaw append``."""

from pathlib import Path

import click

from csaw.cli import console, values
from csaw.cli.commands.partition import partition
from csaw.cli.grouped import in_groups
from csaw.partition.base.plain_data import OptionValue

READ = (
    "directed",
    "format",
    "target_offset",
    "source_column",
    "target_column",
    "weight_column",
    "edge_columns",
    "time_column",
    "time_decimals",
    "on_error",
    "skip_lines",
    "where",
)
"""The options of csaw partition that say how the new edges are read."""
GROUPS = {
    "What becomes of the edges": ("remove", "duplicates", "self_loops", "again"),
    "Reading the input": ("time_format", *READ),
    "How it runs": ("partition_bytes", "memory", "threads"),
}


def _of_partition(*names: str) -> list[click.Parameter]:
    """Options that csaw partition has, too."""
    found = {param.name: param for param in partition.params}
    return [found[name] for name in names]


@click.command(
    cls=in_groups(GROUPS, "Output"),
    params=_of_partition(*READ, "memory", "threads"),
)
@click.argument("graph", type=values.Place())
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=values.Place())
@click.option("--remove", is_flag=True, help="Remove the edges of INPUT instead; vertices stay.")
@click.option(
    "--duplicates",
    type=click.Choice(["first", "sum", "last", "keep", "error"]),
    help="What to do with edges that GRAPH has already: leave them as they are (first), add the weights (sum), replace "
    "weights and columns (last), keep both (keep), or stop with an error [default: as GRAPH was made].",
)
@click.option(
    "--self-loops",
    type=click.Choice(["keep", "drop"]),
    help="Keep or drop edges from a vertex to itself [default: as GRAPH was made].",
)
@click.option(
    "--again",
    is_flag=True,
    help="With --duplicates keep or sum: append even if the newest version was made of the same edges.",
)
@click.option(
    "--time-format",
    type=click.Choice(["numbers", "iso", "unix", "unix-ms", "unix-us", "unix-ns"]),
    help="Format of times, as for csaw partition; they must have the units of GRAPH [default: numbers, if GRAPH has "
    "numbers].",
)
@click.option(
    "--partition-size",
    "partition_bytes",
    callback=values.size,
    metavar="SIZE",
    help="Largest size of a partition that changes, such as 256MiB; larger ones are split [default: 256MiB, or a "
    "quarter more than the largest partition of GRAPH].",
)
@click.option("--progress/--no-progress", default=True, help="Show progress on standard error.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@console.tones("all counts")
def append(graph: str, inputs: tuple[str, ...], as_json: bool, progress: bool, **options: OptionValue) -> None:
    """Append edges to a graph store, or remove edges from it, as a new version.

    INPUT is files of edges, a folder of them, or - for stdin, as for csaw partition; for a graph with several types of
    vertices, SOURCE-NAME-TARGET=FILE for each relation. Vertices keep their dense ids, and
    new ones follow. csaw writes only the partitions that change; processes that read GRAPH go on with the version that
    they have opened. csaw info lists the versions, --version N of other commands uses an earlier one, and csaw compact
    drops all but one.

    \b
    Example:
        csaw append web.zarr new-edges.txt
        csaw append web.zarr gone.txt --remove
        csaw append papers.zarr author-writes-paper=new.csv
        csaw append messages.zarr 2026-11-22.csv --time-column sent --duplicates keep
    """
    from csaw.cli.reports.closing_lines import report_append

    with console.progress("preparing", enabled=progress) as shown:
        from csaw.partition.base.stages import READING
        from csaw.partition.ingestion.append import append_edges
        from csaw.partition.ingestion.text.readers import files_of
        from csaw.partition.ingestion.typed_rows import RelationFiles, relations_given

        relations = relations_given(inputs)
        found = RelationFiles.of(relations) if relations else files_of(list(inputs))
        files = found.paths if isinstance(found, RelationFiles) else found
        shown.begin(READING, sum(Path(file).stat().st_size for file in files if Path(file).is_file()), "bytes")
        own = {name: value for name, value in options.items() if value not in (None, ())}
        context = click.get_current_context()
        given = {name: one for name, one in own.items() if _is_given(context, name)}
        done = append_edges(Path(graph), found, given, shown)
    for warning in done.report.get("warnings", ()):
        console.warn(warning if len(files) > 1 else f"{files[0]}: {warning}")
    if missing := done.report.get("edges_missing"):
        console.warn(f"{graph} lacks {missing:,} of the edges to remove")
    console.print_json(done.as_dict()) if as_json else report_append(done)


def _is_given(context: click.Context, name: str) -> bool:
    """Whether the user gave an option: the store decides those that nobody gave."""
    return context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
