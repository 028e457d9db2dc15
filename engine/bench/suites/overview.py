"""The default suite of ``csaw bench``: this machine's limits, the main algorithms, and a whole run.

The whole run writes its samples. Where several GPUs are given, all of them together make it too.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from csaw.engine.bench.bench_row import Row, Verdict, by_row, figure, kind_of, measured, named, ratio_in
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.machine import plain_write
from csaw.engine.bench.suites.neighbors import BIASED, DISTINCT, FOREST_FIRE, REPLACED
from csaw.engine.bench.suites.walks import MULTIDIMENSIONAL, NODE2VEC, UNIFORM, WEIGHTED
from csaw.engine.runs.execute import execute
from csaw.engine.runs.job import prepare

CLAIM = (
    "a whole run takes little longer than a plain synced write of the same bytes, or than sampling where that is slower"
)
MAIN = (UNIFORM, WEIGHTED, NODE2VEC, MULTIDIMENSIONAL, REPLACED, DISTINCT, BIASED, FOREST_FIRE)
WHOLE, PLAIN = "whole run: uniform walks of 80, written", "plain synced write of as many bytes"
WRITTEN, WRITTEN_ON_GPU = 1_000_000, 16_000_000  # walks
NEAR_SHARE = 0.9  # share of the rate of the slower of the two alone


def rows(context: Context) -> Iterator[Row]:
    for graph in context.graphs():
        yield from context.measure(graph, MAIN)
        for kind, count in context.kinds.items():
            beyond = f", {count} GPUs" if count > 1 else ""
            if context.only in f"{WHOLE}{beyond}":
                yield from _whole_run(context, graph, kind, count, beyond)


def _whole_run(context: Context, graph: Graph, kind: str, count: int, beyond: str) -> Iterator[Row]:
    """``csaw sample`` from the start to a finished store, in turns with a plain write to the same disk.

    ``kind``: the devices, ``count`` of them; ``beyond``: what the names of the rows say of them.
    """
    instances = min(
        context.instances or (count * WRITTEN_ON_GPU if context.on_gpu else WRITTEN), 2000 if context.quick else 2**62
    )
    edges, written, plain, sampling = [], [], [], []
    for turn in range(context.repeats + 1):
        with tempfile.TemporaryDirectory(dir=context.out) as folder:
            job = prepare(
                graph.store,
                "deepwalk",
                walk_length=80,
                weighted=False,
                device=kind,
                threads=context.threads,
                instances=instances,
                seed=turn,
            )
            results = execute(job, Path(folder, "walks.zarr"))
            size = results["bytes_written"]
        seconds = plain_write(context.out, size)
        if turn:  # the first turn compiles
            edges.append(results["seps_run"])
            written.append(size / results["run_seconds"])
            sampling.append(size / results["sampling_seconds"])
            plain.append(size / seconds)
    one = figure(written, "bytes/s")
    slower = min(figure(plain)["rate"], figure(sampling)["rate"])
    yield context.on(graph) | {"work": f"{PLAIN}{beyond}", **figure(plain, "bytes/s"), "bytes": size}
    yield context.on(graph) | {
        "work": f"{WHOLE}{beyond}",
        **figure(edges),
        "instances": instances,
        "bytes": size,
        "bytes_per_second": one["rate"],
        "ran_on": kind_of(job.plan.device),
        "of_plain_write": one["rate"] / figure(plain)["rate"],
        "of_slower": one["rate"] / slower,
    }


def verdict(rows: list[Row]) -> Verdict:
    found = [row for row in measured(rows) if row["work"].startswith(WHOLE)]
    if not found:
        return Verdict(None, f"{WHOLE} was not measured")
    shares = {name: ratio_in(row, "of_slower") for name, row in named(found).items()}
    return by_row(shares, lambda share: share >= NEAR_SHARE, "of the rate of the slower of a plain write and sampling")
