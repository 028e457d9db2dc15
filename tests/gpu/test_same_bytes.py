"""A GPU draws what the CPU draws, byte for byte: every algorithm, method, layout, on graphs
with every trouble in them.
"""

import numpy as np
import pytest
from helpers import frontier_pools, nextdoor, updates
from helpers.cases import ASKING
from helpers.gpu import GRAPHS, TREES, device_or_skip, ends_store, every_case, on_cpu, usable
from helpers.graphs import SQUARE, arrays_of, random_store, store_of
from helpers.invariance import assert_same

import csaw
from csaw.engine import execute, prepare
from csaw.engine.plan.choices import DETECTORS
from csaw.engine.plan.options import Policy
from csaw.engine.runs.job import open_backend
from csaw.engine.schedule.backend import TALLY
from csaw.engine.sources import sources
from csaw.partition.errors import BiasError, BudgetError, OptionError

device_or_skip()

from csaw.engine.cuda.backend import CudaBackend  # these import CuPy
from csaw.engine.cuda.batches import hops, layers, trees
from csaw.engine.cuda.runner import Transits
from csaw.engine.plan import planning
from csaw.engine.plan.batch_kind import BatchKind, tree_edges


@pytest.mark.one_in(9)
@pytest.mark.parametrize("graph", GRAPHS)
@every_case
def test_the_gpu_draws_what_the_cpu_draws(tmp_path, algo, options, graph):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    options = usable(store, algo, options)
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu(options))
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", **options))
    few = max(17, store.vertices // 20)  # in flight: some twenty batches of any graph
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", in_flight=few, **options))


@pytest.mark.parametrize(("algo", "options"), ASKING, ids=[f"{a}-{i}" for i, (a, _) in enumerate(ASKING)])
def test_the_bias_of_a_traversal_asks_for_neighbors(tmp_path, algo, options):
    store = random_store(tmp_path / "g.zarr", partitions=3)
    options = {"seed": 3, "edge_bias": "2 if e.is_neighbor(e.prev, e.dst) else 1"} | options
    expected = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, device="cuda", **options))


IN_TURN = [
    ("deepwalk", {"num_walks": 3, "walk_length": 9}),
    ("ppr", {"num_walks": 2, "termination_prob": 0.2}),
    ("node2vec", {"p": 0.5, "q": 2.0, "walk_length": 9}),
    ("neighbor", {"fanout": (4, 3)}),
    ("neighbor", {"fanout": (4, 3), "unique": True}),
    ("labor", {"fanout": (4, 3), "frontier_size": 5}),
    ("layer", {"frontier_size": 4, "neighbor_size": 5}),
    ("forest-fire", {}),
    ("deepwalk", {"walk_length": 4, "induced": True}),
]


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize(("algo", "options"), IN_TURN, ids=[f"{a}-{i}" for i, (a, _) in enumerate(IN_TURN)])
def test_sources_that_the_gpu_counts_are_those_that_it_is_sent(tmp_path, monkeypatch, algo, options, residency):
    store = random_store(tmp_path / "g.zarr", partitions=4)
    options = options | {"sources": "all"}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu(options))
    monkeypatch.setattr(sources, "MANY", 1)
    given = options | {"residency": residency, "device": "cuda", "in_flight": 37}
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **given))


TARGETS = [
    ("forest-fire", {"target": 100}),
    ("forest-fire", {"target": "10%", "depth": None, "induced": True}),
    ("snowball", {"target": 50, "neighbor_size": 3, "depth": None}),
    ("deepwalk", {"target": 150, "walk_length": 8}),
    ("ppr", {"target": 150}),
    ("jump", {"target": "20%", "walk_length": 8}),
    ("neighbor", {"target": 90, "fanout": (3, 2)}),
    ("multidimensional", {"target": 90, "frontier_size": 3, "walk_length": 20}),
    ("random-edge", {"target": 40}),
    ("random-node", {"target": "10%"}),
]


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize(("algo", "options"), TARGETS, ids=[f"{a}-{i}" for i, (a, _) in enumerate(TARGETS)])
def test_instances_of_a_target_are_joined_alike(tmp_path, algo, options, residency):
    store = random_store(tmp_path / "g.zarr", partitions=4)
    options = options | {"instances": 9}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu(options))
    given = options | {"residency": residency, "device": "cuda"}
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **given))
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, in_flight=17, **given))


