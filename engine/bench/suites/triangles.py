"""Exact triangles, all in, of a graph in memory: in total, of each vertex, and by three ways.

The ways are those of Gunrock's paper (Wang and others, IA3 2016, figures 5 and 6). Rates are undirected edges in a
second. Ranks, orientation and sorting are part of the time. The bytes that must move are the entries of rows, once, and
what is kept of each vertex; the candidates are those for the third vertex, one for each wedge of the oriented graph, of
2 bytes; both at the rate of copies in the memory that holds them. networkit and igraph are measured beside it where
they are installed or ``--peer networkit=PYTHON`` names an interpreter, and GroupTC with ``--peer grouptc=FOLDER``,
where its program is.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from csaw.engine.analytics.network import Network
from csaw.engine.bench import group_tc, network_peers
from csaw.engine.bench.bench_row import Row, Verdict, figure, gap, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.networks import (
    beside_goal,
    beside_one,
    copy_rate,
    goal_verdict,
    least_seconds,
    network_of,
    on_the_host,
    spread_over,
    timed,
    timed_row,
    waiting,
    with_gpus,
)
from csaw.engine.bench.peer_process import PeerError, check_folder
from csaw.engine.plan.contracts import Array
from csaw.partition.errors import BudgetError

if TYPE_CHECKING:
    from csaw.engine.analytics.cuda.network import DeviceNetwork

CLAIM = (
    "triangles are counted, all in, at 5.2 G edges in a second on a GPU (50 ms at R-MAT scale 24), and at 11.2 "
    "M on two cores (1.4 s at scale 20)"
)
PEER_NAMES = (*network_peers.NAMES, group_tc.NAME)
TOTAL, EACH = "triangles", "triangles of each vertex"
GOALS = {"cuda": 260_384_890 / 50e-3, "cpu": 15_700_671 / 1.4}
METHODS = {"masked product": "masked_product", "matching": "matched_triangles"}
BY_GROUPS = f"{TOTAL}, {group_tc.NAME}"
Count = tuple[int, Array]
Works = dict[str, Callable[[], Count]]
OF_VERTEX = 40  # bytes that are read and written of each


def rows(context: Context) -> Iterator[Row]:
    if group_tc.NAME in context.peers:
        check_folder(group_tc.NAME, context.peers[group_tc.NAME], group_tc.PROGRAMS)
    bandwidth = copy_rate(context)
    for graph in context.graphs():
        network = network_of(context, graph)
        simple = network.undirected
        candidates = _candidates(simple)
        least = least_seconds(simple, OF_VERTEX, bandwidth)
        limits = {"the bytes that must move": least, "candidates of 2 bytes": 2 * candidates / bandwidth}
        found: dict[str, Row] = {}
        pooled = spread_over(context, graph)
        works = _works(context, simple) | ({} if pooled is None else _works_of_pooled(context, pooled))
        for work, call in works.items():
            if context.only in work:
                found[work] = _row(context, simple, work, call)
                note = beside_one(found[work], found.get(_one(work))) if context.on_gpu else {}
                yield context.on(graph) | found[work] | note | {"limits": limits, "candidates": candidates}
        if not context.on_gpu and simple.resident:
            yield from _peers(context, context.on(graph), simple)
        if group_tc.NAME in context.peers and context.only in BY_GROUPS:
            yield context.on(graph) | _by_groups(context, simple)
        for one in (network, pooled):
            if one is not None:
                one.close()


def _candidates(network: Network) -> int:
    """Wedges of the oriented graph."""
    from csaw.engine.analytics.cpu.spooled_rows import orient

    with closing(orient(on_the_host(network))) as oriented:
        lengths = oriented.begin[1:] - oriented.begin[:-1]
        return int(lengths @ (lengths - 1)) // 2


def _works(context: Context, network: Network) -> Works:
    """Each work by its name: on one device, and on all GPUs that were given."""
    works: Works = {
        TOTAL: partial(network.compute, "triangles", each=False),
        EACH: partial(network.compute, "triangles", each=True),
    }
    if network.resident:
        works |= {f"{TOTAL}, {way}": partial(network.compute, what, each=False) for way, what in METHODS.items()}
    if len(context.devices) > 1:
        several = with_gpus(network, context.devices[1:])
        for work, each in ((TOTAL, False), (EACH, True)):
            works[f"{work}, {len(context.devices)} GPUs"] = partial(several.compute, "triangles", each=each)
    return works


def _works_of_pooled(context: Context, pooled: "DeviceNetwork") -> Works:
    """The works on a graph that is spread over all GPUs that were given."""
    count, where = partial(pooled.undirected.compute, "triangles"), f"{len(context.devices)} GPUs, pooled"
    return {f"{work}, {where}": partial(count, each=each) for work, each in ((TOTAL, False), (EACH, True))}


def _one(work: str) -> str:
    """The work of one GPU that a work of several is set beside; empty for a work of one GPU."""
    alone, _, where = work.removesuffix(", pooled").rpartition(", ")
    return alone if where.endswith(" GPUs") else ""


def _row(context: Context, network: Network, work: str, call: Callable[[], Count]) -> Row:
    try:
        seconds = timed(call, context.repeats, waiting(context))
    except BudgetError as error:
        return gap(work, error)
    row = timed_row(work, seconds, network.edges / 2) | {"triangles": call()[0], "ran_on": network.device}
    return row | (beside_goal(row, GOALS[network.device]) if work == TOTAL else {})


def _peers(context: Context, named: Row, network: Network) -> Iterator[Row]:
    """The rows of the works that peers do."""
    for row, seconds in network_peers.measured(context, next(network.blocks()), (TOTAL, EACH), directed=False):
        yield named | row | (timed_row(row["work"], seconds, network.edges / 2) if seconds else {})


def _by_groups(context: Context, network: Network) -> Row:
    """The row of GroupTC, on the GPU that csaw is measured on."""
    named: Row = {"work": BY_GROUPS, "peer": group_tc.NAME, "ran_on": "cuda"}
    if not context.on_gpu:
        return named | {"not_measured": "it runs on a GPU, and this run is of the CPU; run with --device cuda"}
    device = context.devices[0].number
    rows, programs = next(on_the_host(network).blocks()), context.peers[group_tc.NAME]
    try:
        runs = group_tc.count(programs, rows, device=device, repeats=context.repeats, out=context.out)
    except PeerError as error:
        return named | {"not_measured": str(error)}
    mine, other = network.compute("triangles", each=False)[0], runs[0].triangles
    if other != mine:
        return named | {"not_measured": f"it counts {other:,} triangles, csaw {mine:,}"}
    return named | {
        "triangles": other,
        **figure([network.edges / 2 / run.seconds for run in runs]),
        "seconds": median(run.seconds for run in runs),
        "note": f"its kernel alone {1e3 * median(run.kernel_seconds for run in runs):.3g} ms",
    }


def verdict(rows: list[Row]) -> Verdict:
    found = measured(rows, work=TOTAL)
    return goal_verdict(found, "no triangles were counted", lambda row: f"{row['rate'] / 1e6:.3g} M edges/s")
