"""Long computations that continue where they were interrupted: their state is saved to a file now and then."""

import hashlib
import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike

from csaw.partition.arrays.files import open_regular
from csaw.partition.base import stages
from csaw.partition.base.cache import drafted, make_folder, written_here

log = logging.getLogger(__name__)
SECONDS, SHARE = 10.0, 20  # between writes at least, and times what the last one took
DAMAGED = (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile)
"""Errors of reading a damaged file of NumPy."""


def write(path: Path, arrays: Mapping[str, ArrayLike]) -> None:
    """Write arrays to a file of NumPy. A kill leaves the earlier file, or none."""
    make_folder(path.parent)
    with written_here(path), drafted(path) as draft, draft.open("xb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read(path: Path) -> dict[str, np.ndarray]:
    """Read the arrays of a file that ``write`` wrote. Raises one of DAMAGED for any other."""
    with os.fdopen(open_regular(path), "rb") as file:
        held = np.load(file, allow_pickle=False)
        return {name: held[name] for name in held.files}


@dataclass
class Work:
    """One computation.

    ``done``: the state that an earlier process has noted; empty if none was. ``path`` None: nothing is kept.
    """

    path: Path | None
    given: str
    done: dict[str, np.ndarray] = field(default_factory=dict)
    next: float = field(default_factory=lambda: time.monotonic() + SECONDS)

    def tell(self, done: int, total: int, what: str) -> None:
        """Say how many of ``what`` are done where progress is shown."""
        stages.tell(done, total, what)

    def note(self, **state: ArrayLike) -> None:
        """Keep ``state``, arrays and numbers, if the last time is long enough ago.

        A disk without room keeps nothing.
        """
        began = time.monotonic()
        if self.path is None or began < self.next:
            return
        with suppress(OSError):
            write(self.path, state | {"given": np.array(self.given)})
        took = time.monotonic() - began
        self.next = began + max(SECONDS, SHARE * took)

    def parts(self) -> list[np.ndarray]:
        """Return the results that ``note_parts`` has kept."""
        return [self.done[str(number)] for number in range(len(self.done))]

    def note_parts(self, parts: list[np.ndarray]) -> None:
        """Keep the results of the first parts."""
        self.note(**{str(number): one for number, one in enumerate(parts)})


@dataclass(frozen=True)
class Unfinished:
    """The files in which computations of a measure keep their state, with names that begin with ``place``.

    ``place`` None: nothing is kept.
    """

    place: Path | None = None

    def work(self, what: str, *given: object) -> Work:
        """Open the computation ``what`` of ``given``, numbers and arrays.

        Beside the graph and the options that ``place`` stands for, its result depends on nothing else.
        """
        if self.place is None:
            return Work(None, "")
        path = self.place.with_name(f"{self.place.name}.{what}.unfinished")
        asked = hashlib.sha256(repr([_said(one) for one in given]).encode()).hexdigest()
        try:
            done = read(path)
            if str(done.pop("given")) != asked:
                done = {}
        except DAMAGED:
            done = {}
        if done:
            log.info("%s continues where it was interrupted", self.place.name.rpartition("-")[0])
        return Work(path, asked, done)

    def files(self) -> Iterator[Path]:
        """Yield all files, with those that a killed process has left half written."""
        if self.place is not None:
            yield from self.place.parent.glob(f"{self.place.name}.*.unfinished*")

    def forget(self) -> None:
        """Remove the files."""
        for path in self.files():
            path.unlink(missing_ok=True)


def _said(one: object) -> object:
    return (one.dtype.str, one.shape, hashlib.sha256(one.tobytes()).hexdigest()) if isinstance(one, np.ndarray) else one
