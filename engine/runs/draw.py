"""The door for batches: a job's finished samples in memory, one batch after the other, in order of instance."""

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from csaw.engine.api.termination import may_end
from csaw.engine.plan.rates import available_bytes
from csaw.engine.runs.job import Job, backends_of, manifest
from csaw.engine.runs.summary import of_whole, rate
from csaw.engine.samples.files import plain
from csaw.engine.samples.identifiers import Identifiers
from csaw.engine.samples.layouts import Arrays, SampleLayout
from csaw.engine.samples.layouts.layout import Table
from csaw.engine.samples.opened import KeptSource
from csaw.engine.samples.place import store_attributes
from csaw.engine.samples.samples import Samples
from csaw.engine.schedule.backend import ALL, Backend
from csaw.engine.schedule.batch_loop import Drawn, FinishedBatch
from csaw.engine.schedule.device_threads import DeviceThreads, failure
from csaw.engine.schedule.targets import batches_of
from csaw.engine.sources.sources import Sources
from csaw.partition.base import arguments
from csaw.partition.base.kernel_time import Stopwatch
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import Record
from csaw.partition.base.python_names import reading
from csaw.partition.base.quoting import quoted
from csaw.partition.base.stages import LOADING, SAMPLING, course
from csaw.partition.base.version import VERSION
from csaw.partition.errors import BudgetError, OptionError

Finished = Generator[FinishedBatch, None, None]
Spans = Iterator[tuple[int, int]]


JOB = arguments.instance(Job, "a job, as csaw.engine.prepare returns it")


@reading({"job": JOB, "first": arguments.integer, "last": arguments.maybe(arguments.integer)})
def draw_batches(job: Job, first: int = 0, last: int | None = None) -> Finished:
    """Draw a job without writing it, and hand out its finished batches in order of instance.

        for batch in draw_batches(prepare("web.zarr", "node2vec", p=0.5, seed=7, in_flight=1024)):
            train(batch.arrays()["walks"])

    ``arrays(rows)`` of a batch copies its samples to host memory, byte for byte as :func:`sample` stores them:
    ``open_samples(out).group(start, stop)`` has the same arrays, element types and ids. Of n instances these are

    - walks: ``walks`` [n, walk length + 1], ``lengths`` [n] in steps; without a limit ``walks`` [steps + n], one walk
      after the other.
    - hops: ``hop_0`` [n, m] with m sources of each instance, ``hop_1`` [n, m f1] with a fanout of f1, ...
    - subgraphs: ``counts`` and ``source_counts`` [n], the edges and sources of each instance (the store's
      ``instance_ptr`` and ``sources_ptr`` are their running sums); ``src``, ``dst`` and ``depth`` [edges];
      ``sources`` [sources]. Of layers also ``weight`` [edges]; of these and of induced subgraphs ``vertex_counts``
      [n] and ``vertices``; of layers, ``layer`` and ``probability`` beside them.
    - batches: ``node_counts``, ``edge_counts`` and ``seed_counts`` [n]; ``n_id`` [nodes]; ``row``, ``col`` and ``e_id``
      [edges]; ``input_id`` [seeds]; ``hop_nodes`` [n, hops + 1], ``hop_edges`` [n, hops]; ``batch`` [nodes] if
      disjoint; ``y`` [seeds] of seeds with labels.
    - links: ``links`` [n, 2], sources and destinations; ``negatives`` [n, m].

    In time, walks have ``times`` [n, walk length], hops ``seed_time`` [n, m] and ``time_1``, ... of the shapes of
    ``hop_1``, ..., and others ``time`` [edges] and ``seed_time`` [sources or seeds]; labor and layer also ``src_time``
    and ``dst_time`` [edges]. With fanouts by relation, batches have ``relation`` [edges], and hops ``relation_1``, ...
    of the shapes of ``hop_1``, ...

    The classes in ``engine/samples/layouts/`` describe them all.

    ``on_device()`` gives the arrays where they were drawn, for DLPack, with dense ids. A batch stays valid when later
    ones are drawn; each batch that is kept takes memory.

    The CPU draws in the caller's thread, when the next batch is asked for. Each GPU draws in a thread of its own, at
    most one batch ahead of the caller; batches that finish early wait for their turn. Threads, memory and the graph are
    given back at the end, on an error, on Ctrl-C, and when the generator is closed or dropped.

    Args:
        job: what :func:`prepare` returned. Its ``in_flight`` is the largest number of instances of a batch; the last
            batch has fewer, and so have all batches after the memory was short.
        first: number of the first instance to draw.
        last: number after that of the last instance to draw; None, the end of the job.

    Yields:
        A :class:`FinishedBatch` for each batch: its ``first`` instance and its numbers of ``instances``, ``edges`` and
        ``dead_ends``.

    Raises:
        OptionError: ``first`` and ``last`` lie outside the job's instances.
        BiasError: while drawing: a bias is negative or not finite.
        StoreError: while drawing: the graph has changed.
        MemoryError: while drawing: a single instance does not fit.
        DeviceError: while drawing: a GPU fails; it says the instance to go on from.
    """
    last = job.plan.request.instances if last is None else last
    check_range(job, first, last)
    return _draw(job, first, last)


def check_range(job: Job, first: int, last: int) -> None:
    """OptionError unless a job has the instances first .. last - 1."""
    end = job.plan.request.instances
    if not 0 <= first <= last <= end:
        raise OptionError(
            f"first and last: expected 0 <= first <= last <= {end}, the job's instances, found {quoted((first, last))}"
        )


