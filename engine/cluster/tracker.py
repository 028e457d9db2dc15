"""Python's resource tracker beside a cluster on this machine: a process that remembers what workers share, and that
prints tracebacks once another one was killed.

Where it dies, Python begins another, which knows nothing of what the first one remembered and says so for each of it.
Nothing of a run depends on it.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

BEGINS = (
    "ensure_running",
    "_ensure_running_and_write",
)  # of the tracker: what begins its process, in Python 3.11 and in later ones
STDERR = 2


@contextmanager
def silent_tracker() -> Iterator[None]:
    """Let trackers that are begun inside the block write to nowhere, for as long as they live."""
    tracker = getattr(resource_tracker, "_resource_tracker", None)
    held = [name for name in BEGINS if hasattr(tracker, name)]
    for name in held:
        setattr(tracker, name, _silently(tracker, getattr(tracker, name)))
    try:
        yield
    finally:
        with suppress(OSError):
            for name in held[:1]:
                getattr(
                    tracker, name
                )()  # one that died meanwhile is begun here, and not by what Python does at its end
        for name in held:
            delattr(tracker, name)


def _silently(tracker: Any, begin: Callable[..., object]) -> Callable[..., object]:
    def begun(*given: object) -> object:
        if tracker._fd is not None and tracker._check_alive():
            return begin(*given)
        with warnings.catch_warnings(), _to_nowhere():
            warnings.simplefilter("ignore", UserWarning)  # that it died
            return begin(*given)

    return begun


@contextmanager
def _to_nowhere() -> Iterator[None]:
    """Let processes that are begun inside the block inherit a standard error that goes nowhere."""
    kept, nowhere = os.dup(STDERR), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STDERR)
        yield
    finally:
        os.dup2(kept, STDERR)
        os.close(kept)
        os.close(nowhere)
