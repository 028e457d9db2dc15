"""Claims of the loaders about arguments of PyTorch Geometric's: a script that is written for those needs another import
alone, workers are ignored with one warning, and what would change the mini-batches is refused.
"""

import inspect
import textwrap
import warnings

import pytest
from helpers.machine import need_package

from csaw.partition.errors import OptionError

torch = need_package("torch")
pyg = need_package("torch_geometric")

from torch.utils.data import DataLoader
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader as PygLoader
from torch_geometric.loader import NodeLoader
from torch_geometric.sampler import NeighborSampler as PygSampler

from csaw.engine.loaders import LayerLoader, NeighborLoader, NeighborSampler

HERE = {"device": "cpu", "batch_size": 4}

# What PyTorch Geometric's tutorial on neighbor sampling and its example on Reddit call and read of a loader.
SCRIPT = """
    import copy

    import torch
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader
    from torch_geometric.nn import SAGEConv

    ends = torch.tensor([[2, 3, 3, 4, 5, 6, 7], [0, 0, 1, 1, 2, 3, 4]])
    data = Data(x=torch.eye(8), y=torch.arange(8) % 2, edge_index=ends, train_mask=torch.arange(8) < 2)

    loader = NeighborLoader(
        data, input_nodes=torch.tensor([0, 1]), num_neighbors=[2, 1], batch_size=1, replace=False, shuffle=False
    )
    first = next(iter(loader))

    kwargs = {"batch_size": 4, "num_workers": 6, "persistent_workers": True}
    train_loader = NeighborLoader(data, input_nodes=data.train_mask, num_neighbors=[25, 10], shuffle=True, **kwargs)
    subgraph_loader = NeighborLoader(copy.copy(data), input_nodes=None, num_neighbors=[-1], shuffle=False, **kwargs)
    del subgraph_loader.data.x, subgraph_loader.data.y
    subgraph_loader.data.num_nodes = data.num_nodes
    subgraph_loader.data.n_id = torch.arange(data.num_nodes)

    conv = SAGEConv(8, 2)
    optimizer = torch.optim.Adam(conv.parameters(), lr=0.01)
    seen = 0
    for batch in train_loader:
        optimizer.zero_grad()
        out = conv(batch.x, batch.edge_index)[: batch.batch_size]
        torch.nn.functional.cross_entropy(out, batch.y[: batch.batch_size]).backward()
        optimizer.step()
        seen += batch.batch_size
    assert seen == len(train_loader.dataset) == 2

    with torch.no_grad():
        parts = [conv(data.x[batch.n_id], batch.edge_index)[: batch.batch_size] for batch in subgraph_loader]
        whole = conv(data.x, data.edge_index)
    assert len(subgraph_loader.dataset) == 8
"""


@pytest.fixture
def data():
    return Data(edge_index=torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]]), num_nodes=6)


def test_a_script_for_pyg_runs_with_another_import_alone():
    script = textwrap.dedent(SCRIPT).replace(
        "from torch_geometric.loader import NeighborLoader", "from csaw.engine.loaders import NeighborLoader"
    )
    found = {}
    with pytest.warns(UserWarning, match="NeighborLoader ignores num_workers=6, persistent_workers=True"):
        exec(script, found)  # noqa: S102 - a user's script, as it stands
    assert found["first"].edge_index.tolist() == [[1, 2, 3, 4], [0, 0, 1, 2]]
    assert found["first"].n_id.tolist() == [0, 2, 3, 5, 6]
    assert torch.allclose(torch.cat(found["parts"]), found["whole"], atol=1e-6)


def defaults(*functions):
    """The optional arguments of functions with their values."""
    taken = [one for function in functions for one in inspect.signature(function).parameters.values()]
    return {one.name: one.default for one in taken if one.default is not inspect.Parameter.empty}


def own(kind):
    return inspect.signature(kind).parameters.keys()


def test_every_argument_of_pygs_loader_may_have_its_own_default(data):
    known = defaults(PygLoader, NodeLoader, DataLoader)
    assert {"is_sorted", "time_attr", "num_workers", "pin_memory", "multiprocessing_context"} <= known.keys()
    given = {name: value for name, value in known.items() if name not in own(NeighborLoader)}
    assert len(list(NeighborLoader(data, [2], **HERE, **given))) == 2
    layers = {name: value for name, value in defaults(DataLoader).items() if name not in own(LayerLoader)}
    assert len(list(LayerLoader(data, [2], **HERE, **layers))) == 2
    sampler = {name: value for name, value in defaults(PygSampler).items() if name not in own(NeighborSampler)}
    assert len(list(NodeLoader(data, NeighborSampler(data, [2], device="cpu", **sampler), batch_size=4))) == 2


def test_workers_are_ignored_with_one_warning_that_says_why(data):
    plain = list(NeighborLoader(data, [2], **HERE))
    asked = {"num_workers": 4, "persistent_workers": True, "prefetch_factor": 2, "multiprocessing_context": "spawn"}
    with pytest.warns(UserWarning, match="ignored|ignores") as warned:
        found = list(NeighborLoader(data, [2], **HERE, **asked, pin_memory=True, filter_per_worker=True))
    [one] = warned
    assert one.filename == __file__
    assert str(one.message) == (
        "NeighborLoader ignores num_workers=4, persistent_workers=True, prefetch_factor=2, "
        "multiprocessing_context='spawn': csaw draws mini-batches in threads of this process, ahead of the model and "
        "in order, and needs no worker processes; pin_memory=True is ignored: mini-batches are not pinned; call "
        "pin_memory() in transform"
    )
    assert all(torch.equal(a.e_id, b.e_id) for a, b in zip(plain, found, strict=True))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"input_time": torch.arange(6)}, "input_time: expected time_attr with it"),
        ({"temporal_strategy": "last"}, "temporal_strategy: expected time_attr with it"),
        ({"directed": False}, 'directed: expected True, found False; use subgraph_type="induced"'),
        ({"generator": torch.Generator()}, "generator: expected None, .*; seed= decides all draws"),
        ({"batch_sampler": [[0]]}, "batch_sampler: expected None, .*which seeds a mini-batch has"),
        ({"neighbor_sampler": object()}, "neighbor_sampler: .*use PyTorch Geometric's NodeLoader"),
        ({"num_worker": 2}, "num_worker is not an option of minibatch"),
    ],
)
def test_what_would_change_the_mini_batches_is_refused(data, given, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(OptionError, match=said):
            NeighborLoader(data, [2], **HERE, **given)
