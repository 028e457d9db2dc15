"""Exact triangles, all in, from the rows of a graph in memory: in total, of each vertex, and by the three ways of Gunrock's paper (Wang and others, IA3 2016, figures 5 and 6).

Rates are undirected edges in a second. Ranks, orientation and sorting are part of the time. The bytes that must move are the entries of rows, once, and what is kept
of each vertex; the candidates are those for the third vertex, one for each wedge of the oriented graph, of 2 bytes; both at the rate of copies in the memory that
holds them. networkit and igraph are measured beside it where they are installed, and GroupTC with ``--peer grouptc=FOLDER``, where its program is.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from statistics import median
from typing import Any

from csaw.engine.bench import group_tc, triangles_peers
from csaw.engine.bench.bench_row import Row, Verdict, figure, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.networks import beside_one, copy_rate, network_of, timed, waiting, with_gpus
from csaw.engine.bench.peer_process import PeerError, check_folder
from csaw.engine.bench.triangles_peers import EACH, TOTAL
from csaw.partition.errors import BudgetError

CLAIM = "triangles are counted, all in, at 5.2 G edges in a second on a GPU (50 ms at R-MAT scale 24), and at 11.2 M on two cores (1.4 s at scale 20)"
GOALS = {"cuda": 260_384_890 / 50e-3, "cpu": 15_700_671 / 1.4}
METHODS = {"masked product": "masked_product", "matching": "matched_triangles"}
BY_GROUPS = f"{TOTAL}, {group_tc.NAME}"
OF_VERTEX = 40  # bytes that are read and written of each


def rows(context: Context) -> Iterator[Row]:
    if group_tc.NAME in context.peers:
        check_folder(group_tc.NAME, context.peers[group_tc.NAME], group_tc.PROGRAMS)
    bandwidth = copy_rate(context)
    for graph in context.graphs():
        network = network_of(context, graph)
        simple = network.undirected
        candidates = _candidates(simple)
        least = (simple.id_dtype.itemsize * simple.edges + OF_VERTEX * simple.vertices) / bandwidth
        limits = {"the bytes that must move": least, "candidates of 2 bytes": 2 * candidates / bandwidth}
        found: dict[str, Row] = {}
        for work, call in _works(context, simple).items():
            if context.only in work:
                found[work] = _row(context, simple, work, call)
                note = beside_one(found[work], found.get(work.rpartition(", ")[0])) if context.on_gpu else {}
                yield context.on(graph) | found[work] | note | {"limits": limits, "candidates": candidates}
        if not context.on_gpu and simple.resident:
            yield from _peers(context, context.on(graph), simple)
        if group_tc.NAME in context.peers and context.only in BY_GROUPS:
            yield context.on(graph) | _by_groups(context, simple)
        network.close()


def _candidates(network: Any) -> int:
    """Wedges of the oriented graph."""
    from csaw.engine.analytics.cpu.spooled_rows import orient

    host = network if network.device == "cpu" else network.host.undirected
    with closing(orient(host)) as oriented:
        lengths = oriented.begin[1:] - oriented.begin[:-1]
        return int(lengths @ (lengths - 1)) // 2


def _works(context: Context, network: Any) -> dict[str, Callable[[], Any]]:
    """Each work by its name: on one device, and on all GPUs that were given."""
    works: dict[str, Callable[[], Any]] = {
        TOTAL: partial(network.compute, "triangles", each=False),
        EACH: partial(network.compute, "triangles", each=True),
    }
    if network.device == "cpu" and network.resident:
        works |= {f"{TOTAL}, {way}": partial(network.compute, what, each=False) for way, what in METHODS.items()}
    if len(context.devices) > 1:
        several = with_gpus(network, context.devices[1:])
        for work, each in ((TOTAL, False), (EACH, True)):
            works[f"{work}, {len(context.devices)} GPUs"] = partial(several.compute, "triangles", each=each)
    return works


def _row(context: Context, network: Any, work: str, call: Callable[[], Any]) -> Row:
    try:
        seconds = sorted(timed(call, context.repeats, waiting(context)))
    except BudgetError as error:
        return {"work": work, "not_measured": str(error)}
    row: Row = {"work": work, "seconds": seconds[len(seconds) // 2], "triangles": call()[0]}
    row |= figure([network.edges / 2 / taken for taken in seconds])
    if work == TOTAL:
        row |= {"goal": GOALS[network.device], "met": row["rate"] >= GOALS[network.device]}
    return row


def _peers(context: Context, named: Row, network: Any) -> Iterator[Row]:
    """The same by a peer."""
    for peer, work, call in triangles_peers.calls(next(network.blocks())):
        name = f"{work}, {peer}"
        if context.only in name:
            seconds = sorted(timed(call, context.repeats))
            row = {"work": name, "peer": peer, "seconds": seconds[len(seconds) // 2]}
            yield named | row | figure([network.edges / 2 / taken for taken in seconds])


def _by_groups(context: Context, network: Any) -> Row:
    """The row of GroupTC, on the GPU that csaw is measured on."""
    host = network if network.device == "cpu" else network.host.undirected
    programs, device = context.peers[group_tc.NAME], context.device.number if context.on_gpu else 0
    try:
        runs = group_tc.count(programs, next(host.blocks()), device=device, repeats=context.repeats, out=context.out)
    except PeerError as error:
        return {"work": BY_GROUPS, "peer": group_tc.NAME, "not_measured": str(error)}
    mine, other = network.compute("triangles", each=False)[0], runs[0].triangles
    if other != mine:
        return {"work": BY_GROUPS, "peer": group_tc.NAME, "not_measured": f"it counts {other:,} triangles, csaw {mine:,}"}  # fmt: skip
    return {
        "work": BY_GROUPS, "peer": group_tc.NAME, "triangles": other, **figure([network.edges / 2 / run.seconds for run in runs]),
        "seconds": median(run.seconds for run in runs), "note": f"its kernel alone {1e3 * median(run.kernel_seconds for run in runs):.3g} ms",
    }  # fmt: skip


def verdict(rows: list[Row]) -> Verdict:
    found = measured(rows, work=TOTAL)
    if not found:
        return Verdict(None, "no triangles were counted")
    said = "; ".join(f"{row['rate'] / 1e6:.3g} M edges/s on {row['graph']}" for row in found)
    return Verdict(all(row["met"] for row in found), said)
