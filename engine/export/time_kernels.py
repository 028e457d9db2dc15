"""Compiled loops that write times as numbers with decimals and as dates of ISO 8601."""

import numpy as np

from csaw.engine.export.digits import MINUS, number, places, signed
from csaw.engine.export.kinds import DATES, DECIMALS
from csaw.partition.base.compile import njit

POINT, COLON, CLOCK, UTC = 46, 58, 84, 90
DAY = 86400  # seconds
FIRST_DAY, LAST_DAY = -719162, 2932896  # since 1970, of the years 1 to 9999, which dates have


@njit
def _date(day, second, out, at):
    """Write YYYY-MM-DDThh:mm:ss of a day since 1970 (H. Hinnant, chrono-compatible low-level date algorithms)."""
    day += 719468
    era = day // 146097
    of_era = day - era * 146097
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    at = places(np.uint64(year + era * 400 + (month <= 2)), 4, out, at)
    parts = (MINUS, month), (MINUS, day), (CLOCK, second // 3600), (COLON, second // 60 % 60), (COLON, second % 60)
    for sign, part in parts:
        out[at] = sign
        at = places(np.uint64(part), 2, out, at + 1)
    return at


@njit
def moment(time, kind, digits, out, at):
    """Write an int64 as a time of its kind: a number with decimals or a date of ISO 8601 in UTC.

    One that is no date of the years 1 to 9999 is written as the integer. It takes 30 bytes, and 3 beyond its end.
    """
    decimals, scale = kind % DECIMALS, np.int64(1)
    for _ in range(decimals):
        scale *= 10
    if kind >= DATES:
        seconds = time // scale
        day = seconds // DAY
        if not FIRST_DAY <= day <= LAST_DAY:
            return signed(time, digits, out, at)
        at, rest = _date(day, seconds - day * DAY, out, at), np.uint64(time - seconds * scale)
    else:
        whole = ~np.uint64(time) + np.uint64(1) if time < 0 else np.uint64(time)
        if time < 0:
            out[at] = MINUS
            at += 1
        rest = whole % np.uint64(scale)
        at = number(whole // np.uint64(scale), digits, out, at)
    if decimals:
        out[at] = POINT
        at = places(rest, decimals, out, at + 1)
    if kind >= DATES:
        out[at] = UTC
        at += 1
    return at
