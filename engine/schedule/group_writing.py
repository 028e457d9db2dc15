"""Writing finished batches as groups of a sample store: one unit at a time, the groups of a unit in parallel."""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise

from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.samples.kept import joined
from csaw.engine.samples.layouts import Arrays
from csaw.engine.schedule.backend import ALL
from csaw.engine.schedule.batch_loop import FinishedBatch


def instances_of(unit: list[int], writer: GroupWriter) -> tuple[int, int]:
    """The first instance of a unit's groups, and the one after the last."""
    return unit[0] * writer.group_size, min((unit[-1] + 1) * writer.group_size, writer.instances)


def leaves_as_a_whole(writer: GroupWriter) -> bool:
    """Whether the samples of a unit must be copied from the device all at once: instances that differ in size must,
    since a group's edges begin where those before it end.
    """
    return writer.layout.comes_whole


def write_unit(unit: list[int], drawn: list[FinishedBatch], writer: GroupWriter, threads: ThreadPoolExecutor) -> None:
    """Write and commit the groups of a unit, each in one of ``threads``.

    Even when one fails, all writing has ended when this returns.
    """
    first, last = instances_of(unit, writer)
    bounds = [*range(0, last - first, writer.group_size), last - first]
    if leaves_as_a_whole(writer):
        parts = writer.layout.cut(joined([batch.arrays(ALL) for batch in drawn]), bounds)
        writes = [threads.submit(writer.write, group, part) for group, part in zip(unit, parts, strict=True)]
    else:
        spans = pairwise(bounds)
        if any(batch.read_back for batch in drawn):
            for group, span in zip(unit, spans, strict=True):
                _write_rows(writer, group, drawn, *span)
            return
        writes = [
            threads.submit(_write_rows, writer, group, drawn, *span) for group, span in zip(unit, spans, strict=True)
        ]
    _all_done(writes)


def _all_done(writes: list[Future]) -> None:
    """Wait for all writes, even when one fails: another thread must not write a group that is still being written."""
    wait(writes)
    for one in writes:
        one.result()


def _write_rows(writer: GroupWriter, group: int, drawn: list[FinishedBatch], low: int, high: int) -> None:
    writer.write(group, _rows(drawn, low, high))


def _rows(drawn: list[FinishedBatch], low: int, high: int) -> Arrays:
    """The arrays of the instances low .. high - 1 of consecutive batches of walks or hops, counted from the first
    instance of the first batch.

    One group at a time is copied from a GPU, through memory that is used again.
    """
    parts, start = [], drawn[0].first
    for batch in drawn:
        before = batch.first - start
        begin, end = max(low - before, 0), min(high - before, batch.instances)
        if begin < end:
            parts.append(batch.arrays(slice(begin, end)))
    return joined(parts)
