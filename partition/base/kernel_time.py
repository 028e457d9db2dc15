"""The settings of Numba without which kernels cannot be compiled, and the time in which a run finds or compiles them.

That time is counted wherever it passes, so that the times of other work leave it out. Numba compiles a function when it
is first called, or loads the machine code that it has kept, and tells listeners of it, which compile.py has; CUDA code
says so itself by ``compiles``. Threads overlap, so what counts is the time in which at least one of them is busy with
kernels. Threads that write samples while others draw are told apart, by ``stand_aside``: drawing does not wait for
them.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from operator import add, sub
from typing import Self

from csaw.partition.errors import OptionError


@dataclass(frozen=True)
class Lapse:
    """Seconds of a stretch of time: all of it, and those in which kernels were found or compiled, by threads that draw
    and by any.
    """

    whole: float = 0.0
    drawing: float = 0.0
    anywhere: float = 0.0
    compiling: float = 0.0
    """Part of ``anywhere`` in which machine code was made, not only found."""

    def __add__(self, other: Self) -> "Lapse":
        return Lapse(*map(add, astuple(self), astuple(other)))

    def __sub__(self, other: Self) -> "Lapse":
        return Lapse(*map(sub, astuple(self), astuple(other)))

    @property
    def drawn(self) -> float:
        """Seconds of a stretch of drawing, apart from kernels."""
        return self.whole - self.drawing

    @property
    def rest(self) -> float:
        """Seconds of a stretch in which nothing is drawn, apart from kernels."""
        return self.whole - self.anywhere


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self.began = _now()

    def read(self) -> Lapse:
        """The time since then."""
        return _now() - self.began


class _Busy:
    """Seconds in which at least one thread is inside."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside, self.since, self.before = 0, 0.0, 0.0

    def enter(self) -> None:
        with self.lock:
            self.since = self.since if self.inside else time.perf_counter()
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                self.before += time.perf_counter() - self.since

    @property
    def seconds(self) -> float:
        with self.lock:
            return self.before + (time.perf_counter() - self.since if self.inside else 0.0)


_drawing, _anywhere, _compiling = _Busy(), _Busy(), _Busy()
_thread = threading.local()
_names: Counter[str] = Counter()


def _now() -> Lapse:
    return Lapse(time.perf_counter(), _drawing.seconds, _anywhere.seconds, _compiling.seconds)


def stand_aside() -> None:
    """Count no kernels of this thread as those of threads that draw; for the start of a thread."""
    _thread.aside = True


def compiled() -> Counter[str]:
    """The names of what this process has compiled so far, with numbers of times.

    What is compiled for another function has no entry.
    """
    return Counter(_names)


@contextmanager
def finds() -> Iterator[None]:
    """Count the time inside as that of finding kernels."""
    busy = (_anywhere,) if getattr(_thread, "aside", False) else (_anywhere, _drawing)
    for each in busy:
        each.enter()
    try:
        yield
    finally:
        for each in busy:
            each.leave()


@contextmanager
def compiles(name: str) -> Iterator[None]:
    """Count the time inside as that of compiling ``name``."""
    depth = getattr(_thread, "depth", 0)
    with finds():
        _compiling.enter()
        _thread.depth = depth + 1
        try:
            yield
        finally:
            _thread.depth = depth
            _compiling.leave()
            if not depth:
                _names[name] += 1


DISABLED, THREADS = "NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS"


def refuse_settings() -> None:
    """OptionError for a variable of the environment with which Numba compiles nothing, or fails when it is imported."""
    if os.environ.get(DISABLED, "0") not in ("", "0"):
        raise OptionError(f"{DISABLED}: expected 0, because csaw compiles its kernels; unset it")
    threads = os.environ.get(THREADS)
    if threads is not None and not (threads.isdecimal() and int(threads) > 0):
        raise OptionError(f"{THREADS}: expected a number of threads of at least 1, found {threads[:40]!r}; unset it")
