"""Samples on disk."""

from functools import cached_property
from operator import attrgetter
from pathlib import Path

from csaw.engine.samples import check, files
from csaw.engine.samples.arrays import Rows
from csaw.engine.samples.layouts import Sizes
from csaw.engine.samples.results import REPLACES, RESULTS, results_of
from csaw.engine.samples.sizes import SIZES
from csaw.engine.samples.source import Held
from csaw.partition.arrays.opened_again import opened_again
from csaw.partition.base.plain_data import Record
from csaw.partition.errors import StoreError


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