BY_DEPTH = [
    {"edge_bias": "e.weight * (1 + e.depth % 3)"},
    {"edge_bias": "e.weight if e.depth % 2 == 0 else 1.0"},
    {"edge_bias": "e.weight if e.depth < 2 else e.dst_degree"},
    {"edge_bias": "e.weight ** 2 if e.depth == 1 else e.weight if e.depth < 5 else e.dst % 2 + e.weight"},
]


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize("options", BY_DEPTH, ids=range(len(BY_DEPTH)))
def test_steps_from_a_table_for_their_depth_are_drawn_alike(tmp_path, options, residency):
    store = random_store(tmp_path / "g.zarr", vertices=3000, edges=60_000, partitions=5)
    options = options | {"walk_length": 9, "num_walks": 2}
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", seed=5, **on_cpu(options))
    given = options | {"residency": residency, "device": "cuda"}
    for more in ({}, {"in_flight": 37}, {"layout": "table"}):  # which streamed graphs have anyway
        assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "deepwalk", seed=5, **given, **more))


def test_long_rows_have_a_table_for_each_depth(tmp_path):
    """A hub whose entries several blocks make, and rows that are read one by one."""
    spokes = [(0, end, 1.0 + end % 7) for end in range(1, 5000)]
    store = csaw.partition(spokes, tmp_path / "g.zarr", directed=False, partitions=3)
    given = {"edge_bias": "e.weight if e.depth % 3 == 0 else e.dst % 5", "walk_length": 7, "seed": 5}
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **given)
    for residency in ("resident", "streamed", "disk"):
        found = arrays_of(store, tmp_path / "s.zarr", "deepwalk", device="cuda", residency=residency, **given)
        assert_same(expected, found)


SQUARES = [
    ("deepwalk", {"edge_bias": "e.weight * e.weight"}),
    ("deepwalk", {"edge_bias": "e.weight ** 2", "layout": "csr", "select": "its"}),
    ("deepwalk", {"edge_bias": "math.sqrt(e.weight) * e.weight", "layout": "alias"}),
    ("node2vec", {"p": 1e9, "q": 1e-9, "walk_length": 8}),
    ("biased", {"edge_bias": "e.weight * e.weight if e.prev < 0 else 1.0 / e.weight", "walk_length": 8}),
    ("neighbor", {"edge_bias": "e.weight * e.weight", "fanout": (4, 3)}),
    ("layer", {"edge_bias": "e.weight * e.weight", "depth": 2, "neighbor_size": 4}),
    ("snowball", {"edge_bias": "e.weight * e.weight", "neighbor_size": 3}),
    ("minibatch", {"edge_bias": "e.weight * e.weight", "fanout": (4, 3), "seeds_per_batch": 16}),
    ("multidimensional", {"edge_bias": "e.weight * e.weight", "frontier_size": 3, "instances": 20, "walk_length": 40}),
    *(("ladies", {"frontier_size": 4, "layer_sizes": (6, 5), "normalize": n}) for n in ("symmetric", "row", "none")),
    *(("fastgcn", {"frontier_size": 4, "layer_sizes": (6, 5), "normalize": n}) for n in ("symmetric", "row", "none")),
    ("saint-node", {"subgraph_nodes": 20, "instances": 20}),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize(("algo", "options"), SQUARES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(SQUARES)])
def test_weights_are_computed_with_in_64_bits_alike(tmp_path, algo, options, residency):
    store = ends_store(tmp_path / "g.zarr")
    if residency != "resident":
        options = {name: value for name, value in options.items() if name != "layout"}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu(options))
    given = options | {"residency": residency, "device": "cuda"}
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **given))


REVISITS = """
from csaw.engine.algorithm import Traversal

class Mine(Traversal):
    revisits = True
    def edge_bias(self, e):
        return 1.0 + (2 // e.depth + 2 % e.depth if e.depth != 1 else 0.5)

    def sizes(self):
        return (3, 3, 2)
"""


def test_own_classes_come_back_and_divide_by_zero_alike(tmp_path):
    (tmp_path / "mine.py").write_text(REVISITS)
    name, store = f"{tmp_path / 'mine.py'}:Mine", random_store(tmp_path / "g.zarr")
    expected = arrays_of(store, tmp_path / "s.zarr", name, seed=5)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", name, seed=5, device="cuda"))


