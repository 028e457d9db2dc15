"""What ``csaw partition`` would read: how, and the first edges as a store would have them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np

from csaw.partition.arrays.spool import Budget
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import FormatError
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.job import Job, budget_of, crew_of
from csaw.partition.ingestion.pipeline import name_of, reader
from csaw.partition.ingestion.text.pieces import Ends, FileRows, Piece
from csaw.partition.ingestion.text.several import Several, files_of
from csaw.partition.ingestion.text.word_cells import Cells

EDGES = 5


def preview(path: str | Path | Sequence[str | Path], options: IngestOptions) -> Record:
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
    files = files_of(path)
    budget: Budget = budget_of(options, Path(os.curdir))
    with crew_of(options) as crew, closing(reader(files, options, crew, budget, None)) as rows:
        job = Job.of(name_of(files), rows, options, budget.folder)
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


def _record(said: list[str], columns: list[str], edges: list[list], directed: bool, warnings: list[str]) -> Record:
    return {
        "read_as": said,
        "columns": ["source", "target", *columns],
        "edges": edges,
        "directed": directed,
        "warnings": list(warnings),
    }


def _edges(rows: FileRows | Several, job: Job) -> Iterator[list]:
    """The edges of files one after the other, reversed or without loops if the options say so."""
    files = [rows.opened(file) for file in rows.files] if isinstance(rows, Several) else [rows]
    for file in files:
        with closing(file):
            for piece in file.read_pieces():
                yield from _of_piece(piece, job)


def _of_piece(piece: Piece, job: Job) -> Iterator[list]:
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
