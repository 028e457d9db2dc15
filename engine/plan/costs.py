"""Costs of a run on the machine at hand: of reading a graph, of building its layout, of drawing; the plan and the
scheduler compare them.

Work is counted in bytes that are read in order, and in gathers, which are reads of memory from random places. The
machine's rates make seconds of them.
"""

from math import log2

from csaw.engine.api.algorithm import Traversal
from csaw.engine.api.rules import BudgetLayers, NonNeighbors
from csaw.engine.api.starts import sources_each
from csaw.engine.api.termination import mean_steps, planned_steps
from csaw.engine.plan.choices import GraphLayout, Method, Residency
from csaw.engine.plan.contracts import Store
from csaw.engine.plan.limits import Limits, MemoryPlan, Shape
from csaw.engine.plan.needs import Needs
from csaw.engine.plan.rates import GPU_SECONDS, START_SECONDS, Rates
from csaw.partition.base.parallel import processors

# Gathers, fitted to whole runs (docs/contributing/tuning.md): of a pick, of the bias of an edge in a row, and of an
# edge for which something is built.
PICK = {
    Method.UNIFORM: 2.0,
    Method.ALIAS: 4.0,
    Method.REJECTION: 4.0,
    Method.ITS: 2.0,
    Method.KEYS: 2.0,
    Method.TIME: 4.0,
}
PICK_IN_ENTRIES, TRIALS, BIAS = 1.0, 2.0, 0.5
SHARE = 4.0  # of an edge that adds to a budget, and is looked up again
EVENT_STEPS = 6  # that most walks in time make before no edge is left
EVENT_PICKS = 2  # of neighbors in time, for each edge, from which bringing the edges into the order by time pays
BUILD = {
    GraphLayout.CSR: 0.0,
    GraphLayout.ENTRIES: 2.0,
    GraphLayout.TABLE: 3.0,
    GraphLayout.ALIAS: 3.0,
    GraphLayout.CTPS: 2.0,
    GraphLayout.EVENTS: 20.0,
}
MEMBERS = 1.0
BUS_READ = 32  # least bytes of a read over the bus
STEP_SECONDS, HOP_SECONDS = 1e-6, 1e-3  # the least for one step of all walkers on a GPU, and for one hop
MADE = 2  # times that the CPU's threads take for what one of them reads again, as they make tables of it and draw, too
PEERS = 4  # times that a read of another GPU's memory takes longer


def row_cost(shape: Shape, per_edge: int, rates: Rates) -> float:
    """Cost of a step that reads its rows one by one from a disk, as bytes read in order.

    ``per_edge``: bytes of an edge.
    """
    return (2 if shape.needs.second_order else 1) * (rates.row_bytes + met_row(shape.store) * per_edge)


def read_cost(shape: Shape, rates: Rates) -> float:
    """Cost of a step that reads over the bus where rows are, as bytes copied to a GPU."""
    return rates.pick_bytes(shape.store.edges * shape.needs.edge.kept) * _picks(shape)


def read_bytes(shape: Shape) -> float:
    """Bytes that such a step reads over the bus."""
    return BUS_READ * _picks(shape)


def _picks(shape: Shape) -> float:
    """Picks whose reads a step in place takes: a trial by rejection searches the previous vertex's row, too."""
    return 2 + log2(shape.store.max_degree + 2) if shape.needs.second_order else 1.0


def met_row(store: Store) -> float:
    """Estimate of the mean degree of the vertices in a frontier, which meets hubs more often than other vertices."""
    mean: float = (store.edges / max(store.vertices, 1) * store.max_degree) ** 0.5
    return mean


def expanding(algorithm: Traversal, waiting: float, instances: int = 1) -> float:
    """Of so many vertices that wait at a depth in all ``instances``, those that expand: all, or of each pool
    frontier_size.
    """
    pool = algorithm.rule.waiting
    return waiting if pool is None else min(waiting, pool.expanding * instances)


def loading_seconds(moved: float, graph: int, shape: Shape, residency: Residency, limits: Limits) -> float:
    """Estimate the seconds that it takes to move so many bytes of a graph of ``graph`` bytes.

    The graph is read from its store once at least. What is read again comes from the system's memory, if all of the
    store fits in what the run leaves of it.
    """
    rates = limits.rates
    over_bus = moved if residency is Residency.HOST else 0.0  # from a disk, the bus is the faster of the two
    read = moved if residency.from_store else graph
    again = max(read - graph, 0) if stored_bytes(shape.store, shape.needs) <= limits.cache_bytes else 0.0
    made = again / rates.cached_bytes * (1 if shape.on_gpu else MADE)
    return over_bus / rates.bus_bytes + (read - again) / rates.disk_bytes + made


def expected(
    shape: Shape, memory: MemoryPlan, rates: Rates, threads: int, devices: int, output_bytes: int
) -> dict[str, float]:
    """Estimate of the seconds of a whole command that draws a sample into a store.

    ``devices``: the number of GPUs, 0 for the CPU. ``threads``: those of the CPU. To what streaming is expected to
    move, this adds

        loading_seconds    reading the graph, and copying it to GPUs
        building_seconds   making its layout
        sampling_seconds   drawing, and copying samples from GPUs
        writing_seconds    writing the sample, which is the same wherever it is drawn
        seconds            all of it, and the start of the command
    """
    loading = memory.expected.get("loading_seconds", _reading(shape, memory, rates, devices))
    gathers, building = _gathers(shape, memory), _building(shape, memory)
    if devices:
        speed = rates.device_gathers * devices / (PEERS if memory.residency is Residency.POOLED else 1)
        building, start = building / rates.device_gathers, START_SECONDS + GPU_SECONDS
        sampling = max(gathers / speed, _least_seconds(shape, memory, devices)) + output_bytes / rates.bus_bytes
    else:
        many = min(threads, processors())
        building, start = building / (rates.gathers * many), START_SECONDS
        sampling = gathers / (rates.gathers * min(many, shape.request.instances))
    found = {"loading_seconds": loading, "building_seconds": building, "sampling_seconds": sampling}
    found["writing_seconds"] = output_bytes / rates.disk_writes
    found["seconds"] = start + sum(found.values())
    return memory.expected | {name: round(value, 6) for name, value in found.items()}


