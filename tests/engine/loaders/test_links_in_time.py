"""Negatives of LinkNeighborLoader as of the time of each link, and of graphs of several types: each that is there and
no edge has its chance, and nothing else is drawn.
"""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from helpers.machine import need_package
from helpers.stats import assert_drawn_from

import csaw
from csaw.partition.errors import BudgetError, OptionError

torch = need_package("torch")
need_package("torch_geometric")

from torch_geometric.data import Data, HeteroData

from csaw.engine.loaders import LinkNeighborLoader, link_neighbor_loader
from csaw.engine.loaders.non_edges_in_time import Ends, NonEdgesInTime

# Vertex 6 has no edge. By 2, all pairs of 0 and 1 are edges; 0 has an edge to all others that are there until 5.
EVENTS = [(0, 1, 1), (1, 0, 2), (0, 2, 3), (0, 1, 4), (0, 3, 5), (2, 3, 6), (1, 2, 6), (3, 3, 7), (4, 5, 8), (0, 4, 9)]
VERTICES = 7
SOME = [3.0, 1.0, 0.0, 2.0, 1.0, 5.0, 1.0]
OTHERS = [1.0, 2.0, 7.0, 1.0, 0.0, 4.0, 3.0]


def events_of(events, vertices):
    source, target, time = torch.tensor(events).T
    return Data(edge_index=torch.stack([source, target]), time=time, num_nodes=vertices)


def loader_of(data, **options):
    given = {"device": "cpu", "seed": 3, "batch_size": 4, "negative_time": "until", "skip_full": True}
    given |= {} if "edge_label_time" in options else {"edge_label_time": data.time}
    return LinkNeighborLoader(data, [1], time_attr="time", **given | options)


def law(events, now, ever, vertices=VERTICES, known=()):
    """The pairs that may be negatives by a time, from the definition."""
    there = {end for u, v, t in events for end in (u, v) if t <= now}
    edges = {(u, v) for u, v, t in events if ever or t <= now} | set(known)
    return {(u, w) for u, w in product(range(vertices), repeat=2) if {u, w} <= there and u != w} - edges


def negatives_of(batch):
    """The negatives of each link of a mini-batch: its number, and pairs of vertices."""
    count = len(batch.input_id)
    if "dst_neg_index" in batch:
        source, target = batch.n_id[batch.src_index], batch.n_id[batch.dst_neg_index].view(count, -1)
        pairs = [[(u, w) for w in row] for u, row in zip(source.tolist(), target.tolist(), strict=True)]
    else:
        of_link = batch.n_id[batch.edge_label_index][:, count:].view(2, -1, count)
        pairs = [list(zip(*of_link[:, :, i].tolist(), strict=True)) for i in range(count)]
    return zip(batch.input_id.tolist(), pairs, strict=True)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ever", [False, True])
@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_negatives_have_their_chances_as_of_the_time_of_each_link(mode, ever, weighted):
    """Of many links at once, so that proposals fail often and what is left is chosen by its rank."""
    data, from_weight, to_weight = events_of(EVENTS, VERTICES), [1.0] * VERTICES, [1.0] * VERTICES
    sampling = {"mode": mode, "amount": 4000}
    if weighted:
        to_weight = OTHERS
        sampling["dst_weight"] = torch.tensor(OTHERS)
        if mode == "binary":
            from_weight = SOME
            sampling["src_weight"] = torch.tensor(SOME)
    seen = set()
    for batch in loader_of(data, neg_sampling=sampling, negative_time="ever" if ever else "until"):
        for number, pairs in negatives_of(batch):
            u, _, now = EVENTS[number]
            chances = np.zeros((VERTICES, VERTICES))
            for a, b in law(EVENTS, now, ever):
                chances[a, b] = from_weight[a] * to_weight[b] if mode == "binary" or a == u else 0.0
            counts = Counter(pairs)
            assert_drawn_from([counts[pair] for pair in np.ndindex(chances.shape)], chances.ravel())
            seen.add(number)
    assert seen == {
        number
        for number, (u, _, now) in enumerate(EVENTS)
        if any(from_weight[a] * to_weight[b] and (mode == "binary" or a == u) for a, b in law(EVENTS, now, ever))
    }