@pytest.mark.parametrize("residency", ["resident", "streamed"])
@pytest.mark.parametrize("name", updates.NAMES)
def test_updates_of_traversals_are_the_same(tmp_path, name, residency):
    (tmp_path / "mine.py").write_text(updates.CLASSES)
    own, store = f"{tmp_path / 'mine.py'}:{name}", random_store(tmp_path / "g.zarr", partitions=5)
    expected = arrays_of(store, tmp_path / "s.zarr", own, seed=5)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", own, seed=5, device="cuda", residency=residency))


@pytest.mark.parametrize("residency", ["resident", "streamed"])
@pytest.mark.parametrize("name", frontier_pools.NAMES)
def test_frontiers_of_pools_are_the_same(tmp_path, name, residency):
    (tmp_path / "mine.py").write_text(frontier_pools.CLASSES)
    own, store = f"{tmp_path / 'mine.py'}:{name}", random_store(tmp_path / "g.zarr", partitions=5)
    expected = arrays_of(store, tmp_path / "s.zarr", own, seed=5)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", own, seed=5, device="cuda", residency=residency))


COLUMNS = [
    ("deepwalk", {"edge_bias": "e.weight * e.column('x', e.dst)"}),
    ("deepwalk", {"edge_bias": "e.weight * e.column('x', e.dst)", "layout": "csr", "select": "its"}),
    ("biased", {"edge_bias": "1.0 if e.prev < 0 else e.column('y', e.prev) + e.column('x', e.dst)"}),
    (
        "deepwalk",
        {"edge_bias": "e.weight * (4.0 if e.dst == e.path(2) else e.column('x', e.path(3)) if e.depth > 2 else 1.0)"},
    ),
    ("neighbor", {"edge_bias": "e.column('y', e.src) * e.column('x', e.dst)", "fanout": (4, 3)}),
    ("minibatch", {"edge_bias": "e.column('x', e.dst)", "fanout": (4, 3), "seeds_per_batch": 16}),
    ("mvs", {"norms": "x", "seeds_per_batch": 20, "instances": 40}),
    ("mvs", {"norms": "y", "seeds_per_batch": 40, "fanout": (4, 3), "bias": "none", "instances": 40}),
    ("mvs", {"norms": "x", "seeds_per_batch": 300, "fanout": (2,), "disjoint": True, "instances": 5}),
    ("fastgcn", {"edge_bias": "e.column('x', e.dst)", "frontier_size": 8, "layer_sizes": (40, 30)}),
    ("multidimensional", {"edge_bias": "e.column('x', e.dst)", "frontier_size": 3, "instances": 20, "walk_length": 40}),
]


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize(("algo", "options"), COLUMNS, ids=[f"{a}-{i}" for i, (a, _) in enumerate(COLUMNS)])
def test_columns_of_data_are_read_alike(tmp_path, algo, options, residency):
    store = random_store(tmp_path / "g.zarr", partitions=4)
    columns = {"x": np.arange(300) % 97, "y": np.linspace(0.5, 2.0, 300)}
    if residency != "resident":
        options = {name: value for name, value in options.items() if name != "layout"}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, columns=columns, **on_cpu(options))
    given = options | {"columns": columns, "residency": residency, "device": "cuda"}
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **given))


@pytest.mark.parametrize("options", [{}, {"disjoint": True}, {"replace": True}], ids=["shared", "disjoint", "replace"])
@pytest.mark.parametrize("most_parts", [1, 3, 1024])
def test_parts_of_mini_batches_with_too_many_keys_take_rounds(tmp_path, monkeypatch, options, most_parts):
    store = random_store(tmp_path / "g.zarr", vertices=30_000, edges=300_000, weighted=False)
    options = {"fanout": (10, 10), "seeds_per_batch": 300, "sources": "random:1000"} | options
    expected = arrays_of(store, tmp_path / "s.zarr", "minibatch", seed=5, **options)
    monkeypatch.setattr(hops, "MOST_PARTS", most_parts)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "minibatch", seed=5, device="cuda", **options))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("room_bytes", [1 << 30, 20_000])
