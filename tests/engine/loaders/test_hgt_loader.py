"""Claims of HGTLoader: the fields of PyTorch Geometric's, its direction, all edges among the nodes, and its law."""

from collections import Counter

import numpy as np
import pytest
from helpers.graphs import arrays_of, random_store
from helpers.machine import need_package
from helpers.relations import graph_in_time, random_graph
from helpers.stats import assert_drawn_from

import csaw
from csaw.partition.errors import OptionError

torch = need_package("torch")
need_package("torch_geometric")

from torch_geometric.data import Data, HeteroData

from csaw.loader import HGTLoader

SIZES = {"author": 40, "paper": 90, "venue": 5}
TYPES = [
    ("author", "writes", "paper"),
    ("paper", "rev_writes", "author"),
    ("paper", "cites", "paper"),
    ("paper", "has", "venue"),
]
NUMBERS = {"author": [4, 3], "paper": [6, 5], "venue": [1, 0]}


@pytest.fixture(scope="module")
def data():
    draw, made = np.random.default_rng(1), HeteroData()
    for name, size in SIZES.items():
        made[name].x = torch.from_numpy(draw.random((size, 3), np.float32))
    made["paper"].y = torch.arange(SIZES["paper"]) * 10
    made["paper"].train_mask = torch.from_numpy(draw.random(SIZES["paper"]) < 0.5)
    for one in TYPES:
        made[one].edge_index = torch.from_numpy(np.stack([draw.integers(0, SIZES[one[end]], 300) for end in (0, 2)]))
        made[one].edge_attr = torch.from_numpy(draw.random((300, 2)))
    return made


def loader_of(data, num_samples=NUMBERS, input_nodes="paper", **options):
    return HGTLoader(data, num_samples, input_nodes, **{"device": "cpu", "seed": 5, "batch_size": 16} | options)


def test_mini_batches_have_all_edges_among_their_nodes(data):
    loader, seen = loader_of(data, input_nodes=("paper", data["paper"].train_mask)), []
    for batch in loader:
        assert (batch.node_types, batch.edge_types) == (data.node_types, data.edge_types)
        size = batch["paper"].batch_size
        for name in SIZES:
            n_id = batch[name].n_id
            assert n_id.unique().numel() == n_id.numel()
            assert torch.equal(batch[name].x, data[name].x[n_id])
            assert n_id.numel() - size * (name == "paper") <= sum(NUMBERS[name])
        for one in TYPES:
            ends, held = data[one].edge_index, batch[one]
            inside = torch.isin(ends[0], batch[one[0]].n_id) & torch.isin(ends[1], batch[one[2]].n_id)
            assert torch.equal(held.e_id.sort().values, inside.nonzero()[:, 0])
            assert torch.equal(batch[one[0]].n_id[held.edge_index[0]], ends[0][held.e_id])
            assert torch.equal(batch[one[2]].n_id[held.edge_index[1]], ends[1][held.e_id])
            assert torch.equal(held.edge_attr, data[one].edge_attr[held.e_id])
        assert torch.equal(batch["paper"].n_id[:size], batch["paper"].input_id)
        assert torch.equal(batch["paper"].y[:size], batch["paper"].n_id[:size] * 10)
        seen += batch["paper"].input_id.tolist()
    assert seen == data["paper"].train_mask.nonzero()[:, 0].tolist()
    assert len(loader) == -(-len(seen) // 16)


def test_fields_are_those_of_pytorch_geometric(data):
    batch = next(iter(loader_of(data)))
    assert set(batch["paper"].keys()) == {"x", "y", "train_mask", "n_id", "input_id", "batch_size"}
    assert set(batch["author"].keys()) == {"x", "n_id"}
    assert set(batch[TYPES[0]].keys()) == {"edge_index", "edge_attr", "e_id"}
    assert batch[TYPES[0]].edge_index.dtype == batch[TYPES[0]].e_id.dtype == torch.int64
    assert list(batch.x_dict) == data.node_types
    assert list(batch.edge_index_dict) == TYPES


def test_messages_go_from_what_was_drawn_and_budgets_to_the_sources_of_edges():
    """LAWS B1 for a HeteroData: authors write papers, which are the seeds."""
    data = HeteroData()
    data["author"].num_nodes, data["paper"].num_nodes = 4, 2
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1, 2, 3], [0, 0, 1, 1, 1]])
    counts = Counter()
    loader = HGTLoader(data, {"author": [1], "paper": [1]}, ("paper", [0, 1] * 4000), batch_size=2, device="cpu")
    for batch in loader:
        [author] = batch["author"].n_id.tolist()
        counts[author] += 1
        assert batch["author", "writes", "paper"].edge_index[0].tolist() == [0] * (1 + (author == 1))
    assert_drawn_from([counts[author] for author in range(4)], [3 / 14, 25 / 42, 2 / 21, 2 / 21])


