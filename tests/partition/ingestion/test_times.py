"""Times of edges become integers of 64 bits, exactly or not at all, and rows keep their order by time."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import csaw
from csaw.partition import IngestOptions, open_graph
from csaw.partition.errors import FormatError, OptionError
from csaw.partition.graph.check import check_store
from csaw.partition.graph.edge_columns import TIME, TIME_ORDER
from csaw.partition.graph.time_facts import time_facts
from csaw.partition.graph.time_order import time_order
from csaw.partition.ingestion.text.times import time_in
from csaw.partition.ingestion.time_column import TimeColumn

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
     "2024-01-01T10:00:60", "2024-01-01T10:00+25:00", "2024-01-01Z5", "20240101", "2024-01-01T10:00:00.1234567"],
)  # fmt: skip
def test_what_is_no_date_is_refused_with_its_line(tmp_path, text):
    assert time_in(text.encode(), TimeColumn.of("iso", 6)) is None
    if text:
        with pytest.raises(FormatError, match=r"events.csv:3: expected a date of ISO 8601"):
            made(tmp_path, f"src,dst,t\n0,1,2024-01-01\n1,2,{text}\n", "events.csv", time_format="iso", time_decimals=6)


def test_a_time_beyond_int64_is_refused():
    assert time_in(b"9999-01-01", TimeColumn.of("iso", 9)) is None
    assert time_in(b"2262-04-11", TimeColumn.of("iso", 9)) == 9223286400 * 10**9


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
        ({"time_format": "unix"}, "time_format: expected numbers, iso"),
        ({"edge_columns": ("time:int64=3",)}, "expected each name once"),
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
        ([1.5, 2.0], "int64 holds"),
        (np.array(["NaT", "2024-01-01"], "datetime64[s]"), "a date for each"),
        ([1], "each of"),
    ):
        with pytest.raises(csaw.CsawError, match=said):
            csaw.graph(edges, time=wrong)


def test_temporal_data_has_times_by_itself():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    made_of = data.TemporalData(src=torch.tensor([0, 1, 0]), dst=torch.tensor([1, 2, 1]), t=torch.tensor([3, 4, 5]))
    store = csaw.graph(made_of)
    assert store.arrays["edge_time"].tolist() == [3, 5, 4]
    assert csaw.sample(store, algo="temporal", walk_length=2)["times"][:].shape == (3, 2)
