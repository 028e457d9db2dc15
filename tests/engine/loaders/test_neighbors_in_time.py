"""NeighborLoader in time gives PyTorch Geometric's batches: edges not later than the time of the root's seed, any of
them or the latest, on times of edges or of nodes. The oracle is a list of events.
"""

import numpy as np
import pytest
from helpers.machine import need_package
from helpers.neighbors_in_time import assert_neighbors_in_time
from helpers.temporal import events_store

from csaw.partition.errors import OptionError

torch = need_package("torch")
pyg = need_package("torch_geometric")

from torch_geometric.data import Data
from torch_geometric.sampler import EdgeSamplerInput, NodeSamplerInput

from csaw.engine.cpu.batches.hops import WholeMiniBatches
from csaw.engine.loaders import LayerLoader, NeighborLoader, NeighborSampler

SIZES = (3, 2)
WITH_TIMES = {"time_attr": "time", "input_time": torch.arange(40)}


def timed_data(vertices=40, edges=600, seed=0):
    """Random edges, with a time each, and nodes with times; some of both share a time."""
    rng = np.random.default_rng(seed)
    ends = torch.from_numpy(rng.integers(0, vertices, (2, edges)))
    times = torch.from_numpy(rng.integers(0, 30, edges))
    data = Data(x=torch.arange(vertices).float()[:, None], edge_index=ends, time=times, num_nodes=vertices)
    data.weight = torch.ones(edges)
    data.born = torch.from_numpy(rng.integers(0, 30, vertices))
    return data


@pytest.fixture(scope="module")
def data():
    return timed_data()


def loader_of(data, **options):
    given = {"num_neighbors": list(SIZES), "batch_size": 8, "device": "cpu"}
    return NeighborLoader(data, **given | options)


def choices_of(batches, times, sizes=SIZES):
    """The choices of batches of a loader: see helpers/neighbors_in_time.py. ``times``: of each edge of the data."""
    for batch in batches:
        hop = torch.repeat_interleave(torch.arange(len(sizes) + 1), torch.tensor(batch.num_sampled_nodes)).tolist()
        now = batch.seed_time[batch.batch].tolist()
        for node, vertex in enumerate(batch.n_id.tolist()):
            here = (batch.edge_index[1] == node).nonzero().ravel()
            found = [(int(batch.n_id[batch.edge_index[0, e]]), int(times[batch.e_id[e]])) for e in here.tolist()]
            if hop[node] < len(sizes):
                yield vertex, now[node], sizes[hop[node]], found
            else:
                assert not found


def events_of(data, times):
    """The events of a Data object: a row has the sources of the edges to its vertex."""
    source, target = data.edge_index.tolist()
    return list(zip(target, source, times.tolist(), strict=True))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("strategy", ["uniform", "last"])
@pytest.mark.parametrize("attribute", ["time", "born"])
def test_mini_batches_follow_pygs_law(data, attribute, strategy):
    times = data.time if attribute == "time" else data.born[data.edge_index[0]]
    seeds, clock = torch.arange(40).repeat(3), torch.arange(120) % 33 - 1
    loader = loader_of(
        data,
        input_nodes=seeds,
        input_time=clock,
        time_attr=attribute,
        temporal_strategy=strategy,
        shuffle=True,
    )
    batches = [batch for _ in range(12) for batch in loader]
    for batch in batches:
        assert torch.equal(batch.seed_time, clock[batch.input_id])
        assert torch.equal(batch.n_id[: batch.batch_size], seeds[batch.input_id])
        assert torch.equal(batch.time, data.time[batch.e_id])
        assert torch.equal(batch.born, data.born[batch.n_id])
    sizes = assert_neighbors_in_time(
        choices_of(batches, times), events_of(data, times), 40, {"time_strategy": strategy}
    )
    assert sizes[0] > 100
    assert sizes[3] > 500


def test_seeds_have_the_times_of_their_nodes(data):
    """As of PyTorch Geometric, where time_attr is one of nodes and there is no input_time."""
    mask = data.born > 9
    [batch] = loader_of(data, input_nodes=mask, time_attr="born", batch_size=100)
    assert torch.equal(batch.seed_time, data.born[mask])
    assert torch.equal(batch.input_id, mask.nonzero().ravel())
    times = data.born[data.edge_index[0]]
    assert_neighbors_in_time(choices_of([batch], times), events_of(data, times), 40, {"time_strategy": "uniform"})
    [everyone] = loader_of(data, time_attr="born", batch_size=100)
    assert torch.equal(everyone.seed_time, data.born)


def test_further_options_are_csaws_own(data):
    given = {"time_order": "strict", "time_window": 5, "replace": True}
    clock = torch.arange(40) % 33
    loader = loader_of(data, input_time=clock, time_attr="time", **given)
    batches = [batch for _ in range(12) for batch in loader]
    choices = choices_of(batches, data.time)
    assert_neighbors_in_time(choices, events_of(data, data.time), 40, given | {"time_strategy": "uniform"})


