"""Units of groups as tasks of a cluster: a few for each worker ahead, until all groups are committed, whatever becomes
of the workers.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from csaw.engine.cluster.drawer import Report, Unable, draw
from csaw.engine.cluster.executor import Executor, ResultLost, WorkerDied
from csaw.engine.cluster.under_way import UnderWay
from csaw.engine.samples.group_writer import GroupWriter
from csaw.partition.errors import ClusterError, CsawError

log = logging.getLogger(__name__)
UNIT_SECONDS = 1.0  # of work in a task
AHEAD = 2  # tasks of a worker: one that it draws, one that it goes on with
SLOW, SLOW_SECONDS = 4.0, 3.0  # times a usual unit, and seconds, after which an idle worker is given the same one
MOST_DEATHS = 3  # of a group alone in its task; each stands for several workers that died with it, as Dask counts
RESULT_SECONDS = 10.0  # to bring a report, a few hundred bytes; then its worker has died with it
SAFE = "finished groups are safe; --resume completes the rest, on a cluster or on one machine"


@dataclass(eq=False)
class Unit:
    """Groups that are drawn together, by one task, or by two if the first one's worker is slow."""

    groups: Sequence[int]
    deaths: int = 0
    began: float = 0.0


class Tasks:
    """Has the workers of an executor draw the missing groups of ``writer`` in the run ``name``.

    ``reports`` has the last report of each process.

    ``together``: groups that a worker should be given at a time, however long they take, because it reads its graph
    from disk again for each unit.
    """

    def __init__(
        self,
        executor: Executor,
        name: str,
        writer: GroupWriter,
        progress: Callable[[int], None] | None,
        together: int = 1,
    ) -> None:
        self.executor, self.name, self.writer, self.progress, self.together = executor, name, writer, progress, together
        self.left = deque(g for g in range(writer.groups) if g not in writer.done)
        self.again: deque[Unit] = deque()
        self.out: UnderWay[Unit] = UnderWay(executor, RESULT_SECONDS)
        self.aside: dict[str, Unable] = {}
        self.pace = 0.0  # seconds of a group
        self.instances = sum(map(writer.rows, writer.done))
        self.edges = self.dead_ends = 0
        self.reports: dict[str, Report] = {}

    def run(self) -> None:
        """Return when all groups are committed.

        Raises what a worker raised that no other could help; ClusterError where the cluster is lost.
        """
        try:
            while self.left or self.again or self.out:
                self._look()
                self._hand_out()
                if (taken := self.out.take()) is not None:
                    self._take_in(*taken)
        finally:
            self.out.cancel()

    def _look(self) -> None:
        """See which workers there are, and whether one of them can draw."""
        if self.executor.look() and self.workers and not self.workers - self.aside.keys():
            raise self._none_able()

    @property
    def workers(self) -> set[str]:
        """The addresses of those that are there."""
        return set(self.executor.workers)

    def _none_able(self) -> CsawError:
        """The error of all workers: that of the first one, with its name."""
        said = [unable for address, unable in self.aside.items() if address in self.workers]
        error = said[0].error
        others = f"; {len(said) - 1} more failed, too" * (len(said) > 1)
        kind = type(error) if isinstance(error, CsawError) else ClusterError
        return kind(f"{said[0]}{others}" + f"; {SAFE}" * ("--resume" not in str(error)))

    def _hand_out(self) -> None:
        able = self.workers - self.aside.keys()
        while (self.again or self.left) and len(self.out) < AHEAD * len(able):
            self._submit(self.again.popleft() if self.again else Unit(self._next_groups(len(able))))
        if not (self.again or self.left) and len(self.out) < len(able):
            self._overtake()

    def _next_groups(self, workers: int) -> list[int]:
        """The next groups, of about a second; fewer towards the end, so that all workers end together."""
        most = int(UNIT_SECONDS / self.pace) if self.pace else 1
        size = max(1, min(most, len(self.left) // (AHEAD * workers)), min(self.together, -(-len(self.left) // workers)))
        return [self.left.popleft() for _ in range(min(size, len(self.left)))]

    def _submit(self, unit: Unit) -> None:
        able = self.workers - self.aside.keys() if self.aside else ()
        unit.began = time.monotonic()
        self.out.submit(unit, draw, self.name, unit.groups, rather=able)

    def _overtake(self) -> None:
        """Give the unit that takes longest to an idle worker, too.

        Both write the same bytes, and the first report counts.
        """
        units = list(self.out.tasks.values())
        limit = max(SLOW_SECONDS, SLOW * self.pace * max((len(unit.groups) for unit in units), default=1))
        late = [unit for unit in units if self.out.number_of(unit) == 1 and time.monotonic() - unit.began > limit]
        if late:
            self._submit(min(late, key=lambda unit: unit.began))

    def _take_in(self, unit: Unit, outcome: object) -> None:
        if isinstance(outcome, Report):
            self._done(unit, outcome)
        elif isinstance(outcome, Unable):
            self._set_aside(outcome)
            self._once_more(unit)
        elif isinstance(outcome, WorkerDied):
            self._died(unit, outcome)
        elif isinstance(outcome, ResultLost):
            if not self.executor.is_reached:
                raise self.executor.lost()
            self._once_more(unit)
        elif self.out.may_try_again(unit, outcome, f"groups {unit.groups[0]} to {unit.groups[-1]} are drawn"):
            self._once_more(unit)
        else:
            assert isinstance(outcome, BaseException)
            raise outcome

    def _done(self, unit: Unit, report: Report) -> None:
        self.out.cancel(unit)
        seconds = report.seconds / len(unit.groups)
        self.pace = (self.pace + seconds) / 2 if self.pace else seconds
        self.reports[report.process] = report
        self.edges, self.dead_ends = self.edges + report.edges, self.dead_ends + report.dead_ends
        self.writer.note(unit.groups)
        self.instances += sum(map(self.writer.rows, unit.groups))
        if self.progress:
            self.progress(self.instances)

    def _once_more(self, unit: Unit) -> None:
        if not self.out.number_of(unit):
            self.again.append(unit)

    def _set_aside(self, unable: Unable) -> None:
        if not unable.alone:
            raise unable.error
        if unable.address not in self.aside:
            self.aside[unable.address] = unable
            if self.workers - self.aside.keys():  # otherwise the error that ends the run says it
                log.warning("%s; other workers take over its work", unable)
        self.executor.look_soon()

    def _died(self, unit: Unit, error: WorkerDied) -> None:
        """Submit a unit again whose workers died, in halves: should it be what kills them, a single group is found."""
        unit.deaths += 1
        if len(unit.groups) > 1:
            half = len(unit.groups) // 2
            self.again += (Unit(unit.groups[:half]), Unit(unit.groups[half:]))
        elif unit.deaths >= MOST_DEATHS:
            raise ClusterError(
                f"group {unit.groups[0]}: the workers that draw it die, the last one at {error.address}; they may need "
                "more memory "
                f"than they may take: give them more, or less by --memory or --in-flight; {SAFE}"
            ) from error
        else:
            self._once_more(unit)
