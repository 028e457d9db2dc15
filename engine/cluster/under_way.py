"""Tasks that an executor has been given: handed out, taken in, tried again and cancelled."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Hashable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from csaw.engine.cluster.executor import Executor, WorkerDied
from csaw.partition.errors import CsawError

log = logging.getLogger(__name__)
WAIT_SECONDS = 0.5  # for a task that ends, between looks at the workers
MOST_FAILURES = 2  # of a key, by errors that are none of csaw's

Key = TypeVar("Key", bound=Hashable)


class UnderWay(Generic[Key]):
    """Tasks under way, each for a key of the caller's; several may be for the same one. For one thread.

    ``seconds``: to bring a result once it is there; then its worker has died with it.
    """

    def __init__(self, executor: Executor, seconds: float) -> None:
        self.executor, self.seconds = executor, seconds
        self.tasks: dict[Hashable, Key] = {}
        self.outcomes: SimpleQueue[tuple[Hashable, object]] = SimpleQueue()
        self.failures: Counter[Key] = Counter()

    def __len__(self) -> int:
        return len(self.tasks)

    def number_of(self, key: Key) -> int:
        """Tasks under way for a key."""
        return sum(one == key for one in self.tasks.values())

    def submit(
        self,
        key: Key,
        function: Callable[..., object],
        *arguments: object,
        rather: Collection[str] = (),
        only: str | None = None,
    ) -> None:
        """Have ``function(*arguments)`` called for a key; ``rather`` and ``only`` as of Executor.submit."""
        ended = lambda task, outcome: self.outcomes.put((task, outcome))
        task = self.executor.submit(function, arguments, ended, seconds=self.seconds, rather=rather, only=only)
        self.tasks[task] = key

    def take(self) -> tuple[Key, object] | None:
        """The key and the outcome of a task that has ended; None if none does in a moment."""
        try:
            task, outcome = self.outcomes.get(timeout=WAIT_SECONDS)
        except Empty:
            return None
        return None if task not in self.tasks else (self.tasks.pop(task), outcome)  # others were cancelled

    def may_try_again(self, key: Key, outcome: object, done: str) -> bool:
        """Whether a task that has failed is worth another try: after an error of Python or of a library, which may not
        come again, a few times.

        ``done``: what is done once more, for the log.
        """
        if not isinstance(outcome, Exception) or isinstance(outcome, CsawError | WorkerDied):
            return False
        if self.failures[key] == MOST_FAILURES or not self.executor.is_reached:
            return False
        self.failures[key] += 1
        log.warning("%s again: %s: %s", done, type(outcome).__name__, outcome)
        return True

    def cancel(self, key: Key | None = None) -> None:
        """Let no task of a key begin any more, or none at all."""
        gone = [task for task, one in self.tasks.items() if key is None or one == key]
        for task in gone:
            del self.tasks[task]
        if gone:
            self.executor.cancel(gone)
