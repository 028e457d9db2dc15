"""New edges of a graph that grows: dealt to the partitions that have the rows of their sources, and merged there."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from csaw.partition.arrays.arrays import Written
from csaw.partition.arrays.files import link_or_copy
from csaw.partition.arrays.nodes import write_group
from csaw.partition.arrays.spool import Budget, Column, Spool
from csaw.partition.errors import FormatError
from csaw.partition.graph.edge_columns import EDGE_ID, TIME_ORDER, WEIGHT
from csaw.partition.graph.merging import (
    ERROR,
    KEEP,
    LAST,
    REMOVE,
    Arrays,
    Counts,
    Policy,
    Rows,
    last_of_each,
    merged,
    order_of,
)
from csaw.partition.graph.partition_writer import Facts, facts_of, full_disk_named, weights_between
from csaw.partition.graph.parts import Partition
from csaw.partition.graph.regions import Region
from csaw.partition.graph.store import INDICES, GraphStore, array_name
from csaw.partition.graph.types import MOST_RELATIONS, RELATION
from csaw.partition.graph.write import StoreWriter


class DealtEdges:
    """The new edges of each region, with the arrays ``names``: in memory up to the ``budget``, in files beyond it.

    ``edges``: how many there are; ``counts``: those that were dealt to none, or merged with others.
    """

    def __init__(self, regions: Sequence[Region], names: Sequence[str], budget: Budget, policy: Policy) -> None:
        self.firsts, self.policy = np.array([region.first for region in regions], np.int64), policy
        self.names, self.spool, self.counts = tuple(names), Spool(budget), Counts()
        if policy.word == REMOVE:
            self.names = (INDICES, *[RELATION.array] * policy.by_relation)
        self.edges = 0
        self.pieces: list[list[tuple[Column, ...]]] = [[] for _ in regions]

    def deal(self, new: GraphStore, dense: np.ndarray, rows_before: int, relations: np.ndarray | None = None) -> None:
        """Deal the edges of ``new``, a partition in memory at a time.

        Args:
            new: a graph of the new edges, whose vertices have the ids ``dense`` in the graph that grows; -1, none.
            dense: int64 [V of ``new``].
            rows_before: rows of the input of the graph that grows.
            relations: the number of each relation of ``new`` in the graph that grows, uint8; None, it has none.
        """
        for part in new.partitions:
            arrays = _edges(new, part, self.names)
            owners = np.repeat(np.arange(part.first_vertex, part.last_vertex), np.diff(new.read_offsets(part.number)))
            rows, ends = dense[owners], dense[arrays[INDICES]]
            if relations is not None:
                arrays[RELATION.array] = relations[arrays[RELATION.array]]
            known, once = (rows >= 0) & (ends >= 0), self.policy.once(owners, arrays)
            self.edges += int(once.sum())
            self.counts = self.counts.and_of(Counts(missing=int((once & ~known).sum())))
            arrays[INDICES] = ends
            if EDGE_ID.array in arrays:
                arrays[EDGE_ID.array] += rows_before
            self._add(rows[known], {name: one[known] for name, one in arrays.items()})
        repeated = new.report.get("duplicates", 0)
        self.counts = self.counts.and_of(Counts(repeated=repeated if type(repeated) is int else 0))
        self.spool.settle()

    def _add(self, rows: np.ndarray, arrays: Arrays) -> None:
        order = order_of(rows, self.policy.keys(arrays))
        rows = rows[order]
        bounds = [*np.searchsorted(rows, self.firsts).tolist(), rows.size]
        for number in np.flatnonzero(np.diff(bounds)).tolist():
            here = slice(bounds[number], bounds[number + 1])
            edges = order[here]
            self.spool.append(rows[here] - self.firsts[number], *(arrays[name][edges] for name in self.names))
            self.pieces[number].append(self.spool.pieces[-1])

    def of(self, number: int) -> tuple[np.ndarray, Arrays]:
        """The places of the rows of the new edges of a region, which rise, and their arrays."""
        columns = [np.concatenate([column[:] for column in same]) for same in zip(*self.pieces[number], strict=True)]
        if not columns:
            return np.empty(0, np.int64), {name: np.empty(0, np.int64) for name in self.names}
        if len(self.pieces[number]) > 1:
            order = order_of(columns[0], self.policy.keys(dict(zip(self.names, columns[1:], strict=True))))
            columns = [column[order] for column in columns]
        return columns[0], dict(zip(self.names, columns[1:], strict=True))

    def close(self) -> None:
        """Let go of the edges."""
        self.spool.close()


class Merged(NamedTuple):
    """A partition of the new version: its rows and their facts, and what became of new edges.

    ``linked``: its arrays, whose files are those of the version before; None where they are to be written.
    """

    rows: Rows
    facts: Facts
    counts: Counts
    linked: Mapping[str, Written] | None


class Merging:
    """Makes the partitions of the version that ``writer`` writes from those of ``base`` and the ``dealt`` edges."""

    def __init__(self, base: GraphStore, dealt: DealtEdges, policy: Policy, writer: StoreWriter) -> None:
        self.base, self.dealt, self.policy = base, dealt, policy
        self.folder, self.path, self.id_dtype = writer.draft / "partitions", writer.path, writer.id_dtype
        self.dtypes = {one.array: one.dtype for one in base.edge_columns} | {INDICES: base.id_dtype}
        self.names = [name for name in self.dtypes if name != TIME_ORDER.array]

    def region(self, number: int, region: Region) -> Merged:
        """The partition of this number; StoreError where a file has changed."""
        old = self._rows(region)
        if region.is_whole and not self.dealt.pieces[number] and self.id_dtype == self.base.id_dtype:
            assert region.part is not None
            return Merged(old, self._facts(old), Counts(), self._linked(number, region.part))
        rows, new = self.dealt.of(number)
        before = self.policy.once(rows + region.first, new)
        if self.policy.word == LAST:
            rows, new = last_of_each(rows, self.policy.keys(new), new)
        new = {name: one.astype(old.arrays[name].dtype, copy=False) for name, one in new.items()}
        found, counts = merged(old, region.first, rows, new, self.policy, self._repeated)
        if self.policy.word == LAST:
            left = self.policy.once(rows + region.first, new)
            counts = counts._replace(repeated=counts.repeated + int(before.sum()) - int(left.sum()))
        return Merged(found, self._facts(found), counts, None)

    def _facts(self, rows: Rows) -> Facts:
        """The facts of rows; whether any entry is there twice is known beforehand of most graphs."""
        weights = rows.arrays.get(WEIGHT.array)
        if self.base.multigraph or self.policy.word == KEEP or self.policy.by_relation:
            return facts_of(rows.indptr, rows.arrays[INDICES], weights)
        return Facts(int(np.diff(rows.indptr).max(initial=0)), False, *weights_between(weights))

    def _rows(self, region: Region) -> Rows:
        """Read the stored rows of a region; new vertices have no edges."""
        indptr = np.full(region.last - region.first + 1, region.high - region.low, np.int64)
        arrays = {name: np.empty(region.high - region.low, self.dtypes[name]) for name in self.names}
        if region.part is not None and region.first < region.stored:
            first = region.part.first_vertex
            held = self.base.read_offsets(region.part.number)[region.first - first : region.stored - first + 1]
            indptr[: held.size] = held - region.low
            self.base.read_edges(region.part.number, arrays, region.low)
        arrays[INDICES] = arrays[INDICES].astype(self.id_dtype, copy=False)
        return Rows(indptr, arrays)

    def _linked(self, number: int, part: Partition) -> dict[str, Written]:
        """The arrays of a partition under other names, in the draft."""
        folder, found = self.folder / f"{number:05d}", {}
        with full_disk_named(self.path):
            write_group(folder, {})
            for name, dtype in {"indptr": np.dtype(np.int64), **self.dtypes}.items():
                array = self.base.array(array_name(part.number, name))
                (folder / name / "c").mkdir(parents=True)
                for chunk in range(array.chunks):
                    link_or_copy(array.file(chunk), folder / name / "c" / str(chunk))
                assert array.sums is not None
                found[name] = Written(folder / name, dtype, array.elements, array.chunk, not array.plain, array.sums)
        return found

    def _repeated(self, row: int, key: int) -> FormatError:
        """The error about an edge that is there already, or several times."""
        neighbor, relation = divmod(key, MOST_RELATIONS) if self.policy.by_relation else (key, 0)
        ends = self.base.original_ids(np.array([row, neighbor])).tolist()
        types = self.base.types
        edge = f"the edge {ends[0]} {ends[1]}" + (f" of {types.relations[relation]}" if types else "")
        if self.policy.word != ERROR:
            return FormatError(
                f"{self.base.base} has {edge} several times, and it is open which of them is meant; remove it first "
                "with --remove, or pass --duplicates keep or first"
            )
        return FormatError(
            f"{self.base.base} has {edge} already; pass --duplicates first, sum, last or keep to accept such edges"
        )


def _edges(store: GraphStore, part: Partition, names: Sequence[str]) -> dict[str, np.ndarray]:
    dtypes = {one.array: one.dtype for one in store.edge_columns} | {INDICES: store.id_dtype}
    arrays = {name: np.empty(part.edges, dtypes[name]) for name in names}
    store.read_edges(part.number, arrays)
    return arrays
