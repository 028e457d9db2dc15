"""Tables with primary and foreign keys as a graph: each row is a vertex, and each foreign key a relation.

A JSON file describes them:

    {"tables": {
        "customer": {"file": "customers.csv", "key": "id"},
        "order": {"file": "orders.parquet", "key": "id", "time": "placed", "references": {"customer_id": "customer"}}}}

Row 3 of ``order`` becomes the vertex ``order:ID``, the fourth of its type, with an edge of the relation
order-customer_id-customer to the row whose key it has. An edge has the time of the row that it leads to, so that in
time a row is drawn only if it is early enough; rows of tables without times are earlier than all times. The columns of
keys and times are in memory together.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from csaw.partition.arrays.words import Words
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import FormatError, MissingDependencyError, OptionError, StoreError
from csaw.partition.graph.edge_columns import BEFORE_ALL
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.graph.types import RELATIONS_READ, REVERSES, TYPE, Relation, Types, distinct, prefix_of
from csaw.partition.ingestion.hetero_data import Edges, in_memory
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.time_column import FORMATS, MOST_DECIMALS, TimeColumn
from csaw.partition.ingestion.typed_rows import typed

if TYPE_CHECKING:
    from pyarrow import ChunkedArray
    from pyarrow import Table as Columns

SUFFIX, TABLES = ".json", "tables"
OWN, OF_TIMES = ("file", "key", "time", "references"), ("time_format", "time_decimals")
STORED = ("partitions", "partition_bytes", "balance", "compression", "overwrite")
TAKEN = {*STORED, "on_error", "threads"}
NO_ROW = -1
SHOWN = "users.csv, users.parquet or users.feather"


LOOKED_AT = 4096  # bytes, in which an object begins


class Table(NamedTuple):
    """A table: the file, the columns of its primary key and of its times, and the relation of each foreign key by the
    column.
    """

    name: str
    path: str
    key: str | None
    time: str | None
    references: dict[str, Relation]

    @property
    def keys(self) -> list[str]:
        """The columns of keys, each once, which are read as text."""
        return list(dict.fromkeys([*([] if self.key is None else [self.key]), *self.references]))


@dataclass(frozen=True)
class KeyedTables:
    """The tables that the file at ``path`` describes; ``reversed``: whether each relation gets its reverse."""

    path: str
    tables: tuple[Table, ...]
    clock: TimeColumn | None = None  # how times are read; None: as dates if they are some, otherwise as integers
    reversed: bool = False

    @classmethod
    def of(cls, inputs: object, reversed: bool = False) -> "KeyedTables | None":
        """The tables that a single path describes; None where it is no JSON file of tables. FormatError for one whose
        tables cannot be read as such.
        """
        paths = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
        if not isinstance(paths, Sequence) or len(paths) != 1 or not isinstance(paths[0], str | os.PathLike):
            return None
        path = Path(paths[0])
        if path.suffix.lower() != SUFFIX or not path.is_file():
            return None
        with path.open("rb") as file:
            if not file.read(LOOKED_AT).lstrip().startswith(b"{"):
                return None  # no object: rows of edges, whatever the name says
        try:
            said = json.loads(path.read_text("utf-8"), object_pairs_hook=partial(_once, path))
            json.dumps(said, ensure_ascii=False).encode()  # no half of a character, which no file and column can have
        except FormatError:
            raise
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{path}: expected JSON, found none: {error}") from error
        if not isinstance(said, dict) or TABLES not in said:
            return None
        if not isinstance(said[TABLES], dict):
            raise FormatError(f"{path}: {TABLES}: expected tables by their names, found {quoted(said[TABLES])}")
        tables = tuple(_table(path, name, one, said[TABLES]) for name, one in said[TABLES].items())
        found = cls(str(path), tables, _clock(path, said), reversed)
        try:
            distinct(Relation.of(one.source, one.name, one.target) for one in found.relations)
        except OptionError as error:
            raise FormatError(f"{path}: {error}") from error
        if not found.relations:
            raise FormatError(f"{path}: expected references of at least one table, found none")
        return found

    @property
    def paths(self) -> list[str]:
        """The files of all tables."""
        return [table.path for table in self.tables]

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations by their numbers: those of the foreign keys, then the reverse of each."""
        forward = tuple(one for table in self.tables for one in table.references.values())
        return (*forward, *(one.reverse for one in forward)) if self.reversed else forward


