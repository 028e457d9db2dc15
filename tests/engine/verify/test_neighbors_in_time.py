"""csaw verify finds neighbors in time that follow another law, and passes those that follow their own."""

import numpy as np
import pytest
from helpers.faults import plant
from helpers.graphs import arrays_of
from helpers.temporal import events_store, random_events

import csaw
from csaw.engine.cpu.batches.hops import WholeMiniBatches
from csaw.engine.schedule import specialization
from csaw.engine.sources.given_sources import SourceTimes
from csaw.engine.sources.sources import Sources
from csaw.engine.stores.verify import verify
from csaw.engine.verify import selections

RNG = np.random.default_rng(4)
SOURCES = {"ids": RNG.integers(0, 40, 300), "time": RNG.integers(-70, 70, 300)}
UNIFORM = {"time_strategy": "uniform", "fanout": (5, 3)}
BATCHES = UNIFORM | {"disjoint": True, "seeds_per_batch": 17, "epochs": 4}
FAULTS = {
    "equal times are selected": ("neighbor", {"time_order": "strict"}, {"STRICT": 0}, "order"),
    "equal times are not": ("neighbor", {}, {"STRICT": 1}, "sizes"),
    "the window is ignored": ("neighbor", {"time_window": 20}, {"HAS_WINDOW": 0}, "order"),
    "later edges": ("neighbor", {}, {"BACKWARD": 0}, "order"),
    "uniform is last": ("neighbor", {}, {"LATEST": 1}, "neighbors, pooled"),
    "last is uniform": ("neighbor", {"time_strategy": "last"}, {"LATEST": 0}, "latest"),
    "uniform with replacement": ("neighbor", {}, {"REPLACE": True}, "repeats"),
    "without where it should be with": ("neighbor", {"replace": True}, {"REPLACE": False}, "sizes"),
    "all are not": ("neighbor", {"fanout": (-1, 2)}, {"STRICT": 1}, "sources"),
    "batches of equal times": ("minibatch", {"time_order": "strict"}, {"STRICT": 0}, "order"),
    "batches of the last": ("minibatch", {}, {"LATEST": 1}, "neighbors, pooled"),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    events = random_events(40, 2000, 3, span=60)
    return events_store(tmp_path_factory.mktemp("timed") / "g.zarr", events, 40)


def wrong(path):
    report = verify(path)
    return {check.name for check in report.checks if not check.ok}


def drawn(store, out, algo="neighbor", **options):
    given = BATCHES if algo == "minibatch" else UNIFORM | {"instances": 1800}
    return arrays_of(store, out, algo, sources=SOURCES, **(given | options))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(tmp_path, monkeypatch, store, fault):
    algo, options, planted, found_by = FAULTS[fault]
    if "REPLACE" in planted:
        right = specialization.Specialization.constants
        monkeypatch.setattr(specialization.Specialization, "constants", lambda self: right(self) | planted)
    else:
        constants = specialization.neighbor_constants
        monkeypatch.setattr(specialization, "neighbor_constants", lambda *args: constants(*args) | planted)
    drawn(store, tmp_path / "s.zarr", algo, **options)
    assert found_by in wrong(tmp_path / "s.zarr")


@pytest.mark.parametrize("asked", [{}, {"time_against": "previous"}])
def test_a_time_of_another_edge_is_found(tmp_path, monkeypatch, store, asked):
    """The root's time in place of the edge before, and the other way round."""
    from csaw.engine.algorithms.neighbor import Neighbor

    monkeypatch.setattr(Neighbor, "against_previous", property(lambda self: self.time_against == "root"))
    drawn(store, tmp_path / "s.zarr", **asked)
    monkeypatch.undo()
    assert {"order", "sizes"} & wrong(tmp_path / "s.zarr")


@pytest.mark.parametrize("algo", ["neighbor", "minibatch"])
def test_the_time_of_another_source_is_found(tmp_path, monkeypatch, store, algo):
    take = Sources.take

    def moved(self, *args):
        taken = take(self, *args).copy()
        taken[0, 0, -1] += 1
        return taken

    monkeypatch.setattr(Sources, "take", moved)
    drawn(store, tmp_path / "s.zarr", algo)
    monkeypatch.undo()
    assert "times" in wrong(tmp_path / "s.zarr")


@pytest.mark.parametrize("fanout", [(5, 3), (-1, 2)])
@pytest.mark.parametrize("of", ["ids", "time"])
def test_sources_in_another_order_are_found(tmp_path, monkeypatch, store, of, fanout):
    """Vertices beside the times of others, or the other way round, in hops and in subgraphs."""
    if of == "ids":
        of_span = Sources._frontiers

        def backward(self, first, last, xp=np):
            return of_span(self, 300 - last, 300 - first, xp)[::-1]

        monkeypatch.setattr(Sources, "_frontiers", backward)
    else:
        at = SourceTimes.at
        monkeypatch.setattr(SourceTimes, "at", lambda self, places: at(self, 299 - places))
    drawn(store, tmp_path / "s.zarr", fanout=fanout)
    monkeypatch.undo()
    assert wrong(tmp_path / "s.zarr") == {"sources" if of == "ids" else "times"}


UNSEEN = {
    "an instance less": ("neighbor", {"instances": 299}),
    "subgraphs": ("neighbor", {"instances": 299, "fanout": (-1, 2)}),
    "no last batch": ("minibatch", {"drop_last": True}),
    "drawn seeds": ("mvs", {"disjoint": True, "seeds_per_batch": 17, "instances": 3}),
}


@pytest.mark.parametrize("case", UNSEEN)
def test_times_are_not_said_to_be_tested_where_sources_are_not_seen(tmp_path, store, case):
    algo, options = UNSEEN[case]
    drawn(store, tmp_path / "s.zarr", algo, **options)
    report = verify(tmp_path / "s.zarr")
    [times] = [check for check in report.checks if check.name == "times"]
    assert report.ok, report
    assert times.status == "not tested"
    assert " of 300 sources are in the sample" in times.details


def test_the_time_of_another_edge_is_found_in_mini_batches(tmp_path, monkeypatch, store):
    arrays = WholeMiniBatches.arrays

    def exchanged(self, rows=slice(None)):
        made = arrays(self, rows)
        return made | {"time": made["time"][::-1].copy()}

    monkeypatch.setattr(WholeMiniBatches, "arrays", exchanged)
    drawn(store, tmp_path / "s.zarr", "minibatch")
    monkeypatch.undo()
    assert "edges" in wrong(tmp_path / "s.zarr")


OF_KERNELS = {
    "the last place is left out": ("uint64(top + 1)", "uint64(max(top, 1))", {}),
    "picks of a vertex are equal": (
        "drawn_place((w2 << SHIFT) | w3, low",
        "drawn_place((w0 << SHIFT) | w1, low",
        {"replace": True},
    ),
    "vertices of an instance draw alike": (
        "philox(seed, instance, slot, uint64(pair))",
        "philox(seed, instance, uint64(0), uint64(pair))",
        {"replace": True},
    ),
}


@pytest.mark.parametrize(
    "instances", [1000, 100_000, pytest.param(1_000_000, marks=pytest.mark.slow("a larger size of the same kind"))]
)
@pytest.mark.parametrize("fault", OF_KERNELS)
def test_a_planted_fault_is_found_in_samples_of_any_size(tmp_path, monkeypatch, fault, instances):
    right, planted, options = OF_KERNELS[fault]
    plant(monkeypatch, "by_time.py", right, planted)
    store = events_store(tmp_path / "g.zarr", random_events(40, 300, 3), 40)
    given = UNIFORM | {"fanout": (3, 2), "start_time": 30} | options
    csaw.sample(store, tmp_path / "s.zarr", "neighbor", instances=instances, **given)
    found = wrong(tmp_path / "s.zarr")
    assert found
    assert all(name.startswith("neighbors") for name in found)


def test_nodes_that_draw_alike_are_found_in_some_of_the_nodes_of_mini_batches(tmp_path, monkeypatch, store):
    right, planted, options = OF_KERNELS["vertices of an instance draw alike"]
    plant(monkeypatch, "by_time.py", right, planted)
    drawn(store, tmp_path / "s.zarr", "minibatch", epochs=100, seeds_per_batch=2, fanout=(3, 2), **options)
    monkeypatch.setattr(selections, "ENTRIES", 3000)  # fewer nodes than mini-batches
    assert "neighbors, independence" in wrong(tmp_path / "s.zarr")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("options", [{}, {"replace": True}, {"fanout": (3, -1)}])
def test_a_right_sample_of_many_instances_is_tested_and_passes(tmp_path, options):
    store = events_store(tmp_path / "g.zarr", random_events(40, 300, 3), 40)
    given = UNIFORM | {"fanout": (3, 2), "start_time": 30, "instances": 300_000} | options
    csaw.sample(store, tmp_path / "s.zarr", "neighbor", **given)
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report
    tested = {check.name for check in report.checks if check.tested}
    assert {"neighbors", "neighbors, pooled", "neighbors, independence"} <= tested


RIGHT = {
    "uniform": ("neighbor", {}),
    "previous": ("neighbor", {"time_against": "previous", "time_order": "strict", "time_window": 50}),
    "replace": ("neighbor", {"replace": True}),
    "last": ("neighbor", {"time_strategy": "last"}),
    "subgraphs": ("neighbor", {"fanout": (-1, 2), "time_against": "previous"}),
    "one time": ("neighbor", {"sources": "all", "start_time": 11}),
    "batches": ("minibatch", {}),
    "batches of the last": ("minibatch", {"time_strategy": "last", "shuffle": True}),
    "batches of one time": ("minibatch", {"disjoint": False, "sources": "all", "start_time": 11}),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", RIGHT)
def test_a_right_sample_passes(tmp_path, store, case):
    algo, options = RIGHT[case]
    given = (BATCHES if algo == "minibatch" else UNIFORM | {"instances": 1800}) | {"sources": SOURCES} | options
    arrays_of(store, tmp_path / "s.zarr", algo, **given)
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report
    law = {check.name for check in report.checks if check.tested and check.p_value is not None}
    assert law or options.get("time_strategy") == "last"
