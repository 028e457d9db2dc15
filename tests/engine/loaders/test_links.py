"""Claims of LinkNeighborLoader: the mini-batches of PyTorch Geometric's, and negatives that are never edges, each with
its chance.
"""

import math
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from helpers import graphs
from helpers.machine import need_package
from helpers.stats import assert_drawn_from

import csaw
from csaw.partition.base.compile import njit
from csaw.partition.errors import BudgetError, CsawError, OptionError

torch = need_package("torch")
pyg = need_package("torch_geometric")

from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import LinkNeighborLoader as PygLoader
from torch_geometric.sampler import NegativeSampling

from csaw.engine.loaders import LinkNeighborLoader, NeighborSampler, link_neighbor_loader, non_edges
from csaw.engine.loaders.non_edges import NonEdges, free_vertex

# Vertex 0 has an edge to all others, 7 to none; 2 and 4 have self loops; some edges are there twice.
EDGES = [(0, v) for v in range(1, 8)] + [(1, 0), (1, 2), (1, 2), (2, 2), (2, 0), (3, 0), (3, 7), (4, 4), (4, 4)]
EDGES += [(5, v) for v in (0, 1, 2, 3, 4, 6)] + [(6, 5)]
VERTICES = 8
KINDS = [
    {},
    {"neg_sampling": "binary"},
    {"neg_sampling": {"mode": "binary", "amount": 0.5}},
    {"neg_sampling": {"mode": "binary", "amount": 2.5}, "disjoint": True},
    {"neg_sampling": "triplet"},
    {"neg_sampling": {"mode": "triplet", "amount": 3}},
    {"neg_sampling": {"mode": "triplet", "amount": 3}, "disjoint": True},
    {"disjoint": True},
]


def random_data(vertices=60, edges=500, seed=0):
    """A directed graph with self loops, repeated edges and hubs."""
    rng = np.random.default_rng(seed)
    ends = (rng.random((2, edges)) ** 1.5 * (vertices - 3)).astype(np.int64)
    return Data(
        x=torch.arange(vertices).view(-1, 1) * 10,
        edge_index=torch.from_numpy(ends),
        edge_attr=torch.arange(edges) * 10,
        time=torch.from_numpy(rng.integers(0, 50, edges)),
    )


@pytest.fixture(scope="module")
def data():
    return random_data()


def loader_of(data, num_neighbors=(3, 2), **options):
    return LinkNeighborLoader(data, list(num_neighbors), **{"device": "cpu", "seed": 5, "batch_size": 32} | options)


def free_of(edges, vertices):
    """The pairs of different vertices without an edge, by the definition."""
    return set(product(range(vertices), repeat=2)) - set(edges) - {(v, v) for v in range(vertices)}


def small():
    return Data(edge_index=torch.tensor(EDGES).t(), num_nodes=VERTICES)


def negatives_of(batch):
    """Positives and negatives of a mini-batch, as pairs of vertices."""
    count = len(batch.input_id)
    if "dst_neg_index" not in batch:
        pairs = list(zip(*batch.n_id[batch.edge_label_index].tolist(), strict=True))
        return pairs[:count], pairs[count:]
    source = batch.n_id[batch.src_index].tolist()
    positive = list(zip(source, batch.n_id[batch.dst_pos_index].tolist(), strict=True))
    rows = batch.n_id[batch.dst_neg_index].view(count, -1).tolist()
    return positive, [(u, w) for u, row in zip(source, rows, strict=True) for w in row]


# The law, against chances that are written from lists.

SOME = [3.0, 1.0, 0.0, 2.0, 1.0, 5.0, 1.0, 4.0]
OTHERS = [1.0, 0.0, 7.0, 1.0, 2.0, 1.0, 3.0, 1.0]


@pytest.mark.parametrize("weighted", [(None, None), (SOME, None), (None, OTHERS), (SOME, OTHERS)], ids=str)
def test_pairs_have_their_chances(weighted):
    first, second = ([1.0] * VERTICES if one is None else one for one in weighted)
    chances = np.zeros((VERTICES, VERTICES))
    for u, w in free_of(EDGES, VERTICES):
        chances[u, w] = first[u] * second[w]
    weights = {name: torch.tensor(one) for name, one in zip(("src_weight", "dst_weight"), weighted, strict=True) if one}
    sampling = NegativeSampling("binary", 500, **weights)
    counts = Counter()
    for batch in loader_of(small(), [1], neg_sampling=sampling):
        counts.update(negatives_of(batch)[1])
    assert_drawn_from([counts[pair] for pair in np.ndindex(chances.shape)], chances.ravel())


