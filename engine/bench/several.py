"""A work on several GPUs at once: each draws a part in a thread of its own, and the slowest sets the time."""

import statistics
import threading
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from csaw.engine.bench.bench_row import Row, figure, kind_of
from csaw.engine.bench.work import Work
from csaw.engine.runs.backends import open_backend
from csaw.engine.runs.job import prepare
from csaw.engine.schedule.batch_loop import Batches
from csaw.engine.schedule.device_threads import DeviceThread, results_of
from csaw.partition import GraphStore

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device

# Each GPU first writes this many bytes, this often, about 2 ms, while its thread queues kernels, so that timed kernels
# do not wait for Python.
AHEAD_BYTES, AHEAD = 256 << 20, 32


def on_gpus(store: GraphStore, work: Work, devices: "tuple[Device, ...]", *, repeats: int) -> Row:
    """The figure of ``repeats`` turns after a warm-up, of kernels alone; samples stay on the devices."""
    from csaw.engine.cuda.graphs.node import Node

    names = "cuda:" + ",".join(str(gpu.number) for gpu in devices)
    part = -(-work.instances // len(devices))
    job = prepare(store, work.algo, device=names, instances=work.instances, in_flight=part, seed=1, **work.options)
    node, gate = Node(len(devices)), threading.Barrier(len(devices))
    rates, seconds, edges = [], [], []
    with ExitStack() as stack:
        stack.callback(node.close)
        threads = [DeviceThread(partial(open_backend, job, gpu, node), job.sources) for gpu in devices]
        for thread in threads:
            stack.callback(thread.close)
        results_of([thread.opened for thread in threads])
        for turn in range(repeats + 1):
            first = turn * work.instances
            spans = [
                (first + k * part, min(first + (k + 1) * part, first + work.instances)) for k in range(len(devices))
            ]
            found = results_of([thread.do(_draw, *span, gate) for thread, span in zip(threads, spans, strict=True)])
            if turn:
                seconds.append(max(s for s, _ in found))
                edges.append(sum(e for _, e in found))
                rates.append(edges[-1] / seconds[-1])
    return {
        "work": work.name,
        **figure(rates),
        "seconds": statistics.median(seconds),
        "edges": int(statistics.median(edges)),
        "instances": work.instances,
        "gpus": len(devices),
        "ran_on": kind_of(job.plan.device),
        "residency": job.plan.residency,
        "select": job.plan.select,
        "layout": job.plan.graph_layout,
    }


def _draw(batches: Batches, first: int, last: int, gate: threading.Barrier) -> tuple[float, int]:
    """Draw instances first .. last - 1 on one GPU; returns the seconds of its kernels, and the edges.

    The seconds are those of the GPU's own clock. All GPUs begin together.
    """
    import cupy

    try:
        batch = batches.begin(first, last)
        ahead, stream = cupy.empty(AHEAD_BYTES, "u1"), cupy.cuda.get_current_stream()
        batches.backend.wait()
    except BaseException:
        gate.abort()  # so that no other GPU waits for this one
        raise
    gate.wait()
    for _ in range(AHEAD):
        ahead.data.memset_async(0, ahead.nbytes)
    began = stream.record()
    batches.run(batch)
    ended = stream.record()
    ended.synchronize()
    return cupy.cuda.get_elapsed_time(began, ended) / 1e3, batch.edges()
