"""Devices in parallel, each in a separate thread, and the errors of a device that fails."""

import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Concatenate, ParamSpec, Self, TypeVar

from csaw.engine.schedule.backend import Backend
from csaw.engine.schedule.batch_loop import Batches, FinishedBatch
from csaw.engine.schedule.targets import batches_of
from csaw.engine.sources.sources import Sources
from csaw.partition.errors import CsawError, DeviceError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _draw(batches: Batches, first: int, last: int) -> list[FinishedBatch]:
    return batches.draw(first, last)


class DeviceThread:
    """The batches of one device, opened and used in a single thread, as the backend of a GPU requires.

    ``make_backend`` opens the backend; the thread calls it at once. ``stopped`` returns True when a batch of a streamed
    graph should end early.
    """

    def __init__(
        self, make_backend: Callable[[], Backend], sources: Sources, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.thread = ThreadPoolExecutor(1)
        self.opened = self.thread.submit(lambda: batches_of(make_backend(), sources, stopped))

    def do(
        self,
        task: Callable[Concatenate[Batches, Arguments], Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Future[Result]:
        """Queue ``task(batches, *arguments)`` behind earlier tasks and return its future."""
        return self.thread.submit(lambda: task(self.opened.result(), *arguments, **named))

    def hurry(self) -> None:
        """Let the batch under way end early; its samples are not to be used, and no other can be drawn."""
        if self.opened.done() and self.opened.exception() is None:
            self.opened.result().backend.stop.set()

    def close(self) -> None:
        """Close the backend when all queued tasks are done, and end the thread."""
        closing = self.thread.submit(self._close)
        self.thread.shutdown(wait=False)  # the thread ends by itself, even if a second Ctrl-C ends the waiting
        closing.result()

    def _close(self) -> None:
        if self.opened.exception() is None:
            self.opened.result().close()


class DeviceThreads:
    """Devices that draw spans of instances side by side, each in a thread of its own, until they are closed.

    ``backends``: a function for each device, which opens its backend in the device's thread.
    """

    def __init__(self, backends: Iterable[Callable[[], Backend]], sources: Sources) -> None:
        self.stopping = threading.Event()
        self.devices: list[DeviceThread] = []
        with ExitStack() as stack:
            stack.callback(self.close)
            for make_backend in backends:
                self.devices.append(DeviceThread(make_backend, sources, self.stopping.is_set))
            results_of([device.opened for device in self.devices])
            stack.pop_all()

    def draw(
        self, spans: Iterator[tuple[int, int]], task: Callable[[Batches, int, int], list[FinishedBatch]] = _draw
    ) -> Generator[FinishedBatch, None, None]:
        """Draw the spans on the devices in turn, and yield the batches in order.

        ``task`` draws a span in a device's thread.

        A device draws its next span while the caller has its last one, and no further ahead: its memory holds two at a
        time, as when a store is written. What is under way when the generator is closed is drawn to its end, for
        nobody, unless the devices are closed too.
        """
        under_way = deque((device, device.do(task, *span)) for device, span in zip(self.devices, spans, strict=False))
        try:
            while under_way:
                device, future = under_way.popleft()
                drawn = future.result()
                if span := next(spans, None):
                    under_way.append((device, device.do(task, *span)))
                yield from drawn
        finally:
            for _, future in under_way:
                future.cancel()

    def close(self) -> None:
        """End what is under way, and give back the devices, their threads and their memory."""
        self.stopping.set()
        with ExitStack() as stack:
            for device in self.devices:
                device.hurry()
                stack.callback(device.close)
            self.devices = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def aside(close: Callable[[], object]) -> None:
    """Call ``close`` in a thread of its own, for an object that is dropped: that happens in the middle of anything,
    where this thread may hold a lock for which closing waits.
    """
    start_new_thread(_closed, (close,))  # takes no lock, which threading.Thread does


def _closed(close: Callable[[], object]) -> None:
    with suppress(RuntimeError):  # the interpreter is ending, and with it all threads
        close()


def results_of(futures: Iterable[Future[Result]]) -> list[Result]:
    """The results of all ``futures``, in order.

    Where some failed, the error of the one that made the others give up is raised.
    """
    futures = list(futures)
    errors = [error for future in futures if (error := future.exception()) is not None]
    if errors:
        raise min(errors, key=gave_up)
    return [future.result() for future in futures]


def gave_up(error: BaseException) -> bool:
    """Whether a device stopped only because another one did not reach the point where they wait for each other."""
    return any(isinstance(each, threading.BrokenBarrierError) for each in (error, error.__cause__))


def failure(error: Exception, way_out: str) -> DeviceError:
    """The error for users about a GPU that failed; ``way_out`` says which samples are safe and how to go on."""
    if isinstance(error, MemoryError):
        smaller = "with a smaller --gpu-memory or --in-flight"
        return DeviceError(f"a GPU is out of memory: {error}; {way_out}, {smaller}")
    said: object = error if isinstance(error, CsawError) else f"a GPU has failed: {error}"
    return DeviceError(f"{said}; {way_out}")
