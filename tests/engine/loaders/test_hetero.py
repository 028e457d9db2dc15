"""Claims of the loader for HeteroData: its fields, its direction, its edge numbers and its law, type by type."""

from collections import Counter

import numpy as np
import pytest
from helpers.expanded import assert_new_nodes_select
from helpers.machine import need_package
from helpers.stats import assert_drawn_from

import csaw
from csaw.partition.errors import BudgetError, OptionError

torch = need_package("torch")
pyg = need_package("torch_geometric")

from torch_geometric.data import Data, HeteroData

from csaw.engine.loaders import NeighborLoader, NeighborSampler

SIZES = {"author": 40, "paper": 90, "venue": 5}
TYPES = [
    ("author", "writes", "paper"),
    ("paper", "rev_writes", "author"),
    ("paper", "cites", "paper"),
    ("venue", "has", "paper"),
    ("paper", "has", "paper"),
]
KINDS = [
    {},
    {"disjoint": True},
    {"replace": True},
    {"weight_attr": "edge_weight"},
    {"num_neighbors": {one: [2 + k, -1 if k == 1 else k] for k, one in enumerate(TYPES)}},
]


def random_data(seed=0):
    draw, data = np.random.default_rng(seed), HeteroData()
    for name, size in SIZES.items():
        data[name].x = torch.from_numpy(draw.random((size, 3), np.float32))
        data[name].num_nodes = size
    data["paper"].y = torch.arange(SIZES["paper"]) * 10
    data["paper"].train_mask = torch.from_numpy(draw.random(SIZES["paper"]) < 0.5)
    for one in TYPES:
        ends = [draw.integers(0, SIZES[name] - 1, 300) for name in (one[0], one[2])]
        data[one].edge_index = torch.from_numpy(np.stack(ends))
        data[one].edge_attr = torch.from_numpy(draw.random((300, 2)))
        data[one].edge_weight = torch.from_numpy(draw.integers(1, 9, 300)).float()
    return data


@pytest.fixture(scope="module")
def data():
    return random_data()


def loader_of(data, num_neighbors=(4, 3), input_nodes="paper", **options):
    return NeighborLoader(data, num_neighbors, input_nodes, **{"device": "cpu", "seed": 5, "batch_size": 16} | options)


def check_batch(data, batch, fanouts, *, replace=False, disjoint=False, **_):
    """A mini-batch against the definition, by lists."""
    assert batch.edge_types == data.edge_types
    owner = {name: batch[name].batch.tolist() if disjoint else [0] * len(batch[name].n_id) for name in SIZES}
    for name in SIZES:
        n_id = batch[name].n_id.tolist()
        assert len(set(zip(owner[name], n_id, strict=True))) == len(n_id) == sum(batch[name].num_sampled_nodes)
        assert torch.equal(batch[name].x, data[name].x[batch[name].n_id])
    for one in TYPES:
        held, ends = batch[one], data[one].edge_index.tolist()
        assert torch.equal(held.edge_attr, data[one].edge_attr[held.e_id])
        source, target = held.edge_index.tolist()
        of_source, of_target = batch[one[0]].n_id.tolist(), batch[one[2]].n_id.tolist()
        for s, t, e in zip(source, target, held.e_id.tolist(), strict=True):
            assert (of_source[s], of_target[t]) == (ends[0][e], ends[1][e])
            assert owner[one[0]][s] == owner[one[2]][t]
        in_degree = Counter(ends[1])
        assert_new_nodes_select(
            fanouts[one],
            [in_degree[v] for v in of_target],
            target,
            batch[one[2]].num_sampled_nodes,
            held.num_sampled_edges,
            replace=replace,
        )


@pytest.mark.filterwarnings("ignore:Cannot convert to bidirectional graph")
def test_bidirectional_mini_batches_have_the_reverses_of_edges(data):
    for one, other in zip(loader_of(data), loader_of(data, subgraph_type="bidirectional"), strict=True):
        assert torch.equal(one["paper"].n_id, other["paper"].n_id)
        edges = {tuple(edge) for edge in other["paper", "cites", "paper"].edge_index.T.tolist()}
        assert edges == {edge[::-1] for edge in edges}
        assert edges >= {tuple(edge) for edge in one["paper", "cites", "paper"].edge_index.T.tolist()}


