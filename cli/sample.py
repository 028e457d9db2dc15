"""``csaw sample``. Options that belong to an algorithm are passed on by name; the algorithm refuses what it does not have."""

from pathlib import Path
from typing import Any

import click

from csaw.cli import values

OWNED = ("walk_length", "num_walks", "p", "q", "fanout", "restart_prob", "jump_prob", "termination_prob", "burn_prob", "frontier_size",
         "neighbor_size", "depth", "replace", "bias")  # fmt: skip


def _fanout(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    try:
        return tuple(int(v) for v in value.split(","))
    except ValueError as error:
        raise click.BadParameter(f"expected integers such as 25,10, found {value!r}") from error


def _own(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    pairs = [item.partition("=") for item in value]
    if bad := [name for name, equals, _ in pairs if not equals]:
        raise click.BadParameter(f"expected NAME=VALUE, found {bad[0]!r}")
    return {name.replace("-", "_"): text for name, _, text in pairs}


@click.command()
@click.argument("graph")
@click.argument("out", type=click.Path())
@click.option("--algo", default="deepwalk", help="A name of csaw algorithms, or FILE.py:CLASS.")
@click.option("--walk-length", type=int, help="Steps of a walk: L edges, L+1 vertices.")
@click.option("--num-walks", type=int, help="Walks from every source.")
@click.option("--p", type=float, help="node2vec's return parameter.")
@click.option("--q", type=float, help="node2vec's in-out parameter.")
@click.option("--fanout", callback=_fanout, help="Neighbors at each hop, such as 25,10; -1 is all.")
@click.option("--restart-prob", type=float, help="Chance of a return to the source.")
@click.option("--jump-prob", type=float, help="Chance of a jump to any vertex.")
@click.option("--termination-prob", type=float, help="Chance that a walk ends.")
@click.option("--burn-prob", type=float, help="Forest fire: chance of each further neighbor.")
@click.option("--frontier-size", type=int, help="Vertices an instance starts from.")
@click.option("--neighbor-size", type=int, help="Neighbors selected at a time; -1 is all.")
@click.option("--depth", type=int, help="Hops from the source.")
@click.option("--replace/--no-replace", default=None, help="Draw neighbors with replacement.")
@click.option("--bias", help="weight, degree or none.")
@click.option("--option", "own", multiple=True, callback=_own, help="NAME=VALUE for an algorithm of your own.")
@click.option("--edge-bias", help='One line over e, such as "e.weight * e.dst_degree ** -0.5".')
@click.option("--sources", help="all, random:N, or a file of vertex ids.")
@click.option("--instances", type=int, help="Samples to draw.")
@click.option("--seed", type=int, default=0, help="Same seed, same sample, on any machine.")
@click.option("--weighted/--unweighted", default=None, help="Use edge weights [default: if there are any].")
@click.option(
    "--select", type=click.Choice(["uniform", "alias", "rejection", "its", "keys"]), help="Force a selection method."
)
@click.option("--collision", type=click.Choice(["bipartite", "repeated", "updated"]), default="bipartite",
              help="What a repeated candidate costs (its without replacement).")  # fmt: skip
@click.option("--detect", type=click.Choice(["strided", "contiguous", "linear"]),
              help="How a repeated candidate is found: bitmap (strided is for GPUs) or list; changes no byte of the sample.")  # fmt: skip
@click.option("--ids", type=click.Choice(["original", "dense"]), default="original", help="Ids to write.")
@click.option(
    "--device", default="auto", help="auto, cpu, cuda, cuda:1, or cuda:0,1; auto is a GPU that holds the graph."
)
@click.option(
    "--layout",
    type=click.Choice(["csr", "entries", "table", "alias", "ctps"]),
    help="Force what a step reads; entries and alias are for GPUs.",
)
@click.option("--transit-parallel", type=click.Choice(["auto", "on", "off"]), default="auto",
              help="On a GPU, draw neighbors of one part of the graph together; auto: in hops that gain by it.")  # fmt: skip
@click.option("--threads", type=int, help="Threads [default: all processors].")
@click.option(
    "--memory", callback=values.size, help="Budget such as 4GiB; a larger graph is streamed [default: what is free]."
)
@click.option(
    "--gpu-memory", callback=values.size, help="The same for each GPU [default: nine tenths of what is free]."
)
@click.option("--residency", type=click.Choice(["resident", "pooled", "streamed", "disk"]),
              help="Where the graph is: on each GPU, over several, in host memory, in the store [default: the first that fits].")  # fmt: skip
@click.option("--no-batching", is_flag=True, help="On a GPU, sample an instance at a time: a baseline, slow.")
@click.option("--no-workload-aware", is_flag=True, help="Stream partitions in order: a baseline.")
@click.option("--no-balancing", is_flag=True, help="On a GPU, the same threads for every partition: a baseline.")
@click.option("--no-in-place", is_flag=True, help="Bring whole partitions also where few wait for them: a baseline.")
@click.option("--checksums/--no-checksums", default=True, help="Check every byte that is read of the graph.")
@click.option("--batch-size", type=int, help="Instances in flight; changes no byte of the sample.")
@click.option("--resume", is_flag=True, help="Finish a sample that was interrupted.")
@click.option("--overwrite", is_flag=True, help="Replace OUT, if it is a sample.")
@click.option("--dry-run", is_flag=True, help="Print the plan and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def sample(
    graph: str, out: str, algo: str, resume: bool, overwrite: bool, dry_run: bool, as_json: bool, **options: Any
) -> None:
    """Draw a sample of GRAPH into the store OUT.

    GRAPH is a store of csaw partition, a text edge list, or a dataset such as karate or rmat:scale=16.

    \b
    Example:
        csaw sample web.zarr walks.zarr --algo node2vec --p 0.5 --q 2 --walk-length 80 --num-walks 10 --seed 7
    """
    from csaw.cli import console
    from csaw.datasets.resolve import resolve
    from csaw.engine.run import execute, prepare
    from csaw.engine.samples.place import check_place, partial_of
    from csaw.engine.schedule import Policy

    partial = partial_of(Path(out))
    if not dry_run:
        check_place(Path(out), resume=resume, overwrite=overwrite)
    switches = {name: not options.pop(f"no_{name}") for name in ("batching", "workload_aware", "balancing", "in_place")}
    given = {name: value for name in OWNED if (value := options.pop(name)) is not None} | options.pop("own")
    if taken := sorted({*given} & {*options, "policy"}):
        raise click.BadParameter(
            f"--{taken[0]} is an option of csaw itself; give it without --option", param_hint="--option"
        )
    job = prepare(resolve(graph), algo, policy=Policy(**switches), **options, **given)
    if dry_run:
        plan = {"request": job.plan.request.as_dict()} | job.plan.as_dict()
        console.print_json(plan) if as_json else console.print_table(
            [*job.plan.request.as_dict().items(), *job.plan.as_dict().items()]
        )
        return
    try:
        with console.progress("sampling", job.plan.request.instances, "instances") as update:
            results = execute(job, out, resume=resume, overwrite=overwrite, progress=update)
    except KeyboardInterrupt as error:
        safe = f"finished groups are safe; run the same command with --resume to complete {out}"
        raise KeyboardInterrupt(*[safe] * partial.exists()) from error
    results = {key: value for key, value in results.items() if key != "plan"}
    happened = [(key, value) for key, value in results.items() if value or key in ("sampled_edges", "dead_ends")]
    console.print_json(results) if as_json else console.print_table([("sample", out), *happened])
