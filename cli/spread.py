"""Runs that are spread over processes: by the workers of a cluster, or as shards."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from csaw.cli import console
from csaw.cli.cluster_plan import print_plans
from csaw.cli.report import print_report
from csaw.cli.runs import run_sections, worker_sections

OF_CLUSTER = "finished groups are safe; the same command with --resume completes {}, on the cluster or, without --cluster, on one machine"
OF_SHARD = "finished groups are safe; run the same command again to draw the rest of the shard of {}"


def check(cluster: str | None, shard: str | None, *, virtual: bool, overwrite: bool, dry_run: bool) -> None:
    """Refuse options that do not go with ``--cluster`` or ``--shard``; in an MPI job, processes that become workers stay here."""
    if cluster is None and shard is None:
        return
    given = "--cluster" if cluster is not None else "--shard"
    if cluster is not None and shard is not None:
        raise click.UsageError("--cluster hands out the groups itself; give it without --shard")
    if virtual:
        raise click.UsageError(f"--virtual stores a request, and nothing is drawn; give it without {given}")
    if shard is not None and overwrite:
        raise click.UsageError(
            "--overwrite would remove what other shards have drawn; remove the old sample, or give another OUT"
        )
    if shard is not None and dry_run:
        raise click.UsageError(
            "--dry-run: each shard has the plan of the whole run on its machine; give it without --shard"
        )
    if cluster is not None:
        from csaw.engine.cluster.clusters import Cluster, begin

        begin(Cluster.of(cluster))


def on_cluster(
    graph: str, out: str, algo: str, wanted: dict[str, Any], *, dry_run: bool, as_json: bool, **how: Any
) -> None:
    """Draw a sample by the workers of a cluster, or print their plans, and report."""
    from csaw.datasets.resolve import resolve
    from csaw.engine.cluster.clusters import Cluster
    from csaw.engine.cluster.dask_run import plan_on_cluster, sample_on_cluster

    graph = graph if how["virtual"] else str(resolve(graph))
    if dry_run:
        job, plans = plan_on_cluster(graph, out, algo, cluster=how["cluster"], virtual=how["virtual"], **wanted)
        one_disk = Cluster.of(how["cluster"]).is_local
        print_plans(graph, job, plans, one_disk=one_disk, as_json=as_json)
        return
    with _progress(out, OF_CLUSTER) as (begin, update):
        results = sample_on_cluster(graph, out, algo, progress=update, began=begin, **how, **wanted)
    results.pop("plan", None)
    console.print_json(results) if as_json else print_report([*run_sections(results, out), *worker_sections(results)])


def as_shard(job: Any, out: str, shard: str, as_json: bool) -> None:
    """Draw a shard and report."""
    from csaw.engine.cluster.shards import Shard, draw_shard

    with _progress(out, OF_SHARD) as (begin, update):
        part = Shard.of(shard)
        request = job.plan.request
        own = part.groups(-(-request.instances // request.group_size))
        begin(
            min(own.stop * request.group_size, request.instances)
            - min(own.start * request.group_size, request.instances)
        )
        results = dict(draw_shard(job, out, part, update))
    results.pop("plan", None)
    console.print_json(results) if as_json else print_report(run_sections(results, out))


@contextmanager
def _progress(out: str, safe: str) -> Iterator[tuple[Any, Any]]:
    """A function that says the number of instances, and one that says how many of them are drawn. Ctrl-C says how to go on."""
    from csaw.engine.samples.place import partial_of
    from csaw.partition.progress import progress

    with ExitStack() as stack:
        shown: list[Any] = []

        def begin(instances: int) -> None:
            shown.append(stack.enter_context(progress("sampling", instances, "instances")))

        try:
            yield begin, lambda done: shown[0](done)
        except KeyboardInterrupt as error:
            raise KeyboardInterrupt(*[safe.format(out)] * partial_of(Path(out)).exists()) from error
