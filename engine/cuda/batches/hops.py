"""Neighbor samples on a GPU: a batch is drawn hop by hop, with picks that are uniform or from alias tables or running
sums made beforehand; mini-batches with uniform picks go through all hops, some at a time, with hash tables of their
vertices in shared memory (engine/cuda/kernels/minibatches.cu).
"""

import cupy
import numpy as np
from cupy import ndarray as Array

from csaw.engine.batches.minibatches import check_nodes
from csaw.engine.cuda.compile import hop_kernel
from csaw.engine.cuda.declarations import BLOCK, CHUNK_CELLS, MOST_PARTS, PART_KEYS, PART_TILE, struct
from csaw.engine.cuda.runner import CudaRunner
from csaw.engine.plan.batch_kind import frontiers
from csaw.engine.plan.by_relation import sizes_of_relations
from csaw.engine.plan.planning import worth_grouping
from csaw.engine.samples.identifiers import GroupArrays, Identifiers
from csaw.engine.samples.layouts.hops import relation_names, time_names
from csaw.engine.schedule.backend import ALL
from csaw.engine.schedule.specialization import time_rules

UNGROUP = 4 * BLOCK  # (vertex, cell) pairs that a block of `ungroup` moves


class Hops:
    """Instances ``first ..``; ``sources``: dense ids [instances, frontier size]."""

    ungroups = "ungroup"  # the kernel that moves children back

    def __init__(self, backend: CudaRunner, first: int, sources: Array) -> None:
        self.backend, self.first = backend, first
        self.tables = [cupy.asarray(sources, backend.store.id_dtype)]
        self.counts = cupy.zeros(2, np.uint64)  # dead ends, edges

    def advance(self) -> None:
        slot = 0
        for size in self.backend.plan.sizes:
            parents = self.tables[-1]
            children = self._room(parents, size)
            if children[0].size > 0:
                grouped = worth_grouping(self.backend.plan, self.backend.store.edges, parents.size, size)
                (self._hop_grouped if grouped else self._hop)(parents, children, size, slot)
            self._keep(children)
            slot += parents.shape[1]

    def _room(self, parents: Array, size: int) -> tuple[Array, ...]:
        """Tables for what is noted of the children of a hop: which vertices they are."""
        return (cupy.empty((len(parents), parents.shape[1] * size), parents.dtype),)

    def _keep(self, children: tuple[Array, ...]) -> None:
        """Keep what was drawn at a hop."""
        self.tables.append(children[0])

    def _hop_grouped(self, parents: Array, children: tuple[Array, ...], size: int, slot: int) -> None:
        """Draw a hop with parents in the order of their rows, then move the children back into the order of cells."""
        grouped, number, count = self.backend.transits.group(parents)
        drawn = tuple(cupy.empty_like(table) for table in children)
        self._hop(parents, drawn, size, slot, grouped, count)
        blocks = -(-parents.size * -(-size // 2) // UNGROUP)
        self.backend.kernels.launch(
            self.ungroups, blocks, BLOCK, parents.size, np.uint32(size), number, *drawn, *children
        )

    def _hop(
        self,
        parents: Array,
        children: tuple[Array, ...],
        size: int,
        slot: int,
        grouped: Array = None,
        count: Array = None,
    ) -> None:
        kernels = self.backend.kernels
        staged = kernels.staged(parents.size, size)
        hop = self._struct(parents, children, size, slot, staged, grouped, count)
        name, before, behind = self._kernel(parents, children)
        counts = self.counts[:1], self.counts[1:]
        kernels.launch(
            name, -(-parents.size // staged), BLOCK, hop, *before, np.uint64(self.backend.seed), *counts, *behind
        )

    def _struct(
        self,
        parents: Array,
        children: tuple[Array, ...],
        size: int,
        slot: int,
        staged: int,
        grouped: Array = None,
        count: Array = None,
    ) -> np.ndarray:
        return struct(
            "Hop",
            first=self.first,
            parents=parents.size,
            width=np.uint32(parents.shape[1]),
            size=np.uint32(size),
            slot=np.uint32(slot),
            parent=parents,
            child=children[0],
            grouped=grouped,
            grouped_parents=count,
            staged=np.uint32(staged),
        )

    def _kernel(
        self, parents: Array, children: tuple[Array, ...]
    ) -> tuple[str, tuple[object, ...], tuple[object, ...]]:
        """The kernel that draws a hop, and what it takes before the seed and behind the counts."""
        name = hop_kernel(self.backend)
        return name, (), (self.backend.counts,) if name == "hop_distinct_by_sums" else ()

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host({name: array[rows] for name, array in self.on_device().items()})

    def stored(self, rows: slice, identifiers: Identifiers) -> GroupArrays | None:
        """Copy them as a sample store has them; None where the host has to convert ids."""
        return self.backend.as_stored({name: array[rows] for name, array in self.on_device().items()}, identifiers)

    def on_device(self) -> dict[str, Array]:
        return {f"hop_{i}": table for i, table in enumerate(self.tables)}

    def edges(self) -> int:
        return int(self.counts[1])

    def dead_ends(self) -> int:
        return int(self.counts[0])


class HopsByRelation(Hops):
    """Instances ``first ..`` of a graph of relations, whose vertices select from each relation by itself: a launch for
    each relation and hop.
    """

    def __init__(self, backend: CudaRunner, first: int, sources: Array) -> None:
        super().__init__(backend, first, sources)
        assert backend.store.relation_rows is not None
        self.picks = backend.store.relation_rows.picks(sizes_of_relations(backend.algorithm))
        self.relations: list[Array] = []  # of the cells of each hop

    def _room(self, parents: Array, size: int) -> tuple[Array, ...]:
        (children,) = super()._room(parents, size)
        relations = cupy.empty(children.shape, np.uint8)
        if children.size:
            children.data.memset_async(255, children.nbytes)  # no vertex
            relations.data.memset_async(0, relations.nbytes)
        return children, relations

    def _keep(self, children: tuple[Array, ...]) -> None:
        super()._keep(children)
        self.relations.append(children[1])

    def _hop(
        self,
        parents: Array,
        children: tuple[Array, ...],
        size: int,
        slot: int,
        grouped: Array = None,
        count: Array = None,
    ) -> None:
        kernels, counts = self.backend.kernels, (self.counts[:1], self.counts[1:])
        of_hop = self.picks[len(self.relations)]
        for number, (low, high, shift, wanted, base) in enumerate(of_hop.tolist()):
            if wanted == 0 or low == high:
                continue
            staged = kernels.staged(parents.size, wanted)
            hop = self._struct(parents, children, size, slot, staged, grouped, count)
            relation = struct(
                "OfRelation",
                low=low,
                high=high,
                shift=shift,
                wanted=np.uint32(wanted),
                base=np.uint32(base),
                number=np.uint32(number),
                relations=np.uint32(len(of_hop)),
                relation=children[1],
            )
            blocks = -(-parents.size // staged)
            kernels.launch("hop_of_relation", blocks, BLOCK, hop, relation, np.uint64(self.backend.seed), *counts)

    def on_device(self) -> dict[str, Array]:
        return super().on_device() | dict(zip(relation_names(self.tables), self.relations, strict=True))


# A batch of neighbor samples in time on a GPU, drawn hop by hop.


class HopsInTime(Hops):
    """Instances ``first ..``, whose vertices pick among their edges before a time that they know.

    ``sources`` int64 [instances, frontier size, 2]: the vertices that they start from, and their times. ``times``:
    int64 tables of the shapes of ``tables``, the times of sources, and of the edges to the vertices of each hop.
    """

    ungroups = "ungroup_in_time"

    def __init__(self, backend: CudaRunner, first: int, sources: Array) -> None:
        super().__init__(backend, first, sources[:, :, 0])
        self.times = [cupy.ascontiguousarray(cupy.asarray(sources[:, :, 1], np.int64))]
        self.window = time_rules(backend.algorithm).window

    def _room(self, parents: Array, size: int) -> tuple[Array, ...]:
        (children,) = super()._room(parents, size)
        return children, cupy.empty(children.shape, np.int64)

    def _keep(self, children: tuple[Array, ...]) -> None:
        super()._keep(children)
        self.times.append(children[1])

    def _kernel(
        self, parents: Array, children: tuple[Array, ...]
    ) -> tuple[str, tuple[object, ...], tuple[object, ...]]:
        known = self.times[-1 if self.backend.against_previous else 0]
        return "hop_in_time", (known, np.uint32(parents.size // known.size), children[1], self.window), ()

    def on_device(self) -> dict[str, Array]:
        return super().on_device() | dict(zip(time_names(self.times), self.times, strict=True))


MOST_ROWS = 65535  # blocks of the second dimension of a launch
# Most scratch memory of the mini-batches that are drawn at a time, unless the plan's batch has less: of few at a time,
# launches take longer than kernels.
SCRATCH_BYTES = 512 << 20
NO_SCRATCH = dict.fromkeys(("vertex", "items", "totals", "taken", "begins"))


class DeviceMiniBatches:
    """The mini-batches from number ``first`` on.

    ``sources`` int64 [instances, seeds, 2]: each seed's vertex and its position in the list of sources; -1 for none.
    """

    def __init__(self, backend: CudaRunner, first: int, sources: np.ndarray) -> None:
        self.backend, self.first, self.disjoint = backend, first, backend.disjoint
        self.dtype = np.dtype(backend.store.id_dtype)
        rows, self.sizes, self.relations = backend.store.relation_rows, backend.plan.sizes, None
        self.instances, self.seeds = len(sources), sources.shape[1]
        most = backend.store.vertices * (self.seeds if self.disjoint else 1)
        if rows is None:
            self.widths = frontiers(self.sizes, self.seeds, most)
        else:
            of_each = sizes_of_relations(backend.algorithm)
            self.sizes, self.relations = rows.widest(of_each), cupy.asarray(rows.picks(of_each))
            self.widths = rows.frontiers(of_each, self.seeds, most)
        self.cells = [width * size for width, size in zip(self.widths, self.sizes, strict=True)]  # of each hop
        self.edge_room = sum(self.cells)
        self.room = min(self.seeds + self.edge_room, self.seeds + most)
        check_nodes(self.room, 1 if rows is None else len(rows.shifts))
        self.sources = cupy.asarray(np.ascontiguousarray(sources, np.int64))
        self.is_full = not sources.size or sources[:, :, 1].min() >= 0
        hops = len(self.sizes)
        self.words = 2 if self.disjoint or self.dtype.itemsize == 8 else 1  # of Key in cuda/kernels/minibatch.cuh
        self.chunks = [-(-cells // CHUNK_CELLS) for cells in self.cells]
        self.n_id = cupy.empty((self.instances, self.room), self.dtype)
        self.owner = cupy.empty((self.instances, self.room), np.uint32) if self.disjoint else None
        self.node_ends = cupy.zeros((self.instances, hops + 2), np.int64)
        self.edge_ends = cupy.zeros((self.instances, hops + 1), np.int64)
        self.value = cupy.empty((self.instances, self.edge_room), np.uint32)
        self.e_id = cupy.empty((self.instances, self.edge_room), np.int64)
        self.counts = cupy.empty((self.instances, sum(self.chunks)), np.int64)
        self.dead = cupy.zeros(1, np.uint64)
        self.samples: dict[str, Array] = {}
        self.found = 0

    def advance(self) -> None:
        cells = max(self.cells)
        item_room, parts = self._items(len(self.sizes) - 1), self._parts(len(self.sizes) - 1)
        needed = cells * self.dtype.itemsize + 8 * self.words * item_room + 12 * parts
        room = min(SCRATCH_BYTES, self.backend.plan.batch_bytes)
        at_a_time = max(1, min(self.instances, MOST_ROWS, room // needed))
        scratch = {
            "vertex": cupy.empty((at_a_time, cells), self.dtype),
            "items": cupy.empty((at_a_time, 8 * self.words * item_room), np.uint8),
            "totals": cupy.zeros((at_a_time, parts), np.uint32),
            "taken": cupy.zeros((at_a_time, parts), np.uint32),
            "begins": cupy.empty((at_a_time, parts), np.uint32),
        }
        for low in range(0, self.instances, at_a_time):
            self._draw(low, min(low + at_a_time, self.instances), item_room, scratch)
        self.samples = self._packed()

    def _draw(self, low: int, high: int, item_room: int, scratch: dict[str, Array]) -> None:
        kernels, count, seed = self.backend.kernels, high - low, np.uint64(self.backend.seed)
        given = self._struct(low, high)
        kernels.over("plant_seeds", count * self.seeds, given)
        for hop, (width, size) in enumerate(zip(self.widths, self.sizes, strict=True)):
            staged, chunks = kernels.staged(count * width, size), self.chunks[hop]
            this = self._hop(hop, staged, item_room, scratch)
            if self.cells[hop]:
                tiles = -(-self._items(hop) * self.words // PART_TILE)
                kernels.launch("draw_picks", (-(-width // staged), count), BLOCK, given, this, seed)
                kernels.launch("count_parts", (tiles, count), BLOCK, given, this)
                kernels.launch("fill_parts", (tiles, count), BLOCK, given, this)
                kernels.launch("merge_parts", (self._parts(hop), count), BLOCK, given, this)
                kernels.launch("count_new", (chunks, count), BLOCK, given, this)
            kernels.launch("settle_hop", count, BLOCK, given, this)
            kernels.launch("number_new", (chunks, count), BLOCK, given, this)

    def _parts(self, hop: int) -> int:
        """Parts of the items of a hop."""
        return min(MOST_PARTS, -(-self._items(hop) * self.words // PART_KEYS) or 1)

    def _items(self, hop: int) -> int:
        """Most items of a hop: the nodes before it and its cells."""
        return self.seeds + sum(self.cells[: hop + 1])

    def _hop(self, hop: int, staged: int, item_room: int, scratch: dict[str, Array]) -> np.ndarray:
        return struct(
            "MiniHop",
            hop=np.uint32(hop),
            width=np.uint32(self.widths[hop]),
            size=np.uint32(self.sizes[hop]),
            staged=np.uint32(staged),
            cells=np.uint32(sum(self.cells[:hop])),
            chunks=np.uint32(sum(self.chunks[:hop])),
            parts=np.uint32(self._parts(hop)),
            item_room=np.uint32(item_room),
            relations=np.uint32(0 if self.relations is None else self.relations.shape[1]),
            relation=None if self.relations is None else self.relations[hop],
            **scratch,
        )

    def _struct(self, low: int, high: int) -> np.ndarray:
        """The struct of mini-batches low .. high - 1 of the batch."""
        at = slice(low, high)
        return struct(
            "MiniBatches",
            first=self.first + low,
            count=np.uint32(high - low),
            seeds=np.uint32(self.seeds),
            hops=np.uint32(len(self.sizes)),
            room=np.uint32(self.room),
            edge_room=np.uint32(self.edge_room),
            chunks=np.uint32(sum(self.chunks)),
            sources=self.sources[at],
            n_id=self.n_id[at],
            owner=None if self.owner is None else self.owner[at],
            node_ends=self.node_ends[at],
            edge_ends=self.edge_ends[at],
            value=self.value[at],
            e_id=self.e_id[at],
            counts=self.counts[at],
            dead=self.dead,
        )

    def _blocks(self, items: int) -> int:
        return max(1, min(-(-items // BLOCK), 64))

    def _packed(self) -> dict[str, Array]:
        """The arrays of a sample store, in order of instance."""
        n, hops = self.instances, len(self.sizes)
        counts = cupy.empty((5, n), np.int64)
        numbers = dict(zip(("nodes", "edges", "seeds", "nodes_upto", "edges_upto"), counts, strict=True))
        by_hop = {"hop_nodes": cupy.empty((n, hops + 1), np.int64), "hop_edges": cupy.empty((n, hops), np.int64)}
        self.backend.kernels.launch("sum_up", 1, BLOCK, self._struct(0, n), struct("Numbers", **numbers, **by_hop))
        nodes, self.found = counts[3:, -1].get().tolist() if n else (0, 0)
        n_id, batch, of_edges = self._pack(nodes, numbers["nodes_upto"], numbers["edges_upto"])
        positions = self.sources[:, :, 1].ravel()
        return {
            "node_counts": numbers["nodes"],
            "n_id": n_id,
            "edge_counts": numbers["edges"],
            **of_edges,
            **by_hop,
            "seed_counts": numbers["seeds"],
            "input_id": positions if self.is_full else positions[positions >= 0],
            **({"batch": batch} if self.disjoint else {}),
        }

    def _pack(self, nodes: int, nodes_upto: Array, edges_upto: Array) -> tuple[Array, Array, dict[str, Array]]:
        """The vertices of all ``nodes``, if disjoint their seeds, and the arrays of all edges: mini-batch after
        mini-batch.

        ``nodes_upto``, ``edges_upto`` int64 [instances]: running sums of their numbers.
        """
        kernels = self.backend.kernels
        n_id, batch = cupy.empty(nodes, self.dtype), cupy.empty(nodes if self.disjoint else 0, np.int32)
        kinds = {"row": np.int32, "col": np.int32, "e_id": np.int64}
        edges = {name: cupy.empty(self.found, kind) for name, kind in kinds.items()}
        for low in range(0, self.instances, MOST_ROWS):
            some = slice(low, min(low + MOST_ROWS, self.instances))
            given, count = self._struct(some.start, some.stop), some.stop - low
            kernels.launch("pack_nodes", (self._blocks(self.room), count), BLOCK, given, nodes_upto[some], n_id, batch)
            for hop, chunks in enumerate(self.chunks):
                this = self._hop(hop, 0, 0, NO_SCRATCH)
                kernels.launch("pack_edges", (chunks, count), BLOCK, given, this, edges_upto[some], *edges.values())
        return n_id, batch, edges

    def arrays(self, rows: slice = ALL) -> dict[str, np.ndarray]:
        return self.backend.to_host(self.samples)

    def on_device(self) -> dict[str, Array]:
        return self.samples

    def edges(self) -> int:
        return self.found

    def dead_ends(self) -> int:
        return int(self.dead[0])
