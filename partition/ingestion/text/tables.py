"""Edge tables in Parquet or Arrow (Feather), through pyarrow."""

import os
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from csaw.partition.base.parallel import Crew
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import CsawError, FormatError, MissingDependencyError, OptionError, StoreError
from csaw.partition.graph.edge_columns import EdgeColumn
from csaw.partition.graph.given_arrays import are_weights
from csaw.partition.ingestion.columns import Columns, choose
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.filters import NO_VALUE, decoded, expression_of, fulfilling, kept_of
from csaw.partition.ingestion.text.number_rows import check_sources, raised
from csaw.partition.ingestion.text.pieces import NOTHING_READ, WHOLE, FilePiece, Piece, ReadRecord, Recorded, Span
from csaw.partition.ingestion.text.shape import NO_ROWS, Shape, direction_of, roles
from csaw.partition.ingestion.time_column import TimeColumn

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch, Scalar, Table
    from pyarrow.parquet import ParquetFile
from typing import TYPE_CHECKING

from csaw.partition.graph.edge_columns import TIME
from csaw.partition.ingestion.text.values import times_in
from csaw.partition.ingestion.time_column import BY_UNIT, rescaled, time_of_decimal, times_of_floats

if TYPE_CHECKING:
    from pyarrow import Array


PARQUET = (".parquet", ".pq")
HIVE = re.compile("([^=]+)=(.*)")
"""Folders of tables that say the value of a column in all of their files, as ``year=2026``."""


