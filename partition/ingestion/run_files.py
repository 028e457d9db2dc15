"""Files between the passes of an ingest that several processes share: pieces of columns in folders, each of which gets
its name when it is whole.

A run is what one task has read: ids of its own, from 0 on, of both ends of edges, then their columns; beside it are the
ids that these stand for. A dealt run is the same edges by buckets; ``ends`` says where those of each piece begin.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from csaw.partition.arrays.spool import Places, Stored, places_of, shorter
from csaw.partition.base.cache import draft_beside
from csaw.partition.errors import StoreError


def run_folder(folder: str, kind: str, number: int) -> Path:
    """The place of a run: ``kind`` is read, dealt or degrees."""
    return Path(folder) / f"{kind}-{number:06d}"


@contextmanager
def whole_folder(place: Path, scratch: str) -> Iterator[Path]:
    """A folder under a name of its own in ``scratch``, which becomes ``place`` at the end of the block.

    Another process may have been faster: then its folder stays, which has the same bytes.
    """
    draft = draft_beside(place, folder=Path(scratch))
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
            f"{folder}: cannot write temporary files ({error.strerror or error}); make room there, and check "
            "that all workers see the folder under this path"
        ) from error


@contextmanager
def readable_named(file: Path) -> Iterator[None]:
    """Turn what keeps a temporary file from being read into an error that names it."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror or error}; run it again") from error


def read_column(file: Path, dtype: DTypeLike) -> np.ndarray:
    """All numbers of a file."""
    with readable_named(file):
        return np.fromfile(file, dtype)


class RunWriter:
    """Writes pieces to ``folder``: ``append`` each, then ``settle``; used as a context, it closes its file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.sizes = folder, list[int]()
        self.file = (folder / "entries").open("wb")

    def append(self, *columns: np.ndarray) -> None:
        """The next piece: equally long columns."""
        self.sizes.append(columns[0].size)
        for column in columns:
            self.file.write(column.data)

    def settle(self) -> None:
        """No more pieces come."""
        self.file.flush()
        np.array(self.sizes, np.int64).tofile(self.folder / "sizes")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()


class RunReader:
    """Pieces of the runs in some ``folders``, one run after the other, which have columns of the ``dtypes``: an open
    spool, whose files stay as they are.
    """

    def __init__(self, folders: Sequence[Path], dtypes: Sequence[np.dtype]) -> None:
        self.pieces: list[tuple[Stored, ...]] = []
        with ExitStack() as stack:
            for folder in folders:
                with readable_named(folder):
                    handle = os.open(folder / "entries", os.O_RDONLY)
                stack.callback(os.close, handle)
                self._add(handle, read_column(folder / "sizes", np.int64).tolist(), dtypes, os.fstat(handle).st_size)
            self.files = stack.pop_all()

    def _add(self, handle: int, sizes: list[int], dtypes: Sequence[np.dtype], file_bytes: int) -> None:
        start = 0
        for size in sizes:
            piece = []
            for dtype in dtypes:
                piece.append(Stored(handle, start, dtype, size))
                start += size * dtype.itemsize
            self.pieces.append(tuple(piece))
        if start != file_bytes:
            raise shorter()

    @property
    def places(self) -> Places:
        """Where the columns of all pieces are, for kernels that gather parts of them."""
        return places_of(self.pieces)

    def drain(self) -> Iterator[tuple[Stored, ...]]:
        """All pieces; a slice of a column is an array."""
        return iter(self.pieces)

    def let_go(self, size: int) -> None:
        """Nothing: no memory was held."""

    def close(self) -> None:
        """Close all files."""
        self.files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
