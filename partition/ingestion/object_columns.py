"""Edge columns of the graphs that other libraries hold in memory, by their names there."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import TIME
from csaw.partition.graph.given_arrays import array_of, foreign
from csaw.partition.ingestion.columns import EDGE_COLUMN, place_of
from csaw.partition.ingestion.ingest_options import texts
from csaw.partition.ingestion.objects import TABLES, Edges, Foreign, library_of
from csaw.partition.ingestion.time_column import BY_UNIT, units_of

if TYPE_CHECKING:
    import igraph
    import networkx
    from torch_geometric.data import Data


def edge_columns_of(
    data: Foreign, wanted: Mapping[str, ArrayLike] | Sequence[str], argument: str = "edge_columns"
) -> Mapping[str, ArrayLike]:
    """Find the edge columns of an object.

    Args:
        data: the object.
        wanted: ``NAME``, ``NAME:DTYPE`` or ``NAME:DTYPE:UNITS``, each with ``=COLUMN`` behind it or without: the name
            of a table's column, or of an attribute of the edges (default: NAME). Arrays by name are returned as they
            are.
        argument: what errors name.

    Returns:
        Values by texts without ``=COLUMN``, in the order of the object's edges.

    Raises:
        OptionError: the object has no such column, or none with names.
    """
    if isinstance(wanted, Mapping):
        return wanted
    library = library_of(type(data)) or ""
    with foreign(f"graph: {type(data).__name__}"):
        return {name: _values(data, library, column, argument) for name, column in map(_named, texts(wanted))}


def _named(text: str) -> tuple[str, str]:
    """The column as the graph has it, and its name in the object."""
    name, is_said, column = text.partition("=")
    return name, column if is_said else name.partition(":")[0]


def _values(data: Foreign, library: str, name: str, argument: str) -> ArrayLike:
    if library in TABLES:
        where, names, column = TABLES[library](data)
        return column(place_of(where, names, len(names), name, EDGE_COLUMN))
    if library not in ATTRIBUTES:
        what = data.name if isinstance(data, Edges) else type(data).__name__
        way = "the array itself" if argument == "time" else f"arrays by name, as {argument}={{{quoted(name)}: ...}}"
        raise OptionError(f"{argument}: {what}: its columns have no names; give {way}")
    found = ATTRIBUTES[library](data, name)
    if found is None or (isinstance(found, list) and any(value is None for value in found)):
        raise OptionError(
            f"{library}: expected an attribute {quoted(name)} of every edge, found edges without it; add it to "
            "all edges, or leave them out"
        )
    return found


def _of_networkx(graph: "networkx.Graph", name: str) -> ArrayLike:
    return [row[2] for row in graph.edges(data=name)]


def _of_igraph(graph: "igraph.Graph", name: str) -> ArrayLike | None:
    return list(graph.es[name]) if name in graph.es.attributes() else None


def _of_pyg(data: "Data", name: str) -> ArrayLike | None:
    return getattr(data, name, None)


ATTRIBUTES: dict[str, Callable[..., ArrayLike | None]] = {
    "networkx": _of_networkx,
    "igraph": _of_igraph,
    "torch_geometric": _of_pyg,
}
"""Readers of an attribute of the edges, by the library of the object; None, or a None among the values, where an edge
lacks it.
"""


def refuse_other_indexes(data: Foreign, columns: object, **beside: object) -> None:
    """OptionError for a Series of pandas, among ``columns`` by name or ``beside`` them, whose index says that its
    values are of other edges, or in another order.
    """
    named = columns.items() if isinstance(columns, Mapping) else ()
    for name, values in (*named, *beside.items()):
        _refuse_other_index(data, name, values)


def _refuse_other_index(data: Foreign, name: str, values: object) -> None:
    held = getattr(values, "index", None) if library_of(type(values)) == "pandas" else None
    if held is None:
        return
    own = getattr(data, "index", None) if library_of(type(data)) == "pandas" else None
    index = np.asarray(held)
    if not np.array_equal(index, np.arange(index.size) if own is None else np.asarray(own)):
        raise OptionError(
            f"{name}: expected numbers in the order of the edges, found a Series with another index; pass "
            "series.to_numpy() if it is in their order"
        )


# Times of the edges of a graph that a program holds, as the edge column `time`.

FINER = ("ps", "fs", "as")
"""NumPy's units that are finer than those of times."""


