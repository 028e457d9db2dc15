"""csaw verify finds walks in time that follow another law, and passes those that follow their own."""

import pytest
from helpers.graphs import arrays_of
from helpers.temporal import RECENT, events_store, random_events

from csaw.engine.schedule import specialization
from csaw.engine.sources.start_edges import StartEdges
from csaw.engine.stores.verify import verify

EXPONENTIAL = {"time_bias": "exponential", "time_scale": 30.0}
FAULTS = {
    "equal times follow": ({}, {"STRICT": 0}, "order"),
    "equal times do not": ({"time_order": "monotone"}, {"STRICT": 1}, "ends"),
    "the window is ignored": ({"time_window": 20}, {"HAS_WINDOW": 0}, "order"),
    "the last time is ignored": ({"last_time": 40}, {"HAS_LAST": 0}, "order"),
    "the start is ignored": ({"start_time": 10}, {"HAS_START": 0}, "order"),
    "backward is forward": ({"direction": "backward"}, {"BACKWARD": 0}, "order"),
    "exponential is uniform": (EXPONENTIAL, {"TIME_BIAS": 0}, "transitions, pooled"),
    "linear is uniform": ({"time_bias": "linear"}, {"TIME_BIAS": 0}, "transitions, pooled"),
    "near is far": ({"time_bias": "linear"}, {"FAR": 1}, "transitions, pooled"),
    "times are edges": ({"per": "time"}, {"PER_TIME": 0}, "transitions, pooled"),
    "exponential rank is uniform": ({"time_bias": "exponential-rank"}, {"TIME_BIAS": 0}, "transitions, pooled"),
    "ranks of times are ranks of edges": (
        {"time_bias": "exponential-rank", "per": "time"},
        {"PER_TIME": 0},
        "transitions, pooled",
    ),
    "first edges at any time": (
        {"start": "edge", "start_bias": "linear", "instances": 8000},
        {"FROM_TIMES": 0},
        "transitions, pooled",
    ),
    "first edges by their bias": (
        EXPONENTIAL | {"start": "edge", "instances": 8000},
        {"FROM_EDGES": 0},
        "transitions, pooled",
    ),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    events = random_events(40, 4000, 3, span=60)
    return events_store(tmp_path_factory.mktemp("timed") / "g.zarr", events, 40)


def wrong(path):
    report = verify(path)
    return {check.name for check in report.checks if not check.ok}


QUICK = (
    "equal times follow",
    "exponential is uniform",
    "first edges at any time",
    "near is far",
    "first edges by their bias",
)
LIKE_OTHERS = pytest.mark.slow(
    reason="quick cases have a fault of each check, and every fault compiles a kernel of its own"
)


@pytest.mark.parametrize("fault", [pytest.param(f, marks=[] if f in QUICK else [LIKE_OTHERS]) for f in FAULTS])
def test_a_planted_fault_is_found(tmp_path, monkeypatch, store, fault):
    options, planted, found_by = FAULTS[fault]
    given = {"num_walks": 200, "walk_length": 8} | options
    right = specialization.time_constants
    monkeypatch.setattr(specialization, "time_constants", lambda *args: right(*args) | planted)
    arrays_of(store, tmp_path / "s.zarr", "temporal", **given)
    assert found_by in wrong(tmp_path / "s.zarr")


@pytest.mark.parametrize("options", [{}, EXPONENTIAL | {"time_order": "monotone", "direction": "backward"}])
def test_a_right_sample_passes(tmp_path, store, options):
    arrays_of(store, tmp_path / "s.zarr", "temporal", num_walks=200, walk_length=8, **options)
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report


STARTS = [
    ({"start_bias": "linear"}, {"late": False}),
    ({"start_bias": "exponential", "start_scale": 20.0, "start_prefer": "early"}, {"scale": 24.0}),
    ({"start_bias": "exponential-rank", "start_scale": 900.0}, {"per_time": True}),
    ({"start_per": "time"}, {"per_time": False}),
]


@pytest.mark.parametrize(("options", "planted"), STARTS)
def test_start_edges_by_time_are_verified_and_their_faults_found(tmp_path, monkeypatch, store, options, planted):
    given = {"start": "edge", "instances": 20000, "walk_length": 2} | options
    arrays_of(store, tmp_path / "s.zarr", "temporal", **given)
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report
    assert any(check.name == "sources" and check.tested for check in report.checks)
    right = StartEdges.of

    def wrong_ones(*args):
        found = right(*args)
        vars(found).update(planted)
        return found

    monkeypatch.setattr(StartEdges, "of", staticmethod(wrong_ones))
    arrays_of(store, tmp_path / "s.zarr", "temporal", **given)
    assert "sources" in wrong(tmp_path / "s.zarr")


def test_a_scale_that_is_a_tenth_off_is_found(tmp_path, monkeypatch, store):
    from csaw.engine.cpu.batches import walks

    right = walks.time_rules
    monkeypatch.setattr(walks, "time_rules", lambda walk: right(walk)._replace(scale=33.0))
    arrays_of(store, tmp_path / "s.zarr", "temporal", num_walks=4000, walk_length=8, **EXPONENTIAL)
    assert {"transitions, pooled", "transitions, uniform"} & wrong(tmp_path / "s.zarr")


def test_classes_of_ones_own_are_verified_and_their_faults_found(tmp_path, store):
    (tmp_path / "mine.py").write_text(RECENT)
    algo = f"{tmp_path / 'mine.py'}:Recent"
    arrays_of(store, tmp_path / "s.zarr", algo, num_walks=200, walk_length=6)
    assert verify(tmp_path / "s.zarr", algo=algo).ok
    drawn = verify(tmp_path / "s.zarr", algo=algo)
    assert any(check.name == "transitions, pooled" and check.tested for check in drawn.checks)
