"""One run: a graph and an algorithm in, a finished sample store out."""

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from csaw.engine import registry
from csaw.engine.batches import Batches, Drawn
from csaw.engine.plan import Plan, make_plan
from csaw.engine.sample_writer import SampleWriter
from csaw.engine.samples import Samples, open_samples
from csaw.engine.sources import Sources
from csaw.partition import GraphStore, open_graph
from csaw.partition.errors import BudgetError, DeviceError, MissingDependencyError, OptionError

log = logging.getLogger(__name__)
VERSION = "0.1.0"
WRITERS = 8  # groups written at a time: a disk is busy only while several files wait for it


@dataclass(frozen=True)
class Job:
    """A plan with what it needs to run."""

    store: GraphStore
    algorithm: Any
    sources: Sources
    plan: Plan
    device: Any = None  # of engine/cuda/device.py; None: the CPU


def prepare(graph: str | Path | GraphStore, algo: str = "deepwalk", *, sources: Any = None, instances: int | None = None, seed: int = 0,
            weighted: bool | None = None, edge_bias: str | None = None, select: str | None = None, collision: str = "bipartite",
            ids: str = "original", memory: int | None = None, batch_size: int | None = None, threads: int | None = None,
            device: Any = "auto", gpu_memory: int | None = None, residency: str | None = None, layout: str | None = None, transit_parallel: str = "auto", **parameters: Any) -> Job:  # fmt: skip
    """Check everything and plan; nothing is sampled. Options of the algorithm go by name: ``p=0.5, walk_length=80``.

    ``device`` is auto, cpu, cuda, cuda:1, or what ``open_device`` returned.
    """
    from csaw.engine.cpu.backend import default_threads

    store = graph if isinstance(graph, GraphStore) else open_graph(graph)
    if weighted and not store.weighted:
        raise OptionError(f"--weighted: {store.path} has no weights; partition it again with --weight-column")
    if not 0 <= seed < 2**64:
        raise OptionError(f"--seed: expected 0 to 2^64 - 1, found {seed}")
    if threads is not None and threads < 1:
        raise OptionError(f"--threads: expected at least 1, found {threads}")
    if batch_size is not None and batch_size < 1:
        raise OptionError(f"--batch-size: expected at least 1, found {batch_size}")
    algorithm = registry.build(algo, parameters, edge_bias)
    chosen = Sources(store, algorithm, sources, instances, seed)
    planned = partial(
        make_plan, store, algorithm, chosen, name=algo, edge_bias=edge_bias, weighted=store.weighted if weighted is None else weighted,
        seed=seed, select=select, collision=collision, ids=ids, memory=memory, batch=batch_size,
        threads=threads or default_threads(), gpu_memory=gpu_memory, residency=residency, graph_layout=layout, transit=transit_parallel,
    )  # fmt: skip
    gpu = place(device, lambda gpu: planned(device=gpu)) if isinstance(device, str) else device
    return Job(store, algorithm, chosen, planned(device=gpu), gpu)


def place(device: str, planned: Callable[[Any], Plan] | None = None) -> Any:
    """The GPU that ``device`` names, or None for the CPU; ``auto`` takes a GPU where there is one and ``planned`` finds room on it."""
    kind, _, number = device.partition(":")
    if device != "cpu" and (
        kind not in ("auto", "cuda") or (number and not number.isdigit()) or (kind == "auto" and number)
    ):
        raise OptionError(f"--device: expected auto, cpu, cuda or cuda:NUMBER, found {device!r}")
    if device == "cpu":
        return None
    from csaw.engine.cuda.device import open_device

    try:
        gpu = open_device(int(number or 0))
        if planned:
            planned(gpu)
        return gpu
    except (MissingDependencyError, DeviceError, BudgetError) as error:
        if device != "auto":
            raise
        level = logging.DEBUG if isinstance(error, MissingDependencyError) else logging.INFO
        log.log(level, "sampling on the CPU: %s", error)
    return None


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
    writer = SampleWriter(
        out, manifest(job), layout=plan.layout, instances=plan.request.instances, group_size=plan.request.group_size,
        dense_dtype=job.store.id_dtype, vertex_ids=job.store.vertex_ids(), ids=plan.request.ids, resume=resume, overwrite=overwrite,
    )  # fmt: skip
    if resume and writer.finished:
        return open_samples(out).results | {"resumed": "nothing was missing"}
    backend = open_backend(job)
    batches = Batches(backend, job.sources)
    try:
        _sample_groups(plan, batches, writer, progress)
        draws, collisions, searches = backend.tally.tolist()
        transfers, transfer_bytes = backend.graph.transfers, backend.graph.transfer_bytes
    finally:
        backend.close()
    writer_bytes = writer.bytes_written
    seconds = time.perf_counter() - began
    results = {
        "version": VERSION, "instances": plan.request.instances, "sampled_edges": batches.edges, "dead_ends": batches.dead_ends,
        "bytes_written": writer_bytes, "sampling_seconds": round(batches.seconds, 6), "run_seconds": round(seconds, 6),
        "seps_sampling": rate(batches.edges, batches.seconds), "seps_run": rate(batches.edges, seconds),
        "draws": draws, "collisions": collisions, "searches": searches,
        "transfers": transfers, "transfer_bytes": transfer_bytes, "evictions": batches.counters.evictions,
        "plan": plan.as_dict(),
    }  # fmt: skip
    writer.finish(results)
    return results


