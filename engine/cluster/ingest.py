"""An ingest by the workers of a Dask cluster: this process cuts the input, numbers the ids and seals the store, workers
read, deal and build.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from csaw.engine.cluster.clusters import Cluster, opened
from csaw.engine.cluster.executor import Member, Spread, seat
from csaw.partition import GraphStore, IngestOptions
from csaw.partition.base.parallel import processors
from csaw.partition.ingestion.distributed_ingest import ingest_spread
from csaw.partition.ingestion.job import IngestJob, memory_of

Result = TypeVar("Result")
SAFE = "nothing is left under its name; run it again"
LEAST_MEMORY = 16 << 20


def ingest_on_cluster(
    path: str | Path | Sequence[str | Path],
    out: str | Path,
    options: IngestOptions,
    *,
    cluster: str,
    progress: Callable[[int, int], None] | None = None,
) -> GraphStore:
    """Make the store ``out`` from edge lists or tables by the workers of a Dask cluster.

    The workers see input and store under the same paths. It has the bytes of ``ingest``.

    Args:
        path: as of ``csaw.partition.ingest``.
        out: path of the store to make.
        options: as of ``csaw.partition.ingest``; ``threads`` and ``memory`` are those of a task. By default it has a
            thread, and a worker's share of its machine, divided by the tasks that it does at a time.
        cluster: a scheduler's address or file, ``local:N``, ``slurm:N``, ``lsf:N`` or ``mpi``.
        progress: as of ``csaw.partition.ingest``.

    Raises:
        OptionError: the input is standard input or a pipe.
        ClusterError: the cluster cannot be used or is lost, or a worker has another csaw.
        CsawError: as of ``ingest``.
    """
    where = Cluster.of(cluster)
    with opened(where, SAFE) as executor, executor.joined(Member()):
        spread = Spread(executor)

        def work(function: Callable[..., Result], arguments: Sequence[tuple[object, ...]]) -> Iterator[Result]:
            return spread(partial(_by_worker, function), arguments)

        return ingest_spread(path, out, options, work, progress, _of_task(options, where))


def _of_task(options: IngestOptions, where: Cluster) -> IngestOptions:
    """The options of a task, as far as they are known here: the workers of a local cluster share this machine."""
    if not where.is_local:
        return replace(options, threads=options.threads or 1)
    threads = options.threads or max(1, processors() // where.workers)
    memory = options.memory or max(LEAST_MEMORY, memory_of(options) // where.workers)
    return replace(options, threads=threads, memory=memory)


def _by_worker(function: Callable[..., Result], job: IngestJob, *given: object) -> Result:
    """Do a task with its share of the worker's memory, unless the user said how much.

    The worker divides its memory by the tasks that it does at a time.
    """
    if job.options.memory is None:
        here, most = seat(), memory_of(job.options)
        memory = max(LEAST_MEMORY, min(most, here.memory or most) // here.threads)
        job = replace(job, options=replace(job.options, memory=memory))
    return function(job, *given)
