"""Tables of other libraries by Arrow's PyCapsule interface (``__arrow_c_stream__``), which are read batch by batch.

DuckDB's relations, frames of polars and narwhals, tables, readers and scanners of pyarrow, and whatever else has the
interface are one kind of object. Lazy frames and data sets that lack it can be asked for a stream. Tables of pandas
convert all columns for it, so only those that are read are given to Arrow.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike

from csaw.partition.arrays.words import Words
from csaw.partition.base.libraries import needed
from csaw.partition.base.plain_data import Values
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.graph.edge_columns import FLOATS, are_whole
from csaw.partition.graph.given_arrays import foreign
from csaw.partition.graph.store import GraphStore
from csaw.partition.ingestion.columns import TIME_COLUMN, Columns, columns_of_table, place_of, wish_of
from csaw.partition.ingestion.conditions import conditions_of
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.objects import Edges, Foreign, Wish, library_of
from csaw.partition.ingestion.text.filters import can_filter, expression_of
from csaw.partition.ingestion.text.pieces import Ends
from csaw.partition.ingestion.text.tables import TableRows, is_words
from csaw.partition.ingestion.time_column import BY_UNIT

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch, RecordBatchReader

INTERFACE = "__arrow_c_stream__"
WAYS = (INTERFACE, "to_native", "collect_batches", "scanner", "to_reader")
"""An object that can be streamed has one of these: the interface, or a method that :func:`_reader` calls for it."""
ROWS = 1 << 16  # of a batch: those of a producer may be whole tables
READ: WeakSet[object] = WeakSet()
"""Readers of pyarrow whose first batches were read, also by a preview: the others would pass for all."""


def is_stream(data: Foreign) -> bool:
    """Whether an object is a table that can be streamed; one of pandas, if pyarrow is there."""
    library = library_of(type(data))
    if library == "pandas":
        return hasattr(data, INTERFACE) and hasattr(data, "columns") and find_spec("pyarrow") is not None
    return library is None and not isinstance(data, GraphStore) and any(hasattr(data, name) for name in WAYS)


class ArrowStream:
    """A table whose batches are read once. It is opened, which runs the query of a relation, when its columns are asked
    for: OptionError for an object that is no table.
    """

    def __init__(self, data: Foreign, where: object = ()) -> None:
        self.data: Any = data
        self.conditions = conditions_of(where)
        self.rows: int | None = None  # of a data set, if only some of them are asked for
        self.name = f"{type(data).__module__.partition('.')[0].lstrip('_')} {type(data).__name__}"
        self.frame: Any = data if library_of(type(data)) == "pandas" else None
        needed("pyarrow", self.name)

    @cached_property
    def reader(self) -> "RecordBatchReader | None":
        """The reader of the batches; None for a table of pandas."""
        with foreign(f"graph: {self.name}"):
            # a data set need not read what cannot fulfill them
            if self.conditions and hasattr(self.data, "scanner") and can_filter(self.data.schema):
                test = expression_of(self.conditions, self.name, self.data.schema, {})
                self.rows = self.data.count_rows()
                return self.data.scanner(filter=test).to_reader()
            return None if self.frame is not None else _reader(self.data)

    @cached_property
    def names(self) -> list[str]:
        """The names of its columns."""
        return [str(name) for name in (self.frame.columns if self.reader is None else self.reader.schema.names)]

    def close(self) -> None:
        """Let go of the query that makes the batches."""
        if (reader := vars(self).get("reader")) is not None:
            reader.close()

    def type_of(self, place: int) -> "DataType":
        """The type of a column; in pandas, where any value may be of another type, that of the first."""
        if self.reader is not None:
            return self.reader.schema.field(place).type
        with foreign(f"graph: {self.name}"):
            return needed("pyarrow").array(self.frame.iloc[:1, place].infer_objects(), from_pandas=True).type

    def batches(self, places: list[int]) -> Iterator["RecordBatch"]:
        """The columns at ``places``, in this order, in batches of at most ``ROWS``. OptionError for a reader that was
        read before, even in part: its first batches are gone.
        """
        if isinstance(self.data, needed("pyarrow").RecordBatchReader):
            if self.data in READ:
                raise OptionError(f"graph: {self.name}: it was read before, and gives each row once; make it again")
            READ.add(self.data)
        with foreign(f"graph: {self.name}"):
            for batch in self._selected(places):
                for first in range(0, batch.num_rows, ROWS):
                    yield batch.slice(first, ROWS)

    def _selected(self, places: list[int]) -> Iterator["RecordBatch"]:
        if self.reader is not None:
            return (batch.select(places) for batch in self.reader)
        frame = self.frame.iloc[:, places].set_axis(list(map(str, places)), axis=1).infer_objects()
        table = needed("pyarrow").Table.from_pandas(frame, preserve_index=False)
        for name, values in frame.select_dtypes(object).items():
            kind = str(table.schema.field(name).type)
            finer = "nanosecond" if kind.startswith("timestamp[us") else "hour" if kind.startswith("date") else ""
            if finer and any(getattr(value, finer, 0) for value in values):
                raise FormatError(
                    f"{self.name}: column {self.names[int(name)]} holds times of several kinds, which Arrow would "
                    "round; convert it with pandas.to_datetime(..., utc=True)"
                )
        return iter(table.to_batches())


def _reader(data: Any) -> "RecordBatchReader":
    """Return a reader of the batches of an object."""
    pa = needed("pyarrow")
    if hasattr(data, INTERFACE):
        return pa.RecordBatchReader.from_stream(data)
    if hasattr(data, "to_native"):  # of narwhals, around a lazy frame of another library
        if not is_stream(native := data.to_native()):
            raise OptionError(f"graph: expected a table, found a lazy frame of {type(native).__module__}; collect it")
        return _reader(native)
    if hasattr(data, "collect_batches"):  # a lazy frame of polars, whose engine streams
        schema = _reader(data.collect_schema().to_frame()).schema
        return pa.RecordBatchReader.from_batches(schema, chain.from_iterable(map(_reader, data.collect_batches())))
    return (data.scanner() if hasattr(data, "scanner") else data).to_reader()


class StreamRows(TableRows):
    """The rows of a stream. Two or three columns without telling names count by their places, as in other objects."""

    def __init__(self, stream: ArrowStream, options: IngestOptions) -> None:
        self.stream, self.wishes, self.guesses = stream, options.wishes, options.id_type == "auto"
        super().__init__(stream.name, options)

    def _batches(self) -> Iterator["RecordBatch"]:  # type: ignore[override]
        found = columns_of_table(self.path, self.stream.names, self.wishes)
        self.places = [found.source, found.target, *[found.weight] * (found.weight >= 0), *found.further]
        tested = (one.place(self.path, self.stream.names) for one in self.conditions)
        read = list(dict.fromkeys([*self.places, *tested]))
        rows = 0
        for batch in self.stream.batches(read):
            rows += batch.num_rows
            held = dict(zip(read, batch.columns, strict=True))
            kept = self._fulfilling(batch, self.stream.names, held.__getitem__)
            yield kept.select(range(len(self.places)))
        if self.stream.rows is not None:
            self.counts["left_out"] += self.stream.rows - rows

    def _choose(self, names: list[str], options: IngestOptions) -> Columns:
        """Positions in the batches, which have only the columns that are read."""
        self.names = [self.stream.names[place] for place in self.places]
        weights = len(self.places) - 2 - len(options.further)
        return Columns(0, 1, 2 if weights else -1, tuple(range(2 + weights, len(self.places))))

    def _ids(self, batch: "RecordBatch", end: int, kept: np.ndarray) -> "Array":
        """Ids, which may be floats: pandas makes these of integers among missing values."""
        from pyarrow import array, types

        column = batch.column(end)
        if self.shape.strings and self.guesses and not is_words(column.type):
            raise FormatError(
                f"{self.path}: column {self.names[end]} holds {column.type}, expected strings as the other end has; "
                "convert it to strings"
            )
        if types.is_floating(column.type) and not self.shape.strings:
            held = column.to_numpy(zero_copy_only=False)
            whole = are_whole(held)
            self._check(batch, end, kept, whole, f"a whole number as a vertex id ({FLOATS})")
            ids = array(np.where(whole, held, 0).astype(np.int64), mask=~whole)
            batch = batch.set_column(end, batch.schema.names[end], ids)
        return super()._ids(batch, end, kept)


def stream_of(data: Foreign, options: Values) -> ArrowStream | None:
    """The stream of a table, if the edges need not be in memory for arrays that are given beside it; None for anything
    else. ``options`` of Python become those of an ingest, except for dates, which :func:`read_dates` looks for.

    OptionError for an option that contradicts another one.
    """
    arrays = [name for name in ("weights", "time") if not isinstance(options.get(name), str | int | None)]
    if arrays or isinstance(options.get("edge_columns"), Mapping) or options.get("vertex_ids") is not None:
        return None
    if not is_stream(data):
        return None
    options.pop("vertex_ids", None)
    for name, column in (("weights", "weight_column"), ("time", "time_column")):
        if name in options and column in options:
            raise OptionError(f"{name}: pass only one of {name} and {column}")
    if "weights" in options:
        options["weight_column"] = "none" if options["weights"] is None else options["weights"]
        del options["weights"]
    if (named := options.pop("time", None)) is not None:
        options["time_column"] = named
    return ArrowStream(data, options.get("where"))


def read_dates(stream: ArrowStream, options: Values, *, usual: Wish = None, counts_decimals: bool = True) -> None:
    """Set the options of times, unless somebody has, if their column has dates or timestamps: ``usual`` where the
    options name none. ``counts_decimals``: times have the decimals of the column. OptionError where there is none.
    """
    from pyarrow import types

    column = options.get("time_column", usual)
    if column is None or options.get("time_format") is not None:
        return
    place = place_of(stream.name, stream.names, len(stream.names), wish_of(TIME_COLUMN, column) or "", TIME_COLUMN)
    kind = stream.type_of(place)
    if types.is_date(kind) or types.is_timestamp(kind):
        options["time_format"] = "iso"
        if counts_decimals and options.get("time_decimals") is None:
            options["time_decimals"] = BY_UNIT[kind.unit] if types.is_timestamp(kind) else 0


def table_in_memory(
    data: Foreign,
    weights: ArrayLike | None,
    source_column: Wish,
    target_column: Wish,
    edge_columns: Mapping[str, ArrayLike] | Sequence[str] | None,
    time: ArrayLike | str | None,
) -> tuple[Edges, Mapping[str, np.ndarray]]:
    """All edges of a table, and the columns that it has of them by their texts, ``time:...`` among them.

    They are found by the options of ``graph_in_memory``; those that are arrays are left to the caller. Errors are those
    of files.
    """
    asked: Values = {"source_column": source_column, "target_column": target_column, "weights": weights}
    asked = {name: one if isinstance(one, str | int | None) else None for name, one in asked.items()}
    if isinstance(time, str):
        asked["time"] = time
    if edge_columns is not None and not isinstance(edge_columns, Mapping):
        asked["edge_columns"] = edge_columns
    stream = stream_of(data, asked)
    assert stream is not None  # no arrays are left
    with closing(stream):
        read_dates(stream, asked)
        options = IngestOptions(**asked)
        rows = StreamRows(stream, options)
        pieces = list(rows)
    sources, targets = (
        _joined(stream.name, ends) for ends in ([one.src for one in pieces], [one.dst for one in pieces])
    )
    columns = [np.concatenate(parts) for parts in zip(*(piece.columns for piece in pieces), strict=True)]
    held = columns.pop(0) if rows.weighted and columns else None
    return Edges(stream.name, sources, targets, held), {
        column.text: values for column, values in zip(options.further, columns, strict=bool(pieces))
    }


def _joined(where: str, parts: list[Ends]) -> np.ndarray | Words:
    """Ids of all pieces: integers of one type, or words."""
    if parts and isinstance(parts[0], list):
        return Words.of(chain.from_iterable(parts))
    numbers = [part for part in parts if isinstance(part, np.ndarray)]
    kinds = {part.dtype for part in numbers}
    if len(kinds) > 1 and any(part.dtype.kind == "i" and part.min(initial=0) < 0 for part in numbers):
        raise FormatError(f"{where}: expected 64-bit ids, from -2^63 to 2^63 - 1 or from 0 to 2^64 - 1, found both")
    kind = np.uint64 if np.dtype(np.uint64) in kinds else np.int64
    return np.concatenate([np.empty(0, kind), *(part.astype(kind, copy=False) for part in numbers)])
