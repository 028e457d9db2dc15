"""Graphs of which half fit: batching, workload-aware scheduling and balancing, each added to the last.

C-SAW figures 13 to 15. Figure 13 is ``times``, the rate as a multiple of the baseline's; figure 14 is
``kernel_deviation`` between the GPU's multiprocessors in a pass, as a share of their mean; figure 15 is ``transfers``.
In the last line of each work, rows that few instances wait for are read without loading partitions, by a GPU over the
bus, by a CPU from the store, which C-SAW does not do. ``of_limit`` is the time of copies or of kernels alone, the
larger one, as a share of the whole. ``pass_bytes`` is what a traversal moves that passes over the graph once a depth.

The works are the paper's: biased neighbors, a biased walk, forest fire and unbiased neighbors. Its walk is 4,000 x
2,000, which is measured where the baseline ends in about a minute, judged by 500 x 50, and without the baseline where
the other policies do. With ``--parameters csaw`` the walk is uniform and 500 x 50 alone, and layer sampling stands in
place of the unbiased neighbors.

Then walks, second order and weights too, 25 x 10 and forest fires, with half, a quarter and a tenth of the graph in
memory, beside the bytes that they are expected to move: see bench/shares.py. With --memory on a CPU or --gpu-memory on
a GPU only these, with these budgets, also from disk if a GPU has both.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from csaw.engine.bench import shares
from csaw.engine.bench.bench_row import (
    Published,
    Row,
    Verdict,
    all_of,
    beside,
    by_row,
    figure,
    gap,
    measured,
    named,
    paired,
    rate_of,
    ratio,
)
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import Graph, in_partitions
from csaw.engine.bench.machine import COPIES
from csaw.engine.bench.measure import Work
from csaw.engine.bench.suites.sampling import BIASED, FOREST_FIRE, SIZED, UNIFORM
from csaw.engine.plan.options import Policy

# C-SAW's setting. The plan cuts partitions of which so few fit into smaller pieces, for every policy alike; half of the
# graph fits in any case.
PARTITIONS, FIT = 4, 2
ON_BUDGET = {False: 16, True: 32}  # partitions on a CPU and on a GPU, if a budget is given
READING = "partitions read in order, from the page cache"
OFF = {"batching": False, "workload_aware": False, "balancing": False, "in_place": False}
ON_GPU = {
    "baseline": Policy(**OFF),
    "batching": Policy(**OFF | {"batching": True}),
    "and workload-aware": Policy(**OFF | {"batching": True, "workload_aware": True}),
    "and balancing": Policy(in_place=False),
    "and in place": Policy(),
}
ON_CPU = {
    "baseline": Policy(workload_aware=False, in_place=False),
    "and workload-aware": Policy(in_place=False),
    "and in place": Policy(),
}
# Rates that the paper reports, as multiples of the baseline.
STEPS = {"batching": 2.0, "and workload-aware": 3.0, "and balancing": 3.5}
FEWER = 1.2  # transfers
ROUNDED = 1.05  # passes: partitions are not all of one size
STREAMED = replace(UNIFORM, goal=None)  # its goal is for a graph in memory
WALKS = Work("uniform walk, 500 x 50", "deepwalk", 500, {"walk_length": 50, "weighted": False}, sized=SIZED)
NEIGHBORS, FIRE = BIASED.having("2 x 2 by degree", select="its"), FOREST_FIRE.having("forest fire .7")
LAYER = Work(
    "layer, 10 by degree", "layer", 2000, {"depth": 2, "neighbor_size": 10, "bias": "degree", "weighted": False}
)
WORKS = (WALKS, NEIGHBORS, FIRE, LAYER)
SHORT_WALK = Work("walk by degree, 500 x 50", "biased", 500, {"walk_length": 50, "weighted": False}, sized=SIZED)
LONG_WALK = Work("walk by degree, 4000 x 2000", "biased", 4000, {"walk_length": 2000, "weighted": False}, sized=SIZED)
PATIENCE = 60.0  # seconds
OF_PAPER = (
    NEIGHBORS,
    SHORT_WALK,
    FIRE,
    BIASED.having("2 x 2, unbiased", bias="none", select="its"),
)


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        with tempfile.TemporaryDirectory(dir=context.out) as folder:
            if not shares.budget(context):
                yield from _figures(context, Graph(graph.label, in_partitions(graph.store, PARTITIONS, Path(folder))))
            yield from _in_parts(context, graph, Path(folder, "parts"))


def _figures(context: Context, half: Graph) -> Iterator[Row]:
    """Policies beside each other, as in the paper's figures."""
    ways = ON_GPU if context.on_gpu else ON_CPU
    for work in OF_PAPER if context.of_paper else WORKS:
        found = list(_compared(context, half, context.shrunk(work), ways))
        yield from found
        if work is SHORT_WALK:
            yield from _long_walk(context, half, found, ways)
    if context.on_gpu:  # enough walkers to use the loaded partitions
        ways = {way: ON_GPU[way] for way in ("and balancing", "and in place")}
        yield from _compared(context, half, context.shrunk(STREAMED), ways)


