"""Long computations of a measure that go on where they were interrupted: what they have done is kept in a file now and then."""

import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from csaw.partition.arrays.regular import open_regular

log = logging.getLogger(__name__)
SECONDS, SHARE = 10.0, 20  # between writes at least, and times what the last one took
DAMAGED = (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile)
"""What reading a damaged file of NumPy may raise."""


def write(path: Path, arrays: dict[str, Any]) -> None:
    """Write arrays to a file of NumPy; a kill leaves the file of before, or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as file:
            np.savez(file, **arrays)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@dataclass
class Work:
    """One computation. ``done``: what an earlier process has noted of it; empty if nothing. ``path`` None: nothing is kept."""

    path: Path | None
    given: str
    done: dict[str, np.ndarray] = field(default_factory=dict)
    next: float = field(default_factory=lambda: time.monotonic() + SECONDS)

    def note(self, **state: Any) -> None:
        """Keep ``state``, arrays and numbers, if the last time is long enough ago. A disk without room keeps none of it."""
        began = time.monotonic()
        if self.path is None or began < self.next:
            return
        with suppress(OSError):
            write(self.path, state | {"given": np.array(self.given)})
        took = time.monotonic() - began
        self.next = began + max(SECONDS, SHARE * took)

    def parts(self) -> list[np.ndarray]:
        """What ``note_parts`` has kept."""
        return [self.done[str(number)] for number in range(len(self.done))]

    def note_parts(self, parts: list[np.ndarray]) -> None:
        """Keep the results of the first parts."""
        self.note(**{str(number): one for number, one in enumerate(parts)})


@dataclass(frozen=True)
class Unfinished:
    """Where computations of a measure keep what they have done: in files whose names begin with ``place``; None: nowhere."""

    place: Path | None = None

    def work(self, what: str, *given: Any) -> Work:
        """The computation ``what`` of ``given``, numbers and arrays: with the graph and the options that ``place`` stands for, all that its result depends on."""
        if self.place is None:
            return Work(None, "")
        path = self.place.with_name(f"{self.place.name}.{what}.unfinished")
        asked = hashlib.sha256(repr([_said(one) for one in given]).encode()).hexdigest()
        try:
            with os.fdopen(open_regular(path), "rb") as file:
                held = np.load(file, allow_pickle=False)
                done = {name: held[name] for name in held.files}
            if str(done.pop("given")) != asked:
                done = {}
        except DAMAGED:
            done = {}
        if done:
            log.info("%s goes on where it was interrupted", self.place.name.rpartition("-")[0])
        return Work(path, asked, done)

    def files(self) -> Iterator[Path]:
        """All files, with those that a killed process has left half written."""
        if self.place is not None:
            yield from self.place.parent.glob(f"{self.place.name}.*.unfinished*")

    def forget(self) -> None:
        """Remove the files."""
        for path in self.files():
            path.unlink(missing_ok=True)


def _said(one: Any) -> Any:
    return (one.dtype.str, one.shape, hashlib.sha256(one.tobytes()).hexdigest()) if isinstance(one, np.ndarray) else one
