"""csaw verify finds labor and layer in time that follow another law, and passes those that follow their own."""

import numpy as np
import pytest
from helpers.faults import plant
from helpers.graphs import arrays_of
from helpers.temporal import events_store, random_events

from csaw.engine.batches.in_time import Copies, PoolsInTime, Together
from csaw.engine.cpu.runner import CpuSelector
from csaw.engine.schedule import specialization
from csaw.engine.stores.verify import verify

RNG = np.random.default_rng(4)
SOURCES = {"ids": np.repeat(RNG.integers(0, 40, 300), 2), "time": RNG.integers(-70, 70, 600)}
UNIFORM = {"time_strategy": "uniform", "sources": SOURCES, "frontier_size": 6}
LABOR = UNIFORM | {"fanout": (4, 3), "instances": 500}
LAYER = UNIFORM | {"neighbor_size": 5, "depth": 3, "instances": 1500}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    events = random_events(40, 1200, 3, span=60)
    return events_store(tmp_path_factory.mktemp("timed") / "g.zarr", events, 40)


def drawn(store, out, algo, **options):
    return arrays_of(store, out, algo, **((LABOR if algo == "labor" else LAYER) | options))


def wrong(path):
    return {check.name for check in verify(path).checks if not check.ok}


RIGHT = {
    "root": {},
    "window": {"time_window": 30, "time_order": "strict"},
    "previous": {"time_against": "previous"},
    "one time": {"sources": "all", "start_time": 11},
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("algo", ["labor", "layer"])
@pytest.mark.parametrize("case", RIGHT)
def test_a_right_sample_passes(tmp_path, store, algo, case):
    drawn(store, tmp_path / "s.zarr", algo, **RIGHT[case])
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report
    tested = {check.name for check in report.checks if check.tested and check.p_value is not None}
    assert {"neighbors", "neighbors, independence"} <= tested


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("algo", "options"),
    [
        ("labor", {"fanout": (-1, 2)}),
        ("labor", {"fanout": (0, 2)}),
        ("layer", {"depth": None, "total": 60}),
        ("layer", {"depth": None, "time_against": "previous", "neighbor_size": 4}),
        ("layer", {"depth": 0}),
        ("layer", {"neighbor_size": 10**6}),
    ],
)
def test_a_right_sample_at_the_ends_of_its_options_passes(tmp_path, store, algo, options):
    drawn(store, tmp_path / "s.zarr", algo, **options)
    assert not wrong(tmp_path / "s.zarr")


CONSTANTS = {
    "equal times are selected": ({"time_order": "strict"}, {"STRICT": 0}),
    "equal times are not": ({}, {"STRICT": 1}),
    "the window is ignored": ({"time_window": 20}, {"HAS_WINDOW": 0}),
    "later edges": ({}, {"BACKWARD": 0}),
}


@pytest.mark.parametrize("algo", ["labor", "layer"])
@pytest.mark.parametrize("fault", CONSTANTS)
def test_edges_of_other_times_are_found(tmp_path, monkeypatch, store, algo, fault):
    options, planted = CONSTANTS[fault]
    constants = specialization.neighbor_constants
    monkeypatch.setattr(specialization, "neighbor_constants", lambda *args: constants(*args) | planted)
    whole = {"neighbor_size": 60} if algo == "layer" else {}  # pools that are not larger are selected as a whole
    drawn(store, tmp_path / "s.zarr", algo, **options, **whole)
    assert {"order", "thresholds", "sizes"} & wrong(tmp_path / "s.zarr")


KERNELS = {
    "copies draw apart": (
        "uint64(frontier.instance[i]), depth",
        "uint64(frontier.instance[i] + now[i]), depth",
        "thresholds",
    ),
    "one number for all": ("uint64(dst)), uint64(count)", "uint64(0)), uint64(count)", "neighbors"),
    "one edge more": ("< uint64(size)", "<= uint64(size)", "neighbors"),
    "of the whole row": ("uint64(count)", "uint64(state[L_COUNT + j])", "thresholds"),
    "instances draw alike": ("uint64(frontier.instance[i]), depth", "uint64(0), depth", "neighbors"),
    "another edge's time": ("= dst, when", "= dst, when - 1", "edges"),
}


@pytest.mark.parametrize("fault", KERNELS)
def test_a_fault_of_numbers_is_found(tmp_path, monkeypatch, store, fault):
    right, planted, found_by = KERNELS[fault]
    plant(monkeypatch, "by_time.py", right, planted)
    drawn(store, tmp_path / "s.zarr", "labor")
    found = wrong(tmp_path / "s.zarr")
    assert {found_by, "neighbors, independence"} & found, found


def test_a_time_of_another_edge_is_found(tmp_path, monkeypatch, store):
    """The root's time in place of the edge before, and the other way round."""
    monkeypatch.setattr(Together, "_times_after", lambda self, entry, time: time)
    for algo in ("labor", "layer"):
        drawn(store, tmp_path / "s.zarr", algo)
        assert "sources" in wrong(tmp_path / "s.zarr")
    monkeypatch.setattr(Together, "_times_after", lambda self, entry, time: self.now[entry])
    drawn(store, tmp_path / "s.zarr", "labor", time_against="previous")
    assert "sources" in wrong(tmp_path / "s.zarr")


def test_copies_that_are_lost_are_found(tmp_path, monkeypatch, store):
    """A frontier with one copy of each vertex."""
    first = Copies.first

    def of_vertices(self, local, vertex, time):
        return first(self, local, vertex, np.zeros_like(time))

    monkeypatch.setattr(Copies, "first", of_vertices)
    drawn(store, tmp_path / "s.zarr", "labor")
    monkeypatch.undo()
    assert {"thresholds", "depths"} & wrong(tmp_path / "s.zarr")


def test_a_layer_that_comes_back_is_found(tmp_path, monkeypatch, store):
    monkeypatch.setattr(Copies, "news", lambda self, local, vertex, time: np.ones(local.size, bool))
    drawn(store, tmp_path / "s.zarr", "layer")
    assert "sizes" in wrong(tmp_path / "s.zarr")


POOLS = {
    "the first edges are likelier": lambda times, number: np.where(number < 30, times / 1.2, times),
    "the first edges come first": lambda times, number: number,
}


@pytest.mark.parametrize("fault", POOLS)
def test_pools_that_are_drawn_unevenly_are_found(tmp_path, monkeypatch, store, fault):
    race, moved = CpuSelector.race_numbers, POOLS[fault]
    monkeypatch.setattr(CpuSelector, "race_numbers", lambda self, *args: moved(race(self, *args), args[2]))
    drawn(store, tmp_path / "s.zarr", "layer")
    assert {"neighbors", "neighbors, pooled"} & wrong(tmp_path / "s.zarr")


def test_an_edge_less_is_found(tmp_path, monkeypatch, store):
    kept = PoolsInTime._kept
    monkeypatch.setattr(PoolsInTime, "_kept", lambda self, *args: kept(self, *args)[1:])
    drawn(store, tmp_path / "s.zarr", "layer")
    assert "sizes" in wrong(tmp_path / "s.zarr")
