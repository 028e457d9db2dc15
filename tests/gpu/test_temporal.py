"""Walks in time on a GPU are those of the CPU, byte for byte, wherever the graph is and however it is brought."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip
from helpers.graphs import WideStore, arrays_of, stored_arrays
from helpers.invariance import assert_same
from helpers.temporal import (
    RECENT,
    TIED,
    TURNS_BACK,
    assert_follows_in_time,
    events_far_apart,
    events_store,
    random_events,
)

from csaw.engine import execute, prepare
from csaw.engine.plan.choices import GraphLayout
from csaw.engine.plan.options import Policy
from csaw.engine.stores.verify import verify

device_or_skip()

EXPONENTIAL = {"time_bias": "exponential", "time_scale": 9.0}
CASES = {
    "uniform": ("temporal", {}),
    "monotone window": ("temporal", {"time_order": "monotone", "time_window": 30, "last_time": 60}),
    "backward from a time": ("temporal", {"direction": "backward", "start_time": 40, "time_window": 50}),
    "linear": ("temporal", {"time_bias": "linear"}),
    "linear far backward": ("temporal", {"time_bias": "linear", "prefer": "far", "direction": "backward"}),
    "exponential": ("temporal", EXPONENTIAL),
    "exponential far": ("temporal", EXPONENTIAL | {"prefer": "far", "time_order": "monotone"}),
    "exponential backward in a window": ("temporal", EXPONENTIAL | {"direction": "backward", "time_window": 70}),
    "per time": ("temporal", {"per": "time", "time_bias": "linear"}),
    "from edges": ("temporal", EXPONENTIAL | {"start": "edge", "instances": 900}),
    "exponential rank": ("temporal", {"time_bias": "exponential-rank", "time_scale": 2.5}),
    "exponential rank per time, far": (
        "temporal",
        {"time_bias": "exponential-rank", "per": "time", "prefer": "far", "direction": "backward"},
    ),
    "from edges by time": (
        "temporal",
        {"start": "edge", "start_bias": "exponential", "start_scale": 30.0, "instances": 900},
    ),
    "from edges by rank, backward": (
        "temporal",
        {"start": "edge", "start_bias": "linear", "instances": 900, "direction": "backward", "time_window": 60},
    ),
    "own": ("{own}:Recent", {}),
}
every_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The same events in one partition and in six, and the name of a file with an algorithm of one's own."""
    folder, events = tmp_path_factory.mktemp("timed"), random_events(400, 9000, 11, span=90)
    (folder / "mine.py").write_text(RECENT)
    made = {n: events_store(folder / f"g{n}.zarr", events, 400, partitions=n) for n in (1, 6)}
    return made, str(folder / "mine.py")


def run_of(stores, case):
    algo, options = CASES[case]
    return algo.format(own=stores[1]), {"walk_length": 9, "num_walks": 5, "seed": 5} | options


def expected(stores, tmp_path, case):
    algo, options = run_of(stores, case)
    found = arrays_of(stores[0][1], tmp_path / "s.zarr", algo, **options)
    assert (found["lengths"] > 1).any()
    return found


@every_case
def test_a_resident_graph(tmp_path, stores, case):
    algo, options = run_of(stores, case)
    wanted = expected(stores, tmp_path, case)
    for more in ({}, {"in_flight": 17}, {"layout": "csr"}, {} if case == "own" else {"layout": "events"}):
        assert_same(wanted, arrays_of(stores[0][6], tmp_path / "t.zarr", algo, device="cuda", **more, **options))


@pytest.mark.parametrize("case", ["uniform", "exponential", "per time"])
def test_a_step_reads_an_event_where_there_are_no_hooks(stores, case):
    algo, options = run_of(stores, case)
    assert prepare(stores[0][6], algo, device="cuda", **options).plan.graph_layout is GraphLayout.EVENTS


def test_walks_with_an_update_of_their_own_read_rows(tmp_path, stores):
    (tmp_path / "back.py").write_text(TURNS_BACK)
    given = {"walk_length": 9, "num_walks": 30, "seed": 5}
    for options in ({}, {"direction": "backward", "time_window": 30}):
        algo = f"{tmp_path / 'back.py'}:TurnsBack"
        wanted = arrays_of(stores[0][6], tmp_path / "s.zarr", algo, **given, **options)
        assert_same(wanted, arrays_of(stores[0][6], tmp_path / "t.zarr", algo, device="cuda", **given, **options))


