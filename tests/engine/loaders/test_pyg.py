"""Claims of the loaders for PyTorch Geometric: its fields, its direction, its edge numbers, its law; each mini-batch is
a function of the request.
"""

import threading
import time
from collections import Counter

import numpy as np
import pytest
from helpers import graphs
from helpers.expanded import assert_new_nodes_select
from helpers.machine import need_package
from helpers.stats import assert_drawn_from

import csaw
from csaw.partition.errors import OptionError, StoreError

torch = need_package("torch")
pyg = need_package("torch_geometric")

from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import LinkLoader, LinkNeighborLoader, NodeLoader
from torch_geometric.sampler import NegativeSampling

from csaw.engine.loaders import LayerLoader, NeighborLoader, NeighborSampler
from csaw.engine.loaders import graphs as loader_graphs

FORKS = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
KINDS = [{}, {"disjoint": True}, {"replace": True}, {"num_neighbors": [-1, 2]}, {"weight_attr": "edge_weight"}]


def random_data(vertices=60, edges=400, seed=0):
    """A directed graph with self loops, repeated edges and vertices without edges, its edges in no order."""
    rng = np.random.default_rng(seed)
    ends = (rng.random((2, edges)) ** 1.5 * (vertices - 3)).astype(np.int64)
    return Data(
        x=torch.from_numpy(rng.random((vertices, 4), np.float32)),
        y=torch.arange(vertices) * 10,
        edge_index=torch.from_numpy(ends),
        edge_attr=torch.from_numpy(rng.random((edges, 2))),
        edge_weight=torch.from_numpy(rng.integers(1, 9, edges)).float(),
        train_mask=torch.from_numpy(rng.random(vertices) < 0.5),
        name="a graph",
    )


@pytest.fixture(scope="module")
def data():
    return random_data()


def loader_of(data, num_neighbors=(4, 3), input_nodes=None, *, batch_size=16, **options):
    return NeighborLoader(
        data, list(num_neighbors), input_nodes, batch_size=batch_size, **{"device": "cpu", "seed": 5} | options
    )


def check_batch(data, batch, num_neighbors, *, replace=False, disjoint=False, **_):
    """A mini-batch against the definition, by lists: which edges it may have, and how many of each vertex."""
    source, target = batch.edge_index.tolist()
    n_id, columns = batch.n_id.tolist(), batch.e_id.tolist()
    ends = data.edge_index.tolist()
    owner = batch.batch.tolist() if disjoint else [0] * len(n_id)
    for s, t, e in zip(source, target, columns, strict=True):
        assert (n_id[s], n_id[t]) == (ends[0][e], ends[1][e])
        assert owner[s] == owner[t]
    assert len(set(zip(owner, n_id, strict=True))) == len(n_id), "each vertex is one node"
    in_degree = Counter(ends[1])
    assert_new_nodes_select(
        num_neighbors,
        [in_degree[v] for v in n_id],
        target,
        batch.num_sampled_nodes,
        batch.num_sampled_edges,
        replace=replace,
    )
    hops, edges = np.cumsum([0, *batch.num_sampled_nodes]), np.cumsum([0, *batch.num_sampled_edges])
    for hop in range(len(num_neighbors)):
        met = [s for s in source[edges[hop] : edges[hop + 1]] if s >= hops[hop + 1]]
        assert list(dict.fromkeys(met)) == list(range(hops[hop + 1], hops[hop + 2])), "in order of first meeting"
        if not replace:
            picked = [(t, e) for t, e in zip(target, columns, strict=True)]
            assert len(set(picked)) == len(picked)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_mini_batches_are_as_they_are_defined(data, kind):
    kind = {"num_neighbors": [4, 3]} | kind
    seen = []
    for batch in loader_of(data, **kind):
        check_batch(data, batch, **kind)
        assert batch.n_id[: batch.batch_size].tolist() == batch.input_id.tolist()
        seen += batch.input_id.tolist()
    assert seen == list(range(data.num_nodes))


