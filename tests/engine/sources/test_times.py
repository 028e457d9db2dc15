"""Times of sources are read as the input of the graph has times, in a file and in a mapping."""

import datetime

import numpy as np
import pytest

import csaw
from csaw.partition.errors import FormatError, OptionError

DECIMALS = ("0,1,10.25\n1,2,20.5\n0,2,11\n", {"time_decimals": 3})
DATES = ("0,1,2026-11-25T20:15\n1,2,2026-11-26\n0,2,2026-11-25\n", {"time_format": "iso"})
NOON, EVENING = 1795608000, 1795637700  # 2026-11-25T12:00:00Z and 20:15:00Z


def graph_of(tmp_path, text, options):
    (tmp_path / "events.csv").write_text(text)
    return csaw.partition(tmp_path / "events.csv", tmp_path / "g.zarr", time_column=3, **options)


def times_of(store, sources, algo="neighbor"):
    found = csaw.sample(store, algo=algo, fanout=(2,), time_strategy="last", sources=sources, bias="none")
    return found.arrays["seed_time"][:].ravel().tolist()


@pytest.mark.parametrize(
    ("graph", "given", "known"),
    [
        (DECIMALS, ["10.25", "11"], [10250, 11000]),
        (DECIMALS, [10.25, 11], [10250, 11000]),
        (DECIMALS, np.array([10.25, 11.0]), [10250, 11000]),
        (DECIMALS, np.array([10, 11]), [10000, 11000]),
        (DATES, ["2026-11-25T12:00", "2026-11-25T21:15+01:00"], [NOON, EVENING]),
        (DATES, np.array(["2026-11-25T12:00", "2026-11-25T20:15"], "datetime64[ns]"), [NOON, EVENING]),
        (DATES, [datetime.datetime(2026, 11, 25, 12), datetime.datetime(2026, 11, 25, 20, 15)], [NOON, EVENING]),
        (DATES, [NOON, EVENING], [NOON, EVENING]),
        (DATES, np.array([NOON, EVENING], np.uint64), [NOON, EVENING]),
        (DATES, np.array([NOON, EVENING], np.uint32), [NOON, EVENING]),
        (DECIMALS, np.array([10.25, 11], np.float32), [10250, 11000]),
    ],
    ids=repr,
)
def test_times_of_sources_are_given_as_the_input_has_them(tmp_path, graph, given, known):
    store = graph_of(tmp_path, *graph)
    assert times_of(store, {"ids": [0, 1], "time": given}) == known
    if isinstance(given[0], str):
        (tmp_path / "seeds.txt").write_text("".join(f"{v} {time}\n" for v, time in zip((0, 1), given, strict=True)))
        assert times_of(store, str(tmp_path / "seeds.txt")) == known
        for one, wanted in zip(given, known, strict=True):  # as --start-time reads it
            drawn = csaw.sample(store, algo="neighbor", fanout=(2,), time_strategy="last", sources=[0], start_time=one)
            assert drawn.arrays["seed_time"][:].ravel().tolist() == [wanted]


@pytest.mark.parametrize(
    ("graph", "given", "said"),
    [
        (DECIMALS, ["10.25", "11.0001"], "entry 1: expected a number with at most 3 decimals .*, found '11.0001'"),
        (DECIMALS, np.array([10, 2**62]), "entry 1: expected a number"),
        (DATES, np.array([NOON, EVENING], np.float32), "entry 0: expected a date .*, found np.float32"),
        (DECIMALS, [True, 1], "entry 0: expected a number .*, found True"),
        (DATES, ["soon", "2026-11-25"], "entry 0: expected a date of ISO 8601"),
        (DATES, np.array(["2026-11-25", "NaT"], "datetime64[s]"), "entry 1: expected a date of ISO 8601"),
        (DATES, np.array(["2026-11-25", "2026-11-25T00:00:00.5"], "datetime64[ms]"), "entry 1: expected a date"),
    ],
    ids=repr,
)
def test_other_times_of_sources_are_refused_with_their_place(tmp_path, graph, given, said):
    with pytest.raises(OptionError, match=f"^sources: time: {said}"):
        times_of(graph_of(tmp_path, *graph), {"ids": [0, 1], "time": given})


def test_a_date_in_a_file_of_sources_has_no_blank(tmp_path):
    store = graph_of(tmp_path, *DATES)
    (tmp_path / "seeds.txt").write_text("0 2026-11-25 12:00\n")
    with pytest.raises(
        FormatError,
        match="seeds.txt:1: expected a vertex id and its time, separated by a space, tab or comma, found",
    ):
        times_of(store, str(tmp_path / "seeds.txt"))


@pytest.mark.parametrize("algo", ["neighbor", "minibatch"])
def test_a_virtual_sample_keeps_the_times_of_its_sources(tmp_path, algo):
    store, sources = graph_of(tmp_path, *DECIMALS), {"ids": [0, 1], "time": [10.25, 11]}
    own = {"disjoint": True} if algo == "minibatch" else {}
    asked = {"algo": algo, "fanout": (2,), "time_strategy": "last", "sources": sources, "bias": "none"} | own
    later = csaw.sample(store, tmp_path / "later.zarr", virtual=True, **asked)
    assert later.arrays["seed_time"][:].ravel().tolist() == [10250, 11000]