@every_case
def test_ids_of_64_bits(tmp_path, stores, case):
    (algo, options), store = run_of(stores, case), WideStore(stores[0][6])
    wanted = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    assert_same(wanted, arrays_of(store, tmp_path / "t.zarr", algo, device="cuda", **options))


@pytest.mark.parametrize(("residency", "in_place"), [("streamed", False), ("streamed", True), ("disk", False)])
@every_case
def test_a_streamed_graph(tmp_path, stores, case, residency, in_place):
    (algo, options), store = run_of(stores, case), stores[0][6]
    wanted = expected(stores, tmp_path, case)
    given = options | {"device": "cuda", "residency": residency, "ids": "dense", "in_flight": 250}
    given["policy"] = Policy(in_place=in_place)
    plan = prepare(store, algo, **given).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 2
    execute(prepare(store, algo, gpu_memory=memory, **given), tmp_path / "t.zarr")
    assert_same(wanted, stored_arrays(tmp_path / "t.zarr"))


@pytest.mark.parametrize("switch", ["batching", "balancing"])
@pytest.mark.parametrize("case", ["exponential", "own"])
def test_launches_apart_change_nothing(tmp_path, stores, case, switch):
    algo, options = run_of(stores, case)
    given = options | {"device": "cuda", "residency": "streamed", "policy": Policy(**{switch: False})}
    assert_same(expected(stores, tmp_path, case), arrays_of(stores[0][6], tmp_path / "t.zarr", algo, **given))


@pytest.mark.parametrize("case", ["uniform", "linear", "exponential", "per time", "exponential rank"])
def test_the_law_on_a_gpu(tmp_path, case):
    options = CASES[case][1]
    store = events_store(tmp_path / "g.zarr", TIED, 5)
    drawn = {"num_walks": 4000, "walk_length": 3, "device": "cuda"} | options
    assert_follows_in_time(arrays_of(store, tmp_path / "s.zarr", "temporal", **drawn), TIED, 5, options)
    assert verify(tmp_path / "s.zarr").ok


def test_times_at_the_ends_of_64_bits(tmp_path):
    least, largest = -(2**63), 2**63 - 1
    store = events_store(tmp_path / "g.zarr", [(0, 1, least), (1, 2, largest), (2, 0, largest), (1, 1, 0)], 3)
    by_rank = {"time_bias": "exponential-rank", "per": "time"}
    for options in ({}, {"time_order": "monotone", "time_window": 2**63 - 1}, EXPONENTIAL, by_rank):
        given = {"walk_length": 6, "num_walks": 200} | options
        wanted = arrays_of(store, tmp_path / "s.zarr", "temporal", **given)
        for layout in ("events", "csr"):
            found = arrays_of(store, tmp_path / "t.zarr", "temporal", device="cuda", layout=layout, **given)
            assert_same(wanted, found)


def test_a_single_edge_and_loops_at_one_time(tmp_path):
    none = events_store(tmp_path / "none.zarr", [(0, 1, 5)], 3)
    loops = events_store(tmp_path / "loops.zarr", [(0, 0, 7)] * 40, 1)
    for store, options in ((none, {}), (loops, {}), (loops, {"time_order": "monotone"})):
        given = {"walk_length": 6, "num_walks": 50, **options}
        wanted = arrays_of(store, tmp_path / "s.zarr", "temporal", **given)
        found = arrays_of(store, tmp_path / "t.zarr", "temporal", device="cuda", layout="events", **given)
        assert_same(wanted, found)


def test_a_hub_of_few_times(tmp_path):
    """Steps find an edge that is the first of its time by chance, or read all of the row."""
    rng = np.random.default_rng(5)
    events = [(0, v + 1, int(time)) for v, time in enumerate(rng.integers(0, 40, 2000))]
    store = events_store(tmp_path / "g.zarr", events, 2001)
    for options in ({}, {"time_bias": "linear"}, {"time_bias": "linear", "prefer": "far"}):
        given = {"sources": [0], "num_walks": 2000, "walk_length": 1, "start_time": 11, "per": "time"} | options
        wanted = arrays_of(store, tmp_path / "s.zarr", "temporal", **given)
        assert_same(wanted, arrays_of(store, tmp_path / "t.zarr", "temporal", device="cuda", **given))


