"""Links that are left out of the neighborhoods of their mini-batch: before the draw, in both directions, and all of
several parallel edges.
"""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from helpers.machine import need_package
from helpers.stats import assert_drawn_from

from csaw.engine.draws.random import draw64
from csaw.engine.draws.vectors import words64
from csaw.partition.errors import OptionError

torch = need_package("torch")
need_package("torch_geometric")

from torch_geometric.data import Data

from csaw.engine.loaders import LinkNeighborLoader


def loader_of(data, num_neighbors, links, **options):
    given = {"device": "cpu", "seed": 5, "exclude_links": True} | options
    return LinkNeighborLoader(data, num_neighbors, torch.tensor(links), **given)


def both_ways(*edges):
    return torch.tensor([edge for one in edges for edge in (one, one[::-1])]).T


def neighbors(batch, seed):
    source, target = batch.edge_index
    return sorted(batch.n_id[source[target == seed]].tolist())


def test_a_link_is_left_out_before_the_draw():
    """LAWS D2: a triangle 0, 1, 2 and 2-3; of the link (0, 1), the neighbor of 0 is 2 always, and never missing."""
    data = Data(edge_index=both_ways((0, 1), (1, 2), (2, 0), (2, 3)), num_nodes=4)
    for batch in loader_of(data, [1], [[0] * 100, [1] * 100], batch_size=1):
        assert neighbors(batch, 0) == neighbors(batch, 1) == [2]


@pytest.mark.parametrize("fanout", [1, 2, 3])
@pytest.mark.parametrize("copies", [1, 3])
def test_the_others_are_selected_uniformly(fanout, copies):
    """Of a star with five leaves, one of which is linked by some parallel edges: each set of others is as likely."""
    edges = [(leaf, 0) for leaf in (1, 2, 3, 4)] + [(5, 0)] * copies
    data = Data(edge_index=torch.tensor(edges).T, num_nodes=6)
    counts = Counter()
    for batch in loader_of(data, [fanout], [[5] * 6000, [0] * 6000], batch_size=1):
        counts[tuple(neighbors(batch, batch.n_id.tolist().index(0)))] += 1
    sets = list(combinations((1, 2, 3, 4), fanout))
    assert set(counts) == set(sets)
    assert_drawn_from([counts[one] for one in sets], [1 / len(sets)] * len(sets))


def random_data(seed=0, vertices=40, edges=300):
    draw = np.random.default_rng(seed)
    ends = torch.from_numpy(draw.integers(0, vertices, (2, edges)))
    return Data(edge_index=ends, num_nodes=vertices, time=torch.from_numpy(draw.integers(0, 30, edges)))


KINDS = [
    {},
    {"disjoint": True},
    {"num_neighbors": [-1, -1]},
    {"neg_sampling": "binary"},
    {"subgraph_type": "bidirectional"},
    {"time_attr": "time"},
    {"time_attr": "time", "temporal_strategy": "last"},
]


@pytest.mark.parametrize("kind", KINDS)
def test_mini_batches_have_as_many_edges_as_without_the_links(kind):
    data, kind = random_data(), dict(kind)
    links = data.edge_index[:, ::5]
    given = {"edge_label_time": data.time[::5]} if "time_attr" in kind else {}
    fanout = kind.pop("num_neighbors", [3, 2])
    target = data.edge_index[1]
    for number, batch in enumerate(loader_of(data, fanout, links.tolist(), batch_size=8, **kind, **given)):
        own = links[:, 8 * number : 8 * number + 8].tolist()
        away = {frozenset(pair) for pair in zip(*own, strict=True)}
        left = torch.tensor([frozenset(pair) not in away for pair in data.edge_index.T.tolist()])
        ends = batch.n_id[batch.edge_index].T.tolist()
        assert not any(frozenset(pair) in away for pair in ends)
        if kind.get("subgraph_type") == "bidirectional":
            continue
        drawn = Counter(batch.edge_index[1, : batch.num_sampled_edges[0]].tolist())
        for seed in range(0 if "time_attr" in kind else batch.num_sampled_nodes[0]):
            many = int((left & (target == batch.n_id[seed])).sum())
            assert drawn.pop(seed, 0) == (many if fanout[0] < 0 else min(fanout[0], many))
        rows = Counter(zip(batch.e_id.tolist(), batch.edge_index[1].tolist(), strict=True))
        assert set(rows.values()) <= {1}


def test_mini_batches_depend_on_the_request_alone():
    data = random_data(edges=900)

    def drawn(**options):
        loader = loader_of(data, [4, 3], data.edge_index[:, ::4].tolist(), batch_size=16, shuffle=True, **options)
        return [batch.e_id.tolist() for batch in loader]

    assert drawn() == drawn(threads=1, in_flight=1) == drawn(in_flight=3)
    assert drawn() != drawn(seed=6)


def test_words_are_those_of_kernels():
    draw = np.random.default_rng(0)
    given = [draw.integers(0, 2**63, 50), draw.integers(0, 2**32, 50), draw.integers(0, 2**32, 50)]
    for seed in (0, 5, 2**64 - 1):
        wanted = [draw64(np.uint64(seed), *map(np.uint64, one)) for one in zip(*given, strict=True)]
        assert words64(seed, *given).tolist() == wanted


REFUSED = [
    ({"replace": True}, "exclude_links and replace exclude each other"),
    ({"weight_attr": "w"}, "exclude_links and weight_attr exclude each other"),
    ({"subgraph_type": "induced"}, "exclude_links and subgraph_type exclude each other"),
    ({"weighted": True}, "exclude_links and weighted exclude each other"),
    ({"edge_bias": "e.dst_degree"}, "exclude_links and edge_bias exclude each other"),
    ({"bias": "degree"}, "exclude_links and bias exclude each other"),
    ({"bias": np.array([2, 2])}, "exclude_links and bias exclude each other"),
    ({"exclude_links": "no way"}, "exclude_links: "),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_cannot_be_is_refused(options, said):
    data = random_data()
    data.w = torch.ones(data.num_edges)
    with pytest.raises(OptionError) as error:
        loader_of(data, [2], [[0], [1]], **options)
    assert said in str(error.value)


def test_options_that_ask_for_no_weights_are_taken():
    data = random_data()
    asked = {"weighted": False, "edge_bias": None, "bias": "none"}
    for batch, other in zip(loader_of(data, [2], [[0], [1]]), loader_of(data, [2], [[0], [1]], **asked), strict=True):
        assert batch.e_id.tolist() == other.e_id.tolist()
