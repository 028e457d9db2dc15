"""Common parts of the suites that measure networks: the network of a graph, times, the rate of memory, peers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from csaw.engine.analytics.network import Network
from csaw.engine.bench.bench_row import Published, Row, Verdict, figure
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import Graph
from csaw.engine.bench.machine import timed
from csaw.engine.plan.choices import Residency
from csaw.engine.plan.gpu_memory import require_reach
from csaw.partition.errors import OptionError

if TYPE_CHECKING:
    from csaw.engine.analytics.cpu.network import HostNetwork
    from csaw.engine.analytics.cuda.network import DeviceNetwork
    from csaw.engine.cuda.device import Device

GAP = Published("GAP, timed by hand", "two cores of an AMD EPYC")
COPIED = 1 << 27  # bytes of a copy by which the rate of memory is measured


class Rows(Protocol):
    """A graph as CSR arrays in memory: int64 [V + 1], and the neighbors [E]."""

    @property
    def indptr(self) -> np.ndarray: ...

    @property
    def indices(self) -> np.ndarray: ...


def network_of(context: Context, graph: Graph) -> Network:
    """The network of a graph on the device that is measured, within the budgets of the run."""
    if not context.on_gpu:
        from csaw.engine.analytics.cpu.network import HostNetwork

        return HostNetwork(graph.store, memory=context.memory, threads=context.threads)

    from csaw.engine.analytics.cuda.network import DeviceNetwork

    return DeviceNetwork(
        graph.store,
        context.devices[0],
        gpu_memory=context.gpu_memory,
        memory=context.memory,
        threads=context.threads,
    )


def on_the_host(network: Network) -> "HostNetwork":
    """The simple undirected graph of a simple undirected network, on the host."""
    if network.device == "cpu":
        return cast("HostNetwork", network)
    return cast("DeviceNetwork", network).host.undirected


def with_gpus(network: Network, others: "tuple[Device, ...]") -> "DeviceNetwork":
    """Return the same network on a GPU, and those that were derived of it, with more GPUs beside it."""
    made = cast("DeviceNetwork", copy(network))
    made.others, made.relatives, made.passing = others, [], []
    for name in ("shares", "level_ranges", "_elsewhere"):
        vars(made).pop(name, None)
    for name in ("undirected", "incoming"):
        if (other := vars(network).get(name)) is network:
            vars(made)[name] = made
        elif other in network.relatives:  # which share the memory: they are made again
            vars(made).pop(name)
        elif other is not None:
            vars(made)[name] = with_gpus(other, others)
    return made


def spread_over(context: Context, graph: Graph) -> "DeviceNetwork | None":
    """The network of a graph that is spread over the GPUs of the run; None where there are not several in reach."""
    try:
        require_reach(context.devices)
    except OptionError:
        return None
    from csaw.engine.analytics.cuda.pooled_network import PooledNetwork

    return PooledNetwork(
        graph.store,
        context.devices[0],
        others=context.devices[1:],
        gpu_memory=context.gpu_memory,
        memory=context.memory,
        threads=context.threads,
        residency=Residency.POOLED,
    )


def beside_one(row: Row, one: Row | None) -> Row:
    """A note how many times as fast a row of several GPUs is as ``one``, of one GPU, if both were measured."""
    if one is None or not {"seconds"} <= one.keys() & row.keys():
        return {}
    return {"note": f"{one['seconds'] / row['seconds']:.2f} x one GPU"}


def waiting(context: Context) -> Callable[[], object]:
    """Make a function that returns when the device has done its queued work."""
    if not context.on_gpu:
        return lambda: None

    def wait() -> None:
        import cupy

        cupy.cuda.get_current_stream().synchronize()

    return wait


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


def timed_row(work: str, seconds: list[float], amount: float, unit: str = "edges/s") -> Row:
    """The row of a work that handles ``amount`` of ``unit`` in each of the ``seconds``, with the median of them."""
    ordered = sorted(seconds)
    rates = [amount / taken for taken in ordered]
    return {"work": work, "seconds": ordered[len(ordered) // 2], **figure(rates, unit)}


def beside_goal(row: Row, goal: float) -> Row:
    """The columns that set a rate beside its goal."""
    return {"goal": goal, "met": row["rate"] >= goal}


def goal_verdict(found: list[Row], none: str, said: Callable[[Row], str]) -> Verdict:
    """Whether all rows of a work meet their goals, and which do not; ``none``: the words where it was not measured."""
    if not found:
        return Verdict(None, none)
    missed = [row for row in found if not row["met"]]
    return Verdict(not missed, "; ".join(f"{said(row)} on {row['graph']}" for row in missed or found))


def least_seconds(network: Network, of_vertex: int, bandwidth: float) -> float:
    """Seconds to move every entry of rows once, and ``of_vertex`` bytes for each vertex, at ``bandwidth``."""
    return (network.id_dtype.itemsize * network.edges + of_vertex * network.vertices) / bandwidth


def ends_of(graph: Rows, directed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of each edge of a CSR graph; of an undirected edge, which rows have in both directions, once."""
    rows, columns = np.repeat(np.arange(graph.indptr.size - 1), np.diff(graph.indptr)), graph.indices.astype(np.int64)
    once = slice(None) if directed else rows <= columns
    return rows[once], columns[once]