def given_times(data: Foreign, time: ArrayLike | str | None) -> Mapping[str, ArrayLike]:
    """Find the times of the edges of an object, by the text of their column: empty where there are none.

    Args:
        data: the object.
        time: an array [edges] of integers, of floats without a fraction, or of dates; the name of a table's column or
            of an attribute of the edges; None, those of a TemporalData, otherwise none.

    Raises:
        OptionError: the object has no such column, a date is missing or cannot be kept exactly, or the times are no
            numbers.
    """
    is_temporal = library_of(type(data)) == "torch_geometric" and type(data).__name__ == "TemporalData"
    if time is None and not is_temporal:
        return {}
    name = "t" if time is None else time
    found = next(iter(edge_columns_of(data, [f"time={name}"], "time").values())) if isinstance(name, str) else name
    values = array_of("time", found)
    if values.dtype.kind == "O" and any(_is_date(one) for one in values.ravel().tolist()):
        values = _dates_of(values.ravel().tolist())
    if values.dtype.kind != "M":
        _refuse_others(values)
        return {f"{TIME.name}:int64": found}
    if np.isnat(values).any():
        raise OptionError(f"time: expected a date for each edge, found {int(np.isnat(values).sum()):,} without")
    since, decimals = times_of_dates(values)
    return {f"{TIME.name}:int64:{units_of(decimals, 'iso')}": since}


def _refuse_others(values: np.ndarray) -> None:
    """OptionError for texts, and for floats that are no integer or may be of several, with what makes times of them."""
    each = values.ravel().tolist() if values.dtype.kind in "OUST" else ()
    if (text := next((one for one in each if isinstance(one, str | bytes)), None)) is not None:
        raise OptionError(
            f"time: expected integers or dates, found text, such as {quoted(text)}; convert it to dates: "
            'numpy.array(times, "datetime64[s]"), or pandas.to_datetime(times)'
        )
    if values.dtype.kind != "f":
        return
    wrong = np.flatnonzero((values != np.rint(values)) | np.isinf(values))
    if wrong.size:
        raise OptionError(
            f"time: expected integers or dates, found {wrong.size:,} of {values.size:,} numbers that are neither, "
            f"first {values.ravel()[wrong[0]]} at position {wrong[0]:,}; leave out edges without a time, and keep "
            "decimals as integers: numpy.rint(1000 * times)"
        )
    wide = np.flatnonzero(np.spacing(np.abs(values)) > 1)
    if wide.size:
        raise OptionError(
            f"time: expected integers or dates, found {values.dtype} that may each stand for several integers, "
            f"first {values.ravel()[wide[0]]} at position {wide[0]:,}; give them as int64, as they were before"
        )


def times_of_dates(values: np.ndarray) -> tuple[np.ndarray, int]:
    """NumPy's dates as int64 since 1970, and the decimals of a second that they count: days and minutes in seconds.

    OptionError for dates that int64 does not hold so.
    """
    unit = np.datetime_data(values.dtype)[0]
    unit = unit if unit in BY_UNIT else "ns" if unit in FINER else "s"
    try:
        found = values.astype(f"datetime64[{unit}]")
        wrong = np.flatnonzero(found.astype(values.dtype) != values)  # what was cut or has wrapped does not come back
    except (OverflowError, ValueError):
        wrong = np.zeros(1, np.int64)
    if wrong.size:
        raise OptionError(
            f"time: expected dates that int64 holds in units of 1 {unit}, found {wrong.size:,} others of "
            f"{values.dtype}, the first of them at position {wrong[0]:,}"
        )
    return found.astype(np.int64), BY_UNIT[unit]


def _is_date(one: object) -> bool:
    """Whether a value is a date of Python, pandas or NumPy, or at least a time of a day."""
    return hasattr(one, "isoformat") or isinstance(one, np.datetime64)


def _dates_of(values: Sequence[object]) -> np.ndarray:
    """Dates of Python, pandas and NumPy in UTC, in microseconds, or in seconds where all are days, as tables of Arrow
    have these. OptionError for others and for finer ones.
    """
    dates = np.empty(len(values), "datetime64[us]")
    for place, one in enumerate(values):
        found = date_in_utc(one)
        if np.isnat(found):
            raise OptionError(
                f"time: expected a date for each edge, found {quoted(one)} ({type(one).__name__}) at position {place:,}"
            )
        dates[place] = found.astype(dates.dtype)
        if dates[place].astype(found.dtype) != found:
            raise OptionError(
                f"time: expected dates that microseconds hold, found {quoted(one)} at position {place:,}; give an "
                "array of datetime64[ns] in UTC"
            )
    days = all(isinstance(one, date) and not isinstance(one, datetime) for one in values)
    return dates.astype("datetime64[s]") if days else dates


def date_in_utc(one: object) -> np.datetime64:
    """A date as NumPy's, in UTC; not a time where it is none."""
    if isinstance(one, datetime) and one.tzinfo is not None:  # which NaT of pandas has not
        try:
            one = one.astimezone(UTC).replace(tzinfo=None)
        except (OverflowError, ValueError):  # UTC has another year there, which Python's dates do not reach
            return np.datetime64("NaT")
    if hasattr(one, "to_datetime64"):
        return np.datetime64(one.to_datetime64())
    return np.datetime64(one) if isinstance(one, date | np.datetime64) else np.datetime64("NaT")
