"""Traversal samples follow their law: closed forms on graphs small enough to enumerate."""

import numpy as np
import pytest
from helpers.graphs import FIVE, SQUARE, arrays_of, ends_of_batches, random_store, rows_of, store_of
from helpers.laws import (
    assert_fires_are_geometric,
    assert_frontier_walks_follow,
    assert_picks_are_independent,
    assert_picks_are_successive,
    assert_sets_are_equally_likely,
)
from helpers.stats import assert_drawn_from

BIASES = [3, 6, 2, 2, 2]
MANY = 60_000


WITHOUT_REPLACEMENT = [
    *({"select": "its", "collision": c, "layout": how} for c in ("bipartite", "repeated") for how in ("csr", "ctps")),
    {"select": "its", "collision": "updated"},
    {"select": "keys"},
]
WAYS = ["-".join(how[name] for name in ("collision", "layout") if name in how) or "keys" for how in WITHOUT_REPLACEMENT]


@pytest.mark.parametrize("how", WITHOUT_REPLACEMENT, ids=WAYS)
def test_without_replacement_is_successive_selection(tmp_path, how):
    store = store_of(tmp_path / "g.zarr", FIVE, directed=True)
    sources = np.zeros(MANY, np.int64)
    picks = (
        arrays_of(store, tmp_path / "s.zarr", "neighbor", fanout=(3,), sources=sources, **how)["hop_1"].astype(int) - 1
    )
    assert_picks_are_successive(picks, BIASES)


@pytest.mark.parametrize("how", WITHOUT_REPLACEMENT, ids=WAYS)
def test_candidates_beside_far_heavier_ones_are_drawn_in_time_and_by_the_law(tmp_path, how):
    heavy, light = [2**40, 2**41], [3, 6, 2, 2]
    store = store_of(tmp_path / "g.zarr", [(0, v, w) for v, w in enumerate(heavy + light, 1)], directed=True)
    sources = np.zeros(MANY, np.int64)
    drawn = arrays_of(store, tmp_path / "s.zarr", "neighbor", fanout=(5,), sources=sources, **how)
    picks = drawn["hop_1"].astype(int) - 1
    assert_picks_are_successive(picks[:, :2], heavy)
    assert_picks_are_successive(picks[:, 2:] - 2, light)


@pytest.mark.parametrize("how", [{}, {"select": "its"}, {"select": "keys"}], ids=["floyd", "its", "keys"])
def test_unweighted_subsets_are_equally_likely(tmp_path, how):
    store = store_of(tmp_path / "g.zarr", FIVE, directed=True)
    drawn = arrays_of(
        store, tmp_path / "s.zarr", "neighbor", fanout=(2,), sources=np.zeros(MANY, int), weighted=False, **how
    )
    assert_sets_are_equally_likely(drawn["hop_1"].astype(int) - 1, 5)


@pytest.mark.parametrize(
    "how", [{}, {"select": "its", "layout": "csr"}, {"select": "its", "layout": "ctps"}], ids=["alias", "csr", "ctps"]
)
def test_with_replacement_picks_are_independent(tmp_path, how):
    store = store_of(tmp_path / "g.zarr", FIVE, directed=True)
    drawn = arrays_of(
        store, tmp_path / "s.zarr", "neighbor", fanout=(2,), sources=np.zeros(MANY, int), replace=True, **how
    )
    assert_picks_are_independent(drawn["hop_1"].astype(int) - 1, BIASES, BIASES)


@pytest.mark.parametrize("options", [{}, {"select": "its"}, {"replace": True}], ids=["floyd", "its", "replace"])
def test_siblings_select_independently(tmp_path, options):
    edges = [(0, 1, 1), (0, 2, 1)] + [(v, u, 1) for v in (1, 2) for u in (3, 4, 5)]
    store = store_of(tmp_path / "g.zarr", edges, directed=True, weighted=False)
    drawn = arrays_of(store, tmp_path / "s.zarr", "neighbor", fanout=(2, 1), sources=np.zeros(MANY, int), **options)
    assert_picks_are_independent(drawn["hop_2"].astype(int) - 3, [1, 1, 1], [1, 1, 1])


