"""Works, and their measuring: sampling alone, in turns, other instances each time; on one device or on several GPUs."""

import statistics
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.api import registry
from csaw.engine.bench.bench_row import Row, figure, gap, kind_of
from csaw.engine.plan.choices import GraphLayout
from csaw.engine.runs.job import open_backend, prepare
from csaw.engine.schedule.backend import TALLY
from csaw.engine.schedule.batch_loop import Batches
from csaw.engine.schedule.device_threads import DeviceThread, results_of
from csaw.partition import GraphStore
from csaw.partition.base.plain_data import Values
from csaw.partition.errors import CsawError

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device

Options = Values
NEGATIVES = "negatives/s"  # of links


@dataclass(frozen=True)
class Work:
    """One line of a table.

    ``goal``: sampled edges/s on the device and the graph that graphs.py names for goals. ``unit``: what its rate
    counts, edges/s, negatives/s or samples/s, instances. ``sized``: the part of the name that says how many instances
    or steps there are, such as ``{instances} x {walk_length}``, so that a smaller work has another name.
    """

    name: str
    algo: str
    instances: int
    options: Options = field(default_factory=dict)
    goal: float | None = None
    unit: str = "edges/s"
    sized: str = ""

    def shrunk(self, instances: int, steps: int | None = None) -> "Work":
        """The work with at most ``instances`` instances of at most ``steps`` steps, which its name says if it did."""
        options = dict(self.options)
        if steps is not None and "walk_length" in options:
            options["walk_length"] = min(options["walk_length"], steps)
        small = replace(self, instances=min(self.instances, instances), options=options)
        return replace(small, name=self.name.replace(self._size(), small._size())) if self.sized else small

    def _size(self) -> str:
        return self.sized.format(instances=self.instances, **self.options)

    def having(self, name: str, **options: object) -> "Work":
        """The work under another name, with these options added."""
        return replace(self, name=name, options=self.options | options)


# A work of few sources that is shorter than this is drawn TIMES times a turn, because the time of a launch varies by
# half.
SHORT_SECONDS, FEW_SOURCES, TIMES = 5e-3, 20_000, 10


class Timed:
    """A work with its graph loaded and its kernels compiled.

    Samples stay on the device, in the order in which a run would write them.
    """

    def __init__(self, store: GraphStore, work: Work, *, device: str, threads: int | None, turns: int) -> None:
        beyond = [layout for layout in GraphLayout if layout.needs_gpu and device == "cpu"]
        options = {name: value for name, value in work.options.items() if name != "layout" or value not in beyond}
        self.work, self.device = work, device
        batch = {} if device == "cpu" else {"in_flight": work.instances}
        self.job = prepare(
            store,
            work.algo,
            device=device,
            threads=threads,
            instances=work.instances,
            seed=1,
            **{"sources": _random_sources(store, work, turns)} | batch | options,
        )
        self.backend = open_backend(self.job)
        self.batches = Batches(self.backend, self.job.sources)
        self.seconds: list[float] = []
        self.edges: list[int] = []
        self.tallies: list[np.ndarray] = []
        self.moved: list[dict[str, float]] = []  # counts of streaming at each turn, if the graph does not fit

    def draw(self) -> None:
        """Draw one turn: the work's number of instances, none of which was drawn before."""
        before, moved = self.backend.tally.astype(np.int64), self._moved()
        first, seconds, edges = len(self.seconds) * self.work.instances, 0.0, 0
        for begin in range(first, first + self.work.instances, self.job.plan.batch):
            taken, found = self._batch(begin, min(begin + self.job.plan.batch, first + self.work.instances))
            seconds, edges = seconds + taken, edges + found
        self.seconds.append(seconds)
        self.edges.append(edges)
        self.tallies.append(self.backend.tally.astype(np.int64) - before)
        self.moved.append({name: value - moved[name] for name, value in self._moved().items()})

    def _batch(self, first: int, last: int) -> tuple[float, int]:
        """Draw one batch and drop its samples; returns its seconds and edges."""
        batch, seconds = self.batches.draw_timed(first, last)
        return seconds, batch.edges

    def is_short(self) -> bool:
        """Whether one draw is too short to time, judging by the warm-up."""
        return self.seconds[0] < SHORT_SECONDS and _sources(self.work) <= FEW_SOURCES

    def close(self) -> None:
        """Give the memory back."""
        self.batches.close()

    def _moved(self) -> dict[str, float]:
        """The counters of streaming so far: transfers, bytes, rounds, rows read in place, seconds in kernels."""
        graph, counters = self.backend.graph, self.batches.counters
        return {
            "transfers": graph.transfers,
            "transfer_bytes": graph.transfer_bytes,
            "rounds": counters.rounds,
            "in_place": counters.in_place,
            "kernel_seconds": self.backend.kernel_seconds()[0],
        }

    def row(self) -> Row:
        """The figure of all turns but the first, the warm-up."""
        seconds, edges, plan = self.seconds[1:], self.edges[1:], self.job.plan
        counted = sum(self.tallies[1:], np.zeros(len(TALLY), np.int64)) / max(sum(edges), 1)
        return {
            "work": self.work.name,
            **figure(self._rates(), self.work.unit),
            "seconds": statistics.median(seconds),
            "edges": int(statistics.median(edges)),
            "instances": self.work.instances,
            "select": plan.select,
            "layout": plan.graph_layout,
            "goal": self.work.goal,
            "ran_on": kind_of(plan.device),
            **self._streaming(),
            **{f"{name}_an_edge": value for name, value in zip(TALLY, counted.tolist(), strict=True) if value},
        }

    def _rates(self) -> list[float]:
        """The rates of all turns but the first, in what the work counts."""
        each = int(self.work.options.get("num_negatives", 1)) if self.work.unit == NEGATIVES else 1
        edges = self.edges if self.work.unit == "edges/s" else [each * self.work.instances] * len(self.edges)
        return [count / seconds for count, seconds in zip(edges[1:], self.seconds[1:], strict=True)]

    def _streaming(self) -> Row:
        """Medians over turns of the counters of streaming, and the deviation between multiprocessors, on a GPU.

        Empty if nothing is streamed.
        """
        if not self.backend.streamed:
            return {}
        found = {name: statistics.median(turn[name] for turn in self.moved[1:]) for name in self.moved[0]}
        return found | ({"kernel_deviation": self.backend.kernel_seconds()[1]} if self.device != "cpu" else {})


