"""Drawing the instances of a unit; those of a group that takes long are kept meanwhile."""

from csaw.engine.samples.checkpoints import Counts
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.samples.kept import joined
from csaw.engine.schedule import pace
from csaw.engine.schedule.batch_loop import Batches, FinishedBatch, InHostMemory
from csaw.engine.schedule.group_writing import instances_of
from csaw.partition.base.kernel_time import Stopwatch


def draw_unit(batches: Batches, unit: list[int], writer: GroupWriter, *, patient: bool = True) -> list[FinishedBatch]:
    """Draw the instances of a unit's groups and return their batches in order.

    A single group is drawn from where its checkpoints end, as many instances at a time as the pace says. ``patient``,
    and errors: as of :meth:`Batches.draw`.
    """
    first, last = instances_of(unit, writer)
    if len(unit) > 1:
        batches.begin_unit()
        return _drawn_after([], batches, first, last, patient)
    drawn = _kept_before(batches, unit[0], writer)
    batches.begin_unit(drawn)
    first, kept_edges = first + sum(batch.instances for batch in drawn), sum(batch.edges for batch in drawn)
    safe, since = len(drawn), Stopwatch()
    while first < last:
        upto = min(first + batches.pace.size, last)
        drawn = _drawn_after(drawn, batches, first, upto, patient)
        first = upto
        if first < last and since.read().whole > pace.KEEP_SECONDS / 2:
            drawn[safe:] = [_kept(drawn[safe:], batches, unit[0], writer)]
            safe, since = len(drawn), Stopwatch()
    batches.kept_edges += kept_edges
    return drawn


def _drawn_after(
    drawn: list[FinishedBatch], batches: Batches, first: int, last: int, patient: bool
) -> list[FinishedBatch]:
    """The batches of a unit with the next ones, whose time the pace notes."""
    watch = Stopwatch()
    drawn = batches.draw(first, last, patient=patient, after=drawn)
    batches.pace.drew(last - first, watch.read().drawn)
    return drawn


def _kept_before(batches: Batches, group: int, writer: GroupWriter) -> list[FinishedBatch]:
    """The instances of a group that a run which was killed, or a worker that was slow, has kept."""
    layout = batches.backend.plan.sample_layout
    return [_batch(counts, InHostMemory(arrays, layout)) for counts, arrays in writer.kept(group)]


def _kept(drawn: list[FinishedBatch], batches: Batches, group: int, writer: GroupWriter) -> FinishedBatch:
    """Keep consecutive batches of a group, which become one in host memory."""
    counts = Counts(
        drawn[0].first,
        sum(batch.instances for batch in drawn),
        sum(batch.edges for batch in drawn),
        sum(batch.dead_ends for batch in drawn),
    )
    arrays = joined([batch.arrays() for batch in drawn])
    writer.keep(group, counts, arrays)
    return _batch(counts, InHostMemory(arrays, batches.backend.plan.sample_layout))


def _batch(counts: Counts, held: InHostMemory) -> FinishedBatch:
    return FinishedBatch(counts.first, counts.instances, counts.edges, counts.dead_ends, held)
