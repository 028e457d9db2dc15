"""Walks in time are a function of the request, wherever the graph is and whoever draws them; one's own, too."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.graphs import arrays_of, store_of
from helpers.invariance import assert_instances_are_64_bits, assert_request_decides, assert_same
from helpers.temporal import (
    JUMPS,
    RECENT,
    TIED,
    TURNS_BACK,
    events_far_apart,
    events_store,
    random_events,
    rows_by_time,
)

import csaw
from csaw.engine import prepare
from csaw.engine.cpu.kernels import by_time
from csaw.engine.plan import costs, host_memory
from csaw.engine.stores import open_samples
from csaw.engine.stores.verify import verify
from csaw.partition import open_graph
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.graph.in_memory import InMemory
from csaw.partition.graph.views import Coalesced, Split

CASES = [
    ("temporal", {}),
    ("temporal", {"time_bias": "exponential", "time_scale": 9.0, "time_order": "monotone"}),
    ("temporal", {"start": "edge", "instances": 200, "direction": "backward", "per": "time"}),
    (
        "temporal",
        {
            "start": "edge",
            "start_bias": "exponential",
            "start_scale": 50.0,
            "instances": 200,
            "time_bias": "exponential-rank",
            "per": "time",
        },
    ),
    ("{own}:Recent", {}),
]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder, events = tmp_path_factory.mktemp("timed"), random_events(200, 6000, 11, span=90)
    (folder / "mine.py").write_text(RECENT)
    made = [events_store(folder / f"g{n}.zarr", events, 200, partitions=n) for n in (1, 5)]
    return *made, str(folder / "mine.py")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("algo", "options"), CASES)
def test_the_request_decides(tmp_path, stores, algo, options):
    whole, parts, own = stores
    algo, given = algo.format(own=own), {"walk_length": 7} | options
    assert_request_decides(whole, parts, tmp_path / "s.zarr", algo, **given)
    expected = arrays_of(whole, tmp_path / "s.zarr", algo, seed=5, **given)
    assert (expected["lengths"] > 2).any()
    assert (expected["lengths"] < 7).any()
    held = whole.load(whole.further_columns)
    memory = InMemory("g", held.indptr, held.indices, edge_columns={"time": held.columns["time"]})
    for graph in (memory, Split(parts, 300), Coalesced(parts, 2)):
        assert_same(expected, arrays_of(graph, tmp_path / "s.zarr", algo, seed=5, in_flight=17, **given))
    for in_place in (True, False):
        how = given | {"residency": "disk", "in_place": in_place, "memory": "64MiB"}
        assert_same(expected, arrays_of(parts, tmp_path / "s.zarr", algo, seed=5, in_flight=17, **how))


def test_instances_are_64_bits(stores):
    assert_instances_are_64_bits(stores[0], "temporal", walk_length=4, start_time=-95)


@pytest.mark.parametrize(
    "start",
    [{}, {"start": "edge", "instances": 70}, {"start": "edge", "start_bias": "linear", "instances": 900}],
    ids=["vertex", "edge", "edge by time"],
)
def test_samples_streams_and_virtual_samples_have_the_same_times(tmp_path, stores, start):
    given = {"seed": 2, "walk_length": 5, **start}
    kept = csaw.sample(stores[0].path, tmp_path / "s.zarr", "temporal", **given)
    virtual = csaw.sample(stores[0].path, tmp_path / "v.zarr", "temporal", virtual=True, **given)
    held = csaw.sample(stores[0].path, algo="temporal", **given)
    streamed = [batch.arrays()["times"] for batch in csaw.stream(stores[0].path, "temporal", **given)]
    for times in (virtual["times"][:], held["times"][:], np.concatenate(streamed)):
        assert np.array_equal(kept["times"][:], times)
    assert kept["times"].dtype == np.int64
    sources = {check.name: check for check in verify(tmp_path / "v.zarr").checks}["sources"]
    assert sources.ok
    assert sources.tested


def test_a_class_of_ones_own_knows_when_it_walks(tmp_path, stores):
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    found = arrays_of(store, tmp_path / "s.zarr", f"{stores[2]}:Recent", num_walks=6000, walk_length=3, start_time=0)
    rows = rows_by_time(TIED, 5)
    two = found["lengths"] >= 2
    first, second = found["times"][two, 0], found["times"][two, 1]
    at = found["walks"][two, 1]
    for v, now in {(0, 2), (1, 1), (3, 3)}:
        later = [(target, time) for target, time in rows[v] if now < time <= now + 8]
        here = (at == v) & (first == now)
        weights = {one: later.count(one) * 0.5 ** ((one[1] - now) / 4) for one in later}
        for (target, time), weight in weights.items():
            share = weight / sum(weights.values())
            count = ((found["walks"][two, 2] == target) & (second == time) & here).sum()
            assert abs(count - share * here.sum()) < 5 * math.sqrt(here.sum() * share + 1)


def test_a_walk_in_time_needs_times(tmp_path, stores):
    plain = store_of(tmp_path / "g.zarr", [(0, 1, 1)], directed=True, vertices=2)
    with pytest.raises(OptionError, match="expected times of the edges for temporal, found none; make the store with"):
        arrays_of(plain, tmp_path / "s.zarr", "temporal")
    (tmp_path / "other.py").write_text(
        RECENT.replace("(TemporalWalk)", "(Walk)").replace("import TemporalWalk", "import Walk")
    )
    with pytest.raises(OptionError, match="previous_time is available only on walks in time"):
        arrays_of(open_graph(stores[0].path), tmp_path / "s.zarr", f"{tmp_path / 'other.py'}:Recent")


def test_the_store_keeps_times_beside_walks(tmp_path, stores):
    arrays_of(stores[0], tmp_path / "s.zarr", "temporal", walk_length=4)
    samples = open_samples(tmp_path / "s.zarr")
    assert samples["times"].shape == (200, 4)
    group = samples.group(3, 9)
    assert group["times"].shape == (6, 4)
    edges = samples.layout.edges(group, samples.fill)
    assert edges["time"].size == edges["src"].size


def test_sources_of_edges_are_drawn_as_often_as_they_have_edges(tmp_path, stores):
    (tmp_path / "mine.py").write_text(
        "from csaw.engine.algorithm import Walk\n\nclass FromEdges(Walk):\n    sources_from = 'edges'\n"
    )
    degree = np.diff(stores[0].read_indptr())
    found = arrays_of(
        stores[0], tmp_path / "s.zarr", f"{tmp_path / 'mine.py'}:FromEdges", instances=60000, walk_length=1
    )
    seen, expected = np.bincount(found["walks"][:, 0], minlength=200), 60000 * degree / degree.sum()
    assert (seen[degree == 0] == 0).all()
    assert ((seen - expected)[degree > 0] ** 2 / expected[degree > 0]).sum() < 320  # p = 1e-7 of 199 degrees of freedom


EXPONENTIAL = {"time_bias": "exponential", "time_scale": 9.0}
FOLLOWED = [
    {},
    {"time_order": "monotone"},
    {"direction": "backward"},
    {"direction": "backward", "time_order": "monotone"},
    {"time_window": 20, "last_time": 60},
    {"direction": "backward", "time_window": 20, "last_time": -60, "time_order": "monotone"},
    EXPONENTIAL | {"prefer": "far"},
    EXPONENTIAL | {"direction": "backward", "time_window": 50},
    EXPONENTIAL | {"start": "edge", "instances": 400},
    {"time_bias": "linear", "direction": "backward"},
    {"per": "time", "start_time": -50},
    {"start": "edge", "instances": 400, "time_order": "monotone"},
]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("options", FOLLOWED)
@pytest.mark.parametrize("own", [None, "TurnsBack", "Jumps"])
def test_what_follows_an_edge_is_what_steps_find(tmp_path, monkeypatch, options, own):
    rng, limits = np.random.default_rng(3), np.iinfo(np.int64)
    events = random_events(60, 2000, 4, span=70)
    ends = [(int(u), int(v), t) for t in (limits.min, limits.max) for u, v in rng.integers(0, 60, (40, 2))]
    store = events_store(tmp_path / "g.zarr", events + ends, 60)
    (tmp_path / "mine.py").write_text(TURNS_BACK + JUMPS)
    algo = f"{tmp_path / 'mine.py'}:{own}" if own else "temporal"
    given = {"walk_length": 9, "num_walks": 30, "seed": 5, **options}
    found = {}
    for steps in (0, 1 << 30):
        monkeypatch.setattr(costs, "EVENT_STEPS", steps)
        assert (prepare(store, algo, **given).plan.fixed["events"] > 0) is (steps > 0)
        found[steps] = arrays_of(store, tmp_path / "s.zarr", algo, **given)
    assert_same(found[0], found[1 << 30])
    assert (found[0]["lengths"] > 1).any()


@pytest.mark.parametrize("scale", [1e17, 3e18])
@pytest.mark.parametrize("prefer", ["near", "far"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_exponential_steps_between_times_that_are_far_apart(tmp_path, monkeypatch, direction, prefer, scale):
    store = events_store(tmp_path / "g.zarr", events_far_apart(60, 2000), 60)
    given = EXPONENTIAL | {"direction": direction, "prefer": prefer, "time_scale": scale, "num_walks": 20, "seed": 5}
    found = {}
    for steps in (0, 1 << 30):
        monkeypatch.setattr(costs, "EVENT_STEPS", steps)
        found[steps] = arrays_of(store, tmp_path / "s.zarr", "temporal", walk_length=9, **given)
    assert_same(found[0], found[1 << 30])


IDLE = """
import sys
from pathlib import Path
from csaw.engine import execute, prepare
from csaw.engine.plan import costs
costs.EVENT_STEPS = 1 << 30
for walks, at_a_time in ((300, 17), (320, 64), (3, 1)):
    options = {"time_bias": "exponential", "time_scale": 9.0, "instances": walks, "in_flight": at_a_time, "threads": 1}
    execute(prepare("g.zarr", "temporal", **options), f"{walks}.zarr")
