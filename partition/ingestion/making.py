"""``csaw.partition(...)``: a graph store from files of edges, or from a graph that a program holds."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TypedDict, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from csaw.partition.arrays.spool import Budget
from csaw.partition.base.arguments import flag
from csaw.partition.base.plain_data import Record, Values
from csaw.partition.base.progress import progress_of
from csaw.partition.base.quoting import meant, parse_size
from csaw.partition.base.stages import READING
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.graph.store import GraphStore
from csaw.partition.graph.write import write_graph
from csaw.partition.ingestion.append import Appended, append_edges
from csaw.partition.ingestion.append_options import AppendOptions
from csaw.partition.ingestion.arrow_streams import ArrowStream, read_dates, stream_of
from csaw.partition.ingestion.given_graph import graph_in_memory
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.job import IngestJob, budget_of, crew_of
from csaw.partition.ingestion.keyed_tables import KeyedTables, tables_in_memory
from csaw.partition.ingestion.objects import Foreign
from csaw.partition.ingestion.pipeline import Input, InputFiles, check_out, ingest, name_of
from csaw.partition.ingestion.text.pieces import Ends, FileRows, Piece
from csaw.partition.ingestion.text.readers import Several, files_of
from csaw.partition.ingestion.text.word_cells import Cells
from csaw.partition.ingestion.typed_rows import RelationFiles, TypedRows, relations_of

# What `csaw partition` would read: how, and the first edges as a store would have them.

EDGES = 5


def preview(path: Input, options: IngestOptions) -> Record:
    """How files would be read, and their first edges as they would be stored, without writing anything.

    Args:
        path: as of ``ingest``.
        options: as of ``ingest``.

    Returns:
        ``read_as``: a line for each way in which files are read; ``columns`` of the edges; ``edges``, the first five,
        before repeated ones are merged; ``directed``, and ``warnings`` so far.

    Raises:
        FormatError: a row is no edge; the message has file and line.
    """
    given = InputFiles.of(path, options)
    budget: Budget = budget_of(options, Path(os.curdir))
    with crew_of(options) as crew, closing(given.rows(options, crew, budget)) as rows:
        job = IngestJob.of(name_of(given.files), rows, given.options, budget.folder)
        edges = list(islice(_edges(rows, job), EDGES))
        if not edges:
            raise FormatError(f"{job.name}: no edges found; expected rows 'source target [weight]'")
        said = [rows.read_as] if isinstance(rows.read_as, str) else rows.read_as
        return _record(said, [column.name for column in job.columns], edges, not job.undirected, rows.warnings)


def preview_in_memory(graph: InMemory) -> Record:
    """The same of a graph in memory, whose edges come in the order of the rows."""
    count = min(EDGES, graph.indices.size)
    columns = [WEIGHT] * graph.weighted + list(graph.further_columns)
    owners = np.searchsorted(graph.indptr, np.arange(count), "right") - 1
    ends = (graph.original_ids(each).tolist() for each in (owners, graph.indices[:count].astype(np.int64)))
    beside = (graph.arrays[column.array][:count].tolist() for column in columns)
    edges = [list(edge) for edge in zip(*ends, *beside, strict=True)]
    return _record(graph.report["read_as"], [column.name for column in columns], edges, graph.directed, [])


def _record(
    said: list[str], columns: list[str], edges: list[list[object]], directed: bool, warnings: list[str]
) -> Record:
    return {
        "read_as": said,
        "columns": ["source", "target", *columns],
        "edges": edges,
        "directed": directed,
        "warnings": list(warnings),
    }


def _edges(rows: FileRows | Several | TypedRows, job: IngestJob) -> Iterator[list[object]]:
    """The edges of files one after the other, reversed or without loops if the options say so."""
    if isinstance(rows, TypedRows):
        for piece in rows:
            yield from _of_piece(piece, job)
        return
    files = [rows.opened(file) for file in rows.files] if isinstance(rows, Several) else [rows]
    for file in files:
        with closing(file):
            for piece in file.read_pieces():
                yield from _of_piece(piece, job)


def _of_piece(piece: Piece, job: IngestJob) -> Iterator[list[object]]:
    src, dst = (piece.dst, piece.src) if job.options.reverse else (piece.src, piece.dst)
    for number in range(_count(src)):
        ends = [_id(src, number), _id(dst, number)]
        if job.drops_loops and ends[0] == ends[1]:
            continue
        ones = [1.0] * job.counts_repeats
        yield [*ends, *ones, *(column[number].item() for column in piece.columns)]


def _count(ends: Ends) -> int:
    return len(ends.starts) if isinstance(ends, Cells) else len(ends)


def _id(ends: Ends, number: int) -> int | str:
    if isinstance(ends, np.ndarray):
        return int(ends[number])
    if isinstance(ends, Cells):
        begin = int(ends.starts[number])
        word = ends.text[begin : begin + int(ends.sizes[number])].tobytes()
    else:
        word = ends[number]
    return word.decode("utf-8", "backslashreplace")


# `csaw.partition(...)`.

Size = int | str


class PartitionOptions(TypedDict, total=False):
    """The options of ``csaw partition``, with the same names; :class:`IngestOptions` explains each.

    Sizes are bytes, or text such as ``4GiB``.
    """

    directed: bool | None
    reverse: bool
    format: str
    id_type: str
    source_column: str | int | None
    target_column: str | int | None
    weight_column: str | int
    edge_columns: Sequence[str] | Mapping[str, ArrayLike] | None
    time_column: str | int | None
    time_format: str
    time_decimals: int
    target_offset: int | None
    reverse_relations: bool
    duplicates: str | None
    self_loops: str
    on_error: str
    partitions: int | None
    partition_size: Size | None
    balance: str
    partitioner: str
    partitioner_seed: int
    compression: str | None
    memory: Size | None
    num_clusters: int | None
    clustering: str
    clustering_seed: int
    edge_ids: bool
    threads: int | None
    skip_lines: int
    where: str | Sequence[str]
    overwrite: bool
    weights: ArrayLike | None
    vertex_ids: ArrayLike | None
    time: ArrayLike | str | None


# Of a graph in memory.
GRAPH = (
    "weights",
    "directed",
    "duplicates",
    "self_loops",
    "reverse",
    "vertex_ids",
    "edge_columns",
    "time",
    "source_column",
    "target_column",
)
OF_FILES = {
    "weights": "; name a column with weight_column",
    "time": "; name a column with time_column",
    "vertex_ids": "; a file has ids of its own",
}
"""What stands for options of graphs in memory alone where files are read."""
STORE = ("partitions", "partition_bytes", "balance", "compression", "overwrite")


Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A path, or several."""


