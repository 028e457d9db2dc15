"""Samples on disk: open, slice, go through them group by group. layout.py describes the arrays of a store."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from csaw.engine.samples import check, check_numbers, files
from csaw.engine.samples.arrays import Rows
from csaw.engine.samples.hops import HopTables
from csaw.engine.samples.layout import RAGGED, RAGGED_WALKS
from csaw.engine.samples.notebook import ShownSamples
from csaw.engine.samples.ragged import ragged_group
from csaw.engine.samples.results import results_of
from csaw.engine.samples.sizes import SIZES, Sizes
from csaw.engine.samples.writer import SampleWriter
from csaw.partition.arrays.words import Words
from csaw.partition.errors import OptionError, StoreError

if TYPE_CHECKING:
    from csaw.partition.graph.store import GraphStore

__all__ = ["NOTHING", "UNKNOWN", "Rows", "SampleWriter", "Samples", "open_samples"]

NOTHING = -1  # dense id of a fill value
VIRTUAL = "virtual"  # the attribute of a store that holds a request and no arrays: see engine/runs/virtual.py
UNKNOWN = -2  # dense id of a value that no vertex has


class Samples(HopTables, ShownSamples):
    """A finished sample store, open for reading.

    Arrays are read when they are sliced, as in ``samples.walks[:1000]``, and compared with their checksums; StoreError where a file has changed.

    layout: "walks" (arrays ``walks`` [instances, walk_length + 1] and ``lengths`` [instances]), "hops" (``hops``: [instances, width] for each hop; :meth:`parents` says whose children its columns are),
        "ragged-walks", of walks without a limit (``walks`` [steps + instances], all walks one after the other, with ``walk_ptr`` [instances + 1];
        :meth:`walk` gives one), "subgraphs" (``src``, ``dst``, ``depth`` [edges] with ``instance_ptr`` [instances + 1]; ``sources`` with ``sources_ptr``; of some algorithms also
        ``samples["weight"]`` [edges], and ``vertices`` with ``vertices_ptr``: see layout.py) or
        "batches" (:meth:`minibatch` gives the arrays of one mini-batch).
    instances: number of instances; the first one is number ``first``, which is 0 but for a part. group_size: how many of them were committed together. fill: the value of an entry without a vertex.
    manifest: the request, the graph and the version of csaw. results: counts and timings of the run.
    """

    first = 0
    is_virtual = False
    algo: str | None = (
        None  # the file of an algorithm that csaw does not ship, where the user has named it to have samples drawn
    )

    def __init__(self, path: Path, attributes: dict[str, Any]):
        """``attributes``: what the store at ``path`` says of itself, as :func:`open_samples` has read it."""
        self.path = path
        self.checksums = check.checksums_of(path)
        """SHA-256 of every file of the store but those of ``results`` and these."""
        check.check_file(path, "zarr.json", self.checksums)
        names = [name.removesuffix("/zarr.json") for name in self.checksums if name.endswith("/zarr.json")]
        self._arrays = {name: Rows(path, name, self.checksums) for name in names}
        check.check_arrays(path, attributes, self._arrays)
        self.manifest: dict[str, Any] = attributes["manifest"]
        self.layout: str = attributes["layout"]
        self.instances: int = attributes["instances"]
        self.group_size: int = attributes["group_size"]
        self.ids: str = attributes["ids"]
        """Kind of the vertex ids. original: ids of the input; dense: numbers of the graph store; names: dense, and :meth:`labels` has their strings."""
        self.fill: int = attributes["fill"]

    def trust(self) -> None:
        """Read arrays without comparing their files again: the caller has just compared all of them with their checksums."""
        for rows in self._arrays.values():
            rows.trust()

    def part(self, first: int, last: int) -> "Samples":
        """The instances first .. last - 1, as samples that are read from these. OptionError where there are no such instances."""
        from csaw.engine.samples.on_demand import part_of

        if not 0 <= first <= last <= self.instances:
            raise OptionError(
                f"{self.path}: expected instances FIRST:LAST with 0 <= FIRST <= LAST <= {self.instances:,}, found {first}:{last}"
            )
        return part_of(self, first, last)

    def __getitem__(self, name: str) -> Rows:
        """The array of this name; StoreError where the store has none."""
        if name not in self._arrays:
            raise StoreError(f"{self.path} ({self.layout}) has no array {name!r}")
        return self._arrays[name]

    def __contains__(self, name: str) -> bool:
        """Whether the store has an array of this name."""
        return name in self._arrays

    @cached_property
    def walks(self) -> Rows:
        return self["walks"]

    @cached_property
    def lengths(self) -> Rows | np.ndarray:
        """The steps of each walk; of ragged walks an array in memory."""
        if self.layout == RAGGED_WALKS:
            return np.diff(self.bounds("walk_ptr", "walks", 0, self.instances)) - 1
        return self["lengths"]

    walk_ptr = cached_property(lambda self: self["walk_ptr"])

    def walk(self, number: int) -> np.ndarray:
        """The vertices of one walk, from its source to its end. IndexError where there is no such walk."""
        at = number + (self.instances if number < 0 else 0)
        if not 0 <= at < self.instances:
            raise IndexError(f"walk {number} of {self.instances}")
        arrays = self.group(at, at + 1)
        return arrays["walks"].reshape(-1)[: int(arrays["lengths"][0]) + 1]

    @property
    def has_walks(self) -> bool:
        """Whether an instance is a walk."""
        return self.layout in ("walks", RAGGED_WALKS)

    @property
    def walk_length(self) -> int | None:
        """The number of steps that was asked for, None without a limit; a walk may have ended before."""
        return None if self.layout == RAGGED_WALKS else self.walks.shape[1] - 1

    instance_ptr = cached_property(lambda self: self["instance_ptr"])
    src = cached_property(lambda self: self["src"])
    dst = cached_property(lambda self: self["dst"])
    depth = cached_property(lambda self: self["depth"])
    sources_ptr = cached_property(lambda self: self["sources_ptr"])
    sources = cached_property(lambda self: self["sources"])
    vertices_ptr = cached_property(lambda self: self["vertices_ptr"])
    vertices = cached_property(lambda self: self["vertices"])

    def minibatch(self, number: int) -> dict[str, np.ndarray]:
        """The arrays of mini-batch ``number``, from 0 (from -1 backwards from the last one), by PyG's names and in its direction.

        n_id [nodes]: the vertex of each node, as the store has it, seeds first, then in order of first meeting.
        row, col int32 [edges]: each edge as numbers of nodes, from ``row``, the neighbor that was drawn, to ``col``, the vertex that it was drawn for.
        e_id int64 [edges]: the number of the edge, counted through the rows of the graph store.
        num_sampled_nodes int64 [hops + 1], num_sampled_edges int64 [hops]: of each hop; nodes and edges are in the order of hops.
        input_id int64 [seeds]: the position of each seed in the list of sources.
        y float64 [seeds], only where the list has labels: the label of each seed.
        probability float64 [seeds], only where seeds are drawn: the chance of each seed to be in a mini-batch.
        batch int32 [nodes], only of disjoint mini-batches: the number of the seed that the node belongs to.

        IndexError where there is no such mini-batch; StoreError for a sample of another layout, or where a file has changed.
        """
        at = number + self.instances if number < 0 else number
        if not 0 <= at < self.instances:
            raise IndexError(f"mini-batch {number} of {self.instances}")
        if self.layout != "batches":
            raise StoreError(f"{self.path} ({self.layout}) has no mini-batches; sample with --algo minibatch")
        arrays = self.group(at, at + 1)
        named = {"num_sampled_nodes": arrays["hop_nodes"][0], "num_sampled_edges": arrays["hop_edges"][0]}
        return {name: array for name, array in arrays.items() if name in RAGGED["batches"]} | named

    @cached_property
    def words(self) -> Words | None:
        """The string ids of the graph, by dense id; None where its ids are numbers."""
        if self.ids != "names":
            return None
        return Words(self["vertex_id_offsets"][:], self["vertex_ids"][:]).checked(self.path)

    def labels(self) -> np.ndarray | None:
        """The string ids by dense id as an array of ``str`` of dtype object; None where the graph's ids are numbers."""
        return None if self.words is None else np.asarray(self.words)

    def pyg(
        self, start: int = 0, stop: int | None = None, graph: "GraphStore | None" = None, threads: int = 1
    ) -> dict[str, Any]:
        """The instances start .. stop - 1 as one batch of PyTorch Geometric; :mod:`csaw.engine.samples.pyg` describes its arrays.

        ``stop`` None: to the last instance. With ``graph``, the store that was sampled, the batch has ``e_id``, the places of the edges in it. ``threads`` share the work where all instances are asked for.
        OptionError for ids beyond int64, StoreError for another graph.
        """
        from csaw.engine.samples.pyg import batch_of

        return batch_of(self, start, stop, graph, threads)

    def edge_index(self) -> np.ndarray:
        """All sampled edges, int64 [2, edges], each from a neighbor to the vertex that it was drawn for. Numbers count entries of ``pyg()["n_id"]``."""
        return self.pyg()["edge_index"]

    @cached_property
    def results(self) -> dict[str, Any]:
        """Counts and timings of the run, which no checksum covers."""
        where = self.path / "results" / "zarr.json"
        found = results_of(self.path) or check.refuse(where, "results", "nothing")
        return {name: value for name, value in found.items() if name != SIZES}

    @property
    def sizes(self) -> Sizes | None:
        """How many edges there are and instances have, as it was counted when they were written; None of samples of early versions."""
        found = results_of(self.path).get(SIZES)
        sizes = files.unchanged(found)
        if found is not None and sizes is None:
            check.refuse(self.path / "results" / "zarr.json", "sizes as they were written", "others")
        return sizes

    @property
    def nbytes(self) -> int:
        """Bytes of the store's files."""
        nodes = ["", "checksums", "results", *self._arrays]
        try:
            described = sum((self.path / name / "zarr.json").stat().st_size for name in nodes)
        except OSError as error:
            raise StoreError(f"{error.filename} cannot be read: {error.strerror}; {files.AGAIN}") from error
        return described + sum(rows.stored_bytes for rows in self._arrays.values())

    def iter_groups(self) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Yield the first instance and the arrays of each group in turn, as :meth:`group` returns them.

        A thread reads and checks the next group while the caller works on this one: without it, a copy of 212 MB to .npy took 1.5 times as long.
        """
        starts = range(0, self.instances, self.group_size)
        with ThreadPoolExecutor(1) as reader:
            ahead: deque[Future[dict[str, np.ndarray]]] = deque()
            for start in starts:
                ahead.append(reader.submit(self.group, start, min(start + self.group_size, self.instances)))
                if len(ahead) > 1:
                    yield start - self.group_size, ahead.popleft().result()
            if ahead:
                yield starts[-1], ahead.popleft().result()

    def group(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """The arrays of the instances start .. stop - 1 by name, in host memory.

        Walks have ``walks`` and ``lengths`` (ragged ones ``walks`` [steps + instances]), hops ``hop_0``, ``hop_1``, ..., subgraphs ``counts``, ``source_counts``, ``src``, ``dst``, ``depth`` and ``sources``,
        and those of ``weight``, ``vertex_counts``, ``vertices``, ``layer`` and ``probability`` that the store has,
        mini-batches those that :func:`draw_batches` names.
        StoreError where a file has changed.
        """
        if self.layout == "walks":
            lengths = self.lengths[start:stop]
            check_numbers.check_lengths(self.path / "lengths", lengths, self.walks.shape[1] - 1)
            return {"walks": self.walks[start:stop], "lengths": lengths}
        if self.layout == RAGGED_WALKS:
            pointer = self.bounds("walk_ptr", "walks", start, stop)
            walks = self.walks[int(pointer[0]) : int(pointer[-1])]
            return {"walks": walks, "lengths": (np.diff(pointer) - 1).astype(np.int32)}
        if self.layout == "hops":
            return {f"hop_{k}": hop[start:stop] for k, hop in enumerate(self.hops)}
        arrays = ragged_group(self, start, stop)
        if self.layout == "batches":
            check_numbers.check_minibatches(self.path, arrays)
        return arrays

    def bounds(self, name: str, of: str, start: int, stop: int) -> np.ndarray:
        """Where the instances start to stop begin in the array ``of``, and where the last one ends, by the array ``name``."""
        bounds = self[name][start : stop + 1]
        check_numbers.check_pointer(
            self.path / name, bounds, len(self[of]), first=start == 0, last=stop == self.instances
        )
        if name == "walk_ptr":
            check_numbers.check_walk_pointer(self.path / name, bounds)
        return bounds

    def dense(self, array: np.ndarray, vertex_ids: np.ndarray | None = None) -> np.ndarray:
        """Dense ids of stored ones, int64: NOTHING for an entry without a vertex, UNKNOWN for an id that the graph does not have.

        ``vertex_ids`` are the graph's original ids by dense id; None where those are 0 .. V - 1.
        """
        if self.ids != "original" or vertex_ids is None:
            out = array.astype(np.int64)
            known = self.manifest.get("graph", {}).get("vertices", 2**63 - 1)
            out[(out < 0) | (out >= known)] = UNKNOWN
        else:
            order, ordered = self._order(vertex_ids)
            place = np.minimum(np.searchsorted(ordered, array), max(len(ordered) - 1, 0))
            known = ordered[place] == array if len(ordered) else np.zeros(array.shape, bool)
            out = np.where(known, order[place] if len(ordered) else UNKNOWN, UNKNOWN)
        out[array == array.dtype.type(self.fill)] = NOTHING
        return out

    def _order(self, vertex_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if getattr(self, "_ordered_from", None) is not vertex_ids:
            large = vertex_ids.dtype == np.uint64 and vertex_ids.max(initial=0) > np.iinfo(np.int64).max
            ids = np.asarray(vertex_ids).astype(np.uint64 if large else np.int64)
            order = np.argsort(ids, kind="stable")
            self._ordered_from, self._ordered = vertex_ids, (order, ids[order])
        return self._ordered


def open_samples(path: str | Path, graph: str | Path | None = None, algo: str | None = None) -> Samples:
    """Open the finished sample store at ``path``; StoreError where it is missing, unfinished, damaged, or of a later format.

    A virtual one is drawn when it is read, from its graph store: ``graph`` names it where it is not where it was (default: None). StoreError where that is
    missing or another. Code that a store names is never run: where a virtual one is drawn by an algorithm that csaw does not ship, ``algo`` names that again, as ``FILE.py:CLASS``
    (default: None); StoreError where nobody has, or where the file is another than it was.
    """
    path = Path(path)
    attributes = check.attributes_of(path)
    if VIRTUAL not in attributes:
        return Samples(path, attributes)
    virtual = import_module("csaw.engine.runs.virtual")  # the one place where reading samples means to draw them
    return virtual.VirtualSamples(path, attributes, graph, algo)
