"""Columns of findings as a file, together with the original ids: .npz, .csv or .parquet.

``csaw sample --columns`` reads the .npz.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from csaw.engine.analytics.measure import Column, Findings, Measure
from csaw.engine.sources.given_columns import IDS, unreadable
from csaw.partition import GraphStore
from csaw.partition.arrays.replace import FILE, cannot_be_written, check, new_file
from csaw.partition.arrays.words import ERRORS, Words
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import MissingDependencyError, OptionError

if TYPE_CHECKING:
    import pyarrow

Ids = np.ndarray | Words
Write = Callable[[BinaryIO, Ids, Mapping[str, np.ndarray]], None]
"""Writes ids and the columns beside them to a file."""
WIDEST = 1024  # characters of a string id in an .npz file, where all take the room of the longest one
ROWS = 1 << 16  # written at a time


def save_columns(
    columns: Mapping[str, np.ndarray], store: GraphStore, out: str | Path, *, overwrite: bool = False
) -> None:
    """Write ``columns``, integers or floats [V] in the order of dense ids, with the original ids of ``store``.

    The file is written whole or not at all. The ids are the column ``ids``.

    OptionError for a name without one of the suffixes, for a column that is called ids, and for ids that the format
    cannot hold; StoreError where ``out`` is there already, and not to be overwritten, or cannot be written;
    MissingDependencyError for Parquet without pyarrow.
    """
    out = Path(out)
    write = check_name(out, overwrite=overwrite)
    if IDS in columns:
        raise OptionError(f"--save: a column cannot be called {IDS}, the name of the ids")
    for name, column in columns.items():
        if column.shape != (store.vertices,):
            raise OptionError(
                f"--save: {name}: expected a number for each of {store.vertices:,} vertices, found an "
                f"array of the shape {column.shape}"
            )
    ids = store.stored_ids()
    ids = np.arange(store.vertices) if ids is None else ids
    try:
        with new_file(out, overwrite=overwrite) as file:
            write(file, ids, columns)
    except OSError as error:
        raise cannot_be_written(out, error) from error


def columns_of(by_measure: Mapping[str, Findings], wanted: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the columns that some measures have found, by the names of findings without "of vertices".

    OptionError for a measure that was not taken, or that finds no column.
    """
    out: dict[str, np.ndarray] = {}
    for measure in wanted:
        columns = {name: one.values for name, one in by_measure.get(measure, {}).items() if isinstance(one, Column)}
        if not columns:
            raise _without_columns(
                measure,
                [name for name, found in by_measure.items() if any(isinstance(one, Column) for one in found.values())],
            )
        out |= {name.removesuffix(" of vertices"): values for name, values in columns.items()}
    return out


def for_sampling(out: str | Path, columns: Mapping[str, np.ndarray]) -> bool:
    """Whether ``csaw sample --columns`` reads the file: an .npz of finite numbers, and integers that floats hold."""
    return Path(out).suffix == ".npz" and not any(unreadable(column).size for column in columns.values())


def check_measures(measures: Sequence[Measure], wanted: Sequence[str]) -> None:
    """OptionError about a measure in ``wanted`` that finds no column, before anything is measured."""
    known = [one.name() for one in measures if one.finds_columns]
    if other := next((name for name in wanted if name not in known), None):
        raise _without_columns(other, known)


def _without_columns(measure: str, known: Sequence[str]) -> OptionError:
    return OptionError(
        "--save: expected measures that give a number for each vertex, such as "
        f"{', '.join(known) or 'degree'}, found {quoted(measure)}"
    )


def check_name(out: Path, *, overwrite: bool) -> Write:
    """The function that writes a file of this name, before anything is measured; errors as of ``save_columns``."""
    writers = {".npz": _npz, ".csv": _csv, ".parquet": _parquet}
    if out.suffix not in writers:
        raise OptionError(f"--save: expected a name ending in {', '.join(writers)}, found {out}")
    check(out, FILE, overwrite)
    return writers[out.suffix]


def _npz(file: BinaryIO, ids: Ids, columns: Mapping[str, np.ndarray]) -> None:
    np.savez(file, allow_pickle=False, **{IDS: _fixed(ids) if isinstance(ids, Words) else ids, **columns})


def _fixed(words: Words) -> np.ndarray:
    """Strings of one width; OptionError where that does not hold them."""
    longest = max(map(len, words), default=0)
    if longest > WIDEST:
        raise OptionError(
            f"--save: in an .npz file, every id takes as much space as the longest one, which has {longest:,} "
            f"characters, but only {WIDEST:,} are allowed; choose a name ending in .csv or .parquet"
        )
    fixed = np.array(list(words), f"<U{max(longest, 1)}")
    if any(found != word for found, word in zip(fixed.tolist(), words, strict=True)):
        raise OptionError(
            "--save: an id ends in a zero byte, which an .npz file cannot store; choose a name ending in .csv"
        )
    return fixed


def _csv(file: BinaryIO, ids: Ids, columns: Mapping[str, np.ndarray]) -> None:
    text = TextIOWrapper(file, "utf-8", ERRORS, newline="")
    rows = csv.writer(text)
    rows.writerow([IDS, *columns])
    for first in range(0, len(ids), ROWS):
        span = np.arange(first, min(first + ROWS, len(ids)))
        rows.writerows(zip(ids[span].tolist(), *(column[span].tolist() for column in columns.values()), strict=True))
    text.flush()
    text.detach()  # the file is closed by who opened it


def _parquet(file: BinaryIO, ids: Ids, columns: Mapping[str, np.ndarray]) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingDependencyError("Parquet needs pyarrow: pip install pyarrow") from error
    parquet.write_table(pa.table({IDS: _strings(ids) if isinstance(ids, Words) else ids, **columns}), file)


def _strings(words: Words) -> "pyarrow.Array":
    import pyarrow as pa

    buffers = [None, pa.py_buffer(words.offsets), pa.py_buffer(words.text)]
    encoded = pa.Array.from_buffers(pa.large_binary(), len(words), buffers)
    try:
        return encoded.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        raise OptionError(
            "--save: a vertex id is not valid UTF-8, and Parquet's strings must be; choose a name ending in .csv"
        ) from error
