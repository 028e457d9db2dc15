"""``csaw partition``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from csaw.cli import console, values
from csaw.cli.grouped import in_groups
from csaw.partition.base.plain_data import OptionValue, Record

if TYPE_CHECKING:
    from csaw.partition import GraphStore, IngestOptions
    from csaw.partition.ingestion.keyed_tables import KeyedTables
    from csaw.partition.ingestion.typed_rows import RelationFiles

GROUPS = {
    "Reading the input": (
        "directed",
        "reverse",
        "format",
        "id_type",
        "target_offset",
        "reverse_relations",
        "source_column",
        "target_column",
        "weight_column",
        "edge_columns",
        "time_column",
        "time_format",
        "time_decimals",
        "duplicates",
        "self_loops",
        "on_error",
        "skip_lines",
        "where",
    ),
    "Partitions and clusters": (
        "partitions",
        "partition_bytes",
        "balance",
        "partitioner",
        "partitioner_seed",
        "num_clusters",
        "clustering",
        "clustering_seed",
    ),
    "Where and how it runs": ("memory", "threads", "cluster"),
}


@click.command(cls=in_groups(GROUPS, "Output"))
@click.argument("inputs", metavar="INPUT...", nargs=-1, type=values.Place())
@click.argument("out", type=values.Place())
@click.option(
    "--directed/--undirected",
    default=None,
    help="Whether a row is an edge in one direction or in both [default: from the file's header, otherwise directed].",
)
@click.option(
    "--reverse",
    is_flag=True,
    help="Store each edge at the vertex that it leads to, so that samples go from a vertex to its in-neighbors.",
)
@click.option(
    "--format",
    type=click.Choice(["auto", "edges", "matrix-market", "metis", "adjacency"]),
    default="auto",
    help="Format of text files: rows of edges, Matrix Market, a METIS graph, or adjacency lists (lines with a "
    "vertex and its neighbors); auto looks at the first lines, and stops with an error if they are "
    "ambiguous.",
)
@click.option(
    "--id-type",
    type=click.Choice(["auto", "int", "string"]),
    default="auto",
    help="Type of vertex ids; auto looks at the first rows.",
)
@click.option(
    "--target-offset",
    type=int,
    metavar="N",
    help="Add N to the id of each target, to separate the two sides of a bipartite graph if both are numbered "
    "from 1 [default: from the header of a KONECT file, otherwise 0].",
)
@click.option(
    "--reverse-relations",
    is_flag=True,
    help="For a graph with several types: add a relation rev_NAME for each relation NAME, with its edges from target "
    "to source.",
)
@click.option(
    "--source-column",
    metavar="COLUMN",
    help="Column of the sources: a name, or a number from 1 [default: from the header, otherwise 1].",
)
@click.option(
    "--target-column",
    metavar="COLUMN",
    help="Column of the targets: a name, or a number from 1 [default: from the header, otherwise 2].",
)
@click.option(
    "--weight-column",
    metavar="COLUMN",
    default="auto",
    help="Column of the weights: a name, a number from 1, none, or auto; auto is the column called weight or, "
    "without a header, the third of three.",
)
@click.option(
    "--edge-column",
    "edge_columns",
    metavar="NAME[:DTYPE[:UNITS]][=COLUMN]",
    multiple=True,
    help="Store another column of numbers, which hooks read as e.NAME: time:int64 is the column called time "
    "in the header, time:int64=3 the third column; the default type is float64. Repeated edges get the "
    "numbers of the first. The option may be repeated.",
)
@click.option(
    "--time-column",
    metavar="COLUMN",
    help="Column of the times of edges: a name, or a number from 1. They become the edge column time (int64), "
    "which --algo temporal follows; edges that repeat at other times are different edges.",
)
@click.option(
    "--time-format",
    type=click.Choice(["numbers", "iso", "unix", "unix-ms", "unix-us", "unix-ns"]),
    default="numbers",
    help="Format of times: numbers, ISO 8601 dates such as 2026-11-25T20:15:00Z (iso), seconds since "
    "1970-01-01 (unix), or milli-, micro- or nanoseconds (unix-ms, unix-us, unix-ns); except for "
    "numbers, csaw shows and accepts times as dates.",
)
@click.option(
    "--time-decimals",
    type=int,
    default=0,
    help="Number of decimals to keep of a time, or of the seconds of a date, from 0 to 9: with 3, integers "
    "count thousandths.",
)
@click.option(
    "--duplicates",
    type=click.Choice(["keep", "first", "sum", "error"]),
    help="What to do with repeated edges: keep all, keep the first, add the weights (an edge without a weight "
    "counts 1), or stop with an error [default: first; with --time-column keep].",
)
@click.option(
    "--self-loops",
    type=click.Choice(["keep", "drop"]),
    default="keep",
    help="Keep or drop edges from a vertex to itself.",
)
@click.option(
    "--on-error",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    help="What to do with a malformed row: stop, or skip and count it. Rows must have as many columns as most "
    "of the first rows.",
)
@click.option("--partitions", type=int, help="Number of partitions [default: from --partition-size].")
@click.option(
    "--partition-size",
    "partition_bytes",
    callback=values.size,
    help="Largest size of a partition, such as 256MiB [default: an eighth of --memory, at most 256MiB].",
    metavar="SIZE",
)
@click.option(
    "--balance",
    type=click.Choice(["edges", "vertices"]),
    default="edges",
    help="Balance partitions by edges or by vertices.",
)
@click.option(
    "--partitioner",
    type=click.Choice(["range", "random", "biased-random", "metis", "lp", "degree"]),
    default="range",
    help="How to assign vertices to partitions: by ranges of their ids (range), at random (random), at random "
    "near neighbors (biased-random), with few edges between partitions by METIS (metis; "
    "pip install pymetis) or label propagation (lp), or by degree (degree), which makes triangles, components, "
    "searches and PageRank of csaw evaluate faster on a GPU. All except range need memory for the whole "
    "graph once.",
)
@click.option(
    "--partitioner-seed", type=int, default=0, help="Seed of the partitioners random, biased-random and metis."
)
@click.option(
    "--compression",
    type=click.Choice(["none", "lz4"]),
    default="none",
    help="Compression of the store: none loads faster, lz4 is smaller.",
)
@click.option(
    "--memory",
    callback=values.size,
    help="Memory for reading, such as 4GiB, at least 16MiB; csaw needs another 300 MiB and 30 bytes a vertex "
    "[default: a quarter of the machine's].",
)
@click.option(
    "--num-clusters",
    type=int,
    metavar="N",
    help="Sort the vertices into N clusters, for cluster-gcn; this needs memory for the whole graph once "
    "[default: no clusters].",
)
@click.option(
    "--clustering",
    type=click.Choice(["metis", "lp", "random"]),
    default="metis",
    help="How to make clusters: by METIS, with few edges between them (pip install pymetis), by label "
    "propagation (lp), or at random.",
)
@click.option("--clustering-seed", type=int, default=0, help="Seed of the clusters of metis and random.")
@click.option(
    "--edge-ids",
    is_flag=True,
    help="Store which row of the input each edge comes from, counting edges from 0; "
    "csaw.partition.read_edge_ids(store, e_id) reads it for the edges of mini-batches. Takes 8 bytes an "
    "edge.",
)
@click.option("--threads", type=int, help="Number of threads [default: one per processor].")
@click.option(
    "--skip-lines",
    type=int,
    default=0,
    help="Number of lines to skip at the beginning of text files, such as a line 'vertices edges'.",
)
@click.option(
    "--where",
    metavar="CONDITION",
    multiple=True,
    help="Only read rows of Parquet or Arrow files that fulfill a condition on a column, also one of folders such as "
    "year=2023: \"year >= 2023\", \"kind == 'follow'\" or \"kind in ['a', 'b']\", with ==, !=, <, <=, >, >= or in. "
    "The option may be repeated; rows must fulfill all conditions.",
)
@click.option(
    "--cluster",
    metavar="CLUSTER",
    help="Read, sort and write on the workers of a Dask cluster, with the same bytes as on one machine: a "
    "scheduler's address or file, local:N for N processes here, slurm:N or lsf:N for N jobs, or mpi "
    "inside an MPI job. INPUT and OUT need the same paths on all workers; --memory and --threads apply "
    "to each task.",
)
@click.option("--progress/--no-progress", default=True, help="Show progress on standard error.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only print how INPUT would be read and its first five edges as OUT would have them.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is a graph store.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@console.tones("all counts")
def partition(
    inputs: tuple[str, ...],
    out: str,
    compression: str,
    cluster: str | None,
    as_json: bool,
    progress: bool,
    dry_run: bool,
    reverse_relations: bool,
    **options: OptionValue,
) -> None:
    """Make a graph store from files of edges.

    INPUT is an edge list, Matrix Market, CSV, Parquet or Arrow file, plain or compressed; - is stdin. Several files, or
    the files of a folder in order of their names, make one graph; they must be of one kind. OUT becomes a folder. Names
    in a header, such as source and target, src and dst, from and to, or u and v, decide which columns are the ends of
    edges.

    A graph with several types of vertices has a file for each relation: SOURCE-NAME-TARGET=FILE, such as
    author-writes-paper=writes.csv. Its vertices are called author:17, paper:3 and so on. A JSON file that describes
    tables with primary and foreign keys makes a vertex of each row, and a relation of each foreign key.

    \b
    Example:
        csaw partition web-Google.txt.gz web.zarr --partitions 8
        csaw partition part-*.csv.gz web.zarr
        csaw partition part-*.csv.gz web.zarr --cluster local:4
        csaw partition author-writes-paper=writes.csv paper-cites-paper=cites.csv papers.zarr
        csaw partition shop.json shop.zarr --reverse-relations
    """
    from csaw.cli.reports.closing_lines import report_graph, report_preview

    options["compression"] = None if compression == "none" else compression
    with console.progress("preparing", enabled=progress) as shown:
        from csaw.partition.base.stages import READING

        if dry_run:
            found = _preview(*_checked(inputs, reverse_relations, options))
        else:
            given, chosen = _checked(inputs, reverse_relations, options)
            files = given if isinstance(given, list) else given.paths
            shown.begin(READING, sum(Path(file).stat().st_size for file in files if Path(file).is_file()), "bytes")
            store = _made(given, out, chosen, cluster, shown)
    if dry_run:
        report_preview(found, as_json)
        return
    share = store.report["reciprocity"]
    for warning in store.report["warnings"]:
        console.warn(warning if len(files) > 1 else f"{files[0]}: {warning}")
    if share is not None and share > 0.99 and store.types is None:
        console.warn(f"{files[0]} looks symmetric; if its edges have no direction, pass --undirected")
    more = {"directed": store.directed, "partitions": len(store.partitions), "fingerprint": store.fingerprint}
    report = {"out": out} | store.report | more | {"reciprocity": None if share is None else round(share, 4)}
    console.print_json(report) if as_json else report_graph(store, {**report, "warnings": []})  # they are told above


def _preview(given: "list[str] | RelationFiles | KeyedTables", options: "IngestOptions") -> Record:
    """How input would be read, and its first edges."""
    from csaw.partition.ingestion.keyed_tables import KeyedTables, tables_in_memory
    from csaw.partition.ingestion.making import preview, preview_in_memory

    if isinstance(given, KeyedTables):
        return preview_in_memory(tables_in_memory(given, options))
    return preview(given, options)


def _checked(
    inputs: tuple[str, ...], reverse_relations: bool, options: dict[str, OptionValue]
) -> "tuple[list[str] | RelationFiles | KeyedTables, IngestOptions]":
    """The files that are meant, and how they are read."""
    from csaw.datasets.resolve import refuse_name
    from csaw.partition import IngestOptions
    from csaw.partition.errors import OptionError
    from csaw.partition.ingestion.keyed_tables import KeyedTables
    from csaw.partition.ingestion.text.readers import files_of
    from csaw.partition.ingestion.typed_rows import RelationFiles, relations_given

    if not inputs:
        raise click.UsageError("expected INPUT and OUT, such as csaw partition edges.txt graph.zarr, found only one.")
    chosen = IngestOptions(**options)
    if tables := KeyedTables.of(inputs, reverse_relations):
        return tables, chosen
    if given := relations_given(inputs):
        return RelationFiles.of(given, reverse_relations), chosen
    if reverse_relations:
        raise OptionError(
            "--reverse-relations: expected files as SOURCE-NAME-TARGET=FILE, or a JSON file of tables, found none"
        )
    for name in inputs:
        refuse_name(name)
    return files_of(list(inputs)), chosen


def _made(
    files: "list[str] | RelationFiles | KeyedTables",
    out: str,
    options: "IngestOptions",
    cluster: str | None,
    update: Callable[[int, int], None],
) -> "GraphStore":
    """The store, made here or by the workers of a cluster."""
    if cluster is None:
        from csaw.partition import ingest
        from csaw.partition.ingestion.keyed_tables import KeyedTables
        from csaw.partition.ingestion.making import store_of_tables

        if isinstance(files, KeyedTables):
            return store_of_tables(files, out, options)
        return ingest(files, out, options, update)
    from csaw.partition.errors import OptionError

    if not isinstance(files, list):
        raise OptionError("--cluster: a graph of several types is made on one machine; leave it out")
    from csaw.engine.cluster.clusters import Cluster, begin
    from csaw.engine.cluster.ingest import ingest_on_cluster

    begin(Cluster.of(cluster))
    return ingest_on_cluster(files, out, options, cluster=cluster, progress=update)