def test_one_time_for_all_seeds_needs_no_nodes_of_their_own(data):
    batches = list(loader_of(data, time_attr="time", start_time=12))
    assert all(batch.batch is None for batch in batches)
    assert all((batch.time <= 12).all() and (batch.seed_time == 12).all() for batch in batches)


def test_a_graph_store_has_times_of_its_own(tmp_path, data):
    store = events_store(tmp_path / "g.zarr", events_of(data, data.time), 40)
    held = store.load(store.further_columns)
    (tmp_path / "seeds.txt").write_text("3 0.5 20\n9 1.5 10\n")
    [batch] = loader_of(store.path, sources=str(tmp_path / "seeds.txt"), time_attr="time", temporal_strategy="last")
    assert batch.y.tolist() == [0.5, 1.5]
    assert batch.seed_time.tolist() == [20, 10]
    assert batch.time.tolist() == held.columns["time"][batch.e_id.numpy()].tolist()
    assert (batch.time <= batch.seed_time[batch.batch[batch.edge_index[1]]]).all()
    nodes = loader_of(store.path, input_nodes=[3, 9], input_time=[20, 10], time_attr="time", temporal_strategy="last")
    assert torch.equal(next(iter(nodes)).e_id, batch.e_id)


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_a_sampler_draws_at_one_time_what_the_loader_draws(tmp_path, data, disjoint, strategy):
    store = events_store(tmp_path / "g.zarr", events_of(data, data.time), 40)
    given = {"time_strategy": strategy, "start_time": 12, "disjoint": disjoint, "device": "cpu", "seed": 3}
    sampler = NeighborSampler(store, list(SIZES), **given)
    out = sampler.sample_from_nodes(NodeSamplerInput(None, torch.arange(20)))
    batch = next(iter(NeighborLoader(store, list(SIZES), torch.arange(20), batch_size=20, **given)))
    assert torch.equal(out.edge, batch.e_id)
    assert torch.equal(out.node, batch.n_id)
    assert 0 < out.edge.numel() == sum(out.num_sampled_edges)
    held = store.load(store.further_columns).columns["time"]
    edges = EdgeSamplerInput(None, torch.arange(4), torch.arange(4, 8))
    assert held[sampler.sample_from_edges(edges).edge.numpy()].max() <= 12


def test_a_sampler_refuses_seeds_without_a_time_for_all(tmp_path, data):
    store = events_store(tmp_path / "g.zarr", events_of(data, data.time), 40)
    for sources in ({}, {"sources": {"ids": [1], "time": [4]}, "disjoint": True}):
        with pytest.raises(OptionError, match="start_time: expected a time for all seeds with time_strategy"):
            NeighborSampler(store, [2], time_strategy="last", **sources)


def test_mini_batches_in_time_refuse_seeds_without_times(monkeypatch, tmp_path, data):
    """Compiled code would read beyond an empty list of them."""
    store = events_store(tmp_path / "g.zarr", events_of(data, data.time), 40)
    sampler = NeighborSampler(store, [2], time_strategy="last", start_time=12, device="cpu")
    begun = WholeMiniBatches.__init__
    monkeypatch.setattr(
        WholeMiniBatches,
        "__init__",
        lambda self, backend, first, sources: begun(self, backend, first, sources[:, :, :2]),
    )
    with pytest.raises(ValueError, match="expected 3 numbers of each seed, found 2"):
        sampler.sample_from_nodes(NodeSamplerInput(None, torch.arange(4)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"input_time": torch.arange(40)}, "input_time: expected time_attr with it"),
        ({"temporal_strategy": "last"}, "temporal_strategy: expected time_attr with it"),
        ({"time_attr": "time", "temporal_strategy": "first"}, "temporal_strategy: expected uniform or last, found"),
        ({"time_attr": "t"}, "time_attr: data has no attribute 't'; it has born, edge_index, "),
        ({"time_attr": "x", "input_time": torch.arange(40)}, "expected an integer for each of 40 nodes, found float32"),
        (
            {"time_attr": "time"},
            "input_time: expected a time for each seed, found none, although time_attr names times of",
        ),
        ({"time_attr": "time", "input_time": torch.arange(39)}, "input_time: expected an integer for each of 40 seeds"),
        ({"time_attr": "time", "input_time": torch.rand(40)}, "input_time: expected an integer .* found float32"),
        (
            {"time_attr": "born", "input_time": torch.arange(40), "start_time": 3},
            "input_time and start_time exclude each other",
        ),
        ({"time_attr": "born", "subgraph_type": "induced"}, "subgraph_type: expected directional or bidirectional"),
        (WITH_TIMES | {"input_time": "abc"}, "^input_time: expected an integer for each of 40 seeds, found 'abc'"),
        (
            WITH_TIMES | {"input_time": np.arange(40).astype("M8[s]")},
            r"^input_time: expected an integer for each of 40 seeds, found datetime64\[s\] \[40\]",
        ),
        (WITH_TIMES | {"input_time": [[1], [2, 3]]}, "^input_time: expected an integer for each of 40 seeds, found"),
        (WITH_TIMES | {"input_time": [2**70] * 40}, "^input_time: expected an integer for each of 40 seeds, found"),
        (WITH_TIMES | {"input_time": [-(2**63)] * 40}, "^input_time: expected times from .* which means no time"),
        (WITH_TIMES | {"time_strategy": "uniform"}, "^time_strategy: expected none with time_attr"),
        ({"time_strategy": "last", "start_time": 3}, "^time_strategy: expected time_attr instead"),
        (WITH_TIMES | {"weight_attr": "weight"}, "^weight_attr: expected none with time_attr"),
        (
            WITH_TIMES | {"features": {"seed_time": np.arange(40)}},
            "^features: expected a name other than .* 'seed_time'",
        ),
        (
            WITH_TIMES | {"edge_features": {"time": np.arange(600)}},
            "^edge_features: expected a name other than .* 'time'",
        ),
        ({"instances": 2}, "^instances: expected none, because the seeds and batch_size"),
        ({"epochs": 2}, "^epochs: expected none, because each for loop is another epoch"),
        ({"ids": "original"}, "^ids: expected none, because the ids of a loader are dense"),
        ({"seeds_per_batch": 2}, "^seeds_per_batch: expected none, because batch_size is the number"),
        ({"fanout": 2}, "^fanout: expected none, because num_neighbors is the number"),
        ({"measure": True}, "^measure is not an option of NeighborLoader"),
        ({"time_attr": "born", "input_nodes": [99]}, "input_nodes: expected numbers of vertices from 0 to 39"),
        ({"time_attr": "born", "temporal_strategy": "last", "replace": True}, "replace exclude each other"),
    ],
)
def test_what_cannot_be_is_refused(data, wrong, said):
    with pytest.raises(OptionError, match=said):
        loader_of(data, **wrong)


