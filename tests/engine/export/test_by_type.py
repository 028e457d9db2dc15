"""Exports of samples with fanouts by relation as PyTorch Geometric's HeteroData, and what manifests say of types."""

import numpy as np
import pytest
from helpers.forged import forged
from helpers.machine import need_package
from helpers.relations import FANOUT, SEEDS, TIMED, graph_in_time, partitioned

import csaw
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.types import RELATION

torch = need_package("torch")
need_package("torch_geometric")

from torch_geometric.data import HeteroData

from csaw.engine.loaders import NeighborLoader

OPTIONS = {"algo": "minibatch", "device": "cpu", "progress": False}


def read(path):
    return HeteroData(torch.load(path, weights_only=True))


def same(one, other, fields):
    for field in fields:
        a, b = getattr(one, field), getattr(other, field)
        assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b, field


@pytest.mark.parametrize("disjoint", [False, True])
def test_a_mini_batch_is_that_of_the_loader(tmp_path, store, disjoint):
    fanouts = {one: [3, 2] for one in store.types.edge_types}
    options = {"disjoint": disjoint, "seed": 7}
    loader = NeighborLoader(store, fanouts, "b", batch_size=200, device="cpu", **options)
    asked = {"fanout": {"*": (3, 2)}, "sources": "type:b", "seeds_per_batch": 200, "weighted": False}
    sample = csaw.sample(store, **OPTIONS | asked | options)
    assert len(loader) == sample.instances == 5
    for number, expected in enumerate(loader):
        csaw.export(sample.part(number, number + 1), tmp_path / "one.pt", overwrite=True)
        found = read(tmp_path / "one.pt")
        assert sorted(found.node_types) == sorted(expected.node_types)
        assert sorted(found.edge_types) == sorted(expected.edge_types)
        for name in expected.node_types:
            same(found[name], expected[name], ["n_id", "num_sampled_nodes", "num_nodes", *["batch"] * disjoint])
        for one in expected.edge_types:
            same(found[one], expected[one], ["edge_index", "e_id", "num_sampled_edges"])
        same(found["b"], expected["b"], ["input_id", "batch_size"])
        assert "input_id" not in found["a"]


def test_all_mini_batches_together_are_edges_of_the_graph(tmp_path, store):
    sample = csaw.sample(store, tmp_path / "s.zarr", fanout=FANOUT, seeds_per_batch=64, **OPTIONS)
    csaw.export(tmp_path / "s.zarr", tmp_path / "all.pt")
    found, graph, names = read(tmp_path / "all.pt"), store.load([RELATION]), sample.names(np.arange(store.vertices))
    source, seeds = np.repeat(np.arange(store.vertices), np.diff(graph.indptr)), 0
    for name in store.types.names:
        held, (first, last) = found[name], store.types.span(name)
        assert held.original_id == names[first:last].tolist()
        assert held.num_nodes == held.n_id.numel() == sum(held.num_sampled_nodes)
        assert held.batch.max() < sample.instances
        assert torch.equal(held.n_id[: held.batch_size] + first, held.input_id)  # all vertices are sources, in order
        seeds += held.batch_size
    assert seeds == store.vertices
    edges = 0
    for number, one in enumerate(store.types.edge_types):
        held, e_id = found[one], found[one].e_id.numpy()
        row, col = (found[one[end]].n_id[held.edge_index[k]].numpy() for k, end in ((0, 0), (1, 2)))
        assert (graph.columns["relation"][e_id] == number).all()
        assert np.array_equal(graph.indices[e_id] - store.types.span(one[0])[0], row)
        assert np.array_equal(source[e_id] - store.types.span(one[2])[0], col)
        owners = (found[one[end]].batch[held.edge_index[k]] for k, end in ((0, 0), (1, 2)))
        assert torch.equal(*owners)
        assert sum(held.num_sampled_edges) == e_id.size
        edges += e_id.size
    assert edges == sample["relation"][:].size > 0