def _long_walk(context: Context, half: Graph, short: list[Row], ways: dict[str, Policy]) -> Iterator[Row]:
    """The paper's walk by the policies that end in time, judged by the rows of the short walk, and why not by others.

    Policies are compared with each other, so that all but the baseline are measured, or none.
    """
    seconds = {row["way"]: row["seconds"] * _times_as_long(context, ways[row["way"]]) for row in measured(short)}
    rest = max((one for way, one in seconds.items() if way != "baseline"), default=0.0)
    ends = {way: ways[way] for way, one in seconds.items() if (one if way == "baseline" else rest) <= PATIENCE}
    walk = context.shrunk(LONG_WALK)
    found = {row["work"]: row for row in _compared(context, half, walk, ends)}
    for way in ways:
        name = f"{walk.name}, {way}"
        if context.only not in name:
            continue
        took = f"it would take about {seconds[way]:,.0f} s" if way in seconds else "nothing is known of its time"
        yield found.get(name) or context.on(half) | gap(name, f"{took}, judged by {SHORT_WALK.name}")


def _times_as_long(context: Context, policy: Policy) -> float:
    """How many times as long the paper's walk takes as the short one; without batching, walkers are served in turn."""
    short, long = (context.shrunk(work) for work in (SHORT_WALK, LONG_WALK))
    steps = long.options["walk_length"] / short.options["walk_length"]
    return steps * (1 if policy.batching else long.instances / short.instances)


def _in_parts(context: Context, graph: Graph, folder: Path) -> Iterator[Row]:
    """Measure works with a part of the graph in memory, after the rate of the link.

    The rate of copies to a GPU is one of the machine's limits.
    """
    folder.mkdir()
    count = ON_BUDGET[context.on_gpu] if shares.budget(context) else shares.PARTITIONS
    parted = Graph(graph.label, in_partitions(graph.store, count, folder))
    link = context.limit(COPIES)
    if link is None:
        rates = shares.read_rates(parted.store)
        link = max(rates)
        if context.only in READING:
            yield context.on(graph) | {"work": READING, **figure(rates, "bytes/s")}
    yield from shares.compared(context, parted, link)


def _compared(context: Context, graph: Graph, work: Work, ways: dict[str, Policy]) -> Iterator[Row]:
    """A row for each policy, with its transfers and bytes. ``work``: in the size allowed here."""
    asked = {f"{work.name}, {way}": way for way in ways if context.only in f"{work.name}, {way}"}
    if not asked:
        return
    half = shares.share_options(context, graph.store, work, FIT / PARTITIONS)
    variants = [work.having(name, policy=ways[way], **half) for name, way in asked.items()]
    found = list(context.compare(graph, variants))
    base = rate_of(found, f"{work.name}, baseline")
    for row in found:
        if "rate" in row:
            row |= {"way": asked[row["work"]]} | beside(row, base, "baseline")
            row |= {"of_limit": _of_limit(context, row)} if context.on_gpu else {}
            passes = shares.pass_bytes(shares.job_of(context, graph.store, work, **half))
            row |= {} if passes is None else {"pass_bytes": passes}
        yield row


