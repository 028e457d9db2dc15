"""One run: a graph and an algorithm in, a finished sample store out."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from csaw.engine import registry
from csaw.engine.algorithm import LARGEST
from csaw.engine.backend import TALLY
from csaw.engine.devices import Devices, place
from csaw.engine.plan import Plan, make_plan, transfer_units
from csaw.engine.samples import Samples, open_samples
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule import Policy
from csaw.engine.sources import Sources
from csaw.engine.workers import Totals, sample_groups
from csaw.partition import GraphStore, open_graph
from csaw.partition.coalesced import Coalesced
from csaw.partition.errors import BudgetError, DeviceError, OptionError
from csaw.partition.shown import quoted

log = logging.getLogger(__name__)
VERSION = "0.1.0"
DRAWS = 1
"""Version of the draws: higher with every change by which a request gives another sample. Versions of csaw that have it in common resume each other's samples."""
MOST_THREADS = 4096


@dataclass(frozen=True)
class Job:
    """A plan with what it needs to run."""

    store: GraphStore
    algorithm: Any
    sources: Sources
    plan: Plan
    devices: Devices = ()


def prepare(graph: str | Path | GraphStore, algo: str = "deepwalk", *, sources: Any = None, instances: int | None = None, seed: int = 0,
            weighted: bool | None = None, edge_bias: str | None = None, select: str | None = None, collision: str = "bipartite", detect: str | None = None,
            ids: str = "original", memory: int | None = None, batch_size: int | None = None, threads: int | None = None,
            device: Any = "auto", gpu_memory: int | None = None, residency: str | None = None, layout: str | None = None,
            transit_parallel: str = "auto", policy: Policy | None = None, checksums: bool = True, **parameters: Any) -> Job:  # fmt: skip
    """Check everything and plan; nothing is sampled. Options of the algorithm go by name: ``p=0.5, walk_length=80``.

    ``checksums`` False reads the graph's bytes without comparing them with their checksums. ``policy`` switches parts of scheduling off. ``device`` is auto, cpu, cuda, cuda:1, cuda:0,1, or what ``open_device`` returned.
    """
    from csaw.engine.cpu.backend import default_threads

    store = graph if isinstance(graph, GraphStore) else open_graph(graph, checksums)
    if weighted and not store.weighted:
        raise OptionError(f"--weighted: {store.path} has no weights; partition it again with --weight-column")
    if not 0 <= seed < 2**64:
        raise OptionError(f"--seed: expected 0 to 2^64 - 1, found {quoted(seed)}")
    for flag, given, most in (("--threads", threads, MOST_THREADS), ("--batch-size", batch_size, LARGEST)):
        if given is not None and not 1 <= given <= most:
            raise OptionError(f"{flag}: expected 1 to {most}, found {quoted(given)}")
    algorithm = registry.build(algo, parameters, edge_bias)
    chosen = Sources(store, algorithm, sources, instances, seed)

    def planned(devices: Devices, store: GraphStore = store) -> Plan:
        return make_plan(
            store, algorithm, chosen, devices, name=algo, edge_bias=edge_bias, weighted=store.weighted if weighted is None else weighted,
            seed=seed, select=select, collision=collision, detect=detect, ids=ids, memory=memory, batch=batch_size,
            threads=threads or default_threads(), gpu_memory=gpu_memory, residency=residency, graph_layout=layout, transit=transit_parallel, policy=policy,
        )  # fmt: skip

    devices = place(device, planned) if isinstance(device, str) else (device,)
    plan = planned(devices)
    if devices and (units := transfer_units(plan, store)) < len(store.partitions):
        merged = Coalesced(store, units)
        with suppress(BudgetError):  # a unit may be larger than the largest partition
            plan, store = planned(devices, merged), merged
    return Job(store, algorithm, chosen, plan, devices)


def sample(graph: str | Path | GraphStore, out: str | Path, algo: str = "deepwalk", *, resume: bool = False, overwrite: bool = False,
           **options: Any) -> Samples:  # fmt: skip
    """Draw a sample into the store ``out`` and open it. Options as for :func:`prepare`."""
    execute(prepare(graph, algo, **options), out, resume=resume, overwrite=overwrite)
    return open_samples(out)