@pytest.mark.parametrize("kind", KINDS)
def test_mini_batches_are_those_of_the_definition(data, kind):
    given = kind.get("num_neighbors", [4, 3])
    fanouts = given if isinstance(given, dict) else dict.fromkeys(TYPES, given)
    options = {"num_neighbors": given, "input_nodes": ("paper", data["paper"].train_mask)} | kind
    loader = loader_of(data, **options)
    seen = []
    for batch in loader:
        check_batch(data, batch, fanouts, **kind)
        size = batch["paper"].batch_size
        assert torch.equal(batch["paper"].n_id[:size], batch["paper"].input_id)
        assert torch.equal(batch["paper"].y[:size], batch["paper"].n_id[:size] * 10)
        seen += batch["paper"].input_id.tolist()
    assert seen == data["paper"].train_mask.nonzero()[:, 0].tolist()
    assert len(loader) == -(-len(seen) // 16)


def test_fields_are_those_of_pytorch_geometric(data):
    batch = next(iter(loader_of(data)))
    assert batch.node_types == data.node_types
    assert {"x", "y", "train_mask", "n_id", "num_sampled_nodes", "input_id", "batch_size"} <= set(batch["paper"].keys())
    assert "batch_size" not in batch["author"]
    for one in TYPES:
        fields = {"edge_index", "edge_attr", "edge_weight", "e_id", "num_sampled_edges"}
        assert set(batch[one].keys()) == fields
        assert batch[one].edge_index.dtype == batch[one].e_id.dtype == torch.int64
    assert len(batch["venue"].num_sampled_nodes) == 3
    assert len(batch[TYPES[0]].num_sampled_edges) == 2
    assert list(batch.x_dict) == data.node_types
    assert list(batch.edge_index_dict) == TYPES


def test_the_law_is_uniform_over_the_edges_of_each_type():
    """LAWS A1: two of three authors and one of two papers, six outcomes of 1/6."""
    data = HeteroData()
    data["author"].num_nodes, data["paper"].num_nodes = 3, 3
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 2], [0, 0, 0]])
    data["paper", "cites", "paper"].edge_index = torch.tensor([[1, 2], [0, 0]])
    fanouts = {("author", "writes", "paper"): [2], ("paper", "cites", "paper"): [1]}
    seeds = ("paper", torch.zeros(3000, dtype=torch.int64))
    counts = Counter()
    for batch in NeighborLoader(data, fanouts, seeds, batch_size=1, device="cpu"):
        authors, papers = batch["author"].n_id.tolist(), batch["paper"].n_id.tolist()
        counts[frozenset(authors), papers[1]] += 1
        assert papers[0] == 0
    assert len(counts) == 6
    assert_drawn_from(list(counts.values()), [1 / 6] * 6)


def test_epochs_are_functions_of_the_request(data):
    def drawn(**options):
        loader = loader_of(data, shuffle=True, **options)
        loader.epoch = 3
        return [batch["paper", "cites", "paper"].e_id.tolist() for batch in loader]

    assert drawn() == drawn(threads=1, in_flight=1)
    assert drawn() != drawn(seed=6)


def test_a_sampler_draws_by_relation_too(data):
    graph = csaw.graph(data)
    fanout = {str(one): (2, 1) for one in graph.types.relations}
    first, last = graph.types.span("paper")
    sampler = NeighborSampler(graph, fanout, device="cpu", seed=5)
    loader = pyg.loader.NodeLoader(Data(num_nodes=graph.vertices), sampler, torch.arange(first, last), batch_size=16)
    stored = csaw.sample(
        graph,
        algo="minibatch",
        fanout=fanout,
        sources="type:paper",
        seeds_per_batch=16,
        seed=5,
        weighted=False,
        device="cpu",
        progress=False,
    )
    for number, batch in enumerate(loader):
        one = stored.group(number, number + 1)
        assert batch.n_id.tolist() == graph.dense_ids(stored.names(one["n_id"])).tolist()
        assert batch.e_id.tolist() == one["e_id"].tolist()


