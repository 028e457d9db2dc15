"""``csaw sample``. The engine declares the options of a run and of algorithms."""

from pathlib import Path
from typing import Any

import click

from csaw.cli.options import SampleCommand, given
from csaw.engine.plan.options import options as run_options


def _own(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    pairs = [item.partition("=") for item in value]
    if bad := ["".join(pair) for pair in pairs if not (pair[0] and pair[1])]:
        raise click.BadParameter(f"expected NAME=VALUE, found {bad[0]!r}")
    own = {name.replace("-", "_"): text for name, _, text in pairs}
    if taken := sorted(own.keys() & run_options().keys()):
        raise click.BadParameter(
            f"--{taken[0].replace('_', '-')} is an option of csaw itself; give it without --option"
        )
    return own


@click.command(cls=SampleCommand)
@click.argument("graph")
@click.argument("out", type=click.Path())
@click.option(
    "--algo",
    default="deepwalk",
    help="Name of an algorithm, as csaw algorithms lists them, or FILE.py:CLASS; with --help, its options are shown alone.",
)
@click.option(
    "--option",
    "own",
    multiple=True,
    callback=_own,
    metavar="NAME=VALUE",
    help="An option of the algorithm, given by name.",
)
@click.option("--resume", is_flag=True, help="Finish the sample that an interrupted run has left at OUT.")
@click.option("--overwrite", is_flag=True, help="Replace the sample store OUT.")
@click.option("--dry-run", is_flag=True, help="Print the plan, and stop before anything is sampled.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan or the summary as JSON.")
def sample(
    graph: str,
    out: str,
    algo: str,
    own: dict[str, Any],
    resume: bool,
    overwrite: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Draw a sample of GRAPH into the store OUT.

    GRAPH is a graph store, a text edge list, or the name of a dataset such as karate or rmat:scale=16.

    \b
    Example:
        csaw sample web.zarr walks.zarr --algo node2vec --p 0.5 --q 2 --walk-length 80 --num-walks 10 --seed 7
    """
    from csaw.engine.devices import begin_to_open

    begin_to_open(options["device"])
    from csaw.cli import console
    from csaw.cli.report import print_report
    from csaw.cli.runs import plan_sections, run_sections
    from csaw.datasets.resolve import resolve
    from csaw.engine.run import prepare
    from csaw.engine.samples.place import check_place, partial_of

    partial_of(Path(out))  # refuses a path that ends in no name, in a dry run too
    if not dry_run:
        check_place(Path(out), resume=resume, overwrite=overwrite)
    kept = dict(given({k: v for k, v in options.items() if k not in own}))
    job = prepare(resolve(graph), algo, measure=not dry_run, **own, **kept)
    if dry_run:
        plan = {"request": job.plan.request.as_dict()} | job.plan.as_dict()
        console.print_json(plan) if as_json else print_report(plan_sections(graph, plan["request"], plan))
        return
    results = {key: value for key, value in _execute(job, out, resume, overwrite).items() if key != "plan"}
    console.print_json(results) if as_json else print_report(run_sections(results, out))


def _execute(job: Any, out: str, resume: bool, overwrite: bool) -> dict[str, Any]:
    """The run's summary; a KeyboardInterrupt says how to go on."""
    from csaw.cli import console
    from csaw.engine.run import execute
    from csaw.engine.samples.place import partial_of

    try:
        with console.progress("sampling", job.plan.request.instances, "instances") as update:
            return execute(job, out, resume=resume, overwrite=overwrite, progress=update)
    except KeyboardInterrupt as error:
        safe = f"finished groups are safe; run the same command with --resume to complete {out}"
        raise KeyboardInterrupt(*[safe] * partial_of(Path(out)).exists()) from error
