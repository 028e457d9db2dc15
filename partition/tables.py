"""Edge tables in Parquet, Arrow (Feather) or CSV with a header, through pyarrow."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from csaw.partition.errors import FormatError, MissingDependencyError, StoreError
from csaw.partition.sniff import SOURCES, TARGETS, Shape

SUFFIXES = (".parquet", ".pq", ".feather", ".arrow")


def is_table(path: str, options: Any) -> bool:
    """Whether pyarrow reads it: by suffix, or because a column is asked for by name."""
    named = options.source_column or options.target_column
    return (
        path.endswith(SUFFIXES)
        or bool(named)
        or not (options.weight_column in ("auto", "none") or options.weight_column.isdigit())
    )


class TableRows:
    """The same as TextRows, for a table."""

    def __init__(self, path: str, options: Any) -> None:
        self.path, self.options = path, options
        self.batches = self._open()
        first = next(self.batches, None)
        if first is None:
            raise FormatError(f"{path}: no edges found; the table is empty")
        self.first = first
        names = {str(name).lower(): str(name) for name in first.schema.names}
        self.source = self._column(names, options.source_column, SOURCES, "--source-column")
        self.target = self._column(names, options.target_column, TARGETS, "--target-column")
        self.weight = self._weight(names, options.weight_column)
        from pyarrow import types

        kind = first.schema.field(self.source).type
        self.shape = Shape(strings=types.is_string(kind) or types.is_large_string(kind) or options.ids == "string")
        self.weighted = self.weight is not None
        self.counts = {"lines": 0, "comments": 0, "blank": 0, "edges": 0, "skipped": 0}

    def __iter__(self) -> Iterator[tuple]:
        from itertools import chain

        for batch in chain([self.first], self.batches):
            src, dst = (self._ids(batch.column(name), name) for name in (self.source, self.target))
            weights = self._weights(batch) if self.weighted else None
            self.counts["lines"] += batch.num_rows
            self.counts["edges"] += batch.num_rows
            yield src, dst, weights

    def _open(self) -> Iterator[Any]:
        try:
            import pyarrow
            import pyarrow.csv
            import pyarrow.feather
            import pyarrow.parquet
        except ImportError as error:
            raise MissingDependencyError(f"{self.path} needs pyarrow: pip install 'csaw[tables]'") from error
        if not Path(self.path).is_file():
            raise StoreError(f"{self.path} does not exist or is not a file")
        try:
            if self.path.endswith((".parquet", ".pq")):
                return pyarrow.parquet.ParquetFile(self.path).iter_batches()
            if self.path.endswith((".feather", ".arrow")):
                return iter(pyarrow.feather.read_table(self.path).to_batches())
            return iter(pyarrow.csv.open_csv(self.path))
        except (pyarrow.ArrowInvalid, OSError) as error:
            raise FormatError(f"{self.path}: {error}") from error

    def _column(self, names: dict[str, str], wanted: str | None, usual: tuple[str, ...], flag: str) -> str:
        if wanted is not None and wanted in names.values():
            return wanted
        found = next((names[n] for n in usual if n in names), None)
        if wanted is not None or found is None:
            raise FormatError(
                f"{self.path}: no column {wanted or ' or '.join(usual)}; it has {', '.join(names.values())}; name one with {flag}"
            )
        return found

    def _weight(self, names: dict[str, str], wanted: str) -> str | None:
        if wanted == "none":
            return None
        if wanted == "auto":
            return names.get("weight")
        if wanted not in names.values():
            raise FormatError(
                f"{self.path}: no column {wanted}; it has {', '.join(names.values())}; name one with --weight-column"
            )
        return wanted

    def _ids(self, column: Any, name: str) -> Any:
        if column.null_count:
            raise FormatError(
                f"{self.path}: column {name} has {column.null_count} empty cells; an edge needs both ends"
            )
        if self.shape.strings:
            return [str(v).encode() for v in column.to_pylist()]
        ids = column.to_numpy(zero_copy_only=False)
        if ids.dtype.kind not in "iu":
            raise FormatError(f"{self.path}: column {name} holds {ids.dtype}, expected integers or strings")
        return ids.astype(np.uint64 if ids.dtype == np.uint64 and ids.max(initial=0) > 2**63 - 1 else np.int64)

    def _weights(self, batch: Any) -> np.ndarray:
        weights = np.asarray(batch.column(self.weight).to_numpy(zero_copy_only=False), np.float64)
        bad = ~((weights >= 0) & (weights <= float(np.finfo(np.float32).max)))
        if bad.any():
            row = self.counts["lines"] + int(np.argmax(bad)) + 1
            raise FormatError(
                f"{self.path}: row {row}: {int(bad.sum())} weights are negative, NaN, infinite or beyond float32, this the first"
            )
        return weights.astype(np.float32)
