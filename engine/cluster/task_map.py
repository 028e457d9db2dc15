"""Tasks on plain data by the workers of a Dask cluster, with the results in the order of the tasks, whatever becomes of the workers."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from distributed import Client, Future, KilledWorker

from csaw.engine.cluster.attendance import LOOK_SECONDS, LOST, Attendance, is_reached
from csaw.partition.errors import ClusterError, CsawError

log = logging.getLogger(__name__)
RESULT_SECONDS = 120.0  # to bring a result; then its worker has died with it
AHEAD = 4  # tasks under way for each thread of a worker
MOST_FAILURES = 2  # of a task, by errors that are none of csaw's


class Spread:
    """Does tasks by the workers of ``client``: a function with each of some arguments. Several threads may do so at a time.

    A task whose worker dies is done again by another one. Raises what a task raised, in its turn; ClusterError where the cluster is lost, or where a task kills its workers.
    """

    def __init__(self, client: Client, safe: str) -> None:
        self.client, self.attendance, self.stopped = client, Attendance(client, safe), False
        self.attendance.look()
        self.workers = max(1, len(self.attendance.workers), self.attendance.wanted)
        """How many there are at the begin, or are being started."""

    def __call__(self, function: Callable[..., Any], arguments: Sequence[tuple]) -> Iterator[Any]:
        """``function(*given)`` for each of the ``arguments``, in their order. A few more than there are workers are under way, so that few results wait for their turn."""
        tasks = _Tasks(self.client, function, arguments)
        try:
            for number in range(len(arguments)):
                tasks.submit_to(number + AHEAD * max(self.workers, self.attendance.threads))
                while number not in tasks.results:
                    self.attendance.look()
                    tasks.wait()
                    if self.stopped:
                        raise ClusterError(f"the run is stopped; {self.attendance.safe}")
                yield _checked(tasks.results.pop(number), self.attendance)
        finally:
            tasks.cancel()

    def stop(self) -> None:
        """End what other threads still wait for, at the end of all work or after an error."""
        self.stopped = True


class _Tasks:
    """Tasks that are under way, and the ``results`` by their numbers."""

    def __init__(self, client: Client, function: Callable[..., Any], arguments: Sequence[tuple]) -> None:
        self.client, self.function, self.arguments = client, function, arguments
        self.results: dict[int, Any] = {}
        self.failures = [0] * len(arguments)
        self.out: dict[Future, int] = {}
        self.submitted = 0
        self.ended: SimpleQueue[tuple[Future, Any]] = SimpleQueue()

    def submit_to(self, end: int) -> None:
        """Submit the tasks before number ``end`` that are not yet."""
        for number in range(self.submitted, min(end, len(self.arguments))):
            self._submit(number)
        self.submitted = max(self.submitted, min(end, len(self.arguments)))

    def _submit(self, number: int) -> None:
        future = self.client.submit(self.function, *self.arguments[number], pure=False)
        self.out[future] = number
        future.add_done_callback(self._bring)

    def _bring(self, future: Future) -> None:
        """Bring the result of a task that has ended; called in a thread of the client."""
        try:
            outcome = future.exception(timeout=RESULT_SECONDS) or future.result(timeout=RESULT_SECONDS)
        except LOST as error:
            outcome = error
        self.ended.put((future, outcome))

    def wait(self) -> None:
        """Wait a moment for a task that ends. One that has failed by no fault of its own is done again."""
        with suppress(Empty):
            future, outcome = self.ended.get(timeout=LOOK_SECONDS / 2)
            number = self.out.pop(future)
            again = isinstance(outcome, Exception) and not isinstance(outcome, CsawError | KilledWorker)
            if again and self.failures[number] < MOST_FAILURES and is_reached(self.client):
                self.failures[number] += 1
                log.warning("task %d is done again: %s: %s", number, type(outcome).__name__, outcome)
                self._submit(number)
            else:
                self.results[number] = outcome

    def cancel(self) -> None:
        """Let no task begin any more."""
        if self.out and is_reached(self.client):
            with suppress(OSError, TimeoutError, RuntimeError):
                self.client.cancel(list(self.out), force=True)


def _checked(outcome: Any, attendance: Attendance) -> Any:
    """A result; what stands in its place is raised."""
    if isinstance(outcome, KilledWorker):
        raise ClusterError(
            f"a task kills its workers, the last one at {outcome.last_worker.address}; they may need more memory than there is: "
            f"give them more, or less to a task by --memory; {attendance.safe}"
        ) from outcome
    if isinstance(outcome, LOST) and not isinstance(outcome, CsawError):
        raise attendance.lost() from outcome
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome
