"""Samples on disk."""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from io import FileIO
from operator import attrgetter
from pathlib import Path
from threading import Lock

import numpy as np

from csaw.engine.samples import check, files
from csaw.engine.samples.array import Array
from csaw.engine.samples.check import array_of, check_file, not_as_written
from csaw.engine.samples.files import AGAIN
from csaw.engine.samples.format import chunk_name
from csaw.engine.samples.layouts import Sizes
from csaw.engine.samples.results import REPLACES, RESULTS, results_of
from csaw.engine.samples.sizes import SIZES
from csaw.engine.samples.source import Held
from csaw.partition.arrays.opened_again import opened_again
from csaw.partition.arrays.regular import Identity, identity_of, open_regular
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import StoreError

# Arrays of a finished sample store: read when sliced, each file checked when it is first read.


class Rows(Array):
    """An array on disk; its first axis is cut into uncompressed chunk files, whose SHA-256 are in ``checksums``.

    Slicing it reads and checks files.
    """

    def __init__(self, store: Path, name: str, checksums: dict[str, str]):
        check_file(store, f"{name}/zarr.json", checksums)
        self.store, self.name = store, name
        shape, dtype, self._chunk = array_of(store / name / "zarr.json")
        super().__init__(shape, dtype)
        self._checksums, self._intact = checksums, dict[int, Identity]()  # of the chunks' files that were checked
        self._guard, self._checking = Lock(), dict[int, Lock]()

    def __getstate__(self) -> Record:
        """What is pickled of it; each file is checked again where it is unpickled."""
        return vars(self) | {"store": self.store.absolute(), "_guard": None, "_checking": {}, "_intact": {}}

    def __setstate__(self, state: Record) -> None:
        self.__dict__.update(state, _guard=Lock())

    def trust(self) -> None:
        """Read files without comparing them again: the caller has just compared all of them with their checksums."""
        for index in range(self.chunks):
            with suppress(OSError):  # left to the reader
                self._intact[index] = identity_of(os.stat(self.store / self._file(index)))

    @property
    def stored_bytes(self) -> int:
        """Bytes of its chunk files, of which the last is padded."""
        return self.chunks * self._chunk_bytes

    @property
    def _chunk_bytes(self) -> int:
        return math.prod(self._chunk) * self.dtype.itemsize

    @property
    def chunks(self) -> int:
        return -(-self.shape[0] // self._chunk[0]) if all(self.shape) else 0

    def check(self, index: int) -> None:
        """Compare a chunk's file with its checksum, unless this has been done.

        Of several threads that ask, one does it and the others wait.
        """
        with self._opened(index):
            pass

    def _compare(self, index: int, identity: Identity) -> None:
        """Compare the file with this identity, unless this has been done: another one may have its name since then."""
        if self._intact.get(index) == identity:
            return
        with self._guard:
            checking = self._checking.setdefault(index, Lock())
        with checking:
            if self._intact.get(index) != identity:
                check_file(self.store, self._file(index), self._checksums, self._chunk_bytes)
                self._intact[index] = identity

    def _file(self, index: int) -> str:
        return f"{self.name}/{chunk_name(index, self.ndim)}"

    def _range(self, start: int, stop: int) -> np.ndarray:
        out = np.empty((stop - start, *self.shape[1:]), self.dtype)
        size, at = self._chunk[0], start
        while out.size and at < stop:
            end = min(stop, (at // size + 1) * size)
            self._read(at // size, at % size, out[at - start : end - start])
            at = end
        return out

    def _gather(self, rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), *self.shape[1:]), self.dtype)
        chunks = rows // self._chunk[0]
        for chunk in np.unique(chunks) if out.size else ():
            here = chunks == chunk
            out[here] = self._mapped(int(chunk))[rows[here] % self._chunk[0]]
        return out

    def _read(self, index: int, row: int, out: np.ndarray) -> None:
        """Rows of a chunk, copied: a file mapped into memory costs several threads more, which wait for each other at
        every new page.
        """
        place = row * math.prod(self._chunk[1:]) * self.dtype.itemsize
        with self._opened(index) as file:
            left = out.reshape(-1).view(np.uint8).data
            file.seek(place)
            while left:
                if not (count := file.readinto(left)):
                    raise StoreError(f"{file.name}: has become shorter while it was read; {AGAIN}")
                left = left[count:]

    def _mapped(self, index: int) -> np.ndarray:
        with self._opened(index) as file:
            return np.memmap(file, self.dtype, "r", shape=self._chunk)

    @contextmanager
    def _opened(self, index: int) -> Iterator[FileIO]:
        """Open the file of a chunk, once it is known to be as written.

        StoreError also where it cannot be read inside the block.
        """
        path = self.store / self._file(index)
        try:
            with FileIO(path, opener=lambda name, _: open_regular(Path(name), size=self._chunk_bytes)) as file:
                self._compare(index, identity_of(os.fstat(file.fileno())))
                yield file
        except StoreError:
            raise
        except OSError as error:
            what = ": missing" if isinstance(error, FileNotFoundError) else f" cannot be read: {error.strerror}"
            raise not_as_written(self.store, self._checksums, StoreError(f"{path}{what}; {AGAIN}")) from error


class StoredSource(Held):
    """The finished sample store at ``path``, whose files are compared with their checksums when they are read."""

    def __init__(self, path: Path, attributes: Record) -> None:
        """``attributes``: what the store says of itself, as :func:`check.attributes_of` has read it."""
        checksums = check.checksums_of(path)
        super().__init__(path, attributes, checksums)
        check.check_file(path, "zarr.json", checksums)
        names = [name.removesuffix("/zarr.json") for name in checksums if name.endswith("/zarr.json")]
        self._rows = {name: Rows(path, name, checksums) for name in names}
        check.check_arrays(path, attributes, self._rows)

    def __reduce__(self) -> tuple[object, ...]:
        return opened_again, (str(self.path.absolute()), self.identity, opened, attrgetter("identity"))

    @property
    def arrays(self) -> dict[str, Rows]:
        return self._rows

    def trust(self) -> None:
        for rows in self._rows.values():
            rows.trust()

    @cached_property
    def results(self) -> Record:
        return {name: value for name, value in results_of(self.path).items() if name not in (SIZES, REPLACES)}

    @property
    def sizes(self) -> Sizes | None:
        found = results_of(self.path).get(SIZES)
        sizes = files.unchanged(found)
        if found is not None and sizes is None:
            files.refuse(self.path / RESULTS, "sizes as they were written", "others")
        return sizes

    @property
    def nbytes(self) -> int:
        """Bytes of the store's files."""
        nodes = [self.path / name / "zarr.json" for name in ("", "checksums", *self._rows)]
        results = [self.path / RESULTS] if (self.path / RESULTS).exists() else []
        try:
            described = sum(node.stat().st_size for node in nodes + results)
        except OSError as error:
            raise StoreError(f"{error.filename} cannot be read: {error.strerror}; {files.AGAIN}") from error
        return described + sum(rows.stored_bytes for rows in self._rows.values())


def opened(path: Path) -> StoredSource:
    """Open the finished sample store at ``path``."""
    return StoredSource(path, check.attributes_of(path))