def _of_limit(context: Context, row: Row) -> float:
    copies = max(limit["rate"] for limit in context.limits if limit["unit"] == "bytes/s")
    return max(row["transfer_bytes"] / copies, row["kernel_seconds"]) / row["seconds"]


def verdict(rows: list[Row]) -> Verdict:
    if still := [name for name, row in named(rows).items() if not _has_moved(row)]:
        return Verdict(False, f"the suite failed: its graph was in memory, as nothing was moved for {'; '.join(still)}")
    if not any("way" in row for row in rows):
        return Verdict(None, "nothing was measured beside the baseline")
    return all_of([*(_step(rows, way, least) for way, least in STEPS.items()), _evener(rows), _fewer(rows)])


def _has_moved(row: Row) -> bool:
    """Whether a row is of a run that moved something, or of one with all in memory.

    Each run out of memory brings partitions or reads rows in place.
    """
    return "transfer_bytes" not in row or row["transfer_bytes"] > 0 or row["in_place"] > 0


def _step(rows: list[Row], way: str, least: float) -> Verdict:
    """Whether every work with this policy has at least ``least`` times the rate of its baseline."""
    times = {name: ratio(*both) for name, both in paired(rows, way, "baseline").items()}
    if not times:
        return Verdict(None, f"{way.removeprefix('and ')} was not measured beside the baseline")
    return by_row(times, lambda found: found >= least, f"times the baseline with {way.removeprefix('and ')}")


def _evener(rows: list[Row]) -> Verdict:
    """Whether the work of multiprocessors deviates less with balancing in every work."""
    pairs = paired(rows, "and balancing", "and workload-aware")
    found = {
        name: before["kernel_deviation"] / after["kernel_deviation"]
        for name, (after, before) in pairs.items()
        if after.get("kernel_deviation") and "kernel_deviation" in before
    }
    if not found:
        return Verdict(None, "the imbalance between multiprocessors was not measured")
    return by_row(found, lambda times: times > 1, "times less deviation between multiprocessors with balancing")


def _fewer(rows: list[Row]) -> Verdict:
    """Whether every work needs so many times fewer transfers with scheduling than with partitions loaded in order.

    Traversals that in order pass over the graph once a depth have hardly more to save, and must not need more.
    """
    before, after = "batching" if measured(rows, way="batching") else "baseline", "and workload-aware"
    found: dict[str, dict[str, float]] = {before: {}, after: {}}
    passes = set()  # works that in order pass over the graph once a depth
    for name, row in named(rows).items():
        if row.get("way") in found:
            work = name.replace(f", {row['way']}", "")
            found[row["way"]][work] = row["transfers"]
            if row["way"] == before and row["transfer_bytes"] <= ROUNDED * row.get("pass_bytes", 0):
                passes.add(work)
    if alone := found[before].keys() ^ found[after].keys():
        return Verdict(None, f"transfers of {'; '.join(sorted(alone))} with only one of {before} and scheduling")
    if not found[before]:
        return Verdict(None, "no transfers beside scheduling's were counted")
    fewer = {name: count / found[after][name] for name, count in found[before].items()}
    free = {name: times for name, times in fewer.items() if name not in passes}
    parts = [by_row(free, lambda times: times >= FEWER, "times fewer transfers with scheduling")] if free else []
    if passes:
        once = {name: fewer[name] for name in fewer if name in passes}
        parts.append(by_row(once, lambda times: times >= 1, "times fewer where one pass a depth is made in order"))
    return all_of(parts)


SUITES = {
    "out-of-memory": Suite(
        "batching makes sampling out of memory at least 2 times as fast, with workload-aware scheduling 3 "
        "times, with balancing 3.5 times, which evens out the work, and scheduling "
        "cuts transfers by 1.2 times where fewer are possible, and raises them nowhere (C-SAW, figures 13 to 15)",
        rows,
        verdict,
        published=(Published("C-SAW, figures 13 to 15", "one NVIDIA V100"),),
    ),
}
