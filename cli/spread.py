"""Runs that are spread over processes: by the workers of a cluster, or as shards."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from csaw.cli import console
from csaw.cli.report import Section, print_report, seconds, size
from csaw.cli.runs import plan_sections
from csaw.cli.told import report_run

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
    from csaw.engine.cluster.dask_run import plan_on_cluster, sample_on_cluster

    graph = graph if how["virtual"] else str(resolve(graph))
    if dry_run:
        job, plans = plan_on_cluster(graph, out, algo, cluster=how["cluster"], virtual=how["virtual"], **wanted)
        _print_plans(graph, job, plans, as_json)
        return
    with console.progress("preparing") as shown, _resumable(out, OF_CLUSTER):
        begun = partial(_begin, shown)
        results = dict(sample_on_cluster(graph, out, algo, progress=shown, began=begun, **how, **wanted))
    results.pop("plan", None)
    report_run(results, out, as_json)


def as_shard(job: Any, out: str, shard: str, shown: Any) -> dict[str, Any]:
    """Draw a shard; the summary."""
    from csaw.engine.cluster.shards import Shard, draw_shard

    with _resumable(out, OF_SHARD):
        part = Shard.of(shard)
        request = job.plan.request
        own = part.groups(-(-request.instances // request.group_size))
        first, last = (min(group * request.group_size, request.instances) for group in (own.start, own.stop))
        _begin(shown, last - first)
        results = dict(draw_shard(job, out, part, shown))
    results.pop("plan", None)
    return results


def _begin(shown: Any, instances: int) -> None:
    shown.begin("sampling", instances, "instances")


@contextmanager
def _resumable(out: str, safe: str) -> Iterator[None]:
    """Ctrl-C says how to go on."""
    from csaw.engine.samples.place import partial_of

    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(*[safe.format(out)] * partial_of(Path(out)).exists()) from error


def _print_plans(graph: str, job: Any, plans: dict[str, Any], as_json: bool) -> None:
    """Print the plan of each worker, and what limits the run."""

    request = job.plan.request.as_dict()
    held = {name: plan if isinstance(plan, str) else plan.as_dict() for name, plan in plans.items()}
    limits = _limits(held)
    if as_json:
        console.print_json({"request": request, "workers": held, "limits": limits})
        return
    asked = plan_sections(graph, request, job.plan.as_dict())[:2]
    sections: list[Section] = [*asked]
    for name, plan in held.items():
        heading = f"Worker {name}"
        sections.append((heading, [("cannot draw", plan)]) if isinstance(plan, str) else (heading, _lines(plan)))
    shown = [(name, value if isinstance(value, str) else seconds(value)) for name, value in limits.items()]
    print_report(
        [
            *sections,
            ("Expected of the cluster, without writing", shown),
            ("Output", [("size, about", size(job.plan.output_bytes))]),
        ]
    )


def _lines(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """What a worker's plan says of device, memory and reading."""
    sections = dict(plan_sections("", plan | {"request": {}, "algorithm": "", "parameters": {}}, plan))
    wanted = [
        lines for heading, lines in sections.items() if heading.startswith(("Where and how", "Memory", "Expected"))
    ]
    return [line for lines in wanted for line in lines]


def _limits(plans: dict[str, Any]) -> dict[str, Any]:
    """The expected seconds of each part of the run if the workers share the instances, and which part takes longest."""
    able = [plan["expected"] for plan in plans.values() if not isinstance(plan, str)]
    if not able:
        return {}
    parts = {
        "loading the graph, on each worker": max(one.get("loading_seconds", 0.0) for one in able),
        "building its layout, on each worker": max(one.get("building_seconds", 0.0) for one in able),
        f"sampling, shared by {len(able)}": 1 / sum(1 / max(one["sampling_seconds"], 1e-9) for one in able),
    }
    return parts | {"whole run": sum(parts.values()), "what limits": max(parts, key=lambda part: parts[part])}
