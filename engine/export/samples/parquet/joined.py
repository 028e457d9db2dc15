"""A Parquet file made of files of the same schema, one after the other: the bytes that one writer would have written.

Pages do not say where in a file they are; the footer does. So row groups are written by several threads, each into a file of its own in memory, their pages
are copied, and the places in their footers moved.
"""

import struct
from typing import IO, Any

from csaw.engine.export.samples.parquet.thrift import I16, I64, LIST, STRUCT, Reader, Struct, written

MAGIC = b"PAR1"
# Fields by the names that parquet.thrift gives them.
ROWS, ROW_GROUPS = 3, 4  # of FileMetaData
COLUMNS, GROUP_START, ORDINAL = 1, 5, 7  # of RowGroup
COLUMN_START, COLUMN = 2, 3  # of ColumnChunk
PLACES = (9, 10, 11)  # of ColumnMetaData: the first page of data, of the index, of the dictionary


class Joined:
    """Writes to ``file``, which is at its start. ``empty`` is a whole file without rows."""

    def __init__(self, file: IO[bytes], empty: bytes) -> None:
        self.file, self.footer, self.row_groups = file, _footer(empty), list[Struct]()
        self.rows, self.at = 0, len(MAGIC)
        file.write(MAGIC)

    def add(self, piece: Any) -> None:
        """The row groups of a whole file."""
        data = memoryview(piece)
        footer, end = _footer(data), _end(data)
        self.file.write(data[len(MAGIC) : end])
        self.rows += footer[ROWS][1]
        for group in footer[ROW_GROUPS][1][1]:
            self._move(group, self.at - len(MAGIC))
            self.row_groups.append(group)
        self.at += end - len(MAGIC)

    def finish(self) -> None:
        fields = self.footer | {ROWS: (I64, self.rows), ROW_GROUPS: (LIST, (STRUCT, self.row_groups))}
        data = written(fields)
        self.file.write(data + struct.pack("<I", len(data)) + MAGIC)

    def _move(self, group: Struct, by: int) -> None:
        _add(group, GROUP_START, by)
        if ORDINAL in group:  # written by some versions alone
            group[ORDINAL] = (I16, len(self.row_groups))
        for column in group[COLUMNS][1][1]:
            _add(column, COLUMN_START, by)
            for place in PLACES:
                _add(column[COLUMN][1], place, by)


def _add(fields: Struct, number: int, by: int) -> None:
    """Move a place that is there and is not 0, which stands for none."""
    if number in fields and fields[number][1]:
        kind, place = fields[number]
        fields[number] = (kind, place + by)


def _end(data: Any) -> int:
    """Where the footer begins."""
    (size,) = struct.unpack("<I", data[-8:-4])
    return len(data) - 8 - int(size)


def _footer(data: Any) -> Struct:
    return Reader(bytes(data[_end(data) : -8])).struct()
