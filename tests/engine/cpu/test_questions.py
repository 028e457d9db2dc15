"""Second-order walks whose questions about edges are answered when a row that has them is in memory, one partition at a
time.
"""

import numpy as np
import pytest
from helpers.cases import ASKING
from helpers.graphs import arrays_of, random_store, stored_arrays
from helpers.invariance import assert_same

import csaw
from csaw.engine import execute, prepare

CASES = [
    (0.25, 4.0, True, False),
    (4.0, 0.25, False, True),
    (0.5, 2.0, False, False),
]


@pytest.mark.one_in(5)  # one with weights in place, one without that is copied
@pytest.mark.parametrize(("p", "q", "weighted", "directed"), CASES)
@pytest.mark.parametrize("in_place", [True, False])
def test_room_for_one_partition_gives_the_walks_of_a_resident_graph(tmp_path, p, q, weighted, directed, in_place):
    store = random_store(tmp_path / "g.zarr", vertices=500, edges=9000, partitions=7, directed=directed)
    options = {"seed": 3, "p": p, "q": q, "weighted": weighted, "instances": 200, "walk_length": 12}
    expected = arrays_of(store, tmp_path / "r.zarr", "node2vec", **options)
    options |= {"ids": "dense", "residency": "disk", "in_place": in_place, "in_flight": 90}
    plan = prepare(store, "node2vec", **options).plan
    room = store.largest_partition * plan.needs.edge.reserved
    results = execute(
        prepare(store, "node2vec", memory=plan.fixed_bytes + plan.batch_bytes + room, **options), tmp_path / "s.zarr"
    )
    assert_same(expected, stored_arrays(tmp_path / "s.zarr"))
    assert results["transfers"] > len(store.partitions)


def test_a_walker_that_waits_for_one_row_needs_fewer_loads_than_one_that_waits_for_two(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=2000, edges=60_000, partitions=12)
    options = {
        "seed": 3,
        "p": 0.5,
        "q": 2.0,
        "weighted": False,
        "instances": 2000,
        "walk_length": 20,
        "in_place": False,
    }
    plan = prepare(store, "node2vec", residency="disk", **options).plan
    memory = plan.fixed_bytes + plan.batch_bytes + 3 * store.largest_partition * plan.needs.edge.reserved
    results = execute(prepare(store, "node2vec", memory=memory, residency="disk", **options), tmp_path / "s.zarr")
    # In graphs moved: about (steps x the share of partitions away squared) if walkers waited for their own row alone,
    # and (steps x that share
    # to the power of four at least) if a walker waited for two.
    away = 1 - 3 / 12
    assert results["transfers"] / 12 < 1.3 * 20 * away**2
    assert np.all(stored_arrays(tmp_path / "s.zarr")["lengths"] == 20)


ASKS_TWICE = """\
from csaw.engine.algorithm import Walk


class Mine(Walk):
    def edge_bias(self, e):
        if e.prev < 0:
            return 1.0
        there, other = e.is_neighbor(e.prev, e.dst), e.is_neighbor(e.src, e.prev)
        return 0.4 + 0.2 * there + 0.1 * other + 0.3 * e.is_neighbor(e.prev, e.src)

    def bias_range(self):
        return 0.4, 1.0, 1.0
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("directed", [False, True])
def test_a_hook_that_asks_for_several_edges_gets_the_answer_to_each(tmp_path, directed):
    """What was searched ahead is the answer to one of them."""
    (tmp_path / "mine.py").write_text(ASKS_TWICE)
    algo = f"{tmp_path / 'mine.py'}:Mine"
    store = random_store(tmp_path / "g.zarr", vertices=500, edges=9000, partitions=7, directed=directed, weighted=False)
    options = {"seed": 3, "weighted": False, "instances": 300, "walk_length": 12, "select": "rejection"}
    expected = arrays_of(store, tmp_path / "r.zarr", algo, **options)
    plan = prepare(store, algo, residency="disk", ids="dense", **options).plan
    memory = plan.fixed_bytes + plan.batch_bytes + 3 * store.largest_partition * plan.needs.edge.reserved
    execute(
        prepare(store, algo, residency="disk", ids="dense", memory=memory, in_place=False, **options),
        tmp_path / "s.zarr",
    )
    assert_same(expected, stored_arrays(tmp_path / "s.zarr"))


ASKED = [*ASKING, ("layer", {"depth": 2, "neighbor_size": 3, "unique": True})]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("algo", "options"), ASKED, ids=[f"{a}-{i}" for i, (a, _) in enumerate(ASKED)])
def test_the_bias_of_a_traversal_asks_for_neighbors(tmp_path, algo, options):
    one, seven = (
        random_store(tmp_path / f"g{parts}.zarr", vertices=120, edges=900, partitions=parts) for parts in (1, 7)
    )
    options = {"seed": 3, "edge_bias": "2 if e.is_neighbor(e.prev, e.dst) else 1"} | options
    expected = arrays_of(one, tmp_path / "one.zarr", algo, **options)
    assert csaw.verify(tmp_path / "one.zarr").ok
    assert_same(expected, arrays_of(seven, tmp_path / "seven.zarr", algo, **options))
    assert_same(expected, arrays_of(seven, tmp_path / "disk.zarr", algo, residency="disk", **options))
    plain = arrays_of(one, tmp_path / "plain.zarr", algo, **options | {"edge_bias": "1"})
    assert any(not np.array_equal(expected[name], plain[name]) for name in expected)
