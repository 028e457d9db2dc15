"""Tests of the conditions that rows of tables must fulfill, see ingestion/conditions.py.

They are built of pyarrow.compute, whose functions take a column or an expression alike: of a column they give the rows
that fulfill a condition, an expression says which row groups of Parquet can have some. Both compare exactly: integers,
dates and timestamps with any number or date; floats with the number that their type rounds it to. Neither null nor NaN
fulfills a condition.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.ingestion.conditions import WHERE, Condition, Value
from csaw.partition.ingestion.text.values import time_in
from csaw.partition.ingestion.time_column import TimeColumn

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch, Scalar, Schema
    from pyarrow.compute import Expression

FINEST = 9  # decimals of a second
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The name of a folder for rows without a value, in Hive's layout."""
COMPARISONS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}

Tested = Any  # a column, or an expression that stands for one


def fulfilling(
    conditions: Sequence[Condition],
    where: str,
    names: Sequence[str],
    rows: int,
    column: "Callable[[int], Array]",
    folders: Mapping[str, str] = MappingProxyType({}),
) -> "Array":
    """Which of some rows fulfill all conditions, bool. ``column(place)`` is the one that is called ``names[place]``;
    ``folders``: values of columns that the rows lack.
    """
    from pyarrow import compute, repeat

    every = _with_folders(names, folders)

    def tested() -> "Iterator[Array]":
        for one in conditions:
            if (place := one.place(where, every)) >= len(names):
                yield repeat(_holds_of(one, folders[every[place]], where), rows)
                continue
            held = decoded(column(place))
            kind = plain_type(held.type)
            yield _test(one, held if kind == held.type else held.cast(kind), kind, where)

    return reduce(compute.and_kleene, tested()).fill_null(False)


def expression_of(
    conditions: Sequence[Condition], where: str, schema: "Schema", folders: Mapping[str, str]
) -> "Expression":
    """The expression that a reader of tables takes to leave out what cannot fulfill the conditions, for some of which
    it has no statistics. ``folders``: values of columns that the table lacks. OptionError: a condition does not fit.
    """
    from pyarrow import compute

    names = _with_folders(schema.names, folders)
    found = compute.scalar(True)
    for one in conditions:
        name = names[place := one.place(where, names)]
        if place >= len(schema.names):
            found &= compute.scalar(_holds_of(one, folders[name], where))
            continue
        held = schema.field(place).type
        test = _test(one, compute.field(name), kind := plain_type(held), where)
        found = found & test if kind == held and names.count(name) == 1 else found
    return found


def _with_folders(names: Sequence[str], folders: Mapping[str, str]) -> list[str]:
    """The names of columns, and of those folders that no column of the rows stands for."""
    return [*names, *(name for name in folders if name not in names)]


def decoded(column: "Array") -> "Array":
    """The column without a dictionary, into which pandas turns categories, or without lengths of runs."""
    from pyarrow import DictionaryArray, compute, types

    if types.is_run_end_encoded(column.type):
        return compute.run_end_decode(column)
    if not types.is_dictionary(column.type):
        return column
    if types.is_string_view(column.type.value_type):  # of polars; pyarrow has no kernel that decodes it
        column = DictionaryArray.from_arrays(column.indices, column.dictionary.cast("string"))
    return column.dictionary_decode()


def plain_type(kind: "DataType") -> "DataType":
    """The type that values of a column are compared in."""
    from pyarrow import float32, string, types

    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    return string() if types.is_string_view(kind) else float32() if types.is_float16(kind) else kind


def kept_of(batch: "RecordBatch", mask: "Array") -> "RecordBatch":
    """The rows of a mask. Views become plain strings and lengths of runs values, as pyarrow cannot filter them; nested
    values, which may hold such, become null, as no option reads them.
    """
    from pyarrow import RecordBatch, binary, nulls, string, types

    def kept(column: "Array") -> "Array":
        kind = column.type
        if types.is_run_end_encoded(kind):
            column = decoded(column)
        elif types.is_nested(kind):
            return nulls(mask.true_count, kind)
        elif types.is_string_view(kind) or types.is_binary_view(kind):
            column = column.cast(string() if types.is_string_view(kind) else binary())
        return column.filter(mask)

    return RecordBatch.from_arrays(list(map(kept, batch.columns)), names=batch.schema.names)


def can_filter(schema: "Schema") -> bool:
    """Whether pyarrow has kernels that filter all columns: it has none for views and lengths of runs, also in lists."""
    return not any("_view" in text or "run_end" in text for text in map(str, schema.types))


def _test(condition: Condition, column: Tested, kind: "DataType", where: str) -> Tested:
    """Whether values of a column of plain type ``kind`` fulfill the condition. OptionError for another type."""
    from pyarrow import compute, types

    if types.is_null(kind):
        return compute.is_valid(column)
    if limits := _limits(kind):
        numbers = [_number(condition, value, kind, where) for value in condition.values]
        return _of_integers(condition, column, numbers, kind, *limits)
    held = [_scalar(condition, value, kind, where) for value in condition.values]
    if condition.operator in COMPARISONS:
        return getattr(compute, COMPARISONS[condition.operator])(column, held[0])
    found = _equal(condition, column, held)
    if condition.operator == "!=" and types.is_floating(kind):  # NaN differs from all
        return compute.and_kleene(found, compute.invert(compute.is_nan(column)))
    return found


