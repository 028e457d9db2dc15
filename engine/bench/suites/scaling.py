"""One to all GPUs of a node, each holding the graph or a part of it (C-SAW figure 17); on a CPU, one to all threads.

``efficiency`` is the rate as a share of the summed rates of the same GPUs alone, each with all instances (GPUs of a
kind differ by a tenth), or of one thread's rate times their number; the number of instances stays the same. For a
pooled graph, spread over all GPUs, it is a share of the rate on GPUs that each hold it all.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from operator import le
from typing import TYPE_CHECKING

from csaw.engine.bench.bench_row import Published, Ratio, Row, Verdict, all_of, by_row, gap, measured, named, ratio_in
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.measure import in_turns
from csaw.engine.bench.several import on_gpus
from csaw.engine.bench.suites.neighbors import BIASED, DISTINCT
from csaw.engine.bench.suites.walks import NODE2VEC, UNIFORM
from csaw.engine.bench.work import Work
from csaw.partition.errors import CsawError

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device

CLAIM = (
    "8000 instances of biased neighbor sampling run 5.2 times as fast on 6 GPUs, and 2000 faster than on one (C-SAW, "
    "figure 17); 4 million walks with 0.95 of the speed of as many single GPUs"
)
PUBLISHED = (Published("C-SAW, figure 17", "six NVIDIA V100s"),)
X = "gpus"
FEW, BY_DEGREE = (
    replace(BIASED, name=f"{count} instances, 2 x 2 by degree", instances=count, sized="{instances} instances")
    for count in (2000, 8000)
)
WORKS = (UNIFORM, NODE2VEC, DISTINCT, FEW, BY_DEGREE)
POOLED = (UNIFORM.name, DISTINCT.name)
EFFICIENT, PAPER = 0.95, 5.2 / 6


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        if context.on_gpu:
            yield from _gpus(context, graph)
        else:
            yield from _threads(context, graph)


def _gpus(context: Context, graph: Graph) -> Iterator[Row]:
    for work in context.wanted(WORKS):
        devices, single = context.devices, work.having(f"{work.name}, 1 GPU(s)")
        singles = [_measured(context, graph, single, (gpu,)) for gpu in devices]
        alone = [row.get("rate", 0.0) for row in singles]
        yield singles[0] | _efficiency(singles[0], alone[:1]) | {"series": work.name, "rates_alone": alone}
        for gpu, row in zip(devices[1:], singles[1:], strict=True):
            if "not_measured" in row:
                yield row | {"work": f"{work.name}, GPU {gpu.number} alone"}
        for number in counts(len(devices))[1:]:
            row = _measured(context, graph, work.having(f"{work.name}, {number} GPU(s)"), devices[:number])
            yield row | _efficiency(row, alone[:number]) | {"series": work.name}
        if work.name in POOLED and len(devices) > 1:
            pooled = work.having(f"{work.name}, pooled over {len(devices)}", residency="pooled")
            row = _measured(context, graph, pooled, devices)
            yield row | _efficiency(row, alone) | {"series": f"{work.name}, pooled"}


def _efficiency(row: Row, alone: list[float]) -> Row:
    """Columns that compare the row's rate with ``alone``, the rates that its GPUs or threads have alone.

    None if one was not measured.
    """
    if "rate" not in row or not all(alone):
        return {}
    return {"efficiency": row["rate"] / sum(alone), "rate_each": row["rate"] / len(alone)}


def _measured(context: Context, graph: Graph, work: Work, devices: "tuple[Device, ...]") -> Row:
    try:
        row = on_gpus(graph.store, work, devices, repeats=context.repeats)
    except (CsawError, MemoryError) as error:
        row = gap(work.name, error)
    return context.on(graph) | row


def counts(most: int) -> list[int]:
    """Numbers of devices or threads to measure: 1, 2, 4, 6, 8 and 16 below ``most``, and ``most``."""
    return sorted({1, most} | {n for n in (2, 4, 6, 8, 16) if n < most})


def _threads(context: Context, graph: Graph) -> Iterator[Row]:
    for work in context.wanted(WORKS):
        one = 0.0
        for threads in counts(context.threads):
            named = work.having(f"{work.name}, {threads} thread(s)")
            for row in in_turns(graph.store, [named], device="cpu", threads=threads, repeats=context.repeats):
                one = one or row.get("rate", 0.0)
                yield context.on(graph) | row | _efficiency(row, [one] * threads) | {"series": work.name, X: threads}


def verdict(rows: list[Row]) -> Verdict:
    several = [row for row in measured(rows) if row[X] > 1 and "efficiency" in row and row.get("residency") != "pooled"]
    walks = [row for row in several if row["series"] in (UNIFORM.name, NODE2VEC.name)]
    neighbors = [row for row in several if row["series"] == BY_DEGREE.name]
    if not walks or not neighbors:
        return Verdict(None, "walks and neighbors were not measured on more than one device")
    most = max(row[X] for row in neighbors)
    shares = {name: ratio_in(row, "efficiency") for name, row in named(walks).items()}
    said = f"times the rate of one with {most}"
    parts = [
        by_row(_times(several, series.name, most), partial(le, least), said)
        for series, least in ((BY_DEGREE, PAPER * most), (FEW, 1.0))
        if measured(several, series=series.name)
    ]
    return all_of([*parts, by_row(shares, partial(le, EFFICIENT), "of as many single ones' speed for walks")])


def _times(rows: list[Row], series: str, most: int) -> dict[str, Ratio]:
    """The rates of a series on ``most`` devices as multiples of the mean rate of one."""
    found = {name: ratio_in(row, "efficiency") for name, row in named(measured(rows, series=series, gpus=most)).items()}
    return {name: Ratio(*(most * share for share in one)) for name, one in found.items()}
