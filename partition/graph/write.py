"""Writing a graph store: partitions are written in order into a folder beside the final name, which gets that name when it is complete."""

import itertools
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import numpy as np

from csaw.partition.arrays.arrays import PlainArray, Written, growing_array
from csaw.partition.arrays.nodes import write_group
from csaw.partition.arrays.replace import GRAPH, Draft, sync_folder
from csaw.partition.arrays.words import Words
from csaw.partition.base.parallel import Backlog, Crew
from csaw.partition.errors import StoreError
from csaw.partition.graph.about import about
from csaw.partition.graph.attributes import EDGE_IDS, sealed
from csaw.partition.graph.clusters import digest_of, given_clusters
from csaw.partition.graph.fingerprint import Fingerprint
from csaw.partition.graph.given_arrays import array_of, integers_of, weights_of
from csaw.partition.graph.partition_writer import NO_ROWS, Facts, PartitionWriter, full_disk_named
from csaw.partition.graph.store import GraphStore, array_name, open_graph

SYNCS = 8


class StoreWriter:
    """Writes a store, partition by partition in order of the vertices. ``finish`` gives the store its name. Used as a context, it cleans up after an error.

    ``path`` is the store's name, or a draft of it, which knows what may be replaced. With a ``crew``, its threads write and take checksums while
    the next rows are made. ``input_rows``: edges of the input, where the store keeps the number that each of its edges has there.
    """

    def __init__(self, path: str | Path | Draft, *, vertices: int, weighted: bool, compression: str | None = None,
                 overwrite: bool = False, crew: Crew | None = None, input_rows: int | None = None) -> None:  # fmt: skip
        self.input_rows = input_rows
        self.claim = path if isinstance(path, Draft) else Draft(path, GRAPH, overwrite=overwrite)
        self.path, self.draft = self.claim.path, self.claim.folder
        self.id_dtype = np.dtype(np.uint32 if vertices < 2**32 - 1 else np.uint64)
        self.vertices, self.weighted, self.compression = vertices, weighted, compression
        self.jobs = crew.backlog() if crew else Backlog()
        self.fingerprint = Fingerprint(aside=self.jobs.most)
        self.disk = ThreadPoolExecutor(SYNCS) if crew else None
        self.syncs: list[Future] = []
        self.rows: list[tuple[int, int, int, int, int]] = []
        self.part: PartitionWriter | None = None  # in work
        self.ended: dict[str, PlainArray | Written] = {}  # of all partitions before it, by their names in the store
        self.digests: dict[str, str] = {}
        self.edges, self.facts = 0, NO_ROWS
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

    def add(self, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> None:
        """Add the next partition: ``indptr`` int64 from 0, ``indices`` dense ids, sorted in each row, ``weights`` float32 or None."""
        self.extend(indptr, indices, weights)
        self.end_partition()

    def extend(
        self, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None, facts: Facts | None = None,
        numbers: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """The next rows of the partition in work, with what is known of them; ``numbers`` int64: of the edges in the input, where the store keeps them.

        The arrays must stay as they are until ``finish``.
        """
        if self.part is None:
            self.part = self._new_partition()
        indptr = np.asarray(indptr, np.int64)
        parts = self.part.extend(indptr, indices, weights, numbers)
        self.fingerprint.add(indptr, parts["indices"], parts.get("weights"))
        self.facts = self.facts.and_of(facts or facts_of(indptr, parts["indices"]))

    def _new_partition(self) -> PartitionWriter:
        folder = self.draft / "partitions" / f"{len(self.rows):05d}"
        return PartitionWriter(
            folder, self.path, id_dtype=self.id_dtype, weighted=self.weighted, numbered=self.input_rows is not None,
            compression=self.compression, jobs=self.jobs, sync=self._sync,
        )  # fmt: skip

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
        for name in ("indices", "weights")[: 1 + self.weighted]:
            size = arrays[name].chunk
            for first in range(0, edges, size):
                self.fingerprint.feed(name, arrays[name].read(first, min(size, edges - first)))
        self.facts = self.facts.and_of(facts)
        self._add_partition(vertices, edges, arrays)

    def _add_partition(self, vertices: int, edges: int, arrays: Mapping[str, PlainArray | Written]) -> None:
        self.ended |= {array_name(len(self.rows), name): array for name, array in arrays.items()}
        first = self.rows[-1][1] if self.rows else 0
        nbytes = sum(array.size * array.dtype.itemsize for name, array in arrays.items() if name != EDGE_IDS)
        self.rows.append((first, first + vertices, self.edges, edges, nbytes))
        self.edges += edges

    def finish(self, *, directed: bool, vertex_ids: np.ndarray | list | Words | None,
               report: dict[str, Any] | Callable[[GraphStore], dict[str, Any]],
               clusters: Callable[[GraphStore], tuple[np.ndarray, dict[str, Any]]] | None = None,
               partitioner: dict[str, Any] | None = None) -> GraphStore:  # fmt: skip
        """Write ids and attributes, give the store its name, and open it.

        ``vertex_ids`` None: 0 .. V - 1. ``report``: plain data, or a function of the draft. ``clusters``: a function of the draft that makes the cluster of
        each vertex, int32 [V], and gives the count, the method and the seed; None makes none. ``partitioner``: method and seed of the one that numbered the
        vertices, so that their ids need not rise; None where they rise.
        """
        kind = "identity" if vertex_ids is None else self._ids(vertex_ids)
        fingerprint = self.fingerprint.hexdigest()
        with full_disk_named(self.path, self.jobs.bytes):
            self.digests |= {name: array.close(about(name, kind, fingerprint)) for name, array in self.ended.items()}
        attributes: dict[str, Any] = {
            "vertices": self.vertices, "edges": self.edges, "directed": directed, "weighted": self.weighted, "multigraph": self.facts.repeats,
            "max_degree": self.facts.largest, "id_dtype": self.id_dtype.name, "id_kind": kind,
            "fingerprint": fingerprint, "partitions": self.rows, "report": {},
            **({} if partitioner is None else {"partitioner": partitioner}), **({} if self.input_rows is None else {EDGE_IDS: self.input_rows}),
        }  # fmt: skip
        draft = GraphStore(self.draft, sealed(attributes, self.digests))
        attributes["report"] = report(draft) if callable(report) else report
        if clusters is not None:
            found, made = clusters(draft)
            self._array(self.draft / "clusters", found)
            with full_disk_named(self.path, found.nbytes):
                said = about("clusters", kind, fingerprint, algorithm=made["method"], seed=made["seed"])
                self.digests["clusters"] = self.ended.pop("clusters").close(said)
            attributes["clusters"] = made | {"digest": digest_of(found)}
        self._group(self.draft, sealed(attributes, self.digests))
        with full_disk_named(self.path):
            for done in self.syncs:
                done.result()  # a disk says once that it could not
            sync_tree(self.draft)
            self.claim.publish()
        return open_graph(self.path)

    def _ids(self, given: np.ndarray | list | Words) -> str:
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
        return "string"

    def _sync(self, file: Path) -> None:
        """Ask the disk to keep a file, beside what the crew does."""
        if self.disk:
            self.syncs.append(self.disk.submit(sync_folder, file))

    def _group(self, folder: Path, attributes: dict[str, Any]) -> None:
        with full_disk_named(self.path):
            write_group(folder, attributes)

    def _array(self, path: Path, data: np.ndarray) -> None:
        with full_disk_named(self.path, data.nbytes):
            array = growing_array(path, data.dtype, self.compression, self.jobs)
            array.extend(data)
            array.end()
            self.ended[path.name] = array


def facts_of(indptr: np.ndarray, indices: np.ndarray) -> Facts:
    """What a store says of rows, by a look at them."""
    same = indices[1:] == indices[:-1]
    inner = indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < indices.size)]
    same[inner - 1] = False
    return Facts(int(np.diff(indptr).max(initial=0)), bool(same.any()))


