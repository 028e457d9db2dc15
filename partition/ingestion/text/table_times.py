"""Times in the columns of tables, as pyarrow reads them."""

from typing import TYPE_CHECKING

import numpy as np

from csaw.partition.graph.edge_columns import TIME
from csaw.partition.ingestion.text.times import times_in
from csaw.partition.ingestion.time_column import BY_UNIT, TimeColumn, rescaled, time_of_decimal, times_of_floats

if TYPE_CHECKING:
    from pyarrow import Array


def times_of_column(found: "Array", column: TimeColumn) -> tuple[np.ndarray, np.ndarray] | None:
    """Read a column of a table as times.

    Args:
        found: dates, timestamps or text of dates where ``column.iso``, otherwise numbers.
        column: how they are read.

    Returns:
        The times, int64, and whether each is one, bool; None for a column of another type.
    """
    read = _dates(found, column) if column.iso else _numbers(found, column.decimals)
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


def _numbers(found: "Array", decimals: int) -> tuple[np.ndarray, np.ndarray] | None:
    from pyarrow import types

    if types.is_decimal(found.type):
        read = [None if number is None else time_of_decimal(number, decimals) for number in found.to_pylist()]
        return np.array([time or 0 for time in read], np.int64), np.array([time is not None for time in read], np.bool_)
    if types.is_integer(found.type):
        held = found.fill_null(0).to_numpy(zero_copy_only=False)
        fits = TIME.holds(held)
        values, good = rescaled(np.where(fits, held, 0).astype(np.int64), decimals)
        return values, good & fits
    if types.is_floating(found.type):
        return times_of_floats(found.fill_null(0).to_numpy(zero_copy_only=False), decimals)
    return None