class TableRows(Recorded):
    """The rows of a table, as FileRows has them: its pieces are batches.

    Of a span of a Parquet file, those of its row groups: of G groups in S bytes, number g belongs to byte S g / G.
    """

    SUFFIXES = (*PARQUET, ".feather", ".arrow")

    def __init__(
        self,
        path: str,
        options: IngestOptions,
        crew: Crew | None = None,
        progress: Callable[[int, int], None] | None = None,
        span: Span = WHOLE,
    ) -> None:
        if options.skip_lines:
            raise OptionError(f"--skip-lines: {path} is a table and has no lines; expected text")
        self.path, self.skip_errors, self.span = path, options.on_error == "skip", span
        self.said, self.warnings = ReadRecord(dict(NOTHING_READ)), list[str]()
        self.wanted, self.ends = options.wishes.names, (options.wishes.source, options.wishes.target)
        self.conditions = options.conditions
        found = (HIVE.fullmatch(part) for part in Path(path).parts[:-1])
        self.folders = {one[1]: unquote(one[2]) for one in found if one}
        self.batches = self._batches()
        self.first = first = next((batch for batch in self.batches if batch.num_rows), None)
        self.read, self.shape, self.read_as = Columns(), Shape(empty=first is None), NO_ROWS
        if first is not None:
            self._see(first, options)

    def _see(self, first: "RecordBatch", options: IngestOptions) -> None:
        """Choose the columns, by the first batch."""
        self.names = [str(name) for name in first.schema.names]
        self.read = self._choose(self.names, options)
        words = any(is_words(first.schema.field(end).type) for end in (self.read.source, self.read.target))
        self.shape = Shape(
            strings=options.id_type == "string" or (words and options.id_type == "auto"),
            further=options.further,
            offset=options.target_offset or 0,
        )
        if self.shape.strings and self.shape.offset:
            raise OptionError(f"{self.path}: --target-offset: expected ids that are integers, found words")
        ids = "string" if self.shape.strings else "int"
        said = roles(self.read, len(self.names), self.names, options)
        where = f", where {' and '.join(options.where)}" if options.where else ""
        self.read_as = f"table, {len(self.names)} columns, {said}, {direction_of(False, options)}, ids {ids}{where}"

    def _choose(self, names: list[str], options: IngestOptions) -> Columns:
        return choose(self.path, names, len(names), options.wishes)

    @staticmethod
    def can_be_cut(path: str, options: IngestOptions) -> bool:
        """Whether processes may read spans of the file: where it has row groups."""
        return path.endswith(PARQUET)

    @staticmethod
    def again(span: Span, lines: int) -> Span:
        """All rows."""
        return WHOLE

    @property
    def weighted(self) -> bool:
        return self.read.weight >= 0

    @property
    def kind(self) -> dict[str, str | int]:
        """Properties that all files of one graph must have in common, as errors name them."""
        ends = {"source column": self.names[self.read.source], "target column": self.names[self.read.target]}
        weight = self.names[self.read.weight] if self.weighted else "none"
        beside = {"weight column": weight, "edge columns": ", ".join(self.names[place] for place in self.read.further)}
        return {
            "format": "a table of Parquet or Arrow",
            "ids": "words" if self.shape.strings else "numbers",
            **ends,
            **beside,
        }

    def __iter__(self) -> Iterator[Piece]:
        return self.read_pieces()

    def read_pieces(self) -> Iterator[Piece]:
        """The rows of all batches."""
        return (piece.parse()() for piece in self.pieces())

    def pieces(self) -> Iterator[FilePiece]:
        """Its batches, as they are: pyarrow's own threads have read them."""
        for batch in chain([self.first] * (self.first is not None), self.batches):
            yield FilePiece(int(batch.nbytes), partial(partial, self._checked, batch))

    def _checked(self, batch: "RecordBatch") -> Piece:
        """The next batch's rows. FormatError also where pyarrow lacks a kernel, or Python an object for a value."""
        first = self.counts["lines"] + 1
        try:
            return self._piece(batch)
        except (CsawError, MemoryError):
            raise
        except Exception as error:  # of pyarrow, whatever it is
            said = f"{type(error).__name__}: {error}".splitlines()[0]
            raise FormatError(
                f"{self.path}: row {first:,} or a later one cannot be read ({said[:200]}); convert its columns to "
                "integers, numbers or strings"
            ) from error

    def _piece(self, batch: "RecordBatch") -> Piece:
        kept = np.ones(batch.num_rows, np.bool_)
        ends = [self._ids(batch, end, kept) for end in (self.read.source, self.read.target)]
        columns = [self._weights(batch, kept)] if self.weighted else []
        columns += [
            self._further(batch, *each, kept) for each in zip(self.read.further, self.shape.further, strict=True)
        ]
        self.counts["lines"] += batch.num_rows
        self.counts["edges"] += int(kept.sum())
        self.counts["skipped"] += int((~kept).sum())
        beside = tuple(column[kept] for column in columns)
        if self.shape.strings:
            src, dst = (_words(column, kept) for column in ends)
            return Piece(src, dst, beside)
        sources, targets = (_numbers(column, kept) for column in ends)
        if self.shape.offset:
            check_sources(self.path, sources, self.shape)
            targets = raised(targets, self.shape.offset)
        if not sources.size:
            return Piece(sources, targets, beside)
        bounds = min(int(sources.min()), int(targets.min())), max(int(sources.max()), int(targets.max()))
        if sources.dtype != targets.dtype:  # one of them has ids that int64 cannot hold
            sources, targets = sources.astype(np.uint64), targets.astype(np.uint64)
        return Piece(sources, targets, beside, bounds)

    def end(self) -> None:
        """Nothing more is to be said of a whole table."""

    def close(self) -> None:
        """Let go of the file."""
        self.batches.close()

    def _ids(self, batch: "RecordBatch", end: int, kept: np.ndarray) -> "Array":
        """The ids in column ``end``: integers or, for string ids, values of any type.

        Rows without an id are dropped from ``kept``, or are an error.
        """
        from pyarrow import compute, types

        column = decoded(batch.column(end))
        self._check(
            batch, end, kept, column.is_valid().to_numpy(zero_copy_only=False), "a value, as an edge needs both ends"
        )
        if types.is_nested(column.type) or (self.shape.strings and types.is_floating(column.type)):
            raise FormatError(
                f"{self.path}: column {self.names[end]} holds {column.type}, expected vertex ids: integers or strings"
            )
        if self.shape.strings:
            return column
        if is_words(column.type):
            number = compute.match_substring_regex(column.cast("string"), r"^[-+]?[0-9]{1,18}$").fill_null(False)
            self._check(batch, end, kept, number.to_numpy(zero_copy_only=False), "an integer (--id-type int)")
            return compute.utf8_ltrim(compute.if_else(number, column.cast("string"), "0"), "+").cast("int64")
        if not types.is_integer(column.type):
            raise FormatError(
                f"{self.path}: column {self.names[end]} holds {column.type}, expected integers or strings"
            )
        return column

    def _further(self, batch: "RecordBatch", place: int, column: EdgeColumn, kept: np.ndarray) -> np.ndarray:
        """The values of an edge column, of its dtype."""
        if isinstance(column, TimeColumn):
            return self._times(batch, place, column, kept)
        from pyarrow import types

        values = self._numeric(batch, place, f"numbers as {column.name}")
        there = values.is_valid().to_numpy(zero_copy_only=False)
        if column.is_integer and types.is_decimal(values.type):
            held, whole = _of_decimals(values, 0)
            there &= whole
        else:
            held = values.fill_null(0).to_numpy(zero_copy_only=False)
            held = held.astype(np.float64) if held.dtype.kind == "O" else held
        good = column.holds(held) & there
        self._check(batch, place, kept, good, f"a number that {column.dtype} holds as {column.name}")
        return np.where(good, held, 0).astype(column.dtype)

    def _times(self, batch: "RecordBatch", place: int, column: TimeColumn, kept: np.ndarray) -> np.ndarray:
        """The times, int64."""
        found = times_of_column(decoded(batch.column(place)), column)
        if found is None:
            expected = (
                "dates, timestamps or dates of ISO 8601 as text; numbers: --time-format numbers"
                if column.iso
                else "numbers as times (dates: --time-format iso)"
            )
            raise FormatError(
                f"{self.path}: column {self.names[place]} holds {batch.schema.field(place).type}, expected {expected}; "
                "name another with --time-column"
            )
        values, good = found
        self._check(batch, place, kept, good, column.expected)
        return values

    def _numeric(self, batch: "RecordBatch", place: int, expected: str) -> "Array":
        """A column of numbers; FormatError for one of another type."""
        from pyarrow import types

        column = decoded(batch.column(place))
        if not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_decimal(column.type)):
            raise FormatError(
                f"{self.path}: column {self.names[place]} holds {column.type}, expected {expected}; name another with "
                + ("--weight-column, or none" if place == self.read.weight else "--edge-column")
            )
        return column

    def _weights(self, batch: "RecordBatch", kept: np.ndarray) -> np.ndarray:
        """The weights, float32."""
        column = self._numeric(batch, self.read.weight, "numbers as weights")
        weights = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
        good = are_weights(weights)
        self._check(
            batch, self.read.weight, kept, good, "a weight from 0 to 3.4e38, of which positive ones are at least 1e-45"
        )
        return np.where(good, np.abs(weights), 0).astype(np.float32)

    def _check(self, batch: "RecordBatch", place: int, kept: np.ndarray, good: np.ndarray, expected: str) -> None:
        """Drop the rows that are not ``good`` from ``kept`` if malformed rows are skipped.

        Otherwise FormatError for the first of them.
        """
        good = good.astype(np.bool_)
        bad = ~good & kept
        if bad.any() and not self.skip_errors:
            row = int(np.argmax(bad))
            of_some = " of those that fulfill --where" * bool(self.conditions)
            raise FormatError(
                f"{self.path}: row {self.counts['lines'] + row + 1}{of_some}, column {self.names[place]}: expected "
                f"{expected}, found {shown(batch.column(place)[row])} (at least {int(bad.sum()):,} of the first "
                f"{self.counts['lines'] + batch.num_rows:,} rows are malformed); pass --on-error skip to skip them"
            )
        kept &= good

    def _batches(self) -> Generator["RecordBatch", None, None]:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise MissingDependencyError(f"{self.path} needs pyarrow: pip install pyarrow") from error
        if not Path(self.path).is_file():
            raise StoreError(f"{self.path} does not exist or is not a file")
        try:
            if self.path.endswith(PARQUET):
                # Pages without a checksum, which writers may leave out, pass unchecked.
                file = pyarrow.parquet.ParquetFile(self.path, page_checksum_verification=True)
                batches = file.iter_batches(row_groups=self._matching(file))
            else:
                batches = iter(arrow_table(self.path).to_batches())
            for batch in batches:
                yield self._with_folders(self._fulfilling(batch, batch.schema.names, batch.column))
        except (pyarrow.ArrowException, OSError) as error:
            raise FormatError(
                f"{self.path}: the file is damaged, or its type differs from its suffix ({error}); write or fetch "
                "it again"
            ) from error

    def _with_folders(self, batch: "RecordBatch") -> "RecordBatch":
        """The rows with those columns that options name and that folders of the path say, as integers if they are."""
        for name, value in self.folders.items():
            if name in self.wanted and name not in batch.schema.names:
                batch = batch.append_column(name, _constant(value, batch.num_rows, name in self.ends))
        return batch

    def _matching(self, file: "ParquetFile") -> list[int]:
        """The row groups of the span in which rows may fulfill the conditions, by the statistics of the file."""
        groups = self._groups(file.num_row_groups)
        if not self.conditions:
            return groups
        from pyarrow.dataset import ParquetFileFormat
        from pyarrow.fs import LocalFileSystem

        test = expression_of(self.conditions, self.path, file.schema_arrow, self.folders)
        fragment = ParquetFileFormat().make_fragment(os.path.abspath(self.path), LocalFileSystem())
        matching = {group.id for group in fragment.subset(filter=test).row_groups}
        others = (group for group in groups if group not in matching)
        self.counts["left_out"] += sum(file.metadata.row_group(group).num_rows for group in others)
        return [group for group in groups if group in matching]

    def _fulfilling(
        self, batch: "RecordBatch", names: Sequence[str], column: "Callable[[int], Array]"
    ) -> "RecordBatch":
        """The rows that fulfill the conditions; ``column(place)`` is the one that is called ``names[place]``."""
        if not self.conditions:
            return batch
        mask = fulfilling(self.conditions, self.path, names, batch.num_rows, column, self.folders)
        kept = kept_of(batch, mask)
        self.counts["left_out"] += batch.num_rows - kept.num_rows
        return kept

    def _groups(self, count: int) -> list[int]:
        """The row groups of the span."""
        size = Path(self.path).stat().st_size
        end = size if self.span.end is None else self.span.end
        return [group for group in range(count) if self.span.begin <= size * group // count < end]


def arrow_table(path: str) -> "Table":
    """The table of an Arrow file. ArrowInvalid for a damaged one, whose offsets may point anywhere."""
    from pyarrow import feather

    table = feather.read_table(path)
    table.validate(full=True)
    return table


def _constant(value: str, rows: int, is_id: bool) -> "Array":
    """A column with the value of a folder in every row; Hive calls a missing one by a long name.

    Ids with leading zeros are words: 007 and 7 are different ones.
    """
    import pyarrow

    if value == NO_VALUE:
        return pyarrow.nulls(rows, pyarrow.int64())
    is_integer = re.fullmatch("[-+]?[0-9]{1,18}", value) is not None
    is_number = is_integer and not (is_id and str(int(value)) != value)
    return pyarrow.repeat(pyarrow.scalar(int(value) if is_number else value), rows)


def shown(cell: "Scalar") -> str:
    """A cell in the words of errors: the number of a time that Python has no object for."""
    try:
        return quoted(str(cell.as_py())[:60])
    except (ValueError, OverflowError):
        return quoted(str(getattr(cell, "value", cell.type)))


def _words(column: "Array", kept: np.ndarray) -> list[bytes]:
    """Ids of the rows that are kept, as words; bytes, as which other programs may have written strings, stay."""
    words = (column.cast("large_binary") if is_words(column.type) else column).to_pylist()  # which need not be UTF-8
    kept_words = (words[row] for row in np.flatnonzero(kept))
    return [word if isinstance(word, bytes) else str(word).encode() for word in kept_words]


def _numbers(column: "Array", kept: np.ndarray) -> np.ndarray:
    """Ids of the rows that are kept, as int64, or uint64 if some need it."""
    ids = column.fill_null(0).to_numpy(zero_copy_only=False)[kept]
    return ids.astype(np.uint64 if ids.dtype == np.uint64 and ids.max(initial=0) > 2**63 - 1 else np.int64)


def is_words(kind: "DataType") -> bool:
    """Whether values of a type are strings."""
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) or types.is_run_end_encoded(kind) else kind
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


