"""Rows of edges on their way into a store: in pieces, of files or of anything else."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from csaw.partition.ingestion.text.records import Record
from csaw.partition.ingestion.text.shape import Shape
from csaw.partition.ingestion.text.word_cells import Cells

Ends = np.ndarray | Cells | list[bytes]
"""Ids of one end of some rows: integers, or words."""
Bounds = tuple[int, int]
"""The least and the largest id of some rows, where ids are integers."""


class Piece(NamedTuple):
    """Some rows: ids of both ends, and ``columns`` of what edges have beside, of which weights, float32, are the first.

    ``bounds`` None: nobody has looked.
    """

    src: Ends
    dst: Ends
    columns: tuple[np.ndarray, ...] = ()
    bounds: Bounds | None = None


class Described(Protocol):
    """The rows of an input, as its header and its first rows describe them."""

    strings: bool
    undirected: bool
    header_line: str | None
    declared: dict[str, int]


class InputRows(Protocol):
    """Rows that are read once, in pieces; ``counts`` and ``warnings`` are complete afterwards."""

    warnings: list[str]

    @property
    def counts(self) -> dict[str, int]: ...

    @property
    def shape(self) -> Described: ...

    @property
    def weighted(self) -> bool: ...

    def __iter__(self) -> Iterator[Piece]: ...


class FileRows(Protocol):
    """The rows of a file, or of a span of it.

    Threads ``parse`` its ``pieces``, which hold ``piece_bytes`` each until their rows are taken; then somebody calls
    ``checked`` with the results in order, and ``end``. Where other processes have read the file, ``add`` takes their
    records in order. ``kind`` is what files of one graph must have in common, and
    ``read_as`` says how the file is read.
    """

    path: str
    warnings: list[str]
    shape: Shape
    read_as: str

    @property
    def counts(self) -> dict[str, int]: ...

    @property
    def weighted(self) -> bool: ...

    @property
    def kind(self) -> dict[str, str | int]: ...

    def __iter__(self) -> Iterator[Piece]: ...

    def read_pieces(self) -> Iterator[Piece]: ...

    def pieces(self) -> Iterator[tuple[Any, ...]]: ...

    def piece_bytes(self, *piece: Any) -> int: ...

    def parse(self, *piece: Any) -> Any: ...

    def checked(self, parsed: Any) -> Piece: ...

    def record(self) -> Record: ...

    def add(self, record: Record) -> None: ...

    def end(self) -> None: ...

    def close(self) -> None: ...