def sync_tree(folder: Path) -> None:
    """Sync every file below ``folder`` to the disk, several at a time, which takes as long as one."""
    paths = [os.path.join(parent, name) for parent, _, files in os.walk(folder) for name in [*files, "."]]
    with ThreadPoolExecutor(SYNCS) as threads:
        list(threads.map(sync_folder, paths))


def cut_points(indptr: np.ndarray, partitions: int, balance: str = "edges") -> np.ndarray:
    """First vertices of ``partitions`` contiguous ranges of about equal edges or vertices, and V at the end."""
    vertices, edges = indptr.size - 1, int(indptr[-1])
    parts = max(1, min(partitions, max(vertices, 1)))
    if balance == "vertices":
        cuts = np.linspace(0, vertices, parts + 1).astype(np.int64)
    else:
        cuts = np.searchsorted(indptr, np.linspace(0, edges, parts + 1))
        cuts = np.minimum(np.maximum(cuts, np.arange(parts + 1)), vertices - parts + np.arange(parts + 1))
    cuts[0], cuts[-1] = 0, vertices
    return np.maximum.accumulate(cuts)


def partition_count(
    edges: int, vertices: int, item_bytes: int, partitions: int | None, partition_bytes: int | None
) -> int:
    """The number of partitions: ``partitions``, or if that is None as many as keep each below ``partition_bytes``."""
    if partitions is not None:
        return partitions
    return max(1, -(-(edges * item_bytes + 8 * vertices) // (partition_bytes or 256 << 20)))


def checked_rows(indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> tuple[Any, Any, Any]:
    """The arrays with sorted rows; copies where rows were not sorted. StoreError for arrays that are no CSR."""
    indptr, indices = integers_of("indptr", indptr), integers_of("indices", indices)
    if indptr.size == 0 or indptr[0] != 0 or indptr[-1] != indices.size or (indptr[1:] < indptr[:-1]).any():
        raise StoreError(f"expected offsets that rise from 0 to {indices.size}, the number of indices")
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < indptr.size - 1:
        raise StoreError(f"expected indices from 0 to {indptr.size - 2}, found {indices.min()} to {indices.max()}")
    indptr = indptr.astype(np.int64, copy=False)
    if weights is not None:
        weights = array_of("weights", weights)
        if weights.shape != indices.shape:
            raise StoreError(f"expected a weight for each of {indices.size:,} indices, found the shape {weights.shape}")
        weights = weights_of("weights", weights, indices.size)
    rises = np.concatenate([[True], indices[1:] >= indices[:-1]])
    rises[indptr[:-1][np.diff(indptr) > 0]] = True  # where a row begins
    if rises.all():
        return indptr, indices, weights
    rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    order = np.lexsort((indices, rows))
    return indptr, indices[order], None if weights is None else weights[order]


def write_graph(path: str | Path, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None = None, *,
                directed: bool, vertex_ids: np.ndarray | Words | None = None, partitions: int | None = None,
                partition_bytes: int | None = None, balance: str = "edges", compression: str | None = None,
                report: dict[str, Any] | None = None, clusters: np.ndarray | None = None,
                overwrite: bool = False) -> GraphStore:  # fmt: skip
    """Write a graph store from CSR arrays in memory and open it. Rows need not be sorted. StoreError for arrays that are no CSR.

    ``clusters``: the cluster of each vertex, integers [V] from 0 on, for ``cluster-gcn``. OptionError for others.
    """
    sorted_into = None if clusters is None else given_clusters(clusters, indptr.size - 1)
    indptr, indices, weights = checked_rows(indptr, indices, weights)
    vertices = indptr.size - 1
    item = indices.dtype.itemsize + (4 if weights is not None else 0)
    count = partition_count(indices.size, vertices, item, partitions, partition_bytes)
    cuts = cut_points(indptr, count, balance)
    with StoreWriter(path, vertices=vertices, weighted=weights is not None, compression=compression,
                     overwrite=overwrite) as writer:  # fmt: skip
        for a, b in itertools.pairwise(cuts):
            span = slice(indptr[a], indptr[b])
            writer.add(indptr[a : b + 1] - indptr[a], indices[span], None if weights is None else weights[span])
        return writer.finish(
            directed=directed,
            vertex_ids=vertex_ids,
            report=report or {},
            clusters=None if sorted_into is None else lambda draft: sorted_into,
        )