def test_two_negatives_of_a_link_are_independent():
    """By the time 6, vertex 3 has edges to none of 0, 1 and 2."""
    links = {"edge_label_index": torch.tensor([[3], [3]]).repeat(1, 4000), "batch_size": 4000}
    sampling = {"mode": "triplet", "amount": 2}
    times = torch.full((4000,), 6)
    [batch] = loader_of(events_of(EVENTS, VERTICES), neg_sampling=sampling, edge_label_time=times, **links)
    drawn = Counter(map(tuple, batch.n_id[batch.dst_neg_index].tolist()))
    assert_drawn_from([drawn[pair] for pair in product(range(3), repeat=2)], [1 / 9] * 9)
    assert sum(drawn.values()) == sum(drawn[pair] for pair in product(range(3), repeat=2))


def many_events(seed=1, vertices=40, events=300):
    rng = np.random.default_rng(seed)
    u, v = (rng.random((2, events)) ** 1.6 * vertices).astype(int)
    return list(zip(u.tolist(), v.tolist(), rng.integers(0, 60, events).tolist(), strict=True))


@pytest.mark.parametrize("ever", [False, True])
@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_links_that_have_negatives_are_those_of_the_definition(mode, ever):
    events = many_events(vertices=9, events=120)
    loader = loader_of(
        events_of(events, 9), neg_sampling={"mode": mode, "amount": 3}, negative_time="ever" if ever else "until"
    )
    free = [law(events, now, ever, 9) for *_, now in events]
    expected = [
        number
        for number, (u, *_) in enumerate(events)
        if (mode == "binary" and free[number]) or u in dict(free[number])
    ]
    drawn = dict(pairs for batch in loader for pairs in negatives_of(batch))
    assert sorted(drawn) == expected
    assert loader.skipped == len(events) - len(expected)
    for number, pairs in drawn.items():
        assert free[number].issuperset(pairs)


@pytest.mark.parametrize("ever", ["until", "ever"])
def test_a_store_has_the_negatives_that_links_of_csaw_sample_have(ever, tmp_path):
    """Different random numbers, the same law: the same sets of negatives, each with its chance."""
    events = many_events(vertices=14, events=60)
    (tmp_path / "g.csv").write_text("source,target,time\n" + "".join(f"{u},{v},{t}\n" for u, v, t in events))
    store = csaw.partition(tmp_path / "g.csv", tmp_path / "g.zarr", time_column="time", duplicates="keep")
    held = store.load([column for column in store.edge_columns if column.name == "time"])
    source = np.repeat(np.arange(store.vertices), np.diff(held.indptr))
    pairs, times = np.stack([source, held.indices.astype(int)], axis=1), held.columns["time"]
    options = {"negative_time": ever, "skip_full": True, "seed": 9, "ids": "dense", "device": "cpu"}
    given = {"ids": pairs, "time": times}
    theirs = csaw.links(store, num_negatives=900, sources=given, **options)["negatives"][:]
    loader = loader_of(
        store, neg_sampling={"mode": "triplet", "amount": 900}, edge_label_time=times, negative_time=ever
    )
    ours = dict(one for batch in loader for one in negatives_of(batch))
    assert 0 < len(ours) < len(pairs)
    for number, row in enumerate(theirs.tolist()):
        if number not in ours:
            assert set(row) == {-1}
            continue
        mine = Counter(w for _, w in ours[number])
        assert set(mine) == set(row)
        assert_drawn_from([mine[w] for w in sorted(mine)], [1.0] * len(mine))


def test_times_of_nodes_and_further_pairs_count():
    """A node is there from its own time on, and an edge once both of its ends are; known pairs are always."""
    data = Data(edge_index=torch.tensor([[0, 0], [1, 2]]), time=torch.tensor([0, 1, 5, 3, 9]), num_nodes=5)
    links = {"edge_label_index": torch.tensor([[0, 0], [1, 1]]), "edge_label_time": torch.tensor([4, 9])}
    for known, expected in ((None, [{3}, {3, 4}]), (torch.tensor([[0], [4]]), [{3}, {3}])):
        loader = loader_of(data, neg_sampling={"mode": "triplet", "amount": 40}, known_edges=known, **links)
        [batch] = loader
        assert [{w for _, w in pairs} for _, pairs in negatives_of(batch)] == expected


def test_links_count_from_their_own_times_on():
    """1 -> 0 at 1 and 1 -> 3 at 2 are no edges: the first leaves 3 to vertex 1 until 2, and the second nothing."""
    data = Data(edge_index=torch.tensor([[1, 3, 0], [2, 2, 2]]), time=torch.zeros(3, dtype=torch.long), num_nodes=4)
    links = {"edge_label_index": torch.tensor([[1, 1], [0, 3]]), "edge_label_time": torch.tensor([1, 2])}
    sampling = {"mode": "triplet", "amount": 40}
    [batch] = loader_of(data, neg_sampling=sampling, **links)
    assert [(i, set(pairs)) for i, pairs in negatives_of(batch)] == [(0, {(1, 3)})]
    with pytest.raises(OptionError, match="expected a link that has a negative"):
        loader_of(data, neg_sampling=sampling, negative_time="ever", **links)


