"""Claims of what verify computes at once for many walks: it is what one look-up after the other gives."""

from itertools import pairwise

import numpy as np
import pytest
from helpers import graphs, slow

from csaw.engine.api import registry
from csaw.engine.api.law import GraphView, next_law
from csaw.engine.stores import open_samples
from csaw.engine.verify.choices import CONTEXTS, LARGEST, most_frequent
from csaw.engine.verify.forms import LONGER, judge_choices, mark_common, row_form
from csaw.engine.verify.instance_chances import again, sizes_of
from csaw.engine.verify.kernels import DenseIds, likelier
from csaw.engine.verify.statistics import Choices, ascending, first_met
from csaw.engine.verify.steps import Lines, check_walks


@pytest.mark.parametrize("directed", [True, False])
def test_steps_along_no_edge_and_wrong_lengths_are_those_of_a_set_of_edges(tmp_path, directed):
    store = graphs.random_store(tmp_path / "g", vertices=60, edges=400, directed=directed)
    graph, rng = store.load(), np.random.default_rng(4)
    edges = {(v, int(u)) for v in range(60) for u in graph.indices[graph.indptr[v] : graph.indptr[v + 1]]}
    walks, lengths = rng.integers(0, 60, (300, 9)), rng.integers(-1, 11, 300)
    for walk, steps in zip(walks[:250], lengths[:250], strict=True):
        walk[steps + 1 :] = -1
    walks[7, 2] = -2
    fits, off = np.zeros(300, np.bool_), np.zeros((300, 8), np.bool_)
    wrong = check_walks(graph.indptr, *Lines.of(graph.indices), not directed, walks, lengths, fits, off)
    for i in range(300):
        fit = 0 <= lengths[i] < 9 and all(
            (walks[i, k] >= 0) if k <= lengths[i] else walks[i, k] == -1 for k in range(9)
        )
        missing = [fit and k < lengths[i] and (walks[i, k], walks[i, k + 1]) not in edges for k in range(8)]
        assert fits[i] == fit
        assert off[i].tolist() == missing
    assert wrong == off.sum() > 100
    assert 50 < fits.sum() < 250
    assert (off.sum(axis=1) < np.maximum(lengths, 0))[fits].any()


@pytest.mark.parametrize("bits", [np.uint32, np.int64], ids=["32 bits", "64 bits"])
@pytest.mark.parametrize("begins", range(0, 16, 5), ids="rows begin {} entries into a line of the cache".format)
@pytest.mark.parametrize("sizes", [[700, 17, 0, 16, 1, 33, 300, 0], [3, 0, 2, 4, 0, 1, 0, 0]], ids=["long", "few"])
def test_steps_are_found_wherever_rows_and_lines_begin(bits, begins, sizes):
    rng, vertices = np.random.default_rng(8), len(sizes)
    rows = [np.sort(rng.choice(2000, size)) for size in sizes]  # some edges are repeated, some vertices have no row
    indptr = np.concatenate([[0], np.cumsum(sizes), np.full(2000 - vertices, sum(sizes))])
    held = np.empty(sum(sizes) + 32, bits)
    first = -held.ctypes.data // held.itemsize % 16 + begins
    indices = held[first : first + sum(sizes)]
    indices[:] = np.concatenate(rows)
    pairs = [(v, u) for v in range(vertices) for u in {*rows[v].tolist(), *range(0, 2000, 7), 1999}]
    walks, lengths = np.array(pairs), np.ones(len(pairs), np.int64)
    fits, off = np.zeros(len(pairs), np.bool_), np.zeros((len(pairs), 1), np.bool_)
    check_walks(indptr, *Lines.of(indices), False, walks, lengths, fits, off)
    assert fits.all()
    assert off[:, 0].tolist() == [u not in rows[v] for v, u in pairs]


