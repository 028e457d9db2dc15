"""Walks in time follow the law that a sum over all events gives, with ties, and however long the times are apart."""

import numpy as np
import pytest
from helpers.graphs import arrays_of
from helpers.stats import SUITE_ALPHA, TESTS
from helpers.temporal import TIED, assert_follows_in_time, events_store, random_events, start_law, step_law
from scipy.stats import chi2

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
    "exponential rank": {"time_bias": "exponential-rank"},
    "exponential rank far backward": {
        "time_bias": "exponential-rank",
        "time_scale": 7.5,
        "prefer": "far",
        "direction": "backward",
        "time_order": "monotone",
    },
    "exponential rank per time": {"per": "time", "time_bias": "exponential-rank"},
    "exponential rank per time, far": {
        "per": "time",
        "time_bias": "exponential-rank",
        "time_scale": 3.0,
        "prefer": "far",
        "time_window": 40,
    },
}


QUICK = (
    "window and last",
    "from edges",
    "exponential",  # as of a hub
    "linear per time, far",
    "exponential rank far backward",
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


LIKE_A_STEP = pytest.mark.slow(reason="every step of other graphs follows this law by default")
BY_TIME = {"per": "time"}  # half of the steps find a first edge by chance


@pytest.mark.parametrize(
    "options",
    [
        {"time_bias": "exponential", "time_scale": 5.0},
        pytest.param({"time_bias": "linear"}, marks=LIKE_A_STEP),
        pytest.param(BY_TIME, marks=LIKE_A_STEP),
        BY_TIME | {"time_bias": "linear"},
    ],
    ids=["exponential", "linear", "per time", "linear per time"],
)
def test_a_hub_with_ties_is_drawn_exactly(tmp_path, options):
    rng = np.random.default_rng(5)
    events = [(0, v + 1, int(time)) for v, time in enumerate(rng.integers(0, 40, 2000))]
    store = events_store(tmp_path / "g.zarr", events, 2001)
    found = arrays_of(
        store, tmp_path / "s.zarr", "temporal", sources=[0], num_walks=60000, walk_length=1, start_time=11, **options
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


STARTS = {
    "linear": {"start_bias": "linear"},
    "linear early": {"start_bias": "linear", "start_prefer": "early"},
    "linear per time": {"start_bias": "linear", "start_per": "time"},
    "uniform per time": {"start_per": "time"},
    "exponential": {"start_bias": "exponential", "start_scale": 3.0},
    "exponential early": {"start_bias": "exponential", "start_prefer": "early"},
    "exponential rank": {"start_bias": "exponential-rank", "start_scale": 4.0},
    "exponential rank early": {"start_bias": "exponential-rank", "start_scale": 90.0, "start_prefer": "early"},
    "exponential rank per time": {"start_bias": "exponential-rank", "start_per": "time"},
}


@pytest.mark.one_in(2)  # each case once, on one kind of graph or the other
@pytest.mark.parametrize("case", STARTS)
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
def test_start_edges_follow_the_law(tmp_path, case, directed):
    """Each source with the time of its first edge, and every step after it, of walks forward and backward."""
    options = STARTS[case] | ({} if directed else {"direction": "backward"})
    for number, (events, vertices) in enumerate(((TIED, 5), (random_events(6, 300, 7), 6))):
        if not directed:
            events = events + [(v, u, time) for u, v, time in events if u != v]
        store = events_store(tmp_path / f"g{number}.zarr", events, vertices)
        drawn = {"instances": 20000, "walk_length": 2, "start": "edge", "seed": 8} | options
        found = arrays_of(store, tmp_path / "s.zarr", "temporal", **drawn)
        law = start_law(events, options)
        cells = list(zip(found["walks"][:, 0].tolist(), found["times"][:, 0].tolist(), strict=True))
        assert set(cells) <= set(law)
        counts = np.array([cells.count(cell) for cell in law])
        expected = np.array(list(law.values())) * len(cells)
        few = expected < 5
        counts, expected = (np.append(each[~few], each[few].sum()) for each in (counts, expected))
        kept = expected > 0
        square = ((counts - expected)[kept] ** 2 / np.maximum(expected, 5)[kept]).sum()
        assert chi2.sf(square, kept.sum() - 1) > SUITE_ALPHA / TESTS
        assert_follows_in_time(found, events, vertices, options | {"start": "vertex"}, first_is_free=True)


def test_start_edges_by_their_times_over_any_span(tmp_path):
    """Relative to the preferred end: exp(t - t_min) of the last edges would be no number."""
    far = 2**62
    events = [(0, 1, -far), (1, 2, far), (2, 3, far + 1), (3, 4, far + 40), (2, 0, far + 40)]
    store = events_store(tmp_path / "g.zarr", events, 5)
    given = {"start": "edge", "start_bias": "exponential", "instances": MANY, "walk_length": 1}
    late = arrays_of(store, tmp_path / "s.zarr", "temporal", **given)
    assert set(late["times"][:, 0].tolist()) == {far + 40}  # exp(-39) of a chance
    early = arrays_of(store, tmp_path / "s.zarr", "temporal", start_prefer="early", **given)
    assert set(early["times"][:, 0].tolist()) == {-far}


def test_one_edge_is_always_the_start(tmp_path):
    store = events_store(tmp_path / "g.zarr", [(1, 0, -(2**63))], 2)
    for options in STARTS.values():
        found = arrays_of(store, tmp_path / "s.zarr", "temporal", start="edge", instances=9, walk_length=3, **options)
        assert found["walks"].tolist() == [[1, 0, -1, -1]] * 9


def test_a_geometric_rank_holds_for_rows_of_any_length(tmp_path):
    """Closed form: rank k of n has chance (1 - q) q^k / (1 - q^n), q = exp(-1 / scale)."""
    events = [(0, v + 1, v) for v in range(3000)]
    store = events_store(tmp_path / "g.zarr", events, 3001)
    given = {"sources": [0], "num_walks": 60000, "walk_length": 1, "time_bias": "exponential-rank"}
    for scale in (0.5, 1.0, 2000.0, 2.0**32):
        found = arrays_of(store, tmp_path / "s.zarr", "temporal", time_scale=scale, **given)
        ranks = found["times"][:, 0]
        chances = np.exp(-np.arange(3000) / scale)
        upto = np.cumsum(chances / chances.sum())
        cells = np.minimum((upto - 1e-12) * 20, 19).astype(int)
        expected = np.bincount(cells, chances / chances.sum(), 20) * ranks.size
        counts, kept = np.bincount(cells[ranks], minlength=20), expected >= 5
        assert counts[~kept].sum() <= 30
        assert ((counts[kept] - expected[kept]) ** 2 / expected[kept]).sum() < 75


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"start_bias": "linear"}, "--start-bias: expected --start edge with it, found vertex"),
        ({"start_scale": 2.0}, "--start-scale: expected --start edge with it"),
        ({"start": "edge", "start_scale": 2.0}, "--start-scale: expected --start-bias exponential or"),
        (
            {"start": "edge", "start_prefer": "early"},
            "--start-prefer early: expected a --start-bias other than uniform",
        ),
        (
            {"start": "edge", "start_bias": "exponential", "start_per": "time"},
            "--start-per time: expected --start-bias uniform, linear or exponential-rank",
        ),
        ({"time_bias": "exponential-rank", "time_scale": 2.0**33}, "--time-scale: expected at most 4294967296 ranks"),
        ({"per": "time", "time_bias": "exponential"}, "--per time: expected --time-bias uniform, linear or"),
        ({"start": "edge", "start_time": 3}, "--start edge: expected no --start-time"),
        ({"start": "edge", "last_time": 3}, "--start edge: expected no --last-time"),
        ({"start": "edge", "sources": [0]}, "--sources: expected none with --start edge"),
        ({"start": "edge", "sources": "all"}, "--sources: expected none with --start edge"),
        ({"start": "edge", "num_walks": 3}, "--num-walks: expected none with --start edge"),
        ({"prefer": "far"}, "--prefer far: expected a --time-bias other than uniform"),
        (
            {"time_scale": 2.0},
            "--time-scale: expected --time-bias exponential or exponential-rank with it, found uniform",
        ),
        ({"walk_length": None}, "--walk-length"),
        ({"time_window": -1}, "--time-window"),
        ({"time_scale": 0.0}, "--time-scale"),
        ({"edge_bias": "e.time"}, "derive a class from TemporalWalk"),
    ],
)
def test_options_at_odds_are_refused(tmp_path, options, said):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    with pytest.raises(OptionError, match=said):
        prepare(store, "temporal", **options)  # before anything is written