def _draw(job: Job, first: int, last: int) -> Finished:
    if first == last:
        return
    identifiers, size, layout = job.identifiers, job.plan.at_a_time, job.plan.sample_layout
    spans = ((begin, min(begin + size, last)) for begin in range(first, last, size))
    with backends_of(job, -(-(last - first) // size)) as (backends, losses):
        if job.devices:  # the caller's current GPU and stream stay as they are
            drawn = drawn_side_by_side(backends, job.sources, spans)
        else:
            drawn = drawn_here(backends[0], job.sources, spans)
        try:
            with closing(drawn):
                for batch in drawn:
                    first = batch.first + batch.instances
                    yield replace(batch, drawn=AsStored(batch.drawn, identifiers, layout))
        except losses as error:
            raise failure(error, f"draw_batches(job, first={first}) continues where this ended") from error


@dataclass(frozen=True)
class AsStored:
    """Drawn samples whose arrays are converted to the element types and ids of a sample store."""

    drawn: Drawn
    identifiers: Identifiers
    layout: SampleLayout

    @property
    def read_back(self) -> bool:
        return bool(getattr(self.drawn, "read_back", False))

    def arrays(self, rows: slice = ALL) -> Arrays:
        whole = self.layout.comes_whole
        arrays = self.drawn.arrays(ALL if whole else rows)
        if whole and rows != ALL:
            arrays = self.layout.rows(arrays, rows)
        return {name: self.identifiers.converted(name, array) for name, array in arrays.items()}

    def on_device(self) -> Record:
        return self.drawn.on_device()


def drawn_here(make_backend: Callable[[], Backend], sources: Sources, spans: Spans) -> Finished:
    """Draw the instances of each span in this thread, on one backend, and yield the batches with dense ids."""
    with closing(batches_of(make_backend(), sources)) as batches:
        for span in spans:
            yield from batches.draw(*span)


def drawn_side_by_side(backends: list[Callable[[], Backend]], sources: Sources, spans: Spans) -> Finished:
    """Draw the spans on several devices in turn, each device in a thread of its own.

    Yields the batches in order, with dense ids.
    """
    with DeviceThreads(backends, sources) as devices:
        yield from devices.draw(spans)


# A sample without files: drawn whole, and kept in memory.

PIECE = 1 << 24  # bytes that a thread copies and converts at a time


class Kept:
    """The arrays of all instances, of batches as they are finished.

    Where an instance is a row, they are allocated once, and threads copy and convert pieces of a batch into them: on an
    H200, 2.5 GB of walks took 4.2 s as whole batches that were joined at the end, most of it page-locked memory, one
    thread's look-ups of ids, and a second copy. Other arrays are joined.
    """

    def __init__(self, job: Job) -> None:
        self.identifiers, self.instances = job.identifiers, job.plan.request.instances
        self.has_rows = isinstance(job.plan.sample_layout, Table)
        self.parts: list[Arrays] = []
        self.whole: Arrays = {}

    def add(self, batch: FinishedBatch) -> None:
        """Take in a batch of :func:`draw_batches`."""
        if self.has_rows:
            assert isinstance(batch.drawn, AsStored)
            self._put_rows(batch, batch.drawn.drawn)
        else:
            self.parts.append(batch.arrays())

    def joined(self) -> list[Arrays]:
        """The arrays of consecutive instances."""
        return [self.whole] if self.has_rows else self.parts

    def _put_rows(self, batch: FinishedBatch, drawn: Drawn) -> None:
        first, instances = batch.first, batch.instances
        one = drawn.arrays(slice(0, 1))
        if not self.whole:
            types = ((name, self.identifiers.type_of(name)[0], array.shape[1:]) for name, array in one.items())
            self.whole = {name: np.empty((self.instances, *shape), dtype) for name, dtype, shape in types}
        rows = max(1, PIECE // max(1, sum(array.nbytes for array in one.values())))
        if batch.read_back:  # each copy reads much of a file
            rows = instances

        def put(begin: int) -> None:
            end = min(begin + rows, instances)
            for name, array in drawn.arrays(slice(begin, end)).items():
                self.identifiers.put(name, array, self.whole[name][first + begin : first + end])

        starts = range(0, instances, rows)
        if len(starts) == 1:
            put(0)
            return
        with ThreadPoolExecutor(min(len(starts), processors())) as threads:
            for _ in threads.map(put, starts):
                pass


def draw_samples(job: Job, progress: Callable[[int], None] = lambda done: None) -> Samples:
    """Draw all instances of a job and keep them in memory, with the bytes and the interface of a stored sample.

    progress: called with the number of finished instances after each batch.

    BudgetError where the samples take more memory than there is, by the plan; errors of :func:`draw_batches`.
    """
    plan, request, watch = job.plan, job.plan.request, Stopwatch()
    if plan.output_bytes > (free := available_bytes()):
        raise BudgetError(
            f"the samples take about {plan.output_bytes:,} bytes, but only {free:,} are free; store them with "
            "out=PATH, or read them in batches from csaw.stream"
        )
    kept = Kept(job)
    edges = ends = 0
    with course(LOADING, SAMPLING), closing(draw_batches(job)) as drawn:
        for batch in drawn:
            kept.add(batch)
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
    samples = Samples(KeptSource(said, kept.joined(), job.identifiers.words, plain(results)))
    samples.results.update(of_whole(job, samples.sizes))
    return samples
