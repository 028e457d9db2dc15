"""The rows of several relations as one graph: ids get the names of their types, edges the number of their relation.

    author-writes-paper=writes.csv      author:17 -> paper:3, relation 0
    paper-cites-paper=cites.csv         paper:3 -> paper:8, relation 1

Each relation is read like a graph of its own, by the readers of its files.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

import numpy as np

from csaw.partition.arrays.spool import Budget
from csaw.partition.base.compile import njit
from csaw.partition.base.parallel import Crew
from csaw.partition.base.plain_data import OptionValue, Record
from csaw.partition.base.quoting import quoted, shown
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.graph.edge_columns import WEIGHT
from csaw.partition.graph.types import RELATION, RELATIONS_READ, REVERSES, Relation, distinct, prefix_of
from csaw.partition.ingestion.ingest_options import IngestOptions
from csaw.partition.ingestion.passes import bytes_of
from csaw.partition.ingestion.text.blocks import read_blocks
from csaw.partition.ingestion.text.pieces import NOTHING_READ, Ends, FileRows, Piece
from csaw.partition.ingestion.text.readers import Progress, Several, files_of, opened, reader, reader_of
from csaw.partition.ingestion.text.rows import TextRows
from csaw.partition.ingestion.text.shape import Shape
from csaw.partition.ingestion.text.word_cells import Cells

GIVEN = "="  # between a relation and its file, on the command line
ALONE = {  # options for which a graph of types has no use, with the reason
    "reverse": "each relation has a direction; --reverse-relations adds the other one",
    "partitioner": "csaw groups its vertices by type",
    "num_clusters": "clusters are made of vertices of one type",
    "target_offset": "ids of different types are different anyway",
}
Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class RelationFiles:
    """The files of each relation; ``reversed``: whether each has one more, with its edges in the other direction.

    ``ways``: options by which only some relations are read. ``weighted``: edges have weights even if no file has some.
    """

    files: tuple[tuple[Relation, tuple[str, ...]], ...]
    reversed: bool = False
    ways: Mapping[Relation, Mapping[str, OptionValue]] = field(default_factory=dict)
    weighted: bool = False

    @classmethod
    def of(cls, given: Mapping[Relation, Files], reversed: bool = False) -> "RelationFiles":
        """The relations of these files, or folders. OptionError for relations that are given twice."""
        found = cls(tuple((one, tuple(files_of(files))) for one, files in given.items()), reversed)
        distinct(found.relations)
        return found

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations in the order of their numbers: those of the files, then the reverse of each."""
        forward = tuple(one for one, _ in self.files)
        return (*forward, *(one.reverse for one in forward)) if self.reversed else forward

    @property
    def paths(self) -> list[str]:
        """All files, in order."""
        return [path for _, paths in self.files for path in paths]


def relations_given(inputs: Sequence[str]) -> dict[Relation, Files] | None:
    """The relations of the arguments ``SOURCE-NAME-TARGET=FILE``; None if none of these is one.

    OptionError if only some are, if one relation has several arguments, or if one has no file.
    """
    parts = [text.partition(GIVEN) for text in inputs]
    for (name, equals, path), text in zip(parts, inputs, strict=True):
        if equals and not path and name.count("-") > 1 and not os.path.exists(text):
            raise OptionError(f"INPUT: {quoted(text)}: expected a file or folder after the {GIVEN}, found nothing")
    named = [
        "-" in name and bool(path) and not os.path.exists(text)
        for (name, _, path), text in zip(parts, inputs, strict=True)
    ]
    if not any(named):
        return None
    if not all(named):
        raise OptionError(
            f"INPUT: {quoted(inputs[named.index(False)])} has no relation; expected SOURCE-NAME-TARGET=FILE for every "
            f"file, such as {quoted(inputs[named.index(True)])}, or for none"
        )
    given: dict[Relation, Files] = {}
    for name, _, path in parts:
        distinct([*given, relation := Relation.parsed(name)])
        given[relation] = path
    return given


