"""Neighbor samples on the CPU: a batch with uniform picks is drawn hop by hop, and mini-batches with picks that are
uniform or from running sums are drawn by one thread each; see engine/cpu/kernels/hops.py.
"""

from collections.abc import Callable

import numpy as np

from csaw.engine.batches.minibatches import check_nodes
from csaw.engine.cpu.runner import CpuRunner
from csaw.engine.plan.by_relation import sizes_of_relations
from csaw.engine.samples.layouts.hops import relation_names, time_names
from csaw.engine.schedule.backend import ALL
from csaw.engine.sources.given_sources import asks_times

SLICE = 16384  # parents of a task


class HopTables:
    """Instances ``first ..``; ``sources``: dense ids [instances, frontier size]."""

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        self.backend, self.first = backend, first
        self.tables = [sources.astype(backend.store.id_dtype)]
        self.counts = np.zeros(2, np.int64)  # number of children, and of parents without a neighbor

    def advance(self) -> None:
        slot = 0
        for size in self.backend.plan.sizes:
            parents = self.tables[-1]
            children = np.empty((len(parents), parents.shape[1] * size), parents.dtype)
            self._hop(parents, children, size, slot)
            self.tables.append(children)
            slot += parents.shape[1]

    def _hop(self, parents: np.ndarray, children: np.ndarray, size: int, slot: int) -> None:
        if not size:
            return
        backend, begins = self.backend, np.arange(0, parents.size, SLICE)
        kernel, beside, behind = self._kernel(parents, children)
        width = max(parents.shape[1], 1)
        found = np.zeros((len(begins) + 1, 2), np.int64)

        def task(piece: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
            begin = int(piece[0]) if piece.size else parents.size  # an empty slice compiles the kernel
            kernel(
                begin,
                min(begin + SLICE, parents.size),
                backend.graph.arrays,
                np.uint64(backend.seed),
                self.first,
                width,
                slot,
                size,
                parents.reshape(-1),
                *beside,
                children.reshape(-1),
                *behind,
                found[begin // SLICE],
            )

        backend.in_slices(begins, 1, task)
        self.counts += found.sum(axis=0)

    def _kernel(
        self, parents: np.ndarray, children: np.ndarray
    ) -> tuple[Callable[..., object], tuple[object, ...], tuple[object, ...]]:
        """The kernel that draws a hop, and what it takes beside the parents and behind their children."""
        return self.backend.kernels.hop, (), ()

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return {f"hop_{i}": table[rows] for i, table in enumerate(self.tables)}

    on_device = arrays

    def edges(self) -> int:
        return int(self.counts[0])

    def dead_ends(self) -> int:
        return int(self.counts[1])


class HopTablesByRelation(HopTables):
    """Instances ``first ..`` of a graph of relations, whose vertices select from each relation by itself."""

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        super().__init__(backend, first, sources)
        assert backend.store.relation_rows is not None
        self.picks = backend.store.relation_rows.picks(sizes_of_relations(backend.algorithm))
        self.relations: list[np.ndarray] = []  # of the cells of each hop

    def _hop(self, parents: np.ndarray, children: np.ndarray, size: int, slot: int) -> None:
        self.relations.append(np.zeros(children.shape, np.uint8))
        super()._hop(parents, children, size, slot)

    def _kernel(
        self, parents: np.ndarray, children: np.ndarray
    ) -> tuple[Callable[..., object], tuple[object, ...], tuple[object, ...]]:
        picks = self.picks[len(self.relations) - 1]
        return self.backend.kernels.hop_by_relation, (), (self.relations[-1].reshape(-1), picks)

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        names = relation_names(self.tables)
        return super().arrays(rows) | {name: one[rows] for name, one in zip(names, self.relations, strict=True)}

    on_device = arrays


# A batch of neighbor samples in time on the CPU, drawn hop by hop; see engine/cpu/kernels/hops.py.


class HopTablesInTime(HopTables):
    """Instances ``first ..``, whose vertices pick among their edges before a time that they know.

    ``sources`` int64 [instances, frontier size, 2]: the vertices that they start from, and their times. ``times``:
    int64 tables of the shapes of ``tables``, the times of sources, and of the edges to the vertices of each hop.
    """

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        super().__init__(backend, first, sources[:, :, 0])
        self.times = [np.ascontiguousarray(sources[:, :, 1], np.int64)]

    def _hop(self, parents: np.ndarray, children: np.ndarray, size: int, slot: int) -> None:
        self.times.append(np.empty(children.shape, np.int64))
        super()._hop(parents, children, size, slot)

    def _kernel(
        self, parents: np.ndarray, children: np.ndarray
    ) -> tuple[Callable[..., object], tuple[object, ...], tuple[object, ...]]:
        *before, time = self.times
        known = before[-1 if self.backend.against_previous else 0]
        beside = known.reshape(-1), parents.size // max(known.size, 1)
        return self.backend.kernels.hop_in_time, beside, (time.reshape(-1), self.backend.time_rules)

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        names = time_names(self.times)
        return super().arrays(rows) | {name: table[rows] for name, table in zip(names, self.times, strict=True)}

    on_device = arrays


DRAWN = ("n_id", "batch", "row", "col", "e_id", "time")  # what the kernel returns of a mini-batch


class WholeMiniBatches:
    """The mini-batches from number ``first`` on.

    ``sources`` int64 [instances, seeds, 2]: each seed's vertex and its position in the list of sources; -1 for none. In
    time [instances, seeds, 3], with the time of each.
    """

    def __init__(self, backend: CpuRunner, first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.sources = backend, first, sources
        self.timed = asks_times(backend.algorithm)
        if sources.shape[2] != 2 + self.timed:  # compiled code would read beyond the times of seeds
            raise ValueError(f"expected {2 + self.timed} numbers of each seed, found {sources.shape[2]}")
        instances, hops = len(sources), len(backend.plan.sizes)
        self.drawn: list[tuple[np.ndarray, ...]] = [()] * instances  # of each mini-batch: the arrays named by DRAWN
        self.hop_nodes, self.hop_edges = (
            np.zeros((instances, hops + 1), np.int64),
            np.zeros((instances, hops), np.int64),
        )
        self.counts = np.zeros((instances + 1, 2), np.int64)  # vertices without a neighbor; nodes, if they are too many

    def advance(self) -> None:
        backend, (sizes, shifts) = self.backend, self._of_relations()
        if not backend.rule.replace:  # kernels have room for the largest pick
            sizes = np.minimum(sizes, max(backend.store.max_degree, 1))
        seed, disjoint, rules = np.uint64(backend.seed), backend.disjoint, backend.time_rules

        def task(piece: np.ndarray, bad: np.ndarray, tally: np.ndarray) -> None:
            for number in piece.tolist() or [-1]:  # an empty slice compiles the kernel
                seeds = self.sources[number, :, 0] if piece.size else np.empty(0, np.int64)
                clock = self.sources[number, :, 2] if piece.size and self.timed else seeds[:0]
                hops = (
                    (self.hop_nodes[number], self.hop_edges[number])
                    if piece.size
                    else np.zeros((2, len(sizes) + 1), np.int64)
                )
                drawn = backend.kernels.draw_minibatch(
                    np.ascontiguousarray(seeds[seeds >= 0]),
                    backend.graph.arrays,
                    seed,
                    self.first + number,
                    disjoint,
                    sizes,
                    shifts,
                    np.ascontiguousarray(clock),
                    rules,
                    *hops,
                    self.counts[number],
                    tally,
                )
                if piece.size:
                    self.drawn[number] = drawn

        backend.in_slices(np.arange(len(self.sources)), 1, task)
        check_nodes(int(self.counts[:, 1].max()), len(shifts))

    def _of_relations(self) -> tuple[np.ndarray, np.ndarray]:
        """How many edges a node selects at each hop from each relation, int64 [hops, relations]; and where the rows of
        each relation are, int64 [relations, 3]. Where there are none, all edges are of one.
        """
        rows = self.backend.store.relation_rows
        if rows is None:
            return np.array(self.backend.plan.sizes, np.int64).reshape(-1, 1), np.zeros((1, 3), np.int64)
        return sizes_of_relations(self.backend.algorithm), rows.shifts

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        backend, positions = self.backend, self.sources[:, :, 1]
        of = {name: [one[i] for one in self.drawn] for i, name in enumerate(DRAWN)}
        n_id, batch, row, col, e_id, time = (np.concatenate(parts) if parts else np.zeros(0) for parts in of.values())
        return {
            "node_counts": self.hop_nodes.sum(axis=1),
            "n_id": n_id.astype(backend.store.id_dtype, copy=False),
            "edge_counts": self.hop_edges.sum(axis=1),
            "row": row,
            "col": col,
            "e_id": e_id,
            "hop_nodes": self.hop_nodes,
            "hop_edges": self.hop_edges,
            "seed_counts": self.hop_nodes[:, 0],
            "input_id": positions[positions >= 0],
            **({"batch": batch} if backend.disjoint else {}),
            **({"time": time, "seed_time": self.sources[:, :, 2][positions >= 0]} if self.timed else {}),
        }

    def on_device(self) -> dict[str, np.ndarray]:
        return self.arrays()

    def edges(self) -> int:
        return int(self.hop_edges.sum())

    def dead_ends(self) -> int:
        return int(self.counts[:, 0].sum())
