"""NumPy. Of samples walks as they are stored, [instances, walk_length + 1]; edges as records (instance, src, dst,
depth), in time with the time of each, of layers with its weight, of disjoint mini-batches with the number of its seed.
A vertex without an edge is a record whose dst is the fill value (of string ids the empty string) and whose depth is -1;
its time is -2^63, and its weight NaN.

Of lists an array [rows, columns] of ids where all columns hold vertices, otherwise records with a field for each. The
number of rows is written last, into the header, which has room for any.

All string ids of a file are as wide as the longest, so long ones are refused.
"""

from collections.abc import Callable
from functools import partial
from typing import IO

import numpy as np

from csaw.engine.export.common import OF_WALKS, TABLES_LACK, kind_of
from csaw.engine.export.graph_rows import Listed
from csaw.engine.samples import Samples
from csaw.engine.samples.ahead import in_order, pieces
from csaw.engine.samples.edges import LABEL, are_alone, edge_arrays, edge_columns, numbered_edges
from csaw.engine.samples.files import AGAIN
from csaw.engine.samples.identifiers import names_of
from csaw.engine.samples.layouts.layout import BATCH, EDGE_WEIGHT
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.types import RELATION

LACKS = (OF_WALKS, *TABLES_LACK)
SUFFIXES = (".npy",)
IS_BINARY = True
PIECE = 1 << 26  # bytes made at a time


def write_samples(samples: Samples, file: IO[bytes], name: str, update: Callable[[int], None], threads: int) -> None:
    if samples.has_walks and not samples.layout.has_limit:
        raise OptionError(
            f"{samples.path}: walks without a limit do not fit the table of an .npy file; export to .parquet, "
            ".txt or .npz"
        )
    vertex = kind_of(samples.vertex_dtype, samples.words)
    walks = samples.layout.has_limit
    if walks:
        _header(file, samples.walks.shape, vertex)
    else:
        _header(file, (total := _count(samples, threads),), _record(samples, vertex))
    put, names = (_walks, ["walks"]) if walks else (_edges, edge_arrays(samples))
    rows = 0
    for done, made in in_order(samples, names, pieces(samples), partial(put, samples, vertex), threads):
        for some in made:
            file.write(some.data)
            rows += len(some)
        update(done)
    if not walks and rows != total:
        raise StoreError(f"{samples.path}: expected {total:,} edges, as its results say, found {rows:,}; {AGAIN}")


def _walks(samples: Samples, vertex: np.dtype, start: int, stop: int) -> list[np.ndarray]:
    walks = samples.walks[start:stop]
    return [_named(samples, walks[rows], vertex) for rows in _pieces(len(walks), vertex.itemsize * walks.shape[1])]


def _edges(samples: Samples, vertex: np.dtype, start: int, stop: int) -> list[np.ndarray]:
    edges, record, tables = numbered_edges(samples, start, stop), _record(samples, vertex), []
    for rows in _pieces(edges["src"].size, record.itemsize):
        table = np.empty(edges["src"][rows].size, record)
        for column, values in edges.items():
            table[column] = _named(samples, values[rows], vertex) if column in ("src", "dst") else values[rows]
        table["dst"][are_alone(edges)[rows]] = samples.fill if samples.words is None else ""
        tables.append(table)
    return tables


def _record(samples: Samples, vertex: np.dtype) -> np.dtype:
    kinds = {"src": vertex, "dst": vertex, "depth": "<i4", EDGE_WEIGHT: "<f4", BATCH: "<i4", RELATION.name: "<i4"} | {
        LABEL: "<i4"
    }
    return np.dtype([(name, kinds.get(name, "<i8")) for name in edge_columns(samples)])


def _count(samples: Samples, threads: int) -> int:
    """All edges, by what the store says, or else counted; of subgraphs with the vertices that have none."""
    layout = samples.layout
    lists_more = layout.lists_lonely or LABEL in edge_columns(samples)
    if not lists_more and samples.sizes is not None:
        return int(samples.sizes["edges"])

    def counted(start: int, stop: int) -> int:
        if lists_more:
            return numbered_edges(samples, start, stop)["src"].size
        return int(layout.edges_of_each(samples.group(start, stop), samples.fill).sum())

    return sum(count for _, count in in_order(samples, edge_arrays(samples), pieces(samples), counted, threads))


def _pieces(rows: int, row_bytes: int) -> list[slice]:
    step = max(1, PIECE // max(row_bytes, 1))
    return [slice(first, first + step) for first in range(0, rows, step)]


def _named(samples: Samples, ids: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Stored ids, or the strings behind them; the empty string for fill."""
    return np.ascontiguousarray(names_of(ids, samples.words, samples.fill, samples.path, kind))


def _header(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype) -> None:
    description = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_2_0(file, {"shape": shape, "fortran_order": False, "descr": description})


MAGIC, HEADER_BYTES = b"\x93NUMPY\x02\x00", 512


def write_list(listed: Listed, file: IO[bytes], name: str, update: Callable[[int], None]) -> None:
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

    file.write(_header_of_list((0, *width), dtype))
    for done, table in listed.map(made):
        file.write(table.data)
        update(done)
    file.seek(0)
    file.write(_header_of_list((listed.rows, *width), dtype))
    file.seek(0, 2)


def _header_of_list(shape: tuple[int, ...], dtype: np.dtype) -> bytes:
    """The header of a file of format 2.0, of one size whatever the shape (NumPy Enhancement Proposal 1)."""
    said = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    size = HEADER_BYTES - len(MAGIC) - 4
    return MAGIC + size.to_bytes(4, "little") + repr(said).encode().ljust(size - 1) + b"\n"