def test_attributes_of_the_whole_graph_and_no_hops_are_taken(data):
    data = data.clone()
    data.num_classes, data.name = 3, "a graph"
    batch = next(iter(loader_of(data, [], ("paper", [3, 1]))))
    assert batch.num_classes == 3
    assert batch["paper"].n_id.tolist() == [3, 1]
    assert batch["paper"].num_sampled_nodes == [2]
    assert batch[TYPES[0]].num_sampled_edges == []


def test_names_that_csaw_does_not_take_are_said_to_be_of_the_data():
    data = HeteroData()
    data["a b"].num_nodes = data["c"].num_nodes = 1
    data["a b", "to", "c"].edge_index = torch.zeros(2, 1, dtype=torch.int64)
    with pytest.raises(OptionError, match="HeteroData: edge types become relations of csaw: 'a b-to-c': expected"):
        loader_of(data, [1], "c")


def in_time(data, of):
    """The same data with times of edges, but for one edge type, or of nodes, but for one node type."""
    data, draw = data.clone(), np.random.default_rng(3)
    for store in data.edge_stores[1:] if of == "edges" else data.node_stores[1:]:
        store.time = torch.from_numpy(draw.integers(0, 50, store.num_edges if of == "edges" else store.num_nodes))
    return data


@pytest.mark.parametrize("of", ["edges", "nodes"])
def test_nothing_is_later_than_its_seed(data, of):
    data = in_time(data, of)
    seeds, times = torch.arange(60), torch.arange(60)
    given = {} if of == "nodes" else {"input_time": times}
    loader = loader_of(data, [-1, -1], ("paper", seeds), time_attr="time", **given)
    for batch in loader:
        held, owner = batch["paper"], {name: batch[name].batch.tolist() for name in SIZES}
        now = held.seed_time.tolist()
        known = data["paper"].time[held.input_id] if of == "nodes" else held.input_id
        assert now == known.tolist()
        for one in TYPES:
            edge = batch[one]
            of_target = [owner[one[2]][t] for t in edge.edge_index[1].tolist()]
            when = data[one] if of == "edges" else data[one[0]]
            if "time" in when:
                index = edge.e_id if of == "edges" else batch[one[0]].n_id[edge.edge_index[0]]
                assert all(t <= now[root] for t, root in zip(when.time[index].tolist(), of_target, strict=True))
        for root in range(len(now)):  # all edges of a seed that are early enough are there
            for one in (one for one in TYPES if one[2] == "paper"):
                source, target = data[one].edge_index
                here = target == held.n_id[root]
                when = data[one].get("time") if of == "edges" else data[one[0]].get("time")
                if when is not None:
                    here &= (when if of == "edges" else when[source]) <= now[root]
                drawn = batch[one].e_id[batch[one].edge_index[1] == root]
                assert sorted(drawn.tolist()) == here.nonzero()[:, 0].tolist()


def test_a_store_of_several_types_gives_hetero_data_with_features(tmp_path):
    (tmp_path / "writes.txt").write_text("0 0\n0 1\n1 1\n1 2\n")
    store = csaw.partition(
        {"author-writes-paper": tmp_path / "writes.txt"}, tmp_path / "g.zarr", reverse_relations=True, progress=False
    )
    writes, reverse = ("author", "writes", "paper"), ("paper", "rev_writes", "author")
    features = {"paper": {"x": np.arange(6.0).reshape(3, 2)}, "author": {"x": np.arange(2.0).reshape(2, 1)}}
    loader = NeighborLoader(store, {writes: [2], reverse: [0]}, "paper", batch_size=3, features=features, device="cpu")
    [batch] = loader
    assert set(batch.edge_types) == {writes, reverse}
    assert batch["paper"].x.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert batch["author"].x[:, 0].tolist() == batch["author"].n_id.tolist()
    source, target = batch[writes].edge_index
    edges = zip(batch["author"].n_id[source].tolist(), batch["paper"].n_id[target].tolist(), strict=True)
    assert sorted(edges) == [(0, 0), (0, 1), (1, 1), (1, 2)]
    assert batch[reverse].edge_index.shape == (2, 0)
    ends = store.load().indices[batch[writes].e_id]
    assert ends.tolist() == batch["author"].n_id[source].tolist()  # authors come first
    for wrong in ({"x": np.zeros(5)}, {"venue": {"x": np.zeros(5)}}, {"paper": {"x": np.zeros(5)}}):
        with pytest.raises(OptionError, match="^features: "):
            NeighborLoader(store, [2], "paper", features=wrong, device="cpu")