def stored_bytes(store: Store, needs: Needs) -> int:
    """Bytes of a graph in its store, counting only what a run reads of it."""
    return store.edges * needs.edge.stored + 8 * store.vertices


def _reading(shape: Shape, memory: MemoryPlan, rates: Rates, devices: int) -> float:
    """Seconds to read the whole graph, and to copy it to each GPU, or a share of it to each."""
    size = stored_bytes(shape.store, shape.needs)
    shares = devices if memory.residency is Residency.POOLED else 1
    return size / rates.disk_bytes + (size / shares / rates.bus_bytes if devices else 0.0)


def _building(shape: Shape, memory: MemoryPlan) -> float:
    """Gathers of building what the layout has beside rows, once."""
    made = GraphLayout.EVENTS if _has_events(memory) else memory.graph_layout
    return shape.store.edges * (BUILD[made] + MEMBERS * (memory.membership != "search"))


def _has_events(memory: MemoryPlan) -> bool:
    """Whether edges stand in the order by time: as the layout of a GPU, or beside the rows of a CPU."""
    return memory.graph_layout is GraphLayout.EVENTS or memory.fixed.get("events", 0) > 0


def _gathers(shape: Shape, memory: MemoryPlan) -> float:
    """Gathers of drawing all instances."""
    row, in_order = met_row(shape.store), _has_events(memory)
    if isinstance(shape.algorithm.rule, NonNeighbors):  # a search of the source, and one in its row for each negative
        negatives = int(getattr(shape.algorithm, "num_negatives", 1))
        return shape.request.instances * (log2(1 + shape.store.vertices) + negatives * (1 + log2(1 + row)))
    entries = in_order or memory.graph_layout in (GraphLayout.ENTRIES, GraphLayout.ALIAS)
    method = shape.request.select
    pick = PICK_IN_ENTRIES if entries else PICK[method]
    if method is Method.REJECTION:
        pick = TRIALS * (pick + _looked_up(row, memory) * shape.needs.asks_members)
    if method is Method.TIME and not (in_order and shape.by_steps):
        pick += 2 * log2(1 + row)  # each turn of the search reads the order and a time
    parents, picks = frontiers(shape)
    by_budgets = isinstance(shape.algorithm.rule, BudgetLayers)
    each = SHARE if by_budgets else BIAS
    of_row = (
        0.0
        if method.by_edge and not by_budgets
        else log2(1 + row) * picks
        if memory.graph_layout.has_sums
        else each * row * parents
    )
    return shape.request.instances * (picks * pick + of_row)


def _looked_up(row: float, memory: MemoryPlan) -> float:
    """Gathers of finding out whether an edge exists in a row of length ``row``.

    Filters and hash tables answer most questions by one.
    """
    return 1 + log2(1 + row) if memory.membership == "search" else 1.0


def events_pay(shape: Shape) -> bool:
    """Whether it pays to bring the edges into the order by time, for walks each with the range that may follow it: an
    edge takes about as long as that saves in a step, or in a pick (docs/contributing/tuning.md).
    """
    if shape.request.select is not Method.TIME:
        return False
    each = min(mean_steps(shape.algorithm), EVENT_STEPS) if shape.by_steps else frontiers(shape)[1] / EVENT_PICKS
    return shape.request.instances * each >= shape.store.edges


def frontiers(shape: Shape) -> tuple[float, float]:
    """Rows that an instance reads and neighbors that it picks, in all its steps."""
    if shape.by_steps:
        return _depths(shape), _depths(shape)
    algorithm, store = shape.traversal, shape.store
    width, parents, picks, waiting = 0.0, 0.0, 0.0, float(sources_each(algorithm))
    for size in shape.sizes:
        width = expanding(algorithm, waiting)
        each = drawn(shape, size)
        found = each if algorithm.rule.together else width * each
        parents, picks, waiting = parents + width, picks + found, waiting - width + min(found, store.vertices)
    return parents, picks


def drawn(shape: Shape, size: int) -> float:
    """Neighbors that a vertex of a traversal draws, about, where ``size`` is that of its depth: below 0 as many as its
    coins ask for, or all.
    """
    if size >= 0:
        return float(size)
    return mean_coins(shape.traversal) or met_row(shape.store)


def mean_coins(traversal: Traversal) -> float:
    """Mean number of neighbors for which the coins of a vertex ask; 0 where it flips none."""
    chance: float = traversal.geometric() if traversal.geometric else 0.0
    return chance / (1.0 - chance)


def _least_seconds(shape: Shape, memory: MemoryPlan, devices: int) -> float:
    """Seconds that a GPU's batches take one after the other, however few instances they have."""
    batches = -(-shape.request.instances // (memory.batch * devices))
    return batches * _depths(shape) * (STEP_SECONDS if shape.by_steps else HOP_SECONDS)


def _depths(shape: Shape) -> int:
    """Steps of a walk, or hops of a traversal."""
    return planned_steps(shape.algorithm) if shape.by_steps else len(shape.sizes)