def test_mini_batches_are_those_of_the_sample(tmp_path):
    store = random_graph(tmp_path)
    numbers = {"a": (7, 4), "b": (10, 8), "c": (2, 1)}
    first, last = store.types.span("b")
    x = np.random.default_rng(0).random((last - first, 2))
    loader = HGTLoader(store, numbers, "b", batch_size=50, seed=3, device="cpu", features={"b": {"x": x}})
    options = {"num_samples": numbers, "seeds_per_batch": 50, "sources": "type:b", "seed": 3, "weighted": False}
    stored = arrays_of(store, tmp_path / "s.zarr", "hgt", **options)
    for k, batch in enumerate(loader):
        nodes = stored["n_id"][slice(*stored["node_ptr"][k : k + 2])]
        kinds = store.types.of(nodes)
        for number, name in enumerate(store.types.names):
            assert batch[name].n_id.tolist() == (nodes[kinds == number] - store.types.bounds[number]).tolist()
        assert np.array_equal(batch["b"].x, x[batch["b"].n_id])
        edges = sum(batch[one].e_id.numel() for one in batch.edge_types)
        assert edges == np.diff(stored["edge_ptr"])[k]


def test_epochs_are_functions_of_the_request(data):
    def drawn(**options):
        loader = loader_of(data, shuffle=True, drop_last=True, **options)
        loader.epoch = 3
        return [batch["author"].n_id.tolist() for batch in loader]

    assert drawn() == drawn(threads=1, in_flight=1)
    assert drawn() != drawn(seed=6)
    assert drawn(rank=0, world=2) + drawn(rank=1, world=2) == drawn()


def test_a_graph_of_one_type_gives_data(tmp_path):
    data = Data(edge_index=torch.tensor([[1, 2, 3, 0], [0, 0, 0, 1]]), x=torch.arange(4.0))
    batch = next(iter(HGTLoader(data, [2], [0], device="cpu")))
    assert batch.n_id.numel() == 3
    assert torch.equal(batch.x, batch.n_id.float())
    assert batch.edge_index.shape[1] == 2 + (1 in batch.n_id.tolist()[1:])
    of_store = next(iter(HGTLoader(random_store(tmp_path / "g.zarr"), [5, 5], batch_size=4, device="cpu")))
    assert of_store.n_id.numel() <= 14


def test_what_it_is_given_goes_to_functions(data):
    seen = []
    loader = loader_of(data, transform=lambda one: seen.append(one) or "made", is_sorted=True, filter_per_worker=True)
    assert list(loader) == ["made"] * len(loader)
    assert len(seen) == len(loader)


def in_time(data, of):
    """The same data with times of edges, but for one edge type, or of nodes, but for one node type."""
    data, draw = data.clone(), np.random.default_rng(6)
    for store in (data.edge_stores if of == "edges" else data.node_stores)[:-1]:
        store.time = torch.from_numpy(draw.integers(0, 50, store.num_edges if of == "edges" else store.num_nodes))
    return data