@pytest.mark.parametrize("weights", [None, OTHERS], ids=str)
def test_targets_have_their_chances_for_each_source(weights):
    free = free_of(EDGES, VERTICES)
    sampling = NegativeSampling("triplet", 2000, dst_weight=None if weights is None else torch.tensor(weights))
    [batch] = loader_of(small(), [1], edge_label_index=[[1, 2, 3, 4, 5, 6, 7]] * 2, neg_sampling=sampling)
    for u, row in zip(batch.n_id[batch.src_index].tolist(), batch.n_id[batch.dst_neg_index], strict=True):
        chances = [((u, w) in free) * (1.0 if weights is None else weights[w]) for w in range(VERTICES)]
        assert_drawn_from(np.bincount(row, minlength=VERTICES), chances)


def test_joint_outcomes_of_the_anchors():
    """0 -> 1 and 0 -> 2 of five vertices: two independent negatives of 0 are any two of 3 and 4; by weight, 8/9."""
    data = Data(edge_index=torch.tensor([[0, 0], [1, 2]]), num_nodes=5)
    links = torch.tensor([[0], [1]]).repeat(1, 3000)
    for weights, chance in ((None, 1 / 2), (torch.tensor([1.0, 1, 1, 16, 2]), 8 / 9)):
        sampling = NegativeSampling("triplet", 2, dst_weight=weights)
        [batch] = loader_of(data, [1], edge_label_index=links, neg_sampling=sampling, batch_size=3000)
        drawn = Counter(map(tuple, batch.n_id[batch.dst_neg_index].tolist()))
        both = [(a, b) for a in (3, 4) for b in (3, 4)]
        p = {3: chance, 4: 1 - chance}
        assert sum(drawn[pair] for pair in both) == 3000
        assert_drawn_from([drawn[pair] for pair in both], [p[a] * p[b] for a, b in both])


@njit
def chosen(words, row, vertices):
    return [free_vertex(word, 0, row.size, vertices, row, row[:0], row[:0]) for word in words]


