"""``csaw datasets``."""

from collections.abc import Callable
from typing import Any

import click

from csaw.cli import complete, console, values
from csaw.datasets.spec import EXAMPLES, parameters


@click.group()
def datasets() -> None:
    """List, fetch or generate graphs.

    \b
    Example:
        csaw datasets generate rmat:scale=16,edge_factor=16,seed=1 rmat16.zarr
    """


@datasets.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_(as_json: bool) -> None:
    """List the graphs that csaw can fetch from the SNAP and SuiteSparse collections.

    The column download has the size of the file, if it is known; the last column names the papers that sample the
    graph. A temporal network counts an edge once for each time. Its edges have times if you pass its name as GRAPH.

    \b
    Example:
        csaw datasets list
    """
    from csaw.cli.reports.sections import print_table
    from csaw.datasets.catalog import BY_HAND, ENTRIES, listed
    from csaw.partition.base.quoting import format_size

    if as_json:
        console.print_json(listed())
        return
    rows = [
        (
            e.name,
            f"{e.vertices:,}",
            f"{e.edges:,}",
            f"times, {e.days:,} days" if e.days else "directed" if e.directed else "undirected",
            format_size(e.nbytes) if e.nbytes else "",
            e.papers,
        )
        for e in ENTRIES
    ]
    by_hand = [(g.name, f"{g.vertices:,}", f"{g.edges:,}", f"by hand, from {g.page}", "", g.papers) for g in BY_HAND]
    heads = ("name", "vertices", "edges", "kind", "download", "sampled in")
    print_table("", heads, rows + by_hand, right=("vertices", "edges", "download"))
    *others, last = EXAMPLES.values()
    click.echo(f"csaw generates {', '.join(others)} and {last}")


def _parameters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the parameters of generated graphs as options, with the kinds that have them in their help."""
    for name, read, switch, kinds, help in reversed(list(parameters())):
        flag = f"--{name.replace('_', '-')}"
        off = "--directed" if name == "undirected" else flag.replace("--", "--no-", 1)
        about = f"{', '.join(kinds)}: {help}" if kinds else help
        kind = read if read in (int, float) else str
        given: dict[str, Any] = {"default": None} if switch else {"type": kind}
        command = click.option(f"{flag}/{off}" if switch else flag, help=about, **given)(command)
    return command


@datasets.command()
@click.argument("spec")
@click.argument("out", type=values.Place())
@_parameters
@click.option("--partitions", type=int, help="Number of partitions in the store.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if this command could have made it.")
@console.quiet
def generate(spec: str, out: str, partitions: int | None, overwrite: bool, **options: object) -> None:
    """Make karate, a random graph, a lattice, or a graph of several types like ogbn-mag.

    SPEC is karate or one of these, whose parameters are options or part of SPEC, as in
    rmat:scale=20,edge_factor=16,seed=1,weights=1:

    \b
      rmat   R-MAT, or Kronecker
      ba     Barabasi-Albert: new vertices prefer those of high degree
      grid   a lattice of two or three dimensions
      rgg    random geometric: points that are near each other are joined
      road   planar, with the degrees and the long diameter of road networks
      sbm    stochastic block model, with its blocks as clusters
      mag    the types and relations of ogbn-mag; parameters only in SPEC, as in mag:scale=0.01,seed=1,reverse=0

    OUT becomes a graph store if its name ends with .zarr, and otherwise SNAP text, compressed by gzip if it ends with
    .gz. Only a graph store can hold mag and clusters.

    \b
    Example:
        csaw datasets generate rmat small.txt.gz --scale 10 --weights
    """
    from csaw.cli.reports.closing_lines import next_is, took
    from csaw.datasets import generate as maker
    from csaw.datasets.spec import with_options

    spec = with_options(spec, options)
    with console.progress("generating") as update:
        update.begin(maker.GENERATING, 0, "edges")
        if out.endswith(".zarr"):
            store = maker.generate(spec, out, partitions=partitions, overwrite=overwrite, progress=update)
            said = f"{store.vertices:,} vertices and {store.edges:,} stored edges"
            following = next_is("sample", out, "walks.zarr")
        else:
            said = f"{maker.write_text(spec, out, overwrite=overwrite, progress=update):,} rows"
            following = next_is("partition", out, "graph.zarr", *["--time-column", "Time"] * maker.is_timed(spec))
    console.say(f"{said} in {out}, {took()}.", following)


@datasets.command()
@click.argument("name", shell_complete=complete.datasets)
@click.argument("folder", type=values.Place(file_okay=False, exists=True), default=".")
@console.quiet
def fetch(name: str, folder: str) -> None:
    """Download dataset NAME into FOLDER.

    To see the names, run csaw datasets list. An interrupted download continues where it stopped. csaw reads the whole
    file, new or already there, compares it with the published counts, and does not keep a file that differs.

    \b
    Example:
        csaw datasets fetch web-Google .
    """
    from csaw.cli.reports.closing_lines import next_is
    from csaw.datasets.catalog import known
    from csaw.datasets.download import fetch as download

    entry = known(name)
    with console.progress("fetching") as update:
        update.begin("fetching", 0, "bytes")
        path, said = download(entry, folder, update)
    times = ["--time-column", str(entry.time_column)] if entry.time_column else []
    times += [] if entry.time_format == "numbers" else ["--time-format", entry.time_format]
    console.say(f"csaw: {said}", next_is("partition", str(path), f"{entry.name}.zarr", *times), err=True)
    console.say(str(path))
