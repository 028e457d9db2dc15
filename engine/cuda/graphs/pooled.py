"""A graph spread over the GPUs of a node, which read each other's memory.

NextDoor and Gunrock copy the graph to each GPU, or split the work by it.
"""

import cupy

from csaw.engine.cuda.device import Device
from csaw.engine.cuda.graphs.edge_arrays import EdgeArrays, entries_for, made
from csaw.engine.cuda.graphs.node import Node, fetch, reach
from csaw.engine.cuda.graphs.pieces import Pieces
from csaw.engine.cuda.graphs.resident import Staging
from csaw.engine.cuda.launch import Kernels
from csaw.engine.plan.contracts import Array, Store
from csaw.engine.plan.gpu_memory import owners
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.needs import Needs
from csaw.partition import Partition
from csaw.partition.graph.edge_columns import WEIGHT


class PooledGraph(Pieces):
    """Loads this GPU's share of the partitions, and waits for the other GPUs.

    It then has the address of every partition.
    """

    def __init__(
        self,
        store: Store,
        layout: GraphLayout,
        builder: Kernels,
        node: Node,
        devices: tuple[Device, ...],
        needs: Needs,
        columns: Array,
    ) -> None:
        super().__init__(store, layout, needs, columns=columns)
        self.needs = needs
        own = builder.device.number
        holds = [devices[k].number for k in owners(store, len(devices))]
        for device in devices:
            if device.number != own:
                reach(device.number)
        staging = Staging(store, needs.stored_columns)
        for part in (p for p in store.partitions if holds[p.number] == own):
            node.pieces[part.number] = self._load(part, builder, staging)
        cupy.cuda.get_current_stream().synchronize()
        if self.strength is not None:
            node.strengths[own] = self.strength
        node.meet()
        for part in store.partitions:
            self.place(part.number, node.pieces[part.number])
            if self.strength is not None and holds[part.number] != own:
                span = slice(part.first_vertex, part.last_vertex)
                there = node.strengths[holds[part.number]][span]
                fetch(there, self.strength[span])
        self.loaded[:] = 1
        self.tell()
        node.meet()  # before any GPU frees memory that others may still copy

    def _load(self, part: Partition, builder: Kernels, staging: Staging) -> EdgeArrays:
        """Load a partition, build its layout, and return the arrays that sampling reads."""
        arrays = EdgeArrays(made(cupy.empty, part.edges, self.store, self.needs.stored_columns))
        self.transfer_bytes += staging.upload(part, arrays.stored)
        self.transfers += 1
        if not self.layout.has_alias_tables:
            return arrays
        table = entries_for(part.edges, self.layout, self.store)
        self.place(part.number, arrays._replace(entries=table))
        self.tell()
        builder.set_graph(self.address())
        self.build_table(builder, part)
        return EdgeArrays({WEIGHT.array: arrays.stored[WEIGHT.array]} if self.needs.single_weights else {}, table)
