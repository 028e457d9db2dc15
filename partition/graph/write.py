"""Writing a graph store: partitions are written in order into a temporary folder, which gets its final name when it is
complete.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from csaw.partition.arrays.arrays import PlainArray, Written, growing_array
from csaw.partition.arrays.files import GRAPH, SYNCS, sync_folder, sync_tree
from csaw.partition.arrays.nodes import write_group
from csaw.partition.arrays.replace import Draft
from csaw.partition.arrays.words import Words
from csaw.partition.base import arguments
from csaw.partition.base.arguments import flag, maybe
from csaw.partition.base.parallel import Backlog, Crew
from csaw.partition.base.plain_data import Record
from csaw.partition.base.python_names import reading
from csaw.partition.graph.attributes import (
    EDGE_COLUMNS,
    EDGE_IDS,
    IDENTITY,
    ORDERED,
    STRING,
    TYPED,
    WEIGHT_RANGE,
    Attributes,
    Partitioner,
    about,
    sealed,
    weight_range,
    with_range,
)
from csaw.partition.graph.clusters import Made, digest_of, given_clusters
from csaw.partition.graph.edge_columns import EDGE_ID, WEIGHT, EdgeColumn, distinct, time_of
from csaw.partition.graph.fingerprint import Fingerprint
from csaw.partition.graph.in_memory import checked_rows, require_both, require_distinct
from csaw.partition.graph.partition_writer import NO_ROWS, Facts, PartitionWriter, facts_of, full_disk_named
from csaw.partition.graph.parts import cut_points, partition_count
from csaw.partition.graph.store import GraphStore, array_name, open_graph
from csaw.partition.graph.types import MOST_RELATIONS, RELATION, Types, text_of


class StoreWriter:
    """Writes a store, partition by partition in order of the vertices.

    ``finish`` gives the store its name. Used as a context, it cleans up after an error.

    ``path`` is the store's name, or a draft of it, which knows what may be replaced. With a ``crew``, its threads write
    and take checksums while the next rows are made. ``input_rows``: edges of the input, where the store keeps the
    number that each of its edges has there. ``edge_columns``: columns of the edges beside weights and these numbers.
    """

    def __init__(
        self,
        path: str | Path | Draft,
        *,
        vertices: int,
        weighted: bool,
        compression: str | None = None,
        overwrite: bool = False,
        crew: Crew | None = None,
        input_rows: int | None = None,
        edge_columns: Iterable[EdgeColumn] = (),
    ) -> None:
        self.input_rows, self.further = input_rows, distinct(edge_columns)
        kept = ((WEIGHT, weighted), (EDGE_ID, input_rows is not None))
        self.columns = (*(column for column, is_kept in kept if is_kept), *self.further)
        self.claim = path if isinstance(path, Draft) else Draft(path, GRAPH, overwrite=overwrite)
        self.path, self.draft = self.claim.path, self.claim.folder
        self.id_dtype = np.dtype(np.uint32 if vertices < 2**32 - 1 else np.uint64)
        self.vertices, self.compression = vertices, compression
        self.jobs = crew.backlog() if crew else Backlog()
        self.fingerprint = Fingerprint(self.jobs.most, self.further)
        self.disk = ThreadPoolExecutor(SYNCS) if crew else None
        self.syncs: list[Future[None]] = []
        self.rows: list[tuple[int, int, int, int, int]] = []
        self.part: PartitionWriter | None = None  # in work
        self.ended: dict[str, PlainArray | Written] = {}  # of all partitions before it, by their names in the store
        self.digests: dict[str, str] = {}
        self.edges, self.facts = 0, NO_ROWS
        self.edges_of_relations = np.zeros(MOST_RELATIONS, np.int64)
        """The number of edges so far with each number of the column ``relation``, if there is one."""
        try:
            self._group(self.draft / "partitions", {})
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        self.jobs.drop()
        if self.disk:
            self.disk.shutdown(cancel_futures=True)
        self.fingerprint.close()
        self.claim.close()

    def add(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray | None,
        columns: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        """Add the next partition, whose arrays are those of :meth:`extend`."""
        self.extend(indptr, indices, weights, columns=columns)
        self.end_partition()

    def extend(
        self,
        indptr: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray | None,
        facts: Facts | None = None,
        numbers: np.ndarray | None = None,
        columns: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        """Add rows to the partition in work. The arrays must stay as they are until ``finish``.

        Args:
            indptr: int64 [rows + 1], from 0.
            indices: dense ids [edges], sorted in each row.
            weights: float32 [edges], or None.
            facts: what is known of the rows (default: None, they are looked at).
            numbers: int64 [edges], the numbers of the edges in the input, where the store keeps them.
            columns: the values [edges] of each further edge column, by its name.
        """
        if self.part is None:
            self.part = self._new_partition()
        indptr, given = np.asarray(indptr, np.int64), columns or {}
        further = {column.array: given[column.name] for column in self.further}
        parts = self.part.extend(indptr, indices, {WEIGHT.array: weights, EDGE_ID.array: numbers} | further)
        self.fingerprint.add(indptr, parts)
        self._count_relations(further)
        self.facts = self.facts.and_of(facts or facts_of(indptr, parts["indices"], parts.get(WEIGHT.array)))

    def _new_partition(self) -> PartitionWriter:
        folder = self.draft / "partitions" / f"{len(self.rows):05d}"
        return PartitionWriter(
            folder,
            self.path,
            id_dtype=self.id_dtype,
            columns=self.columns,
            compression=self.compression,
            jobs=self.jobs,
            sync=self._sync,
        )

    def end_partition(self) -> None:
        """End the current partition; the next rows begin another."""
        assert self.part is not None
        self.part.end()
        self._add_partition(self.part.vertices, self.part.edges, self.part.arrays)
        self.part = None

    def take(self, arrays: Mapping[str, Written], facts: Facts) -> None:
        """The next partition, which another process has written to its place, by the names of its arrays."""
        vertices, edges = arrays["indptr"].size - 1, arrays["indices"].size
        self.fingerprint.feed("degrees", np.diff(arrays["indptr"].read(0, vertices + 1)))
        for name in arrays.keys() & self.fingerprint.hashes.keys():
            size = arrays[name].chunk
            for first in range(0, edges, size):
                self.fingerprint.feed(name, arrays[name].read(first, min(size, edges - first)))
        self.facts = self.facts.and_of(facts)
        self._add_partition(vertices, edges, arrays)

    def keep(
        self, indptr: np.ndarray, arrays: Mapping[str, np.ndarray], facts: Facts, written: Mapping[str, Written]
    ) -> None:
        """The next partition, whose files are ``written``; its offsets and its other ``arrays``, by name."""
        self.fingerprint.add(indptr, arrays)
        self.facts = self.facts.and_of(facts)
        self._count_relations(arrays)
        self._add_partition(indptr.size - 1, arrays["indices"].size, written)

    def _count_relations(self, arrays: Mapping[str, np.ndarray]) -> None:
        if RELATION in self.further:
            self.edges_of_relations += np.bincount(arrays[RELATION.array], minlength=MOST_RELATIONS)

    def _add_partition(self, vertices: int, edges: int, arrays: Mapping[str, PlainArray | Written]) -> None:
        self.ended |= {array_name(len(self.rows), name): array for name, array in arrays.items()}
        first = self.rows[-1][1] if self.rows else 0
        nbytes = sum(array.size * array.dtype.itemsize for name, array in arrays.items() if name != EDGE_IDS)
        self.rows.append((first, first + vertices, self.edges, edges, nbytes))
        self.edges += edges

    def finish(
        self,
        *,
        directed: bool,
        vertex_ids: np.ndarray | list[object] | Words | None,
        report: Record | Callable[[GraphStore], Record],
        clusters: Callable[[GraphStore], tuple[np.ndarray, Made]] | None = None,
        partitioner: Partitioner | None = None,
        types: Types | None = None,
    ) -> GraphStore:
        """Write ids and attributes, give the store its name, and open it.

        ``vertex_ids`` None: 0 .. V - 1. ``report``: plain data, or a function of the draft. ``clusters``: a function of
        the draft that makes the cluster of each vertex, int32 [V], and gives the count, the method and the seed; None
        makes none. ``partitioner``: method and seed of the one that numbered the vertices, so that their ids need not
        rise; None where they rise. ``types``: of a graph with several; None for any other.
        """
        kind = IDENTITY if vertex_ids is None else self._ids(vertex_ids)
        fingerprint = self.fingerprint.hexdigest(text_of(types))
        with full_disk_named(self.path, self.jobs.bytes):
            for name, array in self.ended.items():
                self.digests[name] = array.close(about(name, kind, fingerprint, self.further))
        attributes = self._attributes(kind, fingerprint, directed, partitioner)
        if types is not None:
            attributes[TYPED] = types.attributes
        draft = GraphStore(self.draft, sealed(attributes, self.digests))
        attributes["report"] = report(draft) if callable(report) else report
        if clusters is not None:
            found, made = clusters(draft)
            self._array(self.draft / "clusters", found)
            with full_disk_named(self.path, found.nbytes):
                said = about("clusters", kind, fingerprint, algorithm=made["method"], seed=made["seed"])
                self.digests["clusters"] = self.ended.pop("clusters").close(said)
            attributes["clusters"] = {**made, "digest": digest_of(found)}
        self._group(self.draft, sealed(attributes, self.digests))
        with full_disk_named(self.path):
            for done in self.syncs:
                done.result()  # a disk says once that it could not
            sync_tree(self.draft)
            self.claim.publish()
        return open_graph(self.path)

    def _attributes(
        self, id_kind: str, fingerprint: str, directed: bool, partitioner: Partitioner | None
    ) -> Attributes:
        """The attributes that do not depend on the draft, in their order in the file."""
        said: Attributes = {
            "vertices": self.vertices,
            "edges": self.edges,
            "directed": directed,
            "weighted": WEIGHT in self.columns,
            "multigraph": self.facts.repeats,
            "max_degree": self.facts.largest,
            WEIGHT_RANGE: weight_range(self.facts.least_above_0, self.facts.heaviest),
            "id_dtype": self.id_dtype.name,
            "id_kind": id_kind,
            "fingerprint": fingerprint,
            "partitions": self.rows,
            "report": {},
        }
        if partitioner is not None:
            said["partitioner"] = partitioner
        if self.input_rows is not None:
            said[EDGE_IDS] = self.input_rows
        if self.further:
            said[EDGE_COLUMNS] = [column.attributes for column in self.further]
        if time_of(self.further) is not None:
            said[ORDERED] = True
        return with_range(said)

    def _ids(self, given: np.ndarray | list[object] | Words) -> str:
        strings = isinstance(given, Words) or any(isinstance(one, str) for one in given[:1])
        ids = given if strings else np.asarray(given)  # NumPy's strings would all be as wide as the longest
        if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu":
            ids = ids.astype(np.uint64 if ids.size and int(ids.max()) > 2**63 - 1 else np.int64)
            self._array(self.draft / "vertex_ids", ids)
            self.fingerprint.add_ids(ids)
            return ids.dtype.name
        words = ids if isinstance(ids, Words) else Words.of(ids)
        self._array(self.draft / "vertex_ids", words.text)
        self._array(self.draft / "vertex_id_offsets", words.offsets)
        self.fingerprint.add_ids(words.text, words.offsets)
        return STRING

    def _sync(self, file: Path) -> None:
        """Ask the disk to keep a file, beside what the crew does."""
        if self.disk:
            self.syncs.append(self.disk.submit(sync_folder, file))

    def _group(self, folder: Path, attributes: Mapping[str, object]) -> None:
        with full_disk_named(self.path):
            write_group(folder, attributes)

    def _array(self, path: Path, data: np.ndarray) -> None:
        with full_disk_named(self.path, data.nbytes):
            array = growing_array(path, data.dtype, self.compression, self.jobs)
            array.extend(data)
            array.end()
            self.ended[path.name] = array


def _ids(name: str, value: object) -> object:
    found = value if isinstance(value, Words) else arguments.vertices(name, value)
    if getattr(found, "ndim", 1) != 1:
        raise arguments.refused(name, "an id for each vertex, in one dimension", value)
    return found


@reading(
    {
        "path": arguments.path("the graph store to make"),
        "directed": flag,
        "partitions": maybe(arguments.whole(1)),
        "vertex_ids": maybe(_ids),
        "edge_columns": maybe(arguments.columns),
        **dict.fromkeys(("balance", "compression"), arguments.simple),
        "partition_bytes": maybe(arguments.whole(1)),
        "overwrite": flag,
    }
)
def write_graph(
    path: str | Path,
    indptr: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    directed: bool,
    vertex_ids: np.ndarray | Words | None = None,
    partitions: int | None = None,
    partition_bytes: int | None = None,
    balance: str = "edges",
    compression: str | None = None,
    report: Record | None = None,
    clusters: np.ndarray | None = None,
    edge_columns: Mapping[str, ArrayLike] | None = None,
    types: Types | None = None,
    overwrite: bool = False,
) -> GraphStore:
    """Write a graph store from CSR arrays in memory and open it.

    Args:
        path: of the store to write.
        indptr: offsets of the rows, integers [V + 1] from 0.
        indices: neighbors, dense ids [E]. Rows need not be sorted.
        weights: weights of the edges, [E], stored as float32; None, the graph has no weights.
        directed: whether edges have one direction. An undirected graph has each edge in both rows.
        vertex_ids: original ids [V], increasing numbers or different words; None, 0 .. V - 1.
        partitions: number of partitions.
        partition_bytes: largest size of a partition in bytes, instead of ``partitions``.
        balance: whether partitions have equal numbers of "edges" or "vertices".
        compression: "lz4", or None.
        report: plain data to store about how the store was made.
        clusters: the cluster of each vertex, integers [V] of at least 0, for ``cluster-gcn``.
        edge_columns: further numbers of each edge [E], by name or by ``NAME:DTYPE:UNITS``, which hooks read as
            ``e.NAME``.
        types: the types of the vertices and the relations of the edges, of a graph that has several; its ids then begin
            with the type, and its edges have the column ``relation:uint8:number of the relation``.
        overwrite: replace the store at ``path``.

    Returns:
        The open graph store.

    Raises:
        StoreError: the arrays are not CSR, an undirected graph has an edge in only one row or with different numbers in
            both, ids repeat, or ``path`` exists or cannot be written.
        OptionError: an option is out of its range, or ``clusters`` are not one integer for each vertex.
    """
    rows = checked_rows(indptr, indices, weights, edge_columns)
    vertices = rows.indptr.size - 1
    if vertex_ids is not None:
        require_distinct(vertex_ids, vertices)
    sorted_into = None if clusters is None else given_clusters(clusters, vertices)
    if not directed:
        require_both(rows)
    count = partition_count(rows.indices.size, vertices, rows.edge_bytes, partitions, partition_bytes)
    with StoreWriter(
        path,
        vertices=vertices,
        weighted=rows.weights is not None,
        compression=compression,
        overwrite=overwrite,
        edge_columns=rows.columns,
    ) as writer:
        for first, last in itertools.pairwise(cut_points(rows.indptr, count, balance)):
            part = rows.part(first, last)
            writer.add(part.indptr, part.indices, part.weights, {c.name: one for c, one in part.columns.items()})
        return writer.finish(
            directed=directed,
            vertex_ids=vertex_ids,
            report=report or {},
            types=types,
            clusters=None if sorted_into is None else lambda draft: sorted_into,
        )
