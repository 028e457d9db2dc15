"""A sample as one batch of PyTorch Geometric, in its names and its direction.

``NeighborLoader(disjoint=True)`` gives such batches. No torch is needed.

``edge_index`` int64 [2, edges]
    A message goes from ``[0]``, the neighbor that was drawn, to ``[1]``, the vertex that it was drawn for.
``n_id`` int64 [nodes]
    The vertex of each node, as the sample store has it: the id of the input, or the dense id where ids are strings.
``original_id`` :class:`Words`
    Only where ids are strings: all strings of the graph; ``original_id[n_id]`` are those of the nodes.
``batch`` int64 [nodes]
    The instance of each node, counted from the first one asked for; of disjoint mini-batches its seed, counted through
    all of them.
``batch_size``
    The number of seeds; they are the first nodes, so ``model(x, edge_index)[:batch_size]`` are their answers.
``input_id`` int64 [batch_size]
    The number of each seed among the sample's sources, counted through all its instances; of mini-batches its position
    in the list of sources.
``y`` float64 [batch_size]
    Only of mini-batches whose seeds have labels: the label of each seed.
``seed`` int64 [sources]
    The node of each source.
``num_sampled_nodes`` int64 [hops + 1], ``num_sampled_edges`` int64 [hops]
    How many of each hop; nodes and edges are in the order of hops.
``num_nodes``
    The number of nodes.
``edge_weight`` float32 [edges]
    Only of samples that have weights of edges: those of layers.
``edge_time`` int64 [edges]
    Only of samples in time: the time of each edge.
``seed_time`` int64 [batch_size]
    Only of neighbors in time: the time of each seed.
``node_time`` int64 [nodes]
    Only of labor and layer in time: the time that each node knows.
``walk`` int64 [instances, walk_length + 1], or [instances, longest walk + 1] without a limit
    Only of walks: the nodes of each, -1 after its end.
``e_id`` int64 [edges]
    Only with the graph, and always of mini-batches: the number of each edge, counted through the rows of the store (its
    weight is ``store.load().weights[e_id]``); -1 for a step of a walk that is no edge, a jump. Of a graph with repeated
    edges only where their times tell the sampled ones apart.
``node_type`` int64 [nodes], ``edge_type`` int64 [edges]
    Only of samples with fanouts by relation: the numbers of the type of each node and of the relation of each edge, in
    the order in which ``samples.types`` has them.

Instances share no node. A walk or a tree of hops has a node for each of its places, because each place has drawn its
own neighbors. A model with as many layers as hops therefore gives each seed the same result as on the seed's own tree.
A subgraph has a node for each vertex, at the hop at which it is first met; of random edges, to which no source leads,
one end is at hop 0. Of labor and layer in time it has a node for each copy of a vertex, at a time that it knows.
Mini-batches keep the nodes that they have.
Vertices without edges are nodes too, where the sample has its vertices: of induced subgraphs, and of layers, where the
hop is the layer.

Messages go against the direction in which edges were followed: in a directed graph, a vertex gets messages from the
vertices to which its edges point.
"""

import numpy as np

from csaw.engine.samples.ahead import in_order, pieces
from csaw.engine.samples.array import check_names
from csaw.engine.samples.edges import edge_arrays, edge_numbers
from csaw.engine.samples.opened import OpenedSamples, require_instances
from csaw.engine.samples.pyg_batches import CLASSES, EDGE_TYPE, NODE_TYPE, Batch, in_order_of_names, joined
from csaw.partition.errors import OptionError
from csaw.partition.graph.store import GraphStore

MOST = 2**63 - 1  # what int64 holds


def batch_of(
    samples: OpenedSamples, start: int, stop: int | None, graph: GraphStore | None = None, threads: int = 1
) -> Batch:
    """The batch of the instances start .. stop - 1, by the names above; with ``graph``, the store that was sampled, it
    has ``e_id`` too.

    ``threads`` share the work where all instances are asked for.

    OptionError for ids beyond int64 and where there are no such instances, StoreError for another graph or one that
    lacks an edge.
    """
    stop = samples.instances if stop is None else stop
    require_instances(samples, start, stop)
    made = _made(samples, start, stop, threads)
    ids = made["n_id"]
    made["n_id"] = _signed(samples, ids)
    made["num_nodes"] = ids.size
    if EDGE_TYPE in made and samples.types is not None:
        made[NODE_TYPE] = samples.types.of(made["n_id"])
    if samples.words is not None:
        check_names(samples.path, ids, len(samples.words))
        made["original_id"] = samples.words
    if graph is not None and "e_id" not in made:
        src, dst = ids[made["edge_index"][::-1]]
        made["e_id"] = edge_numbers(samples, graph, src, dst, made.get("edge_time"))
    return made


def _made(samples: OpenedSamples, start: int, stop: int, threads: int) -> Batch:
    """Return the batch without names, by several threads where that is possible."""

    def of(start: int, stop: int) -> Batch:
        return samples.layout.as_batch(samples.group(start, stop), samples.fill, samples.arrays, start)

    shared = samples.layout.joins_batches and threads > 1 and (start, stop) == (0, samples.instances)
    spans = list(pieces(samples)) if shared else []
    if len(spans) > 1:
        parts = [part for _, part in in_order(samples, edge_arrays(samples), spans, of, threads)]
        return joined(parts, [first for first, _ in spans], threads)
    made = of(start, stop)
    made.pop(CLASSES, None)
    return in_order_of_names(made) if samples.layout.joins_batches else made


def _signed(samples: OpenedSamples, ids: np.ndarray) -> np.ndarray:
    largest = int(ids.max(initial=0))
    if largest > MOST:
        raise OptionError(
            f"{samples.path}: vertex {largest} does not fit n_id, an int64 array with values up to {MOST}; sample "
            "with --ids dense, or export to .parquet"
        )
    return ids.astype(np.int64)
