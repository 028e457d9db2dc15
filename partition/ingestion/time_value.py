"""Times that a user gives, such as a bound of a window, as the integers that stand for them in a store with times."""

import re
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np

from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError
from csaw.partition.ingestion.time_column import (
    TimeColumn,
    date_of,
    decimals_of,
    decimals_of_numbers,
    rescaled,
    time_of_text,
    times_of_floats,
)

LENGTH = re.compile(r"([0-9]{1,19}(?:\.[0-9]{1,9})?)(s|min|h|d|w)")
SECONDS_OF = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
IN_NUMPY = {"m": Fraction(60), "D": Fraction(86400), "W": Fraction(604800), "h": Fraction(3600)} | {
    unit: Fraction(1, 1000**power) for power, unit in enumerate(("s", "ms", "us", "ns", "ps", "fs", "as"))
}
"""Seconds of NumPy's units; months and years have no length."""


def time_of(flag: str, value: object, units: str) -> int:
    """Read a time in the form that the input of a store has, exactly or not at all.

    Args:
        flag: the option that errors name.
        value: a number or text; where ``units`` count from 1970-01-01 a date, as text of ISO 8601 or an object of
            Python, NumPy or pandas, or a number of these units.
        units: of the store's times.

    Returns:
        The time in ``units``.

    Raises:
        OptionError: it is no time, or one that int64 does not hold in ``units``.
    """
    if (found := read_time(value, units)) is None:
        raise OptionError(f"{flag}: expected {expected_time(units)}, found {quoted(value)}")
    return found


def read_time(value: object, units: str) -> int | None:
    """The time in ``units`` that :func:`time_of` gives; None in place of its error."""
    since_1970 = decimals_of(units)
    decimals = decimals_of_numbers(units)
    if since_1970 is not None and (hasattr(value, "isoformat") or isinstance(value, np.datetime64)):
        return _of_date(value, since_1970)
    word = _word(value, decimals)
    found = time_of_text(word, decimals)
    if found is None and since_1970 is not None:
        from csaw.partition.ingestion.text.values import time_in  # brings Numba

        found = time_in(word.encode("ascii", "replace"), TimeColumn.of("iso", since_1970))
    return found


def times_of(flag: str, given: np.ndarray, units: str) -> np.ndarray:
    """int64 [n]: each of the times ``given``, [n], as :func:`time_of` reads it, or its error."""
    times, good = _at_once(given, units)
    for place in np.flatnonzero(~good).tolist():
        times[place] = time_of(f"{flag}: entry {place}", given[place], units)
    return times


def _at_once(given: np.ndarray, units: str) -> tuple[np.ndarray, np.ndarray]:
    """The times that NumPy reads together, int64, and which they are, bool."""
    since_1970, decimals = decimals_of(units), decimals_of_numbers(units)
    if given.dtype.kind in "iu" and np.can_cast(given.dtype, np.int64):
        return rescaled(given.astype(np.int64), decimals)
    if given.dtype.kind == "f":
        return times_of_floats(given, decimals)
    if given.dtype.kind == "M" and since_1970 is not None and not np.isnat(given).any():
        from csaw.partition.ingestion.object_columns import times_of_dates

        with suppress(OptionError):  # which speaks of the dates of edges
            times, kept = times_of_dates(given)
            return rescaled(times, since_1970 - kept)
    return np.zeros(given.shape, np.int64), np.zeros(given.shape, bool)


def length_of(flag: str, value: object, units: str, least: int = 1) -> int:
    """Read a length of time.

    Args:
        flag: the option that errors name.
        value: a number as the times of the input are; where ``units`` count from 1970-01-01 a number of these units,
            text of a number of seconds, minutes, hours, days or weeks, such as ``12h``, or a timedelta of Python,
            NumPy or pandas.
        units: of the store's times.
        least: the shortest length that is one, 0 or 1 of ``units``.

    Returns:
        The length in ``units``.

    Raises:
        OptionError: it is no length, or no whole number of ``units`` from ``least`` to 2^63 - 1.
    """
    since_1970, decimals = decimals_of(units), decimals_of_numbers(units)
    found = time_of_text(_word(value, decimals), decimals)
    if found is None and since_1970 is not None:
        found = _of_length(value, since_1970)
    if found is None or not least <= found < 2**63:
        kept = f"with at most {decimals} decimals" if decimals else "without decimals"
        wanted = (
            f"a number {'above' if least else 'from'} 0 {'' if least else 'on '}{kept}"
            if since_1970 is None
            else "such as 7d, 12h, 30min or 90s"
        )
        raise OptionError(f"{flag}: expected a length of time, {wanted}, found {quoted(value)}")
    return found


