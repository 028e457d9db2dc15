"""A time that a user gives is read as the input of the graph is, exactly or not at all."""

import datetime
from decimal import Decimal

import numpy as np
import pytest
from helpers.machine import need_package

from csaw.partition.errors import OptionError
from csaw.partition.ingestion.time_value import length_of, text_of, time_of

SECONDS, MILLIS = "seconds since 1970-01-01", "milliseconds since 1970-01-01"
UTC = datetime.UTC
EAST = datetime.timezone(datetime.timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "units", "time"),
    [
        ("5", "1", 5),
        (" -5 ", "1", -5),
        ("5.0", "1", 5),
        ("1e3", "1", 1000),
        (5, "1", 5),
        (5.0, "1", 5),
        (np.int32(5), "1", 5),
        (np.float32(5), "1", 5),
        (np.float32(16777215), "1", 2**24 - 1),
        (np.float32(12345679), "1", 12345679),
        (np.float16(-2047), "1", -2047),
        (float(2**53 - 1), "1", 2**53 - 1),
        (-float(2**53 - 1), SECONDS, 1 - 2**53),
        (np.float32(1700.5), "1e-3", 1_700_500),
        (1.7e9, "1e-9", 17 * 10**17),
        (Decimal(5), "1", 5),
        ("9223372036854775807", "1", 2**63 - 1),
        (-(2**63), "1", -(2**63)),
        ("12.5", "1e-3", 12500),
        ("12", "1e-3", 12000),
        (12.125, "1e-3", 12125),
        (0.1, "1e-9", 10**8),
        ("7", "days", 7),
        ("1970-01-02", SECONDS, 86400),
        ("1970-01-01T00:00:01Z", SECONDS, 1),
        ("1970-01-01 01:00:01+01:00", SECONDS, 1),
        ("1969-12-31T23:59:59.5", MILLIS, -500),
        ("86400", SECONDS, 86400),
        (86400, SECONDS, 86400),
        ("2026", SECONDS, 2026),  # a year alone is no date of ISO 8601 as files have it
        ("-1500", MILLIS, -1500),
        ("1970-01-01T00:00:00.0000005", "1e-7 seconds since 1970-01-01", 5),
        (datetime.date(1970, 1, 2), SECONDS, 86400),
        (datetime.datetime(1970, 1, 1, 1, 0, 1, tzinfo=EAST), SECONDS, 1),
        (datetime.datetime(1970, 1, 1, 0, 0, 0, 500_000), MILLIS, 500),
        (np.datetime64("1970-01-02"), MILLIS, 86_400_000),
        (np.datetime64("1970-01-01T00:00:00.000000001"), "nanoseconds since 1970-01-01", 1),
    ],
    ids=repr,
)
def test_times(value, units, time):
    assert time_of("--until", value, units) == time


@pytest.mark.parametrize(
    ("value", "units"),
    [
        ("", "1"),
        ("nan", "1"),
        (float("nan"), "1"),
        ("inf", "1"),
        (float("-inf"), SECONDS),
        (True, "1"),
        (None, "1"),
        ([5], "1"),
        (b"5", "1"),
        (5 + 0j, "1"),
        ("5.5", "1"),
        (5.5, "1"),
        (np.float32(123456792), "1"),  # of floats that lie 8 apart, and whose text is 123456790
        (np.float32(2**24), "1"),
        (np.float16(2048), SECONDS),
        (float(2**60), "1"),
        (-float(2**53), SECONDS),
        (np.float32(12345.678), "1e-6"),
        (np.float16(0.5), "1e-9"),
        (1700000000.1, "1e-9"),
        ("0x5", "1"),
        ("1_000", "1"),
        ("\u0665", "1"),  # a five of another script
        ("1e400", "1"),
        (1e300, "1"),
        ("9223372036854775808", "1"),
        (2**63, "1"),
        (-(2**63) - 1, SECONDS),
        (10**600, "1"),
        ("12.3456", "1e-3"),
        ("1e16", "1e-3"),
        ("1970-01-02", "1"),
        (datetime.date(1970, 1, 2), "1"),
        (np.datetime64("1970-01-02"), "1e-3"),
        ("1970-02-30", SECONDS),
        ("1970-01-01T00:00:00.5", SECONDS),
        ("1970-01-01T25:00", SECONDS),
        ("300000-01-01", SECONDS),
        ("2300-01-01", "nanoseconds since 1970-01-01"),
        (datetime.datetime(1970, 1, 1, 0, 0, 0, 1), SECONDS),
        (datetime.time(5), SECONDS),
        (np.datetime64("NaT"), SECONDS),
        (np.datetime64(2**62, "D"), SECONDS),
        (np.datetime64(2**62, "s"), MILLIS),
        (np.datetime64(1, "as"), SECONDS),
        (np.timedelta64(1, "D"), SECONDS),
    ],
    ids=repr,
)
def test_what_is_no_time_is_refused_in_words(value, units):
    with pytest.raises(OptionError, match="^--until: expected a (number|date of ISO 8601) .*, found ") as refused:
        time_of("--until", value, units)
    assert "1970-01-01" in str(refused.value) or "since" not in units


