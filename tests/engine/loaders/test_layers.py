"""Claims of the loader of layers: its matrices are the sample that csaw stores, their products estimate those of the
whole matrix, and an epoch has each seed once.
"""

import numpy as np
import pytest
from helpers.graphs import arrays_of, random_store, store_of
from helpers.machine import need_package

from csaw.partition.errors import OptionError

torch = need_package("torch")

import csaw
from csaw.engine.loaders import LayerLoader
from csaw.engine.loaders import layers as loader_layers

SIZES = (12, 7)
LITTLE = [
    (0, 2, 3),
    (0, 3, 1),
    (1, 3, 2),
    (1, 4, 4),
    (2, 4, 1),
    (3, 4, 2),
    (4, 5, 1),
    (1, 1, 2),
]  # undirected, with a loop
COPIES = 3000


def loader_of(graph, layer_sizes=SIZES, input_nodes=None, *, batch_size=16, **options):
    return LayerLoader(
        graph,
        list(layer_sizes),
        input_nodes,
        batch_size=batch_size,
        **{"device": "cpu", "seed": 5, "threads": 2} | options,
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("layers") / "g.zarr", vertices=300, edges=4000)


def check_stored(store, out, batches, seeds, sampler, weighted):
    """Mini-batches against what csaw stores for the same seeds, entry for entry."""
    drawn = arrays_of(
        store,
        out,
        sampler,
        sources=np.concatenate(seeds),
        frontier_size=seeds[0].size,
        layer_sizes=SIZES,
        weighted=weighted,
    )
    for i, (batch, these) in enumerate(zip(batches, seeds, strict=True)):
        edges, picks = (slice(*drawn[f"{name}_ptr"][i : i + 2]) for name in ("instance", "vertices"))
        assert batch.n_ids[-1].tolist() == these.tolist()
        for depth, (adj, rows, columns) in enumerate(
            zip(batch.adjs[::-1], batch.n_ids[:0:-1], batch.n_ids[-2::-1], strict=True)
        ):
            here = drawn["depth"][edges] == depth
            expected = np.zeros((rows.numel(), columns.numel()))
            places = [{v: n for n, v in enumerate(ids.tolist())} for ids in (rows, columns)]
            for src, dst, weight in zip(
                *(drawn[name][edges][here].tolist() for name in ("src", "dst", "weight")), strict=True
            ):
                expected[places[0][src], places[1][dst]] += weight
            assert columns.tolist() == np.unique(drawn["vertices"][picks][drawn["layer"][picks] == depth + 1]).tolist()
            assert adj.to_dense().numpy() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("sampler", ["ladies", "fastgcn"])
@pytest.mark.parametrize("weighted", [False, True])
def test_matrices_are_the_sample_that_is_stored(tmp_path, store, sampler, weighted):
    nodes = np.random.default_rng(3).permutation(store.vertices)[:96]
    found = list(loader_of(store, input_nodes=nodes, sampler=sampler, row_normalized=False, weighted=weighted, seed=0))
    check_stored(store, tmp_path / "s.zarr", found, np.split(nodes, 6), sampler, weighted)


@pytest.mark.parametrize("fault", ["find", "float32_of"])
def test_a_fault_would_be_found(tmp_path, store, fault, monkeypatch):
    owner, wrong = {
        "find": (
            loader_layers.Levels,
            lambda self, level, vertex: torch.searchsorted(self.keys, level * self.vertices + vertex),
        ),  # seeds are in no order
        "float32_of": (loader_layers, lambda array: torch.ones(len(array))),
    }[fault]
    monkeypatch.setattr(owner, fault, wrong)
    nodes = np.random.default_rng(3).permutation(store.vertices)[:96]
    found = list(loader_of(store, input_nodes=nodes, row_normalized=False, weighted=False, seed=0))
    with pytest.raises(AssertionError):
        check_stored(store, tmp_path / "s.zarr", found, np.split(nodes, 6), "ladies", False)


def dense(edges, vertices, normalize):
    """The matrix A of undirected edges with weights, from lists."""
    both = [*edges, *((v, u, w) for u, v, w in edges if u != v)]
    degree = [sum(u == v for u, _, _ in both) for v in range(vertices)]
    out = np.zeros((vertices, vertices))
    for u, v, w in both:
        out[u, v] += w / {"symmetric": (degree[u] * degree[v]) ** 0.5, "row": degree[u], "none": 1}[normalize]
    return out


