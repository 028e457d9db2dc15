"""Options that are times are given as the input of the graph has them, and kept in the units of its store."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.graphs import arrays_of
from helpers.invariance import assert_same

import csaw
from csaw.cli.main import cli
from csaw.engine import prepare
from csaw.engine.algorithms.temporal import Temporal
from csaw.engine.api.option import option
from csaw.engine.stores import open_samples
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError

DAYS = [(0, 1, 3), (1, 2, 4), (1, 3, 6), (2, 0, 5), (3, 0, 9), (0, 2, 4), (2, 3, 7)]
FROM = 1083369600  # 2004-05-01, in seconds since 1970


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """The same events by dates, and by numbers with decimals: day 3 is 2004-05-03, and 0.3."""
    folder = tmp_path_factory.mktemp("dated")
    (folder / "dates.txt").write_text("".join(f"{a} {b} 2004-05-{day:02}\n" for a, b, day in DAYS))
    (folder / "numbers.txt").write_text("".join(f"{a} {b} 0.{day}\n" for a, b, day in DAYS))
    for name, form in (("dates", {"time_format": "iso"}), ("numbers", {"time_decimals": 1})):
        csaw.partition(folder / f"{name}.txt", folder / f"{name}.zarr", time_column=3, **form)
    return folder


def seconds(day):
    return FROM + (day - 1) * 86400


GIVEN = {
    "text": {"start_time": "2004-05-03", "last_time": "2004-05-07T00:00:00", "time_window": "2d"},
    "dates": {"start_time": date(2004, 5, 3), "last_time": datetime(2004, 5, 7, tzinfo=UTC), "time_window": "48h"},
    "numpy": {
        "start_time": np.datetime64("2004-05-03"),
        "last_time": np.datetime64("2004-05-07T00:00"),
        "time_window": np.timedelta64(2, "D"),
    },
    "lengths": {"start_time": str(seconds(3)), "last_time": seconds(7), "time_window": timedelta(days=2)},
}


@pytest.mark.parametrize("form", GIVEN)
def test_a_graph_of_dates_takes_dates(tmp_path, graphs, form):
    how = {"walk_length": 4, "num_walks": 30, "time_order": "monotone"}
    units = {"start_time": seconds(3), "last_time": seconds(7), "time_window": 2 * 86400}
    wanted = arrays_of(graphs / "dates.zarr", tmp_path / "s.zarr", "temporal", **units, **how)
    assert (wanted["lengths"] > 1).any()
    assert_same(wanted, arrays_of(graphs / "dates.zarr", tmp_path / "t.zarr", "temporal", **GIVEN[form], **how))
    kept = open_samples(tmp_path / "t.zarr").manifest["request"]["parameters"]
    assert {name: kept[name] for name in units} == units
    assert verify(tmp_path / "t.zarr").ok


@pytest.mark.parametrize("window", ["0.4", 0.4], ids=["text", "number"])
def test_numbers_have_the_decimals_of_the_input(tmp_path, graphs, window):
    """Also where a request is drawn again, whose times are in the units of the store already."""
    how = {"walk_length": 4, "num_walks": 30, "start_time": 0.3, "time_window": window}
    found = arrays_of(graphs / "numbers.zarr", tmp_path / "s.zarr", "temporal", **how)
    assert found["times"][found["lengths"] > 0, 0].min() >= 4
    assert (found["times"].max(axis=1) <= 9).all()
    csaw.sample(graphs / "numbers.zarr", tmp_path / "v.zarr", "temporal", virtual=True, **how)
    assert open_samples(tmp_path / "v.zarr").manifest["request"]["parameters"]["start_time"] == 3
    again = open_samples(tmp_path / "v.zarr")
    for name in ("walks", "times"):
        assert np.array_equal(again[name][:], open_samples(tmp_path / "s.zarr")[name][:])


def test_neighbors_take_them_too(tmp_path, graphs):
    how = {"fanout": (2, 2), "time_strategy": "last"}
    dated = arrays_of(graphs / "dates.zarr", tmp_path / "s.zarr", "neighbor", start_time="2004-05-06", **how)
    number = arrays_of(graphs / "dates.zarr", tmp_path / "t.zarr", "neighbor", start_time=seconds(6), **how)
    assert_same(number, dated)


def test_the_command_line_takes_dates(tmp_path, graphs):
    out = tmp_path / "s.zarr"
    words = ["--algo", "temporal", "--walk-length", "3", "--start-time", "2004-05-03", "--time-window", "36h"]
    line = ["sample", str(graphs / "dates.zarr"), str(out), *words, "--last-time", "none"]
    assert CliRunner().invoke(cli, line, catch_exceptions=False).exit_code == 0
    kept = open_samples(out).manifest["request"]["parameters"]
    assert (kept["start_time"], kept["time_window"], kept["last_time"]) == (seconds(3), 129600, None)


@pytest.mark.parametrize(
    "scale",
    ["36h", timedelta(hours=36), np.timedelta64(36, "h"), np.timedelta64(129600 * 10**9, "ns"), "129600", 129600],
    ids=repr,
)
def test_scales_of_dates_are_lengths_too(graphs, scale):
    for bias in (
        {"time_bias": "exponential", "time_scale": scale},
        {"start": "edge", "start_bias": "exponential", "start_scale": scale},
    ):
        walk = prepare(graphs / "dates.zarr", "temporal", **bias).algorithm
        assert next(getattr(walk, name) for name in bias if name.endswith("scale")) == 129600.0


class FromLast(Temporal):
    time_bias: str = option("exponential", help="how time decides", choices=("uniform", "exponential"))


def test_a_class_may_have_the_bias_of_a_scale_by_default(graphs):
    walk = prepare(graphs / "dates.zarr", FromLast, time_scale="36h").algorithm
    assert (walk.time_bias, walk.time_scale) == ("exponential", 129600.0)


@pytest.mark.parametrize("scale", [b"12", [3], None, "nan", 10**400], ids=lambda scale: repr(scale)[:9])
def test_what_is_no_scale_is_refused(graphs, scale):
    for name in ("dates", "numbers"):
        with pytest.raises(OptionError, match="--time-scale: expected "):
            prepare(graphs / f"{name}.zarr", "temporal", time_bias="exponential", time_scale=scale)


def test_a_scale_that_is_no_length_is_a_number(graphs):
    asked = {"time_bias": "exponential", "time_scale": 0.5}
    assert prepare(graphs / "numbers.zarr", "temporal", **asked).algorithm.time_scale == 0.5
    for name, bias, said in (
        ("numbers", "exponential", "expected a number of the graph's units, found '36h'"),
        ("dates", "exponential-rank", "expected a number, found '36h'"),
    ):
        with pytest.raises(OptionError, match=f"--time-scale: {said}"):
            prepare(graphs / f"{name}.zarr", "temporal", time_bias=bias, time_scale="36h")


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("dates", {"start_time": "yesterday"}, "--start-time: expected a date of ISO 8601"),
        ("dates", {"last_time": "2004-05-03T00:00:00.5"}, "--last-time: expected a date of ISO 8601"),
        ("dates", {"time_window": "-1d"}, "--time-window: expected a length of time, such as 7d"),
        ("dates", {"time_window": "2004-05-03"}, "--time-window: expected a length of time"),
        ("numbers", {"start_time": "0.35"}, "--start-time: expected a number with at most 1 decimals"),
        ("numbers", {"start_time": "2004-05-03"}, "--start-time: expected a number with at most 1 decimals"),
        ("numbers", {"time_window": -0.1}, "--time-window: expected a length of time, a number from 0 on"),
        ("numbers", {"time_window": "7d"}, "--time-window: expected a length of time, a number from 0 on"),
        ("numbers", {"start_time": True}, "--start-time: expected a number"),
    ],
)
def test_what_is_no_time_there_is_refused(graphs, name, given, said):
    with pytest.raises(OptionError, match=said):
        prepare(graphs / f"{name}.zarr", "temporal", walk_length=3, **given)


def test_a_graph_without_times_takes_no_date():
    with pytest.raises(OptionError, match="start_time: expected an integer"):
        csaw.sample("karate", algo="temporal", walk_length=3, start_time="2004-05-03")


def test_times_of_an_algorithm_that_was_built_for_a_graph_are_in_its_units(graphs):
    how = {"start_time": "0.3", "last_time": "0.7", "time_window": 0.2, "walk_length": 4}
    built = prepare(graphs / "numbers.zarr", "temporal", **how).algorithm
    again = prepare(graphs / "numbers.zarr", built).algorithm
    assert again.parameters() == built.parameters()
    assert (again.start_time, again.last_time, again.time_window) == (3, 7, 2)
    with pytest.raises(OptionError, match="--start-time: expected a time for this graph, .* found 3 .* build it again"):
        prepare(graphs / "dates.zarr", built)
