"""``csaw bench``."""

from pathlib import Path
from shlex import quote
from typing import Any

import click
from click.core import ParameterSource

from csaw.cli import values

SLOWER = 4  # exit status
PLACES = ("json_file", "plot", "baseline", "out")  # options that name files


def _pairs(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    pairs = [item.partition("=") for item in value]
    if bad := [item for item, (_, equals, path) in zip(value, pairs, strict=True) if not (equals and path)]:
        raise click.BadParameter(f"expected NAME=PYTHON, found {bad[0]!r}")
    return {name: path for name, _, path in pairs}


@click.command()
@click.argument("graphs", nargs=-1, metavar="[GRAPH]...")
@click.option(
    "--suite", multiple=True, default=["overview"], help="What to measure: names, or all; csaw bench --list has them."
)
@click.option("--list", "listing", is_flag=True, help="List the suites and what they claim.")
@click.option("--only", default="", help="Works whose name has this in it.")
@click.option(
    "--graphs",
    "paper",
    type=click.Choice(["c-saw", "nextdoor"]),
    help="The graphs of a paper's table: from disk, else R-MAT stand-ins, labelled so.",
)
@click.option("--max-edges", type=click.IntRange(1), help="Edges of a stand-in at most [default: what fits].")
@click.option("--device", default="auto", help="auto, cpu, cuda, cuda:1 or cuda:0,1.")
@click.option("--threads", type=click.IntRange(1), help="Threads on the CPU [default: all processors].")
@click.option("--repeats", type=click.IntRange(1), default=3, help="Runs of each work after one that warms up.")
@click.option("--instances", type=click.IntRange(1), help="At most so many instances of a work.")
@click.option(
    "--memory",
    callback=values.size,
    help="Suite from-disk: budget such as 8GiB [default: room for an eighth of the graph].",
)
@click.option("--gpu-memory", callback=values.size, help="Suite from-disk: the same for the GPU.")
@click.option("--quick", is_flag=True, help="Few instances, one run: whether all works, not how fast.")
@click.option(
    "--out",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
    default=".",
    help="Folder on the disk to measure; nothing stays there.",
)
@click.option(
    "--peer",
    "peers",
    multiple=True,
    callback=_pairs,
    help="NAME=PYTHON: a peer and the interpreter it is installed for.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write the rows as JSON, in the place of nothing but an earlier run's; - prints them instead of the table.",
)
@click.option(
    "--plot", type=click.Path(file_okay=False, path_type=Path), help="Folder for a plot of each suite, PNG and SVG."
)
@click.option(
    "--baseline",
    type=click.Path(exists=True, dir_okay=False),
    help="JSON of an earlier run: say what is slower, with exit status 4.",
)
@click.pass_context
def bench(ctx: click.Context, suite: tuple[str, ...], listing: bool, json_file: str | None, plot: Path | None, baseline: str | None, **options: Any) -> None:  # fmt: skip
    """Measure sampling on GRAPH beside what this machine can do.

    Rates of sampled edges are of sampling alone: graph loaded, kernels compiled, samples left in memory. On a GPU an rmat: graph is made on the GPU.

    \b
    Example:
        csaw bench rmat:scale=20,edge_factor=16,weights=1 --suite walks,neighbors --json today.json
    """
    from csaw.cli import console
    from csaw.engine.bench import baseline as earlier
    from csaw.engine.bench import files, plots, show
    from csaw.engine.bench.run import chosen, open_context, run

    if listing:
        click.echo(show.listing())
        return
    before = earlier.read(baseline) if baseline else None
    if json_file:
        console.check_folder(json_file, "--json")
    if json_file and json_file != "-":
        files.check_rows(Path(json_file))
    if plot:
        plots.check(plot, chosen(suite))
    rows: list[dict[str, Any]] = []
    try:
        for row in run(open_context(**options), chosen(suite), _command(ctx)):
            rows.append(row)
            if json_file != "-":
                click.echo(show.line(*rows[:-3:-1]))
    finally:  # what was measured until an interruption is kept
        if json_file and rows:
            console.print_json(rows) if json_file == "-" else files.write_rows(rows, Path(json_file))
    if plot:
        plots.write(rows, plot)
    if before is not None:
        changes = earlier.compare(before, rows)
        click.echo(earlier.told(before, rows, changes), err=json_file == "-")
        ctx.exit(SLOWER if any(change.slower for change in changes) else 0)


def _command(ctx: click.Context) -> str:
    """What was asked for, without places of this machine."""
    given = [p for p in ctx.command.params if ctx.get_parameter_source(str(p.name)) is ParameterSource.COMMANDLINE]
    words = ["csaw", "bench"]
    for param in given:
        value = ctx.params[str(param.name)]
        if isinstance(param, click.Argument):
            words += map(quote, value)
        elif param.name == "peers":
            words += [f"--peer {name}=PYTHON" for name in value]
        elif param.name not in PLACES:
            words += (
                [param.opts[0]]
                if value is True
                else [f"{param.opts[0]} {quote(str(v))}" for v in (value if param.multiple else [value])]
            )
    return " ".join(words)
