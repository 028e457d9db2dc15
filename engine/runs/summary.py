"""The summary of a run: counts, bytes and times, and what follows from the sizes of the whole sample."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from csaw.engine.api.termination import cut_by, may_end
from csaw.engine.plan.target import fruitless
from csaw.engine.runs.job import Job
from csaw.engine.runs.one_way import one_way
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.samples.layouts.layout import LEAST_VERTICES, Sizes
from csaw.engine.samples.place import Draft
from csaw.engine.samples.seal import draft_sizes
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule.backend import TALLY
from csaw.engine.schedule.workers import Totals
from csaw.partition.base.kernel_time import Lapse, Stopwatch, compiled
from csaw.partition.base.plain_data import Record
from csaw.partition.base.version import VERSION
from csaw.partition.errors import BiasError, OptionError

log = logging.getLogger(__name__)


class Begun:
    """The beginning of a run: its time, and what was compiled before."""

    def __init__(self) -> None:
        self.watch, self.compiled = Stopwatch(), compiled()


@dataclass(frozen=True)
class Times:
    """Times of a run: of all of it, of its workers and of sealing; and what it compiled, with numbers of times."""

    run: Lapse
    workers: Lapse
    sealing: Lapse
    compiled: Mapping[str, int]


def _results(job: Job, totals: Totals, writer_bytes: int, times: Times) -> Record:
    """Counts and timings of a run. Kernels that are found or compiled count apart from the work that needs them."""
    plan, drawn = job.plan, totals.edges - totals.kept_edges
    seconds, kernels = times.run.whole, totals.kernels_seconds + (times.run - times.workers).anywhere
    return {
        "version": VERSION,
        "instances": plan.request.instances,
        "sampled_edges": totals.edges,
        _ended(job): totals.dead_ends,
        "bytes_written": writer_bytes,
        "sampling_seconds": round(totals.seconds, 6),
        "run_seconds": round(seconds, 6),
        "kernels_seconds": round(kernels, 6),
        "compiling_seconds": round(times.run.compiling, 6),
        "loading_seconds": round(totals.loading_seconds, 6),
        "waiting_seconds": round(totals.waiting_seconds, 6),
        "sealing_seconds": round(times.sealing.rest, 6),
        "compiled": dict(sorted(times.compiled.items())),
        "seps_sampling": rate(drawn, totals.seconds),
        "seps_run": rate(drawn, seconds),
        **{name: getattr(totals, name) for name in TALLY},
        "transfers": totals.transfers,
        "transfer_bytes": totals.transfer_bytes,
        "read_bytes": totals.read_bytes,
        "evictions": totals.evictions,
        "in_place": totals.in_place,
        "overlapped": totals.overlapped,
        "kernel_seconds": round(totals.kernel_seconds, 6),
        "kernel_deviation": round(totals.kernel_deviation, 4),
        **{f"expected_{name}": value for name, value in plan.expected.items()},
        "ways": plan.ways,
        "plan": plan.as_dict(),
    }


def drawn_and_sealed(
    job: Job,
    writer: SampleWriter,
    begun: Begun,
    draw: Callable[[], tuple[Totals, Lapse]],
    earlier: int = 0,
    *,
    counted: bool = True,
) -> Record:
    """Draw what a store lacks, seal it, and return the summary of the run.

    ``draw`` writes all groups, and returns its totals and the time of its workers. ``earlier``: groups that were there
    before it. ``counted``: whether the totals are those of all other groups.
    """
    try:
        totals, worked = draw()
    except (BiasError, OptionError):
        writer.abandon()  # the same request would fail again
        raise
    sealing = Stopwatch()
    writer.seal()
    times = Times(begun.watch.read(), worked, sealing.read(), compiled() - begun.compiled)
    return summed_up(job, writer, totals, times, earlier, counted=counted)


def summed_up(
    job: Job, writer: GroupWriter, totals: Totals, times: Times, earlier: int = 0, *, counted: bool = True
) -> Record:
    """The summary of a run whose store is sealed.

    ``earlier``: groups that were there before it. ``counted``: whether the totals are those of all other groups.
    """
    sizes = draft_sizes(writer)
    results = _results(job, totals, writer.bytes_written, times) | of_whole(job, sizes)
    if earlier or not counted:
        del results[_ended(job)]
        results |= _ends_of_all(job, sizes)
    return results | (resumed(writer, earlier, totals.kept_edges) if earlier or totals.kept_edges else {})


def _ended(job: Job) -> str:
    """The name of the number of walks that ended, by themselves or at a dead end."""
    return "walks_ended" if may_end(job.algorithm) else "dead_ends"


def _ends_of_all(job: Job, sizes: Sizes | None) -> Record:
    """Return the number of dead ends of a whole sample that several runs have drawn.

    Empty where the sizes of its groups do not say it: of walks they do.
    """
    if sizes is None or not job.plan.sample_layout.has_walks:
        return {}
    return {_ended(job): sizes["ended_early" if job.plan.sample_layout.has_limit else "instances"]}


def of_whole(job: Job, sizes: Sizes | None) -> Record:
    """Return what the sizes of a finished sample say of it."""
    return cut_walks(job, sizes) | short_of_target(job, sizes) | one_way(job, sizes)


def rate(edges: float, seconds: float) -> float:
    """Sampled edges per second."""
    return round(edges / seconds, 1) if seconds > 0 else 0.0


def cut_walks(job: Job, sizes: Sizes | None) -> Record:
    """Return how many walks of a finished sample a limit cut before they ended.

    ``sizes`` are those of the sample. Empty where the algorithm does not end walks. The number and the share are
    logged, too.
    """
    limit = getattr(job.algorithm, "walk_length", None)
    if limit is None or sizes is None or "ended_early" not in sizes or not may_end(job.algorithm):
        return {}
    cut = sizes["instances"] - sizes["ended_early"]
    if cut:
        log.warning("%s", cut_by(job.algorithm, cut, sizes["instances"]))
    return {"walks_cut": cut, "share_cut": round(cut / max(sizes["instances"], 1), 6)}


def short_of_target(job: Job, sizes: Sizes | None) -> Record:
    """Return the fewest vertices of an instance of a finished sample, where a target was given.

    ``sizes`` are those of the sample. An instance with fewer vertices than the target is logged, too.
    """
    target = job.plan.request.target
    if not target or sizes is None or LEAST_VERTICES not in sizes:
        return {}
    if sizes[LEAST_VERTICES] < target:
        log.warning(
            "instances have %s of %s vertices or more: they end where %s fires or walks in a row meet nothing new",
            f"{sizes['least_vertices']:,}",
            f"{target:,}",
            f"{fruitless(job.algorithm, job.sources):,}",
        )
    return {LEAST_VERTICES: sizes[LEAST_VERTICES]}


def resumed(draft: Draft, earlier: int, kept_edges: int) -> Record:
    """Return what is different in the summary of a resumed run: edges are of the whole sample, times are of this run.

    ``earlier``: groups that were there. ``kept_edges``: edges of groups of which a part was there.
    """
    sizes = draft_sizes(draft)
    said = (
        f"{earlier:,} of {draft.groups:,} groups were there{', and a part of another' * bool(kept_edges)}; bytes "
        "written, times and rates are those of the rest"
    )
    return {"resumed": said} | ({} if sizes is None else {"sampled_edges": sizes["edges"]})
