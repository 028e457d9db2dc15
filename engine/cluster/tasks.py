"""Units of groups as tasks of a Dask cluster: a few for each worker ahead, until all groups are committed, whatever becomes of the workers."""

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from distributed import Client, Future, KilledWorker

from csaw.engine.cluster.attendance import LOOK_SECONDS, LOST, Attendance, is_reached
from csaw.engine.cluster.drawer import Report, Unable, draw
from csaw.engine.samples.group_writer import GroupWriter
from csaw.partition.errors import ClusterError, CsawError

log = logging.getLogger(__name__)
UNIT_SECONDS = 1.0  # of work in a task
AHEAD = 2  # tasks of a worker: one that it draws, one that it goes on with
SLOW, SLOW_SECONDS = 4.0, 3.0  # times a usual unit, and seconds, after which an idle worker is given the same one
MOST_DEATHS = 3  # of a group alone in its task; each stands for several workers that died with it, as Dask counts
MOST_FAILURES = 2  # of a unit, by errors that are none of csaw's
RESULT_SECONDS = 10.0  # to bring a report, a few hundred bytes; then its worker has died with it
SAFE = "finished groups are safe; --resume completes the rest, on a cluster or on one machine"


@dataclass(eq=False)
class Unit:
    """Groups that are drawn together, and the tasks that do so: two if the first one's worker is slow."""

    groups: Sequence[int]
    deaths: int = 0
    failures: int = 0
    began: float = 0.0
    futures: list[Future] = field(default_factory=list)


class Tasks:
    """Has the missing groups of ``writer`` drawn in the run ``name`` by the workers of ``client``; ``reports`` has the last one of each process.

    ``together``: groups that a worker should be given at a time, however long they take, because it reads its graph from disk again for each unit.
    """

    def __init__(self, client: Client, name: str, writer: GroupWriter, progress: Callable[[int], None] | None, together: int = 1) -> None:  # fmt: skip
        self.client, self.name, self.writer, self.progress, self.together = client, name, writer, progress, together
        self.left = deque(g for g in range(writer.groups) if g not in writer.done)
        self.again: deque[Unit] = deque()
        self.out: dict[Future, Unit] = {}
        self.ended: SimpleQueue[tuple[Future, Any]] = SimpleQueue()
        self.aside: dict[str, Unable] = {}
        self.attendance = Attendance(client, SAFE)
        self.pace = 0.0  # seconds of a group
        self.instances = sum(map(writer.rows, writer.done))
        self.edges = self.dead_ends = 0
        self.reports: dict[str, Report] = {}

    def run(self) -> None:
        """Return when all groups are committed. Raises what a worker raised that no other could help; ClusterError where the cluster is lost."""
        try:
            while self.left or self.again or self.out:
                self._look()
                self._hand_out()
                with suppress(Empty):
                    self._take_in(*self.ended.get(timeout=LOOK_SECONDS / 2))
        finally:
            self._cancel(list(self.out))

    def _look(self) -> None:
        """See which workers there are, and whether one of them can draw."""
        if self.attendance.look() and self.workers and not self.workers - self.aside.keys():
            raise self._none_able()

    @property
    def workers(self) -> set[str]:
        """The addresses of those that are there."""
        return self.attendance.workers

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
        where = {"workers": sorted(self.workers - self.aside.keys()), "allow_other_workers": True} if self.aside else {}
        future = self.client.submit(draw, self.name, unit.groups, pure=False, **where)
        unit.began = time.monotonic()
        unit.futures.append(future)
        self.out[future] = unit
        future.add_done_callback(self._bring)

    def _bring(self, future: Future) -> None:
        """Bring the report of a task that has ended; called in a thread of the client."""
        outcome: Any
        try:
            outcome = future.exception(timeout=RESULT_SECONDS) or future.result(timeout=RESULT_SECONDS)
        except LOST as error:
            outcome = error
        self.ended.put((future, outcome))

    def _overtake(self) -> None:
        """Give the unit that takes longest to an idle worker, too. Both write the same bytes, and the first report counts."""
        limit = max(SLOW_SECONDS, SLOW * self.pace * max((len(unit.groups) for unit in self.out.values()), default=1))
        late = [unit for unit in self.out.values() if len(unit.futures) == 1 and time.monotonic() - unit.began > limit]
        if late:
            self._submit(min(late, key=lambda unit: unit.began))

    def _take_in(self, future: Future, outcome: Any) -> None:
        unit = self.out.pop(future, None)
        if unit is None:
            return  # of a unit that another worker has ended
        unit.futures.remove(future)
        if isinstance(outcome, Report):
            self._done(unit, outcome)
        elif isinstance(outcome, Unable):
            self._set_aside(outcome)
            self._once_more(unit)
        elif isinstance(outcome, KilledWorker):
            self._died(unit, outcome)
        elif isinstance(outcome, LOST) and not isinstance(outcome, CsawError):
            if not is_reached(self.client):
                raise self.attendance.lost()
            self._once_more(unit)
        elif isinstance(outcome, CsawError) or unit.failures == MOST_FAILURES:
            raise outcome
        else:  # of Python or of a library, which may not come again
            unit.failures += 1
            log.warning(
                "groups %d to %d are drawn again: %s: %s",
                unit.groups[0],
                unit.groups[-1],
                type(outcome).__name__,
                outcome,
            )
            self._once_more(unit)

    def _done(self, unit: Unit, report: Report) -> None:
        self._cancel(unit.futures)
        seconds = report.seconds / len(unit.groups)
        self.pace = (self.pace + seconds) / 2 if self.pace else seconds
        self.reports[report.process] = report
        self.edges, self.dead_ends = self.edges + report.edges, self.dead_ends + report.dead_ends
        self.writer.note(unit.groups)
        self.instances += sum(map(self.writer.rows, unit.groups))
        if self.progress:
            self.progress(self.instances)

    def _once_more(self, unit: Unit) -> None:
        if not unit.futures:
            self.again.append(unit)

    def _set_aside(self, unable: Unable) -> None:
        if not unable.alone:
            raise unable.error
        if unable.address not in self.aside:
            self.aside[unable.address] = unable
            log.warning("%s%s", unable, "; other workers take over its work" * bool(self.workers - self.aside.keys()))
        self.attendance.look_soon()

    def _died(self, unit: Unit, error: KilledWorker) -> None:
        """Submit a unit again whose workers died, in halves: should it be what kills them, a single group is found."""
        unit.deaths += 1
        if len(unit.groups) > 1:
            half = len(unit.groups) // 2
            self.again += (Unit(unit.groups[:half]), Unit(unit.groups[half:]))
        elif unit.deaths >= MOST_DEATHS:
            raise ClusterError(
                f"group {unit.groups[0]}: the workers that draw it die, the last one at {error.last_worker.address}; they may need more memory "
                f"than they may take: give them more, or less by --memory or --in-flight; {SAFE}"
            ) from error
        else:
            self._once_more(unit)

    def _cancel(self, futures: list[Future]) -> None:
        for future in list(futures):
            self.out.pop(future, None)
        if futures and is_reached(self.client):
            with suppress(OSError, TimeoutError, RuntimeError):
                self.client.cancel(list(futures), force=True)