def open_backend(job: Job) -> Any:
    """The backend of the plan's device, with the graph loaded as far as the plan says."""
    if job.device is None:
        from csaw.engine.cpu.backend import CpuBackend

        return CpuBackend(job.plan, job.store, job.algorithm)
    from csaw.engine.cuda.backend import CudaBackend

    return CudaBackend(job.plan, job.store, job.algorithm, job.device)


def manifest(job: Job) -> dict[str, Any]:
    """What a sample store says of itself, apart from timings."""
    store = job.store
    graph = {
        "path": str(store.path.resolve()), "fingerprint": store.fingerprint, "vertices": store.vertices, "edges": store.edges,
        "directed": store.directed, "id_kind": store.id_kind,
    }  # fmt: skip
    return {"version": VERSION, "request": job.plan.request.as_dict(), "graph": graph}


def rate(edges: float, seconds: float) -> float:
    """Sampled edges per second."""
    return round(edges / seconds, 1) if seconds > 0 else 0.0


def _sample_groups(plan: Plan, batches: Batches, writer: SampleWriter, progress: Callable[[int], None] | None) -> None:
    """Units of one or more groups, written while the next is sampled."""
    group = plan.request.group_size
    missing = [g for g in range(writer.groups) if g not in writer.done]
    done = (writer.groups - len(missing)) * group
    with ThreadPoolExecutor(1) as writing, ThreadPoolExecutor(WRITERS) as writers:
        pending: list[Future] = []
        for unit in _units(missing, max(1, plan.batch // group)):
            first, last = unit[0] * group, min((unit[-1] + 1) * group, plan.request.instances)
            drawn = batches.draw(first, last)
            if pending:
                pending.pop().result()
            pending.append(writing.submit(_write_unit, writer, writers, unit, group, drawn))
            done += last - first
            if progress:
                progress(min(done, plan.request.instances))
        for future in pending:
            future.result()


def _units(groups: list[int], size: int) -> list[list[int]]:
    """Runs of at most ``size`` consecutive groups."""
    units: list[list[int]] = []
    for g in groups:
        if units and units[-1][-1] == g - 1 and len(units[-1]) < size:
            units[-1].append(g)
        else:
            units.append([g])
    return units


def _write_unit(
    writer: SampleWriter, writers: ThreadPoolExecutor, unit: list[int], group: int, drawn: list[Drawn]
) -> None:
    pieces = [batch.arrays() for batch in drawn]
    arrays = pieces[0] if len(pieces) == 1 else {k: np.concatenate([p[k] for p in pieces]) for k in pieces[0]}
    list(writers.map(lambda part: writer.write(*part), _by_group(arrays, unit, group)))


def _by_group(
    arrays: dict[str, np.ndarray], unit: list[int], group: int
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    """Each group of a unit with its part of the arrays."""
    edges = sources = 0
    for number, g in enumerate(unit):
        rows = slice(number * group, (number + 1) * group)
        if "counts" not in arrays:
            yield g, {name: array[rows] for name, array in arrays.items()}
            continue
        counts, held = arrays["counts"][rows], arrays["source_counts"][rows]
        part = {name: arrays[name][edges : edges + int(counts.sum())] for name in ("src", "dst", "depth")}
        part["sources"] = arrays["sources"][sources : sources + int(held.sum())]
        yield g, {"counts": counts, "source_counts": held, **part}
        edges, sources = edges + int(counts.sum()), sources + int(held.sum())
