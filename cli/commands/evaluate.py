"""``csaw evaluate``. The engine declares the options of an evaluation and of measures."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from csaw.cli import complete, console, values
from csaw.cli.evaluate_command import EvaluateCommand
from csaw.cli.options import Options, given
from csaw.engine.analytics import measure
from csaw.engine.analytics.evaluation.options import FORMATS, LISTS

if TYPE_CHECKING:
    from csaw.engine.analytics.evaluation.evaluate import Evaluation

BESIDE_LISTS = ("graph", "directed", "version", "what", "out", "overwrite", "as_json")


@click.command(cls=EvaluateCommand)
@click.argument("graph", shell_complete=complete.graphs)
@click.argument("samples", nargs=-1, type=values.Place(), metavar="[SAMPLE]...")
@values.directed
@values.version
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, wanted: _list(ctx) if wanted else None,
    help="List the measures, and exit.",
)
@click.option(
    "--write-list",
    "what",
    type=click.Choice(LISTS),
    help="Instead of measuring, write a list to --out: all triangles of the graph (triangles), or its edges "
    "with the number of triangles of each (support).",
)
@click.option(
    "--out",
    type=click.Path(),
    metavar="FILE",
    help="File for --write-list; its name determines the format: .txt, .csv, either also with .gz, .npy or .parquet.",
)
@click.option(
    "--save",
    nargs=2,
    shell_complete=complete.saved,
    metavar="MEASURES FILE",
    help="Also compute these measures and write their values for each vertex, with its id, to FILE: .npz, "
    "which csaw sample --columns reads, .csv or .parquet.",
)
@click.option(
    "--plot",
    type=values.Folder(),
    help="Folder for a plot of each distribution and curve of the graph and its samples, as PDF, PNG and SVG, "
    "with its data as CSV. They replace earlier plots of csaw, but other files only with --overwrite.",
)
@click.option(
    "--plot-size", type=values.Size(), metavar="WIDTHxHEIGHT", help="Size of plots in inches.  [default: 6.4x4.2]"
)
@click.option(
    "--plot-title",
    metavar="TEXT",
    help="Title of each plot; {finding} is replaced with the name of what is plotted; '' for none.  [default: "
    "{finding}]",
)
@click.option("--overwrite", is_flag=True, help="Replace the FILE of --save or --out, and any file with a plot's name.")
@values.algo_file
@click.option(
    "--cluster",
    metavar="CLUSTER",
    help="Measure on the workers of a Dask cluster, with the same results: a scheduler's address or file, "
    "local:N for N processes here, slurm:N or lsf:N for N jobs, or mpi inside an MPI job.",
)
@click.option("--dry-run", is_flag=True, help="Print where each measure would run, without measuring.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="Format of the table: text for reading, csv with all digits, or latex for the package booktabs.  "
    "[default: text]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the evaluation as JSON.")
@console.quiet
def evaluate(
    graph: str,
    samples: tuple[str, ...],
    directed: bool | None,
    version: int | None,
    what: str | None,
    out: str | None,
    save: tuple[str, str] | None,
    overwrite: bool,
    plot: Path | None,
    plot_size: tuple[float, float] | None,
    plot_title: str | None,
    algo: str | None,
    cluster: str | None,
    dry_run: bool,
    format_: str | None,
    as_json: bool,
    **wanted: object,
) -> None:
    """Describe GRAPH, and compare each SAMPLE with it.

    GRAPH is a graph store, a text edge list, or the name of a dataset. Without samples, csaw prints a profile of the
    graph, and keeps it in the cache. With samples, it prints a table of how far each sample is from the graph:
    D-statistics for distributions, with their mean, values and relative errors for numbers, the largest difference for
    curves, and the overlap of the top vertices for rankings.

    \b
    Example:
        csaw evaluate web.zarr
        csaw evaluate facebook_combined.txt.gz --undirected
        csaw evaluate web.zarr fire.zarr walks.zarr --measures degree,triangles --plot plots
        csaw evaluate web.zarr walks.zarr --estimate
        csaw evaluate web.zarr --save pagerank,core web.npz
        csaw evaluate web.zarr --write-list triangles --out triangles.parquet
        csaw evaluate web.zarr --measures triangles,hops --cluster local:4
        csaw evaluate web.zarr --measures my_measures.py:Label,components
        csaw evaluate grown.zarr --versions 1,2 --measures degree,triangles
        csaw evaluate messages.zarr --until 2026-11-15
        csaw evaluate messages.zarr --measures degree,triangles --every 7d --cumulative
    """
    if what or out:
        _write_list(graph, what, out, wanted)
        return
    from csaw.engine.devices.devices import begin_to_open

    if cluster is None:
        begin_to_open(wanted["device"])
    from csaw.cli.reports.closing_lines import of_evaluation
    from csaw.cli.reports.evaluated import print_evaluation, print_plan
    from csaw.datasets.resolve import resolve
    from csaw.engine.analytics.evaluation import saved
    from csaw.engine.analytics.evaluation.evaluate import PLOT_INCHES, PLOT_TITLE, plan

    if as_json and format_:
        raise click.UsageError("--json replaces the table; leave out --format")
    _check_plot(plot, plot_size, plot_title)
    _check_one(save, plot, version, wanted)
    names = _to_save(save, overwrite, wanted)
    run = partial(_runner(cluster, dry_run), algo=algo)
    store = partial(resolve, graph, directed=directed, memory=wanted["memory"], version=version)
    if dry_run:
        (console.print_json if as_json else print_plan)(plan(store(), **dict(given(wanted))))
        return
    found = replace(_measured(run, store, samples, wanted), named=graph)
    columns = saved.columns_of(found.by_measure, names)
    if save:
        saved.save_columns(columns, found.store, save[1], overwrite=overwrite)
    if as_json:
        console.print_json(found.as_dict())
    elif format_ in ("csv", "latex"):
        click.echo(found.table(format_), nl=False)
    elif not console.is_quiet():
        print_evaluation(found)
    if plot:  # last: a file that is in the way takes nothing of what was measured
        title = PLOT_TITLE if plot_title is None else plot_title
        found.plot(plot, size=plot_size or PLOT_INCHES, title=title, overwrite=overwrite)
    if not (as_json or format_ in ("csv", "latex")):
        readable = save is not None and saved.for_sampling(save[1], columns)
        console.say(*of_evaluation(graph, save, plot, for_sampling=readable))


def _measured(
    run: "Callable[..., Evaluation]", store: Callable[[], str | Path], samples: tuple[str, ...], wanted: Options
) -> "Evaluation":
    """Return the findings of ``run`` on a ``store``; the message of a KeyboardInterrupt tells what is kept."""
    from csaw.partition.base.progress import steps

    with steps("measuring", enabled=not console.is_quiet()) as progress:
        found = store()
        try:
            return run(found, samples, progress=progress, **dict(given(wanted)))
        except KeyboardInterrupt as error:
            again = "the same command without --refresh" if wanted["refresh"] else "the same command"
            raise KeyboardInterrupt(f"the results so far are kept; {again} continues from there") from error


def _check_plot(plot: Path | None, size: tuple[float, float] | None, title: str | None) -> None:
    from csaw.engine.analytics.evaluation import plots
    from csaw.engine.analytics.evaluation.evaluate import PLOT_INCHES

    if plot is None and (size, title) != (None, None):
        raise click.UsageError("--plot-size and --plot-title need --plot and a folder")
    if plot:
        plots.check(size or PLOT_INCHES)


def _check_one(save: object, plot: object, version: int | None, wanted: Options) -> None:
    """UsageError where several windows or versions are wanted beside an option that is for one."""
    if (save or plot) and (wanted["windows"], wanted["every"]) != (None, None):
        raise click.UsageError("--save and --plot work on one window; choose it with --until or --between")
    if wanted["versions"] is not None and (save or version is not None):
        raise click.UsageError("--versions measures several versions; leave it out, or leave out --save and --version")


def _write_list(graph: str, what: str | None, out: str | None, wanted: Options) -> None:
    from csaw.cli.reports.closing_lines import of_list
    from csaw.datasets.resolve import resolve
    from csaw.engine.analytics.evaluation.listing import entries_on, write_list

    if what is None or out is None:
        raise click.UsageError("--write-list and --out FILE need each other; give both")
    own = click.get_current_context().params
    if other := next((name for name, value in own.items() if value and name not in (*BESIDE_LISTS, *wanted)), None):
        raise click.UsageError(
            f"--{other.strip('_').replace('_', '-')}: --write-list writes a list instead of measuring; "
            "leave this option out"
        )
    console.check_folder(out, "--out")
    with console.progress("listing", enabled=not own["as_json"]) as shown:
        how, overwrite = {name: own[name] for name in ("directed", "version")}, own["overwrite"]
        store = resolve(graph, memory=wanted["memory"], **how)
        summary = write_list(store, what, out, overwrite=overwrite, begin=entries_on(shown), **dict(given(wanted)))
    console.print_json(summary) if own["as_json"] else console.say(of_list(summary))


def _to_save(save: tuple[str, str] | None, overwrite: bool, wanted: Options) -> list[str]:
    """The measures to save, which are computed in addition to those that the user names."""
    from csaw.engine.analytics.evaluation import saved
    from csaw.engine.analytics.evaluation.options import EvaluateOptions, chosen, name_of

    if save is None:
        return []
    console.check_folder(save[1], "--save")
    saved.check_name(Path(save[1]), overwrite=overwrite)
    named = [name.strip() for text in (wanted["measures"], save[0]) if text for name in text.split(",")]
    wanted["measures"] = ",".join(dict.fromkeys(named))
    names = [name_of(one.strip()) for one in save[0].split(",")]
    wish, values = EvaluateOptions.of(dict(given(wanted)))
    saved.check_measures(chosen(wish.measures, values), names)
    return names


def _runner(cluster: str | None, dry_run: bool) -> "Callable[..., Evaluation]":
    """The function that evaluates, here or by the workers of a cluster."""
    if cluster is None:
        from csaw.engine.analytics.evaluation.over_versions import evaluate_several

        return evaluate_several
    if dry_run:
        raise click.UsageError("--dry-run shows where this process would measure; leave out --cluster")
    from csaw.engine.analytics.cluster.evaluation import evaluate_on_cluster
    from csaw.engine.cluster.clusters import Cluster, begin

    begin(Cluster.of(cluster))
    return partial(evaluate_on_cluster, cluster=cluster)


def _list(ctx: click.Context) -> None:
    kinds = [measure.find(name) for name in measure.names()]
    width = max(len(kind.name()) for kind in kinds)
    for kind in kinds:
        said = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
        click.echo(f"{kind.name():<{width}}  {said}{'' if kind.by_default else ' [only by name]'}")
    ctx.exit()
