"""A sample without files: drawn whole, and kept in memory."""

from collections.abc import Callable
from contextlib import closing

from csaw.engine.api.termination import may_end
from csaw.engine.plan.machine import available_bytes
from csaw.engine.runs.draw import draw_batches
from csaw.engine.runs.job import Job, manifest
from csaw.engine.runs.summary import of_whole, rate
from csaw.engine.samples.draft import store_attributes
from csaw.engine.samples.files import plain
from csaw.engine.samples.kept import KeptSource
from csaw.engine.samples.layouts import Arrays
from csaw.engine.samples.samples import Samples
from csaw.partition.base.kernel_time import Stopwatch
from csaw.partition.base.plain_data import Record
from csaw.partition.base.stages import LOADING, SAMPLING, course
from csaw.partition.base.version import VERSION
from csaw.partition.errors import BudgetError


def draw_samples(job: Job, progress: Callable[[int], None] = lambda done: None) -> Samples:
    """Draw all instances of a job and keep them in memory, with the bytes and the interface of a stored sample.

    progress: called with the number of finished instances after each batch.

    BudgetError where the samples take more memory than there is, by the plan; errors of :func:`draw_batches`.
    """
    plan, request, watch = job.plan, job.plan.request, Stopwatch()
    if plan.output_bytes > (free := available_bytes()):
        raise BudgetError(
            f"the samples take about {plan.output_bytes:,} bytes, and {free:,} are free; store them with "
            "out=PATH, or take them batch by batch from csaw.stream"
        )
    batches: list[Arrays] = []
    edges = ends = 0
    with course(LOADING, SAMPLING), closing(draw_batches(job)) as drawn:
        for batch in drawn:
            batches.append(batch.arrays())
            edges, ends = edges + batch.edges, ends + batch.dead_ends
            progress(batch.first + batch.instances)
    seconds = watch.read().whole
    results: Record = {
        "version": VERSION,
        "instances": request.instances,
        "sampled_edges": edges,
        "walks_ended" if may_end(job.algorithm) else "dead_ends": ends,
        "run_seconds": round(seconds, 6),
        "seps_run": rate(edges, seconds),
        "plan": plan.as_dict(),
    }
    said = store_attributes(
        job.identifiers,
        layout=plan.sample_layout,
        instances=request.instances,
        group_size=request.group_size,
        manifest=manifest(job),
    )
    samples = Samples(KeptSource(said, batches, job.identifiers.words, plain(results)))
    samples.results.update(of_whole(job, samples.sizes))
    return samples
