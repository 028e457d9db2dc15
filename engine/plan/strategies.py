"""The ways in which a streamed run can bring rows to the instances that wait for them: what each is expected to move,
and the one that the plan takes.

Estimates are for instances spread evenly over partitions, of which a share ``held`` is in memory and ``away`` is not,
in graphs moved:

partitions  the partition that most instances wait for comes next. It was served longest ago, and walkers have come to
            it since; while it is served they gather elsewhere. So walks of L steps move L away^2 / (1 + away), and
            4 away - away^2 until such queues have formed, but not more than ``away`` a step. Where they ask later
            whether an edge exists, they move ASKING times that. A traversal moves ``away`` for each time that it reads
            rows.
pairs       the two partitions that a second-order step needs come together, for as many instances as wait for both:
            ASKING L away / (2 held).
rows        memory is filled with partitions, if the rows to read cost more than that; other rows are read one by one
            where they are.

The share that is in memory at first is moved once, and no way loads more partitions than there are rows to read. Each
load to a GPU from host memory takes a round of the scheduler, and so does each step of a batch in place. Runs move what
is expected within a factor of 1.5, which a test holds; walks that often stay where they are move less. (For walks these
are fits to simulations of 16 and 48 partitions, 4 to 80 steps: docs/contributing/tuning.md.)
"""

from csaw.engine.api.starts import sources_each
from csaw.engine.api.termination import planned_steps
from csaw.engine.plan.costs import drawn, expanding, loading_seconds, met_row, read_bytes
from csaw.engine.plan.limits import Shape
from csaw.engine.plan.rates import Rates
from csaw.engine.plan.request import Request
from csaw.engine.plan.residency import Residency
from csaw.partition.base.plain_data import Record

PARTITIONS, PAIRS, ROWS = "partitions", "pairs", "rows"
# more that second-order walks move, because a walker also waits for a row that tells whether an edge exists: 1.0 to 1.5
# times, by p and q
ASKING = 1.2
TRYING = (
    1.3  # times that picks by number read rows at each depth, and again where an edge is no use: 1.0 to 1.7, by graph
)

Strategies = dict[str, Record]


def expected_strategies(
    shape: Shape, room: int, in_flight: int, kept: int, residency: Residency, in_place: float | None, rates: Rates
) -> Strategies:
    """Estimates of the loads, the bytes and the seconds of each way that suits a run.

    ``room``: partitions that fit in memory at a time. ``in_flight``: instances of a batch. ``kept``: bytes of an edge.
    ``in_place``: cost of reading a row without loading its partition, as bytes copied; None if the run cannot do so.
    """
    parts, slots = max(len(shape.store.partitions), 1), shape.needs.partitions_at_once
    held = min(max(room, slots) / parts, 1.0)
    batches, passes, rows = _batches(shape.request, in_flight), _passes(shape), _rows(shape, in_flight)
    ways = {}
    if slots == 1:
        ways[PARTITIONS] = held + batches * _alone(shape, passes, 1 - held)
    if shape.needs.second_order:
        ways[PAIRS] = held + batches * ASKING * passes * (1 - held) / (2 * held)
    graph = shape.store.edges * kept
    found = {}
    for way, moved in ways.items():
        loads = min(moved, batches * rows * slots / parts) * parts
        found[way] = _estimate(loads, loads, 0, 0, graph, parts, residency, rates)
    if in_place is not None:
        filled = held if batches * rows * in_place > graph else 0.0
        read = batches * rows * (1 - filled)
        whole = met_row(shape.store) * kept * (2 if shape.needs.second_order else 1)
        own = whole if residency.from_store else read_bytes(shape)
        rounds = filled * parts + batches * passes
        found[ROWS] = _estimate(filled * parts, rounds, read * in_place, read * own, graph, parts, residency, rates)
    return found


def taken(ways: Strategies) -> Record:
    """The estimate of the quickest way that a run takes, with its name as ``strategy``; empty if there is none.

    Pairs are loaded only where a step needs two.
    """
    possible = {way: each for way, each in ways.items() if way != PAIRS or PARTITIONS not in ways}
    way = min(possible, key=lambda way: possible[way]["seconds"], default="")
    if not way:
        return {}
    each = possible[way]
    return {
        "strategy": way,
        "transfers": each["transfers"],
        "bytes": each["bytes"],
        "loading_seconds": each["seconds"],
    }


def _estimate(
    loads: float, rounds: float, cost: float, read: float, graph: int, parts: int, residency: Residency, rates: Rates
) -> Record:
    """``loads``: of partitions, in so many ``rounds`` of the scheduler, which a GPU waits for.

    ``cost``, ``read``: of single rows, the cost as bytes and the bytes themselves.
    """
    moved = loads / parts * graph
    waiting = rounds * rates.round_bytes if residency is Residency.STREAMED else 0.0
    return {
        "transfers": round(loads),
        "bytes": round(moved + read),
        "seconds": float(f"{loading_seconds(moved + cost + waiting, graph, residency, rates):.4g}"),
    }


def _batches(request: Request, in_flight: int) -> int:
    """Batches of a run, each of whole groups where it has room for one."""
    group = request.group_size
    return -(-request.instances // (in_flight // group * group if in_flight > group else in_flight))


def _alone(shape: Shape, passes: float, away: float) -> float:
    """Graphs that so many passes of a batch over its rows move."""
    if not shape.by_steps:
        return passes * away
    in_queues = passes * away * away / (1 + away) + 4 * away - away * away
    return min(in_queues, passes * away) * (ASKING if shape.needs.asks_later else 1.0)


def _passes(shape: Shape) -> float:
    """Times that an instance reads rows, one time after the other."""
    if shape.by_steps:
        return float(planned_steps(shape.algorithm))
    return len(shape.sizes) * (TRYING if shape.needs.in_pools and not shape.needs.everywhere else 1.0)


def _rows(shape: Shape, in_flight: int) -> float:
    """Rows that a batch reads; at each depth of a traversal no row is read twice."""
    if shape.by_steps:
        return float(in_flight * planned_steps(shape.algorithm))
    traversal = shape.traversal
    waiting, rows = float(in_flight * sources_each(traversal)), 0.0
    for size in shape.sizes:
        wide = min(expanding(traversal, waiting, in_flight), shape.store.vertices)
        rows += wide
        found = (in_flight if traversal.collective else wide) * drawn(shape, size)
        waiting = found if traversal.pool_size is None else waiting - wide + found
    return rows