def execute(job: Job, out: str | Path, *, resume: bool = False, overwrite: bool = False,
            progress: Callable[[int], None] | None = None) -> dict[str, Any]:  # fmt: skip
    """Sample what is missing of ``out``, commit it group by group, and return the run's summary."""
    began = time.perf_counter()
    plan = job.plan
    with SampleWriter(
        out, manifest(job), layout=plan.layout, instances=plan.request.instances, group_size=plan.request.group_size,
        dense_dtype=job.store.id_dtype, vertex_ids=job.store.stored_ids(), ids=plan.request.ids, resume=resume, overwrite=overwrite,
    ) as writer:  # fmt: skip
        if writer.finished:
            return open_samples(out).results | {"resumed": "nothing was missing"}
        size = max(1, plan.batch // plan.request.group_size)
        units = -(-(writer.groups - len(writer.done)) // size)
        with backends_of(job, units) as (backends, losses):
            totals = sample_groups(backends, job.sources, writer, size, progress, losses)
        results = _results(plan, totals, writer.bytes_written, time.perf_counter() - began)
        writer.finish(results)
    return results


def _results(plan: Plan, totals: Totals, writer_bytes: int, seconds: float) -> dict[str, Any]:
    """Counts and timings of a run."""
    return {
        "version": VERSION, "instances": plan.request.instances, "sampled_edges": totals.edges, "dead_ends": totals.dead_ends,
        "bytes_written": writer_bytes, "sampling_seconds": round(totals.seconds, 6), "run_seconds": round(seconds, 6),
        "seps_sampling": rate(totals.edges, totals.seconds), "seps_run": rate(totals.edges, seconds),
        **{name: getattr(totals, name) for name in TALLY},
        "transfers": totals.transfers, "transfer_bytes": totals.transfer_bytes, "evictions": totals.evictions, "in_place": totals.in_place, "overlapped": totals.overlapped,
        "kernel_seconds": round(totals.kernel_seconds, 6), "kernel_deviation": round(totals.kernel_deviation, 4),
        **{f"expected_{name}": value for name, value in plan.expected.items()}, "plan": plan.as_dict(),
    }  # fmt: skip


@contextmanager
def backends_of(job: Job, units: int) -> Iterator[tuple[list[Callable[[], Any]], tuple[type[Exception], ...]]]:
    """What opens a backend for each device that gets any of the units, and the errors that one device may have and another not."""
    if not job.devices:
        yield [partial(open_backend, job)], ()
        return
    from csaw.engine.cuda.backend import CudaBackend
    from csaw.engine.cuda.node import Node

    devices = job.devices if job.plan.residency == "pooled" else job.devices[: max(1, units)]
    node = Node(len(devices))
    try:
        yield (
            [partial(open_backend, job, device, node) for device in devices],
            (DeviceError, MemoryError, *CudaBackend.failures),
        )
    finally:
        node.close()


def open_backend(job: Job, device: Any = None, node: Any = None) -> Any:
    """The backend of a device of the plan's (None: the first, or the CPU), with the graph loaded as far as the plan says.

    ``node`` is what backends of several devices have in common.
    """
    if not job.devices:
        from csaw.engine.cpu.backend import CpuBackend

        return CpuBackend(job.plan, job.store, job.algorithm)
    from csaw.engine.cuda.backend import CudaBackend
    from csaw.engine.cuda.node import Node

    node = node or Node(1)
    try:
        return CudaBackend(job.plan, job.store, job.algorithm, device or job.devices[0], node, job.devices)
    except BaseException:
        node.abort()
        raise


def manifest(job: Job) -> dict[str, Any]:
    """What a sample store says of itself, apart from timings."""
    store = job.store
    graph = {
        "path": str(store.path.resolve()), "fingerprint": store.fingerprint, "vertices": store.vertices, "edges": store.edges,
        "directed": store.directed, "id_kind": store.id_kind,
    }  # fmt: skip
    return {"version": VERSION, "draws": DRAWS, "request": job.plan.request.as_dict(), "graph": graph}


def rate(edges: float, seconds: float) -> float:
    """Sampled edges per second."""
    return round(edges / seconds, 1) if seconds > 0 else 0.0
