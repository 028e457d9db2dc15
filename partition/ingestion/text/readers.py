"""The registry of input formats: a class of rows for each, by the suffixes of its files; any other file is text.

A class has ``can_be_cut``, whether processes may read spans of a file, and ``again``, the span that is read a second
time, for an error that names its line.
"""

from collections.abc import Callable
from pathlib import PurePath

from csaw.partition.base.parallel import Crew
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.pieces import FileRows
from csaw.partition.ingestion.text.records import WHOLE, Span
from csaw.partition.ingestion.text.rows import TextRows
from csaw.partition.ingestion.text.tables import TableRows

Progress = Callable[[int, int], None]
"""Is called with the bytes that are read and their total."""
READERS = {suffix: reader for reader in (TableRows,) for suffix in reader.SUFFIXES}


def reader_of(path: str) -> type[TableRows] | type[TextRows]:
    """The class that reads a file, by its suffix."""
    return READERS.get(PurePath(path).suffix, TextRows)


def opened(
    path: str,
    options: IngestOptions,
    crew: Crew,
    progress: Progress | None = None,
    span: Span = WHOLE,
    files: int = 1,
) -> FileRows:
    """Open a file of edges, of ``files`` that are read side by side. Errors: those of its reader."""
    if (reader := reader_of(path)) is TextRows:
        return TextRows(path, options, crew, progress, span, files)
    return reader(path, options, crew, progress, span)