@pytest.mark.parametrize("normalize", ["symmetric", "row", "none"])
def test_products_of_ladies_estimate_those_of_the_whole_matrix(tmp_path, normalize):
    """Copies of a little graph, a mini-batch in each: their products average to the first rows of A and of A A, with a
    standard error of the mean.
    """
    copies = [(u + 6 * i, v + 6 * i, w) for i in range(COPIES) for u, v, w in LITTLE]
    graph = store_of(tmp_path / "g.zarr", copies, directed=False)
    nodes = (6 * np.arange(COPIES)[:, None] + [1, 0]).ravel()
    loader = loader_of(
        graph, (3, 4), nodes, batch_size=2, normalize=normalize, row_normalized=False, weighted=True, in_flight=500
    )
    one, two = np.zeros((COPIES, 2, 6)), np.zeros((COPIES, 2, 6))
    for i, batch in enumerate(loader):
        first, second = (adj.to_dense().double() for adj in batch.adjs[::-1])
        one[i][:, batch.n_ids[1].numpy() - 6 * i] = first
        two[i][:, batch.n_ids[0].numpy() - 6 * i] = first @ second
    matrix = dense(LITTLE, 6, normalize)
    for found, expected in ((one, matrix[[1, 0]]), (two, (matrix @ matrix)[[1, 0]])):
        error = found.std(axis=0) / COPIES**0.5
        assert (np.abs(found.mean(axis=0) - expected) < 5 * error + 1e-6).all()
        assert (error < 0.2 * expected.max()).all()


def test_rows_of_ladies_sum_to_one_unless_they_are_empty(store):
    for sampler, normalized in (("ladies", True), ("fastgcn", False)):
        sums = torch.cat([adj.sum(1).to_dense() for batch in loader_of(store, sampler=sampler) for adj in batch.adjs])
        assert bool((((sums - 1).abs() < 1e-5) | (sums == 0)).all()) == normalized
    [batch] = loader_of(store, batch_size=300, row_normalized=False, weighted=False)
    [other] = loader_of(store, batch_size=300, weighted=False)
    for adj, normed in zip(batch.adjs, other.adjs, strict=True):
        rows = adj.to_dense()
        assert torch.allclose(normed.to_dense(), torch.nan_to_num(rows / rows.sum(1, keepdim=True)), atol=1e-6)


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a.n_ids, b.n_ids, strict=True)) and all(
        torch.equal(x.to_dense(), y.to_dense()) for x, y in zip(a.adjs, b.adjs, strict=True)
    )


def test_an_epoch_has_each_seed_once_and_follows_from_request_and_number(store):
    loader = loader_of(store, shuffle=True, in_flight=3)
    epochs = [list(loader) for _ in range(2)]
    assert loader.epoch == 2
    assert not all(map(same, *epochs))
    again = loader_of(store, shuffle=True, threads=1, in_flight=1)
    again.epoch = 1
    assert all(map(same, epochs[1], again))
    for epoch in epochs:
        assert len(epoch) == len(loader) == 19
        assert sorted(torch.cat([batch.n_ids[-1] for batch in epoch]).tolist()) == list(range(300))
        assert [batch.batch_size for batch in epoch] == [16] * 18 + [12]
    parts = [batch for rank in range(3) for batch in loader_of(store, shuffle=True, rank=rank, world=3)]
    assert all(map(same, epochs[0], parts))
    assert len(list(loader_of(store, drop_last=True))) == 18


def test_a_smaller_last_mini_batch_is_drawn_from_its_own_seeds(store):
    rows = store.load()
    last = list(loader_of(store, batch_size=290, weighted=False))[-1]
    near = {u for v in range(290, 300) for u in rows.indices[rows.indptr[v] : rows.indptr[v + 1]].tolist()}
    assert last.n_ids[-1].tolist() == list(range(290, 300))
    assert set(last.n_ids[-2].tolist()) <= near
    assert last.adjs[-1].shape == (10, last.n_ids[-2].numel())


def test_features_and_labels_of_a_store_are_gathered(store):
    x, y = np.random.default_rng(0).random((300, 4)), torch.arange(300)
    for batch in loader_of(store, features=x, labels=y, input_nodes=[7, 3, 50], batch_size=2):
        assert torch.equal(batch.x, torch.from_numpy(x)[batch.n_ids[0]])
        assert torch.equal(batch.y, batch.n_ids[-1])
    with pytest.raises(OptionError, match=r"labels: expected 300 rows, found the shape \[4\]"):
        loader_of(store, labels=torch.zeros(4))


