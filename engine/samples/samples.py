"""Samples: open, slice, go through them group by group, wherever they are."""

from collections.abc import Iterator
from functools import cached_property
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np

from csaw.engine.samples import check
from csaw.engine.samples.array import Array
from csaw.engine.samples.check import VIRTUAL
from csaw.engine.samples.layouts import Arrays
from csaw.engine.samples.layouts.layout import Instance, walk_of
from csaw.engine.samples.layouts.subgraphs import Batches
from csaw.engine.samples.layouts.walks import RaggedWalks
from csaw.engine.samples.opened import require_instances
from csaw.engine.samples.stored import Chosen, PartOf, StoredSource
from csaw.partition.arrays.nodes import open_group
from csaw.partition.base import arguments
from csaw.partition.base.arguments import maybe
from csaw.partition.base.plain_data import Record
from csaw.partition.base.python_names import kept, reading
from csaw.partition.base.read_only import frozen
from csaw.partition.errors import OptionError, StoreError

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse
    from zarr import Group

    from csaw.partition.graph.store import GraphStore


from contextlib import suppress

from csaw.engine.samples.hop_tables import HopTables
from csaw.engine.samples.opened import NAME, OpenedSamples
from csaw.partition.base.quoting import counted, html_facts, line, near, quoted
from csaw.partition.errors import CsawError

# Readers of the arguments of functions that open samples, and read a part of them.


def graph_store(name: str, value: object) -> object:
    from csaw.partition.graph.store import GraphStore

    return arguments.instance(GraphStore, "an open graph store")(name, value)


PART = {"start": arguments.integer, "stop": maybe(arguments.integer)}
READERS = {
    "path": arguments.path("a sample store"),
    "graph": maybe(arguments.path("the graph store")),
    "algo": arguments.simple,
}
"""Readers of the arguments of what opens samples."""


# Samples as Python and notebooks show them. Nothing is drawn for it, and only notebooks read a few walks.

SHOWN_WALKS, SHOWN_STEPS = 3, 12


class ShownSamples(OpenedSamples):
    """Gives samples their ``repr`` and their table in notebooks."""

    def __repr__(self) -> str:
        request = self.manifest.get("request", {})
        steps, edges = _steps(self), _edges(self)
        return line(
            "csaw samples",
            "in memory" if str(self.path) == NAME else near(self.path),
            [
                counted(self.instances, *self.layout.words) + (f" of {steps}" if steps else ""),
                f"{request.get('algorithm', '')}",
                f"seed {request['seed']}" if "seed" in request else "",
                "" if edges is None else counted(edges, "edge"),
                "drawn when they are read" if self.is_virtual else "",
            ],
        )

    def _repr_html_(self) -> str:
        request, graph, edges = self.manifest.get("request", {}), self.manifest.get("graph", {}), _edges(self)
        facts = [
            (self.layout.words[1], f"{self.instances:,}"),
            ("algorithm", request.get("algorithm", "")),
            *request.get("parameters", {}).items(),
            ("seed", request.get("seed", "")),
            *([] if edges is None else [("edges", f"{edges:,}")]),
            ("vertex ids", self.ids),
            ("graph", graph.get("path", "in memory")),
            *([("drawn", "when they are read")] if self.is_virtual else []),
            *([("first walks", "; ".join(_first_walks(self)))] if self.has_walks and not self.is_virtual else []),
        ]
        return html_facts(f"csaw samples {near(self.path)}", facts)


def _steps(samples: OpenedSamples) -> str:
    """The steps of walks with a limit, as they were asked for."""
    steps = samples.manifest.get("request", {}).get("parameters", {}).get("walk_length")
    return counted(steps, "step") if samples.layout.has_limit and steps is not None else ""


def _first_walks(samples: OpenedSamples) -> list[str]:
    with suppress(CsawError):  # of a damaged store, whose error comes when it is read
        arrays = samples.group(0, min(SHOWN_WALKS, samples.instances))
        steps = samples.layout.edges_of_each(arrays, samples.fill)
        vertices = samples.layout.visits(arrays, samples.fill, 0)
        assert vertices is not None  # as of walks always
        walks = np.split(vertices, np.cumsum(steps + 1)[:-1])
        shown = [map(str, samples.names(walk[:SHOWN_STEPS]).tolist()) for walk in walks]
        return [" ".join(some) + " ..." * (walk.size > SHOWN_STEPS) for some, walk in zip(shown, walks, strict=True)]
    return []


