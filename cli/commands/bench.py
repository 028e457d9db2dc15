"""``csaw bench``."""

from pathlib import Path
from shlex import quote

import click
from click.core import ParameterSource

from csaw.cli import complete, values
from csaw.partition.base.plain_data import OptionValue, Record

SLOWER = 4  # exit status
PLACES = ("json_file", "plot", "baseline", "out")  # options that name files


def _pairs(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    pairs = [item.partition("=") for item in value]
    if bad := [item for item, (_, equals, path) in zip(value, pairs, strict=True) if not (equals and path)]:
        raise click.BadParameter(f"expected NAME=PATH, found {bad[0]!r}")
    return {name: path for name, _, path in pairs}


@click.command()
@click.argument("graphs", nargs=-1, metavar="[GRAPH]...", shell_complete=complete.graphs)
@click.option(
    "--suite",
    multiple=True,
    default=["overview"],
    shell_complete=complete.suites,
    help="Suites to run, separated by commas, or all; csaw bench --list shows their names.",
)
@click.option("--list", "listing", is_flag=True, help="List the suites with their claims, and exit.")
@click.option("--only", default="", show_default=False, help="Run only the tasks whose name contains this text.")
@click.option(
    "--graphs",
    "paper",
    type=click.Choice(["c-saw", "nextdoor", "gsampler", "gunrock"]),
    help="Measure the graphs in this paper's table: those on disk, and R-MAT graphs, labeled as stand-ins, "
    "for the others.",
)
@click.option(
    "--parameters",
    type=click.Choice(["paper", "csaw"]),
    default="paper",
    help="Sizes and tasks of suites that reproduce a figure: those of its paper, or those of csaw's earlier "
    "runs; with --graphs, stand-ins have the paper's weights (paper) or none (csaw).",
)
@click.option(
    "--max-edges", type=click.IntRange(1), help="Largest number of edges in a stand-in [default: what fits in memory]."
)
@click.option(
    "--device",
    default="auto",
    shell_complete=complete.devices,
    help="Device to measure: auto, cpu, cuda, cuda:1, or cuda:0,1 for several GPUs.",
)
@click.option("--threads", type=click.IntRange(1), help="Number of CPU threads [default: one per processor].")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=3,
    help="Number of measured runs of each task, after a warm-up run.",
)
@click.option("--max-instances", type=click.IntRange(1), help="Largest number of instances in a task.")
@click.option(
    "--memory",
    callback=values.size,
    metavar="SIZE",
    help="Host memory for sampling in the suites from-disk and out-of-memory, such as 8GiB [default: room for "
    "shares of the graph].",
)
@click.option(
    "--gpu-memory",
    callback=values.size,
    metavar="SIZE",
    help="GPU memory for sampling in the suites from-disk and out-of-memory.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Run each task once with few instances, to check that it works, not how fast it is; no claim is judged.",
)
@click.option(
    "--out",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
    default=".",
    help="Folder on the disk to measure; csaw removes its files at the end.",
)
@click.option(
    "--peer",
    "peers",
    multiple=True,
    callback=_pairs,
    help="Program to compare with, as NAME=PATH. For igraph and networkit (suites ranking, traversal and "
    "triangles), PATH is a Python interpreter that has it. For knightking and thunderrw, on a GPU for "
    "c-saw, flowwalker, nextdoor and skywalker, and for grouptc (suite triangles), PATH is the folder of "
    "its programs.",
)
@click.option(
    "--export-json",
    "json_file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write the rows to this file as JSON, replacing an earlier run; - prints them instead of the table.",
)
@click.option("--plot", type=values.Folder(), help="Folder for a plot of each suite, as PNG and SVG.")
@click.option(
    "--baseline",
    type=click.Path(exists=True, dir_okay=False),
    help="JSON of an earlier run to compare with; the exit status is 4 if anything is slower.",
)
@click.pass_context
def bench(
    ctx: click.Context,
    /,
    suite: tuple[str, ...],
    listing: bool,
    json_file: str | None,
    plot: Path | None,
    baseline: str | None,
    **options: OptionValue,
) -> None:
    """Measure how fast this machine samples and evaluates GRAPH, compared with its limits.

    Each line shows the median rate, the slowest and the fastest rate in brackets, and the time of one run. Rates of
    sampled edges cover only sampling: the graph is already loaded, kernels are compiled, and samples stay in memory. On
    a GPU, an rmat: graph without times is generated on the GPU.

    \b
    Example:
        csaw bench rmat:scale=20,edge_factor=16,weights=1 --suite walks,neighbors --export-json today.json
    """
    from csaw.cli import console
    from csaw.engine.bench import earlier_runs, plots, show
    from csaw.engine.bench.run import chosen, open_context, run

    if listing:
        click.echo(show.listing())
        return
    before = earlier_runs.read(baseline) if baseline else None
    if json_file:
        console.check_folder(json_file, "--export-json")
    if json_file and json_file != "-":
        earlier_runs.check_rows(Path(json_file))
    if plot:
        plots.check(plot, chosen(suite))
    rows: list[Record] = []
    try:
        for row in run(open_context(**options), chosen(suite), _command(ctx)):
            rows.append(row)
            if json_file != "-":
                click.echo(show.line(*rows[:-3:-1]))
    finally:  # what was measured until an interruption is kept
        if json_file and rows:
            console.print_json(rows) if json_file == "-" else earlier_runs.write_rows(rows, Path(json_file))
    if plot:
        plots.write(rows, plot)
    if before is not None:
        changes = earlier_runs.compare(before, rows)
        click.echo(earlier_runs.told(before, rows, changes), err=json_file == "-")
        ctx.exit(SLOWER if any(change.slower for change in changes) else 0)


def _command(ctx: click.Context) -> str:
    """The command that was given, without the paths of this machine."""
    given = [p for p in ctx.command.params if ctx.get_parameter_source(str(p.name)) is ParameterSource.COMMANDLINE]
    words = ["csaw", "bench"]
    for param in given:
        value = ctx.params[str(param.name)]
        if isinstance(param, click.Argument):
            words += map(quote, value)
        elif param.name == "peers":
            words += [f"--peer {name}=PATH" for name in value]
        elif param.name not in PLACES:
            words += (
                [param.opts[0]]
                if value is True
                else [f"{param.opts[0]} {quote(str(v))}" for v in (value if param.multiple else [value])]
            )
    return " ".join(words)
