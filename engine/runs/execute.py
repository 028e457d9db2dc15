"""From a job to a finished sample store."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from csaw.engine.api.registry import Algo
from csaw.engine.plan.options import described
from csaw.engine.plan.options import options as run_options
from csaw.engine.runs.job import Job, backends_of, ids_left_to_gpus, manifest, prepare, refuse_window, stored_as
from csaw.engine.runs.summary import Begun, drawn_and_sealed
from csaw.engine.samples import Samples, open_stored
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule.workers import Totals, sample_groups
from csaw.partition import GraphStore
from csaw.partition.base import arguments
from csaw.partition.base.arguments import flag, maybe
from csaw.partition.base.kernel_time import Lapse, Stopwatch
from csaw.partition.base.plain_data import OptionValue, Record
from csaw.partition.base.python_names import reading
from csaw.partition.base.stages import LOADING, SAMPLING, WRITING, course

OUTPUT = {"out": arguments.path("a sample store"), "resume": flag, "overwrite": flag}
"""Readers of the arguments that say where a sample goes."""


@reading(OUTPUT)
def sample(
    graph: str | Path | GraphStore,
    out: str | Path,
    algo: Algo = "deepwalk",
    *,
    resume: bool = False,
    overwrite: bool = False,
    **given: OptionValue,
) -> Samples:
    """Draw a sample into the store ``out`` and open it.

    Args:
        graph: the graph store to sample, or its path.
        out: path of the sample store to write; it appears under this name when it is complete.
        algo: the name of an algorithm, or ``FILE.py:CLASS``.
        resume: finish the sample that an interrupted run of the same request has left at ``out``.
        overwrite: replace the sample store at ``out``.
        **given: as for :func:`prepare`.

    Returns:
        The finished Samples.

    Raises:
        CsawError: as for :func:`prepare` and :func:`execute`.
    """
    execute(prepare(graph, algo, measure=True, **given), out, resume=resume, overwrite=overwrite)
    return open_stored(out)


@reading(OUTPUT | {"progress": maybe(arguments.function("done"))})
def execute(
    job: Job,
    out: str | Path,
    *,
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Record:
    """Carry out a job: draw its instances, and write and commit them group by group.

    After KeyboardInterrupt, ``resume`` continues from the committed groups.

    Args:
        job: what :func:`prepare` returned.
        out: path of the sample store to write.
        resume: draw only the groups of instances that an interrupted run of the same request has not committed.
        overwrite: replace the sample store at ``out``.
        progress: called with the number of finished instances each time it grows.

    Returns:
        The summary of the run, which is stored as ``results``: counts, bytes, seconds, edges per second, and the plan.

    Raises:
        OptionError: ``out`` cannot have this name, or the graph is a time window of another.
        StoreError: ``out`` cannot be written, exists already, or is a sample of another request; or the graph has
            changed.
        BiasError: a bias is negative or not finite.
        BudgetError: a single instance does not fit in memory.
        DeviceError: the last GPU fails.
    """
    refuse_window(job.store)
    begun, plan = Begun(), job.plan
    with (
        course(LOADING, SAMPLING, WRITING),
        nullcontext() if resume else ids_left_to_gpus(job),
        SampleWriter(out, manifest(job), resume=resume, overwrite=overwrite, **stored_as(job)) as writer,
    ):
        if writer.finished:
            return open_stored(out).results | {"resumed": "nothing was missing"}
        size, earlier = max(1, plan.at_a_time // plan.request.group_size), len(writer.done)
        units = -(-(writer.groups - earlier) // size)

        def draw() -> tuple[Totals, Lapse]:
            with backends_of(job, units) as (backends, losses):
                working = Stopwatch()
                return sample_groups(backends, job.sources, writer, size, progress, losses), working.read()

        results = drawn_and_sealed(job, writer, begun, draw, earlier)
        writer.finish(results)
    return results


sample.__doc__ = f"{sample.__doc__}\n    Options of any run:\n\n{described(run_options())}\n"
