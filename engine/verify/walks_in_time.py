"""Checks that walks in time are walks of this algorithm on this graph: lengths, sources, edges and their times, ends,
and the law of every step by classes of situations.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from csaw.engine.api.algorithm import Walk
from csaw.engine.api.bases import TemporalWalk
from csaw.engine.api.starts import EdgeStarts, SourceKind
from csaw.engine.draws.random import uniform_vertices
from csaw.engine.samples.layouts import Arrays
from csaw.engine.verify.checks import Checks, Subject, statistics
from csaw.engine.verify.course import EDGES, TRANSITIONS
from csaw.engine.verify.statistics import Choices, Laws
from csaw.engine.verify.time_laws import Rule, StartLaw, TimeLaws, TimeRows, follow, standing
from csaw.engine.verify.walks import STEPS_KEPT, WalkTables, one_in
from csaw.partition.base.parallel import go_on
from csaw.partition.base.stages import stage

STANDINGS = ("before all edges of a row", "among the times of a row", "at the time of an edge", "after all edges")
TIES = ("rows without ties", "rows with ties")
READ = ("prev", "source", "depth", "instance", "start_time")
"""What hooks of one's own may read, each a column of a situation."""


@dataclass
class TimedChoices(Choices):
    """Choices that are judged by class, too: by where the time of the walk stands in a row, and by its ties."""

    standing: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def _divisions(self) -> Iterator[tuple[list[str], np.ndarray]]:
        yield from super()._divisions()
        if self.standing.size:
            yield list(STANDINGS), self.standing % 4
            yield list(TIES), self.standing // 4


def rule_of(walk: Walk) -> Rule:
    """Which edges may follow; numbers of options that are not given are not read, but for the start that hooks see."""
    assert isinstance(walk, TemporalWalk)
    window, last, start = (getattr(walk, name, None) for name in ("time_window", "last_time", "start_time"))
    before = 2**63 - 1 if walk.backward else -(2**63)
    strict = getattr(walk, "time_order", "strict") == "strict"
    given = (window or 0, window is not None, last or 0, last is not None)
    return Rule(bool(walk.backward), strict, *given, before if start is None else start, start is not None)


def verify_walks_in_time(subject: Subject, checks: Checks) -> None:
    """Check all walks by the rules, and the choices of some against the law."""
    walk = subject.algorithm
    assert isinstance(walk, Walk)
    walks = _Pass(subject, walk)
    faults, situations, chosen, depth, steps = walks.run()
    checks.count("lengths", faults[0], "walks whose vertices or times do not match their length")
    if walks.start_law is not None:
        walks.start_law.judge(checks)
    elif walks.starts_by_rule:
        checks.count("sources", walks.strayed, "walks that do not start at the requested vertex")
    else:
        checks.not_tested("sources", "no rule determines where these walks start")
    led = type(walk).update is not Walk.update or type(walk).dead_end is not Walk.dead_end
    if led and faults[1]:
        off = f"{faults[1]:,} of {steps:,} steps that follow no edge of their time"
        checks.not_tested("edges", f"{off}, which update or dead_end may take")
    else:
        checks.count("edges", faults[1], f"of {steps:,} steps that follow no edge of their time")
    if walk.by_time:
        checks.count("order", faults[2], f"of {steps:,} steps at a time that may not follow")
        checks.count("ends", faults[3], "walks that end where they could continue")
    if led:
        checks.not_tested("transitions", f"{walk.name()} defines update or dead_end, which are not followed in time")
        return
    laws = walks.laws()
    stands = standing(walks.rows, np.ascontiguousarray(situations[:, 0]), np.ascontiguousarray(situations[:, 1]))
    choices = TimedChoices(situations, chosen, walks.columns, depth, standing=stands)
    with stage(TRANSITIONS):
        statistics(checks, choices, laws, subject.degree, of=steps)


def of_timed_walks(subject: Subject) -> Callable[[Arrays], Iterator[float]]:
    """Return the function that yields the chances of the steps of one walk."""
    assert isinstance(subject.algorithm, Walk)
    walks = _Pass(subject, subject.algorithm)
    laws = walks.laws()
    return lambda arrays: (laws.of(situation).get(place, 1.0) for situation, place in walks.steps(arrays))