def test_mini_batches_are_the_same_however_they_are_drawn():
    data = events_of(many_events(), 40)

    def drawn(amount=2, **options):
        loader, found = loader_of(data, neg_sampling={"mode": "binary", "amount": amount}, **options), {}
        for batch in loader:
            found |= dict(negatives_of(batch))
        return found

    first = drawn()
    assert first == drawn(batch_size=50, shuffle=True) == drawn(threads=1, in_flight=2)
    parts = [drawn(rank=rank, world=2) for rank in range(2)]
    assert first == parts[0] | parts[1]
    assert first != drawn(seed=4)


def test_what_is_missing_or_impossible_is_said():
    data, binary = events_of(EVENTS, VERTICES), {"neg_sampling": "binary"}
    with pytest.raises(
        OptionError, match=r"^negative_time: expected 'until' or 'ever' with .* found None; 'until' draws"
    ):
        loader_of(data, negative_time=None, **binary)
    with pytest.raises(OptionError, match=r"^negative_time: expected 'until' or 'ever' .* found 'before'"):
        loader_of(data, negative_time="before", **binary)
    with pytest.raises(
        OptionError, match=r"vertex 0 has an edge to every vertex that could be drawn by the time 1, so 5 "
    ):
        loader_of(data, neg_sampling="triplet", skip_full=False)
    with pytest.raises(
        OptionError, match=r"expected a pair of vertices without an edge by the time 2, found none, so 1 "
    ):
        loader_of(data, skip_full=False, **binary)
    early = {"edge_label_time": torch.zeros(len(EVENTS), dtype=torch.long)}
    with pytest.raises(OptionError, match="skip_full: expected a link that has a negative, found none"):
        loader_of(data, **binary, **early)


def test_graphs_that_are_too_large_for_negatives_in_time_are_refused(monkeypatch):
    monkeypatch.setattr(link_neighbor_loader, "available_bytes", lambda: 1000)
    with pytest.raises(BudgetError, match="neg_sampling: rows of all edges take"):
        loader_of(events_of(EVENTS, VERTICES), neg_sampling="binary")


def test_of_equal_pairs_the_earliest_counts():
    there, every = np.zeros(3, np.int64), np.ones(3, bool)
    ends = Ends.of(there, every, None), Ends.of(there, every, None)
    pairs = NonEdgesInTime.of(np.array([0, 0, 0]), np.array([1, 1, 2]), np.array([7, 4, 9]), *ends)
    assert pairs.are_free(np.array([0, 0, 0, 0]), np.array([3, 4, 8, 9])).tolist() == [True, True, True, False]
    found = pairs.drawn(1, np.arange(3), np.zeros(3, np.int64), 300, np.array([3, 4, 8]))[1].reshape(-1, 3)
    assert [set(column.tolist()) for column in found.T] == [{1, 2}, {2}, {2}]


# Graphs of several types.

WROTE = ("author", "wrote", "paper")
AUTHORS, PAPERS = 5, 6


def typed(seed=0, edges=14):
    rng, data = np.random.default_rng(seed), HeteroData()
    data["author"].x, data["paper"].num_nodes = torch.arange(AUTHORS).view(-1, 1), PAPERS
    wrote = torch.from_numpy(np.stack([rng.integers(0, AUTHORS, edges), rng.integers(0, PAPERS, edges)]))
    data[WROTE].edge_index, data[WROTE].time = wrote, torch.from_numpy(rng.integers(0, 9, edges))
    data["paper", "by", "author"].edge_index, data["paper", "by", "author"].time = wrote.flip(0), data[WROTE].time
    data["author", "knows", "author"].edge_index = torch.tensor([[0, 1, 4], [1, 2, 0]])
    data["author", "knows", "author"].time = torch.tensor([0, 2, 1])
    return data


def typed_loader(data, sampling, **options):
    given = {"device": "cpu", "seed": 3, "batch_size": 5, "skip_full": True, "edge_label_index": WROTE}
    return LinkNeighborLoader(data, [2, 1], neg_sampling=sampling, **given | options)


