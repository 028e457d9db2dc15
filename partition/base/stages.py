"""The stage that a command waits for at this moment: the work says it, and a progress display hears it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

COMPILING = "compiling kernels, once on this machine"
LOADING = "loading the graph"
WRITING = "writing"

Hear = Callable[[str], None]
_begun: list[str] = []  # and not ended, in all threads, in the order in which they began
_hearers: list[Hear] = []


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Say that ``name`` is waited for inside."""
    _begun.append(name)
    _tell()
    try:
        yield
    finally:
        _begun.remove(name)
        _tell()


def current() -> str:
    """The stage that has begun last and not ended; empty where there is none."""
    return next(reversed(_begun), "")


@contextmanager
def hearing(hear: Hear) -> Iterator[None]:
    """Call ``hear`` with the current stage whenever it changes, in the thread in which it does."""
    _hearers.append(hear)
    try:
        yield
    finally:
        _hearers.remove(hear)


def tell(how_far: str) -> None:
    """Say how far a long computation is, until the next stage."""
    for hear in tuple(_hearers):
        hear(how_far)


def _tell() -> None:
    tell(current())
