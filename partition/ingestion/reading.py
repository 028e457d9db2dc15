"""The first pass of an ingest: all rows into a spool, with what the numbering of their ids needs."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from csaw.partition.arrays.spool import Budget, Spool
from csaw.partition.base.parallel import Crew
from csaw.partition.ingestion.ids import Numbering, number
from csaw.partition.ingestion.text.rows import WORD_PIECE_BYTES
from csaw.partition.ingestion.word_numbers import StringNumbering

SAMPLE = 257  # a source among so many says how large the rows will be


class Reading:
    """Rows of an input: ``raw`` has their ends as ids, or provisional numbers of strings, and their weights.

    After ``read``: ``low`` and ``high``, the least and the largest id; ``big``, whether some are 2^63 or more; ``samples`` of the ends that own entries.
    """

    def __init__(self, crew: Crew, budget: Budget, *, strings: bool, undirected: bool, weighted: bool, reverse: bool) -> None:  # fmt: skip
        self.crew, self.raw = crew, Spool(budget, crew.backlog())
        self.undirected, self.weighted, self.reverse = undirected, weighted, reverse
        self.strings = StringNumbering() if strings else None
        self.low, self.high, self.big = 2**64, -(2**63), False
        self.samples: list[np.ndarray] = []

    def read(self, rows: Any) -> None:
        """Read all ``rows``: (src, dst, weights or None, and perhaps bounds) in pieces."""
        for src, dst, weights, bounds in self._columns(rows):
            self.big = self.big or src.dtype == np.uint64
            self.low, self.high = min(self.low, bounds[0]), max(self.high, bounds[1])
            self.samples += [ids[::SAMPLE].copy() for ids in ((src, dst) if self.undirected else (src,))]
            self.raw.append(src, dst, *([weights] if self.weighted else []))
        self.raw.settle()

    def _columns(self, rows: Any) -> Iterator[tuple[Any, ...]]:
        if self.strings is not None:
            rows = self.crew.in_order(self.strings.numbered, rows, WORD_PIECE_BYTES)
        for src, dst, weights, *bounds in rows:
            if src.size and not (bounds and bounds[0]):
                bounds = [(min(int(src.min()), int(dst.min())), max(int(src.max()), int(dst.max())))]
            if src.size:
                yield (dst, src, weights, bounds[0]) if self.reverse else (src, dst, weights, bounds[0])

    def numbering(self, name: str) -> Numbering | StringNumbering:
        """The numbering of all ids, of which there are some. FormatError, with the input's ``name``, for ids that no 64 bits hold together."""
        if self.strings is not None:
            self.strings.finish()
            return self.strings
        return number(self.raw, [self.low, self.high], self.big, name, self.crew)

    def sample(self, numbering: Any) -> np.ndarray:
        """Dense ids of some of the ends that own entries."""
        return np.concatenate([np.empty(0, numbering.dtype), *(numbering.dense(ids) for ids in self.samples)])
