"""NumPy: an array [rows, columns] of ids where all columns hold vertices, otherwise records with a field for each.

All string ids of a file are as wide as the longest, so long ones are refused. The number of rows is written last, into
the header, which has room for any.
"""

from collections.abc import Callable
from typing import IO

import numpy as np

from csaw.engine.export.formats import kind_of
from csaw.engine.export.graph_rows import Listed

SUFFIXES = (".npy",)
IS_BINARY = True
MAGIC, HEADER_BYTES = b"\x93NUMPY\x02\x00", 512


def write(listed: Listed, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
    vertex = kind_of(listed.id_dtype, listed.words)
    plain = listed.ends == len(listed.columns)
    fields = [(column.name, vertex if column.is_vertex else np.dtype(np.int64)) for column in listed.columns]
    width, dtype = ((len(fields),), vertex) if plain else ((), np.dtype(fields))

    def made(arrays: list[np.ndarray]) -> np.ndarray:
        table = np.empty((arrays[0].size, *width), dtype)
        for k, (column, array) in enumerate(zip(listed.columns, listed.originals(arrays), strict=True)):
            named = listed.words[array] if column.is_vertex and listed.words is not None else array
            if plain:
                table[:, k] = named
            else:
                table[column.name] = named
        return table

    file.write(_header((0, *width), dtype))
    for done, table in listed.map(made):
        file.write(table.data)
        update(done)
    file.seek(0)
    file.write(_header((listed.rows, *width), dtype))
    file.seek(0, 2)


def _header(shape: tuple[int, ...], dtype: np.dtype) -> bytes:
    """The header of a file of format 2.0, of one size whatever the shape (NumPy Enhancement Proposal 1)."""
    said = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    size = HEADER_BYTES - len(MAGIC) - 4
    return MAGIC + size.to_bytes(4, "little") + repr(said).encode().ljust(size - 1) + b"\n"
