"""Claims of the PyG export: a batch as NeighborLoader gives it, on which message passing has the answers of the
sample's trees.
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import graphs, slow
from helpers.machine import need_package

from csaw.cli.commands.export import export as command
from csaw.engine.stores import open_samples
from csaw.engine.stores.export import export
from csaw.partition import write_graph
from csaw.partition.errors import OptionError, StoreError

SAID = {"request": {"algorithm": "neighbor", "parameters": {}, "seed": 1}}
N = slow.NONE
IDS = np.array([3, 10, 200, 4000, 50000])  # with gaps, so that no number of a vertex is that of a node
HOPS = {
    "hop_0": np.array([[0], [3]], np.uint32),
    "hop_1": np.array([[1, 2], [0, N]], np.uint32),
    "hop_2": np.array([[2, 3, 0, N], [1, 2, N, N]], np.uint32),
}
WALKS = {"walks": np.array([[0, 1, 0], [2, N, N], [3, 0, N]], np.uint32), "lengths": np.array([2, 0, 1])}
SUBGRAPHS = {
    "counts": np.array([3, 0, 2]),
    "src": np.array([0, 0, 2, 3, 3], np.uint32),
    "dst": np.array([1, 2, 1, 4, 0], np.uint32),
    "depth": np.array([0, 0, 1, 0, 0]),
    "source_counts": np.array([1, 1, 3]),
    "sources": np.array([0, 2, 3, 0, 3], np.uint32),
}


def batch_of(tmp_path, layout, arrays, ids=IDS):
    """The batch as plain lists."""
    samples = open_samples(slow.write(tmp_path / "s", SAID, layout, arrays, group_size=2, vertex_ids=ids))
    made = samples.pyg()
    assert np.array_equal(samples.edge_index(), made["edge_index"])
    assert all(value.dtype == np.int64 for value in made.values() if isinstance(value, np.ndarray))
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in made.items()}


def test_a_tree_has_a_node_for_each_place_hop_by_hop_and_messages_go_to_the_seeds(tmp_path):
    assert batch_of(tmp_path, "hops", HOPS) == {
        "edge_index": [[2, 3, 4, 5, 6, 7, 8, 9], [0, 0, 1, 2, 2, 3, 4, 4]],
        "n_id": [3, 4000, 10, 200, 3, 200, 4000, 3, 10, 200],
        "batch": [0, 1, 0, 0, 1, 0, 0, 0, 1, 1],
        "batch_size": 2,
        "input_id": [0, 1],
        "seed": [0, 1],
        "num_sampled_nodes": [2, 3, 5],
        "num_sampled_edges": [3, 5],
        "num_nodes": 10,
    }


def test_a_walk_sends_each_step_to_the_one_before(tmp_path):
    assert batch_of(tmp_path, "walks", WALKS) == {
        "edge_index": [[3, 4, 5], [0, 2, 3]],
        "n_id": [3, 200, 4000, 10, 3, 3],
        "batch": [0, 1, 2, 0, 2, 0],
        "batch_size": 3,
        "input_id": [0, 1, 2],
        "seed": [0, 1, 2],
        "num_sampled_nodes": [3, 2, 1],
        "num_sampled_edges": [2, 1],
        "num_nodes": 6,
        "walk": [[0, 3, 5], [1, -1, -1], [2, 4, -1]],
    }


def test_a_subgraph_has_a_node_for_each_vertex_of_an_instance_and_its_sources_first(tmp_path):
    assert batch_of(tmp_path, "subgraphs", SUBGRAPHS) == {
        "edge_index": [[4, 5, 6, 3, 4], [0, 0, 2, 2, 5]],
        "n_id": [3, 200, 4000, 3, 10, 200, 50000],
        "batch": [0, 1, 2, 2, 0, 0, 2],
        "batch_size": 4,
        "input_id": [0, 1, 2, 3],
        "seed": [0, 1, 2, 3, 2],  # a source that an instance has twice is one node
        "num_sampled_nodes": [4, 3, 0],
        "num_sampled_edges": [4, 1],
        "num_nodes": 7,
    }


def test_some_instances_make_a_batch_of_their_own(tmp_path):
    for layout, arrays in (("hops", HOPS), ("walks", WALKS), ("subgraphs", SUBGRAPHS)):
        samples = open_samples(slow.write(tmp_path / layout, SAID, layout, arrays, vertex_ids=IDS))
        whole, last = samples.pyg(), samples.pyg(samples.instances - 1)
        here = np.asarray(whole["batch"]) == samples.instances - 1
        assert last["n_id"].tolist() == whole["n_id"][here].tolist()
        assert set(last["batch"]) == {0}
        assert last["input_id"].tolist() == whole["input_id"][here[: whole["batch_size"]]].tolist()
        assert samples.pyg(1, 1)["edge_index"].shape == (2, 0)


def test_string_ids_have_numbers_in_n_id_and_their_words_beside(tmp_path):
    words = ["a", "bb", "ü", "d" * 50, ""]
    made = batch_of(tmp_path, "hops", HOPS, np.array(words))
    assert made["n_id"] == [0, 3, 1, 2, 0, 2, 3, 0, 1, 2]
    assert made["original_id"][np.array(made["n_id"])].tolist() == [words[vertex] for vertex in made["n_id"]]


def test_an_id_beyond_int64_is_refused_and_dense_ids_take_its_place(tmp_path):
    ids = np.array([0, 5, 7, 2**63, 2**64 - 1], np.uint64)
    with pytest.raises(OptionError, match=r"vertex 9223372036854775808 does not fit n_id.*--ids dense"):
        batch_of(tmp_path, "hops", HOPS, ids)
    dense = open_samples(slow.write(tmp_path / "d", SAID, "hops", HOPS, vertex_ids=ids, ids="dense"))
    assert dense.pyg()["n_id"].tolist() == [0, 3, 1, 2, 0, 2, 3, 0, 1, 2]


def gapped(path, edges, **options):
    """A store of undirected edges whose vertices have the numbers of IDS."""
    graph = graphs.store_of(path.with_name("dense"), edges, directed=False).load()
    return write_graph(path, graph.indptr, graph.indices, graph.weights, directed=False, vertex_ids=IDS, **options)


def mean_layers(x, edge_index, layers):
    """Each node's mean over what it hears, as often as there are layers; 0 where it hears nothing."""
    for _ in range(layers):
        heard, count = np.zeros_like(x), np.zeros(len(x))
        np.add.at(heard, edge_index[1], x[edge_index[0]])
        np.add.at(count, edge_index[1], 1)
        x = heard / np.maximum(count, 1)[:, None]
    return x