def _clock(path: Path, said: Mapping[str, object]) -> TimeColumn | None:
    """How the file wants times to be read; None where it does not say."""
    if others := sorted(said.keys() - {TABLES, *OF_TIMES}):
        raise FormatError(f"{path}: expected {TABLES} and maybe {' and '.join(OF_TIMES)}, found {quoted(others[0])}")
    known, decimals = said.get(OF_TIMES[0]), said.get(OF_TIMES[1], 0)
    if known not in (None, *FORMATS) or type(decimals) is not int or not 0 <= decimals <= MOST_DECIMALS:
        raise FormatError(
            f"{path}: expected a {OF_TIMES[0]} of {', '.join(FORMATS)}, and {OF_TIMES[1]} from 0 to {MOST_DECIMALS}, "
            f"found {quoted(known)} and {quoted(decimals)}"
        )
    try:
        return TimeColumn.of(str(known or "iso"), decimals) if known or decimals else None
    except OptionError as error:
        raise FormatError(f"{path}: {error}") from error


def _once(path: Path, pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of the file. FormatError where one name is there twice, of which Python would take the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"{path}: expected different names in an object, found {quoted(twice)} twice")
    return found


def _table(path: Path, name: str, said: object, all_tables: Mapping[str, object]) -> Table:
    """The table of a name as the JSON file describes it."""
    where = f"{path}: {TABLES}: {name}"
    if not TYPE.fullmatch(name):
        raise FormatError(
            f"{path}: {TABLES}: expected names of a letter and up to 63 letters, digits and underscores, found "
            f"{quoted(name)}"
        )
    if not isinstance(said, dict) or not isinstance(said.get("file"), str) or set(said) - set(OWN):
        raise FormatError(
            f"{where}: expected an object with file, such as {SHOWN}, and maybe key, time and references, found "
            f"{quoted(said)}"
        )
    for one in ("key", "time"):
        if not isinstance(said.get(one), str | None):
            raise FormatError(f"{where}: {one}: expected the name of a column, found {quoted(said[one])}")
    given, references = said.get("references", {}), dict[str, Relation]()
    if not isinstance(given, dict):
        raise FormatError(f"{where}: references: expected tables by the names of columns, found {quoted(given)}")
    for column, to in given.items():
        to = {"table": to} if isinstance(to, str) else to
        if not isinstance(to, dict) or to.get("table") not in [*all_tables] or set(to) - {"table", "name"}:
            raise FormatError(
                f"{where}: references: {column}: expected one of the tables {', '.join(all_tables)}, or an object with "
                f"table and name, found {quoted(given[column])}"
            )
        try:
            references[column] = Relation.of(name, to.get("name", column), to["table"])  # type: ignore[arg-type]  # refused there
        except OptionError as error:
            raise FormatError(f"{where}: references: {error}; give the relation another name") from error
    return Table(name, str(path.parent / said["file"]), said.get("key"), said.get("time"), references)


def tables_in_memory(given: KeyedTables, options: IngestOptions) -> InMemory:
    """The graph of some tables, whose report says what became of their rows.

    OptionError for an option that is of files of edges alone, FormatError for a key or a time that is none.
    """
    _refuse_others(options)
    return _Joined(given, options).graph()


def _refuse_others(options: IngestOptions) -> None:
    usual = IngestOptions()
    for one in fields(options):
        if one.name not in TAKEN and getattr(options, one.name) != getattr(usual, one.name):
            flag = "undirected" if options.directed is False and one.name == "directed" else one.name
            raise OptionError(
                f"--{flag.replace('_', '-')}: not possible for tables with keys, whose columns their JSON file "
                "names; leave it out"
            )


