"""Edge tables in Parquet or Arrow (Feather), through pyarrow."""

from collections.abc import Generator, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from csaw.partition.errors import FormatError, MissingDependencyError, OptionError, StoreError
from csaw.partition.graph.weight_range import are_weights
from csaw.partition.ingestion.text.columns import choose
from csaw.partition.ingestion.text.records import WHOLE, Span
from csaw.partition.ingestion.text.sniff import Shape

if TYPE_CHECKING:
    from csaw.partition.ingestion.ingest_options import IngestOptions

PARQUET, ARROW = (".parquet", ".pq"), (".feather", ".arrow")


def is_table(path: str) -> bool:
    """Whether the suffix of ``path`` is that of a table, which pyarrow reads."""
    return path.endswith(PARQUET + ARROW)


class TableRows:
    """The rows of a table; it yields and counts as TextRows does. Of a span of a Parquet file, those of its row groups: of G groups in S bytes, number g belongs to byte S g / G."""

    def __init__(self, path: str, options: "IngestOptions", span: Span = WHOLE) -> None:
        if options.skip_lines:
            raise OptionError(f"--skip-lines: {path} is a table and has no lines; expected text")
        self.path, self.ids, self.skip_errors = path, options.ids, options.on_error == "skip"
        self.counts = {"lines": 0, "comments": 0, "blank": 0, "edges": 0, "skipped": 0}
        self.warnings: list[str] = []
        self.span = span
        self.batches = self._batches()
        self.first = first = next(self.batches, None)
        if first is None and span.begin == 0:
            raise FormatError(f"{path}: no edges found; the table is empty")
        if first is not None:
            self._see(first, options)

    def _see(self, first: Any, options: "IngestOptions") -> None:
        """Choose the columns, by the first batch."""
        names = [str(name) for name in first.schema.names]
        wishes = options.wishes
        self.names, self.read = names, choose(self.path, names, len(names), wishes)
        self.weighted = self.read.weight >= 0
        words = any(_is_words(first.schema.field(end).type) for end in (self.read.source, self.read.target))
        self.shape = Shape(strings=options.ids == "string" or (words and options.ids == "auto"))

    @property
    def kind(self) -> dict[str, Any]:
        """What files of one graph must have in common."""
        ends = {"source column": self.names[self.read.source], "target column": self.names[self.read.target]}
        weight = self.names[self.read.weight] if self.weighted else "none"
        return {"ids": "words" if self.shape.strings else "numbers", **ends, "weight column": weight}

    def __iter__(self) -> Iterator[tuple]:
        return self.read_pieces()

    def read_pieces(self) -> Iterator[tuple]:
        """The rows of all batches."""
        return (self.checked(*piece) for piece in self.pieces())

    def record(self) -> dict[str, Any]:
        """What there is to say of the rows, as plain data."""
        return {"counts": dict(self.counts)}

    def add(self, record: dict[str, Any]) -> None:
        """The record of the next span of the table, or of all of it, which another process has read."""
        for name in self.counts:
            self.counts[name] += record["counts"][name]

    def pieces(self) -> Iterator[tuple[Any]]:
        """Its batches."""
        return ((batch,) for batch in chain([self.first] * (self.first is not None), self.batches))

    def piece_bytes(self, batch: Any) -> int:
        """How much memory a batch takes."""
        return int(batch.nbytes)

    def parse(self, batch: Any) -> Any:
        """A batch as it is: pyarrow's own threads have read it."""
        return batch

    def checked(self, batch: Any) -> tuple:
        """The next batch's rows."""
        kept = np.ones(batch.num_rows, np.bool_)
        columns = [self._ids(batch, end, kept) for end in (self.read.source, self.read.target)]
        weights = self._weights(batch, kept) if self.weighted else None
        self.counts["lines"] += batch.num_rows
        self.counts["edges"] += int(kept.sum())
        self.counts["skipped"] += int((~kept).sum())
        src, dst = (self._numbers(column, kept) for column in columns)
        bounds = None
        if not self.shape.strings and len(src):
            bounds = min(int(src.min()), int(dst.min())), max(int(src.max()), int(dst.max()))
            if src.dtype != dst.dtype:  # one of them has ids that int64 cannot hold
                src, dst = src.astype(np.uint64), dst.astype(np.uint64)
        return src, dst, None if weights is None else weights[kept], bounds

    def end(self) -> None:
        """Nothing more is to be said of a whole table."""

    def close(self) -> None:
        """Let go of the file."""
        self.batches.close()

    def _numbers(self, column: Any, kept: np.ndarray) -> Any:
        """Ids of the rows that are kept, as bytes, int64, or uint64 if some need it."""
        if self.shape.strings:
            words = column.to_pylist()
            return [str(words[row]).encode() for row in np.flatnonzero(kept)]
        ids = column.fill_null(0).to_numpy(zero_copy_only=False)[kept]
        return ids.astype(np.uint64 if ids.dtype == np.uint64 and ids.max(initial=0) > 2**63 - 1 else np.int64)

    def _ids(self, batch: Any, end: int, kept: np.ndarray) -> Any:
        """The ids in column ``end``: integers or, for string ids, values of any type.

        Rows without an id are dropped from ``kept``, or are an error.
        """
        from pyarrow import compute, types

        column = _decoded(batch.column(end))
        self._check(
            batch, end, kept, column.is_valid().to_numpy(zero_copy_only=False), "a value, as an edge needs both ends"
        )
        if self.shape.strings:
            return column
        if _is_words(column.type):
            number = compute.match_substring_regex(column.cast("string"), r"^[-+]?[0-9]{1,18}$").fill_null(False)
            self._check(batch, end, kept, number.to_numpy(zero_copy_only=False), "an integer (--ids int)")
            return compute.if_else(number, column.cast("string"), "0").cast("int64")
        if not types.is_integer(column.type):
            raise FormatError(
                f"{self.path}: column {self.names[end]} holds {column.type}, expected integers or strings"
            )
        return column

    def _weights(self, batch: Any, kept: np.ndarray) -> np.ndarray:
        from pyarrow import types

        column = _decoded(batch.column(self.read.weight))
        if not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_decimal(column.type)):
            raise FormatError(
                f"{self.path}: column {self.names[self.read.weight]} holds {column.type}, expected numbers as weights; name another with "
                f"--weight-column, or none"
            )
        weights = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
        good = are_weights(weights)
        self._check(
            batch, self.read.weight, kept, good, "a weight from 0 to 3.4e38, of which positive ones are at least 1e-45"
        )
        return np.where(good, np.abs(weights), 0).astype(np.float32)

    def _check(self, batch: Any, place: int, kept: np.ndarray, good: np.ndarray, expected: str) -> None:
        """Drop the rows that are not ``good`` from ``kept`` if malformed rows are skipped; otherwise FormatError for the first of them."""
        good = good.astype(np.bool_)
        bad = ~good & kept
        if bad.any() and not self.skip_errors:
            row = int(np.argmax(bad))
            found = str(batch.column(place)[row].as_py())[:60]
            raise FormatError(
                f"{self.path}: row {self.counts['lines'] + row + 1}, column {self.names[place]}: expected {expected}, found {found!r} ({int(bad.sum())} "
                f"of {batch.num_rows} rows are malformed); pass --on-error skip to skip them"
            )
        kept &= good

    def _batches(self) -> Generator[Any, None, None]:
        try:
            import pyarrow
            import pyarrow.feather
            import pyarrow.parquet
        except ImportError as error:
            raise MissingDependencyError(f"{self.path} needs pyarrow: pip install 'csaw[tables]'") from error
        if not Path(self.path).is_file():
            raise StoreError(f"{self.path} does not exist or is not a file")
        try:
            if self.path.endswith(PARQUET):
                # Pages without a checksum, which writers may leave out, pass unchecked.
                file = pyarrow.parquet.ParquetFile(self.path, page_checksum_verification=True)
                yield from file.iter_batches(row_groups=self._groups(file.num_row_groups))
            else:
                yield from pyarrow.feather.read_table(self.path).to_batches()
        except (pyarrow.ArrowException, OSError) as error:
            raise FormatError(
                f"{self.path}: the file is damaged, or not of the type that its suffix says ({error}); write or fetch it again"
            ) from error

    def _groups(self, count: int) -> list[int]:
        """The row groups of the span."""
        size = Path(self.path).stat().st_size
        end = size if self.span.end is None else self.span.end
        return [group for group in range(count) if self.span.begin <= size * group // count < end]


def _decoded(column: Any) -> Any:
    """The column without a dictionary, into which pandas turns categories."""
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _is_words(kind: Any) -> bool:
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
