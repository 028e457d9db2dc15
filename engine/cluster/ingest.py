"""An ingest by the workers of a Dask cluster: this process cuts the input, numbers the ids and seals the store, workers read, deal and build."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from csaw.engine.cluster import recipe
from csaw.engine.cluster.clusters import Cluster, connected
from csaw.partition import GraphStore, IngestOptions
from csaw.partition.base.parallel import processors
from csaw.partition.ingestion.distributed_ingest import ingest_spread
from csaw.partition.ingestion.pipeline import memory_of

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
    """Make the store ``out`` from edge lists or tables by the workers of a Dask cluster, which see both under the same paths. It has the bytes of ``ingest``.

    Arguments:

    path, out, options, progress: as of ``csaw.partition.ingest``; ``options.threads`` and ``options.memory`` are those of a task (default: a thread, and a worker's
        share of its machine, divided by the tasks that it does at a time).
    cluster: a scheduler's address or file, ``local:N``, ``slurm:N``, ``lsf:N`` or ``mpi``.

    Errors: those of ``ingest``; OptionError for standard input and pipes; ClusterError where the cluster cannot be used or is lost, or a worker has another csaw.
    """
    where = Cluster.of(cluster)
    with connected(where) as client:
        from csaw.engine.cluster.joined import Joined, joined
        from csaw.engine.cluster.task_map import Spread

        with joined(client, lambda _: Joined(where.is_local)):
            spread = Spread(client, SAFE)

            def work(function: Callable[..., Any], arguments: Sequence[tuple]) -> Any:
                return spread(partial(_by_worker, function), arguments)

            return ingest_spread(path, out, options, work, progress, _of_task(options, where))


def _of_task(options: IngestOptions, where: Cluster) -> IngestOptions:
    """The options of a task, as far as they are known here: the workers of a local cluster share this machine."""
    if not where.is_local:
        return replace(options, threads=options.threads or 1)
    threads = options.threads or max(1, processors() // where.workers)
    memory = options.memory or max(LEAST_MEMORY, memory_of(options) // where.workers)
    return replace(options, threads=threads, memory=memory)


def _by_worker(function: Callable[..., Any], how: Any, *given: Any) -> Any:
    """A task, with the memory that the worker has for each of those that it does at a time, unless the user said how much."""
    from distributed import get_worker

    if how.options.memory is None:
        worker = get_worker()
        limit = worker.memory_manager.memory_limit
        most = min(memory_of(how.options), recipe.memory_of(limit)) if limit else memory_of(how.options)
        memory = max(LEAST_MEMORY, most // worker.state.nthreads)
        how = replace(how, options=replace(how.options, memory=memory))
    return function(how, *given)
