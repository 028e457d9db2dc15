"""Files between the passes of an ingest that several processes share: columns of numbers in folders, each of which gets its name when it is whole.

A run is what one task has read: src and dst, ids of its own from 0 on, weights, and the ids that these stand for. A dealt run is the same edges by buckets:
``entries`` has the columns of each piece one after the other, and ``ends`` where the buckets of each piece begin.
"""

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from csaw.partition.arrays.spool import shorter
from csaw.partition.errors import StoreError


def run_folder(folder: str, kind: str, number: int) -> Path:
    """The place of a run: ``kind`` is read, dealt or degrees."""
    return Path(folder) / f"{kind}-{number:06d}"


@contextmanager
def whole_folder(place: Path, scratch: str) -> Iterator[Path]:
    """A folder under a name of its own in ``scratch``, which becomes ``place`` at the end of the block. Another process may have been faster: then its folder stays, which has the same bytes."""
    draft = Path(scratch) / f".{place.name}-{secrets.token_hex(4)}"
    try:
        with full_disk_named(draft.parent):
            draft.mkdir()
            yield draft
            _rename(draft, place)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _rename(draft: Path, place: Path) -> None:
    try:
        draft.rename(place)
    except OSError:
        if not place.is_dir():
            raise


@contextmanager
def full_disk_named(folder: Path) -> Iterator[None]:
    """Turn what keeps a temporary file from being written into an error that names its folder."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot write temporary files ({error.strerror or error}); make room there, and see that all workers have the folder under this path"
        ) from error


def read_column(file: Path, dtype: Any, first: int = 0, count: int = -1) -> np.ndarray:
    """Numbers of a file, from number ``first`` on; StoreError where it does not have so many."""
    try:
        found = np.fromfile(file, dtype, count, offset=first * np.dtype(dtype).itemsize)
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror or error}; run it again") from error
    if count >= 0 and found.size != count:
        raise shorter()
    return found


class DealtRuns:
    """All dealt runs, open: ``ends`` int64 [pieces, buckets + 1], and the ``places`` of their columns as ``gather`` takes them."""

    def __init__(self, folder: str, runs: Sequence[int], item_bytes: tuple[int, ...]) -> None:
        self.handles: list[int] = []
        places, handles, ends = [], [], []
        try:
            for number in runs:
                place = run_folder(folder, "dealt", number)
                self.handles.append(os.open(place / "entries", os.O_RDONLY))
                own = np.load(place / "ends.npy")
                sizes = own[:, -1]
                at = np.cumsum(sizes * sum(item_bytes)) - sizes * sum(item_bytes)
                places.append(np.array([at + sizes * sum(item_bytes[:k]) for k in range(len(item_bytes))]))
                handles.append(np.full((len(item_bytes), len(own)), self.handles[-1], np.int32))
                ends.append(own)
        except OSError as error:
            self.close()
            raise StoreError(f"{folder}: a temporary file cannot be read ({error.strerror}); run it again") from error
        self.ends = np.concatenate(ends)
        self.places = np.concatenate(places, axis=1), np.concatenate(handles, axis=1)

    def sources(self, begin: int, end: int, dtype: np.dtype) -> Iterator[np.ndarray]:
        """The vertices that own the entries of the buckets begin .. end - 1, a piece after the other."""
        for place, handle, ends in zip(self.places[0][0], self.places[1][0], self.ends, strict=True):
            size = int(ends[end] - ends[begin]) * dtype.itemsize
            found = np.frombuffer(os.pread(handle, size, int(place + ends[begin] * dtype.itemsize)), dtype)
            if found.nbytes != size:
                raise shorter()
            yield found

    def close(self) -> None:
        """Close all files."""
        for handle in self.handles:
            os.close(handle)
        self.handles = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
