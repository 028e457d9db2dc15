"""A batch of mini-batches in progress, hop by hop: their vertices are numbered as they are reached, and a vertex that
is reached again keeps its number.

A node's number is the slot of its random numbers. So a sample depends on no order of work, and a kernel that takes one
mini-batch through all hops (engine/cpu/kernels/hops.py) draws the same.
"""

import numpy as np

from csaw.engine.batches.traversals import Traversals, fresh
from csaw.engine.plan.contracts import Array
from csaw.engine.schedule.backend import ALL, Backend
from csaw.partition.errors import BudgetError

MOST_NODES = 2**31 - 1  # of a mini-batch: their numbers are int32


def check_nodes(most: int, relations: int = 1) -> None:
    """BudgetError if a mini-batch has more nodes than can be numbered. ``most``: nodes of the largest one, each of
    which has a slot for every one of these ``relations``.
    """
    if most * relations > MOST_NODES:
        raise BudgetError(
            f"a mini-batch has {most:,} nodes, and at most {MOST_NODES // relations:,} can be numbered; lower "
            "--seeds-per-batch or --fanout"
        )


class MiniBatches(Traversals):
    """The mini-batches from number ``first`` on.

    ``sources`` int64 [instances, seeds, 2]: each seed's vertex and its position in the list of sources; -1 for none.
    """

    def __init__(self, backend: Backend, first: int, sources: np.ndarray) -> None:
        xp = backend.xp
        self.disjoint = backend.disjoint
        seeds = xp.asarray(sources, np.int64).reshape(-1, 2)
        self.width = sources.shape[1]
        there = xp.flatnonzero(seeds[:, 0] >= 0)
        local, number = there // max(self.width, 1), there % max(self.width, 1)
        self.input_id = seeds[there, 1]
        self.seed_counts = xp.bincount(local, minlength=len(sources))
        self.node_counts = self.seed_counts.copy()
        self.nodes: list[tuple[Array, ...]] = [(local, seeds[there, 0], number)]  # of each hop: instance, vertex, seed
        self.drawn: list[tuple[Array, ...]] = []  # of each hop: instance, row, col, edge
        self.owner = xp.tile(xp.arange(self.width), len(sources))  # of each frontier entry: the number of its seed
        self.vertices = backend.store.vertices
        keys = self._keys(local, number, seeds[there, 0])
        order = xp.argsort(keys, kind="stable")
        order = order[fresh(xp, keys[order])]  # edges to a seed that is there twice lead to its first node
        self.known, self.known_node = keys[order], number[order]
        super().__init__(backend, first, np.asarray(sources[:, :, 0]))

    def _keys(self, local: Array, seed: Array, vertex: Array) -> Array:
        """Return the keys of nodes: instance and vertex, if disjoint also the seed.

        Below 2^63, because every seed in flight takes memory.
        """
        return ((local * self.width + seed) if self.disjoint else local) * self.vertices + vertex

    def _next_depth(self) -> None:
        xp = self.xp
        entry, cell = self._found_cells()
        local, vertex, owner = self.local[entry], self.out[cell].astype(np.int64), self.owner[entry]
        keys = self._keys(local, owner, vertex)
        met = self._met(keys)
        self._number(keys[met], local[met])
        row = self.known_node[xp.searchsorted(self.known, keys)]
        self.drawn.append((local, row, self._nodes_of(entry), self.edge[cell]))
        self.nodes.append((local[met], vertex[met], owner[met]))
        self.owner = owner[met]
        self._enter(local[met], row[met], vertex[met], self.vertex[entry[met]])

    def _nodes_of(self, entry: Array) -> Array:
        """The nodes that these entries of the frontier are."""
        return self.slot[entry]

    def _met(self, keys: Array) -> Array:
        """The edges, in order, that are the first ones to lead to a new node."""
        xp = self.xp
        order = xp.argsort(keys, kind="stable")
        order = order[fresh(xp, keys[order])]
        if self.known.size:
            at = xp.minimum(xp.searchsorted(self.known, keys[order]), self.known.size - 1)
            order = order[self.known[at] != keys[order]]
        return xp.sort(order)

    def _number(self, keys: Array, local: Array) -> None:
        """Give these new nodes, in order of instance, the next numbers of their instances."""
        xp = self.xp
        count = xp.bincount(local, minlength=self.instances)
        number = xp.arange(local.size) - (xp.cumsum(count) - count)[local] + self.node_counts[local]
        self.node_counts += count
        known = xp.concatenate([self.known, keys])
        order = xp.argsort(known)
        self.known, self.known_node = known[order], xp.concatenate([self.known_node, number])[order]

    def _samples(self) -> dict[str, Array]:
        _, vertex, seed = self._in_order(self.nodes, 3)
        check_nodes(int(self.node_counts.max()) if self.instances else 0)
        of_edge, row, col, edge = self._in_order(self.drawn, 4)
        batch = {"batch": seed.astype(np.int32)} if self.disjoint else {}
        return {
            "node_counts": self.node_counts,
            "n_id": vertex.astype(self.dtype),
            "edge_counts": self.xp.bincount(of_edge, minlength=self.instances),
            "row": row.astype(np.int32),
            "col": col.astype(np.int32),
            "e_id": edge,
            "hop_nodes": self._by_hop(self.nodes, len(self.sizes) + 1),
            "hop_edges": self._by_hop(self.drawn, len(self.sizes)),
            "seed_counts": self.seed_counts,
            "input_id": self.input_id,
            **batch,
        }

    def _in_order(self, hops: list[tuple[Array, ...]], columns: int) -> tuple[Array, ...]:
        """The columns of all hops together, in order of instance and hop; the first one is the instance."""
        xp = self.xp
        empty = (xp.zeros(0, np.int64),) * columns
        joined = [xp.concatenate([empty[i], *(hop[i] for hop in hops)]) for i in range(columns)]
        order = xp.argsort(joined[0], kind="stable")
        return tuple(column[order] for column in joined)

    def _by_hop(self, hops: list[tuple[Array, ...]], columns: int) -> Array:
        """int64 [instances, columns]: the entries of each hop."""
        out = self.xp.zeros((self.instances, columns), np.int64)
        for column, (local, *_) in enumerate(hops):
            out[:, column] = self.xp.bincount(local, minlength=self.instances)
        return out

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host(self.samples)

    def edges(self) -> int:
        return sum(hop[0].size for hop in self.drawn)