@pytest.mark.parametrize(
    ("time", "units", "text"),
    [
        (5, "1", "5"),
        (-(2**63), "1", "-9223372036854775808"),
        (-5, "days", "-5"),
        (12500, "1e-3", "12.500"),
        (1, "1e-9", "0.000000001"),
        (86400, SECONDS, "1970-01-02T00:00:00Z"),
        (-500, MILLIS, "1969-12-31T23:59:59.500Z"),
        (2**63 - 1, SECONDS, "9223372036854775807"),  # a year that Python's calendar does not have
    ],
    ids=repr,
)
def test_times_as_people_read_them(time, units, text):
    assert text_of(time, units) == text
    assert time_of("--until", text, units) == time


@pytest.mark.parametrize(
    ("value", "units", "length"),
    [
        ("7", "1", 7),
        (7, "days", 7),
        ("0.5", "1e-3", 500),
        ("3600", SECONDS, 3600),
        ("90s", SECONDS, 90),
        ("30min", SECONDS, 1800),
        ("1.5h", SECONDS, 5400),
        ("7d", MILLIS, 604_800_000),
        ("2w", SECONDS, 1_209_600),
        ("0.001s", MILLIS, 1),
        (datetime.timedelta(hours=1), SECONDS, 3600),
        (datetime.timedelta(microseconds=1500), "microseconds since 1970-01-01", 1500),
        (np.timedelta64(2, "W"), SECONDS, 1_209_600),
        (np.timedelta64(36, "h"), MILLIS, 129_600_000),
        (np.timedelta64(3, "m"), SECONDS, 180),
        (np.array(2, "m8[5s]")[()], SECONDS, 10),
        (np.timedelta64(2_000_000, "ns"), MILLIS, 2),
        (np.timedelta64(3 * 10**9, "as"), "nanoseconds since 1970-01-01", 3),
    ],
    ids=repr,
)
def test_lengths(value, units, length):
    assert length_of("--every", value, units) == length


@pytest.mark.parametrize(
    ("value", "units"),
    [
        ("0", "1"),
        (float(2**60), "1"),
        (np.float32(2**25), SECONDS),
        ("-5", "1"),
        ("0d", SECONDS),
        ("-1d", SECONDS),
        ("nan", "1"),
        ("7d", "1"),
        (datetime.timedelta(hours=1), "1"),
        ("0.5", "weeks"),
        ("0.5s", SECONDS),
        ("1 d", SECONDS),
        ("1y", SECONDS),
        ("d", SECONDS),
        ("2026-11-01", SECONDS),
        ("9223372036854775808", "1"),
        ("99999999999999999w", SECONDS),
        (True, "1"),
        (None, SECONDS),
        (datetime.timedelta(microseconds=1), SECONDS),
        (datetime.timedelta(-1), SECONDS),
        (np.timedelta64(1, "D"), "1"),
        (np.timedelta64(1, "M"), SECONDS),
        (np.timedelta64(5), SECONDS),
        (np.timedelta64("NaT"), SECONDS),
        (np.timedelta64("NaT", "s"), SECONDS),
        (np.timedelta64(-1, "D"), SECONDS),
        (np.timedelta64(2**62, "D"), SECONDS),
        (np.timedelta64(1, "ns"), MILLIS),
    ],
    ids=repr,
)
def test_what_is_no_length_is_refused_in_words(value, units):
    with pytest.raises(OptionError, match="^--every: expected a length of time, .*, found "):
        length_of("--every", value, units)


def test_lengths_of_pandas():
    pandas = need_package("pandas")
    assert length_of("--every", pandas.Timedelta("1D"), SECONDS) == 86400
    assert length_of("--every", pandas.Timedelta(1500, "ns"), "nanoseconds since 1970-01-01") == 1500
    for value, units in [(pandas.Timedelta(1500, "ns"), "microseconds since 1970-01-01"), (pandas.NaT, SECONDS)]:
        with pytest.raises(OptionError, match="^--every: expected a length of time, .*, found "):
            length_of("--every", value, units)