@pytest.mark.parametrize("graph", ["plain", "hub", "dense", "repeated", "wide"])
@pytest.mark.parametrize(("algo", "options"), TREES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(TREES)])
def test_what_outgrows_its_room_is_drawn_again(tmp_path, monkeypatch, algo, options, graph, room_bytes):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    options = {"instances": 90} | options
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **options)
    monkeypatch.setattr(trees, "ROOM_GROWTH", 3)
    monkeypatch.setattr(trees, "ROOM_BYTES", room_bytes)
    monkeypatch.setattr(planning, "tree_edges", lambda *given: min(tree_edges(*given), 3))
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", **options))


@pytest.mark.parametrize("layout", ["csr", "entries"])
def test_walkers_that_speed_up_are_given_more_room(tmp_path, layout):
    """From a leaf at rate 1 into a clique at rate 299: the first look ahead holds more events
    than there is room for.
    """
    clique = [(u, v, 1.0) for u in range(300) for v in range(300) if u != v]
    store = store_of(tmp_path / "g.zarr", [*clique, *((300 + leaf, leaf, 1.0) for leaf in range(300))], directed=True)
    options = {"frontier_size": 2, "instances": 100, "walk_length": 500, "weighted": False}
    expected = arrays_of(store, tmp_path / "s.zarr", "multidimensional", seed=5, **options)
    assert_same(
        expected,
        arrays_of(store, tmp_path / "s.zarr", "multidimensional", seed=5, device="cuda", layout=layout, **options),
    )


STEEP = """
from csaw.engine.algorithms.multidimensional import Multidimensional


class Steep(Multidimensional):
    def vertex_bias(self, v):
        return 1e22 if v.degree > 4 else 1.0
"""


def test_a_clock_that_stands_still_goes_on_from_walker_to_walker_as_on_the_cpu(tmp_path):
    """Between hubs so fast that the time after a move is the time before it, as doubles are."""
    (tmp_path / "steep.py").write_text(STEEP)
    clique = [(u, v, 1.0) for u in range(6) for v in range(u + 1, 6)]
    store = store_of(tmp_path / "g.zarr", [*clique, *((6 + leaf, leaf % 6, 1.0) for leaf in range(12))], directed=False)
    algo, options = (
        f"{tmp_path}/steep.py:Steep",
        {"frontier_size": 5, "instances": 40, "walk_length": 300, "weighted": False},
    )
    expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **options)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", **options))


DETECTED = [(c, d) for c in ("bipartite", "repeated") for d in (None, *DETECTORS)]


@pytest.mark.parametrize(("collision", "detect"), [*DETECTED, ("updated", None)])
@pytest.mark.parametrize(
    ("graph", "options"),
    [
        ("weighted", {"fanout": (30, 3)}),
        ("weighted", {"fanout": (3, 2), "bias": "degree"}),
        ("heavy", {"fanout": (7, 3)}),
        ("heavy", {"fanout": (7, 3), "layout": "csr"}),
    ],
    ids=["weight", "degree", "heavy", "heavy-csr"],
)
def test_selection_counts_what_the_cpu_counts(tmp_path, graph, options, collision, detect):
    if detect not in (None, "linear") and graph == "heavy":
        options = options | {"layout": "csr"}
    store = GRAPHS[graph](tmp_path / "g.zarr")
    given = {"select": "its", "collision": collision, "seed": 5, **options}
    on_gpu = prepare(store, "neighbor", device="cuda", detect=detect, **given)
    same = None if collision == "updated" else "linear" if on_gpu.plan.detect == "linear" else "contiguous"
    expected = execute(prepare(store, "neighbor", device="cpu", detect=same, **on_cpu(given)), tmp_path / "c.zarr")
    found = execute(on_gpu, tmp_path / "g2.zarr")
    assert [found[name] for name in TALLY if name != "conflicts"] == [
        expected[name] for name in TALLY if name != "conflicts"
    ]
    assert expected["conflicts"] == 0
    assert (found["conflicts"] > 0) == (on_gpu.plan.detect in ("strided", "contiguous"))


@pytest.mark.parametrize(("collision", "detect"), DETECTED)
def test_rows_of_hundreds_with_a_few_heavy_edges(tmp_path, collision, detect):
    rng = np.random.default_rng(8)
    edges = [
        (u, v, float(2 ** rng.integers(0, 32)))
        for u, size in ((0, 2300), (1, 200), (2, 70))
        for v in range(3, 3 + size)
    ]
    store = store_of(tmp_path / "g.zarr", edges, directed=True, vertices=2400)
    given = {"fanout": (64,), "select": "its", "collision": collision, "seed": 5, "sources": [0, 1, 2] * 8}
    expected = arrays_of(store, tmp_path / "s.zarr", "neighbor", **given)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "neighbor", device="cuda", detect=detect, **given))


