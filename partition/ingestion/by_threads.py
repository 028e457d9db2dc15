"""The passes of an ingest by the threads of this process."""

from collections.abc import Iterable

import numpy as np

from csaw.partition.arrays.replace import Draft
from csaw.partition.arrays.spool import Budget, Spool
from csaw.partition.base.parallel import Crew
from csaw.partition.base.stages import EDGES, NUMBERING, stage, tell
from csaw.partition.graph.edge_columns import EDGE_ID, WEIGHT
from csaw.partition.graph.write import StoreWriter
from csaw.partition.ingestion.buckets import Buckets
from csaw.partition.ingestion.ids import Unchanged
from csaw.partition.ingestion.job import AnyNumbering, Job, Layout, Numbered, Tally, memory_of
from csaw.partition.ingestion.reading import Reading
from csaw.partition.ingestion.text.pieces import Piece

PIECE_ROWS = 1 << 20  # dealt at a time: enough of them for each bucket
MOST_PIECES = 1 << 12  # where the buckets begin in each takes 8 KiB


class ByThreads:
    """The passes by the threads of this process, which keeps columns in spools."""

    def __init__(
        self, rows: Iterable[Piece], crew: Crew, budget: Budget, job: Job, out: Draft, *, vertices: int | None = None
    ) -> None:
        self.rows, self.crew, self.budget, self.job, self.vertices = rows, crew, budget, job, vertices
        self.reading, self.dealt = Reading(job, crew, budget), Spool(budget, crew.backlog())

    def read(self) -> Numbered:
        """Read all rows, and number their ids unless these are numbers of ``vertices`` already."""
        self.reading.read(self.rows)
        rows = self.reading.raw.rows
        if self.vertices is not None or not rows:
            given = Unchanged(self.vertices or 0)
            return Numbered(rows, given, self.reading.sample(given))
        with stage(NUMBERING):
            numbering = self.reading.numbering()
        return Numbered(rows, numbering, self.reading.sample(numbering))

    def deal(self, layout: Layout, numbering: AnyNumbering) -> Tally:
        """Deal the edges from one spool to another."""
        self.buckets = Buckets(self.job, layout, numbering, self.crew)
        piece_rows = max(min(PIECE_ROWS, memory_of(self.job.options) // 1024), layout.rows // MOST_PIECES)
        self.buckets.deal(self.reading.raw, self.dealt, piece_rows)
        return self.buckets.tally

    def build(self, cuts: np.ndarray, writer: StoreWriter) -> None:
        """Hand the rows to the writer, whose jobs the same threads do."""
        done, total = 0, int(self.buckets.tally.degrees.sum())
        for rows, facts, ends in self.buckets.rows(cuts, self.dealt):
            weights, numbers = (rows.columns.get(column) for column in (WEIGHT, EDGE_ID))
            further = {column.name: rows.columns[column] for column in self.job.edge_columns}
            writer.extend(rows.indptr, rows.indices, weights, facts, numbers, further)
            if ends:
                writer.end_partition()
            done += int(rows.indptr[-1])
            tell(min(done, total), total, EDGES)

    def close(self) -> None:
        """Let go of the spools."""
        self.reading.raw.close()
        self.dealt.close()
