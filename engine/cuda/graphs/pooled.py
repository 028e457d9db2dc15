"""A graph spread over the GPUs of a node, which read each other's memory (NextDoor and Gunrock copy the graph to each GPU, or split the work by it)."""

import cupy
import numpy as np

from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.node import Node, fetch, reach
from csaw.engine.cuda.graphs.pieces import Pieces
from csaw.engine.cuda.graphs.resident import Staging
from csaw.engine.cuda.launch import Kernels
from csaw.engine.plan.contracts import Array, Store
from csaw.engine.plan.gpu_memory import owners
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.needs import ALIAS_IDS, Needs
from csaw.partition import Partition


class PooledGraph(Pieces):
    """Loads this GPU's share of the partitions, waits for the other GPUs, and then has the address of every partition."""

    def __init__(self, store: Store, layout: GraphLayout, builder: Kernels, node: Node, devices: tuple[Device, ...], needs: Needs, columns: Array) -> None:  # fmt: skip
        super().__init__(store, strength=needs.row_weights, columns=columns)
        self.layout, self.weighted, self.keeps_weights = layout, needs.weights, needs.single_weights
        own = builder.device.number
        holds = [devices[k].number for k in owners(store, len(devices))]
        for device in devices:
            if device.number != own:
                reach(device.number)
        staging = Staging(store, needs.weights)
        for part in (p for p in store.partitions if holds[p.number] == own):
            node.pieces[part.number] = self._load(part, builder, staging)
        cupy.cuda.get_current_stream().synchronize()
        if self.strength is not None:
            node.strengths[own] = self.strength
        node.meet()
        for part in store.partitions:
            self.place(part.number, *node.pieces[part.number])
            if self.strength is not None and holds[part.number] != own:
                span = slice(part.first_vertex, part.last_vertex)
                there = node.strengths[holds[part.number]][span]
                fetch(there, self.strength[span])
        self.loaded[:] = 1
        self.tell()
        node.meet()  # before any GPU frees memory that others may still copy

    def _load(self, part: Partition, builder: Kernels, staging: Staging) -> tuple[Array, Array, Array]:
        """Load a partition and build its layout; returns its arrays of neighbors, weights and alias table, None for those it lacks."""
        indices = cupy.empty(part.edges, self.store.id_dtype)
        weights = cupy.empty(part.edges, np.float32) if self.weighted else None
        self.transfer_bytes += staging.upload(part, indices, weights)
        self.transfers += 1
        if not self.layout.has_alias_tables:
            return indices, weights, None
        table = cupy.empty(ALIAS_IDS * part.edges, self.store.id_dtype)
        self.place(part.number, indices, weights, table)
        self.tell()
        builder.set_graph(self.address())
        self.build_table(builder, part)
        return None, weights if self.keeps_weights else None, table