def relations_of(inputs: object) -> dict[Relation, Files] | None:
    """The relations of a dict such as ``{("author", "writes", "paper"): "writes.csv"}``; None for anything else.

    A key may also be a text, ``"author-writes-paper"``, if its value is a single path. OptionError where all keys are
    tuples of three names, and the value of one is no files.
    """
    if not isinstance(inputs, Mapping) or not inputs:
        return None
    others = [(key, files) for key, files in inputs.items() if not _are_files(key, files)]
    if others and all(_is_triple(key) for key in inputs):
        key, files = others[0]
        raise OptionError(
            f"graph: {quoted(key)}: expected the path of a file or folder, or several, found {quoted(files)}"
        )
    if others:
        return None
    keys = [Relation.parsed(key) if isinstance(key, str) else Relation.of(*key) for key in inputs]
    return dict(zip(distinct(keys), inputs.values(), strict=True))


def _are_files(key: object, files: object) -> bool:
    """Whether these are a relation and its files, and not a vertex and its neighbors."""
    if isinstance(key, str):
        return key.count("-") >= 2 and isinstance(files, str | os.PathLike)
    several = files if isinstance(files, list | tuple) else [files]
    return _is_triple(key) and bool(several) and all(isinstance(one, str | os.PathLike) for one in several)


def _is_triple(key: object) -> bool:
    """Whether a key has the three names of a relation; vertices are no tuples."""
    return isinstance(key, tuple) and len(key) == 3 and all(isinstance(one, str) for one in key)


def options_of(options: IngestOptions, given: RelationFiles) -> IngestOptions:
    """The options of an ingest of these relations: ids are strings, and edges have the column ``relation``.

    OptionError for an option that such a graph cannot have.
    """
    usual = IngestOptions()
    for name, reason in ALONE.items():
        if getattr(options, name) != getattr(usual, name):
            flag = f"--{name.replace('_', '-')}"
            raise OptionError(f"{flag}: not possible for a graph of several types, because {reason}; leave it out")
    if options.edge_ids and given.reversed:
        raise OptionError(
            "--edge-ids: with --reverse-relations two edges come from each row; leave out one of these options"
        )
    if options.directed is False:
        raise OptionError("--undirected: each relation has a direction; --reverse-relations adds the other one")
    return replace(options, directed=True, id_type="string", edge_columns=(*options.edge_columns, RELATION.text))


