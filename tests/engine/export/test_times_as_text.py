"""Times in text and CSV are written as the input of the graph has them, and are the same times when they are read."""

import csv

import numpy as np
import pytest

import csaw
from csaw.engine.export.tables import Rows, kind_of_times
from csaw.partition.ingestion.time_value import text_of

FORMS = {
    "integers": ({}, ["-3", "0", "0", "12"]),
    "decimals": ({"time_decimals": 3}, ["-3.250", "0.000", "0.007", "12.000"]),
    "unix": (
        {"time_format": "unix"},
        ["1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "2004-02-29T12:34:56Z", "9999-12-31T23:59:59Z"],
    ),
    "dates": (
        {"time_format": "iso"},
        ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2000-03-01T00:00:00Z", "2026-11-25T20:15:00Z"],
    ),
    "milliseconds": (
        {"time_format": "iso", "time_decimals": 3},
        [
            "1969-12-31T23:59:59.999Z",
            "1970-01-01T00:00:00.000Z",
            "2024-02-29T00:00:00.040Z",
            "2024-12-31T23:59:59.500Z",
        ],
    ),
}
"""Options of csaw partition, and times of a graph as text."""
EDGES = (("7", "5"), ("5", "7"), ("7", "-2"), ("5", "-2"))
UNITS = ("1", "1e-3", "1e-9", "1e-2 s since 1970-01-01", "seconds since 1970-01-01", "nanoseconds since 1970-01-01")


@pytest.mark.parametrize("units", UNITS)
def test_every_time_is_written_as_people_read_it(units):
    draw = np.random.default_rng(7)
    ends = np.array([-(2**63), 2**63 - 1, -1, 0, 1, -62135596801, -62135596800, 253402300799, 253402300800])
    some = [draw.integers(-most, most, 2000) for most in (10**4, 3 * 10**11, 2**63 - 1)]
    times = np.concatenate([ends, ends[2:] * 10**6, *some])
    lines = bytes(Rows([b"", b"\n"], [kind_of_times(units)]).text([times.view(np.uint64)])).decode().splitlines()
    assert lines == [text_of(time, units) for time in times.tolist()]


@pytest.fixture(params=FORMS)
def drawn(request, tmp_path):
    """All edges as samples of every vertex, the graph, the options that it was made with, and its rows."""
    options, times = FORMS[request.param]
    read = options
    if options.get("time_format") == "unix":
        dates = np.array([time.removesuffix("Z") for time in times], "datetime64[s]").astype(np.int64)
        given, read = list(map(str, dates.tolist())), {"time_format": "iso"}
    else:
        given = times
    rows = "".join(f"{u} {v} {t}\n" for (u, v), t in zip(EDGES, given, strict=True))
    (tmp_path / "events.txt").write_text(rows)
    graph = csaw.partition(tmp_path / "events.txt", tmp_path / "g.zarr", time_column=3, **options)
    last = {"time_strategy": "uniform", "start_time": times[-1]}
    samples = csaw.sample(graph.path, tmp_path / "s.zarr", "neighbor", fanout=(50,), **last)
    return samples, graph, read, sorted((u, v, t) for (u, v), t in zip(EDGES, times, strict=True))


def test_edges_as_text_are_read_again_as_the_same_graph(tmp_path, drawn):
    samples, graph, read, rows = drawn
    assert csaw.export(samples, tmp_path / "edges.txt")["left_out"].keys() == {"seed_time", "sources"}
    lines = [line.split(" ") for line in (tmp_path / "edges.txt").read_text().splitlines()]
    assert sorted((u, v, t) for _, u, v, _, t in lines) == rows
    columns = {"source_column": 2, "target_column": 3, "time_column": 5, "weight_column": "none"}
    again = csaw.partition(tmp_path / "edges.txt", tmp_path / "again.zarr", **columns, **read)
    assert again.time == graph.time
    assert again.fingerprint == graph.fingerprint


def test_csv_has_times_as_the_input_has_them(tmp_path, drawn):
    samples, _, _, rows = drawn
    csaw.export(samples, tmp_path / "edges.csv")
    with open(tmp_path / "edges.csv", newline="") as file:
        assert sorted((row["src"], row["dst"], row["time"]) for row in csv.DictReader(file)) == rows


def test_samples_say_the_units_of_their_times(drawn):
    samples, graph, _, _ = drawn
    assert samples.time_units == graph.time.units