BATCHES = {"seeds_per_batch": 500, "sources": np.zeros(MANY, int)}  # of seeds that each draw for themselves


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("how", [{"select": "its"}, {"select": "keys"}], ids=["its", "keys"])
def test_seeds_of_a_mini_batch_select_successively(tmp_path, how, disjoint):
    store = store_of(tmp_path / "g.zarr", FIVE, directed=True)
    drawn = arrays_of(store, tmp_path / "s.zarr", "minibatch", fanout=(3,), disjoint=disjoint, **BATCHES, **how)
    assert_picks_are_successive(ends_of_batches(drawn, 0).reshape(MANY, 3) - 1, BIASES)


def test_unweighted_subsets_of_a_mini_batch_are_equally_likely(tmp_path):
    store = store_of(tmp_path / "g.zarr", FIVE, directed=True)
    drawn = arrays_of(store, tmp_path / "s.zarr", "minibatch", fanout=(2,), weighted=False, **BATCHES)
    assert_sets_are_equally_likely(ends_of_batches(drawn, 0).reshape(MANY, 2) - 1, 5)


@pytest.mark.parametrize("weighted", [False, True])
def test_picks_of_a_mini_batch_with_replacement_are_independent(tmp_path, weighted):
    store = store_of(tmp_path / "g.zarr", FIVE, directed=True)
    drawn = arrays_of(store, tmp_path / "s.zarr", "minibatch", fanout=(2,), replace=True, weighted=weighted, **BATCHES)
    biases = BIASES if weighted else [1] * 5
    assert_picks_are_independent(ends_of_batches(drawn, 0).reshape(MANY, 2) - 1, biases, biases)


@pytest.mark.parametrize("options", [{}, {"select": "its"}, {"replace": True}], ids=["floyd", "its", "replace"])
def test_nodes_of_a_mini_batch_select_independently(tmp_path, options):
    edges = [(0, 1, 1), (0, 2, 1)] + [(v, u, 1) for v in (1, 2) for u in (3, 4, 5)]
    store = store_of(tmp_path / "g.zarr", edges, directed=True, weighted=False)
    drawn = arrays_of(
        store,
        tmp_path / "s.zarr",
        "minibatch",
        fanout=(-1 if "replace" not in options else 60, 1),
        disjoint=True,
        **BATCHES,
        **options,
    )
    assert_picks_are_independent(ends_of_batches(drawn, 1).reshape(MANY, 2) - 3, [1, 1, 1], [1, 1, 1])


def test_second_hop_starts_where_the_first_ended(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    drawn = arrays_of(store, tmp_path / "s.zarr", "neighbor", fanout=(4, 3))
    rows = rows_of(store, False)
    for parents, children in zip(drawn["hop_1"], drawn["hop_2"], strict=True):
        for i, parent in enumerate(parents.tolist()):
            mine = [v for v in children[3 * i : 3 * i + 3].tolist() if v >= 0]
            size = 0 if parent < 0 else min(3, len(rows[parent]))
            assert len(mine) == len(set(mine)) == size
            assert size == 0 or set(mine) <= {v for v, _ in rows[parent]}


def test_snowball_is_breadth_first_search(tmp_path):
    store = random_store(tmp_path / "g.zarr", edges=600)
    drawn = arrays_of(store, tmp_path / "s.zarr", "snowball", depth=2)
    rows = rows_of(store, False)
    for source in range(store.vertices):
        span = slice(*drawn["instance_ptr"][source : source + 2])
        seen, frontier = {source}, [source]
        expected = set()
        for depth in range(2):
            reached = [(u, v, depth) for u in frontier for v, _ in rows[u] if v not in seen]
            expected |= set(reached)
            frontier = list(dict.fromkeys(v for _, v, _ in reached))
            seen |= set(frontier)
        found = list(zip(*(drawn[name][span].tolist() for name in ("src", "dst", "depth")), strict=True))
        assert len(found) == len(expected)
        assert set(found) == expected


def test_forest_fire_burns_a_geometric_number_of_neighbors(tmp_path):
    star = store_of(tmp_path / "g.zarr", [(0, v, 1) for v in range(1, 31)], directed=True, weighted=False)
    drawn = arrays_of(star, tmp_path / "s.zarr", "forest-fire", burn_prob=0.7, depth=1, sources=np.zeros(MANY, int))
    assert_fires_are_geometric(np.minimum(np.diff(drawn["instance_ptr"]), 15), 0.7, 15)
    assert_drawn_from(np.bincount(drawn["dst"], minlength=31)[1:], np.ones(30))


def test_no_vertex_is_expanded_twice(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    for algo, options in (("forest-fire", {"depth": 4}), ("layer", {"depth": 4, "neighbor_size": 8})):
        drawn = arrays_of(store, tmp_path / "s.zarr", algo, **options)
        for i in range(store.vertices):
            span = slice(*drawn["instance_ptr"][i : i + 2])
            depth_of = {}
            for u, d in zip(drawn["src"][span].tolist(), drawn["depth"][span].tolist(), strict=True):
                assert depth_of.setdefault(u, d) == d


def test_layer_selects_from_the_pool_of_the_whole_frontier(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, 2, 3), (0, 3, 6), (1, 4, 2), (1, 5, 2), (1, 6, 2)], directed=True)
    sources = np.tile([0, 1], MANY)
    drawn = arrays_of(store, tmp_path / "s.zarr", "layer", depth=1, neighbor_size=2, frontier_size=2, sources=sources)
    assert_picks_are_successive(drawn["dst"].reshape(-1, 2).astype(int) - 2, BIASES)


