"""Figures of C-SAW and of NextDoor: sizes, collisions, samples drawn together, and several GPUs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from operator import le
from typing import TYPE_CHECKING

from csaw.engine.bench.bench_row import (
    Published,
    Ratio,
    Row,
    Verdict,
    all_of,
    beside,
    by_row,
    gap,
    measured,
    named,
    paired,
    rate_of,
    ratio,
    ratio_in,
)
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.measure import Work, in_turns, on_gpus
from csaw.engine.bench.suites.sampling import BIASED, DISTINCT, FOREST_FIRE, NODE2VEC, REPLACED, SNOWBALL, UNIFORM
from csaw.engine.plan.choices import DETECTORS, Collision
from csaw.partition.errors import CsawError

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device

SIZES = (1, 2, 4, 8)
INSTANCES, DEPTH = 16_000, 3
BY_SUMS = {"select": "its", "layout": "ctps"}  # all sizes read the same arrays
BY_SEARCH = {"select": "its", "layout": "csr"}  # all ways read the same arrays
AT_RUN_TIME = ", biases at run time"  # a vertex's biases are computed whenever it selects, as in C-SAW
BIASES = {"": BY_SUMS, AT_RUN_TIME: BY_SEARCH}
SERIES = "biased neighbors"


def neighbor_size_rows(context: Context) -> Iterator[Row]:
    """Biased neighbor sampling with 1, 2, 4 and 8 neighbors of each vertex: C-SAW figure 16 (a).

    16,000 instances and depth 3. With ``--parameters csaw``, 2000 instances and depth 2. Running sums of the biases are
    made beforehand; as C-SAW has it, biases are computed at run time.
    """
    for how, options in BIASES.items():
        works = {size: _work(size, how, options, of_paper=context.of_paper) for size in SIZES}
        sizes = {work.name: size for size, work in works.items()}
        for row in context.measure_all(works.values()):
            yield row | {"neighbor_size": sizes[row["work"]], "series": f"{SERIES}{how}"}


def _work(size: int, how: str, options: dict[str, str], *, of_paper: bool) -> Work:
    if of_paper:
        name = f"neighbor size {size}, depth {DEPTH}, by degree{how}"
        return replace(BIASED.having(name, fanout=(size,) * DEPTH, **options), instances=INSTANCES)
    return BIASED.having(f"neighbor size {size}, by degree{how}", fanout=(size, size), **options)


def more_is_faster(rows: list[Row], over: str) -> Verdict:
    """Whether the rate is higher at the largest value of column ``over`` than at the smallest, on every graph and in
    each series.

    It is higher beyond the spreads of both.
    """
    times: dict[str, Ratio] = {}
    for graph, series in dict.fromkeys((row["graph"], row["series"]) for row in rows):
        here = sorted(measured(rows, graph=graph, series=series), key=lambda row: row[over])
        low, high = here[0], here[-1]
        if low[over] < high[over]:
            times[f"{graph}{series.removeprefix(SERIES)}"] = ratio(high, low)
    if not times:
        return Verdict(None, "fewer than two sizes were measured")
    return by_row(times, lambda found: found > 1, f"times the rate from {low[over]:,} to {high[over]:,}")


FEWEST, FEWEST_QUICK = 2000, 25


def instances_rows(context: Context) -> Iterator[Row]:
    """Biased neighbor sampling with 2, 4, 8 and 16 thousand instances: C-SAW figure 16 (b).

    Depth 3, and the largest neighbor size of (a), 8. With ``--parameters csaw``, neighbor size 2 and depth 2. Biases
    are summed beforehand and computed at run time, as in (a).
    """
    fewest = FEWEST_QUICK if context.quick else FEWEST
    counts = [count for count in (fewest, 2 * fewest, 4 * fewest, 8 * fewest) if count <= context.most]
    how = f"{DEPTH} deep, by degree" if context.of_paper else "by degree"
    fanout = {"fanout": (SIZES[-1],) * DEPTH} if context.of_paper else {}
    for way, options in BIASES.items():
        works = [
            replace(BIASED.having(f"{count:,} instances, {how}{way}", **options | fanout), instances=count)
            for count in counts
        ]
        yield from (row | {"series": f"{SERIES}{way}"} for row in context.measure_all(works))


BASE, BEST = "repeated", "bipartite"
LIST = f"{BEST}, linear"
COLLISIONS = {collision: {"collision": collision} for collision in Collision} | {
    f"{BEST}, {detector}": {"collision": BEST, "detect": detector} for detector in DETECTORS
}
SELECTED = (
    BIASED.having("biased neighbors, 2 x 2", **BY_SEARCH),
    BIASED.having("unbiased neighbors, 2 x 2", bias="none", **BY_SEARCH),
    BIASED.having("biased neighbors, 8 x 8", fanout=(8, 8), **BY_SEARCH),
    FOREST_FIRE.having("forest fire .7", **BY_SEARCH),
    SNOWBALL.having("snowball, 2 of each", **BY_SEARCH),
)
FIRST_LAYER = BIASED.having("first layer, 10 of a source's", fanout=(10,), **BY_SEARCH)
OF_PAPER = (SELECTED[0], SELECTED[1], SELECTED[3], FIRST_LAYER)
LAYERS = Work(
    "two layers, 10 of the frontier's, exponential keys",
    "layer",
    2000,
    {"depth": 2, "neighbor_size": 10, "bias": "degree", "weighted": False},
)


def selection_rows(context: Context) -> Iterator[Row]:
    """Selecting without replacement by inverse transform: the cost of candidates that were already selected.

    C-SAW figures 10 to 12. Figure 10 is ``times``, the rate as a multiple of repeated sampling's; figure 11 is
    ``iterations_an_edge``, searches of the CTPS for each neighbor selected; figure 12 is ``searches_an_edge``, the work
    of each detector to find repeated candidates. The works are the paper's: biased and unbiased neighbors, forest fire,
    and layer sampling. The pool of a first layer is the row of its source, which is searched in all ways; csaw merges
    the pools of later layers by exponential keys, which do not collide, so that two layers are measured in this way
    alone. With ``--parameters csaw`` larger neighbors and snowballs stand in place of the layers.
    """
    for graph in context.graphs():
        for work in OF_PAPER if context.of_paper else SELECTED:
            yield from _compared(context, graph, work)
        if context.of_paper:
            yield from context.measure(graph, [LAYERS])


def _compared(context: Context, graph: Graph, work: Work) -> Iterator[Row]:
    """A row for each way to treat a collision."""
    ways = {f"{work.name}, {way}": way for way in COLLISIONS}
    found = list(context.compare(graph, (work.having(name, **COLLISIONS[way]) for name, way in ways.items())))
    base = rate_of(found, f"{work.name}, {BASE}")
    for row in found:
        yield row | ({"way": ways[row["work"]]} | beside(row, base, BASE) if "rate" in row else {})


def selection_verdict(rows: list[Row]) -> Verdict:
    parts = [
        _compare(rows, BASE, ratio, f"times the rate of {BASE}"),
        _compare(rows, BASE, partial(_fewer, "iterations"), "times fewer iterations"),
        _compare(rows, "updated", ratio, "times the rate of updated"),
        _compare(rows, LIST, partial(_fewer, "searches"), "times fewer searches than a list"),
    ]
    found = [part for part in parts if part is not None]
    if not found:
        return Verdict(None, f"{BEST} was not measured beside another")
    verdict = all_of(found)
    return Verdict(verdict.holds, f"{BEST} has {verdict.found}")


def _compare(rows: list[Row], other: str, times: Callable[[Row, Row], float | Ratio], said: str) -> Verdict | None:
    """Whether the best way exceeds another in each work, by ``times`` of both rows; None if no work has both."""
    found = {name: times(*both) for name, both in paired(rows, BEST, other).items()}
    return by_row(found, lambda times: times > 1, said) if found else None


def _fewer(what: str, best: Row, other: Row) -> float:
    """How many times fewer of something the best way counted, which repeats do not vary."""
    return other[f"{what}_an_edge"] / best[f"{what}_an_edge"]


TRANSIT = {"off": "sample-parallel", "on": "transit-parallel"}
FEWER = (100_000, 400_000)  # sources: with fewer picks per edge of the graph, they share fewer rows
SAMPLES = (10, 100, 2000)  # of each source
TRANSITS = (
    REPLACED,
    DISTINCT,
    REPLACED.having("5 x 48, with replacement", fanout=(5, 48)),
    REPLACED.having("10 x 25, with replacement", fanout=(10, 25)),
    *(
        replace(work, name=f"{work.name}, {count:,} sources", instances=count, goal=None, sized="{instances:,} sources")
        for work in (REPLACED, DISTINCT)
        for count in FEWER
    ),
)


def shared(context: Context) -> list[Work]:
    """Works in which several instances begin at each source, so that their first hop has as many samples of it.

    A run of fewer instances than that has none.
    """
    found = []
    for work, count in product((REPLACED, DISTINCT), SAMPLES):
        if sources := context.shrunk(work).instances // count:
            named = work.having(f"{work.name}, {count:,} samples of a source", sources=f"random:{sources}")
            found.append(replace(named, goal=None))
    return found


def transit_rows(context: Context) -> Iterator[Row]:
    """Neighbors drawn together for a part of the graph, or instance by instance: NextDoor figures 7 and 8, on a GPU.

    NextDoor has a kernel each for vertices with less than 32 samples, up to 1,024, and more. csaw has one, so that
    works tell these cases apart: a million instances with 10, 100 and 2,000 samples of each source.
    """
    if not context.on_gpu:
        yield gap("transit parallelism", "it is for GPUs, and here is none; the CPU draws instance by instance")
        return
    for graph in context.graphs():
        for work in context.wanted([*TRANSITS, *shared(context)]):
            variants = {f"{work.name}, {way}": option for option, way in TRANSIT.items()}
            found = list(
                context.compare(graph, (work.having(n, transit_parallel=option) for n, option in variants.items()))
            )
            base = rate_of(found, f"{work.name}, {TRANSIT['off']}")
            yield from (row | beside(row, base, TRANSIT["off"]) for row in found)


def transit_verdict(rows: list[Row]) -> Verdict:
    times = {name: ratio(*both) for name, both in paired(rows, TRANSIT["on"], TRANSIT["off"]).items()}
    if not times:
        return Verdict(None, "both ways were not measured")
    return by_row(times, lambda found: found > 1, f"times the rate of {TRANSIT['off']}")


FEW, BY_DEGREE = (
    replace(BIASED, name=f"{count} instances, 2 x 2 by degree", instances=count, sized="{instances} instances")
    for count in (2000, 8000)
)
SCALED = (UNIFORM, NODE2VEC, DISTINCT, FEW, BY_DEGREE)
POOLED = (UNIFORM.name, DISTINCT.name)
EFFICIENT, PAPER_EFFICIENCY = 0.95, 5.2 / 6


def scaling_rows(context: Context) -> Iterator[Row]:
    """One to all GPUs of a node, each with the graph or a part of it (C-SAW figure 17); on a CPU, one to all threads.

    ``efficiency`` is the rate as a share of the summed rates of the same GPUs alone, each with all instances (GPUs of a
    kind differ by a tenth), or of one thread's rate times their number; the number of instances stays the same. For a
    pooled graph, spread over all GPUs, it is a share of the rate on GPUs that each hold it all.
    """
    for graph in context.graphs():
        if context.on_gpu:
            yield from _gpus(context, graph)
        else:
            yield from _threads(context, graph)


def _gpus(context: Context, graph: Graph) -> Iterator[Row]:
    for work in context.wanted(SCALED):
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
    for work in context.wanted(SCALED):
        one = 0.0
        for threads in counts(context.threads):
            named = work.having(f"{work.name}, {threads} thread(s)")
            for row in in_turns(graph.store, [named], device="cpu", threads=threads, repeats=context.repeats):
                one = one or row.get("rate", 0.0)
                yield (
                    context.on(graph) | row | _efficiency(row, [one] * threads) | {"series": work.name, "gpus": threads}
                )


def scaling_verdict(rows: list[Row]) -> Verdict:
    several = [
        row for row in measured(rows) if row["gpus"] > 1 and "efficiency" in row and row.get("residency") != "pooled"
    ]
    walks = [row for row in several if row["series"] in (UNIFORM.name, NODE2VEC.name)]
    neighbors = [row for row in several if row["series"] == BY_DEGREE.name]
    if not walks or not neighbors:
        return Verdict(None, "walks and neighbors were not measured on more than one device")
    most = max(row["gpus"] for row in neighbors)
    shares = {name: ratio_in(row, "efficiency") for name, row in named(walks).items()}
    said = f"times the rate of one with {most}"
    parts = [
        by_row(_times(several, series.name, most), partial(le, least), said)
        for series, least in ((BY_DEGREE, PAPER_EFFICIENCY * most), (FEW, 1.0))
        if measured(several, series=series.name)
    ]
    return all_of([*parts, by_row(shares, partial(le, EFFICIENT), "of as many single ones' speed for walks")])


def _times(rows: list[Row], series: str, most: int) -> dict[str, Ratio]:
    """The rates of a series on ``most`` devices as multiples of the mean rate of one."""
    found = {name: ratio_in(row, "efficiency") for name, row in named(measured(rows, series=series, gpus=most)).items()}
    return {name: Ratio(*(most * share for share in one)) for name, one in found.items()}


SUITES = {
    "instances": Suite(
        "time grows more slowly than the number of instances (C-SAW, figure 16 b)",
        instances_rows,
        partial(more_is_faster, over="instances"),
        published=(Published("C-SAW, figure 16 b", "one NVIDIA V100"),),
        over="instances",
    ),
    "neighbor-size": Suite(
        "time grows more slowly than the sampled edges when a vertex selects more neighbors (C-SAW, figure 16 a)",
        neighbor_size_rows,
        partial(more_is_faster, over="neighbor_size"),
        published=(Published("C-SAW, figure 16 a", "one NVIDIA V100"),),
        over="neighbor_size",
    ),
    "scaling": Suite(
        "8000 instances of biased neighbor sampling run 5.2 times as fast on 6 GPUs, and 2000 faster than on one "
        "(C-SAW, figure 17); 4 million walks with 0.95 of the speed of as many single GPUs",
        scaling_rows,
        scaling_verdict,
        published=(Published("C-SAW, figure 17", "six NVIDIA V100s"),),
        over="gpus",
    ),
    "selection": Suite(
        "bipartite region search is faster than repeated and than updated sampling, with fewer iterations than "
        "repeated sampling, and a bitmap takes fewer searches than a list (C-SAW, figures 10 to 12)",
        selection_rows,
        selection_verdict,
        published=(Published("C-SAW, figures 10 to 12", "one NVIDIA V100"),),
    ),
    "transit": Suite(
        "transit-parallel sampling, its grouping included, is faster than sample-parallel sampling (NextDoor, "
        "figures 7 and 8)",
        transit_rows,
        transit_verdict,
        published=(Published("NextDoor, figures 7 and 8", "one NVIDIA V100"),),
    ),
}
