"""Turns of the scale-out suite: the same sample by one process, and by workers that do well, die, or fail.

Each is measured in wall time and in seconds of processors.
"""

import logging
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from csaw.engine.bench.bench_row import Row
from csaw.engine.bench.work import Options, Work

if TYPE_CHECKING:
    from distributed import Client


TASKS = 200  # without work, handed out one after the other
SECONDS_TO_COME_BACK = 60


class Turn(NamedTuple):
    """One run: its seconds, those of the processors of all its processes, and the edges of the sample."""

    seconds: float
    processors: float
    edges: int


@dataclass
class Workers:
    """Worker processes on this machine with one thread each, and the sample that they draw into ``folder``."""

    client: "Client"
    graph: Path
    folder: Path
    work: Work

    @property
    def address(self) -> str:
        return str(self.client.scheduler.address)

    @property
    def wanted(self) -> Options:
        """The options of the sample; one thread for each process."""
        options = {"instances": self.work.instances, "device": "cpu", "threads": 1}
        return options | self.work.options

    def alone(self) -> Turn:
        """The sample by this process, with one thread that draws."""
        from csaw.engine.runs.execute import execute
        from csaw.engine.runs.job import prepare

        return self._timed(
            lambda out: execute(prepare(self.graph, self.work.algo, **self.wanted), out), time.process_time
        )

    def together(self, half_way: Callable[[], None] = lambda: None) -> Turn:
        """The sample by the workers. ``half_way`` is called once, when half of it is drawn."""
        from csaw.engine.cluster.dask_run import sample_on_cluster

        moments = [self.work.instances // 2]

        def progress(done: int) -> None:
            if moments and done >= moments[0]:
                moments.clear()
                half_way()

        def draw(out: Path) -> Row:
            return sample_on_cluster(
                self.graph, out, self.work.algo, cluster=self.address, progress=progress, **self.wanted
            )

        return self._timed(draw, self._processors)

    def with_a_death(self) -> Turn:
        """Draw the sample while one of the workers is killed half-way; Dask starts another one in its place.

        Its seconds of processors leave out those of the dead.
        """
        count = len(self.client.nthreads())
        turn = self.together(lambda: os.kill(min(self.client.run(os.getpid).values()), signal.SIGKILL))
        self.client.wait_for_workers(count, timeout=SECONDS_TO_COME_BACK)
        return turn

    def with_a_failure(self) -> Turn:
        """Draw the sample while one task of one worker fails at its end, so that all of it is drawn again."""
        return self.together(lambda: self.client.run(fail_once, workers=[min(self.client.nthreads())]))

    def task_seconds(self) -> tuple[float, float]:
        """Mean seconds of a task without work, from its handing out to its report.

        Of the clock, and of the processors of all processes.
        """
        from csaw.engine.cluster.clusters import Cluster
        from csaw.engine.cluster.dask_executor import DaskExecutor
        from csaw.engine.cluster.dask_run import recipe_of
        from csaw.engine.cluster.drawer import Drawing, draw
        from csaw.engine.cluster.executor import Spread
        from csaw.engine.runs.job import manifest, stored_as
        from csaw.engine.samples.writer import SampleWriter

        where, out = Cluster.of(self.address), self.folder / "tasks.zarr"
        executor = DaskExecutor(self.client, "", local=False)
        recipe = recipe_of(where, self.graph, out, self.work.algo, self.wanted, False)
        job = recipe.here()
        with (
            SampleWriter(out, manifest(job), overwrite=True, **stored_as(job)),
            executor.joined(Drawing(recipe)) as name,
        ):
            next(Spread(executor)(draw, [(name, [0])]))  # opens the job
            processors, clock = self._processors(), time.perf_counter()
            for _ in range(TASKS):
                next(Spread(executor)(draw, [(name, [])]))
            seconds, spent = time.perf_counter() - clock, self._processors() - processors
        shutil.rmtree(f"{out}.partial", ignore_errors=True)
        return seconds / TASKS, spent / TASKS

    def _timed(self, draw: Callable[[Path], Row], processors: Callable[[], float]) -> Turn:
        out = self.folder / "walks.zarr"
        before, clock = processors(), time.perf_counter()
        results = draw(out)
        seconds = time.perf_counter() - clock
        spent = processors() - before
        shutil.rmtree(out)
        return Turn(seconds, spent, results["sampled_edges"])

    def _processors(self) -> float:
        """Seconds of processors that this process, which schedules and hands out, and the workers have taken."""
        return time.process_time() + sum(self.client.run(time.process_time).values())


def fail_once() -> None:
    """Make the next task of this process fail when it has drawn its groups."""
    from csaw.engine.cluster.drawer import Drawer

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # its traceback is no news
    draw = Drawer.draw

    def failing(self: Drawer, groups: Sequence[int], worker: str) -> None:
        patched.stop()
        draw(self, groups, worker)
        raise RuntimeError("the benchmark lets this task fail")

    patched = patch.object(Drawer, "draw", failing)
    patched.start()


@contextmanager
def started(count: int, graph: Path, folder: Path, work: Work) -> Iterator[Workers]:
    """``count`` workers, stopped at the end.

    MissingDependencyError without Dask, ClusterError where they do not start.
    """
    from csaw.engine.cluster.clusters import Cluster, connected

    with connected(Cluster.of(f"local:{count}")) as client:
        client.wait_for_workers(count)
        yield Workers(client, graph, folder, work)
