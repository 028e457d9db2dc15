"""Parts of the memory of a GPU that any residency has, and the layouts that a run can read there."""

from csaw.engine.api.algorithm import Traversal
from csaw.engine.api.termination import has_hooks, planned_steps
from csaw.engine.plan.costs import events_pay, frontiers, met_row
from csaw.engine.plan.layouts import GraphLayout
from csaw.engine.plan.limits import Shape
from csaw.engine.plan.methods import Method
from csaw.engine.plan.parts import parts_of

DEVICE_BATCH_BYTES = 4 << 30  # of samples in flight and the arrays that sampling them needs
DEVICE_ROWS = 3  # copies of a sample on a GPU: as drawn, in order of instance, and of the batch before
SCRATCH_EDGES, SCRATCH_BYTES = 1 << 25, 33  # candidates that a GPU selects from at a time, and scratch bytes of each
SUMS_PAY = 2  # times the edges of the graph that rows have, all together, from which sums of partitions pay
BUILD_BYTES = 16  # of an edge while its alias table is made on a GPU


def _selects_from_rows(shape: Shape, sums: bool) -> bool:
    """Whether selection on a GPU needs scratch memory for the candidates of a row; ``sums``: it searches in sums of
    partitions.
    """
    return not (shape.by_steps or shape.needs.alias_tables or sums)


def scratch_room(shape: Shape, left: int, *, sums: bool = False) -> tuple[int, int]:
    """Count the candidates that fit in scratch memory at a time, and their bytes.

    The bytes are those of ``left`` that they take beyond the least scratch memory.
    """
    if not _selects_from_rows(shape, sums):
        return 0, 0
    least = max(shape.store.max_degree, 1)
    more = max(0, min(min(shape.store.edges, SCRATCH_EDGES) - least, left // 8 // SCRATCH_BYTES))
    return least + more, more * SCRATCH_BYTES


def device_parts(shape: Shape, *, sums: bool = False) -> dict[str, int]:
    """Bytes on a GPU beside edges, samples in flight and making tables, by the names of PARTS.

    The least for candidates is room for those of two rows as long as the longest.
    """
    least = 2 * SCRATCH_BYTES * max(shape.store.max_degree, 1) if _selects_from_rows(shape, sums) else 0
    return parts_of(shape) | {"candidates": least}


def build_bytes(shape: Shape) -> int:
    """Bytes of an edge while the alias tables of its piece are made."""
    needs = shape.needs
    return BUILD_BYTES + needs.edge.stored if needs.alias_tables else 0


def piece_layout(shape: Shape) -> GraphLayout:
    """Layout of a partition in a streamed or pooled graph."""
    return GraphLayout.TABLE if shape.needs.alias_tables else GraphLayout.CSR


def streamed_layouts(shape: Shape) -> tuple[GraphLayout, ...]:
    """Layouts that partitions of a streamed graph can have, the better one first.

    Running sums are made of a partition whenever it is loaded, and take room. They pay where picks would read longer
    rows, all together, than the graph has twice.
    """
    if not shape.needs.running_sums or shape.traversal.replace or shape.detect is not None:
        return (piece_layout(shape),)
    read = shape.request.instances * frontiers(shape)[0] * met_row(shape.store)
    both = (GraphLayout.CTPS, GraphLayout.CSR)
    return both if read > SUMS_PAY * shape.store.edges else both[::-1]


def _reads_events(shape: Shape) -> bool:
    """Whether a run in time can do with edges in the order by time: no hook reads an edge, and no sample its number."""
    if isinstance(shape.algorithm, Traversal):
        a = shape.algorithm
        if a.clocks or a.shares_draws or a.collective or a.layout == "batches":
            return False
    return not has_hooks(shape.algorithm)


def layouts_of(shape: Shape) -> tuple[GraphLayout, ...]:
    """Layouts that can serve a run on a GPU, the fastest first."""
    needs, wide = shape.needs, shape.needs.edge.id > 4
    if needs.alias_tables:
        walks = not isinstance(shape.algorithm, Traversal)
        return (GraphLayout.ALIAS, GraphLayout.TABLE) if walks and not wide else (GraphLayout.TABLE,)
    if shape.by_steps and shape.request.select in (Method.UNIFORM, Method.REJECTION) and not wide:
        steps = shape.request.instances * planned_steps(shape.algorithm)
        many = steps >= shape.store.edges // 8
        return (GraphLayout.ENTRIES, GraphLayout.CSR) if many else (GraphLayout.CSR, GraphLayout.ENTRIES)
    if shape.request.select is Method.TIME and not wide and _reads_events(shape):
        return (GraphLayout.EVENTS, GraphLayout.CSR) if events_pay(shape) else (GraphLayout.CSR, GraphLayout.EVENTS)
    if not (needs.clock_sums or needs.running_sums):
        return (GraphLayout.CSR,)
    # Only select.cu, which reads rows, has detectors.
    sums_first = needs.clock_sums or shape.detect is None
    return (GraphLayout.CTPS, GraphLayout.CSR) if sums_first else (GraphLayout.CSR, GraphLayout.CTPS)