def typed_negatives(batch):
    """The links of a mini-batch and their negatives: authors and papers."""
    authors, papers = batch["author"].n_id, batch["paper"].n_id
    count = len(batch[WROTE].input_id)
    if "dst_neg_index" in batch["paper"]:
        source = authors[batch["author"].src_index].tolist()
        positive = list(zip(source, papers[batch["paper"].dst_pos_index].tolist(), strict=True))
        rows = papers[batch["paper"].dst_neg_index].view(count, -1).tolist()
        return positive, [[(u, w) for w in row] for u, row in zip(source, rows, strict=True)]
    row, col = batch[WROTE].edge_label_index
    pairs = list(zip(authors[row].tolist(), papers[col].tolist(), strict=True))
    return pairs[:count], [pairs[count + i :: count] for i in range(count)]


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_negatives_are_of_the_type_of_the_target(mode, disjoint):
    data = typed()
    edges = set(map(tuple, data[WROTE].edge_index.T.tolist()))
    counts = Counter()
    for batch in typed_loader(data, {"mode": mode, "amount": 900}, disjoint=disjoint):
        positive, negatives = typed_negatives(batch)
        assert positive == list(map(tuple, data[WROTE].edge_index[:, batch[WROTE].input_id].T.tolist()))
        assert torch.equal(batch["author"].x[:, 0], batch["author"].n_id)
        for kind in batch.edge_types:
            ends = torch.stack(
                [batch[kind[0]].n_id[batch[kind].edge_index[0]], batch[kind[2]].n_id[batch[kind].edge_index[1]]]
            )
            assert torch.equal(ends, data[kind].edge_index[:, batch[kind].e_id])
        counts.update(pair for row in negatives for pair in row)
        if mode == "triplet":
            for (u, _), row in zip(positive, negatives, strict=True):
                drawn = Counter(w for _, w in row)
                chances = [float((u, w) not in edges) for w in range(PAPERS)]
                assert_drawn_from([drawn[w] for w in range(PAPERS)], chances)
    if mode == "binary":
        pairs = list(product(range(AUTHORS), range(PAPERS)))
        assert_drawn_from([counts[pair] for pair in pairs], [float(pair not in edges) for pair in pairs])


@pytest.mark.parametrize("ever", [False, True])
@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_negatives_of_a_type_are_drawn_as_of_the_time_of_each_link(mode, ever):
    data = typed(edges=10)
    times = data[WROTE].time
    there = {"author": {}, "paper": {}}
    for kind in data.edge_types:
        for u, v, t in zip(*data[kind].edge_index.tolist(), data[kind].time.tolist(), strict=True):
            for name, end in ((kind[0], u), (kind[2], v)):
                there[name][end] = min(t, there[name].get(end, t))
    options = {"time_attr": "time", "edge_label_time": times, "negative_time": "ever" if ever else "until"}
    seen = 0
    for batch in typed_loader(data, {"mode": mode, "amount": 1500}, **options):
        positive, negatives = typed_negatives(batch)
        given = batch["author"].seed_time if mode == "triplet" else batch[WROTE].edge_label_time[: len(positive)]
        assert torch.equal(given, times[batch[WROTE].input_id])
        for kind in batch.edge_types:
            of = batch[kind[2]].batch[batch[kind].edge_index[1]]
            assert (data[kind].time[batch[kind].e_id] <= given[of]).all()
        for (u, _), now, row in zip(positive, given.tolist(), negatives, strict=True):
            edges = {
                (a, b)
                for a, b, t in zip(*data[WROTE].edge_index.tolist(), times.tolist(), strict=True)
                if ever or t <= now
            }
            pairs = list(product(range(AUTHORS), range(PAPERS)))
            chances = [
                float(
                    there["author"].get(a, 99) <= now
                    and there["paper"].get(b, 99) <= now
                    and (a, b) not in edges
                    and (mode == "binary" or a == u)
                )
                for a, b in pairs
            ]
            drawn = Counter(row)
            assert_drawn_from([drawn[pair] for pair in pairs], chances)
            seen += 1
    assert seen