@pytest.mark.parametrize("disjoint", [False, True])
def test_a_mini_batch_has_the_fields_of_pyg(data, disjoint):
    batch = next(iter(loader_of(data, input_nodes=data.train_mask, disjoint=disjoint)))
    own = {"n_id", "e_id", "num_sampled_nodes", "num_sampled_edges", "input_id", "batch_size"}
    assert isinstance(batch, Data)
    held = {key for key, value in batch.to_dict().items() if value is not None}
    assert held == {*data.keys(), *own} | ({"batch"} if disjoint else set())
    for name in ("edge_index", "n_id", "e_id", "input_id", *(["batch"] if disjoint else [])):
        assert batch[name].dtype == torch.int64, name
    assert isinstance(batch.batch_size, int)
    assert all(isinstance(count, int) for count in batch.num_sampled_nodes + batch.num_sampled_edges)
    for name in ("x", "y", "train_mask"):
        assert torch.equal(batch[name], data[name][batch.n_id]), name
    for name in ("edge_attr", "edge_weight"):
        assert torch.equal(batch[name], data[name][batch.e_id]), name
    assert batch.num_nodes == len(batch.n_id)
    assert batch.name == data.name
    assert bool(data.train_mask[batch.input_id].all()), "of a mask, input_id is the node, as in PyG"
    listed = next(iter(loader_of(data, input_nodes=[7, 3, 50], batch_size=2)))
    assert (listed.input_id.tolist(), listed.n_id[:2].tolist()) == ([0, 1], [7, 3])
    if disjoint:
        assert batch.batch[: batch.batch_size].tolist() == list(range(batch.batch_size))


@pytest.mark.parametrize("weight_attr", [None, "edge_weight"])
def test_edges_are_drawn_from_their_law(data, weight_attr):
    hub = int(data.edge_index[1].bincount().argmax())
    [batch] = loader_of(data, [1], [hub] * 6000, batch_size=6000, disjoint=True, weight_attr=weight_attr)
    drawn = batch.e_id.numpy()
    chances = (data.edge_index[1] == hub) * (data.edge_weight if weight_attr else 1.0)
    assert_drawn_from(np.bincount(drawn, minlength=data.num_edges), chances)


@pytest.mark.parametrize("fault", ["order", "direction"])
def test_a_fault_would_be_found(data, monkeypatch, fault):
    graph, ends = loader_graphs.graph_of(data), loader_graphs._edges_of
    if fault == "order":
        wrong = graph._replace(order=torch.arange(data.num_edges))
        monkeypatch.setattr("csaw.engine.loaders.neighbor_loader.graph_of", lambda *_, **__: wrong)
    else:
        monkeypatch.setattr(loader_graphs, "_edges_of", lambda data: ends(data)[::-1])
    batch = next(iter(loader_of(data)))
    with pytest.raises(AssertionError):
        check_batch(data, batch, [4, 3])


def same(a, b):
    return all(torch.equal(a[name], b[name]) for name in ("n_id", "e_id", "edge_index", "input_id"))


def test_mini_batches_are_a_function_of_request_and_epoch(data):
    first = [list(loader_of(data, shuffle=True)) for _ in range(2)]
    other = loader_of(data, shuffle=True, threads=1, in_flight=1)
    passes = [list(other), list(other)]
    assert other.epoch == 2
    other.epoch = 1
    passes.append(list(other))
    for a, b in ((first[0], first[1]), (first[0], passes[0]), (passes[1], passes[2])):
        assert len(a) == len(b) == len(other)
        assert all(map(same, a, b))
    assert not any(map(same, passes[0], passes[1]))
    assert not same(first[0][0], next(iter(loader_of(data, shuffle=True, seed=6))))
    seeds = torch.cat([batch.input_id for batch in passes[0]]).tolist()
    assert sorted(seeds) == list(range(data.num_nodes)) != seeds


def test_processes_divide_each_epoch(data):
    whole, parts = loader_of(data, shuffle=True), [loader_of(data, shuffle=True, rank=r, world=3) for r in range(3)]
    for _ in range(2):
        together = [batch for part in parts for batch in part]
        assert len(together) == len(whole) == sum(map(len, parts))
        assert all(map(same, together, whole))