def test_data_of_pyg_are_sampled_against_the_direction_of_edges_with_self_loops():
    data = need_package("torch_geometric.data").Data
    graph = data(
        x=torch.eye(4),
        y=torch.arange(4),
        edge_index=torch.tensor([[0, 1, 3, 2], [2, 2, 3, 0]]),
        w=torch.tensor([2.0, 4.0, 8.0, 1.0]),
    )
    wide = {"batch_size": 4, "normalize": "row", "row_normalized": False, "weight_attr": "w"}
    means = {loops: torch.zeros(4, 4) for loops in (True, False)}
    for loops, mean in means.items():
        loader = loader_of(graph, (500,), self_loops=loops, **wide)
        for _ in range(20):
            [batch] = loader
            mean += batch.adjs[0] @ batch.x / 20
        assert torch.equal(batch.y, torch.arange(4))
        assert torch.equal(batch.x, torch.eye(4)[batch.n_ids[0]])
    expected = torch.tensor([[1, 0, 1, 0], [0, 2, 0, 0], [4 / 3, 8 / 3, 2 / 3, 0], [0, 0, 0, 16]]) / 2
    assert torch.allclose(means[True], expected, atol=0.15)
    bare = torch.tensor([[0, 0, 1, 0], [0, 0, 0, 0], [1, 2, 0, 0], [0, 0, 0, 8]]).float()
    assert torch.allclose(means[False], bare, atol=0.15)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"sampler": "neighbor"},
            "sampler: expected a sampler of layers, such as ladies or fastgcn, found 'neighbor'",
        ),
        ({"input_nodes": [4, 9, 4]}, "input_nodes: expected different vertices, found 4 more than once"),
        ({"input_nodes": [4, 300]}, "input_nodes: expected numbers of vertices from 0 to 299, found 300"),
        ({"input_nodes": [0.5]}, "input_nodes: expected vertex numbers, or a mask"),
        ({"input_nodes": [True, False]}, "a bool for each of 300 vertices, found 2 bools"),
        ({"input_nodes": []}, "no source to start from"),
        ({"layer_sizes": "64"}, "layer_sizes: expected a list of integers, one for each layer, found '64'"),
        ({"batch_size": 0}, "batch_size: expected an integer from 1 to 2147483647, found 0"),
        ({"batch_size": 301, "drop_last": True}, "drop_last: there are 300 seeds, fewer than batch_size 301"),
        ({"self_loops": True}, "self_loops: the rows of a graph store are sampled as they are"),
        ({"replace": True, "sampler": "fastgcn"}, "^replace is not an option of fastgcn"),
    ],
)
def test_what_cannot_be_drawn_is_refused(store, options, said):
    with pytest.raises(OptionError, match=said):
        LayerLoader(store, **{"layer_sizes": SIZES, "device": "cpu"} | options)


@pytest.mark.parametrize("name", ["frontier_size", "ids", "instances", "sources"])
def test_what_the_loader_decides_is_refused_by_name(store, name):
    with pytest.raises(OptionError, match=f"^{name}: "):
        loader_of(store, **{name: 8})


def test_sums_have_the_same_bits_in_any_order():
    rng = np.random.default_rng(4)
    values, group = (
        torch.from_numpy(rng.random(50_000, np.float32) ** 9 + 1e-12),
        torch.from_numpy(rng.integers(0, 300, 50_000)),
    )
    sums = loader_layers.summed(values, group, 301)
    order = torch.from_numpy(rng.permutation(50_000))
    assert torch.equal(sums, loader_layers.summed(values[order], group[order], 301))
    exact = np.bincount(group.numpy(), values.double().numpy(), 301)
    np.testing.assert_allclose(sums.numpy(), exact, rtol=2e-7)
    alone = torch.tensor([1.7, 3e-30])
    assert torch.equal(loader_layers.summed(alone, torch.tensor([1, 0]), 2), alone[[1, 0]])


def test_an_epoch_may_have_many_mini_batches(store):
    """Passes over a stream are fewer where a sample of all of them would be too large."""
    few, many = (loader_of(store, sizes, batch_size=1) for sizes in ((3, 3), (1 << 20, 1 << 20)))
    assert len(few) == len(many) == store.vertices
    asked = [loader.drawn.stream.job.plan.request.instances for loader in (few, many)]
    assert asked[1] < asked[0] == store.vertices << 20
    assert next(iter(few)).batch_size == 1


@pytest.mark.parametrize("sizes", [[-1], [5, -6], [-5]])
def test_sizes_of_layers_below_0_are_refused(store, sizes):
    with pytest.raises(OptionError, match="^layer_sizes: expected"):
        loader_of(store, sizes)


def test_an_epoch_that_is_none_is_named(store):
    loader = loader_of(store, (1 << 20, 1 << 20), batch_size=1)
    loader.epoch = loader.drawn.epochs - 1
    with pytest.raises(
        OptionError,
        match=f"^epoch: expected an integer from 0 to {loader.drawn.epochs - 1}, found {loader.drawn.epochs}$",
    ):
        loader.epoch = loader.drawn.epochs


def test_the_class_of_fastgcn_is_fastgcn_whose_rows_keep_their_sums():
    from csaw.engine.algorithms.fastgcn import Fastgcn

    sums = [
        next(iter(LayerLoader(csaw.graph("karate"), [40], sampler=one, batch_size=3, seed=1))).adjs[0].to_dense().sum(1)
        for one in ("fastgcn", Fastgcn)
    ]
    assert (sums[0] == sums[1]).all()
    assert not (sums[0] == 1).all()
