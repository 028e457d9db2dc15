"""The stages of a command, one after the other or one inside another: the work says which has begun and how far it is,
and what shows progress hears it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, Self, TypeVar

COMPILING = "compiling kernels (first use of this kind of run, kept for later)"
READING, NUMBERING, SORTING = "reading", "numbering vertices", "sorting edges"
PARTITIONING, REWRITING = "cutting the graph", "writing partitions"
LOADING = "loading the graph"
SAMPLING = "sampling"
WRITING = "writing"
EDGES = "edges"


class Stage:
    """Something that is waited for inside ``with``.

    ``done`` of ``total`` units were counted so far, a ``total`` of 0 is not known. ``seconds``: how long, without the
    stages inside.
    """

    def __init__(self, name: str, total: int = 0, unit: str = "") -> None:
        self.begin(name, total, unit)

    def begin(self, name: str, total: int = 0, unit: str = "") -> None:
        """Go over to something else, which has a count and a time of its own."""
        _forget_ended(self)
        self.name, self.total, self.unit, self.done = name, total, unit, 0
        self._before, self._since = 0.0, time.monotonic() if self is current() else None
        if self._since is not None:
            _tell()

    def __call__(self, done: int, total: int | None = None) -> None:
        """Say that ``done`` units are done."""
        _forget_ended(self)
        self.done = done
        if total is not None:
            self.total = total
        if self is current():
            _tell()

    @property
    def heading(self) -> str:
        """Its name, with its number in the course that it belongs to."""
        number, of = self.number
        return f"{of.word} {number} of {of.of}: {self.name}" if of else self.name

    @property
    def number(self) -> "tuple[int, _Course | None]":
        """Its number in the course that it belongs to; 0 where there is none."""
        return next(((number, one) for one in reversed(_courses) if (number := one.number_of(self))), (0, None))

    @property
    def seconds(self) -> float:
        return self._before + (0.0 if self._since is None else time.monotonic() - self._since)

    def __enter__(self) -> Self:
        if not _unseen.get():
            _change(lambda: _begun.append(self))
        return self

    def __exit__(self, *_: object) -> None:
        if self in _begun:
            _change(lambda: _end(self))

    def _go(self) -> None:
        self._since = time.monotonic()

    def _rest(self) -> None:
        self._before, self._since = self.seconds, None


Hear = Callable[[Stage], None]
Given = ParamSpec("Given")
Result = TypeVar("Result")
_begun: list[Stage] = []  # and not ended, in all threads, in the order in which they began
_ended: list[Stage] = []  # the last one, where the command itself is an earlier part of the same course
_hearers: list[Hear] = []
_courses: list["_Course"] = []
_unseen: ContextVar[bool] = ContextVar("unseen", default=False)


class _Course:
    """Stages that follow each other: their names; or how many they are, all of them parts of the command itself, and
    the ``number`` of the one that is under way. Each of those of one course may be another one.
    """

    def __init__(self, word: str, names: tuple[str, ...], of: int) -> None:
        self.word, self.names, self.number = word, names, 0
        outer = _courses[-1] if _courses and not names and not _courses[-1].names else None
        self.before: int = 0 if outer is None else (outer.number - 1) * of
        self.of: int = of if outer is None else outer.of * of

    def number_of(self, stage: Stage) -> int:
        """The number of a stage, from 1 on; 0 where it is none of these, or the only one."""
        if self.of < 2:
            return 0
        if self.names:
            return self.names.index(stage.name) + 1 if stage.name in self.names else 0
        return self.before + self.number if _begun[:1] == [stage] else 0


@contextmanager
def stage(name: str, total: int = 0, unit: str = "") -> Iterator[Stage]:
    """Say that ``name`` is waited for inside, and count it as :class:`Stage` does."""
    with Stage(name, total, unit) as begun:
        yield begun


@contextmanager
def course(*names: str, word: str = "step", of: int = 0) -> Iterator[None]:
    """Number the stages inside: those of these ``names``, in this order; or ``of`` others, as :func:`step` says."""
    entered = _Course(word, names, of or len(names))
    _courses.append(entered)
    try:
        yield
    finally:
        _courses.remove(entered)


def step(number: int) -> None:
    """Say which stage of a course without names begins, from 1 on."""
    if _courses:
        _courses[-1].number = number


def current() -> Stage | None:
    """The stage that has begun last and not ended; None where there is none.

    After a part of a course, this is no earlier part: the last one stays until the next one begins.
    """
    return next(reversed(_begun[:1] + _ended if len(_begun) == 1 else _begun), None)


@contextmanager
def hearing(hear: Hear) -> Iterator[None]:
    """Call ``hear`` with the current stage whenever another one begins or its count changes, in the thread in which it
    does.
    """
    _hearers.append(hear)
    try:
        yield
    finally:
        _hearers.remove(hear)


def unseen(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """``work`` for a thread beside the one whose stages are shown: its own are not."""

    def done(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        token = _unseen.set(True)
        try:
            return work(*args, **kwargs)
        finally:
            _unseen.reset(token)

    return done


def tell(done: int, total: int, unit: str) -> None:
    """Say how far the current stage is."""
    now = current()
    if now is not None and not _unseen.get():
        now.unit = unit
        now(done, total)


def _end(stage: Stage) -> None:
    _begun.remove(stage)
    number, of = stage.number
    if len(_begun) == 1 and of is not None and of.names and 0 < of.number_of(_begun[0]) < number:
        _ended[:] = [stage]
    elif not _begun:
        _ended.clear()


def _forget_ended(stage: Stage) -> None:
    if _ended and _begun[:1] == [stage]:
        _change(_ended.clear)


def _change(change: Callable[[], None]) -> None:
    before = current()
    change()
    now = current()
    if now is before:
        return
    if before is not None:
        before._rest()
    if now is not None:
        now._go()
    _tell()


def _tell() -> None:
    now = current()
    if now is None:
        return
    for hear in tuple(_hearers):
        hear(now)
