"""The graph of a loader as its links see it: which vertices their ends are, which edges lead between such, and from
what times on vertices and edges are there.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.engine.batches.links import first_times
from csaw.engine.loaders.graphs import Sampled
from csaw.engine.loaders.hetero import EdgeType, SampledTypes
from csaw.engine.loaders.inputs import links_of
from csaw.engine.loaders.pyg_arguments import int64_times
from csaw.partition import GraphStore
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import BEFORE_ALL, TIME
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.graph.store import INDICES
from csaw.partition.graph.types import RELATION

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.data.storage import EdgeStorage, NodeStorage


class LinkGraph(NamedTuple):
    """The graph of a loader of links.

    Attributes:
        graph: the graph that is sampled.
        data: what it is of; of a graph store, what has its nodes.
        edge_type: that of the links; None where there are no types.
        time_attr: the name of the times; None without.
    """

    graph: Sampled | SampledTypes
    data: "Data | HeteroData"
    edge_type: EdgeType | None
    time_attr: str | None

    @property
    def vertices(self) -> int:
        return self.graph.store.vertices

    def spans(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The first vertex that a source can be, and the one behind the last; and of targets."""
        if isinstance(self.graph, SampledTypes) and self.edge_type is not None:
            return self.graph.types.span(self.edge_type[0]), self.graph.types.span(self.edge_type[2])
        return (0, self.vertices), (0, self.vertices)

    def dense(self, name: str, given: object) -> np.ndarray:
        """int64 [2, n]: the ends that an argument gives, numbers of nodes of their types, as vertices."""
        (first, last), (begin, end) = self.spans()
        return links_of(name, given, (last - first, end - begin)) + np.array([[first], [begin]])

    def edges(self) -> np.ndarray:
        """int64 [2, edges]: the sources and targets of all edges that links can be."""
        if self.graph.order is not None:
            held = self._of_type().edge_index.cpu().numpy().astype(np.int64)
            return np.asarray(held + np.array([[first] for first, _ in self.spans()]))
        indptr, indices = _rows(self.graph.store, INDICES)
        rows, others = np.repeat(np.arange(self.vertices), np.diff(indptr)), indices.astype(np.int64)
        if self.edge_type is None:
            return np.stack([rows, others])
        ours = self._are_ours()
        return np.stack([others[ours], rows[ours]])  # relations are edge types turned round

    def edge_times(self, edges: np.ndarray, there: np.ndarray) -> np.ndarray:
        """int64 [edges]: from when on each of these counts; by times of nodes, ``there``, once both ends are."""
        if self._of_nodes():
            return np.asarray(there[edges].max(axis=0))
        if self.graph.order is None:
            times = _rows(self.graph.store, TIME.array)[1]
            return times if self.edge_type is None else times[self._are_ours()]
        held = self._of_type()
        if self.time_attr not in held:  # another edge type has times
            return np.full(edges.shape[1], BEFORE_ALL)
        return int64_times("time_attr", held[self.time_attr], edges.shape[1], "edges")

    def first_times(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 [V]: from when on each vertex is there, by its first edge or its own time; bool [V]: whether ever."""
        if not self._of_nodes():
            return first_times(self.graph.store)
        stores: list[tuple[int, NodeStorage | Data]] = [(0, self.data)]
        if isinstance(self.graph, SampledTypes):
            stores = [(self.graph.types.span(name)[0], self.data[name]) for name in self.graph.types.names]
        found = np.full(self.vertices, BEFORE_ALL)
        for first, nodes in stores:
            if self.time_attr in nodes:
                times = int64_times("time_attr", nodes[self.time_attr], count := int(nodes.num_nodes), "nodes")
                found[first : first + count] = times
        return found, np.ones(self.vertices, bool)

    def _of_nodes(self) -> bool:
        """Whether the times are those of nodes."""
        if self.graph.order is None:
            return False
        if isinstance(self.graph, SampledTypes):
            return not any(self.time_attr in store for store in self.data.edge_stores)
        return bool(self.data.is_node_attr(self.time_attr))

    def _of_type(self) -> "Data | EdgeStorage":
        """What has the edges that links can be, of a Data or HeteroData object."""
        return self.data if self.edge_type is None else self.data[self.edge_type]

    def _are_ours(self) -> np.ndarray:
        """bool [stored edges]: whether each has the type of the links."""
        assert isinstance(self.graph, SampledTypes)
        assert self.edge_type is not None
        return np.asarray(_rows(self.graph.store, RELATION.array)[1] == self.graph.edge_types.index(self.edge_type))


def _rows(store: GraphStore, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Where rows begin, and an array of all edges: the neighbors or a column."""
    if isinstance(store, InMemory):
        return store.indptr, store.arrays[name]
    found = store.load([column for column in store.edge_columns if column.array == name])
    return found.indptr, next(iter(found.columns.values()), found.indices)


def edge_type_of(given: object, graph: Sampled | SampledTypes) -> tuple[EdgeType | None, object]:
    """The edge type of links, None where there are no types, and the links as numbers of nodes, None for all edges.

    ``given``: the argument edge_label_index. OptionError where there are types, and it names none of them.
    """
    if not isinstance(graph, SampledTypes):
        return None, given
    name, ends = given if isinstance(given, tuple | list) and len(given) == 2 else (given, None)
    if not isinstance(name, tuple) or name not in graph.edge_types:
        raise OptionError(
            "edge_label_index: expected an edge type, or one with links, such as (('author', 'writes', 'paper'), "
            f"links), found {quoted(given)}; there are {', '.join(map(str, graph.edge_types))}"
        )
    return name, ends