class _Pass:
    """Reads the walks of ``subject``."""

    def __init__(self, subject: Subject, walk: Walk) -> None:
        self.subject, self.by_time, self.rule = subject, walk.by_time, rule_of(walk)
        self.rows, self.tables = TimeRows.of(subject.view), WalkTables(subject.samples, subject.watch)
        self.every = max(1, -(-max(self.tables.steps, subject.samples.instances) // STEPS_KEPT))
        reads = () if walk.by_time else subject.reads
        self.columns = ("at", "previous_time", "first", *(name for name in READ if name in reads))
        self.starts_by_rule = subject.starts_at_all or subject.sources is SourceKind.EDGES
        self.start_law: StartLaw | None = None
        if isinstance(walk, EdgeStarts) and walk.starts_by_time:
            self.start_law = StartLaw(subject.view, walk)
        self.strayed = 0

    def laws(self) -> Laws:
        """The laws of single steps."""
        law = TimeLaws(self.subject.view, self.subject.algorithm, self.rows, self.rule, self.columns)
        return Laws(law, lambda rows: self.subject.degree[rows[:, 0]] + 1, self.subject.budget)

    def steps(self, arrays: Arrays) -> Iterator[tuple[np.ndarray, int]]:
        """The situations and the choices of one walk."""
        walks, lengths = self.subject.dense(arrays["walks"]), arrays["lengths"].astype(np.int64)
        times, places = np.ascontiguousarray(arrays["times"]), np.empty(arrays["times"].shape, np.int64)
        follow(self.rows, walks, times, lengths, self.rule, self.by_time, places, np.zeros(4, np.int64))
        situations, chosen, _ = self._choices(walks, times, places, np.zeros(1, np.int64))
        return zip(situations, chosen.tolist(), strict=True)

    def run(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
        """The faults of all walks, by kind; the situations, choices and depths of those that are kept; all steps."""
        faults, kept, steps = np.zeros(4, np.int64), [], 0
        for start, stop in self._ranges():
            arrays = self.subject.samples.group(start, stop)
            self.subject.watch(start, arrays)
            walks, lengths = self.subject.dense(arrays["walks"]), arrays["lengths"].astype(np.int64)
            times, places = np.ascontiguousarray(arrays["times"]), np.empty(arrays["times"].shape, np.int64)
            follow(self.rows, walks, times, lengths, self.rule, self.by_time, places, faults)
            steps += int(lengths.sum())
            instances = np.arange(start, stop)
            if self.start_law is not None:
                self.start_law.add(walks[:, 0], times)
            elif self.starts_by_rule:
                self.strayed += int((walks[:, 0] != self._sources(instances)).sum())
            here = np.flatnonzero(one_in(self.every, instances))
            kept.append(self._choices(walks[here], times[here], places[here], instances[here]))
        situations, chosen, depth = (np.concatenate(each) for each in zip(*kept, strict=True))
        return faults, situations, chosen, depth, steps

    def _ranges(self) -> Iterator[tuple[int, int]]:
        with stage(EDGES, self.subject.samples.instances, "walks") as seen:
            for start, stop in self.tables.ranges():
                go_on()
                yield start, stop
                seen(stop)

    def _sources(self, instances: np.ndarray) -> np.ndarray:
        """Where consecutive instances start: at all vertices in turn, or at the edges that random numbers say."""
        if self.subject.starts_at_all:
            return self.subject.all_sources(instances)
        seed, indptr = np.uint64(self.subject.samples.manifest["request"]["seed"]), self.subject.view.indptr
        edges = uniform_vertices(seed, int(instances[0]), instances.size, 1, int(indptr[-1]))[:, 0]
        return np.searchsorted(indptr, edges, side="right") - 1

    def _choices(
        self, walks: np.ndarray, times: np.ndarray, places: np.ndarray, instances: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        row, step = np.nonzero(places >= -1)
        before = np.maximum(step - 1, 0)
        known = {
            "at": lambda: walks[row, step],
            "previous_time": lambda: np.where(step > 0, times[row, before], self.rule.start),
            "first": lambda: step == 0,
            "prev": lambda: np.where(step > 0, walks[row, before], -1),
            "source": lambda: walks[row, 0],
            "depth": lambda: step,
            "instance": lambda: instances[row],
            "start_time": lambda: np.where(step > 0, times[row, 0], self.rule.start),
        }
        situations = [np.asarray(known[name](), np.int64) for name in self.columns]
        return np.column_stack(situations), places[row, step], step