def scale_of(flag: str, value: object, units: str) -> object:
    """A number as it is, which counts ``units``; any other length as :func:`length_of` reads it, as a float."""
    with suppress(TypeError, ValueError, OverflowError):
        if not isinstance(value, np.timedelta64):  # float() takes one of nanoseconds for their number
            float(value)  # type: ignore[arg-type]
            return value
    if decimals_of(units) is None:
        raise OptionError(
            f"{flag}: expected a number of the graph's units, found {quoted(value)}; lengths such as 12h are only "
            "for graphs whose times are dates"
        )
    return float(length_of(flag, value, units))


def _of_length(value: object, decimals: int) -> int | None:
    """Text such as 12h, or a timedelta, in 10^-decimals of a second; None for anything else."""
    if hasattr(value, "to_timedelta64"):  # of pandas, with nanoseconds that Python's have not
        value = value.to_timedelta64()
    if isinstance(value, np.timedelta64):
        unit, step = np.datetime_data(value.dtype)
        if np.isnat(value) or unit not in IN_NUMPY:
            return None
        length = int(value.astype(np.int64)) * step * IN_NUMPY[unit]
    elif isinstance(value, timedelta):
        length = Fraction(value // timedelta(microseconds=1), 10**6)
    elif isinstance(value, str) and (found := LENGTH.fullmatch(value.strip())):
        length = Fraction(found[1]) * SECONDS_OF[found[2]]
    else:
        return None
    length *= 10**decimals
    return int(length) if length.denominator == 1 else None


def _word(value: object, decimals: int) -> str:
    """A number or text as text; empty for anything else, and for an integer of more digits than any time has."""
    if isinstance(value, float | np.floating):
        return _word_of_float(value, decimals)
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal | np.number):
        return ""
    if isinstance(value, int) and abs(value) > 2**64:
        return ""
    return str(value).strip()


def _word_of_float(value: float | np.floating, decimals: int) -> str:
    """A float as text: all digits of a whole one, the shortest text of another, whose digits beyond it are no one's.

    Empty for what may be left of several numbers, because floats lie further apart there than times: it is no time in
    the input of a store either.
    """
    if not np.isfinite(value):
        return ""
    apart = float(np.spacing(np.abs(value)))
    if value == np.rint(value):
        return str(int(value)) if apart <= 1 else ""
    return str(value) if apart * 10.0**decimals <= 1 else ""


def _of_date(value: object, decimals: int) -> int | None:
    """A date in 10^-decimals of a second since 1970; None where int64 does not hold it, and for what is none."""
    from csaw.partition.ingestion.object_columns import date_in_utc, times_of_dates

    date = date_in_utc(value)
    if np.isnat(date):
        return None
    try:
        times, kept = times_of_dates(np.array([date]))
    except OptionError:  # which speaks of the dates of edges
        return None
    found, good = rescaled(times, decimals - kept)
    return int(found[0]) if good[0] else None


def expected_time(units: str) -> str:
    """Say what a time must be, in the words of errors."""
    if (decimals := decimals_of(units)) is not None:
        kept = f"with at most {decimals} decimals" if decimals else "without decimals"
        return (
            f"a date of ISO 8601 that int64 holds, such as 2026-11-25T20:15:00, {kept} of a second, or a number of "
            f"{'seconds since 1970-01-01' if decimals_of_numbers(units) else units}"
        )
    decimals = decimals_of_numbers(units)
    kept = f"with at most {decimals} decimals" if decimals else "without decimals"
    dates = "" if decimals else " (dates: make its store with --time-format iso, or unix if they count from 1970)"
    return f"a number {kept} that int64 holds, as times of the graph are{dates}"


def text_of(time: int, units: str) -> str:
    """A time of a store as people read it: a date where the units say so, otherwise a number."""
    if (decimals := decimals_of(units)) is not None:
        return date_of(time, decimals) or str(time)
    decimals = decimals_of_numbers(units)
    return f"{Decimal(time).scaleb(-decimals):f}"
