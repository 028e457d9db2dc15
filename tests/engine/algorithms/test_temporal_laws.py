"""Walks in time follow the law that a sum over all events gives, with ties, and however long the times are apart."""

import numpy as np
import pytest
from helpers.graphs import arrays_of
from helpers.temporal import TIED, assert_follows_in_time, events_store, random_events, step_law

from csaw.engine import prepare
from csaw.partition.errors import OptionError

MANY = 4000
CASES = {
    "uniform": {},
    "monotone": {"time_order": "monotone"},
    "backward": {"direction": "backward"},
    "backward monotone from a time": {"direction": "backward", "time_order": "monotone", "start_time": 6},
    "from a time": {"start_time": 2},
    "window and last": {"time_window": 2, "last_time": 5},
    "backward window and last": {"direction": "backward", "time_window": 3, "last_time": 2, "start_time": 8},
    "from edges": {"start": "edge", "time_bias": "exponential", "instances": 5 * MANY},
    "linear": {"time_bias": "linear"},
    "linear far backward": {"time_bias": "linear", "prefer": "far", "direction": "backward", "time_order": "monotone"},
    "exponential": {"time_bias": "exponential", "time_scale": 2.0},
    "exponential far": {"time_bias": "exponential", "time_scale": 2.0, "prefer": "far"},
    "exponential backward": {"time_bias": "exponential", "time_scale": 3.0, "direction": "backward"},
    "uniform per time": {"per": "time"},
    "linear per time": {"per": "time", "time_bias": "linear", "time_order": "monotone"},
    "linear per time, far": {"per": "time", "time_bias": "linear", "prefer": "far"},
}


QUICK = (
    "backward monotone from a time",
    "window and last",
    "from edges",
    "linear far backward",
    "exponential",
    "linear per time, far",
)
LIKE_OTHERS = pytest.mark.slow(reason="quick cases have each option once, and every case compiles a kernel of its own")


@pytest.mark.parametrize("case", [pytest.param(c, marks=[] if c in QUICK else [LIKE_OTHERS]) for c in CASES])
def test_every_step_follows_the_law(tmp_path, case):
    options = CASES[case]
    for number, (events, vertices) in enumerate(((TIED, 5), (random_events(6, 300, 7), 6))):
        store = events_store(tmp_path / f"g{number}.zarr", events, vertices)
        drawn = {"num_walks": MANY} | options
        found = arrays_of(store, tmp_path / "s.zarr", "temporal", walk_length=3, seed=3, **drawn)
        seen = assert_follows_in_time(found, events, vertices, options)
        assert len(seen) > 5


def test_exponential_biases_hold_for_any_span(tmp_path):
    """Relative to the next edge, not to the first of all: exp(-1e15) of it would leave nothing to draw."""
    far = 2**62
    events = [(0, 1, -far), (1, 2, far), (1, 3, far + 1), (1, 4, far + 40), (2, 0, far + 5)]
    store = events_store(tmp_path / "g.zarr", events, 5)
    found = arrays_of(
        store, tmp_path / "s.zarr", "temporal", sources=[0], num_walks=MANY, walk_length=2, time_bias="exponential"
    )
    assert_follows_in_time(found, events, 5, {"time_bias": "exponential"})
    assert set(found["walks"][:, 2].tolist()) == {2, 3}  # exp(-40) of a chance


def test_walks_end_where_no_edge_is_later(tmp_path):
    """cuGraph's example: times 3 and then 8, below and above 10, forward and backward."""
    events = [(0, 1, 3), (1, 2, 8), (1, 0, 3)]
    store = events_store(tmp_path / "g.zarr", events, 3)
    forward = arrays_of(store, tmp_path / "s.zarr", "temporal", sources=[0], walk_length=4)
    assert forward["walks"].tolist() == [[0, 1, 2, -1, -1]]
    assert forward["times"].tolist()[0][:2] == [3, 8]
    assert forward["times"][0, 2:].tolist() == [-(2**63)] * 2
    back = arrays_of(
        store, tmp_path / "t.zarr", "temporal", sources=[0], walk_length=4, direction="backward", start_time=10
    )
    assert back["walks"].tolist() == [[0, 1, -1, -1, -1]]


def test_times_at_the_ends_of_64_bits(tmp_path):
    least, largest = -(2**63), 2**63 - 1
    events = [(0, 1, least), (1, 2, largest), (2, 0, largest), (1, 1, 0)]
    store = events_store(tmp_path / "g.zarr", events, 3)
    for options in ({}, {"time_order": "monotone", "time_window": 2**63 - 1}, {"time_bias": "exponential"}):
        found = arrays_of(store, tmp_path / "s.zarr", "temporal", walk_length=6, num_walks=200, **options)
        assert_follows_in_time(found, events, 3, options)


def test_a_hub_with_ties_is_drawn_exactly(tmp_path):
    rng = np.random.default_rng(5)
    events = [(0, v + 1, int(time)) for v, time in enumerate(rng.integers(0, 40, 2000))]
    store = events_store(tmp_path / "g.zarr", events, 2001)
    for options in ({"time_bias": "exponential", "time_scale": 5.0}, {"time_bias": "linear"}, {"per": "time"}):
        found = arrays_of(
            store,
            tmp_path / "s.zarr",
            "temporal",
            sources=[0],
            num_walks=60000,
            walk_length=1,
            start_time=11,
            **options,
        )
        law = step_law([(v, t) for _, v, t in events], 11, options)
        by_time = np.zeros(40)
        for (_, time), chance in law.items():
            by_time[time] += chance
        counts = np.bincount(found["times"][:, 0], minlength=40)
        kept = by_time * 60000 >= 5
        assert (counts[by_time == 0] == 0).all()
        expected = by_time[kept] * 60000
        assert ((counts[kept] - expected) ** 2 / expected).sum() < 90


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"per": "time", "time_bias": "exponential"}, "--per time: expected --time-bias uniform or linear"),
        ({"start": "edge", "start_time": 3}, "--start edge: expected no --start-time"),
        ({"start": "edge", "last_time": 3}, "--start edge: expected no --last-time"),
        ({"start": "edge", "sources": [0]}, "--sources: expected none where walks start at edges"),
        ({"start": "edge", "sources": "all"}, "--sources: expected none where walks start at edges"),
        ({"start": "edge", "num_walks": 3}, "--num-walks: expected none where walks start at edges"),
        ({"prefer": "far"}, "--prefer far: expected --time-bias linear or exponential"),
        ({"time_scale": 2.0}, "--time-scale: expected --time-bias exponential beside it, found uniform"),
        ({"walk_length": None}, "--walk-length"),
        ({"time_window": -1}, "--time-window"),
        ({"time_scale": 0.0}, "--time-scale"),
        ({"edge_bias": "e.time"}, "derive a class with an edge_bias from TemporalWalk"),
    ],
)
def test_options_at_odds_are_refused(tmp_path, options, said):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    with pytest.raises(OptionError, match=said):
        prepare(store, "temporal", **options)  # before anything is written
