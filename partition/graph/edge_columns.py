"""Edge columns: the numbers that each edge of a graph has, such as its weight or its time.

    column     dtype           array in a partition    hooks read it as
    weight     float32         weights                 e.weight
    edge_id    int64           edge_ids                nothing: the fingerprint of a graph does not depend on it
    time       int64           edge_time               e.time
    time_order uint32          time_order              nothing: it follows from the times, see time_order.py
    NAME       any of DTYPES   edge_NAME               e.NAME

Hooks compute with integers of 64 bits and floats of 64 bits, so every value must fit one of them exactly.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.given_arrays import array_of

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
HOOK_NAMES = (
    "src",
    "dst",
    "prev",
    "depth",
    "instance",
    "source",
    "src_degree",
    "dst_degree",
    "vertices",
    "id",
    "degree",
)
HOOK_CALLS = ("is_neighbor", "column", "path", "random", "random_vertex")
OF_TIME = ("previous_time", "start_time", "time_order")
RESERVED = frozenset((*HOOK_NAMES, *HOOK_CALLS, *OF_TIME, "weight", "edge_id", "ids"))
"""Names that hooks read already, and ``ids``, whose array would be that of the edge ids."""
NO_UNITS = "1"  # of a plain number, as the CF conventions write it
LARGEST = int(np.iinfo(np.int64).max)


class DescribedColumn(TypedDict):
    """An edge column as the attributes of a store describe it."""

    name: str
    dtype: str
    units: str


@dataclass(frozen=True)
class EdgeColumn:
    """A column of numbers, one for each stored edge.

    Attributes:
        name: what hooks and options call it.
        dtype: the element type, one of DTYPES.
        units: what a number counts, such as ``seconds since 1970-01-01`` ("1": a plain number).
    """

    name: str
    dtype: np.dtype
    units: str = NO_UNITS

    @classmethod
    def parsed(cls, text: str) -> "EdgeColumn":
        """The column that ``NAME:DTYPE`` or ``NAME:DTYPE:UNITS`` stands for. OptionError for other texts and names."""
        name, _, rest = text.partition(":")
        dtype, _, units = rest.partition(":")
        return cls.named(name, dtype or "float64", units or NO_UNITS)

    @classmethod
    def named(cls, name: str, dtype: DTypeLike, units: str = NO_UNITS) -> "EdgeColumn":
        """A column of the user's. OptionError for a name that hooks cannot read, and for a dtype not in DTYPES."""
        if not isinstance(name, str) or not NAME.fullmatch(name) or iskeyword(name):
            raise OptionError(
                f"edge column {quoted(name)}: expected a name of at most 64 letters, digits and _ that begins "
                "with a letter, so that hooks can read it as e.NAME"
            )
        if name.lower() in RESERVED:
            raise OptionError(
                f"edge column {name}: this name is reserved for hooks; choose one other than "
                f"{', '.join(sorted(RESERVED))}"
            )
        try:
            held = np.dtype(dtype)
        except TypeError:
            held = np.dtype(object)
        if held.name not in DTYPES:
            raise OptionError(f"edge column {name}: expected a type of {', '.join(DTYPES)}, found {quoted(dtype)}")
        return cls(name, np.dtype(held.name), units)

    @property
    def array(self) -> str:
        """The name of its array in a partition of a store."""
        return STORED_AS.get(self.name, f"edge_{self.name}")

    @property
    def text(self) -> str:
        """The column as :meth:`parsed` reads it."""
        return f"{self.name}:{self.dtype.name}" + (f":{self.units}" if self.units != NO_UNITS else "")

    @property
    def is_integer(self) -> bool:
        """Whether hooks read its values as int64; as float64 otherwise."""
        return self.dtype.kind in "iu"

    @property
    def is_time(self) -> bool:
        """Whether it is the time of the edges, by which a store keeps the order of each row: an int64 called time."""
        return self.name == TIME.name and self.dtype == TIME.dtype

    @property
    def limit(self) -> float | np.float32 | None:
        """The largest value that its array may hold, if values are from 0 on; None where any value is possible."""
        if self == WEIGHT:
            return np.finfo(np.float32).max
        return LARGEST if self.dtype == np.uint64 else None

    @property
    def attributes(self) -> DescribedColumn:
        """The column as the attributes of a store describe it."""
        return {"name": self.name, "dtype": self.dtype.name, "units": self.units}

    def values(self, given: ArrayLike, edges: int) -> np.ndarray:
        """Read ``given`` as the values of all edges, of ``dtype`` [edges], without a copy where they are.

        OptionError for anything but a number for each edge; StoreError for a number that ``dtype`` does not hold.
        Floats are rounded to float32 where that is the dtype; integers are never rounded.
        """
        what = f"edge column {self.name}"
        held = array_of(what, given)
        if held.dtype.kind == "O" and held.ndim == 1:
            held = _numbers_of(what, held)
        if held.dtype.kind not in "biuf":
            raise OptionError(f"{what}: expected numbers, found an array of {held.dtype}")
        if held.shape != (edges,):
            raise OptionError(f"{what}: expected a number for each of {edges:,} edges, found the shape {held.shape}")
        wrong = np.flatnonzero(~self.holds(held))
        if wrong.size:
            raise StoreError(
                f"{what}: expected numbers that {self.dtype} holds{' and int64, too' * (self.dtype == np.uint64)}, "
                f"found {wrong.size:,} others, the first of them {held[wrong[0]]} at position {wrong[0]:,}"
            )
        return np.ascontiguousarray(held, self.dtype)

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Whether ``dtype`` holds each of ``values``: bool, of their shape. Any float fits a column of floats."""
        with np.errstate(over="ignore", invalid="ignore"):
            if not self.is_integer:
                rounded = values.astype(self.dtype)
                if values.dtype.kind == "f":
                    return np.asarray(~np.isinf(rounded) | np.isinf(values))
                return np.asarray(rounded.astype(values.dtype) == values)
            low, high = int(np.iinfo(self.dtype).min), min(int(np.iinfo(self.dtype).max), LARGEST)
            if values.dtype.kind == "f":
                return np.asarray((values >= low) & (values <= high) & are_whole(values))
        bounds = np.iinfo(np.uint8 if values.dtype.kind == "b" else values.dtype)
        return np.asarray((values >= max(low, int(bounds.min))) & (values <= min(high, int(bounds.max))))


def are_whole(values: np.ndarray) -> np.ndarray:
    """Whether floats are integers, bool: from 2^53 on, in float32 from 2^24 on, each may stand for several integers."""
    end = 2.0 ** min(np.finfo(values.dtype).nmant + 1, 53)
    return np.asarray((np.abs(values) < end) & (np.floor(values) == values))


FLOATS = "floats must be whole and below 2^53, or 2^24 in float32"
STORED_AS = {"weight": "weights", "edge_id": "edge_ids", "time_order": "time_order"}
WEIGHT = EdgeColumn("weight", np.dtype(np.float32))
EDGE_ID = EdgeColumn("edge_id", np.dtype(np.int64))
TIME = EdgeColumn("time", np.dtype(np.int64))
NO_TIME = -(2**63)  # in place of a time where there is no edge, or no source
BEFORE_ALL = NO_TIME + 1  # the time of edges without one, in a graph that has times
TIME_ORDER = EdgeColumn("time_order", np.dtype(np.uint32))
"""The place in its row of the edge that is first by time, the second, and so on, row after row."""


def time_of(columns: Iterable[EdgeColumn]) -> EdgeColumn | None:
    """The column that is the time of the edges; None where there is none."""
    return next((column for column in columns if column.is_time), None)


def instead_of_times(columns: Iterable[EdgeColumn]) -> str:
    """Say in words whether a store without times has another column of their name, or none."""
    named = next((column for column in columns if column.name.lower() == TIME.name), None)
    if named is None:
        return "none"
    return f"the edge column {named.name}:{named.dtype}" + " without the order of rows by time" * named.is_time


def distinct(columns: Iterable[EdgeColumn]) -> tuple[EdgeColumn, ...]:
    """The columns as they are. OptionError where two have the same name, or names that differ in case alone."""
    found: dict[str, EdgeColumn] = {}
    for column in columns:
        if column.name.lower() in found:
            raise OptionError(
                f"edge column {column.name}: expected each name once, found {found[column.name.lower()].name} and "
                f"{column.name}"
            )
        found[column.name.lower()] = column
    return tuple(found.values())


def given_columns(given: Mapping[str, ArrayLike], edges: int) -> dict[EdgeColumn, np.ndarray]:
    """Read the edge columns that a program gives, each an array [edges] of its dtype.

    Args:
        given: numbers [edges] by the name of their column, which then has the dtype of the array (truths: uint8), or
            by ``NAME:DTYPE`` or ``NAME:DTYPE:UNITS``.
        edges: of the graph.

    Raises:
        OptionError: a name that hooks cannot read, or one that is there twice; values that are no numbers, or not one
            for each edge.
        StoreError: a number that the dtype does not hold.
    """
    if not isinstance(given, Mapping):
        raise OptionError(f"edge_columns: expected names with arrays of numbers, found {quoted(given)}")
    columns = distinct(_column_of(name, values) for name, values in given.items())
    return {column: column.values(values, edges) for column, values in zip(columns, given.values(), strict=True)}


def _column_of(name: str, values: ArrayLike) -> EdgeColumn:
    """The column of a name, or of a text with its dtype, for these values."""
    if isinstance(name, str) and ":" in name:
        return EdgeColumn.parsed(name)
    held = array_of(f"edge column {quoted(name)}", values)
    if held.dtype.kind == "O" and held.ndim == 1:
        held = _numbers_of(f"edge column {name}", held)
    dtype = {"b": "uint8", "f": "float32" if held.dtype.itemsize < 4 else held.dtype.name}
    return EdgeColumn.named(name, dtype.get(held.dtype.kind, held.dtype.newbyteorder("=").name))


def _numbers_of(what: str, held: np.ndarray) -> np.ndarray:
    """Python's numbers as one array: int64 or uint64 where all are integers that fit, float64 otherwise."""
    values = held.tolist()
    other = next((one for one in values if not isinstance(one, int | float | np.number | np.bool_)), None)
    if other is not None or None in values:
        raise OptionError(f"{what}: expected a number for each edge, found {quoted(other)} ({type(other).__name__})")
    found = np.array(values) if values else np.empty(0, np.int64)
    if found.dtype.kind == "O":
        raise OptionError(f"{what}: expected numbers that fit in 64 bits, found larger ones")
    return found
