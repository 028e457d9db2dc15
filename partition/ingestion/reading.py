"""The first pass of an ingest: all rows into a spool, with what the numbering of their ids needs."""

from collections.abc import Iterable, Iterator

import numpy as np

from csaw.partition.arrays.spool import Budget, Spool
from csaw.partition.base.parallel import Crew
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.ingestion.ids import Numbering, number
from csaw.partition.ingestion.job import AnyNumbering, Job
from csaw.partition.ingestion.text.pieces import Piece
from csaw.partition.ingestion.text.rows import WORD_PIECE_BYTES
from csaw.partition.ingestion.word_numbers import StringNumbering

SAMPLE = 257  # a source among so many says how large the rows will be


class Reading:
    """Rows of an input: ``raw`` has their ends as ids, or provisional numbers of strings, and their columns.

    After ``read``: ``low`` and ``high``, the least and the largest id; ``big``, whether some are 2^63 or more;
    ``samples`` of the ends that own entries.
    """

    def __init__(self, job: Job, crew: Crew, budget: Budget) -> None:
        self.job, self.crew, self.raw = job, crew, Spool(budget, crew.backlog())
        self.words = StringNumbering() if job.strings else None
        self.low, self.high, self.big = 2**64, -(2**63), False
        self.samples: list[np.ndarray] = []

    def read(self, rows: Iterable[Piece]) -> None:
        """Read all ``rows``."""
        for piece in rows if self.words is None else self._numbered(rows, self.words):
            src, dst = (piece.dst, piece.src) if self.job.options.reverse else (piece.src, piece.dst)
            assert isinstance(src, np.ndarray)
            assert isinstance(dst, np.ndarray)
            if not src.size:
                continue
            low, high = piece.bounds or (min(int(src.min()), int(dst.min())), max(int(src.max()), int(dst.max())))
            self.low, self.high = min(self.low, low), max(self.high, high)
            self.big = self.big or src.dtype == np.uint64
            self.samples += [ids[::SAMPLE].copy() for ids in ((src, dst) if self.job.undirected else (src,))]
            ones = [np.ones(src.size, WEIGHT.dtype)] * self.job.counts_repeats
            self.raw.append(src, dst, *ones, *piece.columns)
        self.raw.settle()

    def _numbered(self, rows: Iterable[Piece], words: StringNumbering) -> Iterator[Piece]:
        """The rows with provisional numbers in place of words."""
        return self.crew.in_order(words.numbered, ((piece,) for piece in rows), WORD_PIECE_BYTES)

    def numbering(self) -> Numbering | StringNumbering:
        """The numbering of all ids, of which there are some. FormatError for ids that no 64 bits hold together."""
        if self.words is not None:
            self.words.finish()
            return self.words
        return number(self.raw, (self.low, self.high), self.big, self.job.name, self.crew)

    def sample(self, numbering: AnyNumbering) -> np.ndarray:
        """Dense ids of some of the ends that own entries."""
        return np.concatenate([np.empty(0, numbering.dtype), *(numbering.dense(ids) for ids in self.samples)])
