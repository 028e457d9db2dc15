"""An input cut into units, which tasks of an ingest read."""

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.readers import reader_of
from csaw.partition.ingestion.text.records import Span

UNIT_BYTES = 64 << 20  # of text in a task, at least
MOST_RUNS = 256  # about; a task has a file of each open


class Unit(NamedTuple):
    """A span of file number ``file`` of the input, which is read at once; ``last``: whether the file ends with it."""

    file: int
    path: str
    span: Span
    last: bool

    @property
    def bytes(self) -> int:
        """Bytes of the file that it covers."""
        return (self.span.end or 0) - self.span.begin


def units_of(files: Sequence[str], options: IngestOptions) -> list[Unit]:
    """The input in units, in order: large files of plain text and of Parquet in spans, others whole."""
    most = max(UNIT_BYTES, sum(map(bytes_of, files)) // MOST_RUNS)
    units = []
    for place, file in enumerate(files):
        size = bytes_of(file)
        pieces = -(-size // most) if size > most and reader_of(file).can_be_cut(file, options) else 1
        ends = [size * k // pieces for k in range(pieces + 1)]
        units += [Unit(place, file, Span(low, high), high == size) for low, high in pairwise(ends)]
    return units


def tasks_of(units: Sequence[Unit]) -> list[list[Unit]]:
    """Units that one task reads: one that begins within a file is alone, since lines before it may have to be counted;
    whole files come together.
    """
    most = max(UNIT_BYTES, sum(unit.bytes for unit in units) // MOST_RUNS)
    tasks: list[list[Unit]] = []
    room = 0
    for unit in units:
        size = unit.bytes
        whole = unit.last and unit.span.begin == 0
        if not whole or size > room or not tasks:
            tasks.append([])
            room = most if whole else 0
        tasks[-1].append(unit)
        room = max(0, room - size) if whole else 0
    return tasks


def bytes_of(file: str) -> int:
    """The size of a file; 0 of anything else."""
    return os.stat(file).st_size if os.path.isfile(file) else 0
