"""Tasks on plain data by the workers of a cluster.

Results come in the order of the tasks, whatever becomes of the workers.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from csaw.engine.cluster.executor import Executor, ResultLost, WorkerDied
from csaw.engine.cluster.under_way import UnderWay
from csaw.partition.errors import ClusterError

RESULT_SECONDS = 120.0  # to bring a result
AHEAD = 4  # tasks under way for each thread of a worker


class Spread:
    """Does tasks by the workers of an executor: a function with each of some arguments.

    Several threads may do so at a time.

    A task whose worker dies is done again by another one. Raises what a task raised, in its turn; ClusterError where
    the cluster is lost, or where a task kills its workers.
    """

    def __init__(self, executor: Executor) -> None:
        self.executor, self.stopped = executor, False
        self.workers = max(1, len(executor.workers), executor.wanted)
        """How many there are at the begin, or are being started."""

    def __call__(self, function: Callable[..., object], arguments: Sequence[tuple[object, ...]]) -> Iterator[Any]:
        """``function(*given)`` for each of the ``arguments``, in their order.

        A few more than there are workers are under way, so that few results wait for their turn.
        """
        tasks: UnderWay[int] = UnderWay(self.executor, RESULT_SECONDS)
        results: dict[int, object] = {}
        submitted = 0
        try:
            for number in range(len(arguments)):
                end = min(number + AHEAD * max(self.workers, self.executor.threads), len(arguments))
                for following in range(submitted, end):
                    tasks.submit(following, function, *arguments[following])
                submitted = max(submitted, end)
                while number not in results:
                    self.executor.look()
                    if (taken := tasks.take()) is not None:
                        done, outcome = taken
                        if tasks.may_try_again(done, outcome, f"task {done} is done"):
                            tasks.submit(done, function, *arguments[done])
                        else:
                            results[done] = outcome
                    if self.stopped:
                        raise ClusterError(f"the run is stopped; {self.executor.safe}")
                yield self._checked(results.pop(number))
        finally:
            tasks.cancel()

    def stop(self) -> None:
        """End what other threads still wait for, at the end of all work or after an error."""
        self.stopped = True

    def _checked(self, outcome: object) -> Any:
        """A result; what stands in its place is raised."""
        if isinstance(outcome, WorkerDied):
            raise ClusterError(
                f"a task kills its workers, the last one at {outcome.address}; they may need more memory than there "
                f"is: give them more, or less to a task by --memory; {self.executor.safe}"
            ) from outcome
        if isinstance(outcome, ResultLost):
            raise self.executor.lost() from outcome
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome
