"""Biases that read the walk further back than its previous vertex follow their law, on every residency."""

import numpy as np
import pytest
from helpers.faults import plant
from helpers.graphs import SQUARE, arrays_of, random_store, rows_of, store_of
from helpers.invariance import assert_same
from helpers.stats import assert_drawn_from

from csaw.engine.verify import verify
from csaw.partition.errors import OptionError

BIAS = "e.weight * (4.0 if e.dst == e.path(2) else 1.0)"  # towards where the walk was three steps before the next


@pytest.fixture(scope="module")
def square(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("path") / "g.zarr", SQUARE, directed=False)


def assert_third_order(walks, rows):
    """Each step, given where the walk is and was two steps before; before the source there is no vertex."""
    walks = walks.astype(np.int64)
    for step in range(walks.shape[1] - 1):
        context = np.stack([walks[:, step - 2] if step > 1 else np.full(len(walks), -1), walks[:, step]], axis=1)
        for back, here in np.unique(context, axis=0).tolist():
            then = walks[(context == (back, here)).all(axis=1), step + 1]
            biases = {v: w * (4.0 if v == back else 1.0) for v, w in rows[here]}
            if then.size > 1000 and len(biases) > 1:
                total = sum(biases.values())
                assert_drawn_from([np.sum(then == v) for v in biases], [b / total for b in biases.values()])


def drawn(store, path):
    return arrays_of(store, path / "s.zarr", edge_bias=BIAS, num_walks=8000, walk_length=5, seed=11)["walks"]


def test_walks_follow_a_law_of_third_order(tmp_path, square):
    assert_third_order(drawn(square, tmp_path), rows_of(square, True))
    assert verify(tmp_path / "s.zarr").counts["not_tested"] == 2


def test_a_path_that_is_read_one_step_off_is_found(tmp_path, square, monkeypatch):
    plant(monkeypatch, "access.py", "graph.path[depth - steps]", "graph.path[depth - steps + 1]")
    with pytest.raises(AssertionError):
        assert_third_order(drawn(square, tmp_path), rows_of(square, True))


def test_the_path_begins_with_src_and_prev_on_every_residency(tmp_path):
    store, cut = random_store(tmp_path / "a.zarr"), random_store(tmp_path / "b.zarr", partitions=4)
    known = "e.weight + 9.0 * (e.dst % 7 == (e.src + e.prev) % 7)"
    options = {"walk_length": 9, "seed": 5, "select": "its"}
    expected = arrays_of(store, tmp_path / "s.zarr", edge_bias=known, **options)
    path = known.replace("e.src", "e.path(0)").replace("e.prev", "e.path(1)")
    for graph, how in ((store, {}), (store, {"threads": 1, "in_flight": 17}), (cut, {}), (cut, {"residency": "disk"})):
        assert_same(expected, arrays_of(graph, tmp_path / "s.zarr", edge_bias=path, **options, **how))


@pytest.mark.parametrize(
    ("algo", "options", "said"),
    [
        ("neighbor", {}, "only edge_bias of a walk may call e.path"),
        ("ppr", {}, "e.path needs walks that are kept whole"),
        ("deepwalk", {"select": "rejection"}, "--select rejection cannot draw"),
    ],
)
def test_what_cannot_read_a_path_is_refused(tmp_path, square, algo, options, said):
    with pytest.raises(OptionError, match=said):
        arrays_of(square, tmp_path / "s.zarr", algo, edge_bias=BIAS, **options)