@pytest.mark.parametrize("of", ["edges", "nodes"])
@pytest.mark.parametrize("given", ["each", "one"])
def test_mini_batches_in_time_have_all_edges_until_then(data, of, given):
    """Those of types without a time are never too late."""
    held = in_time(data, of)
    each = {} if of == "nodes" else {"input_time": torch.arange(SIZES["paper"]) % 50}
    how = each if given == "each" else {"start_time": 20}
    loader = loader_of(held, time_attr="time", batch_size=1 if given == "each" else 16, shuffle=True, **how)
    late = 0
    for batch in loader:
        now, seeds = set(batch["paper"].seed_time.tolist()), batch["paper"].input_id
        known = held["paper"].time if of == "nodes" else each.get("input_time")
        assert now == ({20} if given == "one" else set(known[seeds].tolist()))
        [now] = now
        for one in TYPES:
            ends, drawn = held[one].edge_index, batch[one].e_id
            inside = torch.isin(ends[0], batch[one[0]].n_id) & torch.isin(ends[1], batch[one[2]].n_id)
            when = held[one].get("time") if of == "edges" else held[one[0]].get("time")
            if when is not None:
                early = (when if of == "edges" else when[ends[0]]) <= now
                late += int((inside & ~early).sum())
                inside &= early
            assert torch.equal(drawn.sort().values, inside.nonzero()[:, 0])
            if of == "edges" and when is not None:
                assert torch.equal(batch[one].time, when[drawn])
    assert late or of == "nodes"  # of nodes, only seeds can be later than the time that they are given


def test_mini_batches_of_a_store_in_time_are_those_of_the_sample(tmp_path):
    store, numbers = graph_in_time(tmp_path), {"a": (7, 4), "b": (10, 8), "c": (2, 1)}
    times = np.arange(900) % 60
    given = {"num_samples": numbers, "seed": 3, "device": "cpu"}
    loader = HGTLoader(store, input_nodes="b", time_attr="time", input_time=times, **given)
    sources = {"ids": [f"b:{k}" for k in range(900)], "time": times}
    first, last = store.types.span("b")
    sources["ids"] = store.original_ids(np.arange(first, last))
    stored = arrays_of(
        store, tmp_path / "s.zarr", "hgt", time_strategy="uniform", sources=sources, seeds_per_batch=1, **given
    )
    for k, batch in zip(range(70), loader, strict=False):
        assert batch["b"].seed_time.tolist() == [times[k]]
        found = sorted(time for one in batch.edge_types for time in batch[one].time.tolist())
        assert found == sorted(stored["time"][slice(*stored["edge_ptr"][k : k + 2])].tolist())
        assert sum(batch[one].e_id.numel() for one in batch.edge_types) == np.diff(stored["edge_ptr"])[k]


def test_seeds_of_a_mini_batch_have_one_time(data):
    with pytest.raises(OptionError, match="seeds of different times and batch_size 16; pass batch_size=1, or one"):
        loader_of(in_time(data, "nodes"), time_attr="time")


REFUSED = [
    ({"num_samples": {"author": [1], "paper": [1]}}, "found nothing for 'venue'"),
    ({"num_samples": NUMBERS | {"x": [1, 2]}}, "found no node type 'x'"),
    ({"num_samples": [0, -1]}, "num_samples: expected 0 to 2^63 - 1, found -1"),
    ({"num_samples": []}, "num_samples: expected a number for each of 1 to 65,535 layers"),
    ({"num_samples": NUMBERS | {"venue": [1]}}, "expected as many layers for each type, found 1 and 2"),
    ({"input_nodes": "field"}, "input_nodes: expected a node type"),
    ({"input_nodes": None}, "input_nodes: expected a node type"),
    ({"disjoint": True}, "disjoint is not an option of hgt"),
    ({"weight_attr": "w"}, "weight_attr is not an option of hgt"),
    ({"time_attr": "time"}, "time_attr: no edge type and no node type of data has the attribute 'time'"),
    ({"input_time": [1]}, "input_time: expected time_attr with it"),
    ({"time_strategy": "uniform"}, "time_strategy: expected time_attr instead"),
    ({"temporal_strategy": "last"}, "temporal_strategy: expected 'uniform'"),
    ({"features": {"paper": {"x": np.zeros(90)}}}, "add them to the HeteroData object"),
    ({"batch_size": 0}, "batch_size: expected"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_cannot_be_is_refused(data, options, said):
    with pytest.raises(OptionError) as error:
        loader_of(data, **options)
    assert said in str(error.value)


def test_a_dict_is_refused_for_a_graph_of_one_type():
    data = Data(edge_index=torch.tensor([[1, 2], [0, 0]]), num_nodes=3)
    with pytest.raises(OptionError, match="a dict is for graphs of several types"):
        HGTLoader(data, {"paper": [1]}, device="cpu")
    assert "HGTLoader" in dir(csaw.loader)