def _edges(samples: OpenedSamples) -> int | None:
    """The number of sampled edges, where it is known without reading the samples."""
    with suppress(CsawError):  # of a damaged store, whose error comes when it is read
        return None if samples.sizes is None else samples.sizes["edges"]
    return None


class Samples(HopTables, ShownSamples):
    """Finished samples, open for reading.

    Arrays are read when they are sliced, as in ``samples.walks[:1000]``, and compared with their checksums; a changed
    file is a StoreError. Slices of samples in memory are read-only views; use ``.copy()`` to modify them.

    Attributes:
        layout: the form of the samples, which is equal to its name. "walks": arrays ``walks`` [instances, walk_length +
            1] and ``lengths`` [instances]. "ragged-walks", for walks without a limit: ``walks`` [steps + instances],
            all walks one after the other, with ``walk_ptr`` [instances + 1]; :meth:`walk` returns one. "hops":
            ``hops``, [instances, width] for each hop; :meth:`parents` returns the parents of its columns. "subgraphs":
            ``src``, ``dst``, ``depth`` [edges] with ``instance_ptr`` [instances + 1]; ``sources`` with ``sources_ptr``;
            for some algorithms also ``samples["weight"]`` [edges], and ``vertices`` with ``vertices_ptr``. "batches":
            :meth:`minibatch` returns the arrays of one mini-batch. "links": ``samples["links"]`` [instances, 2] and
            ``samples["negatives"]`` [instances, m]. The classes in ``layouts/`` describe all arrays.
        instances: number of instances.
        first: number of the first instance, which is 0 except for a part.
        group_size: how many instances were committed together.
        fill: the value of an entry without a vertex: -1, unless ids are negative or do not fit int64, or an earlier
            version stored the sample.
        ids: kind of the vertex ids. original: ids of the input; dense: numbers of the graph store; names: dense,
            because ids of the input are strings: :meth:`names` returns those of any vertices, :meth:`labels` all.
        manifest: the request, the graph and the version of csaw.
        results: counts and timings of the run; empty if the store has lost them.
        source: where the arrays are.
        algo: the file of a custom algorithm, if the user has given it to draw virtual samples.
    """

    def __len__(self) -> int:
        """The number of instances."""
        return self.instances

    def __iter__(self) -> Iterator[Instance]:
        """The instances, one by one: of walks the vertices from the source to the end, of others arrays by name."""
        for start, arrays in self.iter_groups():
            instances = min(self.group_size, self.instances - start)
            yield from map(self.layout.instance, self.layout.cut(arrays, range(instances + 1)))

    @overload
    def __getitem__(self, key: str) -> Array: ...

    @overload
    def __getitem__(self, key: SupportsIndex) -> Instance: ...

    @overload
    def __getitem__(self, key: slice) -> "Samples": ...

    def __getitem__(self, key: str | SupportsIndex | slice) -> "Array | Instance | Samples":
        """An array by its name, an instance by its number, or consecutive instances as samples of their own.

        StoreError where the store has no such array, IndexError where there is no such instance.
        """
        if isinstance(key, str):
            return super().__getitem__(key)
        if not isinstance(key, slice):
            return self.layout.instance(self._only(index(key)))
        first, last, step = key.indices(self.instances)
        if step != 1:
            raise OptionError(f"{self.path}: expected consecutive instances, found a step of {step}")
        return self.part(first, max(first, last))

    def _only(self, number: int) -> Arrays:
        """The arrays of one instance; from -1 backwards from the last. IndexError where there is none."""
        at = number + (self.instances if number < 0 else 0)
        if not 0 <= at < self.instances:
            raise IndexError(f"{self.layout.words[0]} {number} of {self.instances}")
        return self.group(at, at + 1)

    @property
    def zarr(self) -> "Group":
        """The store as a read-only group of zarr-python, which does not compare csaw's checksums.

        OptionError for samples without arrays on disk: in memory, virtual, or a part.
        """
        if self.is_virtual or not self.checksums:
            raise OptionError(
                f"{self.path}: only a whole sample store is a Zarr group; samples in memory, virtual samples and "
                "parts are not"
            )
        return open_group(self.path)

    @reading({"first": arguments.integer, "last": arguments.integer})
    def part(self, first: int, last: int) -> "Samples":
        """Return the instances first .. last - 1 as samples.

        Args:
            first: number of the first instance.
            last: number after that of the last instance.

        Returns:
            Samples whose instance 0 is ``first``.

        Raises:
            OptionError: there are no such instances.
        """
        require_instances(self, first, last)
        return Samples(PartOf(self, first, last), first=self.first + first)

    @reading({"numbers": arguments.ids})
    def chosen(self, numbers: np.ndarray) -> "Samples":
        """Return some instances as samples, such as those that :func:`csaw.changed` names.

        Args:
            numbers: of the instances, ascending.

        Returns:
            Samples whose instance 0 is the first of them; exports have the numbers of the instances.

        Raises:
            OptionError: there are no such instances, or the numbers do not ascend.
        """
        wanted = np.atleast_1d(np.asarray(numbers, np.int64))
        if (
            wanted.ndim > 1
            or (np.diff(wanted) <= 0).any()
            or (wanted.size and not 0 <= wanted[0] <= wanted[-1] < self.instances)
        ):
            raise OptionError(
                f"numbers: expected numbers from 0 to {self.instances - 1:,} that ascend, found {quoted(wanted)}"
            )
        return Samples(Chosen(self, wanted))

    @property
    def walks(self) -> Array:
        """Vertices [instances, walk_length + 1]; walks without a limit follow each other, [steps + instances]."""
        return self["walks"]

    @cached_property
    def lengths(self) -> Array | np.ndarray:
        """The number of steps of each walk; for ragged walks an array in memory."""
        if isinstance(self.layout, RaggedWalks):
            pointer = self.layout.bounds(self.path, self.arrays, "walk_ptr", 0, self.instances)
            return frozen(np.diff(pointer) - 1)
        return self["lengths"]

    @property
    def walk_ptr(self) -> Array:
        return self["walk_ptr"]

    @reading({"number": arguments.integer})
    def walk(self, number: int) -> np.ndarray:
        """Return the vertices of one walk, from its source to its end.

        Args:
            number: of the walk, from 0 on; from -1 backwards from the last.

        Returns:
            The vertices, [steps + 1].

        Raises:
            IndexError: there is no such walk.
            StoreError: the sample has another layout.
        """
        if not self.has_walks:
            raise StoreError(f"{self.path} ({self.layout}) has no walks; samples[{number}] is an instance of it")
        return walk_of(self._only(number))

    @property
    def walk_length(self) -> int | None:
        """The requested number of steps, None without a limit; a walk may have ended earlier."""
        return None if isinstance(self.layout, RaggedWalks) else self.walks.shape[1] - 1

    @property
    def instance_ptr(self) -> Array:
        return self["instance_ptr"]

    @property
    def src(self) -> Array:
        return self["src"]

    @property
    def dst(self) -> Array:
        return self["dst"]

    @property
    def depth(self) -> Array:
        return self["depth"]

    @property
    def sources_ptr(self) -> Array:
        return self["sources_ptr"]

    @property
    def sources(self) -> Array:
        return self["sources"]

    @property
    def vertices_ptr(self) -> Array:
        return self["vertices_ptr"]

    @property
    def vertices(self) -> Array:
        return self["vertices"]

    @reading({"number": arguments.integer})
    def minibatch(self, number: int) -> Arrays:
        """Return the arrays of one mini-batch, by PyTorch Geometric's names and in its direction.

        Args:
            number: of the mini-batch, from 0 on; from -1 backwards from the last.

        Returns:
            The arrays by name:

            - ``n_id`` [nodes]: the vertex of each node, as in the store, seeds first, then in the order in which they
              were reached.
            - ``row``, ``col``, int32 [edges]: each edge as numbers of nodes, from ``row``, the neighbor that was drawn,
              to ``col``, the vertex that it was drawn for.
            - ``e_id``, int64 [edges]: the number of the edge, counted through the rows of the graph store.
            - ``num_sampled_nodes``, int64 [hops + 1], and ``num_sampled_edges``, int64 [hops]: of each hop; nodes and
              edges are in the order of hops.
            - ``input_id``, int64 [seeds]: the position of each seed in the list of sources.
            - ``y``, float64 [seeds], only if the list has labels: the label of each seed.
            - ``probability``, float64 [seeds], only if seeds are drawn: the probability that each seed is in a
              mini-batch.
            - ``batch``, int32 [nodes], only for disjoint mini-batches: the number of the seed to which the node
              belongs.
            - ``time``, int64 [edges], and ``seed_time``, int64 [seeds], only in time: the time of each edge and of each
              seed.

        Raises:
            IndexError: there is no such mini-batch.
            StoreError: the sample has another layout, or a file has changed.
        """
        arrays = self._only(number)
        if not isinstance(self.layout, Batches):
            raise StoreError(f"{self.path} ({self.layout}) has no mini-batches; sample with --algo minibatch")
        return dict(self.layout.instance(arrays))

    def labels(self) -> np.ndarray | None:
        """Return the names of the vertices, by dense id.

        Returns:
            An array [V] of ``str`` of dtype object; None if the graph's ids are numbers.
        """
        return None if self.words is None else np.asarray(self.words)

    @reading(
        {
            "start": arguments.integer,
            "stop": maybe(arguments.integer),
            "threads": arguments.whole(1),
            "graph": maybe(graph_store),
        }
    )
    def pyg(
        self, start: int = 0, stop: int | None = None, graph: "GraphStore | None" = None, threads: int = 1
    ) -> Record:
        """Return the instances start .. stop - 1 as one batch of PyTorch Geometric.

        Args:
            start: number of the first instance.
            stop: number after that of the last instance; None, to the last.
            graph: the store that was sampled; with it the batch has ``e_id``, the positions of the edges in its rows.
            threads: number of threads that share the work if all instances are requested.

        Returns:
            Arrays by PyTorch Geometric's names, which :mod:`csaw.engine.samples.pyg` describes.

        Raises:
            OptionError: there are no such instances, or an id does not fit int64.
            StoreError: ``graph`` is a different one.
        """
        from csaw.engine.samples.pyg import batch_of

        return batch_of(self, start, stop, graph, threads)

    def edge_index(self) -> np.ndarray:
        """Return all sampled edges, each from a neighbor to the vertex that it was drawn for.

        Returns:
            int64 [2, edges]; numbers count entries of ``pyg()["n_id"]``.
        """
        return np.asarray(self.pyg()["edge_index"])

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the samples as a table in memory.

        Returns:
            A ``pandas.DataFrame``. Of walks, a row for each vertex of each walk: ``instance``, ``step`` from 0,
            ``vertex``, and in time ``time``, that of the edge to the vertex, which the first one lacks. Of other
            samples, a row for each edge: ``instance``, ``src``, ``dst``, ``depth``, with times, weights and seeds of
            those that have them; in subgraphs, a vertex without an edge is a row whose ``dst`` is missing.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        from csaw.engine.samples.other_libraries import to_pandas

        return to_pandas(self)

    def to_networkx(self) -> "networkx.Graph":
        """Return the sampled vertices and edges of all instances as one graph; ``samples[3:4]`` are those of one.

        A step of a walk along no edge, such as a restart, is an edge as well.

        Returns:
            A ``networkx.Graph``, of a directed graph a ``networkx.DiGraph``. Its nodes are ids of the input, and its
            edges have ``count``, how often they were drawn.

        Raises:
            MissingDependencyError: networkx is not installed.
        """
        from csaw.engine.samples.other_libraries import to_networkx

        return to_networkx(self)

    def to_scipy(self) -> "tuple[scipy.sparse.csr_array, np.ndarray]":
        """Return how often each edge was drawn, in all instances together, as a sparse matrix.

        A step of a walk along no edge, such as a restart, counts as well.

        Returns:
            A ``scipy.sparse.csr_array``, int64 [n, n], whose entry (i, j) is the number of times that the edge from i
            to j was drawn, and the ids of the n sampled vertices, [n].

        Raises:
            MissingDependencyError: SciPy is not installed.
        """
        from csaw.engine.samples.other_libraries import to_scipy

        return to_scipy(self)


def open_stored(path: str | Path, attributes: Record | None = None) -> Samples:
    """Open the finished sample store at ``path``, whose samples are files; ``attributes``: its own, if they are known.

    StoreError where it is missing, unfinished, damaged, of a later format, or virtual.
    """
    path = kept(path)
    found = check.attributes_of(path) if attributes is None else attributes
    if VIRTUAL in found:
        raise StoreError(f"{path} is a virtual sample, which is drawn when it is read; expected a stored sample")
    return Samples(StoredSource(path, found))
