"""Devices side by side, each in a thread of its own, and what it means when one fails."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, TypeVar

from csaw.engine.backend import Backend
from csaw.engine.schedule.loop import Batches
from csaw.engine.sources import Sources
from csaw.partition.errors import CsawError, DeviceError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class DeviceThread:
    """A device's batches, opened and used in one thread, as a GPU's backend must be.

    ``make_backend`` opens the backend, at once; ``stopped`` says whether a batch of a streamed graph shall end early.
    """

    def __init__(
        self, make_backend: Callable[[], Backend], sources: Sources, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        self.thread = ThreadPoolExecutor(1)
        self.opened = self.thread.submit(lambda: Batches(make_backend(), sources, stopped))

    def do(
        self,
        task: Callable[Concatenate[Batches, Arguments], Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Future[Result]:
        """Begin ``task(batches, *arguments)`` once everything is done that was asked for before."""
        return self.thread.submit(lambda: task(self.opened.result(), *arguments, **named))

    def close(self) -> None:
        """Close the backend, once everything is done that was asked for, and end the thread."""
        closing = self.thread.submit(self._close)
        self.thread.shutdown(wait=False)  # it ends by itself, also where a second Ctrl-C ends the waiting
        closing.result()

    def _close(self) -> None:
        if self.opened.exception() is None:
            self.opened.result().close()


def results_of(futures: Iterable[Future[Result]]) -> list[Result]:
    """What all of them came to, in order; where some failed, the error of the one that made the others give up."""
    futures = list(futures)
    errors = [error for future in futures if (error := future.exception()) is not None]
    if errors:
        raise min(errors, key=gave_up)
    return [future.result() for future in futures]


def gave_up(error: BaseException) -> bool:
    """Whether a device stopped only because another one did not come to where they meet."""
    return any(isinstance(each, threading.BrokenBarrierError) for each in (error, error.__cause__))


def failure(error: Exception, way_out: str) -> DeviceError:
    """The error that tells a user of a GPU's failure; ``way_out`` says what is safe and how to go on."""
    if isinstance(error, MemoryError):
        smaller = "with a smaller --gpu-memory or --batch-size"
        return DeviceError(f"a GPU is out of memory: {error}; {way_out}, {smaller}")
    said: Any = error if isinstance(error, CsawError) else f"a GPU has failed: {error}"
    return DeviceError(f"{said}; {way_out}")
