"""The registry of input formats: a class of rows for each, by the suffixes of its files; any other file is text.

A class has ``can_be_cut``, whether processes may read spans of a file, and ``again``, the span that is read a second
time, for an error that names its line.
"""

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePath
from typing import NamedTuple

from csaw.partition.arrays.spool import Budget
from csaw.partition.base.parallel import Crew, Lanes, Source
from csaw.partition.base.quoting import quoted, shown
from csaw.partition.errors import FormatError, OptionError, StoreError
from csaw.partition.ingestion.conditions import WHERE
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.text.cells import only_line
from csaw.partition.ingestion.text.pieces import NOTHING_READ, WHOLE, FileRows, InTurn, Piece, Span
from csaw.partition.ingestion.text.rows import TextRows
from csaw.partition.ingestion.text.shape import NO_ROWS, Shape
from csaw.partition.ingestion.text.tables import HIVE, TableRows

Progress = Callable[[int, int], None]
"""Is called with the bytes that are read and their total."""
READERS = {suffix: reader for reader in (TableRows,) for suffix in reader.SUFFIXES}


def reader_of(path: str) -> type[TableRows] | type[TextRows]:
    """The class that reads a file, by its suffix."""
    return READERS.get(PurePath(path).suffix, TextRows)


def opened(
    path: str,
    options: IngestOptions,
    crew: Crew,
    progress: Progress | None = None,
    span: Span = WHOLE,
    files: int = 1,
) -> FileRows:
    """Open a file of edges, of ``files`` that are read side by side. Errors: those of its reader."""
    if (reader := reader_of(path)) is TextRows:
        if options.where:
            raise OptionError(
                f"{shown(path)}: {WHERE}: expected a Parquet or Arrow file, whose columns have types, found text; "
                "leave rows out when the file is made, or convert it to Parquet"
            )
        return TextRows(path, options, crew, progress, span, files)
    return reader(path, options, crew, progress, span)


# Several files as one graph, read side by side: their rows one after the other, in the order of the files, if all of
# them are of one kind.

PASSED_OVER = (".", "_")  # how names begin that are no data, as _SUCCESS beside part files
CHECKSUMS = ".crc"  # of Hadoop's files, whose names may have lost the dot before them
Kind = dict[str, str | int]


def files_of(given: object) -> list[str]:
    """The files that are meant: a path, or several; of a folder, its files in order of their names, and those of
    folders ``NAME=VALUE`` in it; of a pattern with ``*``, ``?`` or ``[``, the paths that match it, in order.

    OptionError, StoreError.
    """
    files = []
    for path in given if isinstance(given, list | tuple) else [given]:
        if not isinstance(path, str | os.PathLike):
            raise OptionError(f"INPUT: expected the path of an edge list or a table, found {quoted(path)}")
        files += _files(os.fsdecode(path))
    if not files:
        raise OptionError("INPUT: expected the path of an edge list or a table, found none")
    if files.count("-") > 1:
        raise OptionError("INPUT: - is standard input, which can be read only once; give it once")
    return files


def _files(path: str) -> list[str]:
    if path != "-" and not os.path.lexists(path) and glob.has_magic(path):
        if not (found := sorted(glob.glob(path, recursive=True))):
            raise StoreError(f"{shown(path)}: expected files with such names, found none")
        return [file for one in found for file in _files(one)]
    if path == "-" or not os.path.isdir(path):
        return [path]
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError as error:
        raise StoreError(f"{shown(path)} cannot be read: {error.strerror}") from error
    if any(entry.name == "zarr.json" for entry in entries):
        raise StoreError(
            f"{shown(path)} is a directory with a store in it; expected an edge list (a graph store goes "
            "to csaw sample or csaw info)"
        )
    entries = [
        entry for entry in entries if not entry.name.startswith(PASSED_OVER) and not entry.name.endswith(CHECKSUMS)
    ]
    for entry in entries:
        if entry.is_dir() and not HIVE.fullmatch(entry.name):
            raise StoreError(f"{shown(entry.path)} is a directory; expected only edge lists or tables in {shown(path)}")
    if not entries:
        raise StoreError(f"{shown(path)} is a directory without files; expected edge lists or tables in it")
    return [file for entry in entries for file in (_files(entry.path) if entry.is_dir() else [entry.path])]