class TypedRows:
    """The rows of all relations, one after the other, whose ids begin with their types.

    A relation without weights has the weight 1 if another one has weights. FormatError names a file that is malformed.
    """

    def __init__(
        self, given: RelationFiles, options: IngestOptions, crew: Crew, budget: Budget, progress: Progress | None
    ) -> None:
        """``options``: those of the user, by which files are read."""
        self.given, self.copies = given, 2 if given.reversed else 1  # edges from each row
        self.place = len(options.edge_columns)  # of the column ``relation`` among those that are no weights
        self.sizes = [sum(map(bytes_of, paths)) for _, paths in given.files]
        self.done = [0] * len(self.sizes)
        reading = replace(options, target_offset=0)  # the ids of another type are others anyway
        self.rows: list[FileRows | Several] = []
        self.stack = ExitStack()
        try:
            for number, (relation, paths) in enumerate(given.files):
                told = partial(self._tell, number, progress) if progress else None
                own = replace(reading, **given.ways.get(relation, {}))
                found = _with_columns(relation, paths, own, crew)
                self.rows.append(rows := reader(list(paths), found, crew, budget, told))
                self.stack.callback(rows.close)
                if found is own:
                    _require_order(relation, paths, rows.shape.header_line, own, crew)
                    _require_no_names_in_rows(relation, paths, own)
                if options.directed is None and rows.shape.undirected and relation.source == relation.target:
                    raise OptionError(
                        f"{relation}: {paths[0]} says that its edges have no direction, but those of a relation have "
                        "one; pass --directed to read each row as one edge"
                    )
        except BaseException:
            self.close()
            raise
        self.weighted = given.weighted or any(rows.weighted for rows in self.rows)
        self.shape = Shape(strings=True)
        self.warnings: list[str] = []

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of lines by what they are."""
        return {name: sum(rows.counts[name] for rows in self.rows) for name in NOTHING_READ}

    @property
    def read_as(self) -> list[str]:
        """How each relation is read."""
        said = (rows.read_as if isinstance(rows.read_as, str) else "; ".join(rows.read_as) for rows in self.rows)
        return [f"{one}: {how}" for (one, _), how in zip(self.given.files, said, strict=True)]

    @property
    def facts(self) -> Record:
        """How relations were read, for the report; one without edges is not there."""
        read = {
            str(relation): {"ids": "string" if rows.shape.strings else "int", "weights": rows.weighted}
            for (relation, _), rows in zip(self.given.files, self.rows, strict=True)
            if rows.counts["edges"]
        }
        return {REVERSES: self.given.reversed, RELATIONS_READ: read}

    def __iter__(self) -> Iterator[Piece]:
        many = len(self.rows)
        for number, ((relation, _), rows) in enumerate(zip(self.given.files, self.rows, strict=True)):
            source, target = prefix_of(relation.source), prefix_of(relation.target)
            for piece in rows:
                src, dst = typed(piece.src, source), typed(piece.dst, target)
                yield Piece(src, dst, self._columns(piece, src, number, rows.weighted))
                if self.given.reversed:
                    yield Piece(dst, src, self._columns(piece, src, many + number, rows.weighted))
            several = len(self.given.files) > 1
            self.warnings += [f"{relation}: {warning}" if several else warning for warning in rows.warnings]

    def _columns(self, piece: Piece, src: Cells, number: int, weighted: bool) -> tuple[np.ndarray, ...]:
        """The columns of a piece, with the relation behind those that the user has named."""
        size, columns = src.sizes.size, list(piece.columns)
        weights = [columns.pop(0)] if weighted else [np.ones(size, WEIGHT.dtype)] * self.weighted
        columns.insert(self.place, np.full(size, number, RELATION.dtype))
        return (*weights, *columns)

    def _tell(self, number: int, progress: Progress, done: int, _: int) -> None:
        self.done[number] = done
        progress(sum(self.done), sum(self.sizes))

    def close(self) -> None:
        """Let go of all files."""
        self.stack.close()


def _with_columns(relation: Relation, paths: Sequence[str], options: IngestOptions, crew: Crew) -> IngestOptions:
    """The options, with the columns of both ends by the names of their types if the header of the first file has these:
    of author-writes-paper ``author`` and ``paper``, or ``author_id`` and ``paper_id``, in any order.

    Several files with these in the first two columns are read by position, because the others may have no header.
    """
    if _are_said(relation, options) or not os.path.isfile(paths[0]):
        return options
    for source, target in product(_columns_of(relation.source), _columns_of(relation.target)):
        named = replace(options, source_column=source, target_column=target)
        with suppress(OptionError, FormatError), closing(opened(paths[0], named, crew)) as rows:  # or it has none
            return options if len(paths) > 1 and _are_first(relation, rows.shape.header_line) else named
    return options


def _are_said(relation: Relation, options: IngestOptions) -> bool:
    """Whether the columns of both ends need no names of types: because the user names them, or the types are one."""
    given = options.source_column is not None or options.target_column is not None
    return given or relation.source == relation.target


def _require_order(
    relation: Relation, paths: Sequence[str], header: str | None, options: IngestOptions, crew: Crew
) -> None:
    """OptionError where files are read by position, and one has a header that names both types elsewhere: a stream,
    which is read once, or one behind a first file that has none.
    """
    if _are_said(relation, options):
        return
    headers = [] if os.path.isfile(paths[0]) else [(paths[0], header)]
    for path in filter(os.path.isfile, paths[1:]):
        with suppress(OptionError, FormatError), closing(opened(path, options, crew)) as rows:  # said by its reader
            headers.append((path, rows.shape.header_line))
    for path, found in headers:
        if _are_first(relation, found) is False:
            raise OptionError(
                f"{relation}: expected {relation.source} and {relation.target} in the first two columns of "
                f"{shown(path)}, found the header {quoted(found)}; a stream is read by position, and so are files of "
                "which the first has no header: reorder the columns, or give files that all have one"
            )


LONGEST_HEAD = 1 << 16  # bytes in which the first line of a file is looked for


def _require_no_names_in_rows(relation: Relation, paths: Sequence[str], options: IngestOptions) -> None:
    """OptionError for a text whose first line is read as a row or as a comment, but names the types of the ends: of one
    type twice, or in another order.
    """
    if options.source_column is not None or options.target_column is not None:
        return
    for path in (path for path in paths if os.path.isfile(path) and reader_of(path) is TextRows):
        head = bytes(next(read_blocks(path), b""))[:LONGEST_HEAD].decode("utf-8", "replace")
        line = next((line for line in head.splitlines() if line.strip("#% \t")), "")
        if relation.source == relation.target and not line.startswith(("#", "%")):
            wrong = _are_first(relation, line) is True
        else:
            wrong = line.startswith(("#", "%")) and _are_first(relation, line.lstrip("#% \t")) is False
        if wrong:
            raise OptionError(
                f"{relation}: {shown(path)} begins with {quoted(line)}, which names its columns, but would be read as "
                "a row or a comment; remove this line, and put the source into the first column"
            )


def _are_first(relation: Relation, header: str | None) -> bool | None:
    """Whether a header names the types of both ends in the first two columns; None where it does not name both."""
    cells = re.split(r"[,;|\t]", header or "")
    cells = cells if len(cells) > 1 else (header or "").split()
    names = [re.sub(r"[\s_\"']", "", one).lower() for one in cells]
    wanted = [
        [name.replace("_", "").lower() for name in _columns_of(end)] for end in (relation.source, relation.target)
    ]
    if not all(set(ends) & set(names) for ends in wanted):
        return None
    return all(name in ends for name, ends in zip(names, wanted, strict=False))


def _columns_of(name: str) -> tuple[str, str]:
    """The names that a column with the ids of a type may have; case, blanks and underscores do not count."""
    return name, f"{name}id"


def typed(ends: Ends, prefix: bytes) -> Cells:
    """The words or numbers of some ends, each behind the name of its type."""
    before = np.frombuffer(prefix, np.uint8)
    if isinstance(ends, np.ndarray):
        sizes, text = np.empty(ends.size, np.int64), np.empty(ends.size * (before.size + MOST_DIGITS), np.uint8)
        used = put_numbers_behind(before, np.abs(ends).astype(np.uint64), ends < 0, sizes, text)
        return Cells(text[:used], np.cumsum(sizes) - sizes, sizes)
    cells = ends if isinstance(ends, Cells) else Cells.of(list(ends))
    sizes = cells.sizes + before.size
    text = np.empty(int(sizes.sum()), np.uint8)
    put_behind(before, cells.text, cells.starts, cells.sizes, text)
    return Cells(text, np.cumsum(sizes) - sizes, sizes)


@njit(nogil=True)
def put_behind(prefix: np.ndarray, text: np.ndarray, starts: np.ndarray, sizes: np.ndarray, out: np.ndarray) -> None:
    """Each word of a text behind the same prefix, one after the other."""
    at = 0
    for word in range(starts.size):
        for k in range(prefix.size):
            out[at + k] = prefix[k]
        at += prefix.size
        for k in range(sizes[word]):
            out[at + k] = text[starts[word] + k]
        at += sizes[word]


MOST_DIGITS = 20  # of a number of 64 bits, with its sign


@njit(nogil=True)
def put_numbers_behind(
    prefix: np.ndarray, numbers: np.ndarray, negative: np.ndarray, sizes: np.ndarray, out: np.ndarray
) -> int:
    """Each number as decimal digits behind the same prefix, one after the other. Returns the bytes of all, and in
    ``sizes`` those of each.
    """
    at, ten = 0, np.uint64(10)
    for i in range(numbers.size):
        begin = at
        for k in range(prefix.size):
            out[at + k] = prefix[k]
        at += prefix.size
        if negative[i]:
            out[at] = 45
            at += 1
        digits, rest = 1, numbers[i] // ten
        while rest > np.uint64(0):
            digits, rest = digits + 1, rest // ten
        rest = numbers[i]
        for k in range(digits):
            out[at + digits - 1 - k] = np.uint8(48) + np.uint8(rest % ten)
            rest = rest // ten
        at += digits
        sizes[i] = at - begin
    return at