def _of_integers(
    condition: Condition, column: Tested, values: list[Fraction], kind: "DataType", low: int, high: int
) -> Tested:
    """The test of a column whose values are integers of a range, though ``values`` may be neither."""
    from pyarrow import compute, scalar, types

    def held(number: int) -> "Scalar":
        return scalar(Decimal(f"{number}e{-kind.scale}") if types.is_decimal(kind) else number, kind)

    if condition.operator not in COMPARISONS:
        whole = (int(one) for one in values if one.denominator == 1 and low <= one <= high)
        return _equal(condition, column, list(map(held, whole)))
    one, below = values[0], condition.operator[0] == "<"
    bound = math.floor(one) if below else math.ceil(one)
    if bound == one and condition.operator in ("<", ">"):
        bound += -1 if below else 1
    if (bound > high) if below else (bound < low):
        return compute.is_valid(column)
    if (bound < low) if below else (bound > high):
        return compute.less(column, column)  # never true
    return (compute.less_equal if below else compute.greater_equal)(column, held(bound))


def _equal(condition: Condition, column: Tested, held: "list[Scalar]") -> Tested:
    """Whether a value is, or is not, one of these."""
    from pyarrow import compute

    if condition.operator == "!=":
        return compute.not_equal(column, held[0]) if held else compute.is_valid(column)
    if not held:
        return compute.less(column, column)  # never true
    return reduce(compute.or_kleene, (compute.equal(column, one) for one in held))


def _scalar(condition: Condition, value: Value, kind: "DataType", where: str) -> "Scalar":
    """A value of the type of a column that has no integers."""
    from pyarrow import scalar, types

    if types.is_floating(kind) and isinstance(value, int | Decimal) and not isinstance(value, bool):
        return scalar(float(value), kind)
    if (types.is_string(kind) or types.is_large_string(kind)) and isinstance(value, str):
        return scalar(value, kind)
    if types.is_boolean(kind) and isinstance(value, bool):
        return scalar(value)
    raise _unfit(condition, value, kind, where)


def _number(condition: Condition, value: Value, kind: "DataType", where: str) -> Fraction:
    """A value as a number of what the integers of a column count."""
    from pyarrow import types

    if types.is_integer(kind) or types.is_decimal(kind):
        if isinstance(value, str | bool):
            raise _unfit(condition, value, kind, where)
        return Fraction(value) * (Fraction(10) ** kind.scale if types.is_decimal(kind) else 1)
    if not isinstance(value, str) or (seconds := _seconds(value)) is None:
        raise _unfit(condition, value, kind, where)
    if types.is_timestamp(kind):
        return seconds * UNITS[kind.unit]
    return seconds / 86400 if types.is_date32(kind) else seconds * 1000


def _unfit(condition: Condition, value: Value, kind: "DataType", where: str, held: str = "") -> OptionError:
    """The error for a value that no value of a column can be compared with."""
    shown = str(value).lower() if isinstance(value, bool) else quoted(value) if isinstance(value, str) else value
    return OptionError(
        f"{where}: {WHERE} {quoted(condition.text)}: column {condition.column} holds {held or kind}; "
        f"expected {_expected(kind)}, found {shown}"
    )


def _holds_of(condition: Condition, folder: str, where: str) -> bool:
    """Whether all rows of a folder ``column=folder`` fulfill it: as a number if it is compared with one."""
    from pyarrow import array, int64, string

    if folder == NO_VALUE:
        return False
    if any(isinstance(value, str) for value in condition.values):
        return _test(condition, array([folder]), string(), where)[0].as_py()
    if not re.fullmatch("[-+]?[0-9]{1,18}", folder):
        raise _unfit(condition, condition.values[0], string(), where, "the texts of folders")
    return _test(condition, array([int(folder)]), int64(), where)[0].as_py()


def _limits(kind: "DataType") -> tuple[int, int] | None:
    """The least and the largest of the integers that stand for values of a type; None where others do."""
    from pyarrow import types

    if types.is_decimal(kind):
        return 1 - 10**kind.precision, 10**kind.precision - 1
    if types.is_unsigned_integer(kind):
        return 0, 2**kind.bit_width - 1
    if types.is_integer(kind) or types.is_date(kind) or types.is_timestamp(kind):
        return -(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1
    return None


def _seconds(text: str) -> Fraction | None:
    """Seconds since 1970 of a date, as ``--time-format iso`` reads it; None for anything else."""
    for decimals in range(0, FINEST + 1, 3):
        found = time_in(text.encode("ascii", "replace"), TimeColumn.of("iso", decimals))
        if found is not None:
            return Fraction(found, 10**decimals)
    return None


def _expected(kind: "DataType") -> str:
    """What values of a type are compared with."""
    from pyarrow import types

    if types.is_date(kind) or types.is_timestamp(kind):
        return "a date of ISO 8601 in quotes, such as '2026-11-25'"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "a number without quotes"
    if types.is_string(kind) or types.is_large_string(kind):
        return "a text in quotes"
    return "true or false" if types.is_boolean(kind) else "a column of numbers, texts, dates or truths"