class Look(NamedTuple):
    """A file at first sight; ``error``: of one whose single line is no row."""

    kind: Kind
    shape: Shape
    read_as: str
    weighted: bool
    error: FormatError | None = None
    left_out: int = 0


class Several:
    """The rows of several files, one after the other.

    FormatError names the first file that is of another kind than the first.
    """

    def __init__(
        self, files: list[str], options: IngestOptions, crew: Crew, budget: Budget, progress: Progress | None
    ) -> None:
        self.files, self.options, self.crew, self.budget, self.progress = files, options, crew, budget, progress
        self.sizes = [Path(file).stat().st_size if _lasts(file) else 0 for file in files]
        self.done = [0] * len(files)  # bytes read of each
        self.counts, self.warnings = dict(NOTHING_READ), list[str]()
        self.kept: dict[int, FileRows] = {}  # files that are open
        self.weighted = False
        self.shape, self.read_as = Shape(), list[str]()
        try:
            self._look()
        except BaseException:
            self.close()
            raise

    def opened(self, file: str, progress: Progress | None = None) -> FileRows:
        """Open one of the files."""
        return opened(file, self.options, self.crew, progress, files=len(self.files))

    def _look(self) -> None:
        """Open each file to see of what kind it is. One without rows, with a header or without, has no say."""
        looked = [self._first_look(number, file) for number, file in enumerate(self.files)]
        headers = {look.shape.header_line.encode() for look in looked if look.shape.header_line is not None}
        for look in looked:
            if look.error is not None and look.shape.only not in headers:
                raise look.error
        kept = [
            number
            for number, look in enumerate(looked)
            if not look.shape.empty and not (look.shape.only in headers and look.shape.header_line is None)
        ]
        read = {looked[number].shape.header_line for number in kept}
        for number, look in enumerate(looked):
            header = look.shape.header_line or (look.shape.only or b"").decode(errors="replace")
            if number not in kept and header and read and header not in read:
                self.warnings.append(
                    f"{self.files[number]}: there are no rows below its header, {quoted(header)}, which other "
                    "files do not have; its columns are left out"
                )
        how = (look.read_as if number in kept else NO_ROWS for number, look in enumerate(looked))
        self.read_as = grouped(zip(self.files, how, strict=True))
        self.kept = {kept.index(number): rows for number, rows in self.kept.items() if number in kept}
        self.counts["left_out"] = sum(look.left_out for number, look in enumerate(looked) if number not in kept)
        self.files, self.sizes = [self.files[number] for number in kept], [self.sizes[number] for number in kept]
        self.done = [0] * len(kept)
        first: tuple[int, Kind] | None = None
        for number, look in enumerate(looked[place] for place in kept):
            first = first or (number, {"direction": "directed", **look.kind})
            self._compare(first, number, look)

    def _first_look(self, number: int, file: str) -> "Look":
        """Open a file, and close it again if it can be opened once more; its error, if it has a single line that may be
        a header.
        """
        try:
            rows = self.opened(file)
        except FormatError as error:
            if not _lasts(file) or (only := only_line(file)) is None:
                raise
            return Look({}, Shape(empty=True, only=only), NO_ROWS, False, error)
        look = Look({} if rows.shape.empty else rows.kind, rows.shape, rows.read_as, rows.weighted)
        look = look._replace(left_out=rows.counts["left_out"])
        self.kept[number] = rows
        if _lasts(file):
            self.kept.pop(number).close()
        return look

    def _compare(self, first: tuple[int, Kind], place: int, look: "Look") -> None:
        number, wanted = first
        found, shape = look.kind, look.shape
        # one option for all; part files have a header in the first alone
        if self.options.directed is not None or "direction" not in found:
            found["direction"] = wanted["direction"]
        if differs := next((name for name in {**wanted, **found} if wanted.get(name) != found.get(name)), None):
            raise FormatError(
                f"{self.files[place]}: expected {differs}: {wanted.get(differs, 'none')}, as in "
                f"{self.files[number]}, found {found.get(differs, 'none')}; all files of one graph are read in "
                f"the same way: {WAYS[differs]}make the files alike"
            )
        if place == number:
            self.weighted = look.weighted
            self.shape = Shape(
                strings=shape.strings,
                undirected=shape.undirected,
                header_line=shape.header_line,
                offset=shape.offset,
            )

    def __iter__(self) -> Iterator[Piece]:
        sources = [
            Source(partial(self._pieces, number), waits=not _lasts(file)) for number, file in enumerate(self.files)
        ]
        ended = iter(range(len(sources)))
        for rows, counted in Lanes(self.crew, lambda: self.budget.left).in_order(_parsed, sources):
            if counted is not None:
                yield counted()
                continue
            rows.end()
            rows.close()
            del self.kept[next(ended)]  # the memory, too, that its rows are in
            self.note(rows)

    def note(self, rows: FileRows) -> None:
        """Take over the counts and warnings of a file that was read."""
        self.warnings += [f"{rows.path}: {warning}" for warning in rows.warnings]
        for name in self.counts:
            self.counts[name] += rows.counts[name]

    def _pieces(self, number: int) -> Iterator[tuple[int, tuple[FileRows, Callable[[], InTurn] | None]]]:
        """What parses each piece of a file, and how much room it takes; None behind the last."""
        rows = self.kept.get(number) or self.opened(self.files[number], self._progress_of(number))
        self.kept[number] = rows
        for piece in rows.pieces():
            yield piece.nbytes, (rows, piece.parse)
        yield 0, (rows, None)

    def _progress_of(self, number: int) -> Progress | None:
        if self.progress is None:
            return None
        total, tell = sum(self.sizes), self.progress

        def done_of_file(done: int, _: int) -> None:
            self.done[number] = done
            tell(sum(self.done), total)

        return done_of_file

    def close(self) -> None:
        """Let go of all files."""
        for rows in self.kept.values():
            rows.close()