def make(
    inputs: Foreign, out: Path, *, progress: bool | Callable[[int, int], None] | None, **given: object
) -> GraphStore:
    """The graph store ``out``; ``csaw.partition`` describes the arguments."""
    options = _as_ingested(given)
    if (tables := _tables_of(inputs, options)) is not None:
        return store_of_tables(tables, out, IngestOptions(**options))
    if (found := _files_of(inputs, options)) is None:
        return written(_in_memory(inputs, options), out, options)
    files = found.paths if isinstance(found, RelationFiles) else [] if isinstance(found, ArrowStream) else found
    total = sum(Path(file).stat().st_size for file in files if Path(file).is_file())
    with _opened_with_dates(found, options), progress_of(progress, READING, total, "bytes") as update:
        return ingest(found, out, IngestOptions(**options), lambda done, total: update(done))


def grow(
    graph: Path, edges: Foreign, *, progress: bool | Callable[[int, int], None] | None, **given: object
) -> Appended:
    """The newest version of the store ``graph`` with these edges; ``csaw.append`` describes the arguments."""
    options = _as_ingested(given)
    if unknown := sorted(given.keys() - AppendOptions.__annotations__.keys()):
        known = ", ".join(AppendOptions.__annotations__)
        raise OptionError(f"{unknown[0]}: it is not an option{meant(unknown[0], known.split(', '))}; expected {known}")
    if isinstance(edges, GraphStore):
        raise OptionError(f"edges: expected files or a graph of another library, found {edges.path}, an open graph")
    found: RelationFiles | list[str]
    if relations := relations_of(edges):
        found = RelationFiles.of(relations)
    elif _are_paths(edges):
        found = files_of([os.fspath(path) for path in ([edges] if isinstance(edges, str | os.PathLike) else edges)])
    else:
        return append_edges(graph, edges, options)
    files = found.paths if isinstance(found, RelationFiles) else found
    total = sum(Path(file).stat().st_size for file in files if Path(file).is_file())
    with progress_of(progress, READING, total, "bytes") as update:
        return append_edges(graph, found, options, lambda done, total: update(done))


def look(inputs: Foreign, given: Values) -> Record:
    """How ``inputs`` would be read, and the first edges; ``csaw.partition.preview`` describes it."""
    options = _as_ingested(given)
    if (tables := _tables_of(inputs, options)) is not None:
        return preview_in_memory(tables_in_memory(tables, IngestOptions(**options)))
    if (found := _files_of(inputs, options)) is None:
        return preview_in_memory(_in_memory(inputs, options))
    with _opened_with_dates(found, options):
        return preview(found, IngestOptions(**options))


def store_of_tables(tables: KeyedTables, out: str | Path, options: IngestOptions) -> GraphStore:
    """The store ``out`` of tables with keys."""
    check_out(out, options)
    return written(tables_in_memory(tables, options), Path(out), asdict(options))