def test_a_last_mini_batch_is_smaller_or_left_out(data):
    sizes = [batch.batch_size for batch in loader_of(data)]
    assert sizes == [16, 16, 16, 12]
    loader = loader_of(data, drop_last=True)
    assert [batch.batch_size for batch in loader] == [16, 16, 16]
    assert len(loader) == 3


def test_subgraphs_may_be_bidirectional(data):
    plain, both = (next(iter(loader_of(data, subgraph_type=kind))) for kind in ("directional", "bidirectional"))
    assert torch.equal(plain.n_id, both.n_id)
    edges = set(map(tuple, plain.edge_index.t().tolist()))
    assert set(map(tuple, both.edge_index.t().tolist())) == edges | {(t, s) for s, t in edges}


def test_induced_subgraphs_have_all_edges_among_their_nodes(tmp_path, data):
    graph = loader_graphs.graph_of(data).store
    store = graphs.write_graph(tmp_path / "g.zarr", graph.indptr, graph.indices, directed=True)
    made = loader_of(data, subgraph_type="induced"), loader_of(data), loader_of(store, subgraph_type="induced")
    for batch, plain, stored in zip(*made, strict=True):
        assert torch.equal(batch.n_id, plain.n_id)
        inside = torch.isin(data.edge_index, batch.n_id).all(0).nonzero().view(-1)
        assert sorted(batch.e_id.tolist()) == inside.tolist()
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        assert torch.equal(batch.edge_attr, data.edge_attr[batch.e_id])
        assert torch.equal(stored.edge_index, batch.edge_index)
    twice = next(iter(loader_of(data, input_nodes=[4, 4, 5], subgraph_type="induced")))
    assert sorted(twice.e_id.tolist()) == torch.isin(data.edge_index, twice.n_id).all(0).nonzero().view(-1).tolist()
    sampler = NeighborSampler(data, [4, 3], subgraph_type="induced", device="cpu", seed=5)
    for a, b in zip(NodeLoader(data, sampler, batch_size=16), loader_of(data, subgraph_type="induced"), strict=True):
        assert same(a, b)
        assert "num_sampled_edges" not in a


def test_transforms_see_what_pyg_shows_them(data):
    shown = []
    loader = loader_of(
        data,
        transform=lambda batch: (shown.append(batch), len(batch.n_id))[1],
        transform_sampler_output=lambda out: (shown.append(out), out)[1],
    )
    size = next(iter(loader))
    assert shown[0].node.numel() == size
    assert shown[1].x.shape == (size, 4)


def test_a_store_brings_features_of_any_kind(tmp_path, data):
    graph = loader_graphs.graph_of(data).store
    store = graphs.write_graph(
        tmp_path / "g.zarr", graph.indptr, graph.indices, directed=True, vertex_ids=100 + np.arange(60)
    )
    np.save(tmp_path / "x.npy", data.x.numpy())
    features = {"x": np.load(tmp_path / "x.npy", mmap_mode="r"), "y": data.y, "z": np.arange(60)}
    made = loader_of(
        tmp_path / "g.zarr",
        input_nodes=data.train_mask,
        features=features,
        edge_features={"edge_attr": np.arange(store.edges)},
    )
    for batch, plain in zip(made, loader_of(data, input_nodes=data.train_mask), strict=True):
        assert torch.equal(batch.n_id, plain.n_id)
        assert torch.equal(batch.x, plain.x)
        assert torch.equal(batch.y, plain.y)
        assert torch.equal(batch.z, batch.n_id)
        assert torch.equal(batch.edge_attr, batch.e_id)
        assert torch.equal(batch.edge_index, plain.edge_index)
        assert torch.equal(batch.input_id, plain.input_id)
    with pytest.raises(OptionError, match=r"x: expected 60 rows, found the shape \[59, 4\]"):
        loader_of(store, features={"x": data.x[1:]})