@pytest.mark.parametrize("options", [{"replace": True}, {}, {"bias": "degree"}], ids=["replaced", "distinct", "degree"])
def test_parents_of_many_tiles_are_grouped(tmp_path, options):
    store = random_store(tmp_path / "g.zarr", vertices=70_000, edges=150_000)
    given = {"fanout": (5, 3), "bias": "none", "instances": 9_001, "seed": 5} | options
    expected = arrays_of(store, tmp_path / "s.zarr", "neighbor", **given)
    grouped = {"device": "cuda", "transit_parallel": "on"}
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "neighbor", **grouped, **given))
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "neighbor", **grouped, in_flight=5_333, **given))


def test_hops_that_gain_by_it_are_grouped(tmp_path, monkeypatch):
    store = random_store(tmp_path / "g.zarr")
    sizes, group = [], Transits.group
    monkeypatch.setattr(planning, "CACHED_EDGES", 0)
    monkeypatch.setattr(Transits, "group", lambda self, parents: (sizes.append(parents.size), group(self, parents))[1])
    given = {"fanout": (2, 50), "replace": True, "bias": "none", "instances": 20, "seed": 5}
    expected = arrays_of(store, tmp_path / "s.zarr", "neighbor", **given)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "neighbor", device="cuda", **given))
    assert sizes == [40]


def test_a_bad_bias_names_its_edge(tmp_path):
    store = store_of(tmp_path / "g.zarr", SQUARE, directed=False)
    for options in ({}, {"select": "its"}):
        with pytest.raises(BiasError, match="the bias of edge"):
            arrays_of(
                store,
                tmp_path / "s.zarr",
                "deepwalk",
                device="cuda",
                edge_bias="1.0 - e.dst",
                weighted=False,
                sources=[0],
                **options,
            )


OWN = """
from csaw.engine.algorithm import Walk, option

class Mine(Walk):
    far: float = option(0.0, help="bias")
    jump: int = option(0, help="beyond the vertex")

    def edge_bias(self, e):
        if e.dst == e.prev or e.prev < 0:
            return e.weight
        return e.weight * self.far

    def bias_range(self):
        return (0.0, 1.0, 1.0)

    def update(self, e):
        return e.dst + self.jump
"""


@pytest.mark.parametrize("residency", ["resident", "streamed"])
def test_hooks_of_ones_own_are_checked_where_trials_are(tmp_path, residency):
    """Rows that accept nothing are dead ends, what is no bias or no vertex is named, as on the CPU."""
    store = random_store(tmp_path / "g.zarr", partitions=3)
    (tmp_path / "mine.py").write_text(OWN)
    own, given = f"{tmp_path / 'mine.py'}:Mine", {"device": "cuda", "residency": residency, "walk_length": 6}
    for far in (0.0, 1e-9):
        expected = arrays_of(store, tmp_path / "s.zarr", own, far=far, walk_length=6)
        assert_same(expected, arrays_of(store, tmp_path / "s.zarr", own, far=far, **given))
    with pytest.raises(BiasError, match="the bias of edge"):
        arrays_of(store, tmp_path / "s.zarr", own, far=-1.0, **given)
    with pytest.raises(OptionError, match="expected a vertex below"):
        arrays_of(store, tmp_path / "s.zarr", own, jump=10**6, **given)


@pytest.mark.parametrize("name", nextdoor.SAME)
def test_samplers_in_nextdoors_shape_are_drawn_alike(tmp_path, name):
    store, own = random_store(tmp_path / "g.zarr", clusters=24), f"{nextdoor.written(tmp_path)}:{name}"
    options = nextdoor.SAME[name][0]
    expected = arrays_of(store, tmp_path / "s.zarr", own, **options)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", own, device="cuda", **options))