@pytest.mark.parametrize(
    ("ids", "strange"),
    [
        (np.arange(30) * 5 - 60, [-61, -59, 86, 2**62, 1 - 2**63]),
        (np.arange(30) ** 5, [-7, 2, 2**40]),
        (np.arange(30, dtype=np.uint64) + np.uint64(2**63), [0, 29, 2**63 - 1]),
    ],
    ids=["close together", "far apart", "above 2^63"],
)
def test_dense_ids_are_those_of_the_sample_store(tmp_path, ids, strange):
    store = graphs.random_store(tmp_path / "g", vertices=30, edges=110)
    graph = store.load()
    other = graphs.write_graph(
        tmp_path / "other", graph.indptr, graph.indices, graph.weights, directed=False, vertex_ids=ids
    )
    said = slow.manifest(other, "deepwalk", {"walk_length": 5, "num_walks": 1})
    drawn = slow.slow_walks(store, "deepwalk", np.arange(30), walk_length=5)
    arrays = {"walks": drawn[0], "lengths": drawn[1]}
    samples = open_samples(slow.write(tmp_path / "s", said, "walks", arrays, vertex_ids=other.vertex_ids()))
    held = np.iinfo(samples.walks.dtype)  # ids take as few bits as hold them
    strange = [id for id in strange if held.min <= id <= held.max]
    stored = np.append(samples.walks[:].ravel(), np.array(strange, samples.walks.dtype))
    expected = samples.dense(stored, ids)
    assert np.array_equal(DenseIds(samples, ids, ids.size)(stored), expected)
    assert (expected[-len(strange) :] == -2).all()
    assert np.array_equal(
        expected[: drawn[0].size].reshape(drawn[0].shape),
        np.where(drawn[0] == slow.NONE, -1, drawn[0].astype(np.int64)),
    )


def test_scores_of_single_choices_have_the_moments_of_the_slow_law(tmp_path):
    store = graphs.random_store(tmp_path / "g", vertices=25, edges=90)
    view, walk = GraphView(store.load(), True), registry.build("node2vec", {"p": 0.25, "q": 4.0}, None)
    form = row_form(view, walk, 10**6)
    degree, neighbors = np.diff(view.indptr), [set(view.indices[a:b].tolist()) for a, b in pairwise(view.indptr)]
    for v, prev in [(a, b) for a in range(25) for b in (-1, *list(neighbors[a])[:2]) if len(neighbors[a]) > 1]:
        law = next_law(view, walk, v, prev)
        outcomes = np.array(sorted(o for o in law if law[o] > 0))
        chance, n = np.array([law[o] for o in outcomes.tolist()]), outcomes.size
        terms = [np.empty((n, 6)) for _ in range(3)]
        at = np.full(n, v), np.full(n, prev), outcomes
        assert judge_choices(view.indptr, view.indices, form.bias, form.p, form.q, *at, LARGEST, *terms) == 0
        laws = [np.ones(n) / n, degree[outcomes] / degree[outcomes].sum()]
        values = [np.minimum(law / chance, LARGEST) for law in laws]
        common = [prev >= 0 and o != prev and o in neighbors[prev] for o in outcomes.tolist()]
        values += [outcomes == prev, np.array(common), np.arange(n) == 0, np.arange(n) == n - 1]
        for k, value in enumerate(values):
            mean, variance = (chance * value).sum(), (chance * value**2).sum() - (chance * value).sum() ** 2
            decided = variance > 1e-9
            assert terms[0][:, k] == pytest.approx(decided * (value - mean), abs=1e-9)
            assert terms[1][:, k] == pytest.approx(decided * variance, abs=1e-9)
            if k < 2:
                assert terms[2][:, k] == pytest.approx(decided * ((laws[k] * value).sum() - mean), abs=1e-9)
    absent = next(u for u in range(25) if u not in neighbors[0])
    at = np.array([0]), np.array([-1]), np.array([absent])
    assert judge_choices(view.indptr, view.indices, form.bias, 1.0, 1.0, *at, LARGEST, *np.empty((3, 1, 6))) == 1