def test_start_edges_at_the_ends_of_64_bits(tmp_path):
    least, largest = -(2**63), 2**63 - 1
    store = events_store(tmp_path / "g.zarr", [(0, 1, least), (1, 2, largest), (2, 0, largest), (1, 1, 0)], 3)
    for options in ({"start_per": "time"}, {"start_bias": "linear", "direction": "backward"}):
        given = {"walk_length": 4, "instances": 300, "start": "edge"} | options
        wanted = arrays_of(store, tmp_path / "s.zarr", "temporal", **given)
        assert_same(wanted, arrays_of(store, tmp_path / "t.zarr", "temporal", device="cuda", **given))


def test_a_hub_of_many_times(tmp_path):
    rng = np.random.default_rng(5)
    events = [(0, v + 1, int(time)) for v, time in enumerate(rng.integers(0, 10**6, 50000))]
    store = events_store(tmp_path / "g.zarr", events, 50001)
    by_rank = {"time_bias": "exponential-rank", "time_scale": 1e4}
    biases = {"time_bias": "linear"}, {"time_bias": "exponential", "time_scale": 1e5}, by_rank
    for options in (*biases, {"per": "time"}, by_rank | {"per": "time", "time_scale": 2e4}):
        given = {"sources": [0], "num_walks": 500, "walk_length": 1, "start_time": 1000} | options
        wanted = arrays_of(store, tmp_path / "s.zarr", "temporal", **given)
        for layout in ("events", "csr"):
            found = arrays_of(store, tmp_path / "t.zarr", "temporal", device="cuda", layout=layout, **given)
            assert_same(wanted, found)


def test_walks_to_and_from_a_hub(tmp_path):
    rng = np.random.default_rng(6)
    out = [(0, v + 1, int(time)) for v, time in enumerate(rng.integers(0, 900, 3000))]
    back = [(v + 1, 0, int(time)) for v, time in enumerate(rng.integers(0, 900, 3000))]
    store = events_store(tmp_path / "g.zarr", out + back, 3001)
    for options in ({}, {"time_window": 200}, {"direction": "backward", "last_time": 100}, EXPONENTIAL):
        given = {"walk_length": 8, "num_walks": 4} | options
        wanted = arrays_of(store, tmp_path / "s.zarr", "temporal", **given)
        found = arrays_of(store, tmp_path / "t.zarr", "temporal", device="cuda", layout="events", **given)
        assert_same(wanted, found)


@pytest.mark.parametrize("bias", ["uniform", "exponential"])
@pytest.mark.parametrize("length", [0, 1, 9])
def test_more_walkers_than_a_gpu_has_lanes(tmp_path, stores, bias, length):
    """Lanes that are done take other walkers."""
    options = {"time_bias": bias, "walk_length": length, "num_walks": 750, "seed": 5}
    options |= {"time_scale": 9.0} if bias == "exponential" else {}
    wanted = arrays_of(stores[0][6], tmp_path / "s.zarr", "temporal", **options)
    found = arrays_of(
        stores[0][6], tmp_path / "t.zarr", "temporal", device="cuda", layout="events", in_flight=10**6, **options
    )
    assert_same(wanted, found)


@pytest.mark.parametrize("scale", [1e17, 3e18])
@pytest.mark.parametrize("prefer", ["near", "far"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_exponential_steps_between_times_that_are_far_apart(tmp_path, direction, prefer, scale):
    store = events_store(tmp_path / "g.zarr", events_far_apart(60, 2000), 60)
    options = EXPONENTIAL | {"direction": direction, "prefer": prefer, "time_scale": scale, "num_walks": 20, "seed": 5}
    wanted = arrays_of(store, tmp_path / "s.zarr", "temporal", walk_length=9, **options)
    given = options | {"device": "cuda", "layout": "events"}
    assert_same(wanted, arrays_of(store, tmp_path / "t.zarr", "temporal", walk_length=9, **given))