def test_every_rank_finds_its_own_free_vertex():
    """At both ends of each rank: the r-th of n free vertices has the words from r / n to (r + 1) / n of all 2^64."""
    rng = np.random.default_rng(3)
    for vertices in (1, 2, 7, 40):
        for degree in {0, 1, vertices // 2, vertices - 1}:
            row = np.union1d(rng.choice(vertices, degree, replace=False), [0])
            free = np.setdiff1d(np.arange(vertices), row)
            ends = [-(-rank * 2**64 // max(free.size, 1)) for rank in range(free.size + 1)]
            words = [word for low, high in pairwise(ends) for word in (low, high - 1)] or [5]
            expected = np.repeat(free, 2).tolist() or [-1]
            assert chosen(np.array(words, np.uint64), row, vertices) == expected


# Over many mini-batches.


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_no_negative_is_an_edge_and_each_link_comes_once(data, kind):
    free, seen = free_of(map(tuple, data.edge_index.t().tolist()), data.num_nodes), []
    loader = loader_of(data, shuffle=True, **kind)
    sampling = NegativeSampling.cast(kind.get("neg_sampling"))
    for batch in loader:
        positive, negative = negatives_of(batch)
        assert positive == list(map(tuple, data.edge_index[:, batch.input_id].t().tolist()))
        assert len(negative) == (0 if sampling is None else math.ceil(len(positive) * sampling.amount))
        assert free.issuperset(negative)
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        assert torch.equal(batch.x[:, 0], batch.n_id * 10)
        assert torch.equal(batch.edge_attr, batch.e_id * 10)
        seen += batch.input_id.tolist()
    assert sorted(seen) == list(range(data.num_edges)) != seen
    assert len(loader) == 16


def test_links_and_known_edges_are_no_negatives_either(data):
    message, target = data.edge_index[:, :250], data.edge_index[:, 250:]
    split = Data(edge_index=message, num_nodes=data.num_nodes)
    hidden = torch.tensor([[50, 51], [10, 11]])
    free = free_of(map(tuple, torch.cat([data.edge_index, hidden], 1).t().tolist()), data.num_nodes)
    options = {"edge_label_index": target, "neg_sampling": {"mode": "binary", "amount": 20}}
    for batch in loader_of(split, known_edges=hidden, **options):
        assert free.issuperset(negatives_of(batch)[1])
    drawn = {pair for batch in loader_of(split, **options) for pair in negatives_of(batch)[1]}
    assert drawn >= set(map(tuple, hidden.t().tolist())), "they are drawn where nobody knows them"


def test_an_undirected_store_has_no_edge_in_either_direction(tmp_path):
    store = graphs.random_store(tmp_path / "g.zarr", vertices=40, edges=200)
    held = store.load()
    edges = {(u, int(w)) for u in range(40) for w in held.indices[held.indptr[u] : held.indptr[u + 1]]}
    free, links = free_of(edges, 40), 0
    for batch in loader_of(store, neg_sampling={"mode": "binary", "amount": 3}):
        positive, negative = negatives_of(batch)
        assert edges.issuperset(positive)
        assert free.issuperset(negative)
        links += len(positive)
    assert links == store.edges


def same(a, b):
    assert a.keys() == b.keys()
    return all(torch.equal(a[k], b[k]) for k in a.keys() if isinstance(a[k], torch.Tensor))  # noqa: SIM118 - of a Data


@pytest.mark.parametrize("kind", KINDS[1:6:2], ids=str)
def test_mini_batches_are_a_function_of_request_and_epoch(data, kind):
    first = loader_of(data, shuffle=True, **kind)
    again = loader_of(data, shuffle=True, threads=1, in_flight=3, **kind)
    epochs = [list(first) for _ in range(2)], [list(again) for _ in range(2)]
    assert all(same(a, b) for one, two in zip(*epochs, strict=True) for a, b in zip(one, two, strict=True))
    assert not same(epochs[0][0][0], epochs[0][1][0])
    first.epoch = 0
    assert all(same(a, b) for a, b in zip(first, epochs[0][0], strict=True))
    parts = [loader_of(data, shuffle=True, rank=r, world=3, **kind) for r in range(3)]
    assert all(same(a, b) for a, b in zip((b for part in parts for b in part), epochs[0][0], strict=True))
    other = list(loader_of(data, shuffle=True, **kind | {"seed": 6}))
    assert not any(same(a, b) for a, b in zip(other, epochs[0][0], strict=True))


def test_negatives_do_not_depend_on_the_size_of_mini_batches(data):
    def negatives(size, epoch=0, **options):
        sampling = {"mode": "triplet", "amount": 2}
        loader, found = loader_of(data, batch_size=size, neg_sampling=sampling, **options), {}
        loader.epoch = epoch
        for batch in loader:
            found |= dict(zip(batch.input_id.tolist(), batch.n_id[batch.dst_neg_index].tolist(), strict=True))
        return [found[number] for number in range(data.num_edges)]

    first = negatives(7)
    assert first == negatives(32, shuffle=True) == negatives(500)
    for other in (negatives(7, epoch=1), negatives(7, seed=6)):
        assert sum(a == b for a, b in zip(first, other, strict=True)) < 50, "as many as by chance"


def test_what_the_caller_changes_in_place_changes_no_later_mini_batch(data):
    given = data.clone()
    loader = loader_of(given, neg_sampling="binary")
    first = [batch.clone() for batch in loader]
    given.edge_index.zero_()
    loader.epoch = 0
    for batch in loader:
        batch.input_id.zero_(), batch.edge_label_index.zero_()
    loader.epoch = 0
    assert all(same(a, b) for a, b in zip(loader, first, strict=True))


# Beside PyTorch Geometric's loader.


@pytest.mark.parametrize("labels", [None, "float", "classes"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_mini_batches_equal_pygs(kind, labels):
    """On a graph whose vertices all keep their only neighbor, and each have one vertex without an edge, nothing is left
    to chance.
    """
    ring = Data(edge_index=torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), num_nodes=4, x=torch.arange(4.0))
    options = dict(kind)
    if labels is not None:
        if "triplet" in str(kind):
            return
        options["edge_label"] = torch.tensor([0.0, 1, 0, 2]) if labels == "float" else torch.tensor([2, 0, 1, 1])
    theirs = list(PygLoader(ring, [-1], batch_size=3, neighbor_sampler=sampler_of(ring, options), **options))
    ours = list(loader_of(ring, [-1], batch_size=3, **options))
    exact = "neg_sampling" not in kind
    for a, b in zip(ours, theirs, strict=True):
        assert set(a.keys()) == set(b.keys())
        for key in a.keys():  # noqa: SIM118 - of a Data
            if not isinstance(a[key], torch.Tensor):
                assert type(a[key]) is type(b[key]), key
                continue
            assert a[key].dtype == b[key].dtype, key
            if exact or key in ("edge_label", "input_id"):
                assert torch.equal(a[key], b[key]), key
            elif key not in ("n_id", "e_id", "x", "edge_index", "batch"):  # as many as negatives have neighbors
                assert a[key].shape == b[key].shape, key


def sampler_of(data, options):
    return NeighborSampler(data, [-1], device="cpu", disjoint=options.get("disjoint", False))


def test_a_script_for_pyg_runs_with_another_import(data):
    from torch_geometric.transforms import RandomLinkSplit

    torch.manual_seed(0)
    split = RandomLinkSplit(0.1, 0.1, disjoint_train_ratio=0.3, add_negative_train_samples=False)
    train, val, _ = split(Data(x=torch.ones(60, 3), edge_index=data.edge_index))
    loader = LinkNeighborLoader(
        data=train,
        num_neighbors=[4, 2],
        edge_label_index=train.edge_label_index,
        edge_label=train.edge_label,
        neg_sampling_ratio=2.0,
        batch_size=40,
        shuffle=True,
        num_workers=0,
        is_sorted=False,
        filter_per_worker=None,
        neighbor_sampler=None,
        directed=True,
    )
    for batch in loader:
        links = len(batch.input_id)
        assert batch.edge_label.tolist() == [1.0] * links + [0.0] * 2 * links
    [batch] = LinkNeighborLoader(
        val, [4, 2], edge_label_index=val.edge_label_index, edge_label=val.edge_label, batch_size=1000
    )
    assert torch.equal(batch.n_id[batch.edge_label_index], val.edge_label_index)
    assert torch.equal(batch.edge_label, val.edge_label)


@pytest.mark.parametrize(("mode", "amount"), [(None, 0), ("binary", 2), ("binary", 1.5), ("triplet", 2)])
def test_in_time_no_edge_is_later_than_its_link(data, mode, amount):
    times = data.time + 5
    sampling = mode and {"mode": mode, "amount": amount}
    kept = {"time_attr": "time", "edge_label_time": times, "neg_sampling": sampling, "temporal_strategy": "last"}
    kept |= {"negative_time": "until"} if sampling else {}
    for batch in loader_of(data, **kept):
        count = len(batch.input_id)
        of_link, negatives = times[batch.input_id], math.ceil(amount * count)
        if mode == "triplet":
            assert torch.equal(batch.seed_time, of_link)
            ends = [batch.src_index, batch.dst_pos_index, batch.dst_neg_index.t().reshape(-1)]
        else:
            assert torch.equal(batch.edge_label_time, of_link.repeat(4)[: count + negatives])
            ends = [*batch.edge_label_index]
        for end in ends:
            link = torch.arange(len(end)) % count
            assert torch.equal(batch.batch[end], link)
            latest = dict(zip(end.tolist(), of_link[link].tolist(), strict=True))
            drawn = zip(batch.edge_index[1].tolist(), batch.time.tolist(), strict=True)
            assert all(time <= latest.get(node, time) for node, time in drawn)
        assert (batch.time <= of_link[batch.batch[batch.edge_index[1]]]).all()
        assert len(negatives_of(batch)[1]) == negatives


# Arguments.


def test_a_source_that_is_joined_to_all_is_an_error_or_skipped():
    data = small()
    with pytest.raises(OptionError, match=r"vertex 0 has an edge to every .* so 7 links have no .*skip_full=True"):
        loader_of(data, [1], neg_sampling="triplet")
    loader = loader_of(data, [1], neg_sampling="triplet", skip_full=True, disjoint=True)
    kept = [i for i, (u, _) in enumerate(EDGES) if u != 0]
    assert [i for batch in loader for i in batch.input_id.tolist()] == kept
    assert [pair for batch in loader for pair in negatives_of(batch)[0]] == [EDGES[i] for i in kept]
    assert (loader.skipped, len(loader.dataset)) == (7, len(kept))
    whole = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    with pytest.raises(OptionError, match="expected a pair of vertices without an edge, found none"):
        loader_of(whole, [1], neg_sampling="binary")
    with pytest.raises(OptionError, match="expected a link that has a negative, found none"):
        loader_of(whole, [1], neg_sampling="triplet", skip_full=True)
    assert len(loader_of(whole, [1])) == 1


TRIPLET = {"mode": "triplet", "amount": 1}
REFUSED = [
    ({"edge_label_index": torch.zeros(2, 0, dtype=torch.long)}, "edge_label_index: expected at least one link"),
    ({"edge_label_index": torch.zeros(2, 3)}, r"edge_label_index: expected vertex numbers .* found float32 \[2, 3\]"),
    ({"edge_label_index": torch.ones(2, 3, dtype=torch.bool)}, r"edge_label_index: .* found bool \[2, 3\]"),
    ({"edge_label_index": torch.zeros(3, 2, dtype=torch.long)}, r"edge_label_index: .* found int64 \[3, 2\]"),
    ({"edge_label_index": torch.tensor([[0], [60]])}, "edge_label_index: .* from 0 to 59 as targets, found 60"),
    ({"edge_label_index": torch.tensor([[-1], [1]])}, "edge_label_index: .* from 0 to 59 as sources, found -1"),
    ({"edge_label_index": np.array([[0], [2**63]], np.uint64)}, "edge_label_index: .* found 9223372036854775808"),
    ({"edge_label_index": [[0], [2**64]]}, "edge_label_index: expected vertex numbers"),
    ({"edge_label_index": [[0, True], [1, 2]]}, "edge_label_index: expected vertex numbers"),
    ({"edge_label_index": np.ma.array([[0, 1], [1, 2]], mask=[[0, 1], [0, 0]])}, "edge_label_index: expected vertex"),
    ({"edge_label_index": torch.zeros(2, 2, dtype=torch.long).to_sparse()}, "edge_label_index: expected vertex"),
    ({"edge_label_index": (("a", "to", "b"), torch.tensor([[0], [1]]))}, "edge_label_index: .*several types"),
    ({"edge_label_index": "all"}, "edge_label_index: expected vertex numbers"),
    ({"known_edges": torch.tensor([[0], [99]]), "neg_sampling": "binary"}, "known_edges: .* found 99"),
    ({"known_edges": "all"}, "known_edges: expected vertex numbers"),
    ({"edge_label": torch.ones(3)}, "edge_label: expected 500 rows"),
    ({"edge_label": torch.ones(500, dtype=torch.complex64)}, "edge_label: expected a dense .* found torch.complex64"),
    ({"edge_label": torch.ones(500).to_sparse()}, "edge_label: expected a dense tensor of numbers"),
    ({"edge_label": torch.ones(500, dtype=torch.uint16)}, "edge_label: expected a dense .* found torch.uint16"),
    ({"edge_label": [1.0] * 500}, "edge_label: expected an array of numbers, a tensor"),
    ({"edge_label": torch.ones(500), "neg_sampling": "triplet"}, "edge_label: expected none with triplets"),
    ({"edge_label_time": torch.arange(500)}, "time_attr and edge_label_time: expected both or neither"),
    ({"time_attr": "time"}, "time_attr and edge_label_time: expected both or neither"),
    ({"neg_sampling": "binary", "negative_time": "until"}, "negative_time: expected neg_sampling, time_attr and"),
    ({"negative_time": "ever"}, "negative_time: expected neg_sampling, time_attr and"),
    ({"negative_time": 3}, "negative_time: expected a text, or None, found 3"),
    ({"time_attr": "time", "edge_label_time": torch.ones(500)}, "edge_label_time: expected an integer for each of 500"),
    ({"neg_sampling": "all"}, "neg_sampling: expected None, 'binary', 'triplet'"),
    ({"neg_sampling": 3}, "neg_sampling: expected None"),
    ({"neg_sampling": {"mode": "triplet", "amount": 1.5}}, "neg_sampling: expected None"),
    ({"neg_sampling": {"mode": "binary", "amount": float("nan")}}, "neg_sampling: expected None"),
    ({"neg_sampling": {"mode": "binary", "amount": float("inf")}}, "neg_sampling: expected None"),
    ({"neg_sampling": {"mode": "binary", "amount": 0}}, "neg_sampling: expected None"),
    ({"neg_sampling": {"mode": "binary", "amount": 2**63}}, "neg_sampling: expected None"),
    ({"neg_sampling": {"mode": "binary", "amount": "2"}}, "neg_sampling: expected None"),
    ({"neg_sampling": {"mode": "binary", "amount": True}}, "neg_sampling: expected None"),
    ({"neg_sampling": {"amount": 2}}, "neg_sampling: expected None"),
    ({"neg_sampling": {"mode": "binary", "amount": 2**30}}, "batch_size: expected at most 2,147,483,647 ends"),
    (
        {"neg_sampling": TRIPLET | {"dst_weight": torch.ones(3)}},
        "neg_sampling: dst_weight: expected a number for each of 60",
    ),
    (
        {"neg_sampling": TRIPLET | {"dst_weight": -torch.ones(60)}},
        "neg_sampling: dst_weight: expected finite numbers of at least 0",
    ),
    (
        {"neg_sampling": TRIPLET | {"dst_weight": torch.zeros(60)}},
        "neg_sampling: dst_weight: expected finite .* one above 0",
    ),
    ({"neg_sampling_ratio": -1.0}, "neg_sampling: expected None"),
    ({"neg_sampling_ratio": "1"}, "neg_sampling_ratio: expected a finite number"),
    ({"neg_sampling_ratio": 1.0, "neg_sampling": "binary"}, "neg_sampling and neg_sampling_ratio exclude each other"),
    ({"drop_last": True, "batch_size": 501}, "drop_last: an epoch has 500 links, fewer than batch_size 501"),
    ({"sources": [1]}, "sources: expected none, because edge_label_index has the links"),
    ({"input_id": torch.arange(3)}, "input_id: expected None"),
    ({"skip_full": "no"}, "skip_full: expected True or False"),
    (
        {"features": {"edge_label": np.zeros(60)}},
        "features: expected a name other than those of what mini-batches have",
    ),
]


@pytest.mark.parametrize(("given", "said"), REFUSED, ids=[f"{k}-{list(g)}" for k, (g, _) in enumerate(REFUSED)])
def test_what_is_no_such_argument_is_refused_in_plain_words(data, given, said):
    with pytest.raises(CsawError, match=f"^{said}"):
        loader_of(data, **given)


def test_other_graphs_are_taken_or_refused():
    for given in (HeteroData(), Data(num_nodes=0, edge_index=torch.zeros(2, 0, dtype=torch.long)), Data(num_nodes=3)):
        with pytest.raises(CsawError):
            loader_of(given)
    lonely = Data(num_nodes=1, edge_index=torch.tensor([[0], [0]]))
    assert next(iter(loader_of(lonely, [2]))).edge_label_index.tolist() == [[0], [0]]
    with pytest.raises(OptionError, match="expected a pair of vertices without an edge"):
        loader_of(lonely, [2], neg_sampling="binary")
    nodes = Data(num_nodes=3, edge_index=torch.tensor([[0], [1]]), time=torch.arange(3))
    timed = {"time_attr": "time", "edge_label_time": torch.tensor([2])}
    assert len(next(iter(loader_of(nodes, [2], **timed))).input_id) == 1
    with pytest.raises(BudgetError, match="number only the vertices that have edges"):
        loader_of(Data(edge_index=torch.tensor([[2**62], [1]]), num_nodes=2**62 + 1), [1])
    batch = next(iter(loader_of(csaw.graph([(0, 1), (1, 2)]), [2], neg_sampling="triplet", skip_full=True)))
    assert len(batch.input_id) == len(batch.dst_neg_index)


def test_graphs_that_are_too_large_for_negatives_are_refused(monkeypatch):
    monkeypatch.setattr(link_neighbor_loader, "available_bytes", lambda: 1000)
    with pytest.raises(BudgetError, match="neg_sampling: rows of all edges take .* give negatives of your own"):
        loader_of(small(), [1], neg_sampling="binary")
    monkeypatch.setattr(non_edges, "MOST_VERTICES", 3)
    with pytest.raises(OptionError, match="neg_sampling: expected a graph of at most 3 vertices, found 4"):
        NonEdges.of(np.array([0]), np.array([1]), 4)