def test_seeds_of_a_file_bring_their_labels(tmp_path):
    store = graphs.random_store(tmp_path / "g.zarr", vertices=60, edges=400)
    (tmp_path / "seeds.txt").write_text("".join(f"{vertex} {vertex / 4}\n" for vertex in range(40, 10, -1)))
    loader = loader_of(store, batch_size=7, shuffle=True, sources=str(tmp_path / "seeds.txt"))
    batches = list(loader)
    for batch in batches:
        assert batch.y.shape == (batch.batch_size,)
        assert torch.equal(batch.y, batch.n_id[: batch.batch_size] / 4)
    assert sorted(torch.cat([batch.input_id for batch in batches]).tolist()) == list(range(30))
    with pytest.raises(OptionError, match="sources: expected either input_nodes or sources .* found both"):
        loader_of(store, input_nodes=[3], sources=str(tmp_path / "seeds.txt"))


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=FORKS)])
def test_pygs_node_loader_takes_the_sampler(data, workers):
    sampler = NeighborSampler(data, [4, 3], device="cpu", seed=5)
    next(iter(NodeLoader(data, sampler, batch_size=4)))  # opens the device in this process, whose workers cannot use it
    loader = NodeLoader(data, sampler, input_nodes=data.train_mask, batch_size=8, shuffle=True, num_workers=workers)
    epochs = [list(loader) for _ in range(2)]
    for batches in epochs:
        for batch in batches:
            check_batch(data, batch, [4, 3])
            assert torch.equal(batch.x, data.x[batch.n_id])
        assert sorted(torch.cat([b.input_id for b in batches]).tolist()) == data.train_mask.nonzero().view(-1).tolist()
    in_order = NodeLoader(data, sampler, batch_size=60, num_workers=workers)
    assert not same(*(next(iter(in_order)) for _ in range(2))), "another epoch draws other neighbors"
    sampler.close()


def test_the_sampler_draws_the_mini_batches_of_the_loader(data):
    sampler = NeighborSampler(data, [4, 3], device="cpu", seed=5)
    for a, b in zip(NodeLoader(data, sampler, batch_size=16), loader_of(data), strict=True):
        assert same(a, b)


def test_pygs_link_neighbor_loader_takes_the_sampler(data):
    sampler = NeighborSampler(data, list(np.array([4, 3])), device="cpu")
    loader = LinkNeighborLoader(data, [4, 3], neighbor_sampler=sampler, batch_size=10, neg_sampling="binary")
    batch = next(iter(loader))
    assert torch.equal(batch.n_id[batch.edge_label_index[:, :10]], data.edge_index[:, :10])
    assert batch.edge_label.tolist() == [1.0] * 10 + [0.0] * 10


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("negatives", [None, "binary", "triplet"])
def test_pygs_link_loader_takes_the_sampler(data, negatives, disjoint):
    torch.manual_seed(1)
    sampler = NeighborSampler(data, [4, 3], device="cpu", disjoint=disjoint)
    negative = None if negatives is None else NegativeSampling(negatives, 2)
    batch = next(
        iter(LinkLoader(data, sampler, edge_label_index=data.edge_index[:, :10], neg_sampling=negative, batch_size=10))
    )
    source, target = batch.edge_index
    assert torch.equal(data.edge_index[:, batch.e_id], torch.stack([batch.n_id[source], batch.n_id[target]]))
    if negatives == "triplet":
        ends = torch.stack([batch.src_index, batch.dst_pos_index])
        assert batch.dst_neg_index.shape == (10, 2)
    else:
        ends = batch.edge_label_index[:, :10]
        assert batch.edge_label_index.shape == (2, 10 if negatives is None else 30)
    assert torch.equal(batch.n_id[ends], data.edge_index[:, :10])
    if negatives == "binary":
        assert batch.edge_label.tolist() == [1.0] * 10 + [0.0] * 20


def test_the_next_epoch_is_begun_while_the_model_trains(data):
    loader, other = loader_of(data, shuffle=True), loader_of(data, shuffle=True)
    assert len(list(loader)) == len(loader)
    assert loader._begun[0] == 1
    for epoch in (1, 5):  # the one that is begun, and one in its place
        loader.epoch = other.epoch = epoch
        assert all(same(a, b) for a, b in zip(loader, other, strict=True))


