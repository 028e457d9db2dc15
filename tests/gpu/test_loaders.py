"""Loaders on a GPU: what they give is what the CPU gives, on the device that drew it or on that of the data."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip, need_gpus, need_torch_on_gpu
from helpers.graphs import random_store
from helpers.machine import need_package

device_or_skip()
torch = need_torch_on_gpu()

from csaw.engine.loaders import WalkStream

FIELDS = ("n_id", "e_id", "edge_index", "input_id", "x")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("graph") / "g.zarr", vertices=500, edges=4000)


def test_walks_stay_on_the_device_that_drew_them(store):
    options = {"walk_length": 9, "seed": 3, "walks_per_batch": 64}
    host = list(WalkStream(store, device="cpu", **options))
    for on_device in (False, True):
        found = list(WalkStream(store, device="cuda", on_device=on_device, **options))
        assert {batch.is_cuda for batch in found} == {on_device}
        assert torch.equal(torch.cat(found).cpu(), torch.cat(host))


@pytest.mark.parametrize("disjoint", [False, True])
def test_mini_batches_of_a_store_are_those_of_the_cpu(store, disjoint):
    need_package("torch_geometric")
    from csaw.engine.loaders import NeighborLoader

    x = np.random.default_rng(0).random((500, 4))
    options = {"batch_size": 32, "shuffle": True, "seed": 2, "disjoint": disjoint}
    for values in (x, torch.from_numpy(x).cuda()):
        made = [
            NeighborLoader(store, [4, 3], features={"x": values}, device=device, **options)
            for device in ("cpu", "cuda")
        ]
        for _ in range(2):
            for a, b in zip(*made, strict=True):
                assert b.edge_index.is_cuda
                assert b.n_id.is_cuda
                assert all(torch.equal(a[name].cpu(), b[name].cpu()) for name in FIELDS)
                assert a.num_sampled_nodes == b.num_sampled_nodes
                if disjoint:
                    assert torch.equal(a.batch, b.batch.cpu())


@pytest.mark.parametrize("where", ["cpu", "cuda"])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_mini_batches_are_on_the_device_of_the_data(device, where):
    need_package("torch_geometric")
    from torch_geometric.data import Data
    from torch_geometric.loader import NodeLoader

    from csaw.engine.loaders import NeighborLoader, NeighborSampler

    torch.manual_seed(0)
    data = Data(x=torch.rand(300, 4), edge_index=torch.randint(300, (2, 2000)), edge_attr=torch.arange(2000))
    expected = list(NeighborLoader(data, [4, 3], batch_size=32, device="cpu"))
    there = data.to(where)
    sampler = NeighborSampler(there, [4, 3], device=device)
    for made in (
        NeighborLoader(there, [4, 3], batch_size=32, device=device),
        NodeLoader(there, sampler, batch_size=32),
    ):
        for a, b in zip(expected, made, strict=True):
            assert {b[name].device.type for name in ("n_id", "e_id", "edge_index", "x", "edge_attr")} == {where}
            assert all(torch.equal(a[name], b[name].cpu()) for name in (*FIELDS, "edge_attr"))


@pytest.mark.parametrize("sampling", ["binary", {"mode": "triplet", "amount": 3}])
@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_links_and_their_negatives_are_those_of_the_cpu(where, sampling):
    need_package("torch_geometric")
    from torch_geometric.data import Data

    from csaw.engine.loaders import LinkNeighborLoader

    torch.manual_seed(0)
    data = Data(x=torch.rand(300, 4), edge_index=torch.randint(300, (2, 2000)))
    options = {"batch_size": 64, "shuffle": True, "seed": 4, "neg_sampling": sampling}
    host = LinkNeighborLoader(data, [4, 3], device="cpu", **options)
    there = LinkNeighborLoader(data.to(where), [4, 3], device="cuda", **options)
    ends = (
        ("edge_label_index", "edge_label") if sampling == "binary" else ("src_index", "dst_pos_index", "dst_neg_index")
    )
    for a, b in zip(host, there, strict=True):
        assert all(torch.equal(a[name].cpu(), b[name].cpu()) for name in (*FIELDS, *ends))
        assert b.x.device.type == where


@pytest.mark.parametrize("kind", [{}, {"num_neighbors": [-1, 2]}, {"time_attr": "time"}])
def test_links_are_left_out_as_on_the_cpu(kind):
    need_package("torch_geometric")
    from torch_geometric.data import Data

    from csaw.engine.loaders import LinkNeighborLoader

    draw = np.random.default_rng(0)
    data = Data(edge_index=torch.from_numpy(draw.integers(0, 200, (2, 3000))), num_nodes=200)
    data.time = torch.from_numpy(draw.integers(0, 30, 3000))
    given = {"edge_label_time": data.time[::3]} if "time_attr" in kind else {}
    options = {"num_neighbors": [4, 3], "batch_size": 32, "seed": 5, "exclude_links": True} | kind | given

    def drawn(device):
        loader = LinkNeighborLoader(data, edge_label_index=data.edge_index[:, ::3], device=device, **options)
        return [(batch.n_id.tolist(), batch.e_id.tolist()) for batch in loader]

    assert drawn("cuda") == drawn("cpu")


@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_links_of_types_in_time_are_those_of_the_cpu(mode):
    need_package("torch_geometric")
    from torch_geometric.data import HeteroData

    from csaw.engine.loaders import LinkNeighborLoader

    draw, data, kind = np.random.default_rng(0), HeteroData(), ("author", "writes", "paper")
    data["author"].num_nodes, data["paper"].num_nodes = 80, 120
    ends = np.stack([draw.integers(0, 80, 900), draw.integers(0, 120, 900)])
    data[kind].edge_index = torch.from_numpy(ends)
    data["paper", "by", "author"].edge_index = data[kind].edge_index.flip(0)
    data[kind].time = data["paper", "by", "author"].time = torch.from_numpy(draw.integers(0, 30, 900))
    options = {"time_attr": "time", "edge_label_time": data[kind].time, "negative_time": "until", "skip_full": True}
    options |= {"neg_sampling": {"mode": mode, "amount": 2}, "batch_size": 32, "seed": 5}

    def drawn(device):
        loader = LinkNeighborLoader(data, [4, 3], edge_label_index=kind, device=device, **options)
        return [[batch[name].n_id.tolist() for name in batch.node_types] for batch in loader]

    assert drawn("cuda") == drawn("cpu")


@pytest.mark.parametrize("sampler", ["ladies", "fastgcn"])
def test_layers_are_those_of_the_cpu_on_the_device_that_drew_them(store, sampler):
    from csaw.engine.loaders import LayerLoader

    options = {"batch_size": 32, "shuffle": True, "seed": 2, "sampler": sampler}
    x = torch.rand((500, 4))
    made = [LayerLoader(store, [20, 9], device=device, features=x.to(device), **options) for device in ("cpu", "cuda")]
    for _ in range(2):
        for a, b in zip(*made, strict=True):
            assert all(one.is_cuda for one in (*b.n_ids, *b.adjs, b.x))
            assert all(torch.equal(one, other.cpu()) for one, other in zip(a.n_ids, b.n_ids, strict=True))
            assert all(
                torch.equal(one.to_dense(), other.to_dense().cpu()) for one, other in zip(a.adjs, b.adjs, strict=True)
            )
            assert torch.allclose((a.adjs[0] @ a.x), (b.adjs[0] @ b.x).cpu(), rtol=1e-5)


def test_a_model_on_a_stream_of_its_own_reads_what_is_there(store):
    """Tensors are made on the default stream, which is kept busy here while they are handed out."""
    need_package("torch_geometric")
    from csaw.engine.loaders import NeighborLoader

    x = np.random.default_rng(0).random((500, 4))
    options = {"batch_size": 32, "shuffle": True, "seed": 2}
    host, there = (
        NeighborLoader(store, [4, 3], features={"x": x}, device=device, **options) for device in ("cpu", "cuda")
    )
    torch.cuda._sleep(1 << 28)
    with torch.cuda.stream(torch.cuda.Stream()):
        for a, b in zip(host, there, strict=True):
            assert all(torch.equal(a[name], b[name].cpu()) for name in FIELDS)


TYPES = [("author", "writes", "paper"), ("paper", "rev_writes", "author"), ("paper", "cites", "paper")]
SIZES = {"author": 60, "paper": 200}


def hetero_data():
    from torch_geometric.data import HeteroData

    draw, data = np.random.default_rng(0), HeteroData()
    for name, size in SIZES.items():
        data[name].x = torch.from_numpy(draw.random((size, 3)))
        data[name].time = torch.from_numpy(draw.integers(0, 50, size))
    for one in TYPES:
        data[one].edge_index = torch.from_numpy(np.stack([draw.integers(0, SIZES[one[end]], 900) for end in (0, 2)]))
        data[one].edge_attr = torch.arange(900)
        data[one].weight = torch.from_numpy(draw.integers(1, 9, 900)).float()
    return data


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"disjoint": True},
        {"replace": True, "batch_size": 70},
        {"weight_attr": "weight"},
        {"time_attr": "time", "input_time": torch.arange(0, 100) % 50},
        {"num_neighbors": dict(zip(TYPES, ([3, 0], [-1, 2], [2, 5]), strict=True)), "shuffle": True},
        {"subgraph_type": "bidirectional"},
    ],
    ids=lambda kind: next(iter(kind), "plain"),
)
@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_typed_mini_batches_are_those_of_the_cpu_on_the_device_of_the_data(kind, where):
    need_package("torch_geometric")
    from csaw.engine.loaders import NeighborLoader

    mask = torch.arange(SIZES["paper"]) % 2 == 0
    options = {"num_neighbors": [4, 3], "batch_size": 16, "seed": 3} | kind
    data = hetero_data()
    host = NeighborLoader(data, input_nodes=("paper", mask), device="cpu", **options)
    data = hetero_data().to(where)
    there = NeighborLoader(data, input_nodes=("paper", mask.to(where)), device="cuda", **options)
    for a, b in zip(host, there, strict=True):
        for found, expected in zip((*b.node_stores, *b.edge_stores), (*a.node_stores, *a.edge_stores), strict=True):
            assert set(found.keys()) == set(expected.keys())
            for name, value in expected.items():
                if isinstance(value, torch.Tensor):
                    assert name == "input_id" or found[name].device.type == where, name
                    assert torch.equal(found[name].cpu(), value), name
                else:
                    assert found[name] == value, name


def test_typed_mini_batches_of_a_store_stay_on_the_gpu(tmp_path):
    need_package("torch_geometric")
    import csaw
    from csaw.engine.loaders import NeighborLoader

    csaw.partition(hetero_data(), tmp_path / "g.zarr")
    x = {name: {"x": np.random.default_rng(1).random((size, 2))} for name, size in SIZES.items()}
    options = {"features": x, "input_nodes": "paper", "batch_size": 16, "seed": 3}
    host, there = (NeighborLoader(tmp_path / "g.zarr", [4, 3], device=one, **options) for one in ("cpu", "cuda"))
    for a, b in zip(host, there, strict=True):
        for name in SIZES:
            assert b[name].n_id.is_cuda
            assert torch.equal(b[name].n_id.cpu(), a[name].n_id)
            assert torch.equal(b[name].x.cpu(), a[name].x)
        for found, expected in zip(b.edge_stores, a.edge_stores, strict=True):
            assert found.edge_index.is_cuda
            assert torch.equal(found.edge_index.cpu(), expected.edge_index)


@pytest.mark.parametrize("exclude", [False, True])
def test_links_of_two_gpus_are_those_of_one(exclude):
    need_package("torch_geometric")
    need_gpus()
    from torch_geometric.data import Data

    from csaw.engine.loaders import LinkNeighborLoader

    draw = np.random.default_rng(0)
    data = Data(edge_index=torch.from_numpy(draw.integers(0, 200, (2, 3000))), num_nodes=200)
    options = {"num_neighbors": [4, 3], "batch_size": 32, "seed": 5, "exclude_links": exclude}

    def drawn(device):
        loader = LinkNeighborLoader(data, neg_sampling="binary", device=device, **options)
        return [(batch.n_id.tolist(), batch.e_id.tolist(), batch.edge_label_index.tolist()) for batch in loader]

    assert drawn("cuda:0,1") == drawn("cuda:0")
