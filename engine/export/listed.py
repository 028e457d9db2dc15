"""Rows about the vertices of a graph, such as its triangles, in pieces, in order: what lists on disk are made of."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from csaw.engine.export.original_ids import OriginalIds
from csaw.partition import GraphStore
from csaw.partition.base.parallel import Crew

Made = TypeVar("Made")
ROWS = 1 << 18  # of a piece
CELL_BYTES = 48  # of a cell of a piece, as a number and as text, about
WORK = 1 << 28  # bytes that pieces may take together


class Column(NamedTuple):
    """A column: its name, what it says, and whether it holds vertices, by dense ids, or else counts, int64."""

    name: str
    what: str
    is_vertex: bool


class Listed(OriginalIds):
    """Rows of ``columns``, of which those of vertices come first, about a graph.

    ``title``: what the rows are, in words. ``pieces``: arrays, one a column, with what is done once they are written.
    ``threads`` make files' rows of them.
    """

    def __init__(
        self,
        store: GraphStore,
        title: str,
        columns: Sequence[Column],
        pieces: Iterable[tuple[int, Sequence[np.ndarray]]],
        threads: int,
    ) -> None:
        super().__init__(store)
        self.title, self.columns, self.pieces, self.threads = title, columns, pieces, threads
        self.rows = 0
        """Rows that ``map`` has handed on."""

    @property
    def ends(self) -> int:
        """Number of columns that hold vertices."""
        return sum(column.is_vertex for column in self.columns)

    def map(self, work: Callable[[list[np.ndarray]], Made]) -> Iterator[tuple[int, Made]]:
        """Yield what is done at the end of each piece, and its result of ``work``, in order."""

        def made(done: int, arrays: list[np.ndarray]) -> tuple[int, int, Made]:
            return done, arrays[0].size, work(arrays)

        with Crew(self.threads, WORK) as crew:
            for done, rows, found in crew.in_order(made, self._equal(), ROWS * CELL_BYTES * len(self.columns)):
                self.rows += rows
                yield done, found

    def _equal(self) -> Iterator[tuple[int, list[np.ndarray]]]:
        """Yield the rows in pieces of ROWS, whatever those that they come in, so that files do not depend on these."""
        kept: list[Sequence[np.ndarray]] = []
        count = done = 0
        for done, arrays in self.pieces:
            first, rows = 0, arrays[0].size
            while count + rows - first >= ROWS:
                last = first + ROWS - count
                yield done, _joined([*kept, [array[first:last] for array in arrays]])
                kept, count, first = [], 0, last
            if first < rows:
                kept.append([array[first:] for array in arrays])
                count += rows - first
        yield done, _joined(kept) if kept else [np.empty(0, np.int64) for _ in self.columns]

    def originals(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the columns with original ids in place of dense ones; of strings the dense ids."""
        return [
            self.original(array) if column.is_vertex else array
            for column, array in zip(self.columns, arrays, strict=True)
        ]


def _joined(pieces: Sequence[Sequence[np.ndarray]]) -> list[np.ndarray]:
    """Put each column's pieces together."""
    return [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
