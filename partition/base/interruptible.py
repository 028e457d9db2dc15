"""Work that Ctrl-C ends at once, however long a step of it takes: it is done in a thread, and asks now and then whether
anybody still waits for it.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from typing import ParamSpec, TypeVar

NAME = "csaw at work"  # of the thread: the command line does not wait for it
PATIENCE = 0.3  # seconds in which most works end
Given = ParamSpec("Given")
Result = TypeVar("Result")

_left: ContextVar[threading.Event | None] = ContextVar("left", default=None)


class Left(BaseException):
    """Ends a work that nobody waits for any more."""


def interruptible(work: Callable[[], Result]) -> Result:
    """Return what ``work`` returns. An interruption is raised at once; the work ends at its next :func:`go_on`, and
    keeps neither the caller nor the process.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
        return work()
    left, coming = threading.Event(), Future[Result]()

    def do() -> None:
        _left.set(left)
        try:
            coming.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
            coming.set_exception(error)

    thread = threading.Thread(target=copy_context().run, args=(do,), name=NAME, daemon=True)
    thread.start()
    try:
        return coming.result()
    except BaseException:
        left.set()
        thread.join(PATIENCE)
        raise


def go_on() -> None:
    """End the work of this thread where nobody waits for it any more."""
    left = _left.get()
    if left is not None and left.is_set():
        raise Left


def heeding(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """``work`` for threads that do a part of this one's work: it ends where nobody waits for that any more."""
    left = _left.get()
    if left is None:
        return work

    def heard(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        token = _left.set(left)
        try:
            go_on()
            return work(*args, **kwargs)
        finally:
            _left.reset(token)

    return heard