def test_a_transform_is_called_by_one_thread_at_a_time_in_order(data):
    """Also while the next epoch is begun: only for mini-batches that a loop asks for, or would next."""

    def transform(batch):
        running.append(batch)
        time.sleep(0.002)
        most.append(len(running))
        running.remove(batch)
        called.append(batch.input_id.tolist())
        return batch

    running, most, called, given = [], [], [], []
    loader = loader_of(data, shuffle=True, transform=transform)
    for _ in range(3):
        given += [batch.input_id.tolist() for batch in loader]
    assert called == given
    assert {*most} == {1}


def test_a_loop_may_be_left_at_any_point(data):
    before = threading.active_count()
    loader = loader_of(data, batch_size=1)
    for number in (1, 3):
        for at, _ in enumerate(loader):
            if at == number:
                break
    assert [batch.batch_size for batch in loader] == [1] * 60
    loader.close()
    del loader
    end = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_an_error_while_drawing_is_raised_in_the_loop(data):
    def broken(batch):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        next(iter(loader_of(data, transform=broken)))


def test_a_graph_without_edges_gives_its_seeds():
    bare = Data(x=torch.ones(5, 2), edge_index=torch.empty((2, 0), dtype=torch.int64))
    [batch] = loader_of(bare)
    assert batch.n_id.tolist() == [0, 1, 2, 3, 4]
    assert batch.edge_index.shape == (2, 0)
    assert batch.num_sampled_nodes == [5, 0, 0]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"data": HeteroData()}, "HeteroData: expected at least one edge type, found none"),
        ({"data": Data(x=torch.ones(3, 1))}, "data.edge_index: expected an int64 tensor .* found none"),
        ({"data": Data(adj_t=torch.ones(3, 3).to_sparse())}, "found none; leave out ToSparseTensor"),
        (
            {"data": Data(edge_index=torch.tensor([[0, 5], [1, 0]]), num_nodes=3)},
            "expected vertices from 0 to 2, found 0 to 5",
        ),
        ({"num_neighbors": {"a": [2]}}, "num_neighbors: expected a list of integers"),
        ({"input_nodes": [99]}, "input_nodes: expected numbers of vertices from 0 to 59, found 99"),
        ({"weight_attr": "nothing"}, "weight_attr: data has no attribute 'nothing'; it has edge_attr, "),
        ({"weight_attr": "x"}, "weight_attr: expected a number for each of 400 edges"),
        ({"subgraph_type": "induced", "disjoint": True}, "induced subgraphs are not disjoint"),
        ({"subgraph_type": "whole"}, "subgraph_type: expected directional, "),
        ({"batch_size": 0}, "^batch_size: expected"),
        ({"rank": 3, "world": 3}, "expected 0 <= rank < world"),
        ({"walk_length": 3}, "^walk_length is not an option of minibatch"),
    ],
)
def test_what_cannot_be_is_refused(data, wrong, said):
    asked = {"data": data, "num_neighbors": [2]} | wrong
    with pytest.raises(OptionError, match=said):
        NeighborLoader(**asked)


def test_a_negative_weight_and_times_are_refused(data):
    bad = random_data()
    bad.edge_weight[3] = -1
    with pytest.raises(StoreError, match="weight_attr: expected finite numbers of at least 0"):
        loader_of(bad, weight_attr="edge_weight")
    timed = NodeLoader(data, NeighborSampler(data, [2], device="cpu"), input_time=torch.arange(60), batch_size=4)
    with pytest.raises(OptionError, match="for temporal sampling use csaw's NeighborLoader"):
        next(iter(timed))


@pytest.mark.parametrize("epoch", [0, 65_536, 2**20 - 1])
def test_a_loader_has_a_million_epochs(tmp_path, epoch):
    loader = loader_of(graphs.random_store(tmp_path / "g.zarr", vertices=60, edges=400), shuffle=True)
    loader.epoch = epoch
    assert sorted(torch.cat([batch.input_id for batch in loader]).tolist()) == list(range(60))


