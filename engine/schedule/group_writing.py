"""Finished batches to groups of a sample store: a unit of groups at a time, its groups side by side."""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise

import numpy as np

from csaw.engine.backend import ALL
from csaw.engine.samples.layout import cut_subgraphs
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule.loop import Arrays, FinishedBatch


def instances_of(unit: list[int], writer: SampleWriter) -> tuple[int, int]:
    """First and last of the instances in a unit's groups, the last one exclusive."""
    return unit[0] * writer.group_size, min((unit[-1] + 1) * writer.group_size, writer.instances)


def leaves_as_a_whole(writer: SampleWriter) -> bool:
    """Whether a unit leaves its device all at once: where a group's edges begin is known only once all are counted."""
    return writer.layout == "subgraphs"


def write_unit(unit: list[int], drawn: list[FinishedBatch], writer: SampleWriter, threads: ThreadPoolExecutor) -> None:
    """Commit a unit's groups, each in one of ``threads``; also where one fails, nothing is being written any more at the end."""
    first, last = instances_of(unit, writer)
    bounds = [*range(0, last - first, writer.group_size), last - first]
    if leaves_as_a_whole(writer):
        parts = cut_subgraphs(_joined([batch.arrays(ALL) for batch in drawn]), bounds)
        writes = [threads.submit(writer.write, group, part) for group, part in zip(unit, parts, strict=True)]
    else:
        spans = pairwise(bounds)
        writes = [
            threads.submit(_write_rows, writer, group, drawn, *span) for group, span in zip(unit, spans, strict=True)
        ]
    _all_done(writes)


def _all_done(writes: list[Future]) -> None:
    """Wait for all of them, also where one fails: nobody else may write what is still being written."""
    wait(writes)
    for one in writes:
        one.result()


def _write_rows(writer: SampleWriter, group: int, drawn: list[FinishedBatch], low: int, high: int) -> None:
    writer.write(group, _rows(drawn, low, high))


def _rows(drawn: list[FinishedBatch], low: int, high: int) -> Arrays:
    """Instances low .. high - 1 of consecutive batches of walks or hops, counted from the first batch's first.

    A group at a time leaves a GPU, in memory that is used again.
    """
    parts, start = [], drawn[0].first
    for batch in drawn:
        before = batch.first - start
        begin, end = max(low - before, 0), min(high - before, batch.instances)
        if begin < end:
            parts.append(batch.arrays(slice(begin, end)))
    return _joined(parts)


def _joined(parts: list[Arrays]) -> Arrays:
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