@pytest.mark.parametrize("scale", [1, 2**58, 2**60], ids=["small numbers", "one number of 63 bits", "beyond 63 bits"])
def test_situations_are_grouped_whatever_their_numbers(scale):
    rows = np.random.default_rng(1).integers(-1, 5, (1000, 3)) * [1, scale, 1]
    found, counts, start, order = Choices(rows, np.zeros(1000, np.int64)).grouped
    expected, times = np.unique(rows, axis=0, return_counts=True)
    assert np.array_equal(found, expected)
    assert np.array_equal(counts, times)
    assert np.array_equal(rows[order], np.repeat(expected, times, axis=0))
    assert np.array_equal(rows[order[start]], expected)


@pytest.mark.parametrize(
    "sizes", [(40, 60), (3, 3 * LONGER + 9), (0, 5), (5, 0)], ids=["marked", "searched", "", "none"]
)
def test_common_neighbors_are_those_of_two_sets(sizes):
    rng, bits = np.random.default_rng(2), np.zeros(4, np.uint64)
    for _ in range(20):
        row, other = (np.sort(rng.integers(0, 200, size)).astype(np.uint32) for size in sizes)
        indices, common = np.concatenate([row, other]), np.full(row.size, 7, np.int8)
        mark_common(indices, 0, row.size, row.size, indices.size, bits, common)
        assert common.tolist() == [int(u in set(other.tolist())) for u in row.tolist()]
        assert not bits.any()


def test_the_place_of_a_choice_in_its_law_counts_the_likelier_outcomes_and_equal_ones_before_it():
    rng = np.random.default_rng(3)
    sizes, times = [1, 2, 7, 64, 1000], [3, 40, 40, 5, 200]
    start, first = np.cumsum([0, *sizes]), np.cumsum([0, *times])
    chance = rng.integers(1, 9, start[-1]) / 8  # with many equal ones, and sums without rounding
    at = np.concatenate([rng.integers(a, b, n) for (a, b), n in zip(pairwise(start), times, strict=True)])
    low = np.empty(at.size)
    likelier(start, chance, first, at, low)
    for (a, b), (c, d) in zip(pairwise(start.tolist()), pairwise(first.tolist()), strict=True):
        laid = sorted(range(a, b), key=lambda cell: (-chance[cell], cell))
        for i in range(c, d):
            assert low[i] == sum(chance[cell] for cell in laid[: laid.index(at[i])])


@pytest.mark.parametrize("bound", [1, 40, 1 << 16, (1 << 16) + 1, 1 << 40])
def test_sorting_by_counts_is_a_stable_sort(bound):
    numbers = np.random.default_rng(5).integers(0, bound, 3000)
    assert np.array_equal(ascending(numbers, bound), np.argsort(numbers, kind="stable"))


@pytest.mark.parametrize("size", [0, 1, CONTEXTS - 1, CONTEXTS, CONTEXTS + 1, 3000])
@pytest.mark.parametrize("largest", [1, 3, 5000])
def test_the_most_frequent_are_the_first_of_a_stable_sort(size, largest):
    counts = np.random.default_rng(6).integers(0, largest + 1, size)
    assert np.array_equal(most_frequent(counts), np.argsort(-counts, kind="stable")[:CONTEXTS])


def test_numbers_are_first_met_where_a_set_has_none_of_them():
    numbers, seen, places = np.random.default_rng(7).integers(0, 50, 200), set(), []
    for place, number in enumerate(numbers.tolist()):
        if number not in seen:
            seen.add(number)
            places.append(place)
    values, first = first_met(numbers, 60)
    assert first.tolist() == places
    assert np.array_equal(values, numbers[places])


@pytest.mark.parametrize("different", [3, 40, 2**60])
def test_hashes_that_are_there_again_are_those_of_a_table(different):
    own = np.random.default_rng(9).integers(0, different, 60).astype(np.uint64)
    places = {}
    for place, value in enumerate(own.tolist()):
        places.setdefault(value, []).append(place)
    assert again(own).tolist() == [
        place for value in sorted(places) if len(places[value]) > 1 for place in places[value]
    ]
    assert sizes_of(np.sort(own)).tolist() == [len(places[value]) for value in sorted(places)]
