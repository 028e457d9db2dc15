"""Runs that are spread over processes: by the workers of a cluster, or as shards."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from csaw.cli import console
from csaw.cli.options import Options
from csaw.cli.reports.closing_lines import report_run
from csaw.cli.reports.run import print_plans
from csaw.partition.base.plain_data import OptionValue, Record
from csaw.partition.base.quoting import counted

if TYPE_CHECKING:
    from csaw.engine.runs.job import Job
    from csaw.partition.base.progress import Progress

OF_CLUSTER = (
    "finished groups are safe; the same command with --resume completes {}, on the cluster or, without "
    "--cluster, on one machine"
)
OF_SHARD = "finished groups are safe; run the same command again to draw the rest of the shard of {}"


def check(cluster: str | None, shard: str | None, *, virtual: bool, overwrite: bool, dry_run: bool) -> None:
    """Refuse options that do not go with ``--cluster`` or ``--shard``.

    In an MPI job, processes that become workers stay here.
    """
    if cluster is None and shard is None:
        return
    given = "--cluster" if cluster is not None else "--shard"
    if cluster is not None and shard is not None:
        raise click.UsageError("--cluster distributes the groups itself; leave out --shard")
    if virtual:
        raise click.UsageError(f"--virtual stores only a request and draws nothing; leave out {given}")
    if shard is not None and overwrite:
        raise click.UsageError(
            "--overwrite would remove what other shards have drawn; remove the old sample, or choose another OUT"
        )
    if shard is not None and dry_run:
        raise click.UsageError("--dry-run: every shard has the plan of the whole run; leave out --shard")
    if cluster is not None:
        from csaw.engine.cluster.clusters import Cluster, begin

        begin(Cluster.of(cluster))


def on_cluster(
    graph: str,
    out: str,
    algo: str,
    wanted: Options,
    *,
    directed: bool | None,
    version: int | None,
    dry_run: bool,
    as_json: bool,
    again: str,
    **how: OptionValue,
) -> None:
    """Draw a sample by the workers of a cluster, or print their plans, and report.

    ``again``: the command that reads the same file as undirected.
    """
    from csaw.datasets.resolve import resolve
    from csaw.engine.cluster.clusters import Cluster
    from csaw.engine.cluster.dask_run import plan_on_cluster, sample_on_cluster
    from csaw.engine.samples.place import begun_on

    if not how["virtual"]:
        store = resolve(graph, directed=directed, memory=wanted.get("memory"), version=version)
        graph = str(begun_on(store, Path(out)) if how["resume"] and version is None else store)
    if dry_run:
        job, plans = plan_on_cluster(graph, out, algo, cluster=how["cluster"], virtual=how["virtual"], **wanted)
        one_disk = Cluster.of(how["cluster"]).is_local
        print_plans(graph, job, plans, one_disk=one_disk, as_json=as_json)
        return
    with console.progress("preparing") as shown, _resumable(out, OF_CLUSTER):
        begun = partial(_begin, shown)
        results = dict(sample_on_cluster(graph, out, algo, progress=shown, began=begun, **how, **wanted))
    results.pop("plan", None)
    report_run(results, out, as_json, again)


def as_shard(job: "Job", out: str, shard: str, shown: "Progress") -> Record:
    """Draw a shard; the summary."""
    from csaw.engine.cluster.shards import Shard, draw_shard

    with _resumable(out, OF_SHARD):
        part = Shard.of(shard)
        request = job.plan.request
        own = part.groups(groups := -(-request.instances // request.group_size))
        if groups < part.parts:
            console.say(_few(groups, request.group_size, part.parts), err=True)
        first, last = (min(group * request.group_size, request.instances) for group in (own.start, own.stop))
        _begin(shown, last - first)
        results = dict(draw_shard(job, out, part, shown))
    results.pop("plan", None)
    return results


def _few(groups: int, size: int, shards: int) -> str:
    """Print why some shards have nothing to draw."""
    held = f"{counted(groups, 'group')} of {counted(size, 'instance')} or fewer"
    return (
        f"csaw: the sample has {held}, and only one shard draws a group: {shards - groups:,} of {shards:,} "
        "shards have nothing to draw"
    )


def _begin(shown: "Progress", instances: int) -> None:
    from csaw.partition.base.stages import SAMPLING

    shown.begin(SAMPLING, instances, "instances")


@contextmanager
def _resumable(out: str, safe: str) -> Iterator[None]:
    """After Ctrl-C, print how to resume."""
    from csaw.engine.samples.place import partial_of

    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(*[safe.format(out)] * partial_of(Path(out)).exists()) from error