def test_edges_of_a_store_of_several_types_have_their_times(tmp_path):
    draw, times = np.random.default_rng(1), {}
    for relation in ("a-x-b", "b-y-a"):
        rows = [f"{k % 20},{k // 20},{t}" for k, t in enumerate(draw.integers(0, 50, 400))]
        (tmp_path / f"{relation}.csv").write_text("source,target,time\n" + "\n".join(rows))
        times[relation] = tmp_path / f"{relation}.csv"
    store = csaw.partition(times, tmp_path / "g.zarr", time_column="time", progress=False)
    held = store.load(store.further_columns).columns["time"]
    given = {"time_attr": "time", "input_time": [40, 30, 20], "temporal_strategy": "last", "device": "cpu"}
    [batch] = NeighborLoader(store, [4, 3], ("a", [0, 1, 2]), batch_size=3, **given)
    for edge_type in batch.edge_types:
        drawn = batch[edge_type]
        assert drawn.time.tolist() == held[drawn.e_id].tolist()
        roots = batch[edge_type[2]].batch[drawn.edge_index[1]]
        assert (drawn.time <= batch["a"].seed_time[roots]).all()
        assert drawn.time.numel()


def test_relations_of_one_edge_type_are_refused(tmp_path):
    (tmp_path / "e.txt").write_text("0 0\n0 1\n")
    files = dict.fromkeys(["a-to-b", "a-rev_rev_to-b"], tmp_path / "e.txt")
    store = csaw.partition(files, tmp_path / "g.zarr", progress=False)
    with pytest.raises(OptionError, match=r"two relations of .* would be the edge type \('b', 'rev_to', 'a'\)"):
        NeighborLoader(store, [2], "a", device="cpu")


def test_more_nodes_than_memory_holds_are_refused():
    data = HeteroData()
    data["a"].num_nodes, data["b"].num_nodes = 10**14, 3
    data["a", "to", "b"].edge_index = torch.tensor([[0], [1]])
    with pytest.raises(BudgetError, match="rows of 100,000,000,000,003 vertices take"):
        loader_of(data, [2], "b")


REFUSED = [
    ({"num_neighbors": {TYPES[0]: [2]}}, "num_neighbors: expected numbers for each edge type"),
    ({"num_neighbors": {**dict.fromkeys(TYPES, (2,)), ("a", "b", "c"): (2,)}}, "found no edge type ('a', 'b', 'c')"),
    ({"num_neighbors": {one: [2] * (1 + k % 2) for k, one in enumerate(TYPES)}}, "as many hops for each relation"),
    ({"num_neighbors": dict.fromkeys(TYPES, "2")}, "expected a list of integers, one for each hop"),
    ({"input_nodes": None}, "input_nodes: expected a node type, or one with nodes"),
    ({"input_nodes": "papers"}, "found 'papers'; there are author, paper, venue"),
    ({"input_nodes": ("paper", [90])}, "input_nodes: expected numbers of vertices from 0 to 89, found 90"),
    ({"input_nodes": ("venue", torch.ones(90, dtype=torch.bool))}, "a mask with a bool for each of 5 vertices"),
    ({"weight_attr": "w"}, "weight_attr: no edge type of data has the attribute 'w'"),
    ({"time_attr": "when"}, "time_attr: no edge type and no node type of data has the attribute 'when'"),
    ({"time_strategy": "uniform"}, "time_strategy: expected time_attr instead"),
    ({"features": {"z": np.zeros(3)}}, "features: expected none with several types; add them to the HeteroData"),
    ({"subgraph_type": "induced"}, "subgraph_type"),
    ({"sources": "type:paper"}, "sources: expected none with several types; give seeds of one type as input_nodes"),
    ({"sources": ["paper:0"], "input_nodes": None}, "sources: expected none with several types"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_cannot_be_is_refused(data, options, said):
    with pytest.raises(OptionError) as error:
        loader_of(data, **options)
    assert said in str(error.value)
