"""Loaders on a GPU: what they give is what the CPU gives, on the device that drew it or on that of the data."""

import numpy as np
import pytest
from helpers.gpu import device_or_skip, need_torch_on_gpu
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
