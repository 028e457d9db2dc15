"""``csaw datasets``."""

import click


@click.group()
def datasets() -> None:
    """List, generate or fetch graphs.

    \b
    Example:
        csaw datasets generate rmat:scale=16,edge_factor=16,seed=1 rmat16.zarr
    """


@datasets.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """The SNAP graphs of the C-SAW, NextDoor and Gunrock papers.

    \b
    Example:
        csaw datasets list
    """
    from dataclasses import asdict

    from csaw.cli.console import print_json
    from csaw.datasets.catalog import ENTRIES

    if as_json:
        print_json([asdict(e) | {"url": e.url} for e in ENTRIES])
        return
    for e in ENTRIES:
        kind = "directed" if e.directed else "undirected"
        click.echo(f"{e.name:<18} {e.vertices:>12,} vertices {e.edges:>14,} edges  {kind:<10}  {e.papers}")
    click.echo("karate, rmat:scale=S,edge_factor=F,seed=N are generated here")


@datasets.command()
@click.argument("spec")
@click.argument("out", type=click.Path())
@click.option("--partitions", type=int, help="Number of partitions.")
@click.option("--overwrite", is_flag=True, help="Replace OUT.")
def generate(spec: str, out: str, partitions: int | None, overwrite: bool) -> None:
    """Make karate or rmat:scale=S,edge_factor=F,seed=N,a=..,weights=1 as a store (OUT.zarr) or as text (any other name).

    \b
    Example:
        csaw datasets generate rmat:scale=10,weights=1 small.txt.gz
    """
    from csaw.datasets.generate import generate as make
    from csaw.datasets.generate import write_text

    if out.endswith(".zarr"):
        store = make(spec, out, partitions=partitions, overwrite=overwrite)
        click.echo(f"{out}: {store.vertices:,} vertices, {store.edges:,} stored edges")
    else:
        click.echo(f"{out}: {write_text(spec, out):,} rows")


@datasets.command()
@click.argument("name")
@click.argument("folder", type=click.Path(file_okay=False, exists=True), default=".")
def fetch(name: str, folder: str) -> None:
    """Download dataset NAME into FOLDER; an interrupted download goes on where it stopped.

    \b
    Example:
        csaw datasets fetch web-Google .
    """
    from csaw.cli.console import progress
    from csaw.datasets.catalog import ENTRIES, find
    from csaw.datasets.download import fetch as download
    from csaw.partition.errors import UnknownNameError

    entry = find(name)
    if entry is None:
        raise UnknownNameError(f"no dataset called {name!r}; there are {', '.join(e.name for e in ENTRIES)}")
    with progress("fetching", 0, "bytes") as update:
        click.echo(download(entry, folder, lambda done, total: update(done)))