@pytest.mark.parametrize("epoch", [-1, 2**20, 1.0, "a", None])
def test_an_epoch_that_is_none_is_named(tmp_path, epoch):
    loader = loader_of(graphs.random_store(tmp_path / "g.zarr", vertices=60, edges=400))
    with pytest.raises(OptionError, match=f"epoch: expected an integer from 0 to {2**20 - 1}, found {epoch!r}"):
        loader.epoch = epoch
    assert len(list(loader)) == len(loader)


@pytest.mark.parametrize("node", [-1, 60])
def test_seeds_outside_the_graph_are_named(tmp_path, node):
    store = graphs.random_store(tmp_path / "g.zarr", vertices=60, edges=400)
    with pytest.raises(OptionError, match=f"input_nodes: expected numbers of vertices from 0 to 59, found {node}"):
        loader_of(store, input_nodes=torch.tensor([0, node]))


@pytest.mark.parametrize("made", [list, tuple, np.array, torch.tensor])
def test_a_mask_is_one_whatever_holds_it(data, made):
    mask = [node % 7 == 2 for node in range(60)]
    for loader in (loader_of(data, input_nodes=made(mask)), LayerLoader(data, [4], made(mask), device="cpu")):
        assert torch.cat([seeds_of(batch) for batch in loader]).tolist() == list(range(2, 60, 7))


def seeds_of(batch):
    """The seeds of a mini-batch of neighbors or of layers."""
    return batch.n_ids[-1] if hasattr(batch, "n_ids") else batch.n_id[: batch.batch_size]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([2.9], r"\[2.9\]"),
        (torch.tensor([1.5]), r"tensor\(\[1.5000\]\)"),
        (np.array([2.7]), r"array\(\[2.7\]\)"),
        (["a"], r"\['a'\]"),
        ([True, 3], r"\[True, 3\]"),
        ([[1], [2, 3]], r"\[\[1\], \[2, 3\]\]"),
        (3, "3"),
        (torch.tensor([True, False, True]), "3 bools"),
        (np.ones(61, bool), "61 bools"),
    ],
)
def test_seeds_that_are_no_vertices_are_refused_by_all_loaders(data, given, found):
    said = f"^input_nodes: expected vertex numbers, or a mask with a bool for each of 60 .*, found {found}$"
    with pytest.raises(OptionError, match=said):
        loader_of(data, input_nodes=given)
    with pytest.raises(OptionError, match=said):
        LayerLoader(data, [4], given, device="cpu")


def test_a_sampler_refuses_seeds_with_fractions(data):
    loader = NodeLoader(data, NeighborSampler(data, [2], device="cpu"), input_nodes=torch.tensor([1.5]))
    with pytest.raises(OptionError, match=r"^seeds: expected vertices, a tensor of integers, found torch.float32"):
        next(iter(loader))


@pytest.mark.parametrize("kind", ["name", "file", "list", "table"])
def test_loaders_take_all_graphs_that_csaw_takes(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    pandas = need_package("pandas")
    edges = [(0, 1), (1, 2), (2, 0), (0, 2)]
    (tmp_path / "edges.txt").write_text("".join(f"{a} {b}\n" for a, b in edges))
    table = pandas.DataFrame(edges, columns=["x", "y"])
    graph = {"name": "karate", "file": tmp_path / "edges.txt", "list": edges, "table": table}[kind]
    store = csaw.graph(graph)
    both = [list(loader_of(one, batch_size=3)) for one in (graph, store)]
    assert all(torch.equal(a.n_id, b.n_id) and torch.equal(a.e_id, b.e_id) for a, b in zip(*both, strict=True))
    layers = [list(LayerLoader(one, [4], batch_size=3, device="cpu")) for one in (graph, store)]
    assert all(torch.equal(a.n_ids[0], b.n_ids[0]) and a.x is None for a, b in zip(*layers, strict=True))
    NeighborSampler(graph, [2], device="cpu").close()
