"""Independent parts of one work, shared by several workers such as GPUs: whoever is idle takes the next part."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from csaw.partition.base.parallel import ordered

Worker = TypeVar("Worker")
Part = TypeVar("Part")
Result = TypeVar("Result")


def on_each(workers: Sequence[Worker], work: Callable[[Worker, int], Result]) -> list[Result]:
    """Call ``work(worker, number)`` of all workers at the same time, each in a thread of its own.

    Returns what they returned, in order.

    A single worker works in this thread. Where some fail, the error of the first of them is raised when all have ended.
    """
    if len(workers) == 1:
        return [work(workers[0], 0)]
    with ThreadPoolExecutor(len(workers)) as threads:
        return list(threads.map(work, workers, range(len(workers))))


def in_order(
    workers: Sequence[Worker], parts: Iterable[Part], work: Callable[[Worker, Part], Result]
) -> Iterator[Result]:
    """``work(worker, part)`` of each part, in the order of ``parts``, whichever worker did it.

    A worker has one part at a time. As many parts as there are workers, and one more, have begun or wait before the
    first of them is taken by the caller. An error of a part is raised in its place, and parts that wait are dropped
    then, as when the caller stops.
    """
    if len(workers) == 1:
        yield from (work(workers[0], part) for part in parts)
        return
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def done(part: Part) -> Result:
        worker = idle.get()  # there are as many threads as workers
        try:
            return work(worker, part)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(len(workers)) as threads:
        yield from ordered((threads.submit(done, part) for part in parts), ahead=len(workers))