@pytest.mark.parametrize("clocks", [{"input_time": [9, 12, 20]}, {"start_time": 20}])
def test_a_graph_stores_times_are_those_of_e_id_with_reverses_too(tmp_path, data, clocks):
    store = events_store(tmp_path / "g.zarr", events_of(data, data.time), 40)
    times = torch.from_numpy(store.load(store.further_columns).columns["time"])
    given = {"input_nodes": [3, 9, 4], "time_attr": "time", "subgraph_type": "bidirectional"} | clocks
    [batch] = loader_of(store.path, **given)
    [drawn] = loader_of(store.path, **given | {"subgraph_type": "directional"})
    assert batch.e_id.numel() == batch.edge_index.shape[1] > drawn.e_id.numel() > 10
    assert torch.equal(batch.time, times[batch.e_id])
    half = loader_of(store.path, transform_sampler_output=every_other_edge, **given)
    assert torch.equal(next(iter(half)).time, times[batch.e_id[::2]])
    none = {name: [-5] * 3 if name == "input_time" else -5 for name in clocks}
    [nothing] = loader_of(store.path, **given | none)
    assert nothing.time.numel() == nothing.e_id.numel() == 0


def test_words_are_no_times_of_nodes(data):
    data = data.clone()
    data.words = ["then"] * 40
    with pytest.raises(OptionError, match="^time_attr: expected an integer for each of 40 nodes, found"):
        loader_of(data, time_attr="words", start_time=3)


def every_other_edge(out):
    out.row, out.col, out.edge = out.row[::2], out.col[::2], out.edge[::2]
    return out


def test_times_of_edges_as_they_were_drawn_are_not_looked_up(tmp_path, data, monkeypatch):
    from csaw.engine.loaders import neighbor_loader

    seen = []

    def kept(edges, drawn, times):
        seen.append(edges is drawn)
        return times

    monkeypatch.setattr(neighbor_loader, "times_at", kept)
    store = events_store(tmp_path / "g.zarr", events_of(data, data.time), 40)
    list(loader_of(store.path, time_attr="time", start_time=20))
    assert len(seen) == 5
    assert all(seen)


def test_edges_that_were_not_drawn_have_no_known_time(tmp_path, data):
    def other(out):
        out.edge = torch.full_like(out.edge, 10**9)
        return out

    store = events_store(tmp_path / "g.zarr", events_of(data, data.time), 40)
    with pytest.raises(OptionError, match="transform_sampler_output: expected only edges that were drawn"):
        list(loader_of(store.path, time_attr="time", start_time=20, transform_sampler_output=other))


def test_a_store_without_times_and_other_loaders_refuse(tmp_path, data):
    store = events_store(tmp_path / "g.zarr", events_of(data, data.time), 40)
    with pytest.raises(OptionError, match="time_attr: expected 'time', the times of a graph store's edges, found 'x'"):
        loader_of(store, time_attr="x", start_time=3)
    with pytest.raises(OptionError, match="time_attr: expected None, found 'time'; temporal sampling is that of Nei"):
        LayerLoader(store, [2], batch_size=4, time_attr="time")
