"""What suites that measure networks share: the network of a graph, seconds of repeats, the rate of memory, and a graph as peers take it."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any

import numpy as np

from csaw.engine.bench.bench_row import Published, Row
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph

GAP = Published("GAP, timed by hand", "two cores of an AMD EPYC")
COPIED = 1 << 27  # bytes of a copy by which the rate of memory is measured


def network_of(context: Context, graph: Graph) -> Any:
    """The network of a graph on the device that is measured, within the budgets of the run."""
    if not context.on_gpu:
        from csaw.engine.analytics.cpu.network import HostNetwork

        return HostNetwork(graph.store, memory=context.memory, threads=context.threads)

    from csaw.engine.analytics.cuda.network import DeviceNetwork

    return DeviceNetwork(
        graph.store, context.device, gpu_memory=context.gpu_memory, memory=context.memory, threads=context.threads
    )


def with_gpus(network: Any, others: tuple[Any, ...]) -> Any:
    """The same network on a GPU, and what is derived of it, with more GPUs beside it."""
    made = copy(network)
    made.others = others
    for name in ("shares", "level_ranges", "_elsewhere"):
        vars(made).pop(name, None)
    for name in ("undirected", "incoming"):
        if (other := vars(network).get(name)) is not None:
            vars(made)[name] = made if other is network else with_gpus(other, others)
    return made


def beside_one(row: Row, one: Row | None) -> Row:
    """A note how many times as fast a row of several GPUs is as ``one``, of one GPU, if both were measured."""
    if one is None or not {"seconds"} <= one.keys() & row.keys():
        return {}
    return {"note": f"{one['seconds'] / row['seconds']:.2f} x one GPU"}


def of_one(work: str, works: Iterable[str]) -> str:
    """The one of ``works`` that several GPUs do in ``work``, whose name begins with its name."""
    return next(one for one in works if work.startswith(one))


def with_ratios(rows: Iterable[Row], works: Iterable[str]) -> Iterator[Row]:
    """The rows in their order, those of several GPUs beside those of one, which come before them."""
    found: dict[str, Row] = {}
    for row in rows:
        found[row["work"]], one = row, of_one(row["work"], works)
        yield row | (beside_one(row, found.get(one)) if one != row["work"] else {})


def timed(call: Callable[[], Any], repeats: int, wait: Callable[[], Any] = lambda: None) -> list[float]:
    """The seconds of each repeat, after one that does not count. ``wait``: until the device is done."""
    call()
    wait()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        call()
        wait()
        seconds.append(time.perf_counter() - began)
    return seconds


def waiting(context: Context) -> Callable[[], Any]:
    """A call that returns when the device has done what it was given."""
    if not context.on_gpu:
        return lambda: None
    import cupy

    return cupy.cuda.get_current_stream().synchronize


def copy_rate(context: Context) -> float:
    """Bytes that are read and written in a second when memory is copied: of the GPU, or by all threads."""
    if context.on_gpu:
        import cupy

        source, target = cupy.zeros(COPIED, np.uint8), cupy.zeros(COPIED, np.uint8)
        return 2 * COPIED / min(timed(lambda: cupy.copyto(target, source), 5, waiting(context)))
    source, target = np.zeros(COPIED, np.uint8), np.zeros(COPIED, np.uint8)
    parts = list(zip(np.array_split(target, context.threads), np.array_split(source, context.threads), strict=True))
    with ThreadPoolExecutor(context.threads) as pool:
        return 2 * COPIED / min(timed(lambda: list(pool.map(lambda part: np.copyto(*part), parts)), 5))


def ends_of(graph: Any, directed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of each edge of a CSR graph; of an undirected edge, which rows have in both directions, once."""
    rows, columns = np.repeat(np.arange(graph.indptr.size - 1), np.diff(graph.indptr)), graph.indices.astype(np.int64)
    once = slice(None) if directed else rows <= columns
    return rows[once], columns[once]