def test_a_store_of_several_types_has_edge_types_turned_round(tmp_path):
    (tmp_path / "writes.csv").write_text("author,paper,time\na,1,1\na,2,2\nb,2,3\nc,3,4\n")
    options = {"reverse_relations": True, "time_column": "time"}
    store = csaw.partition({("author", "writes", "paper"): tmp_path / "writes.csv"}, tmp_path / "g.zarr", **options)
    kind = ("author", "writes", "paper")
    edges = [(0, 0), (0, 1), (1, 1), (2, 2)]
    given = {"edge_label_index": kind, "batch_size": 4}
    [batch] = LinkNeighborLoader(store, [1], neg_sampling={"mode": "triplet", "amount": 50}, device="cpu", **given)
    positive = torch.stack(
        [batch["author"].n_id[batch["author"].src_index], batch["paper"].n_id[batch["paper"].dst_pos_index]]
    )
    assert sorted(map(tuple, positive.T.tolist())) == edges
    for u, row in zip(positive[0].tolist(), batch["paper"].n_id[batch["paper"].dst_neg_index].tolist(), strict=True):
        assert set(row) == set(range(3)) - {w for v, w in edges if u == v}
    in_time = {"time_attr": "time", "edge_label_time": [1, 2, 3, 4], "negative_time": "until", "skip_full": True}
    times = [{edge: time for time, edge in enumerate(edges, 1)}[tuple(pair)] for pair in positive.T.tolist()]
    in_time["edge_label_time"] = times
    [batch] = LinkNeighborLoader(
        store, [1], neg_sampling={"mode": "triplet", "amount": 50}, device="cpu", **given, **in_time
    )
    rows = batch["paper"].n_id[batch["paper"].dst_neg_index].tolist()
    links = dict(zip(batch[kind].input_id.tolist(), map(set, rows), strict=True))
    assert {times[number]: row for number, row in links.items()} == {3: {0}, 4: {0, 1}}


REFUSED = [
    ({"edge_label_index": None}, "edge_label_index: expected an edge type, or one with links, .*there are"),
    ({"edge_label_index": ("author", "read", "paper")}, "edge_label_index: expected an edge type"),
    ({"edge_label_index": torch.zeros(2, 2, dtype=torch.long)}, "edge_label_index: expected an edge type"),
    ({"edge_label_index": (WROTE, torch.tensor([[0], [PAPERS]]))}, "edge_label_index: .* 0 to 5 as targets, found 6"),
    ({"edge_label_index": (WROTE, torch.tensor([[AUTHORS], [0]]))}, "edge_label_index: .* 0 to 4 as sources, found 5"),
    ({"known_edges": torch.tensor([[0], [PAPERS]])}, "known_edges: .* from 0 to 5 as targets, found 6"),
    ({"exclude_links": True}, "exclude_links: expected a graph of one type"),
    ({"subgraph_type": "induced"}, "subgraph_type: expected directional or bidirectional with several types"),
    ({"num_neighbors": {WROTE: [1]}}, "num_neighbors: expected numbers for each edge type"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED, ids=str)
def test_what_links_of_a_type_cannot_be_is_said(given, said):
    options = {"num_neighbors": [1], "neg_sampling": "binary", "edge_label_index": WROTE} | given
    with pytest.raises(OptionError, match=f"^{said}"):
        LinkNeighborLoader(typed(), device="cpu", **options)


def test_weights_are_those_of_nodes_of_a_type():
    weight = {"src_weight": torch.ones(AUTHORS), "dst_weight": torch.tensor([0.0, 0, 0, 0, 1, 2])}
    for mode in ("binary", "triplet"):
        sampling = {"mode": mode, "amount": 20} | weight
        batches = list(typed_loader(typed(edges=5), sampling))
        assert {w for batch in batches for row in typed_negatives(batch)[1] for _, w in row} <= {4, 5}
    with pytest.raises(OptionError, match="neg_sampling: dst_weight: expected a number for each of 6 vertices"):
        typed_loader(typed(), {"mode": "triplet", "amount": 1, "dst_weight": torch.ones(AUTHORS)})


def test_times_of_nodes_of_types_count():
    data = typed()
    for kind in data.edge_types:
        del data[kind].time
    data["paper"].time = torch.arange(PAPERS)
    links = torch.tensor([[0, 1], [0, 1]])
    times = torch.tensor([2, 5])
    edges = set(map(tuple, data[WROTE].edge_index.T.tolist())) | {(0, 0), (1, 1)}
    options = {"time_attr": "time", "edge_label_time": times, "negative_time": "until"}
    for batch in typed_loader(data, {"mode": "triplet", "amount": 200}, edge_label_index=(WROTE, links), **options):
        for (u, _), now, row in zip(
            *typed_negatives(batch)[:1], batch["author"].seed_time, typed_negatives(batch)[1], strict=True
        ):
            assert {w for _, w in row} == {w for w in range(int(now) + 1) if (u, w) not in edges}
