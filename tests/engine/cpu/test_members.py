"""Hash tables and filters of rows say of every pair of vertices what lists of neighbors say.

No sample depends on which of them a plan uses.
"""

import numpy as np
import pytest
from helpers.graphs import TROUBLED, WideStore, arrays_of, random_store, rows_of, store_of, stored_arrays
from helpers.invariance import assert_same

from csaw.engine import execute, prepare
from csaw.engine.draws.random import fraction, fraction_of, hook_word
from csaw.engine.runs.job import open_backend

LONG = {"seed": 3, "device": "cpu", "instances": 400, "walk_length": 30}  # enough steps for hash tables


def opened(store, **options):
    job = prepare(store, "node2vec", **{**LONG, "p": 0.25, "q": 4.0, **options})
    return job.plan, open_backend(job)


def without_tables(plan):
    """The memory that a plan needs with filters in place of hash tables, less than with them."""
    return plan.fixed_bytes - plan.fixed["members"] + plan.graph_bytes + plan.batch_bytes + plan.fixed["members"] // 2


@pytest.mark.parametrize(("weighted", "directed"), [(True, False), (False, True)])
def test_hash_tables_hold_exactly_the_neighbors_with_their_weights(tmp_path, weighted, directed):
    store = random_store(tmp_path / "g.zarr", vertices=120, edges=3000, directed=directed)
    plan, backend = opened(store, weighted=weighted)
    try:
        assert plan.membership == "hash"
        arrays, find = backend.graph.arrays, backend.kernels.find_member
        assert arrays.members.nbytes <= plan.fixed["members"]
        for v, row in enumerate(rows_of(store, weighted)):
            weight = dict(row)
            for other in range(store.vertices):
                place = find(arrays, v, other)
                assert (place >= 0) == (other in weight)
                if weighted and place >= 0:
                    assert arrays.member_weights[place + 8] == weight[other]
    finally:
        backend.close()


def test_a_filter_never_denies_an_edge_and_most_others(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=120, edges=1500)
    plan, backend = opened(store, instances=1, walk_length=10)
    try:
        assert plan.membership == "filter"
        arrays, may_have = backend.graph.arrays, backend.kernels.may_have
        wrong = others = 0
        for v, row in enumerate(rows_of(store, False)):
            neighbors = {other for other, _ in row}
            assert all(may_have(arrays, v, other) for other in neighbors)
            wrong += sum(bool(may_have(arrays, v, u)) for u in range(store.vertices) if row and u not in neighbors)
            others += store.vertices - len(neighbors) if row else 0
        assert wrong < 0.15 * others
    finally:
        backend.close()


CASES = {
    "undirected": (True, lambda path: random_store(path, vertices=300, edges=4000)),
    "directed": (False, lambda path: random_store(path, vertices=300, edges=4000, directed=True)),
    "repeated edges": (True, lambda path: store_of(path, TROUBLED, directed=True, vertices=7)),
}


@pytest.mark.parametrize(("weighted", "made"), CASES.values(), ids=CASES)
def test_walks_are_the_same_by_hash_tables_and_by_filters(tmp_path, made, weighted):
    """test_questions.py compares them with those that search a graph on disk."""
    store, options = made(tmp_path / "g.zarr"), {**LONG, "p": 0.25, "q": 4.0, "weighted": weighted}
    plan = prepare(store, "node2vec", **options).plan
    assert plan.membership == "hash"
    expected = arrays_of(store, tmp_path / "r.zarr", "node2vec", **options)
    job = prepare(store, "node2vec", ids="dense", memory=without_tables(plan), **options)
    assert job.plan.membership == "filter"
    execute(job, tmp_path / "s.zarr", overwrite=True)
    assert_same(expected, stored_arrays(tmp_path / "s.zarr"))


def test_few_steps_and_wide_ids_have_filters(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=120, edges=1500)
    few = -(-store.edges // 10) - 1
    steps = {"p": 0.25, "q": 4.0, "device": "cpu", "walk_length": 1}
    memberships = [prepare(store, "node2vec", instances=n, **steps).plan.membership for n in (few, few + 1)]
    assert memberships == ["filter", "hash"]
    assert prepare(WideStore(store), "node2vec", **LONG, p=0.25, q=4.0).plan.membership == "filter"


def test_the_halves_of_a_word_make_the_fraction_of_the_word():
    ends = [0, 1, (1 << 11) - 1, 1 << 11, (1 << 32) - 1]
    words = [(high, low) for high in ends for low in ends]
    words += np.random.default_rng(1).integers(0, 1 << 32, (1000, 2)).tolist()
    for high, low in words:
        assert fraction_of(np.uint64(high), np.uint64(low)) == fraction(np.uint64(high << 32 | low))


def test_a_walk_ends_by_the_word_at_its_address(tmp_path):
    """A kernel draws that word ahead, in vector registers."""
    store = random_store(tmp_path / "g.zarr", vertices=120, edges=1500, weighted=False)
    vertices = np.flatnonzero([len(row) for row in rows_of(store, False)])[:100]
    options = {"seed": 9, "walk_length": 40, "termination_prob": 0.15, "sources": vertices.tolist(), "weighted": False}
    lengths = arrays_of(store, tmp_path / "s.zarr", "ppr", **options)["lengths"]
    for instance, length in enumerate(lengths.tolist()):
        words = (hook_word(9, instance, step, 0) for step in range(40))
        ends = [step for step, word in enumerate(words) if fraction(np.uint64(word)) < 0.15]
        assert length == (ends[0] if ends else 40)