def test_arrays_for_models_of_one_type_have_the_types(tmp_path, store):
    sample = csaw.sample(store, fanout=FANOUT, sources="type:b", seeds_per_batch=64, **OPTIONS)
    batch = sample.pyg()
    assert np.array_equal(batch["node_type"], store.types.of(batch["n_id"]))
    assert np.array_equal(batch["edge_type"], store.load([RELATION]).columns["relation"][batch["e_id"]])
    ends = np.array([(one[0], one[2]) for one in store.types.edge_types])
    kinds = np.array(store.types.names)[batch["node_type"]][batch["edge_index"]]
    assert np.array_equal(ends[batch["edge_type"]].T, kinds)
    csaw.export(sample, tmp_path / "all.npz")
    with np.load(tmp_path / "all.npz") as file:
        assert np.array_equal(file["edge_type"], batch["edge_type"])
    assert "node_type" not in csaw.sample(store, fanout=(2, 2), **OPTIONS).pyg()


def test_times_of_seeds_and_edges_are_those_of_their_types(tmp_path):
    store = graph_in_time(tmp_path)
    options = {"sources": SEEDS, "disjoint": True, "seeds_per_batch": 16} | TIMED["uniform"]
    sample = csaw.sample(store, **OPTIONS | options)
    csaw.export(sample, tmp_path / "all.pt")
    found, times = read(tmp_path / "all.pt"), torch.tensor(SEEDS["time"])
    assert torch.equal(found["b"].seed_time, times[found["b"].input_id])
    column = torch.from_numpy(store.load([store.time]).columns["time"])
    for one in store.types.edge_types:
        assert torch.equal(found[one].edge_time, column[found[one].e_id])
        owner = found[one[2]].batch[found[one].edge_index[1]]
        assert (found[one].edge_time <= found["b"].seed_time[owner]).all()


FORGED = [
    ({"vertices": {"a": 1}}, "graph: types: expected vertices of each type, and relations with source, name, target"),
    ({"vertices": {"a": -1}, "relations": []}, "graph: types: expected vertices of each type"),
    ({"vertices": {"a": 1}, "relations": [{"source": "a", "name": "r", "target": "b", "edges": 0}]}, "b is the type"),
]


@pytest.mark.parametrize(("types", "said"), FORGED)
def test_types_that_are_none_are_refused(tmp_path, store, types, said):
    path = tmp_path / "s.zarr"
    csaw.sample(store, path, fanout={"to_c": (1,)}, sources="type:b:5", **OPTIONS)
    assert csaw.open_samples(path).types == store.types
    forged(path, lambda attributes: attributes["manifest"]["graph"].update(types=types))
    with pytest.raises(StoreError, match=said):
        csaw.open_samples(path)


def test_a_type_that_hetero_data_takes_for_a_relation_is_refused(tmp_path):
    """HeteroData({"a__b": ...}) has the edge type (a, to, b)."""
    store = partitioned(tmp_path, {"a__b-r-c": "0 0\n"})
    sample = csaw.sample(store, fanout={"r": (1,)}, sources="type:a__b", **OPTIONS)
    with pytest.raises(OptionError, match=r"all.pt: HeteroData reads the name of the type a__b as that of a relation"):
        csaw.export(sample, tmp_path / "all.pt")
    csaw.export(sample, tmp_path / "all.npz")
    assert not (tmp_path / "all.pt").exists()


def test_types_are_those_of_the_graph(tmp_path, store):
    path = tmp_path / "s.zarr"
    csaw.sample(store, path, fanout={"to_c": (1,)}, sources="type:b:5", **OPTIONS)
    assert csaw.verify(path).ok

    def moved(attributes):
        vertices = attributes["manifest"]["graph"]["types"]["vertices"]
        vertices["a"], vertices["b"] = vertices["a"] - 1, vertices["b"] + 1

    forged(path, moved)
    assert [check.name for check in csaw.verify(path).checks if not check.ok] == ["graph"]
