"""The column of the edges' times: numbers or ISO dates of the input become int64, of a unit that the store keeps.

input                 decimals   stored                      units
numbers               0          as they are                 1
numbers               3          thousandths                 1e-3
unix                  0          as they are                 seconds since 1970-01-01
unix                  3          thousandths                 1e-3 s since 1970-01-01
unix-ms, -us, -ns     0          as they are                 milliseconds since 1970-01-01, ...
dates of ISO 8601     0          seconds since 1970-01-01    seconds since 1970-01-01
dates of ISO 8601     3, 6, 9    milliseconds, ...           milliseconds since 1970-01-01, ...

A number that is asked for later is one of the input: seconds with decimals where units are 1e-3 s since 1970-01-01, and
otherwise one of the units.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache

import numpy as np

from csaw.partition.errors import OptionError
from csaw.partition.graph.edge_columns import TIME, EdgeColumn

WHOLE = {"unix-ms": 3, "unix-us": 6, "unix-ns": 9}
"""Formats of integers since 1970, with the decimals of a second that these count."""
FORMATS = ("numbers", "iso", "unix", *WHOLE)
MOST_DECIMALS = 9
MOST_DIGITS = 18  # that int64 holds, whatever they are, decimals included
MOST_PLACES = 19  # of digits before the point, or of zeros behind it, of a number that may be a time
SECONDS = {0: "seconds", 3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}
BY_UNIT = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""Decimals of a second, by NumPy's name of the unit."""


@dataclass(frozen=True)
class TimeColumn(EdgeColumn):
    """The column ``time`` as it is read: ``decimals`` of a number or of a second are kept, of dates where ``iso``."""

    decimals: int = 0
    iso: bool = False

    @classmethod
    def of(cls, time_format: str, decimals: int) -> "TimeColumn":
        """The column of these options. OptionError for decimals of what is an integer."""
        if time_format in WHOLE and decimals:
            raise OptionError(
                f"--time-decimals: expected 0 with --time-format {time_format}, whose times are integers, found "
                f"{decimals}; for seconds with decimals, pass --time-format unix"
            )
        units = units_of(WHOLE.get(time_format, decimals), "iso" if time_format in WHOLE else time_format)
        return cls(TIME.name, TIME.dtype, units, decimals, time_format == "iso")

    @property
    def expected(self) -> str:
        """The expected content of a cell, in the words of errors."""
        kept = f"at most {self.decimals} decimal{'s' * (self.decimals > 1)}" if self.decimals else "no decimals"
        if self.iso:
            return (
                f"a date of ISO 8601 that int64 holds, such as 2026-11-25T20:15:00, with {kept} of a second "
                "(--time-decimals)"
            )
        if self.units == units_of(0, "unix"):
            return f"seconds that int64 holds, with {kept} (--time-decimals; milliseconds: --time-format unix-ms)"
        return f"a time that int64 holds, with {kept} (--time-decimals; dates: --time-format iso)"


def units_of(decimals: int, time_format: str) -> str:
    """The units of integers that count 10^-decimals: of ``numbers``, or since 1970 of seconds that the input has as
    numbers, ``unix``, or as dates, ``iso``.
    """
    if time_format == "numbers":
        return f"1e-{decimals}" if decimals else "1"
    if time_format == "unix" and decimals:
        return f"1e-{decimals} s since 1970-01-01"
    return f"{SECONDS.get(decimals, f'1e-{decimals} seconds')} since 1970-01-01"


@cache
def decimals_of(units: str) -> int | None:
    """The decimals of a second that integers of these units count since 1970; None for other units."""
    return next((count for count in range(MOST_DECIMALS + 1) if units in _since_1970(count)), None)


@cache
def decimals_of_numbers(units: str) -> int:
    """The decimals that a number has, as the input has it; 0 where it counts the units themselves."""
    return next((n for n in range(1, MOST_DECIMALS + 1) if units in (units_of(n, "numbers"), units_of(n, "unix"))), 0)


def _since_1970(decimals: int) -> tuple[str, str]:
    return units_of(decimals, "iso"), units_of(decimals, "unix")


def date_of(time: int, decimals: int) -> str | None:
    """The date of ISO 8601, in UTC, of an integer that counts 10^-decimals of a second since 1970.

    None for a date that Python's calendar does not have.
    """
    seconds, fraction = divmod(time, 10**decimals)
    try:
        date = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).isoformat().removesuffix("+00:00")
    except OverflowError:
        return None
    return f"{date}{f'.{fraction:0{decimals}d}' * (decimals > 0)}Z"


def time_of_text(word: str, decimals: int) -> int | None:
    """Digits, with a point or an exponent or none, as an integer of 10^-decimals; None for anything else."""
    if "_" in word or len(word) > 64 or not word.isascii():
        return None
    if len(word) <= MOST_DIGITS - decimals and word.removeprefix("-").isdigit():  # as most are, in a tenth of the time
        return int(word) * 10**decimals
    try:
        return time_of_decimal(Decimal(word), decimals)
    except InvalidOperation:
        return None


def time_of_decimal(number: Decimal, decimals: int) -> int | None:
    """A number as an integer of 10^-decimals; None where it is none that int64 holds."""
    if not number.is_finite():
        return None
    if abs(number.adjusted()) > MOST_PLACES:
        return 0 if number == 0 else None
    scaled = Fraction(number) * 10**decimals
    return int(scaled) if scaled.denominator == 1 and -(2**63) <= scaled < 2**63 else None


def times_of_floats(values: np.ndarray, decimals: int) -> tuple[np.ndarray, np.ndarray]:
    """Read floats as integers of 10^-decimals: int64, and whether each stands for exactly one, bool.

    Floats that lie further apart than 10^-decimals, in their own type, may each be what is left of several numbers.
    """
    scale = 10.0**decimals
    with np.errstate(invalid="ignore", over="ignore"):
        alone = np.spacing(np.abs(values)) * scale <= 1
        values = values.astype(np.float64)
        whole = np.rint(values * scale)
        good = alone & (np.abs(values) < 2.0**53) & (whole / scale == values)
    return np.where(good, whole, 0).astype(np.int64), good


def rescaled(values: np.ndarray, decimals: int) -> tuple[np.ndarray, np.ndarray]:
    """Integers times 10^decimals: int64, and whether each is one that int64 holds, bool."""
    scale = 10 ** abs(decimals)
    if decimals < 0:
        return values // scale, values % scale == 0
    good = (values >= -(2**63 // scale)) & (values <= (2**63 - 1) // scale)
    return np.where(good, values, 0) * scale, good
