"""``csaw sample``. The engine declares the options of a run and of algorithms."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from csaw.cli import complete, console, values
from csaw.cli.options import Options, SampleCommand, given, help_all
from csaw.engine.plan.options import RUN
from csaw.engine.plan.options import options as run_options

if TYPE_CHECKING:
    from csaw.engine.runs.job import Job
    from csaw.partition.base.progress import Progress


def _own(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    pairs = [item.partition("=") for item in value]
    if bad := ["".join(pair) for pair in pairs if not (pair[0] and pair[1])]:
        raise click.BadParameter(f"expected NAME=VALUE, found {bad[0]!r}")
    own: dict[str, str] = {}
    for name, _, text in pairs:
        if own.setdefault(name.replace("-", "_"), text) != text:
            raise click.BadParameter(f"{name}={own[name.replace('-', '_')]} and {name}={text}; give only one of them")
    if taken := sorted(own.keys() & run_options().keys()):
        raise click.BadParameter(
            f"--{taken[0].replace('_', '-')} is an option of csaw itself; give it without --option"
        )
    return own


@click.command(cls=SampleCommand)
@click.argument("graph", shell_complete=complete.graphs)
@click.argument("out", type=click.Path(), required=False)
@click.option(
    "--algo",
    default="deepwalk",
    shell_complete=complete.algorithms,
    help="Algorithm: one of the names above, or FILE.py:CLASS for a custom one.",
)
@values.directed
@values.version
@click.option(
    "--option",
    "own",
    multiple=True,
    callback=_own,
    metavar="NAME=VALUE",
    help="Set an option of the algorithm by name.",
)
@click.option(
    "--from",
    "virtual_from",
    type=values.Place(),
    metavar="VIRTUAL",
    help="Store the virtual sample VIRTUAL as OUT, instead of giving GRAPH and what to sample.",
)
@click.option(
    "--graph",
    "moved_to",
    type=values.Place(),
    metavar="STORE",
    help="Graph store that VIRTUAL is drawn from [default: the path in VIRTUAL].",
)
@click.option(
    "--virtual",
    is_flag=True,
    help="Store only the request: the sample is drawn whenever OUT is read, and has the same bytes.",
)
@click.option(
    "--cluster",
    metavar="CLUSTER",
    help="Draw on the workers of a Dask cluster: a scheduler's address or file, local:N for N processes here, "
    "slurm:N or lsf:N for N jobs, or mpi inside an MPI job.",
)
@click.option(
    "--shard",
    metavar="I/N",
    help="Draw only part I of N (0 to N - 1), while other processes draw the other parts into the same OUT; "
    "the last one to finish seals it.",
)
@click.option("--resume", is_flag=True, help="Finish the sample that an interrupted run left at OUT.")
@click.option("--overwrite", is_flag=True, help="Replace the sample store OUT.")
@click.option("--dry-run", is_flag=True, help="Print the plan without sampling.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan or the summary as JSON.")
@help_all
@console.tones("all counts and times")
def sample(
    graph: str,
    out: str | None,
    algo: str,
    directed: bool | None,
    version: int | None,
    own: Options,
    virtual_from: str | None,
    moved_to: str | None,
    virtual: bool,
    cluster: str | None,
    shard: str | None,
    resume: bool,
    overwrite: bool,
    dry_run: bool,
    as_json: bool,
    **options: object,
) -> None:
    """Draw a sample of GRAPH into the store OUT.

    GRAPH is a graph store, a text edge list, or the name of a dataset such as karate, rmat:scale=16 or
    mag:scale=0.01.

    \b
    Example:
        csaw sample web.zarr walks.zarr --algo node2vec --p 0.5 --q 2 --walk-length 80 --num-walks 10 --seed 7
        csaw sample facebook_combined.txt.gz walks.zarr --undirected
        csaw sample web.zarr later.zarr --algo node2vec --num-walks 1000 --virtual
        csaw sample --from later.zarr walks.zarr
        csaw sample web.zarr more.zarr --algo node2vec --num-walks 1000 --cluster local:4
    """
    _check_virtual(virtual, virtual_from, resume, {"--directed and --undirected": directed, "--version": version})
    _check_moved(moved_to, virtual_from, cluster)
    if cluster is None:
        _begin_to_open(None if virtual_from else graph, algo, own | dict(given(options)))
    from csaw.cli import cluster_command as spread
    from csaw.cli.reports.closing_lines import report_run
    from csaw.engine.samples.place import check_place, partial_of

    spread.check(cluster, shard, virtual=virtual, overwrite=overwrite, dry_run=dry_run)
    wanted = own | dict(given(options))
    _check_own(own, options)
    graph, place = _places(graph, out, virtual_from)
    partial_of(Path(place))  # refuses a path that ends in no name, in a dry run too
    if not dry_run and shard is None:
        check_place(Path(place), resume=resume, overwrite=overwrite)
    if cluster is not None:
        how: Options = {"cluster": cluster, "resume": resume, "overwrite": overwrite, "dry_run": dry_run}
        how |= {"virtual": virtual_from is not None, "directed": directed, "version": version, "as_json": as_json}
        how["again"] = _as_undirected(graph, directed)
        spread.on_cluster(graph, place, algo, _of_run(virtual_from, wanted), **how)
        return
    with console.progress("preparing", enabled=not dry_run) as shown:
        if virtual_from is None:
            begun = place if resume or shard is not None else None
            job = _job(graph, directed, version, begun, algo, wanted, not dry_run)
        else:
            job = _virtual_job(virtual_from, moved_to, wanted)
        if dry_run:
            _print_plan(graph, job, as_json)
            return
        results = _commit(job, place, overwrite) if virtual else _run(job, place, shard, resume, overwrite, shown)
    report_run(results, place, as_json, _as_undirected(graph, directed))


def _begin_to_open(graph: str | None, algo: str, wanted: Options) -> None:
    """Have a thread open the GPUs of a command, if it names them or is sure to open one of its own accord.

    ``graph``: None where a virtual sample says which.
    """
    from csaw.engine.devices.beforehand import opens_a_gpu
    from csaw.engine.devices.devices import AUTO, begin_to_open

    device = wanted.get("device", AUTO)
    if device != AUTO or (graph is not None and opens_a_gpu(graph, algo, wanted)):
        begin_to_open(device)


def _check_own(own: Options, options: Options) -> None:
    """UsageError if --option sets an option to one value, and its flag to another."""
    context = click.get_current_context()
    params = {param.name: param for param in context.command.get_params(context)}
    for name, value in given({name: options[name] for name in own.keys() & options.keys()}):
        alone = (own[name],) if params[name].multiple else own[name]
        try:
            same = params[name].process_value(context, alone) == value
        except click.UsageError:  # of what is no value at all
            same = False
        if not same:
            by_itself = _as_given(params[name], value)
            raise click.UsageError(
                f"--option {name}={own[name]} and {by_itself} contradict each other; give only one of them"
            )


def _as_given(param: click.Parameter, value: object) -> str:
    """An option with its value, as on the command line."""
    if isinstance(value, bool):
        return (param.opts if value or not param.secondary_opts else param.secondary_opts)[0]
    return f"{param.opts[0]} {','.join(map(str, value)) if isinstance(value, tuple) else value}"


def _check_virtual(virtual: bool, virtual_from: str | None, resume: bool, graph: Options) -> None:
    """UsageError for options that do not go with virtual samples, among them those that choose the ``graph``."""
    if virtual_from and (other := next((name for name, value in graph.items() if value is not None), None)):
        raise click.UsageError(f"{virtual_from} determines its graph; leave out {other}")
    if virtual and (virtual_from or resume):
        raise click.UsageError(f"--virtual only stores a request; leave out {'--from' if virtual_from else '--resume'}")


def _check_moved(moved_to: str | None, virtual_from: str | None, cluster: str | None) -> None:
    if moved_to is not None and virtual_from is None:
        raise click.UsageError("--graph is only for --from; give the graph to sample as GRAPH")
    if moved_to is not None and cluster is not None:
        raise click.UsageError("--graph is a path on this machine; leave out --cluster")


def _print_plan(graph: str, job: "Job", as_json: bool) -> None:
    from csaw.cli.reports.run import plan_sections, verdict
    from csaw.cli.reports.sections import print_report

    plan = {"request": job.plan.request.as_dict()} | job.plan.as_dict()
    times = job.store.stored.time
    sections = plan_sections(graph, plan["request"], plan, None if times is None else times.units)
    if as_json:
        console.print_json(plan)
        return
    console.say(verdict(job), " ")
    print_report(sections)


def _commit(job: "Job", place: str, overwrite: bool) -> Options:
    """Write the virtual sample of a job; the summary."""
    from csaw.engine.runs.virtual import commit_virtual

    return commit_virtual(job, place, overwrite=overwrite)


def _places(graph: str, out: str | None, virtual_from: str | None) -> tuple[str, str]:
    """The graph and OUT of a command line; with ``--from``, it has only OUT."""
    if virtual_from is None:
        if out is None:
            raise click.UsageError("Missing argument 'OUT'.")
        return graph, out
    if out is not None:
        raise click.UsageError(f"--from takes the graph of {virtual_from}; give only OUT")
    return virtual_from, graph


def _as_undirected(graph: str, directed: bool | None) -> str:
    """The command that reads the graph of this one as undirected. Empty for a virtual sample, or if the user chose a
    direction.

    For a file it is the same command with --undirected; a store must be made again.
    """
    from csaw.cli.options import command_line

    params = click.get_current_context().params
    if directed is not None or params["virtual_from"]:
        return ""
    if Path(graph).is_dir():
        made = shlex.join(["csaw", "partition", "FILE", graph, "--undirected", "--overwrite"])
        return f"{made}, and sample again"
    if params["shard"]:
        return f"remove {params['out']}, and draw all shards again with --undirected"
    given = [word for word in command_line() if word not in ("--resume", "--overwrite")]
    return shlex.join(["csaw", "sample", *given, "--undirected", "--overwrite"])


def _job(
    graph: str,
    directed: bool | None,
    version: int | None,
    begun: str | None,
    algo: str,
    wanted: Options,
    measure: bool,
) -> "Job":
    """The job on a graph, by default in the version of the sample that was ``begun``, if there is one."""
    from csaw.datasets.resolve import resolve
    from csaw.engine.runs.job import prepare
    from csaw.engine.samples.place import begun_on

    store = resolve(graph, directed=directed, memory=wanted.get("memory"), version=version)
    store = store if version is not None or begun is None else begun_on(store, Path(begun))
    return prepare(store, algo, measure=measure, **wanted)


def _virtual_job(virtual_from: str, moved_to: str | None, wanted: Options) -> "Job":
    """The job of a virtual sample. ``wanted`` has only options of where and how to run; the sample has all others."""
    from csaw.engine.runs.virtual import open_virtual

    return open_virtual(virtual_from, moved_to, algo=_named(), **_of_run(virtual_from, wanted)).job


def _named() -> str | None:
    """The algorithm, if the user has named one."""
    context = click.get_current_context()
    by_user = context.get_parameter_source("algo") is not click.core.ParameterSource.DEFAULT
    return context.params["algo"] if by_user else None


def _of_run(virtual_from: str | None, wanted: Options) -> Options:
    """The options; UsageError if one of them is part of the virtual sample."""
    known = {name for name, one in run_options().items() if one.group == RUN}
    if virtual_from is not None and (other := sorted(wanted.keys() - known)):
        raise click.UsageError(
            f"--{other[0].replace('_', '-')} is part of {virtual_from}; leave it out, or leave out --from"
        )
    return wanted


def _run(job: "Job", out: str, shard: str | None, resume: bool, overwrite: bool, shown: "Progress") -> Options:
    """The summary of a run, or of a shard of it."""
    from csaw.cli import cluster_command as spread
    from csaw.partition.base.python_names import with_names

    if job.plan.request.weighted:  # the report of the store's making says whether that changes anything
        equal = [said for said in job.store.report.get("warnings", ()) if said.startswith("all weights are ")]
        console.warn(*(with_names(f"{job.store.path}: {said}") for said in equal))
    if shard is not None:
        return spread.as_shard(job, out, shard, shown)
    return _execute(job, out, resume, overwrite, shown)


def _execute(job: "Job", out: str, resume: bool, overwrite: bool, shown: "Progress") -> Options:
    """The run's summary, without its plan; a KeyboardInterrupt carries a message on how to resume."""
    from csaw.engine.runs.execute import execute
    from csaw.engine.samples.place import partial_of
    from csaw.partition.base.stages import SAMPLING

    try:
        shown.begin(SAMPLING, job.plan.request.instances, "instances")
        results = execute(job, out, resume=resume, overwrite=overwrite, progress=shown)
        return {key: value for key, value in results.items() if key != "plan"}
    except KeyboardInterrupt as error:
        safe = f"finished groups are safe; run the same command with --resume to complete {out}"
        raise KeyboardInterrupt(*[safe] * partial_of(Path(out)).exists()) from error
