"""``csaw partition``."""

from pathlib import Path
from typing import Any

import click

from csaw.cli import values


@click.command()
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=values.Place())
@click.argument("out", type=values.Place())
@click.option(
    "--directed/--undirected", default=None, help="What a row means [default: by the file's header, else directed]."
)
@click.option("--ids", type=click.Choice(["auto", "int", "string"]), default="auto", help="What vertex ids are.")
@click.option(
    "--source-column", metavar="COLUMN", help="Name or number from 1 [default: by the header's names, else 1]."
)
@click.option(
    "--target-column", metavar="COLUMN", help="Name or number from 1 [default: by the header's names, else 2]."
)
@click.option(
    "--weight-column",
    metavar="COLUMN",
    default="auto",
    help="Name or number from 1, none, or auto: called weight; without a header, the third of three.",
)
@click.option(
    "--duplicates",
    type=click.Choice(["keep", "first", "sum", "error"]),
    default="first",
    help="What a repeated edge is.",
)
@click.option("--self-loops", type=click.Choice(["keep", "drop"]), default="keep", help="What to do with self loops.")
@click.option("--on-error", type=click.Choice(["stop", "skip"]), default="stop", help="What a bad row does.")
@click.option("--partitions", type=int, help="Number of partitions [default: by --partition-size].")
@click.option("--partition-size", "partition_bytes", callback=values.size, help="Bytes of a partition, such as 256MiB.")
@click.option(
    "--balance",
    type=click.Choice(["edges", "vertices"]),
    default="edges",
    help="What partitions have equal numbers of.",
)
@click.option(
    "--compression",
    type=click.Choice(["none", "lz4"]),
    default="none",
    help="none loads twice as fast, lz4 is smaller.",
)
@click.option(
    "--memory",
    callback=values.size,
    help="Budget such as 4GiB, from 16MiB; csaw itself takes 300 MiB and 30 bytes a vertex on top [default: a quarter of the machine].",
)
@click.option("--threads", type=int, help="Threads [default: all processors].")
@click.option("--skip-lines", type=int, default=0, help="Lines of text to pass over first, such as 'vertices edges'.")
@click.option("--progress/--no-progress", default=True, help="Progress on standard error.")
@click.option("--overwrite", is_flag=True, help="Replace OUT, if it is a graph store.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def partition(
    inputs: tuple[str, ...], out: str, compression: str, as_json: bool, progress: bool, **options: Any
) -> None:
    """Make a graph store from files of edges.

    INPUT is an edge list, Matrix Market, CSV, Parquet or Arrow file, plain or compressed; - is stdin. Several of them, or a folder's, in
    order of their names, are one graph; they must be of one kind. OUT becomes a folder. Names in a header decide which columns are the
    ends, such as source and target, src and dst, from and to, u and v.

    \b
    Example:
        csaw partition web-Google.txt.gz web.zarr --partitions 8
        csaw partition part-*.csv.gz web.zarr
    """
    from csaw.cli import console
    from csaw.partition import IngestOptions, ingest
    from csaw.partition.several import files_of

    chosen = IngestOptions(compression=None if compression == "none" else compression, **options)
    files = files_of(list(inputs))
    total = sum(Path(file).stat().st_size for file in files if Path(file).is_file())
    with console.progress("reading", total, "bytes", enabled=progress) as update:
        store = ingest(files, out, chosen, lambda done, total: update(done))
    share = store.report["reciprocity"]
    for warning in store.report["warnings"]:
        click.echo(f"csaw: {warning if len(files) > 1 else f'{files[0]}: {warning}'}", err=True)
    if share is not None and share > 0.99:
        click.echo(f"csaw: {files[0]} looks symmetric; if its edges have no direction, pass --undirected", err=True)
    more = {"directed": store.directed, "partitions": len(store.partitions), "fingerprint": store.fingerprint}
    report = store.report | more | {"reciprocity": None if share is None else round(share, 4)}
    console.print_json(report) if as_json else console.print_table([("store", out), *report.items()])