"""


def test_lanes_without_a_walker_write_nothing(tmp_path):
    """On a processor without vector registers, which shift by as many bits as a word has in another way."""
    events_store(tmp_path / "g.zarr", random_events(60, 2000, 4, span=70), 60)
    path = os.pathsep.join([str(Path("tests/_src").resolve()), *sys.path])
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "CSAW_CACHE_DIR": str(tmp_path / "cache")}
    environment = os.environ | plain | {"PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", IDLE], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_no_follower_is_one_number():
    assert by_time.NO_FOLLOWER == host_memory.NO_PLACE


def test_an_edge_keeps_an_envelope_where_biases_are_exponential(stores, monkeypatch):
    monkeypatch.setattr(costs, "EVENT_STEPS", 1 << 30)
    for options, size in (({}, 16), (EXPONENTIAL, 32), (EXPONENTIAL | {"time_window": 5}, 36)):
        fixed = prepare(stores[0], "temporal", num_walks=900, **options).plan.fixed
        assert fixed["events"] == size * stores[0].edges


def test_start_edges_take_memory_that_the_plan_counts(stores):
    given = {"start": "edge", "start_bias": "linear", "instances": 9, "walk_length": 3}
    plan, without = (prepare(stores[0], "temporal", **one).plan for one in (given, given | {"start_bias": "uniform"}))
    assert plan.fixed["start_edges"] == 40 * stores[0].edges
    assert plan.fixed_bytes - without.fixed_bytes == plan.fixed["start_edges"]
    with pytest.raises(BudgetError, match="edges by time, at which walks start"):
        prepare(stores[0], "temporal", memory=plan.fixed["start_edges"], **given)