def fan(ends, more=()):
    """Vertices 0 and 1 with ``ends`` neighbors each that nobody else has, 2 and up, and ``more`` edges."""
    own = [(v, 2 + v * ends + i, 1) for v in (0, 1) for i in range(ends)]
    return sorted([*own, *more])


# name: (edges, size, possible ends) of a layer from 0 and 1; a pool of up to 4 size + 64 edges is listed, a larger one
# tried
POOLS = {
    "listed": (fan(3), 2, 6),
    "listed without what was visited": (fan(3, [(0, 0, 1), (0, 1, 1), (1, 0, 1)]), 2, 6),
    "tried": (fan(40), 2, 80),
    "tried without what was visited": (fan(40, [(0, 0, 1), (1, 1, 1), *[(0, 1, 1)] * 40, (1, 0, 1)]), 2, 80),
    "tried in vain now and then": (fan(3, [(0, 1, 1)] * 120), 2, 6),
    "three of many": (fan(10, [(1, 0, 1)] * 100), 3, 20),
}


@pytest.mark.parametrize("select", ["uniform", "keys"])
@pytest.mark.parametrize("pool", POOLS)
def test_layers_of_equal_biases_are_equally_likely_sets(tmp_path, pool, select):
    edges, size, ends = POOLS[pool]
    store = store_of(tmp_path / "g.zarr", edges, directed=True, weighted=False)
    drawn = arrays_of(
        store,
        tmp_path / "s.zarr",
        "layer",
        depth=1,
        neighbor_size=size,
        frontier_size=2,
        sources=np.tile([0, 1], MANY),
        select=select,
    )
    assert (drawn["src"] == (drawn["dst"].astype(int) - 2) // (ends // 2)).all()
    assert_sets_are_equally_likely(drawn["dst"].reshape(-1, size).astype(int) - 2, ends)


@pytest.mark.parametrize("ends", [3, 40])
def test_layers_of_one_instance_are_independent(tmp_path, ends):
    """Whatever the first layer picks, the second picks evenly; both picks of an instance read different draws."""
    edges = [(0, v, 1) for v in range(1, ends + 1)]
    edges += [(v, u, 1) for v in range(1, ends + 1) for u in range(ends + 1, 2 * ends + 1)]
    store = store_of(tmp_path / "g.zarr", edges, directed=True, weighted=False)
    drawn = arrays_of(
        store, tmp_path / "s.zarr", "layer", depth=2, neighbor_size=1, sources=np.zeros(MANY, int), select="uniform"
    )
    picks = drawn["dst"].reshape(-1, 2).astype(int) - [1, ends + 1]
    assert_picks_are_independent(picks, [1] * ends, [1] * ends)


def test_a_layer_of_more_than_there_is_holds_all_of_it(tmp_path):
    store = random_store(tmp_path / "g.zarr", weighted=False)
    layers = arrays_of(store, tmp_path / "s.zarr", "layer", depth=2, neighbor_size=10**6)
    balls = arrays_of(store, tmp_path / "t.zarr", "snowball", depth=2)
    for name in layers:
        assert np.array_equal(layers[name], balls[name])


def test_random_node_sets_are_equally_likely_and_induced(tmp_path):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    drawn = arrays_of(store, tmp_path / "s.zarr", "random-node", frontier_size=3, instances=20_000)
    chosen = drawn["sources"].reshape(-1, 3).astype(int)
    assert_sets_are_equally_likely(chosen, 5)
    rows = rows_of(store, False)
    for i in range(200):
        span = slice(*drawn["instance_ptr"][i : i + 2])
        inside = set(chosen[i].tolist())
        expected = {(u, v) for u in inside for v, _ in rows[u] if v in inside}
        assert set(zip(drawn["src"][span].tolist(), drawn["dst"][span].tolist(), strict=True)) == expected


def test_random_edge_sets_are_equally_likely(tmp_path):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    drawn = arrays_of(store, tmp_path / "s.zarr", "random-edge", neighbor_size=2, instances=20_000)
    names = {(u, v): i for i, (u, v) in enumerate(sorted((min(u, v), max(u, v)) for u, v, _ in SQUARE))}
    edges = [names[pair] for pair in zip(drawn["src"].tolist(), drawn["dst"].tolist(), strict=True)]
    assert_sets_are_equally_likely(np.array(edges).reshape(-1, 2), 6)


@pytest.mark.parametrize("select", ["uniform", "keys"])
@pytest.mark.parametrize("directed", [True, False])
def test_random_edge_sets_of_larger_graphs_are_equally_likely(tmp_path, directed, select):
    """More edges than are listed; loops and repeated edges among them, each as likely as any other."""
    pairs = [(u, v) for u in range(9) for v in range(9) if (u <= v) or directed] + [(0, 1), (3, 3)] * 2
    store = store_of(tmp_path / "g.zarr", [(u, v, 1) for u, v in pairs], directed=directed, weighted=False)
    many = 60_000 if directed else 15_000
    drawn = arrays_of(store, tmp_path / "s.zarr", "random-edge", neighbor_size=2, instances=many, select=select)
    number = np.array([pairs.index(pair) for pair in zip(drawn["src"].tolist(), drawn["dst"].tolist(), strict=True)])
    weights = np.bincount([pairs.index(pair) for pair in pairs], minlength=len(pairs)).astype(float)
    picks, known = number.reshape(-1, 2), np.flatnonzero(weights)
    joint = {
        (a, b): 2 * weights[a] * weights[b] if a != b else weights[a] * (weights[a] - 1)
        for a in known
        for b in known
        if a <= b
    }
    codes = np.sort(picks, axis=1) @ [len(pairs), 1]
    found = [np.sum(codes == a * len(pairs) + b) for a, b in joint]
    assert sum(found) == len(picks)
    assert_drawn_from(found, list(joint.values()))


def test_random_edge_sets_of_a_directed_graph_are_equally_likely(tmp_path):
    store = store_of(tmp_path / "g.zarr", FIVE, directed=True)
    drawn = arrays_of(store, tmp_path / "s.zarr", "random-edge", neighbor_size=2, instances=20_000)
    assert set(drawn["src"].tolist()) == {0}
    assert_sets_are_equally_likely(drawn["dst"].reshape(-1, 2).astype(int) - 1, 5)


@pytest.mark.parametrize("directed", [True, False])
def test_random_edge_of_a_graph_with_fewer_edges_has_each_once(tmp_path, directed):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=directed)
    drawn = arrays_of(store, tmp_path / "s.zarr", "random-edge", neighbor_size=1000, instances=9)
    pairs = np.stack([drawn["src"], drawn["dst"]], axis=1).reshape(9, -1, 2).tolist()
    wanted = sorted((u, v) if directed else (min(u, v), max(u, v)) for u, v, _ in SQUARE)
    for found in pairs:
        assert sorted(tuple(pair if directed else sorted(pair)) for pair in found) == wanted


def test_frontier_sampling_equals_its_sequential_definition(tmp_path):
    """Two steps of three walkers: choose one by degree, move it to a uniform neighbor (Ribeiro and Towsley, algorithm
    1).
    """
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False, weighted=False)
    rows = rows_of(store, False)
    start = [0, 3, 4]
    drawn = arrays_of(
        store, tmp_path / "s.zarr", "multidimensional", frontier_size=3, walk_length=2, sources=np.tile(start, MANY)
    )
    assert_frontier_walks_follow(drawn, rows, start)