def test_what_does_not_fit_is_refused_with_the_numbers(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    with pytest.raises(BudgetError, match="this run needs at least .* raise --gpu-memory to"):
        arrays_of(store, tmp_path / "s.zarr", "deepwalk", device="cuda", gpu_memory=100)
    with pytest.raises(OptionError, match="it can use"):
        arrays_of(store, tmp_path / "s.zarr", "deepwalk", device="cuda", layout="entries")


def test_out_of_memory_halves_the_batch(tmp_path, caplog):
    import cupy

    store = random_store(tmp_path / "g.zarr")
    options = {"num_walks": 2000, "walk_length": 40, "seed": 1}
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", **options)
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (64 << 20))
    try:
        with caplog.at_level("INFO"):
            drawn = arrays_of(store, tmp_path / "s.zarr", "deepwalk", device="cuda", in_flight=600_000, **options)
    finally:
        pool.set_limit(size=0)
    assert_same(expected, drawn)
    assert "out of memory with" in caplog.text


def test_nothing_stays_allocated(tmp_path):
    import cupy

    store = random_store(tmp_path / "g.zarr")
    before = cupy.get_default_memory_pool().used_bytes()
    for algo in ("deepwalk", "forest-fire", "multidimensional"):
        arrays_of(store, tmp_path / "s.zarr", algo, device="cuda", instances=50)
        assert cupy.get_default_memory_pool().used_bytes() == before


@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "neighbor", "forest-fire"])
def test_two_backends_on_one_gpu_keep_their_graphs_apart(tmp_path, algo):
    stores = [random_store(tmp_path / f"{seed}.zarr", seed=seed) for seed in (1, 2)]
    jobs = [prepare(store, algo, device="cuda", seed=5, ids="dense") for store in stores]
    opened = [open_backend(job) for job in jobs]
    size = 100
    batches = [
        one.begin(0, job.sources.take(0, size, job.plan.sample_layout == "walks"))
        for one, job in zip(opened, jobs, strict=True)
    ]
    for batch in batches:
        batch.advance()
    for one in opened:
        one.wait()
    drawn = [batch.arrays() for batch in batches]
    for one in opened:
        one.close()
    for store, found in zip(stores, drawn, strict=True):
        expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5)
        for name in found.keys() & expected.keys() - {"instance_ptr"}:
            part = expected[name][: len(found[name])]
            assert np.array_equal(found[name].astype(part.dtype), part), name  # ids are not signed yet


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "ppr", "jump"])
def test_many_walkers_share_warps_and_take_turns(tmp_path, algo, weighted):
    """Few walkers have a warp each; these fill blocks of 64, and then more lanes than there are."""
    store = random_store(tmp_path / "g.zarr")
    for instances, steps in ((40_000, 6), (400_000, 2)):
        options = {"instances": instances, "walk_length": steps, "weighted": weighted}
        expected = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **options)
        assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, seed=5, device="cuda", **options))


@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "neighbor"])
def test_an_instance_at_a_time(tmp_path, algo):
    """C-SAW's baseline, on a graph that is there as a whole: walks begin anywhere, not where lines of memory do."""
    store, options = random_store(tmp_path / "g.zarr"), {"instances": 50, "seed": 5}
    options |= {} if algo == "neighbor" else {"walk_length": 33}
    expected = arrays_of(store, tmp_path / "s.zarr", algo, **options)
    policy = Policy(batching=False)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, device="cuda", policy=policy, **options))


@pytest.mark.parametrize("algo", ["ladies", "fastgcn"])
def test_edges_of_layers_are_the_same_by_bits_and_in_order(tmp_path, algo, monkeypatch):
    store = random_store(tmp_path / "g.zarr", vertices=900, edges=9000)
    options = {"frontier_size": 20, "layer_sizes": (60, 30), "instances": 40, "seed": 5}
    expected, made = arrays_of(store, tmp_path / "s.zarr", algo, **options), []
    for edges in (layers.DeviceLayerEdges, layers.LayerEdges):

        def edges_of(batch, edges=edges):
            made.append(edges)
            return edges(batch)

        monkeypatch.setattr(layers.DeviceLayers, "_edges_to_layers", edges_of)
        assert_same(expected, arrays_of(store, tmp_path / "s.zarr", algo, device="cuda", **options))
    assert {*made} == {layers.DeviceLayerEdges, layers.LayerEdges}


def test_every_kind_has_its_batches():
    assert CudaBackend.batches.keys() == set(BatchKind) - {BatchKind.WHOLE_IN_TIME}