class _Joined:
    """The rows of tables, joined by their keys."""

    def __init__(self, given: KeyedTables, options: IngestOptions) -> None:
        self.given, self.skips = given, options.on_error == "skip"
        self.tables = {table.name: table for table in given.tables}
        self.held = {table.name: _read(table, table.keys) for table in given.tables}
        self.cells = {table.name: self._cells_of_times(table) for table in given.tables if table.time is not None}
        self.sizes = {name: columns.num_rows for name, columns in self.held.items()}
        self.names = sorted(self.tables, key=prefix_of)
        self.first = dict(zip(self.names, np.cumsum([0, *(self.sizes[n] for n in self.names)]).tolist(), strict=False))
        self.clock = given.clock or self._usual_clock()
        self.keys = {table.name: self._keys(table) for table in given.tables if table.key is not None}
        self.times = {table.name: self._times(table) for table in given.tables if table.time is not None}
        self.said, self.skipped = list[str](), 0

    def graph(self) -> InMemory:
        """The graph of all rows."""
        forward = [edges for table in self.given.tables for edges in self._edges(table)]
        parts = [*forward, *((target, source) for source, target in forward)] if self.given.reversed else forward
        source, target = (np.concatenate([one[k] for one in parts]) for k in (0, 1))
        counts = tuple(one.size for one, _ in parts)
        bounds = (*self.first.values(), sum(self.sizes.values()))
        types = Types(tuple(self.names), bounds, self.given.relations, counts)
        relation = np.repeat(np.arange(len(counts), dtype=np.uint8), counts)
        time = {self.clock.text: self._time_of_rows()[target]} if self.times else {}
        edges = Edges(types, source, target, relation, None)
        held, _ = in_memory(edges, self.given.path, self._words(), time)
        held.report = self._report(held, sum(one.size for one, _ in forward))
        return held

    def _cells_of_times(self, table: Table) -> "ChunkedArray":
        """The column of times, not as the text that one of keys is."""
        return (_read(table, []) if table.time in table.keys else self.held[table.name])[table.time]

    def _usual_clock(self) -> TimeColumn:
        """Seconds since 1970 where the first column of times has dates, else integers as they are."""
        from pyarrow import types

        kinds = [cells.type for cells in self.cells.values() if not types.is_null(cells.type)]  # null: without a value
        dated = bool(kinds) and not (types.is_integer(kinds[0]) or types.is_floating(kinds[0]))
        return TimeColumn.of("iso" if dated else "numbers", 0)

    def _keys(self, table: Table) -> "ChunkedArray":
        """The primary keys of a table as text. FormatError for a row without one, or with that of another."""
        from pyarrow import compute

        keys = self._text_of(table, table.key)
        there = keys.is_valid().to_numpy(zero_copy_only=False)
        if not there.all():
            raise FormatError(f"{_row(table, table.key, int(np.argmin(there)))}: expected a primary key, found none")
        first = compute.index_in(keys, value_set=keys.unique())
        once = np.unique(first.to_numpy(zero_copy_only=False), return_index=True)[1]
        if once.size < len(keys):
            row = int(np.setdiff1d(np.arange(len(keys)), once)[0])
            raise FormatError(
                f"{_row(table, table.key, row)}: expected a primary key that no other row has, found "
                f"{quoted(keys[row].as_py())} again"
            )
        return keys

    def _text_of(self, table: Table, column: str | None) -> "ChunkedArray":
        """The keys in a column as text. FormatError for what is none."""
        import pyarrow

        cells = self.held[table.name][column]
        if pyarrow.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        try:
            return (
                _text_of_floats(table, column, cells) if pyarrow.types.is_floating(cells.type) else cells.cast("string")
            )
        except pyarrow.ArrowException as error:
            raise FormatError(
                f"{table.path}: column {column} holds {cells.type}, expected keys that are integers or UTF-8 text"
            ) from error

    def _times(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """The times of the rows of a table, int64, and which rows have one, bool. FormatError for a cell that is no
        time, and where rows without one are not skipped.
        """
        from pyarrow import types

        from csaw.partition.ingestion.text.tables import shown, times_of_column

        column = self.cells[table.name].combine_chunks()
        if types.is_null(column.type):
            column = column.cast("string" if self.clock.iso else "int64")
        found = times_of_column(column, self.clock)
        if found is None:
            raise FormatError(
                f"{table.path}: column {table.time} holds {column.type}, expected times of the {OF_TIMES[0]} "
                f"{'iso' if self.clock.iso else 'numbers'}; all tables need times of one format"
            )
        values, good = found
        if not good.all() and not self.skips:
            row = int(np.argmin(good))
            raise FormatError(
                f"{_row(table, table.time, row)}: expected {self.clock.expected}, found "
                f"{shown(column[row])}; pass --on-error skip to leave out the edges to such rows"
            )
        return values, good

    def _time_of_rows(self) -> np.ndarray:
        """The time of each vertex."""
        found = np.full(sum(self.sizes.values()), BEFORE_ALL)
        for name, (values, _) in self.times.items():
            found[self.first[name] : self.first[name] + values.size] = values
        return found

    def _edges(self, table: Table) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The ends of the edges of each foreign key of a table."""
        from pyarrow import compute

        for column, relation in table.references.items():
            to, cells = self.tables[relation.target], self._text_of(table, column)
            if to.key is None:
                raise FormatError(
                    f"{self.given.path}: {TABLES}: {to.name}: expected a key, because {table.name} refers to it"
                )
            row = compute.index_in(cells, value_set=self.keys[to.name]).fill_null(NO_ROW)
            row = row.to_numpy(zero_copy_only=False).astype(np.int64)
            there = cells.is_valid().to_numpy(zero_copy_only=False)
            lost = np.flatnonzero(there & (row == NO_ROW))
            if lost.size and not self.skips:
                raise FormatError(
                    f"{_row(table, column, int(lost[0]))}: expected a key of {to.name}, found "
                    f"{quoted(cells[int(lost[0])].as_py())} ({lost.size:,} rows refer to none); pass --on-error skip "
                    "to leave out such edges"
                )
            kept = np.flatnonzero(row != NO_ROW)
            late = self._without_time(table, kept) | self._without_time(to, row[kept])
            self.skipped += lost.size + int(late.sum())
            self.said.append(
                f"{relation}: {kept.size - int(late.sum()):,} of {there.size:,} rows, {int((~there).sum()):,} without "
                f"a {column}"
            )
            kept = kept[~late]
            yield self.first[table.name] + kept, self.first[to.name] + row[kept]

    def _without_time(self, table: Table, rows: np.ndarray) -> np.ndarray:
        """Whether each of these rows should have a time and has none."""
        return ~self.times[table.name][1][rows] if table.name in self.times else np.zeros(rows.size, bool)

    def _words(self) -> Words:
        """The ids of all vertices: the name of a table and a key, or the number of the row."""
        cells = []
        for name in self.names:
            ids = self.keys[name].to_pylist() if name in self.keys else None
            words = np.arange(self.sizes[name]) if ids is None else [word.encode() for word in ids]
            cells.append(typed(words, prefix_of(name)))
        sizes = np.concatenate([one.sizes for one in cells])
        return Words(np.append(0, np.cumsum(sizes)), np.concatenate([one.text for one in cells]))

    def _report(self, held: InMemory, edges: int) -> dict[str, object]:
        """Describe the reading, as the report of any ingest does."""
        degrees = np.diff(held.indptr)
        alone = (degrees == 0) & (np.bincount(held.indices.astype(np.int64), minlength=degrees.size) == 0)
        tables = [
            f"{table.name}: {self.sizes[table.name]:,} rows, "
            + ("numbered" if table.key is None else f"key {table.key}")
            + f", time {table.time}" * (table.time is not None)
            for table in self.given.tables
        ]
        return {
            "lines": sum(self.sizes.values()),
            "comments": 0,
            "blank": 0,
            "edges": edges,
            "skipped": self.skipped,
            "read_as": [*tables, *self.said],
            "vertices": held.vertices,
            "stored_edges": held.edges,
            "duplicates": 0,
            "duplicates_policy": "keep",
            REVERSES: self.given.reversed,
            RELATIONS_READ: {
                str(one): {"ids": "string", "weights": False}
                for table in self.given.tables
                for one in table.references.values()
            },
            "self_loops": int((np.repeat(np.arange(degrees.size), degrees) == held.indices).sum()),
            "self_loops_dropped": False,
            "dead_ends": int((degrees == 0).sum()),
            "isolated": int(alone.sum()),
            "reciprocity": None,
            "warnings": [],
            "weights": "none",
        }


def _row(table: Table, column: str | None, row: int) -> str:
    """A cell, in the words of errors; rows count from 1."""
    return f"{table.path}: row {row + 1}, column {column}"


def _read(table: Table, texts: Sequence[str]) -> "Columns":
    """The columns of keys and times of a table, of a CSV file ``texts`` as text. FormatError for a file that is none,
    or lacks one of them.
    """
    try:
        import pyarrow
        from pyarrow import csv, parquet
    except ImportError as error:
        raise MissingDependencyError(f"{table.path}: tables with keys need pyarrow: pip install pyarrow") from error
    if not Path(table.path).is_file():
        raise StoreError(f"{table.path} does not exist or is not a file")
    from csaw.partition.ingestion.text.tables import arrow_table

    name = table.path.lower()
    try:
        if name.endswith((".csv", ".csv.gz", ".tsv")):
            cells = csv.ParseOptions(delimiter="\t" if name.endswith(".tsv") else ",", newlines_in_values=True)
            kinds = dict.fromkeys(texts, pyarrow.string())
            read = csv.ConvertOptions(column_types=kinds, strings_can_be_null=True, null_values=[""])
            found = csv.read_csv(table.path, parse_options=cells, convert_options=read)
        elif name.endswith((".parquet", ".pq")):
            found = parquet.read_table(table.path)
        else:
            found = arrow_table(table.path)
        columns = found.column_names
    except (pyarrow.ArrowException, OSError, UnicodeError) as error:
        raise FormatError(
            f"{table.path}: the file is damaged, or its type differs from its suffix; expected {SHOWN} ({error})"
        ) from error
    wanted = list(dict.fromkeys([*table.keys, *([] if table.time is None else [table.time])]))
    if missing := [one for one in wanted if columns.count(one) != 1]:
        raise FormatError(f"{table.path}: expected one column {quoted(missing[0])}, found {', '.join(columns)}")
    return found.select(wanted)


def _text_of_floats(table: Table, column: str | None, cells: "ChunkedArray") -> "ChunkedArray":
    """Floats, which pandas makes of integers among nulls, as the integers that they are; NaN as none. FormatError for
    one so large that it may be what is left of several integers.
    """
    import pyarrow
    from pyarrow import compute

    held = cells.to_numpy(zero_copy_only=False)
    exact = np.isnan(held) | (np.abs(held) < 2 ** (np.finfo(held.dtype).nmant + 1))
    if not exact.all():
        row = int(np.argmin(exact))
        raise FormatError(
            f"{_row(table, column, row)}: expected a key, found the float {held[row]}, which may be what is left of "
            "another integer; store such keys as integers (in pandas Int64) or as text"
        )
    held = held.astype(np.float64)
    whole = held == np.rint(held)
    integers = pyarrow.array(np.where(whole, held, 0).astype(np.int64), mask=~whole)
    return compute.coalesce(integers.cast("string"), pyarrow.array(held, mask=np.isnan(held)).cast("string"))