def _tables_of(inputs: Foreign, options: Values) -> KeyedTables | None:
    """The tables with keys that ``inputs`` describes; None if it is anything else. ``options`` become those of an
    ingest.
    """
    if (found := KeyedTables.of(inputs)) is None:
        return None
    reverses = flag("reverse_relations", options.pop("reverse_relations", False))
    _refuse_unknown(options)
    return KeyedTables.of(inputs, reverses) if reverses else found


def _files_of(inputs: Foreign, options: Values) -> list[str] | RelationFiles | ArrowStream | None:
    """The files that are meant, of relations if ``inputs`` maps these to files, or the table that is read like one;
    None where ``inputs`` is another graph of a program. ``options`` become those of an ingest.
    """
    reverses = options.pop("reverse_relations", False)
    relations = relations_of(inputs)
    if not relations and reverses is not False:
        raise OptionError("reverse_relations: expected a dict of relations and files, found another graph")
    if relations:
        _refuse_unknown(options)
        return RelationFiles.of(relations, flag("reverse_relations", reverses))
    if not _are_paths(inputs):
        if (stream := stream_of(inputs, options)) is not None:
            _refuse_unknown(options)
        return stream
    _refuse_unknown(options)
    paths = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    return files_of([os.fspath(path) for path in paths])


@contextmanager
def _opened_with_dates(found: Input, options: Values) -> Iterator[None]:
    """Look for dates in a table, which is closed at the end: until then a database may refuse other queries."""
    if not isinstance(found, ArrowStream):
        yield
        return
    with closing(found):
        read_dates(found, options)
        yield


def _refuse_unknown(options: Values) -> None:
    """OptionError for an option that an ingest of files does not have."""
    if unknown := sorted(options.keys() - IngestOptions.__dataclass_fields__.keys()):
        what = (
            f"is for graphs in memory{OF_FILES[unknown[0]]}"
            if unknown[0] in GRAPH
            else f"is not an option{meant(unknown[0], PartitionOptions.__annotations__)}; expected "
            f"{', '.join(PartitionOptions.__annotations__)}"
        )
        raise OptionError(f"{unknown[0]}: it {what}")


def _as_ingested(given: Values) -> Values:
    """Options by the names and in the types of IngestOptions."""
    options = {"partition_bytes" if name == "partition_size" else name: value for name, value in given.items()}
    for name, said in (("partition_bytes", "partition_size"), ("memory", "memory")):
        if isinstance(options.get(name), str):
            try:
                options[name] = parse_size(options[name])
            except OptionError as error:
                raise OptionError(f"{said}: {error}") from error
    if isinstance(compression := options.get("compression"), str) and compression == "none":
        options["compression"] = None
    return options


def _are_paths(inputs: Foreign) -> TypeGuard[Paths]:
    """Whether ``inputs`` is a path, or a sequence of paths."""
    if isinstance(inputs, str | os.PathLike):
        return True
    return isinstance(inputs, Sequence) and bool(inputs) and all(isinstance(one, str | os.PathLike) for one in inputs)


def _in_memory(data: Foreign, options: Values) -> InMemory:
    """A graph of a program's own."""
    if isinstance(data, GraphStore):
        return _opened(data, options)
    if unknown := sorted(options.keys() - {*GRAPH, *STORE}):
        known = ", ".join([*GRAPH, *STORE]).replace("partition_bytes", "partition_size")
        raise OptionError(
            f"{unknown[0]}: expected an option of graphs in memory, {known}; write the edges to a file for others"
        )
    IngestOptions(**{name: value for name, value in options.items() if name in STORE})  # OptionError for others
    return graph_in_memory(data, **{name: value for name, value in options.items() if name in GRAPH})


def _opened(store: GraphStore, options: Values) -> InMemory:
    """A graph that ``csaw.graph`` has made in memory, with all that it was told of it."""
    if not isinstance(store, InMemory):
        raise OptionError(
            f"inputs: expected files or a graph in memory, found {store.path}, which is already a graph store"
        )
    if told := sorted(options.keys() - set(STORE)):
        raise OptionError(f"{told[0]}: expected none for a graph from csaw.graph; pass it to csaw.graph instead")
    IngestOptions(**options)  # OptionError for others
    return store


def written(held: InMemory, out: Path, options: Values) -> GraphStore:
    """Write a graph in memory as the store ``out``, with these options of ``write_graph``."""
    how = {name: value for name, value in options.items() if name in STORE}
    columns = {column.text: held.arrays[column.array] for column in held.further_columns}
    return write_graph(
        out,
        held.indptr,
        held.indices,
        held.weights,
        directed=held.directed,
        vertex_ids=held.stored_ids(),
        edge_columns=columns,
        report=held.report,
        types=held.types,
        **how,
    )
