"""``csaw export``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from csaw.cli import console, values
from csaw.cli.console_streams import CLOSED
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from csaw.partition import GraphStore

STDOUT = "-"


@click.command()
@click.argument("store", type=click.Path())
@click.argument("out", type=click.Path())
@click.option(
    "--format",
    "format",
    help="Format: for samples text, csv, npy, parquet, arrow, graphml, pyg or torch; for graphs text, csv, "
    "matrix-market, parquet, arrow, metis, graphml, npz or ids [default: from the name of OUT; text if OUT is "
    "-].",
)
@click.option(
    "--graph",
    type=click.Path(),
    help="Graph store that was sampled, for e_id [default: the path in the sample].",
)
@click.option(
    "--part",
    type=values.Range(),
    help="Export only the instances from FIRST to LAST - 1, such as 0:1000 [default: all].",
)
@click.option(
    "--changed-since",
    type=int,
    metavar="N",
    help="Export only the instances that may differ from those of a sample of version N of the graph store.",
)
@values.algo_file
@values.directed
@values.version
@click.option(
    "--threads", type=int, help="Number of threads; the output does not depend on it [default: one per processor]."
)
@click.option("--overwrite", is_flag=True, help="Replace OUT, a file or a folder of Parquet files.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@console.quiet
def export(
    store: str,
    out: str,
    format: str | None,
    graph: str | None,
    part: tuple[int, int] | None,
    changed_since: int | None,
    algo: str | None,
    directed: bool | None,
    version: int | None,
    threads: int | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Export a sample or a graph to the file OUT, or to standard output if OUT is -.

    The suffix of OUT determines the format; standard output gets text, or the format that --format names. A sample can
    become text (.txt, .txt.gz), CSV (.csv, .csv.gz), NumPy (.npy), Parquet (.parquet), Arrow (.arrow, .feather),
    GraphML (.graphml, .graphml.gz), arrays for PyTorch Geometric (.npz), or the same as PyTorch tensors (.pt). Text has
    one walk per line, for gensim's corpus_file; for other samples it has one edge per line, "instance src dst depth",
    followed by its time, if any. Text and CSV write times as in the graph's input: numbers, decimals or dates.

    If a sample as Parquet exceeds about 128 MiB, OUT is a folder, which several threads write: OUT/part-00000.parquet
    and so on, in the order of instances. On standard output it is one file. pandas, polars, Dask, DuckDB
    (OUT/*.parquet) and pyarrow read the folder as one table.

    STORE may also be a file of edges or the name of a dataset. A graph can become text (.txt, .txt.gz), CSV (.csv,
    .csv.gz), Matrix Market (.mtx, .mtx.gz), Parquet (.parquet), Arrow (.arrow, .feather), METIS (.metis, .graph),
    GraphML (.graphml, .graphml.gz) or a matrix for scipy.sparse (.npz). Vertices keep the ids of your file, except that
    Matrix Market, METIS and .npz number them; --format ids writes one line per vertex with its id.

    A .npz or .pt file of a sample is one batch, as from PyG's NeighborLoader(disjoint=True). The arrays edge_index
    (from each neighbor to the vertex that it was drawn for), seed and walk contain numbers of the batch's nodes. The
    array n_id has the ids of your file. If these are words, n_id has numbers, and the words are in original_id in .pt
    files, and in original_id_text and original_id_offsets in .npz. The file also has batch, batch_size (seeds come
    first), input_id, num_sampled_nodes, num_sampled_edges, num_nodes and, if csaw finds the graph, e_id: the position
    of each edge in the graph store.

    \b
    Example:
        csaw export walks.zarr corpus.txt
        csaw export graph.zarr graph.mtx
        csaw export walks.zarr - --format csv | head
    """
    from csaw.cli.reports.closing_lines import of_export
    from csaw.engine.stores.export import export as write
    from csaw.partition.arrays.replace import check_export

    piped = out == STDOUT
    if piped and "stdout" in CLOSED:
        raise OptionError("OUT: standard output (-) is closed; give a file")
    if not piped:
        check_export(Path(out), overwrite)
    with console.progress("exporting", enabled=not (as_json or (piped and sys.stdout.isatty()))) as update:
        source, total, unit = _opened(store, part, directed, version)
        update.begin("exporting", total, unit)
        summary = write(
            source,
            sys.stdout.buffer if piped else out,
            format,
            graph=graph,
            part=part,
            changed_since=changed_since,
            threads=threads,
            overwrite=overwrite,
            update=update,
            algo=algo,
        )
    console.print_json(summary, err=piped) if as_json else console.say(*of_export(summary, out), err=piped)


def _opened(
    store: str, part: tuple[int, int] | None, directed: bool | None, version: int | None
) -> "tuple[str | GraphStore, int, str]":
    """A graph, open, or the path of a sample; how much there is to write, and of what."""
    from csaw.datasets.resolve import is_graph_argument, resolve
    from csaw.engine.samples.check import attributes_of
    from csaw.partition import open_graph
    from csaw.partition.arrays.nodes import require_store

    if is_graph_argument(store):
        graph = open_graph(resolve(store, directed=directed, version=version))
        return graph, graph.edges, "edges"
    if directed is not None:
        raise click.UsageError("--directed and --undirected are for files of edges; leave them out for a sample")
    if version is not None:
        raise click.UsageError("--version is for graph stores; leave it out for a sample")
    require_store(Path(store))
    total = attributes_of(Path(store))["instances"] if part is None else part[1] - part[0]
    return store, total, "instances"