def in_turns(store: GraphStore, works: Iterable[Work], *, device: str, threads: int | None, repeats: int) -> list[Row]:
    """Measure works round after round, so that all meet the same conditions; returns a bench row for each."""
    rows: list[Row] = []
    timed: dict[int, Timed] = {}
    with ExitStack() as stack:
        for work in works:
            try:
                one = Timed(store, work, device=device, threads=threads, turns=repeats + 1)
                stack.callback(one.close)
                one.draw()
                timed[len(rows)] = one
                rows.append({})
            except (CsawError, MemoryError) as error:
                rows.append(gap(work.name, error))
        for _ in range(repeats):
            for one in timed.values():
                for _ in range(TIMES if one.is_short() else 1):
                    one.draw()
    for number, one in timed.items():
        rows[number] = one.row()
    return rows


def _random_sources(store: GraphStore, work: Work, turns: int) -> str | None:
    """The option ``sources`` for sources that differ at every turn: distinct random vertices.

    None, for all vertices in order, if that would take most of the graph.
    """
    needed = turns * _sources(work)
    if registry.find(work.algo).sources_from != "all" or 2 * needed > store.vertices:
        return None
    more = TIMES if _sources(work) <= FEW_SOURCES else 1
    return f"random:{min(more * needed, store.vertices // 2)}"


def _sources(work: Work) -> int:
    return work.instances * int(work.options.get("frontier_size", 1))


# Each GPU first writes this many bytes, this often, about 2 ms, while its thread queues kernels, so that timed kernels
# do not wait for Python.
AHEAD_BYTES, AHEAD = 256 << 20, 32


def on_gpus(store: GraphStore, work: Work, devices: "tuple[Device, ...]", *, repeats: int) -> Row:
    """The figure of ``repeats`` turns after a warm-up, of kernels alone; samples stay on the devices."""
    from csaw.engine.cuda.graphs.node import Node

    names = "cuda:" + ",".join(str(gpu.number) for gpu in devices)
    part = -(-work.instances // len(devices))
    job = prepare(store, work.algo, device=names, instances=work.instances, in_flight=part, seed=1, **work.options)
    node, gate = Node(len(devices)), threading.Barrier(len(devices))
    rates, seconds, edges = [], [], []
    with ExitStack() as stack:
        stack.callback(node.close)
        threads = [DeviceThread(partial(open_backend, job, gpu, node), job.sources) for gpu in devices]
        for thread in threads:
            stack.callback(thread.close)
        results_of([thread.opened for thread in threads])
        for turn in range(repeats + 1):
            first = turn * work.instances
            spans = [
                (first + k * part, min(first + (k + 1) * part, first + work.instances)) for k in range(len(devices))
            ]
            found = results_of([thread.do(_draw, *span, gate) for thread, span in zip(threads, spans, strict=True)])
            if turn:
                seconds.append(max(s for s, _ in found))
                edges.append(sum(e for _, e in found))
                rates.append(edges[-1] / seconds[-1])
    return {
        "work": work.name,
        **figure(rates),
        "seconds": statistics.median(seconds),
        "edges": int(statistics.median(edges)),
        "instances": work.instances,
        "gpus": len(devices),
        "ran_on": kind_of(job.plan.device),
        "residency": job.plan.residency,
        "select": job.plan.select,
        "layout": job.plan.graph_layout,
    }


def _draw(batches: Batches, first: int, last: int, gate: threading.Barrier) -> tuple[float, int]:
    """Draw instances first .. last - 1 on one GPU; returns the seconds of its kernels, and the edges.

    The seconds are those of the GPU's own clock. All GPUs begin together.
    """
    import cupy

    try:
        batch = batches.begin(first, last)
        ahead, stream = cupy.empty(AHEAD_BYTES, "u1"), cupy.cuda.get_current_stream()
        batches.backend.wait()
    except BaseException:
        gate.abort()  # so that no other GPU waits for this one
        raise
    gate.wait()
    for _ in range(AHEAD):
        ahead.data.memset_async(0, ahead.nbytes)
    began = stream.record()
    batches.run(batch)
    ended = stream.record()
    ended.synchronize()
    return cupy.cuda.get_elapsed_time(began, ended) / 1e3, batch.edges()