def features_of(ids):
    return np.stack([ids, ids % 7, np.sqrt(ids)], axis=1).astype(np.float64)


def whole_answers(store, layers):
    """The same by rows of the graph as lists: what a vertex with all its neighbors gets."""
    rows, x = graphs.rows_of(store, False), features_of(IDS)
    for _ in range(layers):
        x = np.array([np.mean([x[u] for u, _ in row], axis=0) for row in rows])
    return x


@pytest.fixture
def all_neighbors(tmp_path):
    """A graph of gapped ids, and three hops of all neighbors from each of its vertices."""
    store = gapped(tmp_path / "g", graphs.SQUARE, partitions=3)
    hops = slow.slow_hops(store, range(5), (3, 3, 3), replace=False)
    said = slow.manifest(store, "neighbor", {"fanout": [3, 3, 3]})
    return store, slow.write(tmp_path / "s", said, "hops", hops, group_size=2, vertex_ids=IDS)


def test_means_over_all_neighbors_are_those_of_the_graph_at_every_seed(all_neighbors):
    store, path = all_neighbors
    for layers in (1, 2, 3):
        batch = open_samples(path).pyg()
        answers = mean_layers(features_of(batch["n_id"]), batch["edge_index"], layers)[: batch["batch_size"]]
        assert np.allclose(answers, whole_answers(store, layers), rtol=1e-12)


def test_means_over_drawn_neighbors_are_those_of_each_tree(tmp_path):
    store = gapped(tmp_path / "g", graphs.SQUARE)
    hops = slow.slow_hops(store, [0, 4, 2], (2, 2, 3), replace=True, seed=5)
    batch = open_samples(slow.write(tmp_path / "s", SAID, "hops", hops, vertex_ids=IDS)).pyg()

    def answer(instance, hop, place):
        if hop == 3:
            return features_of(IDS)[hops["hop_3"][instance, place]]
        fanout = (2, 2, 3)[hop]
        heard = [answer(instance, hop + 1, place * fanout + child) for child in range(fanout)]
        return np.mean(heard, axis=0)  # every vertex has neighbors, and draws repeat

    expected = [answer(instance, 0, 0) for instance in range(3)]
    assert np.allclose(mean_layers(features_of(batch["n_id"]), batch["edge_index"], 3)[:3], expected, rtol=1e-12)


def test_a_snowball_brings_its_source_all_neighbors(tmp_path):
    store = gapped(tmp_path / "g", graphs.SQUARE)
    arrays = slow.slow_snowball(store, range(5), 1)
    batch = open_samples(slow.write(tmp_path / "s", SAID, "subgraphs", arrays, vertex_ids=IDS)).pyg()
    answers = mean_layers(features_of(batch["n_id"]), batch["edge_index"], 1)[batch["seed"]]
    assert np.allclose(answers, whole_answers(store, 1), rtol=1e-12)


def sampled(tmp_path, layout):
    """A graph in three partitions, and a sample of it."""
    store = gapped(tmp_path / "g", graphs.SQUARE, partitions=3)
    if layout == "walks":
        walks, lengths = slow.slow_walks(store, "deepwalk", range(5), walk_length=4)
        arrays = {"walks": walks, "lengths": lengths}
    else:
        snow = slow.slow_snowball(store, range(5), 2)
        arrays = snow if layout == "subgraphs" else slow.slow_hops(store, range(5), (2, 2), replace=False)
    said = slow.manifest(store, "neighbor", {})
    return store, slow.write(tmp_path / "s", said, layout, arrays, group_size=2, vertex_ids=IDS)


