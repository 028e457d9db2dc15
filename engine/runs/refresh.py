"""Bringing a stored sample up to date with its graph: the instances that read a changed row are drawn again, the others
are copied, and all bytes are those of a full draw on the changed graph.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from csaw.engine.runs.comparison import COMPARING, Comparison
from csaw.engine.runs.job import backends_of, manifest, stored_as
from csaw.engine.runs.summary import Begun, drawn_and_sealed
from csaw.engine.runs.virtual import commit_virtual
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.samples.identifiers import Identifiers
from csaw.engine.samples.layouts import VERTEX, Arrays, kind_of
from csaw.engine.samples.opened import joined
from csaw.engine.samples.place import discard_replaced, is_begun
from csaw.engine.samples.seal import draft_sizes
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.schedule.batch_loop import Batches
from csaw.engine.schedule.targets import batches_of
from csaw.engine.schedule.workers import Totals, totals_of
from csaw.partition.base import arguments
from csaw.partition.base.kernel_time import Lapse, Stopwatch, stand_aside
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import Record
from csaw.partition.base.python_names import reading
from csaw.partition.base.stages import LOADING, SAMPLING, WRITING, course

REFRESHED = "refreshed"
"""The entry of a summary that says how many instances were drawn again and how many were kept."""
NEAR = 64  # instances between two that are drawn, which are drawn with them where a batch cannot leave out any


@reading({"out": arguments.maybe(arguments.path("a sample store")), "overwrite": arguments.flag})
def refresh(
    found: Comparison,
    out: str | Path | None = None,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Record:
    """Write the sample as a full draw on the changed graph would have it. A virtual sample stays virtual: the store has
    the same request of the changed graph, and nothing is drawn.

    After a kill, the same call continues from the groups that are there.

    Args:
        found: what :func:`compare` returned.
        out: path of the sample store to write; None, it replaces the sample.
        overwrite: replace the sample store at ``out``.
        progress: called with the number of finished instances each time it grows.

    Returns:
        The summary of the run, with the entry ``refreshed``; of a virtual sample that of :func:`commit_virtual`.

    Raises:
        StoreError: ``out`` cannot be written, exists already, or belongs to another run; or a file has changed.
        BiasError: a bias is negative or not finite.
        BudgetError: a single instance does not fit in memory.
        DeviceError: the GPU fails.
    """
    job, path = found.job, found.samples.path if out is None else Path(out)
    begun = Begun()
    in_place = path.absolute() == found.samples.path.absolute()
    if found.is_up_to_date and in_place:
        discard_replaced(path)
        return found.samples.results | {REFRESHED: found.counts(np.zeros(found.instances, bool))}
    if found.is_request:
        counts = {REFRESHED: found.counts(found.all_again())}
        return commit_virtual(job, path, overwrite=overwrite or in_place) | counts
    options = stored_as(job)
    resume = is_begun(path, GroupWriter(path, manifest(job), **options).attributes)
    overwrite = overwrite or in_place
    with (
        course(LOADING, COMPARING, SAMPLING, WRITING),
        RefreshWriter(path, manifest(job), resume=resume, overwrite=overwrite, **options) as writer,
    ):
        wanted = found.all_again()

        def draw() -> tuple[Totals, Lapse]:
            working = Stopwatch()
            return Refresh(found, writer, wanted, progress).run(), working.read()

        results = drawn_and_sealed(job, writer, begun, draw, counted=False) | {REFRESHED: found.counts(wanted)}
        sizes = draft_sizes(writer)
        results |= {} if sizes is None else {"sampled_edges": sizes["edges"]}
        writer.finish(results)
    return results


class RefreshWriter(SampleWriter):
    """Writes the sample. The same command continues it, without another option."""

    def _way_out(self) -> str:
        return "finished groups are safe in it; make room and run the same command again"


class Refresh:
    """Writes the groups of a sample that is brought up to date. ``wanted``: which instances are drawn."""

    def __init__(
        self, found: Comparison, writer: SampleWriter, wanted: np.ndarray, progress: Callable[[int], None] | None
    ) -> None:
        self.found, self.writer, self.wanted, self.progress = found, writer, wanted, progress
        self.done = sum(writer.rows(group) for group in writer.done)
        self.edges = EdgeNumbers(found)
        found.samples.trust()  # every file was compared when the instances were

    def run(self) -> Totals:
        """Write what is missing, and return what drawing took."""
        missing = [group for group in range(self.writer.groups) if group not in self.writer.done]
        size = self.writer.group_size
        drawn = [group for group in missing if self.wanted[group * size : (group + 1) * size].any()]
        totals = Totals()
        with ThreadPoolExecutor(processors(), initializer=stand_aside) as threads:
            copies = (threads.submit(self._write, group, None) for group in sorted({*missing} - {*drawn}))
            self._finish(copies)
            if drawn:
                with (
                    backends_of(self.found.job, 1) as (backends, _),
                    closing(batches_of(backends[0](), self.found.job.sources)) as batches,
                ):
                    watch = Stopwatch()
                    self._finish(chain.from_iterable(self._drawn(batches, drawn, threads)))
                    totals = totals_of(batches, watch.read())
        return totals

    def _finish(self, writes: Iterator[Future[int]]) -> None:
        """Wait for what was begun, a few groups behind what begins."""
        waiting: list[Future[int]] = []
        for one in writes:
            waiting.append(one)
            if len(waiting) > 2 * processors():
                self._count(waiting.pop(0).result())
        for one in waiting:
            self._count(one.result())

    def _count(self, instances: int) -> None:
        self.done += instances
        if self.progress:
            self.progress(self.done)

    def _drawn(self, batches: Batches, groups: list[int], threads: ThreadPoolExecutor) -> Iterator[list[Future[int]]]:
        """Draw what groups lack, as many groups at a time as a batch holds, and begin to write them."""
        size, most = self.writer.group_size, max(1, batches.size // self.writer.group_size)
        for begin in range(0, len(groups), most):
            some = groups[begin : begin + most]
            last = min((some[-1] + 1) * size, self.writer.instances)
            chosen = some[0] * size + np.flatnonzero(self.wanted[some[0] * size : last])
            arrays = self._arrays_of(batches, chosen)
            cuts = np.searchsorted(chosen, [*(group * size for group in some), last])
            parts = self.writer.layout.cut(arrays, cuts.tolist())
            yield [threads.submit(self._write, group, part) for group, part in zip(some, parts, strict=True)]

    def _arrays_of(self, batches: Batches, chosen: np.ndarray) -> Arrays:
        """Draw the instances ``chosen``, in order, and return their arrays as a store has them."""
        layout, identifiers, parts = self.writer.layout, self.writer.identifiers, []
        for first, last in _spans(chosen, 0 if batches.can_leave_out else NEAR):
            here = chosen[np.searchsorted(chosen, first) : np.searchsorted(chosen, last)]
            batches.wanted = here if batches.can_leave_out else None
            for batch in batches.draw(first, last):
                rows = here[(here >= batch.first) & (here < batch.first + batch.instances)] - batch.first
                arrays = layout.pick(batch.arrays(), rows)
                parts.append({name: identifiers.converted(name, array) for name, array in arrays.items()})
        return joined(parts)

    def _write(self, group: int, drawn: Arrays | None) -> int:
        """Write a group of instances that were ``drawn`` and of others; return the number of its instances."""
        writer, first = self.writer, group * self.writer.group_size
        last = min(first + writer.group_size, writer.instances)
        wanted = self.wanted[first:last]
        if drawn is None or not wanted.all():
            held = min(last, self.found.samples.instances)  # above ``first``: others are all drawn
            kept = self.edges.moved(self._retyped(self.found.samples.group(first, held)))
            drawn = kept if drawn is None else writer.layout.replaced(kept, drawn, wanted)
        writer.write(group, dict(drawn), converted=True)
        return last - first

    def _retyped(self, arrays: Arrays) -> Arrays:
        """Stored arrays in the element types of the new store."""
        samples, held = self.found.samples, self.writer.identifiers
        if (samples.vertex_dtype, samples.fill) == (held.dtype, held.fill):
            return arrays
        return {name: _as_in(held, samples.fill, name, array) for name, array in arrays.items()}


def _as_in(held: Identifiers, fill: int, name: str, array: np.ndarray) -> np.ndarray:
    if kind_of(name) != VERTEX:
        return array
    nothing = array == array.dtype.type(fill)
    array = array.astype(held.dtype)
    array[nothing] = held.fill
    return array


class EdgeNumbers:
    """Moves the numbers of edges in mini-batches, ``e_id``: an edge has another number behind rows that have grown, and
    behind edges of relations that the mini-batch has not read.
    """

    def __init__(self, found: Comparison) -> None:
        self.before = self.now = self.old = self.new = np.zeros(0, np.int64)
        if found.before is None or found.everything or "e_id" not in found.samples:
            return
        before, now, relations = found.before.store.stored, found.job.store.stored, found.reads.relations
        self.before, self.now = before.read_indptr(), now.read_indptr()
        if relations is not None:
            from csaw.partition.graph.changed_rows import moved_edges  # brings Numba

            self.old, self.new = moved_edges(before, now, relations)

    def moved(self, arrays: Arrays) -> Arrays:
        """The arrays of a group with the numbers that edges have now, where their rows have not changed."""
        if not self.before.size or "e_id" not in arrays:
            return arrays
        edges = arrays["e_id"]
        row = np.searchsorted(self.before, edges, side="right") - 1
        moved = edges - self.before[row] + self.now[row]
        if self.old.size:
            place = np.minimum(np.searchsorted(self.old, edges), self.old.size - 1)
            moved = np.where(self.old[place] == edges, self.new[place], moved)
        return arrays | {"e_id": moved}


def _spans(chosen: np.ndarray, near: int) -> list[tuple[int, int]]:
    """Ranges of instances that have all that are ``chosen``, and no ``near`` others between two; 0: one range."""
    if not chosen.size:
        return []
    cuts = np.flatnonzero(np.diff(chosen) > near) + 1 if near else np.zeros(0, np.int64)
    bounds = [0, *cuts.tolist(), chosen.size]
    return [(int(chosen[a]), int(chosen[b - 1]) + 1) for a, b in pairwise(bounds)]