# Times in the columns of tables, as pyarrow reads them.


def times_of_column(found: "Array", column: TimeColumn) -> tuple[np.ndarray, np.ndarray] | None:
    """Read a column of a table as times.

    Args:
        found: dates, timestamps or text of dates where ``column.iso``, otherwise numbers.
        column: how they are read.

    Returns:
        The times, int64, and whether each is one, bool; None for a column of another type.
    """
    read = _dates(found, column) if column.iso else _time_numbers(found, column.decimals)
    if read is None:
        return None
    values, good = read
    return values, good & found.is_valid().to_numpy(zero_copy_only=False)


def _dates(found: "Array", column: TimeColumn) -> tuple[np.ndarray, np.ndarray] | None:
    from pyarrow import types

    if types.is_string(found.type) or types.is_large_string(found.type) or types.is_string_view(found.type):
        words = [(word or "").encode() for word in found.to_pylist()]
        ends = np.cumsum([len(word) for word in words], dtype=np.int64)
        begins = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
        return times_in(np.frombuffer(b"".join(words), np.uint8), begins, ends, column)
    if types.is_date(found.type):
        found = found.cast("timestamp[s]" if types.is_date32(found.type) else "timestamp[ms]")
    if not types.is_timestamp(found.type):
        return None
    held = found.cast("int64").fill_null(0).to_numpy(zero_copy_only=False)
    return rescaled(held, column.decimals - BY_UNIT[found.type.unit])


def _time_numbers(found: "Array", decimals: int) -> tuple[np.ndarray, np.ndarray] | None:
    from pyarrow import types

    if types.is_decimal(found.type):
        return _of_decimals(found, decimals)
    if types.is_integer(found.type):
        held = found.fill_null(0).to_numpy(zero_copy_only=False)
        fits = TIME.holds(held)
        values, good = rescaled(np.where(fits, held, 0).astype(np.int64), decimals)
        return values, good & fits
    if types.is_floating(found.type):
        return times_of_floats(found.fill_null(0).to_numpy(zero_copy_only=False), decimals)
    return None


def _of_decimals(found: "Array", decimals: int) -> tuple[np.ndarray, np.ndarray]:
    """Decimals as integers of 10^-decimals: int64, and whether each is one that int64 holds, bool."""
    read = [None if number is None else time_of_decimal(number, decimals) for number in found.to_pylist()]
    return np.array([one or 0 for one in read], np.int64), np.array([one is not None for one in read], np.bool_)
