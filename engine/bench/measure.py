"""Times: works on a backend, and the ceilings they are held against."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from csaw.engine.bench.suites import Work
from csaw.engine.run import open_backend, prepare

CEILING_BYTES = (2 << 30, 32 << 30)  # on a GPU: far beyond any cache; as large as the arrays of a graph of 10^9 edges
HOST_CEILING_BYTES = 256 << 20


def measure(store: Any, work: Work, *, device: str, threads: int | None, repeats: int) -> dict[str, Any]:
    """Sampling alone: the graph is loaded, kernels are compiled, samples stay where they were drawn. Other instances at each repeat."""
    options = work.options if device != "cpu" else {k: v for k, v in work.options.items() if k != "layout"}
    job = prepare(store, work.algo, device=device, threads=threads, instances=work.instances, batch_size=work.instances, seed=1,
                  **options)  # fmt: skip
    backend = open_backend(job)
    seconds, edges = [], []
    try:
        for turn in range(repeats + 1):  # the first warms up
            first = turn * work.instances
            batch = backend.begin(first, job.sources.take(first, first + work.instances, job.plan.layout == "walks"))
            backend.wait()
            clock = time.perf_counter()
            batch.advance()
            backend.wait()
            seconds.append(time.perf_counter() - clock)
            edges.append(batch.edges())
    finally:
        backend.close()
    rates = sorted(e / s / 1e9 for e, s in zip(edges[1:], seconds[1:], strict=True))
    return {
        "work": work.name, "instances": work.instances, "edges": int(statistics.median(edges[1:])), "seconds": statistics.median(seconds[1:]),
        "giga_edges_per_second": statistics.median(rates), "slowest": rates[0], "fastest": rates[-1],
        "select": job.plan.select, "layout": job.plan.graph_layout, "goal": work.goal if device != "cpu" else None,
    }  # fmt: skip


def ceilings(device: str) -> dict[str, float]:
    """Random gathers in G/s, of independent addresses, by every processor at once."""
    return _device_ceilings() if device.startswith("cuda") else _host_ceilings()


def _best(run: Callable[[], None], wait: Callable[[], None], repeats: int = 5) -> float:
    """The least seconds of some runs after one that does not count."""
    times = []
    for _ in range(repeats + 1):
        wait()
        clock = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - clock)
    return min(times[1:])


def _device_ceilings() -> dict[str, float]:
    import cupy

    from csaw.engine.cuda.device import open_device
    from csaw.engine.cuda.launch import Kernels
    from csaw.engine.cuda.units import Unit

    device = open_device()
    kernels = Kernels(Unit(("ceiling.cu",), {}, [], ()), device)
    blocks, block, rounds = 16 * device.processors, 256, 64
    gathers = blocks * block * rounds * 8
    found = {}
    for size in CEILING_BYTES:
        if size > device.free_bytes // 2:
            continue
        table = cupy.zeros(size // 4, np.uint32)
        seconds = _best(
            lambda size=size, table=table: kernels.launch("gather_16", blocks, block, size // 16, table, rounds, table),  # type: ignore[misc]
            cupy.cuda.get_current_stream().synchronize,
        )
        found[f"gathers from {size >> 30} GiB"] = gathers / seconds / 1e9
    return found


def _host_ceilings() -> dict[str, float]:
    from csaw.engine.bench.gather import gather
    from csaw.engine.cpu.backend import default_threads

    table = np.zeros(HOST_CEILING_BYTES // 4, np.uint32)
    count = default_threads() << 22
    seconds = _best(lambda: gather(table, default_threads(), count // default_threads()), lambda: None, 3)
    return {f"gathers from {HOST_CEILING_BYTES >> 20} MiB": count / seconds / 1e9}