@pytest.mark.parametrize("layout", ["walks", "hops", "subgraphs"])
def test_e_id_is_where_the_edge_is_in_the_rows_of_the_graph(tmp_path, layout):
    store, path = sampled(tmp_path, layout)
    assert export(path, tmp_path / "out.npz")["left_out"] == {}
    with np.load(tmp_path / "out.npz") as held:
        graph, e_id = store.load(), held["e_id"]
        neighbor, vertex = held["n_id"][held["edge_index"]]
        assert e_id.size == sum(held["num_sampled_edges"]) > 0
    assert np.array_equal(IDS[graph.indices[e_id]], neighbor)
    assert np.array_equal(IDS[np.searchsorted(graph.indptr, e_id, "right") - 1], vertex)


def test_a_step_that_is_no_edge_has_no_e_id_and_other_layouts_hold_no_such_step(tmp_path):
    store = gapped(tmp_path / "g", graphs.SQUARE)
    said = slow.manifest(store, "jump", {})
    jump = {"walks": np.array([[0, 4, 3]], np.uint32), "lengths": np.array([2])}
    samples = open_samples(slow.write(tmp_path / "w", said, "walks", jump, vertex_ids=IDS))
    assert samples.pyg(graph=store)["e_id"].tolist() == [-1, store.edges - 1]
    hops = {"hop_0": np.array([[0]], np.uint32), "hop_1": np.array([[4]], np.uint32)}
    samples = open_samples(slow.write(tmp_path / "h", said, "hops", hops, vertex_ids=IDS))
    with pytest.raises(StoreError, match="no edge 3 -> 50000"):
        samples.pyg(graph=store)


def test_e_id_is_left_out_by_name_where_the_graph_cannot_say_it(tmp_path):
    store, path = sampled(tmp_path, "hops")
    moved = tmp_path / "moved"
    store.path.rename(moved)
    assert export(path, tmp_path / "a.npz")["left_out"]["e_id"].endswith("or name the graph with graph")
    assert export(path, tmp_path / "b.npz", graph=moved)["left_out"] == {}
    gapped(store.path, graphs.SQUARE[:-1] + [(2, 4, 1)])
    assert "fingerprint" in export(path, tmp_path / "c.npz")["left_out"]["e_id"]
    with pytest.raises(StoreError, match="fingerprint"):
        export(path, tmp_path / "d.npz", graph=store.path)
    held = [set(np.load(tmp_path / f"{name}.npz").files) for name in "abc"]
    assert held[1] - held[0] == {"e_id"}
    assert held[2] == held[0]
    with pytest.raises(OptionError, match="^graph: only for format pyg or torch"):
        export(path, tmp_path / "e.txt", graph=moved)


def test_repeated_edges_leave_e_id_open(tmp_path):
    store = graphs.store_of(tmp_path / "g", graphs.TROUBLED, directed=True)
    said = slow.manifest(store, "neighbor", {})
    path = slow.write(tmp_path / "s", said, "hops", slow.slow_hops(store, [0, 2], (2,), replace=False))
    assert "repeated edges" in export(path, tmp_path / "out.npz")["left_out"]["e_id"]


def test_the_command_says_what_it_leaves_out(tmp_path):
    store, path = sampled(tmp_path, "hops")
    store.path.rename(tmp_path / "moved")
    said = CliRunner().invoke(command, [str(path), str(tmp_path / "a.npz")])
    assert said.exit_code == 0
    assert "without e_id:" in said.output
    options = [str(path), str(tmp_path / "b.npz"), "--graph", str(tmp_path / "moved"), "--json"]
    assert json.loads(CliRunner().invoke(command, options).output)["left_out"] == {}


def test_sageconv_of_pyg_has_the_graphs_answers_at_the_seeds(all_neighbors, tmp_path):
    torch = need_package("torch")
    need_package("torch_geometric")
    from torch_geometric.data import Data
    from torch_geometric.nn import SAGEConv
    from torch_geometric.utils import trim_to_layer

    store, path = all_neighbors
    export(path, tmp_path / "out.pt")
    batch = Data(**torch.load(tmp_path / "out.pt", weights_only=True))
    assert batch.validate()
    assert batch.num_nodes == batch.n_id.numel()
    x = torch.from_numpy(features_of(batch.n_id.numpy()))
    mean = SAGEConv(3, 3, root_weight=False, bias=False).double()
    mean.lin_l.weight.data = torch.eye(3, dtype=torch.double)
    answers, trimmed, edges = x, x, batch.edge_index
    with torch.no_grad():
        for layer in range(3):
            answers = mean(answers, batch.edge_index)
            trimmed, edges, _ = trim_to_layer(layer, batch.num_sampled_nodes, batch.num_sampled_edges, trimmed, edges)
            trimmed = mean(trimmed, edges)
            if layer == 0:
                assert np.allclose(answers[: batch.batch_size], whole_answers(store, 1))
    assert np.allclose(answers[: batch.batch_size], whole_answers(store, 3))
    assert np.allclose(trimmed[: batch.batch_size], whole_answers(store, 3))
