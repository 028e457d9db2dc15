"""A worker's part: it opens a job once, keeps the graph in memory, and draws and commits the units of groups that it is
given.
"""

import logging
import secrets
import socket
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from csaw.engine.cluster.executor import Member, Seat, member_of
from csaw.engine.cluster.recipe import Recipe, device_of
from csaw.engine.plan.plan import Plan
from csaw.engine.plan.rates import available_bytes
from csaw.engine.runs.job import Job, manifest, open_backend, stored_as
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.schedule.schedule import Stopped
from csaw.engine.schedule.targets import batches_of
from csaw.engine.schedule.workers import WRITERS, Totals, Units, draw_and_write, totals_of
from csaw.partition.base.kernel_time import Lapse, Stopwatch, stand_aside
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import BudgetError, CsawError, DeviceError, MissingDependencyError, StoreError

Done = TypeVar("Done")
log = logging.getLogger(__name__)
PARTS = 4  # of a unit, at least: one is written while the next is drawn; but a streamed graph is read again for each
HERE_ALONE: tuple[type[Exception], ...] = (
    StoreError,
    BudgetError,
    DeviceError,
    MissingDependencyError,
    MemoryError,
    OSError,
)
"""Errors that one worker may have where others have none."""


@dataclass(frozen=True)
class Report:
    """A unit that is committed.

    ``totals``, ``bytes_written`` and ``busy_seconds`` are those of the process since it opened the job.
    """

    worker: str
    process: str
    edges: int
    dead_ends: int
    seconds: float
    totals: Totals
    bytes_written: int
    busy_seconds: float


@dataclass(frozen=True)
class Unable:
    """Why a worker cannot draw. ``alone``: others may be able to."""

    worker: str
    address: str
    error: Exception
    alone: bool = True

    def __str__(self) -> str:
        return f"worker {self.worker}: {self.error}"


def writer_of(job: Job, out: str) -> GroupWriter:
    """Make the writer of groups of a job into the store that is begun.

    StoreError where that is of another request, graph or version of draws.
    """
    writer = GroupWriter(out, manifest(job), **stored_as(job))
    writer.join()
    return writer


def groups_at_once(plan: Plan) -> int:
    """Groups that a plan draws at a time."""
    return max(1, plan.at_a_time // plan.request.group_size)


@dataclass
class Drawer:
    """A job that is open: its graph is in memory as far as its plan says."""

    job: Job
    out: str
    process: str = field(default_factory=lambda: f"{socket.gethostname()} {secrets.token_hex(4)}")
    stopped: bool = False
    busy: Lapse = field(default_factory=Lapse)
    units: Units | None = None

    def __post_init__(self) -> None:
        self.writer = writer_of(self.job, self.out)
        self.batches = batches_of(open_backend(self.job), self.job.sources, lambda: self.stopped)
        self.threads = ThreadPoolExecutor(WRITERS, initializer=stand_aside)

    def draw(self, groups: Sequence[int], worker: str) -> Report:
        """Draw and commit some groups."""
        watch = Stopwatch()
        plan = self.job.plan
        most = -(-len(groups) // PARTS) if not plan.residency.streams else len(groups)
        size = min(groups_at_once(plan), most)
        units = self.units = Units(self.writer, groups, size)
        draw_and_write(self.batches, units, self.threads)
        if units.left:
            raise Stopped
        spent = watch.read()
        self.busy += spent
        totals = totals_of(self.batches, self.busy)
        return Report(
            worker,
            self.process,
            units.edges,
            units.dead_ends,
            spent.whole,
            totals,
            self.writer.bytes_written,
            self.busy.whole,
        )

    def stop(self) -> None:
        """End the unit that is drawn, from another thread; its groups that are committed stay."""
        self.stopped = True
        if self.units is not None:
            self.units.stop()

    def close(self) -> None:
        self.threads.shutdown()
        self.batches.close()


class Drawing(Member):
    """A worker's member of a sampling run, which has the recipe of its job. The job is opened with the first unit.

    All work on it is done in one thread, since a GPU's backend belongs to the thread that has opened it; a worker with
    several threads draws one unit at a time.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    def setup(self, seat: Seat) -> None:
        self.worker, self.address = seat.worker, seat.address
        self.says = logging.WARNING if seat.number is None else logging.DEBUG  # the process that leads says it, too
        device = device_of(self.recipe.given.get("device"), seat.number)
        place: Record = {"threads": seat.threads}
        if seat.memory is not None:
            place["memory"] = min(available_bytes(), seat.memory)
        self.place = place if device is None else place | {"device": device}
        self.thread = ThreadPoolExecutor(1)
        self.drawer: Drawer | None = None
        self.stopped = False

    def teardown(self) -> None:
        self.stopped = True
        if (drawer := self.drawer) is not None:
            drawer.stop()
            self.thread.submit(drawer.close)
        self.thread.shutdown(wait=False)

    def plan(self, begun: bool) -> tuple[str, Plan] | Unable:
        """The plan of this worker, and its name; why it has none.

        Nothing of the graph is loaded. ``begun``: compare its request with that of the store.
        """
        return self._tried(lambda: (self.worker, self._plan(begun)))

    def draw(self, groups: Sequence[int]) -> Report | Unable:
        """Draw and commit some groups, or say why this worker cannot. Raises what no worker could help."""
        return self._tried(lambda: self._draw(groups))

    def _tried(self, work: Callable[[], Done]) -> Done | Unable:
        try:
            return self.thread.submit(work).result()
        except HERE_ALONE + _failures() as error:
            self._drop()
            log.log(self.says, "worker %s: %s", self.worker, error)
            said = error if isinstance(error, CsawError) else DeviceError(f"{type(error).__name__}: {error}")
            return Unable(self.worker, self.address, said)
        except (Stopped, RuntimeError) as error:
            if not self.stopped:
                raise
            return Unable(self.worker, self.address, DeviceError(f"stopped: {error}"))

    def _drop(self) -> None:
        if (drawer := self.drawer) is not None:
            self.drawer = None
            self.thread.submit(drawer.close)

    def _job(self) -> Job:
        return self.recipe.there(**self.place)

    def _plan(self, begun: bool) -> Plan:
        job = self._job()
        if begun:
            writer_of(job, self.recipe.out)
        return job.plan

    def _draw(self, groups: Sequence[int]) -> Report:
        if self.drawer is None:
            self.drawer = Drawer(self._job(), self.recipe.out)
            self.drawer.stopped = self.stopped
        return self.drawer.draw(groups, self.worker)


def _failures() -> tuple[type[Exception], ...]:
    """Errors of CUDA, where it is in use."""
    cuda = sys.modules.get("csaw.engine.cuda.backend")
    failures: tuple[type[Exception], ...] = () if cuda is None else cuda.CudaBackend.failures
    return failures


def _run(name: str) -> Drawing:
    found = member_of(name)
    assert isinstance(found, Drawing)
    return found


def draw(name: str, groups: Sequence[int]) -> Report | Unable:
    """The task of drawing some groups in the run ``name``."""
    return _run(name).draw(groups)


def plan(name: str, begun: bool) -> tuple[str, Plan] | Unable:
    """The task of planning the run ``name``, whose store is ``begun`` unless nothing is to be drawn."""
    return _run(name).plan(begun)
