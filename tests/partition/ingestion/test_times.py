"""Times of edges become integers of 64 bits, exactly or not at all, and rows keep their order by time."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.machine import need_package

import csaw
from csaw.cli.reports.graphs import graph_sections
from csaw.partition import IngestOptions, open_graph
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.edge_columns import TIME, TIME_ORDER
from csaw.partition.graph.time_order import time_facts, time_order
from csaw.partition.ingestion.text.values import time_in
from csaw.partition.ingestion.time_column import TimeColumn
from csaw.partition.ingestion.time_value import length_of, text_of, time_of, times_of

EVENTS = "0 1 5\n1 2 -3\n0 1 2\n0 2 5\n2 0 9\n0 1 5\n"


def made(tmp_path, text, name="events.txt", **options):
    file = tmp_path / name
    file.write_text(text) if isinstance(text, str) else file.write_bytes(text)
    return csaw.partition(file, tmp_path / "g.zarr", overwrite=True, **({"time_column": 3} | options))


def rows(store):
    """(source, target, time) of each edge, in the order of the store."""
    graph = store.load([TIME])
    owners = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    return list(zip(owners.tolist(), graph.indices.tolist(), graph.columns["time"].tolist(), strict=True))


def test_repeats_at_other_times_are_other_edges(tmp_path):
    store = made(tmp_path, EVENTS)
    assert rows(store) == [(0, 1, 5), (0, 1, 2), (0, 1, 5), (0, 2, 5), (1, 2, -3), (2, 0, 9)]
    assert store.load([TIME_ORDER]).columns["time_order"].tolist() == [1, 0, 2, 3, 0, 0]
    assert store.time == TIME
    assert store.multigraph
    assert len(rows(made(tmp_path, EVENTS, duplicates="first"))) == 4


@pytest.mark.parametrize("partitions", [1, 3])
def test_the_order_is_that_of_a_sort(tmp_path, partitions):
    rng = np.random.default_rng(2)
    table = np.column_stack([rng.integers(0, 30, 3000), rng.integers(0, 30, 3000), rng.integers(-20, 20, 3000)])
    store = made(tmp_path, "".join(f"{a} {b} {t}\n" for a, b, t in table.tolist()), partitions=partitions)
    graph = store.load([TIME, TIME_ORDER])
    for v in range(store.vertices):
        row = slice(graph.indptr[v], graph.indptr[v + 1])
        times, order = graph.columns["time"][row], graph.columns["time_order"][row]
        assert order.tolist() == sorted(range(times.size), key=lambda k, times=times: (times[k], k))
    assert all(one.ok for one in check_store(store))


def test_the_order_of_long_rows_and_of_sorted_and_reversed_ones():
    rng = np.random.default_rng(3)
    pieces = [
        rng.integers(0, 9, 1000),
        np.arange(70),
        np.arange(70)[::-1],
        np.zeros(40, np.int64),
        rng.integers(0, 2, 17),
    ]
    indptr, times = np.cumsum([0, *map(len, pieces)]), np.concatenate(pieces).astype(np.int64)
    order = time_order(indptr, times)
    for begin, piece in zip(indptr, pieces, strict=False):
        assert (order[begin : begin + len(piece)] == np.argsort(piece, kind="stable")).all()


def test_undirected_edges_and_words_have_their_times_too(tmp_path):
    store = made(tmp_path, "a b 3\nb c 1\n", directed=False)
    assert rows(store) == [(0, 1, 3), (1, 0, 3), (1, 2, 1), (2, 1, 1)]


@pytest.mark.parametrize(
    ("word", "decimals", "wanted"),
    [
        ("12", 0, 12),
        ("-12.0", 0, -12),
        ("1.0000000000000000000000000000000001", 0, None),
        ("1.0000000000000000000000000000000000", 0, 1),
        ("9223372036854775807.00000000000000", 0, 2**63 - 1),
        ("9223372036854775", 3, 9223372036854775000),
        ("9223372036854776", 3, None),
        ("-9223372036854775.808", 3, -(2**63)),
        ("-9223372036854775.809", 3, None),
        ("snan", 0, None),
        ("12.5", 0, None),
        ("12.5", 3, 12500),
        ("1e3", 0, 1000),
        ("1.5e0", 1, 15),
        ("9223372036854775807", 0, 2**63 - 1),
        ("9223372036854775808", 0, None),
        ("-9223372036854775808", 0, -(2**63)),
        ("922337203685477580.7", 1, 2**63 - 1),
        ("1_0", 0, None),
        ("nan", 0, None),
        ("inf", 0, None),
        ("", 0, None),
        ("-", 0, None),
        (".", 3, None),
        ("1e999999", 0, None),
        ("0e99", 0, 0),
        ("2026-11-25", 0, None),
    ],
)
def test_numbers_are_read_exactly(tmp_path, word, decimals, wanted):
    assert time_in(word.encode(), TimeColumn.of("numbers", decimals)) == wanted
    if " " in word or not word:
        return
    text = f"0,1,3\n0,1,{word}\n"
    if wanted is None:
        with pytest.raises(FormatError, match=r"events.txt:2: expected a time that int64 holds"):
            made(tmp_path, text, time_decimals=decimals)
    else:
        assert rows(made(tmp_path, text, time_decimals=decimals))[1][2] == wanted


DATES = [
    "1970-01-01",
    "2026-11-25T20:15",
    "2026-11-25T20:15:07Z",
    "2024-02-29T23:59:59.123456+05:30",
    "1600-03-01T00:00:00-0800",
    "0001-01-01T00:00:01",
    "2100-02-28 10:00:00+01",
    "1969-12-31T23:59:59.5",
]


@pytest.mark.parametrize("text", DATES)
def test_dates_are_those_of_python(text):
    then = datetime.datetime.fromisoformat(text)
    then = then if then.tzinfo else then.replace(tzinfo=datetime.UTC)
    since = then - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    wanted = (since.days * 86400 + since.seconds) * 10**6 + since.microseconds
    assert time_in(text.encode(), TimeColumn.of("iso", 6)) == wanted


@pytest.mark.parametrize(
    "text",
    ["2023-02-29", "2024-13-01", "2024-1-1", "2024-01-01T24:00", "2024-01-01T10", "2024-01-01T10:00:00.", "12", "",
     "2026-11-25T20:15.5", "2026-11-25T20:15.5Z", "2024-01-01T10:00:60", "2024-01-01T10:00+25:00", "2024-01-01Z5",
     "20240101", "2024-01-01T10:00:00.1234567"],
)  # fmt: skip
def test_what_is_no_date_is_refused_with_its_line(tmp_path, text):
    assert time_in(text.encode(), TimeColumn.of("iso", 6)) is None
    if text:
        with pytest.raises(FormatError, match=r"events.csv:3: expected a date of ISO 8601"):
            made(tmp_path, f"src,dst,t\n0,1,2024-01-01\n1,2,{text}\n", "events.csv", time_format="iso", time_decimals=6)


def test_a_time_beyond_int64_is_refused():
    assert time_in(b"9999-01-01", TimeColumn.of("iso", 9)) is None
    assert time_in(b"2262-04-11", TimeColumn.of("iso", 9)) == 9223286400 * 10**9
    for text, wanted in (
        (b"2262-04-11T23:47:16.854775807", 2**63 - 1),
        (b"2262-04-11T23:47:16.854775808", None),
        (b"2262-04-11T23:47:17", None),
        (b"1677-09-21T00:12:43.145224192Z", -(2**63)),
        (b"1677-09-21T00:12:43.145224191Z", None),
        (b"1677-09-21T00:12:43", None),
        (b"1677-09-21T00:12:44", -(2**63 // 10**9) * 10**9),
        (b"1969-12-31T23:59:59.999999999", -1),
    ):
        assert time_in(text, TimeColumn.of("iso", 9)) == wanted


def test_seconds_since_1970_stay_numbers_and_are_known_as_dates(tmp_path):
    store = made(tmp_path, "0 1 1082040961\n1 2 -1\n", time_format="unix")
    assert rows(store) == [(0, 1, 1082040961), (1, 2, -1)]
    dates = made(tmp_path, "0,1,2004-04-15T14:56:01\n1,2,1969-12-31T23:59:59\n", "e.csv", time_format="iso")
    assert store.fingerprint == dates.fingerprint
    with pytest.raises(
        FormatError, match=r"expected seconds that int64 holds, with no decimals \(time_decimals; milli"
    ):
        made(tmp_path, "0 1 5.5\n", time_format="unix")


@pytest.mark.parametrize("decimals", range(1, 10))
def test_fractions_of_seconds_since_1970_are_dates_and_numbers_of_seconds(tmp_path, decimals):
    least = f".{1:0{decimals}d}"
    store = made(tmp_path, f"0 1 1082040961{least}\n1 2 -1\n", time_format="unix", time_decimals=decimals)
    scale, units = 10**decimals, store.time.units
    assert rows(store) == [(0, 1, 1082040961 * scale + 1), (1, 2, -scale)]
    date = f"2004-04-15T14:56:01{least}Z"
    for said in (f"1082040961{least}", date):
        assert time_of("--start-time", said, units) == 1082040961 * scale + 1
    assert time_of("--start-time", 1082040961, units) == 1082040961 * scale
    assert times_of("time", np.array([1082040961, -1]), units).tolist() == [1082040961 * scale, -scale]
    assert text_of(1082040961 * scale + 1, units) == date
    assert length_of("--time-window", "2min", units) == length_of("--time-window", 120, units) == 120 * scale
    with pytest.raises(
        OptionError, match=f"with at most {decimals} decimals of a second, or a number of seconds since"
    ):
        time_of("--start-time", f"1{least}1", units)
    iso = made(tmp_path, f"0,1,{date}\n1,2,1969-12-31T23:59:59\n", "e.csv", time_format="iso", time_decimals=decimals)
    assert store.fingerprint == iso.fingerprint


@pytest.mark.parametrize(("unit", "decimals"), [("ms", 3), ("us", 6), ("ns", 9)])
def test_integers_of_shorter_units_since_1970_stay_numbers_and_are_known_as_dates(tmp_path, unit, decimals):
    time = 1082040961 * 10**decimals + 7
    store = made(tmp_path, f"0 1 {time}\n1 2 -1\n", time_format=f"unix-{unit}")
    date = f"2004-04-15T14:56:01.{7:0{decimals}d}Z"
    assert rows(store) == [(0, 1, time), (1, 2, -1)]
    for said in (time, str(time), date):
        assert time_of("--start-time", said, store.time.units) == time
    assert text_of(time, store.time.units) == date
    iso = made(tmp_path, f"0,1,{date}\n", "e.csv", time_format="iso", time_decimals=decimals)
    assert iso.time.units == store.time.units
    with pytest.raises(
        OptionError, match=f"time_decimals: expected 0 with time_format unix-{unit}, whose times are in"
    ):
        made(tmp_path, "0 1 5\n", time_format=f"unix-{unit}", time_decimals=3)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([1.5, 2.0], "found 1 of 2 numbers that are neither, first 1.5 at position 0; .* numpy.rint"),
        (np.array([np.inf, 1.0]), "found 1 of 2 numbers that are neither, first inf at position 0"),
        (np.array([1.0, np.nan]), "found 1 of 2 numbers that are neither, first nan at position 1"),
        (["2026-01-01", "2026-01-02"], "found text, such as '2026-01-01'; convert it to dates: numpy.array"),
        (np.array(["1", "2"], object), "found text, such as '1'"),
        (
            np.array([5, 1082040961], np.float32),
            "found float32 that may each stand for several integers, first 1082040960.0 at ",
        ),
    ],
    ids=repr,
)
def test_times_of_objects_are_integers_or_dates(times, said):
    with pytest.raises(OptionError, match=f"^time: expected integers or dates, {said}"):
        csaw.graph(np.array([[0, 1], [1, 2]]), time=times)


def test_messages_say_what_a_time_must_be(tmp_path):
    for decimals, said in ((1, "at most 1 decimal "), (2, "at most 2 decimals "), (0, "no decimals ")):
        with pytest.raises(FormatError, match=f"a time that int64 holds, with {said}"):
            made(tmp_path, "0 1 0.123\n", time_decimals=decimals)
    with pytest.raises(FormatError, match="expected a date of ISO 8601 that int64 holds"):
        made(tmp_path, "0 1 9999-01-01\n", time_format="iso", time_decimals=9)
    for column, how, said in (
        (["2024-01-01"], {}, "holds string, expected numbers as times .*; name another with --time-column$"),
        ([3], {"time_format": "iso"}, "holds int64, expected dates, timestamps or dates of ISO 8601 as text"),
    ):
        pq.write_table(pa.table({"src": [0], "dst": [1], "t": column}), tmp_path / "t.parquet")
        with pytest.raises(FormatError, match=said.replace("--time-column", "(--time-column|time_column)")):
            csaw.partition(tmp_path / "t.parquet", tmp_path / "g.zarr", time_column="t", **how)


def test_bad_rows_may_be_skipped(tmp_path):
    store = made(tmp_path, "0 1 5\n0 2 x\n0 3\n1 2 7\n", on_error="skip")
    assert [time for *_, time in rows(store)] == [5, 7]
    assert store.report["skipped"] == 2


def test_units_are_kept(tmp_path):
    assert made(tmp_path, EVENTS).time.units == "1"
    assert made(tmp_path, EVENTS, time_decimals=3).time.units == "1e-3"
    dates = "0,1,2024-01-01T00:00:00.25\n"
    store = made(tmp_path, dates, time_format="iso", time_decimals=3)
    assert store.time.units == "milliseconds since 1970-01-01"
    assert open_graph(store.path).time == store.time


@pytest.mark.parametrize(
    ("column", "options", "wanted"),
    [
        (pa.array([3, 5]), {}, [3, 5]),
        (pa.array([3.0, 5.5]), {"time_decimals": 1}, [30, 55]),
        (pa.array([0.1, 0.7]), {"time_decimals": 1}, [1, 7]),
        (pa.array([1, 2], pa.timestamp("ms")), {"time_format": "iso", "time_decimals": 3}, [1, 2]),
        (pa.array([1, 2], pa.timestamp("s")), {"time_format": "iso", "time_decimals": 6}, [10**6, 2 * 10**6]),
        (pa.array([1, 2], pa.date32()), {"time_format": "iso"}, [86400, 172800]),
        (pa.array([86400000, 0], pa.date64()), {"time_format": "iso"}, [86400, 0]),
        (pa.array(["1970-01-02", "1970-01-01T00:00:00.5Z"]), {"time_format": "iso", "time_decimals": 1}, [864000, 5]),
        (pa.array(["1970-01-02"] * 2).dictionary_encode(), {"time_format": "iso"}, [86400, 86400]),
        (
            pa.array([-(2**63) + 1, 2**63 - 1], pa.timestamp("ns")),
            {"time_format": "iso", "time_decimals": 9},
            [-(2**63) + 1, 2**63 - 1],
        ),
        (
            pa.array([Decimal(9007199254740993), Decimal("-0.5")], pa.decimal128(30, 1)),
            {"time_decimals": 1},
            [90071992547409930, -5],
        ),
        (pa.array([Decimal(2**63 - 1), Decimal(-(2**63))], pa.decimal128(38, 0)), {}, [2**63 - 1, -(2**63)]),
        (
            pa.array([9223372036854775, -9223372036854775]),
            {"time_decimals": 3},
            [9223372036854775000, -9223372036854775000],
        ),
        (pa.array([2**63 - 1, -(2**63)]), {}, [2**63 - 1, -(2**63)]),
        (pa.array([2.0**53 - 1, -(2.0**53) + 1]), {}, [2**53 - 1, -(2**53) + 1]),
        (pa.array([2.0**24 - 1, -3], pa.float32()), {}, [2**24 - 1, -3]),
        (pa.array([1700000000.123457, 0.5]), {"time_decimals": 6}, [1700000000123457, 500000]),
    ],
)
def test_tables_have_times(tmp_path, column, options, wanted):
    table = pa.table({"src": [0, 1], "dst": [1, 2], "when": column})
    pq.write_table(table, tmp_path / "t.parquet")
    store = csaw.partition(tmp_path / "t.parquet", tmp_path / "g.zarr", time_column="when", **options)
    assert [time for *_, time in rows(store)] == wanted


@pytest.mark.parametrize(
    ("column", "options"),
    [
        (pa.array([3, None]), {}),
        (pa.array([3.0, float("nan")]), {}),
        (pa.array([3.0, 5.5]), {}),
        (pa.array([3.0, 1e300]), {}),
        (pa.array([2**63], pa.uint64()), {}),
        (pa.array([2**62, 1]), {"time_decimals": 3}),
        (pa.array([9223372036854776, 1]), {"time_decimals": 3}),
        (pa.array([2.0**53, 1]), {}),
        (pa.array([2.0**25, 1], pa.float32()), {}),
        (pa.array([900719925474099.2, 1]), {"time_decimals": 1}),
        (pa.array([Decimal("1.0000000000000000001")], pa.decimal128(38, 19)), {}),
        (pa.array([Decimal(2**63)], pa.decimal128(38, 0)), {}),
        (pa.array([Decimal(1), None], pa.decimal128(38, 0)), {}),
        (pa.array(["2024-01-01", None]), {"time_format": "iso"}),
        (pa.array(["2024-01-01T10:00.5"]), {"time_format": "iso", "time_decimals": 1}),
        (pa.array([1, 1500], pa.timestamp("ms")), {"time_format": "iso"}),
        (pa.array(["a", "b"]), {}),
        (pa.array([1, 2]), {"time_format": "iso"}),
    ],
)
def test_tables_whose_times_are_none_are_refused(tmp_path, column, options):
    pq.write_table(
        pa.table({"src": [0, 1][: len(column)], "dst": [1, 2][: len(column)], "t": column}), tmp_path / "t.parquet"
    )
    with pytest.raises(FormatError, match="expected"):
        csaw.partition(tmp_path / "t.parquet", tmp_path / "g.zarr", time_column="t", **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"time_column": 9}, "time_column 9: expected a number from 1 to 3"),
        ({"time_column": 1}, "column 1 cannot have two roles"),
        ({"time_decimals": 10}, "time_decimals: expected an integer from 0 to 9"),
        ({"time_format": "epoch"}, "time_format: expected numbers, iso, unix, unix-ms, unix-us, unix-ns, found"),
        ({"edge_columns": ("time:int64=3",)}, "pass only one of edge_columns time and time_column"),
        ({"edge_columns": ("Time:uint8",)}, "pass only one of edge_columns time and time_column"),
        ({"time_column": None, "time_format": "iso"}, "time_format: expected time_column with it"),
        ({"time_column": None, "time_decimals": 3}, "time_decimals: expected time_column with it"),
        ({"time": [1]}, "time: it is for graphs in memory; name a column with time_column"),
        ({"time_column": ""}, "time_column: expected a name"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path, options, said):
    with pytest.raises((OptionError, FormatError), match=said):
        made(tmp_path, EVENTS, **options)


def test_repeats_are_kept_by_default_only_with_times():
    assert IngestOptions().policy == "first"
    assert IngestOptions(time_column=3).policy == "keep"
    assert IngestOptions(time_column=3, duplicates="sum").policy == "sum"


def test_facts_say_when_edges_are(tmp_path):
    store = made(tmp_path, EVENTS)
    facts = {"units": "1", "first": -3, "last": 9, "distinct": 4, "most_at_once": 3, "tied": 3}
    assert store.report["times"] == time_facts(store) == facts


def test_objects_bring_their_times(tmp_path):
    import networkx
    import pandas

    graph = networkx.MultiDiGraph()
    graph.add_edge(0, 1, when=4)
    graph.add_edge(0, 1, when=3)
    assert csaw.graph(graph, time="when").arrays["edge_time"].tolist() == [4, 3]
    dates = pandas.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"])
    table = pandas.DataFrame({"src": [0, 1, 0], "dst": [1, 2, 1], "when": dates})
    held = csaw.graph(table, time="when")
    assert held.edges == 3
    assert held.time.units.endswith("since 1970-01-01")
    kept = csaw.partition(table, tmp_path / "t.zarr", time="when")
    assert kept.fingerprint == held.fingerprint
    assert kept.load([TIME_ORDER]).columns["time_order"].tolist() == held.arrays["time_order"].tolist()
    edges = (np.array([0, 0]), np.array([1, 1]))
    assert csaw.graph(edges, time=np.array(["2024-01-02", "2024-01-01"], "datetime64[D]")).arrays[
        "time_order"
    ].tolist() == [1, 0]
    for wrong, said in (
        ([1.5, 2.0], "integers or dates, found 1 of 2"),
        (np.array(["NaT", "2024-01-01"], "datetime64[s]"), "a date for each"),
        ([1], "each of"),
    ):
        with pytest.raises(csaw.CsawError, match=said):
            csaw.graph(edges, time=wrong)


UTC, EAST = datetime.UTC, datetime.timezone(datetime.timedelta(hours=2))
NOON = datetime.datetime(2024, 1, 1, 12, 0, 0, 5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("first", "wanted", "units"),
    [
        (np.array([7000], "datetime64[ps]"), 7, "nanoseconds"),
        (np.array([3], "datetime64[25s]"), 75, "seconds"),
        (np.array(["1600-01-01"], "datetime64[Y]"), -11676096000, "seconds"),
        (np.array([2**63 - 1], "datetime64[ns]"), 2**63 - 1, "nanoseconds"),
        ([NOON], 1704110400000005, "microseconds"),
        ([NOON.replace(tzinfo=EAST)], 1704103200000005, "microseconds"),
        ([datetime.date(1970, 1, 2)], 86400, "seconds"),
    ],
)
def test_dates_of_programs_are_kept_exactly(first, wanted, units):
    held = csaw.graph((np.array([0]), np.array([1])), time=first)
    assert held.arrays["edge_time"].tolist() == [wanted]
    assert held.time.units == f"{units} since 1970-01-01"


@pytest.mark.filterwarnings("error")
def test_dates_that_cannot_be_kept_are_refused():
    import pandas

    edges = (np.array([0, 0]), np.array([1, 2]))
    fine = pandas.Timestamp("2024-01-01T00:00:00.000000001")
    for wrong, said in (
        (np.array([0, 1], "datetime64[ps]"), "int64 holds in units of 1 ns, found 1 others .* position 1"),
        (np.array([0, 2**62], "datetime64[D]"), "int64 holds in units of 1 s"),
        (np.array([2**62, 0], "datetime64[25s]"), "int64 holds in units of 1 s"),
        (np.array([2**61, 0], "datetime64[M]"), "int64 holds in units of 1 s"),
        (np.array([fine, fine], object), "dates that microseconds hold, found .* position 0"),
        ([datetime.time(1), datetime.time(2)], r"a date for each edge, found .*\(time\) at position 0"),
        ([NOON, None], r"a date for each edge, found None \(NoneType\) at position 1"),
        ([NOON, 3], "a date for each edge, found 3"),
        (np.array([NOON, pandas.NaT], object), "a date for each edge, found NaT"),
        ([NOON, datetime.datetime.max.replace(tzinfo=datetime.timezone(-datetime.timedelta(hours=1)))], "found"),
        ([2.0**53, 1], "found float64 that may each stand for several integers"),
    ):
        with pytest.raises(csaw.CsawError, match=said):
            csaw.graph(edges, time=wrong)
    aware = pandas.DataFrame({"src": [0], "dst": [1], "t": pandas.to_datetime(["2024-01-01T02:00+02:00"])})
    assert csaw.graph(aware, time="t").arrays["edge_time"].tolist() == [1704067200 * 10**6]
    for columns in ({"time:int64": [1, 2]}, {"Time": [1.5, 2]}):
        with pytest.raises(OptionError, match="time: the graph also has an edge column time; give only one of them"):
            csaw.graph(edges, time=[3, 4], edge_columns=columns)


def test_reports_have_dates_beside_numbers(tmp_path):
    def shown(first, units):
        times = {"first": first, "last": None, "units": units, "distinct": 0, "most_at_once": 0, "tied": 0}
        return dict(dict(graph_sections({"edges": 1}, {"times": times}))["Times of its edges"])["first"]

    assert shown(1704110400, "seconds since 1970-01-01") == "1,704,110,400 (2024-01-01T12:00:00Z)"
    assert shown(-1, "milliseconds since 1970-01-01") == "-1 (1969-12-31T23:59:59.999Z)"
    assert shown(5, "1e-1 seconds since 1970-01-01") == "5 (1970-01-01T00:00:00.5Z)"
    assert shown(2**62, "seconds since 1970-01-01") == f"{2**62:,}"
    assert shown(5, "days since 1970-01-01") == shown(5, "1") == "5"
    tied = dict(graph_sections({"edges": 1}, {"times": time_facts(made(tmp_path, EVENTS))}))["Times of its edges"]
    assert dict(tied)["stored edges whose vertex has another edge at the same time"] == "3"


def test_walks_in_time_say_what_is_there_in_place_of_times():
    edges = (np.array([0, 1]), np.array([1, 0]))
    for columns, said in (
        ({"time:float64": [1, 2]}, "found the edge column time:float64; make"),
        (None, "found none;"),
    ):
        with pytest.raises(OptionError, match=said):
            csaw.sample(csaw.graph(edges, edge_columns=columns), algo="temporal", walk_length=2)


def test_temporal_data_has_times_by_itself():
    torch = need_package("torch")
    data = need_package("torch_geometric.data")
    made_of = data.TemporalData(src=torch.tensor([0, 1, 0]), dst=torch.tensor([1, 2, 1]), t=torch.tensor([3, 4, 5]))
    store = csaw.graph(made_of)
    assert store.arrays["edge_time"].tolist() == [3, 5, 4]
    assert csaw.sample(store, algo="temporal", walk_length=2)["times"][:].shape == (3, 2)


@pytest.mark.parametrize("header", ["source,target,time\n", ""])
def test_dates_with_hours_and_minutes_are_no_pairs(tmp_path, header):
    rows = "0,1,2026-11-25 20:15\n1,2,2026-11-25 20:16\n2,3,2026-11-25 20:17\n"
    column = "time" if header else "3"
    store = made(tmp_path, header + rows, "h.csv", time_column=column, time_format="iso")
    assert np.diff(np.sort(store.load(store.further_columns).columns["time"])).tolist() == [60, 60]
