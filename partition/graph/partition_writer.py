"""Writing one partition of a graph store, rows in order; any process can, into a separate folder."""

from collections.abc import Callable, Iterable, Mapping
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np

from csaw.partition.arrays.arrays import growing_array
from csaw.partition.arrays.nodes import write_group
from csaw.partition.base.parallel import Backlog
from csaw.partition.errors import StoreError
from csaw.partition.graph.edge_columns import TIME_ORDER, EdgeColumn, time_of


class Facts(NamedTuple):
    """Facts of some rows: the entries of the largest, whether any entry is there twice, and the least weight, the
    least above 0 and the largest.
    """

    largest: int
    repeats: bool
    lightest: float = inf
    least_above_0: float = inf
    heaviest: float = -inf

    def and_of(self, other: "Facts") -> "Facts":
        """The facts of both rows."""
        return Facts(
            max(self.largest, other.largest),
            self.repeats or other.repeats,
            min(self.lightest, other.lightest),
            min(self.least_above_0, other.least_above_0),
            max(self.heaviest, other.heaviest),
        )


NO_ROWS = Facts(0, False)


def weights_between(weights: np.ndarray | None) -> tuple[float, float, float]:
    """The least weight, the least above 0, and the largest; infinities where there is none."""
    if weights is None:
        return inf, inf, -inf
    lightest = float(weights.min(initial=inf))
    above_0 = lightest if lightest > 0 else float(weights.min(initial=inf, where=weights > 0))
    return lightest, above_0, float(weights.max(initial=-inf))


def facts_of(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> Facts:
    """Find the facts of some rows by a look at all of them."""
    same = indices[1:] == indices[:-1]
    inner = indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < indices.size)]
    same[inner - 1] = False
    return Facts(int(np.diff(indptr).max(initial=0)), bool(same.any()), *weights_between(weights))


class PartitionWriter:
    """Writes a partition to ``folder`` by ``jobs``: ``extend`` for rows in order, then ``end``.

    ``arrays``: those that it has, by name. ``store``: the path that errors name. ``columns``: the edge columns of the
    store; where one is the time, the order of rows by it is made here. ``sync`` is told of each file that is complete.
    """

    def __init__(
        self,
        folder: Path,
        store: Path,
        *,
        id_dtype: np.dtype,
        columns: Iterable[EdgeColumn],
        compression: str | None,
        jobs: Backlog,
        sync: Callable[[Path], object] | None = None,
    ) -> None:
        self.store = store
        with full_disk_named(store):
            write_group(folder, {})
        dtypes = {"indptr": np.dtype(np.int64), "indices": id_dtype}
        columns = tuple(columns)
        self.time = time_of(columns)
        ordered = () if self.time is None else (TIME_ORDER,)
        dtypes |= {column.array: column.dtype for column in (*columns, *ordered)}
        self.arrays = {
            name: growing_array(folder / name, dtype, compression, jobs, sync) for name, dtype in dtypes.items()
        }
        self.arrays["indptr"].extend(np.zeros(1, np.int64))

    @property
    def vertices(self) -> int:
        """Number of rows so far."""
        return self.arrays["indptr"].size - 1

    @property
    def edges(self) -> int:
        """Number of entries so far."""
        return self.arrays["indices"].size

    def extend(
        self, indptr: np.ndarray, indices: np.ndarray, columns: Mapping[str, np.ndarray | None]
    ) -> dict[str, np.ndarray]:
        """Write the next rows, and return their arrays as they are stored, by name.

        The given arrays must stay as they are until all is written.

        Args:
            indptr: int64 [rows + 1], from 0.
            indices: dense ids [edges], sorted in each row.
            columns: the values of the edges [edges], by the name of the array of each edge column; what stands for
                others does not count.
        """
        given = {"indices": indices, **columns}
        if self.time is not None:
            from csaw.partition.graph.time_order import time_order  # brings Numba

            given[TIME_ORDER.array] = time_order(indptr, np.asarray(columns[self.time.array]))
        parts = {name: np.asarray(given[name], array.dtype) for name, array in self.arrays.items() if name != "indptr"}
        parts["indptr"] = indptr[1:] + self.edges
        with full_disk_named(self.store, sum(part.nbytes for part in parts.values())):
            for name, array in self.arrays.items():
                array.extend(parts[name])
        return parts

    def end(self) -> None:
        """No more rows come."""
        held = sum(array.held_size * array.dtype.itemsize for array in self.arrays.values())
        with full_disk_named(self.store, held):
            for array in self.arrays.values():
                array.end()


class full_disk_named:
    """Turns a full disk or a forbidden folder into an error that names it."""

    def __init__(self, path: Path, needed_bytes: int = 0) -> None:
        self.path, self.needed_bytes = path, needed_bytes

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, StoreError):
            more = f", {self.needed_bytes:,} more bytes needed" if self.needed_bytes else ""
            raise StoreError(
                f"{self.path} cannot be written: {error.strerror or error}{more}; nothing is left under its name"
            ) from error