def reader(
    files: list[str], options: IngestOptions, crew: Crew, budget: Budget, progress: Progress | None
) -> FileRows | Several:
    """The rows of all files."""
    if len(files) == 1:
        return opened(files[0], options, crew, progress)
    return Several(files, options, crew, budget, progress)


WAYS = {
    "format": "",
    "ids": "say how with --id-type string, or ",
    "direction": "say how with --directed or --undirected, or ",
    "source column": "say how with --source-column, or ",
    "target column": "say how with --target-column, or ",
    "target offset": "say how with --target-offset, or ",
    "weight column": "say with --weight-column which all of them have, or none, or ",
    "edge columns": "say how with --edge-column, or ",
    "columns": "leave weights out with --weight-column none, or ",
}
"""What there is to do where files differ in a property of their ``kind``, beside making them alike."""


def _parsed(rows: FileRows, parse: Callable[[], InTurn] | None) -> tuple[FileRows, InTurn | None]:
    """What counts the rows of a piece, beside the file that it is of; None behind the last."""
    return rows, None if parse is None else parse()


def grouped(said: Iterable[tuple[str, str]]) -> list[str]:
    """The line about each file, once for consecutive files that are read alike."""
    runs = [(how, [file for file, _ in run]) for how, run in groupby(said, key=itemgetter(1))]
    if len(runs) == 1:
        return [runs[0][0]]
    return [f"{files[0]}{f' to {files[-1]}' if len(files) > 1 else ''}: {how}" for how, files in runs]


def _lasts(file: str) -> bool:
    """Whether it can be opened again."""
    return file != "-" and os.path.isfile(file)
