"""Samples that were drawn on the graph of the stages of a metapath, or on that of relations: see
partition/graph/staged.py.
"""

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from csaw.engine.plan.contracts import Array, Batch
from csaw.engine.samples.layouts import Arrays
from csaw.partition.graph.relation_rows import RelationRows
from csaw.partition.graph.stages import Stages
from csaw.partition.graph.types import RELATION
from csaw.partition.graph.views import View

HOP, OF_SUBGRAPHS = "hop_", ("src", "dst", "sources")


@dataclass(frozen=True)
class OfStages:
    """A batch with the vertices of the graph itself, in arrays of ``xp`` on the device."""

    drawn: Batch
    stages: Stages
    xp: ModuleType

    @property
    def read_back(self) -> bool:
        """Whether ``arrays`` reads walks from disk."""
        return bool(getattr(self.drawn, "read_back", False))

    def arrays(self, rows: slice) -> Arrays:
        return self._in_graph(np, self.drawn.arrays(rows))

    def on_device(self) -> dict[str, Array]:
        return self._in_graph(self.xp, self.drawn.on_device())

    def _in_graph(self, xp: ModuleType, arrays: dict[str, Array]) -> dict[str, Array]:
        """The arrays of walks or hops with the vertices of the graph."""
        found = {name: self._of_hop(xp, name, array) for name, array in arrays.items()}
        if (walks := arrays.get("walks")) is not None:
            found["walks"] = self._of_walks(xp, walks, arrays["lengths"])
        return found

    def _of_hop(self, xp: ModuleType, name: str, array: Array) -> Array:
        depth = name.removeprefix(HOP)
        return self._moved(xp, array, self.stages.away(int(depth))) if depth.isdigit() and depth != name else array

    def _of_walks(self, xp: ModuleType, walks: Array, lengths: Array) -> Array:
        """Walks in rows, or one after the other with ``lengths`` steps each."""
        longest = walks.shape[1] if walks.ndim == 2 else int(lengths.max()) + 1 if lengths.size else 1
        away = xp.asarray(np.array([self.stages.away(depth) for depth in range(longest)], np.int64))
        if walks.ndim == 2:
            return self._moved(xp, walks, away)
        first = xp.cumsum(lengths + 1) - lengths - 1
        return self._moved(xp, walks, away[xp.arange(walks.size) - xp.repeat(first, lengths + 1)])

    def _moved(self, xp: ModuleType, array: Array, away: "Array | int") -> Array:
        none = array == array.dtype.type(-1 % (1 << 8 * array.dtype.itemsize))
        by = xp.asarray(away).astype(np.int64).astype(array.dtype)  # a negative one wraps, and so does the sum
        moved = (array + by).astype(self.stages.id_dtype, copy=False)
        moved[none] = self.stages.id_dtype.type(-1 % (1 << 8 * self.stages.id_dtype.itemsize))
        found: Array = moved
        return found


class Relations:
    """A graph of relations, from which a backend with arrays of ``xp`` draws mini-batches."""

    def __init__(self, rows: RelationRows, store: View, xp: ModuleType) -> None:
        self.rows, self.store, self.xp = rows, store, xp
        self.edges_there: Array | None = None

    def numbered(self, sources: Array) -> Array:
        """The sources of instances, maybe on the device, with the numbers that their vertices have there."""
        if sources.ndim == 2:
            return self.rows.numbered(np if isinstance(sources, np.ndarray) else self.xp, sources)
        return np.dstack([self.rows.numbered(np, sources[:, :, 0]), sources[:, :, 1:]])

    def stored_edges(self, xp: ModuleType) -> Array:
        """The numbers in the store of its edges, in an array of ``xp``."""
        if xp is np:
            return self.store.stored_edges
        if self.edges_there is None:
            self.edges_there = xp.asarray(self.store.stored_edges)
        return self.edges_there


@dataclass(frozen=True)
class OfRelations:
    """A batch with the vertices of the graph itself; of mini-batches also its edges, and the relation of each."""

    drawn: Batch
    relations: Relations

    def arrays(self, rows: slice) -> Arrays:
        return self._in_graph(np, self.drawn.arrays(rows))

    def on_device(self) -> dict[str, Array]:
        return self._in_graph(self.relations.xp, self.drawn.on_device())

    def _in_graph(self, xp: ModuleType, arrays: dict[str, Array]) -> dict[str, Array]:
        rows = self.relations.rows
        if "e_id" not in arrays:
            return {
                name: rows.in_graph(xp, held) if name.startswith(HOP) or name in OF_SUBGRAPHS else held
                for name, held in arrays.items()
            }
        edges = arrays["e_id"]
        found = {"n_id": rows.in_graph(xp, arrays["n_id"]), RELATION.name: rows.relation_of(xp, edges)}
        return arrays | found | {"e_id": self.relations.stored_edges(xp)[edges].astype(np.int64)}
