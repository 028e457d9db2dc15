"""Claims of the walks for PyTorch: the bytes of a stored sample, each walk once however a job is divided, and
skip-grams as their definition says.
"""

import pickle
from collections import Counter

import numpy as np
import pytest
from helpers import graphs
from helpers.machine import need_package
from helpers.stats import assert_drawn_from

import csaw
from csaw.engine import sample
from csaw.partition import write_graph
from csaw.partition.errors import OptionError

torch = need_package("torch")
DataLoader = torch.utils.data.DataLoader

from csaw.engine.loaders import SkipGrams, WalkDataset, WalkStream
from csaw.engine.loaders.tensors import span_of, vertices_of

OPTIONS = {"walk_length": 6, "num_walks": 2, "seed": 3, "device": "cpu", "weighted": False}
FORKS = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Dead ends, an isolated vertex, and ids that are not 0 .. V - 1."""
    folder = tmp_path_factory.mktemp("graph")
    graph = graphs.store_of(folder / "plain.zarr", graphs.TROUBLED, directed=True, vertices=9).load()
    return write_graph(
        folder / "g.zarr", graph.indptr, graph.indices, graph.weights, directed=True, vertex_ids=10 + 5 * np.arange(9)
    )


@pytest.fixture(scope="module")
def samples(store, tmp_path_factory):
    return sample(store, tmp_path_factory.mktemp("walks") / "w.zarr", "deepwalk", **OPTIONS)


def expected(store, samples):
    """The walks of the stored sample by dense number, -1 after a dead end."""
    numbers = {original: number for number, original in enumerate(store.vertex_ids().tolist())}
    return [[numbers.get(v, -1) for v in walk] for walk in np.asarray(samples.walks).tolist()]


def test_a_dataset_has_the_walks_of_its_store_by_number(store, samples):
    numbered = WalkDataset(samples, graph=store)
    assert len(numbered) == samples.instances
    found = next(iter(DataLoader(numbered, batch_size=len(numbered))))
    assert found.dtype == torch.int64
    assert found.tolist() == expected(store, samples)
    assert numbered[3].tolist() == expected(store, samples)[3]
    as_stored = torch.stack([WalkDataset(samples.path)[i] for i in range(5)])
    ids = np.append(store.vertex_ids(), -1)
    assert as_stored.tolist() == ids[np.array(expected(store, samples)[:5])].tolist()


def test_a_shuffled_dataset_has_each_walk_once_also_in_worker_processes(store, samples):
    dataset = pickle.loads(pickle.dumps(WalkDataset(samples, graph=store)))
    found = [walk for batch in DataLoader(dataset, batch_size=4, shuffle=True) for walk in batch.tolist()]
    assert Counter(map(tuple, found)) == Counter(map(tuple, expected(store, samples)))
    assert found != expected(store, samples)


@pytest.mark.parametrize(("world", "workers"), [(1, 0), (3, 0), pytest.param(2, 2, marks=FORKS)])
def test_a_stream_has_each_walk_of_the_sample_once_in_disjoint_shares(store, samples, world, workers):
    found = []
    for rank in range(world):
        stream = WalkStream(store, walks_per_batch=4, rank=rank, world=world, **OPTIONS)
        batches = list(DataLoader(stream, batch_size=None, num_workers=workers))
        assert all(0 < len(batch) <= 4 for batch in batches)
        if not workers:
            assert len(stream) == len(batches)
        found.append([walk for batch in batches for walk in batch.tolist()])
    whole = [walk for share in found for walk in share]
    if workers:  # whose batches alternate
        assert Counter(map(tuple, whole)) == Counter(map(tuple, expected(store, samples)))
    else:
        assert whole == expected(store, samples)
    assert max(map(len, found)) - min(map(len, found)) <= 1


def test_shares_follow_each_other_and_cover_all():
    for count in (0, 1, 7, 100):
        for shares in (1, 2, 3, 8):
            spans = [span_of(count, share, shares) for share in range(shares)]
            assert [n for first, last in spans for n in range(first, last)] == list(range(count))


@pytest.mark.parametrize(("dtype", "vertices"), [("u4", 9), ("u4", 2**32 - 2), ("u8", 2**33)])
def test_dense_ids_are_tensors_of_the_same_numbers(dtype, vertices):
    ids = [0, 5, vertices - 1]
    held = np.append(np.array(ids, dtype), np.array([-1]).astype(dtype))
    assert vertices_of(held, vertices).tolist() == [*ids, -1]


@FORKS
def test_another_epoch_draws_other_walks_also_where_workers_stay(store):
    stream = WalkStream(store, walks_per_batch=8, **OPTIONS)
    next(iter(stream))  # opens the graph in this process, whose workers cannot use its threads
    loader = DataLoader(stream, batch_size=None, num_workers=1, persistent_workers=True)
    passes = []
    for epoch in (0, 1, 1):
        stream.set_epoch(epoch)
        passes.append(torch.cat(list(loader)).tolist())
    assert passes[0] != passes[1]
    assert passes[1] == passes[2]
    more = WalkStream(store, walks_per_batch=100, **OPTIONS | {"num_walks": 4})
    assert [walk for one in passes[:2] for walk in one] == torch.cat(list(more)).tolist()


def test_the_share_is_that_of_torch_distributed(store, tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    try:
        stream = WalkStream(store, **OPTIONS)
        assert (stream.rank, stream.world) == (0, 1)
    finally:
        torch.distributed.destroy_process_group()


def test_walks_of_a_data_object_have_the_numbers_of_its_nodes():
    data = need_package("torch_geometric.data")
    ring = data.Data(edge_index=torch.tensor([[1, 2, 3], [2, 3, 1]]), num_nodes=5)  # 0 and 4 have no edges
    walks = next(iter(WalkStream(ring, walk_length=4, device="cpu")))
    assert walks.tolist() == [[0, *[-1] * 4], [1, 2, 3, 1, 2], [2, 3, 1, 2, 3], [3, 1, 2, 3, 1], [4, *[-1] * 4]]
    with pytest.raises(OptionError, match="HeteroData: expected at least one edge type"):
        WalkStream(data.HeteroData())


def test_what_cannot_be_is_refused(store, samples, tmp_path):
    for wrong, said in (
        ({"algo": "neighbor", "fanout": (2,)}, "expected a walk with a limit"),
        ({"rank": 2, "world": 2}, "expected 0 <= rank < world"),
        ({"rank": 0}, "expected both or neither"),
        ({"walks_per_batch": 0}, "walks_per_batch: expected an integer from 1"),
        ({"ids": "original"}, "a stream of walks has dense ids"),
    ):
        with pytest.raises(OptionError, match=said):
            WalkStream(store, **{"device": "cpu"} | wrong)
    with pytest.raises(OptionError, match="epoch: expected an integer from 0"):
        WalkStream(store, **OPTIONS).set_epoch(-1)
    other = graphs.random_store(tmp_path / "other.zarr", vertices=20, edges=30)
    with pytest.raises(OptionError, match="a graph other than"):
        WalkDataset(samples, graph=other)
    hops = sample(store, tmp_path / "hops.zarr", "neighbor", fanout=(2,), device="cpu")
    with pytest.raises(OptionError, match="expected a sample of walks with a limit of steps, found the layout hops"):
        WalkDataset(hops)
    for wrong, said in (
        ({"window": 0}, "window"),
        ({"negatives": 2}, "vertices"),
        ({"noise": torch.zeros(3)}, "noise"),
        ({"noise": memoryview(b"abc")}, "noise"),
    ):
        with pytest.raises(OptionError, match=f"{said}: expected"):
            SkipGrams(**wrong)


@pytest.mark.parametrize("window", [1, 2, 5, 20])
def test_skip_grams_are_the_pairs_within_the_window(store, samples, window):
    walks = expected(store, samples)
    slow = Counter()
    for walk in walks:
        ended = [v for v in walk if v >= 0]
        slow.update(
            (ended[i], ended[j])
            for i in range(len(ended))
            for j in range(len(ended))
            if i != j and abs(i - j) <= window
        )
    pairs = SkipGrams(window)(torch.tensor(walks))
    assert Counter(zip(pairs.center.tolist(), pairs.context.tolist(), strict=True)) == slow
    assert pairs.negative is None
    listed = SkipGrams(window)([torch.tensor(walk) for walk in walks])
    assert torch.equal(listed.center, pairs.center)


def test_walks_without_a_step_have_no_pairs():
    for walks in (torch.tensor([[3], [4]]), torch.full((2, 5), -1), torch.empty((0, 5), dtype=torch.int64)):
        pairs = SkipGrams(2, negatives=3, vertices=5)(walks)
        assert pairs.center.shape == (0,)
        assert pairs.center.dtype == torch.int64
        assert pairs.negative.shape == (0, 3)


@pytest.mark.parametrize("noise", [None, [3.0, 0.0, 1.0, 4.0, 0.0]])
def test_negatives_are_drawn_from_their_law(noise):
    torch.manual_seed(4)
    pairs = SkipGrams(1, negatives=4, vertices=5, noise=noise)(torch.zeros((2000, 2), dtype=torch.int64))
    assert pairs.negative.shape == (4000, 4)
    assert_drawn_from(np.bincount(pairs.negative.reshape(-1), minlength=5), noise or [1.0] * 5)


def test_a_loader_makes_pairs_while_it_draws(store):
    stream = WalkStream(store, walks_per_batch=8, transform=SkipGrams(2, 3, vertices=store.vertices), **OPTIONS)
    center = torch.cat([pairs.center for pairs in DataLoader(stream, batch_size=None)])
    plain = SkipGrams(2)(torch.cat(list(WalkStream(store, **OPTIONS))))
    assert sorted(center.tolist()) == sorted(plain.center.tolist())


@pytest.mark.parametrize("kind", ["name", "specification", "file", "list"])
def test_walks_are_drawn_from_what_csaw_stream_takes(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "edges.txt").write_text("7 8\n8 9\n9 7\n7 9\n")
    graph = {
        "name": "karate",
        "specification": "rmat:scale=4",
        "file": str(tmp_path / "edges.txt"),
        "list": [(0, 1), (1, 2), (2, 0)],
    }[kind]
    with csaw.stream(graph, **OPTIONS, ids="dense") as stream:
        streamed = [walk for batch in stream for walk in batch["walks"].astype(np.int64).tolist()]
    drawn = torch.cat(list(WalkStream(graph, **OPTIONS)))
    assert (drawn.numpy() == np.array(streamed)).all()


def test_a_dataset_takes_the_name_of_its_graph(tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    samples = csaw.sample("karate", tmp_path / "w.zarr", **OPTIONS)
    ids = csaw.graph("karate").vertex_ids()
    assert ids[WalkDataset(samples, "karate")[0]].tolist() == samples.walks[:1][0].tolist()


def test_walks_of_different_lengths_make_no_pairs():
    with pytest.raises(OptionError, match=r"walks: expected tensors of equal length, found \[2\] and \[3\]; pad"):
        SkipGrams(window=2)([torch.tensor([1, 2, 3]), torch.tensor([4, 5])])


NEGATIVE = {
    "with -1": [(-1, 3), (3, -1), (-1, -5), (-5, 7), (3, 7)],
    "without -1": [(2, 3), (3, 2), (2, -5), (-5, 7), (3, 7)],
    "of 64 bits": [(-1, 2**40), (2**40, -1), (-1, -(2**40)), (-(2**40), 7), (2**40, 7)],
}


@pytest.mark.parametrize("kind", NEGATIVE)
@pytest.mark.parametrize("stored", [True, False])
def test_negative_ids_are_no_ends_of_walks(tmp_path, kind, stored):
    graph = csaw.partition(NEGATIVE[kind], tmp_path / "g.zarr", directed=True)
    place = [tmp_path / "w.zarr"] if stored else []
    samples = csaw.sample(graph, *place, walk_length=4, num_walks=9, seed=1)
    with pytest.raises(OptionError, match="expected ids of at least 0, .* negative ids; pass graph= .* ids=.dense"):
        WalkDataset(samples)
    walks = torch.stack(list(WalkDataset(samples, graph=graph)))
    found = [[graph.vertex_ids()[v] for v in walk if v >= 0] for walk in walks.tolist()]
    assert found == [samples.walk(number).tolist() for number in range(len(samples))]
    pairs = SkipGrams(window=1)(walks)
    assert pairs.center.numel() == 2 * int(samples.lengths[:].sum())
    dense = csaw.sample(graph, walk_length=4, num_walks=9, seed=1, ids="dense")
    assert torch.equal(torch.stack(list(WalkDataset(dense))), walks)


@pytest.mark.parametrize("walks", [torch.tensor([[1, -5]]), [torch.tensor([1, 2]), torch.tensor([-2, 1])]])
def test_skip_grams_drop_no_negative_id_silently(walks):
    with pytest.raises(
        OptionError, match="walks: expected vertices of at least 0, or -1 for none, found -[25]; .* graph="
    ):
        SkipGrams(window=1)(walks)


def test_a_stream_says_that_it_cannot_be_pickled(store):
    with pytest.raises(TypeError, match="a stream cannot be pickled or copied, because it has threads"):
        pickle.dumps(csaw.stream(store, walk_length=3, device="cpu"))


NO_WALKS = {
    "one walk": torch.arange(5),
    "nothing": [],
    "an array": np.ones((2, 3), int),
    "lists": [[1, 2]],
    "arrays": [np.arange(3)],
    "floats": torch.ones(2, 3),
    "text": "ab",
    "truths": torch.ones(2, 3) > 0,
    "a number": 3,
}


@pytest.mark.parametrize("walks", NO_WALKS.values(), ids=NO_WALKS)
def test_skip_grams_of_anything_but_walks_are_refused(walks):
    with pytest.raises(OptionError, match="walks: expected integers as a tensor"):
        SkipGrams(window=2)(walks)


def test_skip_grams_of_small_integers_are_those_of_large_ones():
    walks = torch.arange(6).reshape(2, 3)
    for kind in (torch.int32, torch.uint8):
        found, wanted = SkipGrams(window=2)(walks.to(kind)), SkipGrams(window=2)(walks)
        assert found.center.dtype == torch.int64
        assert (torch.equal(found.center, wanted.center), torch.equal(found.context, wanted.context)) == (True, True)


def test_noise_may_be_huge():
    noise = torch.full((3,), 1e308, dtype=torch.float64)
    drawn = SkipGrams(window=1, negatives=3, noise=noise)(torch.zeros(200, 2, dtype=torch.int64)).negative
    assert sorted(drawn.unique().tolist()) == [0, 1, 2]
