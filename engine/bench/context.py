"""The declaration of a suite, and its context: devices, graphs, how much to measure, and ways to measure it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from csaw.engine.bench.bench_row import Published, Row, Verdict
from csaw.engine.bench.graphs import GOAL_DEVICE, GOAL_GRAPH, Graph, Named
from csaw.engine.bench.machine import limits
from csaw.engine.bench.measure import Work, in_turns

if TYPE_CHECKING:
    from csaw.engine.cuda.device import Device

PAPER, OWN = "paper", "csaw"
QUICK_INSTANCES, QUICK_STEPS = 200, 100
CPU_INSTANCES = 400_000  # most instances on a CPU; works have millions so that a GPU is busy


@dataclass
class Context:
    """One run of ``csaw bench``.

    Without ``devices`` it runs on the CPU; ``kind`` is the value for ``csaw sample --device``.
    """

    named: list[Named]
    devices: "tuple[Device, ...]" = ()
    threads: int = 1
    repeats: int = 3
    max_instances: int | None = None
    quick: bool = False
    only: str = ""
    chosen: bool = False  # whether the graphs are the user's, not this program's
    memory: int | None = None  # budgets, bytes
    gpu_memory: int | None = None
    out: Path = Path()
    peers: dict[str, str] = field(default_factory=dict)
    parameters: str = PAPER  # of suites that reproduce a figure
    opened: Graph | None = None

    @property
    def of_paper(self) -> bool:
        """Whether suites take the parameters of their papers, not csaw's own."""
        return self.parameters == PAPER

    @property
    def on_gpu(self) -> bool:
        return bool(self.devices)

    @property
    def device(self) -> "Device | None":
        """The GPU for works that need one device; None: the CPU."""
        return self.devices[0] if self.devices else None

    @property
    def kind(self) -> str:
        return f"cuda:{self.devices[0].number}" if self.devices else "cpu"

    @property
    def where(self) -> str:
        """The kind of the devices: cpu or cuda."""
        return "cuda" if self.devices else "cpu"

    @property
    def kinds(self) -> dict[str, int]:
        """``kind``, and all GPUs together where there are several, each with its number of devices."""
        together = {"cuda:" + ",".join(str(gpu.number) for gpu in self.devices): len(self.devices)}
        return {self.kind: 1} | (together if len(self.devices) > 1 else {})

    @property
    def most(self) -> int:
        """Most instances of a work."""
        given = self.max_instances or (2**62 if self.on_gpu else CPU_INSTANCES)
        return min(given, QUICK_INSTANCES) if self.quick else given

    def graphs(self) -> Iterator[Graph]:
        """The graphs to measure on, opened one at a time; the last one stays open for the next suite."""
        for one in self.named:
            if self.opened is None or self.opened.label != one.label:
                if self.opened is not None:
                    self.opened.store.release()  # a suite may still hold it
                self.opened = one.open(self.device)
            yield self.opened

    @cached_property
    def limits(self) -> list[Row]:
        """The machine's own limits, measured once a run."""
        return limits(self.device, self.threads)

    @property
    def ceiling(self) -> float:
        """The machine's random gathers a second."""
        return max(row["rate"] for row in self.limits if row["unit"] == "gathers/s")

    def limit(self, work: str) -> float | None:
        """The rate of one of the machine's limits, by name; None if it was not measured."""
        return next((row["rate"] for row in self.limits if row["work"] == work), None)

    def wanted(self, works: Iterable[Work]) -> list[Work]:
        """The works that ``--only`` names, shrunk to the size allowed here; of those that this makes the same, one."""
        small = (self.shrunk(work) for work in works if self.only in work.name)
        return list({work.name: work for work in small}.values())

    def shrunk(self, work: Work) -> Work:
        """The work, shrunk to the size allowed here."""
        return work.shrunk(self.most, QUICK_STEPS if self.quick else None)

    def measure(self, graph: Graph, works: Iterable[Work]) -> Iterator[Row]:
        """Measure works one after the other; one bench row each."""
        for work in works:
            yield from self.compare(graph, [work])

    def measure_all(self, works: Iterable[Work]) -> Iterator[Row]:
        """Measure works on every graph."""
        for graph in self.graphs():
            yield from self.measure(graph, works)

    def compare(self, graph: Graph, works: Iterable[Work], repeats: int | None = None) -> Iterator[Row]:
        """Measure works in turns, so that their ratios hold on a busy machine too; one bench row each.

        ``repeats``: in place of the context's.
        """
        able = [w for w in self.wanted(works) if graph.store.weighted or not w.options.get("weighted")]
        able = able if self.has_goals(graph) else [replace(work, goal=None) for work in able]
        for row in in_turns(graph.store, able, device=self.kind, threads=self.threads, repeats=repeats or self.repeats):
            share = {"of_ceiling": row["rate"] / self.ceiling} if row.get("unit") == "edges/s" else {}
            yield self.on(graph) | row | share

    def has_goals(self, graph: Graph) -> bool:
        """Whether the goals of works are meant for this device and this graph."""
        return self.device is not None and self.device.name == GOAL_DEVICE and graph.label == GOAL_GRAPH

    def on(self, graph: Graph) -> Row:
        """The columns of a bench row that describe its graph."""
        return {"graph": graph.label, "vertices": graph.store.vertices, "stored_edges": graph.store.edges}


class Suite(NamedTuple):
    """An experiment under a name of ``--suite``: what it claims, how it measures, and whether the claim holds.

    ``rows(context)`` yields figures as they are measured: see bench_row.py. ``verdict(rows)`` judges the claim, a
    sentence with a number. ``published``: the figures of others that the claim is about, each with its machine, which
    the verdict names beside this one. ``peers``: the names that --peer may give. ``over``: the column on the plot's
    horizontal axis; without it, bars.
    """

    claim: str
    rows: Callable[[Context], Iterator[Row]]
    verdict: Callable[[list[Row]], Verdict]
    published: tuple[Published, ...] = ()
    peers: tuple[str, ...] = ()
    over: str = ""
