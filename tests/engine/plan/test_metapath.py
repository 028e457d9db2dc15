"""Metapaths: what a text means on a graph, the law of walks and hops along one by enumeration, and the same bytes
wherever it is drawn.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from helpers.forged import forged
from helpers.graphs import arrays_of
from helpers.invariance import assert_request_decides, assert_same
from helpers.stats import assert_drawn_from

import csaw
from csaw.engine import prepare
from csaw.engine.plan.choices import Method
from csaw.engine.plan.metapath import Metapath
from csaw.partition.errors import OptionError

FILES = {
    "author-writes-paper": "0 0\n0 1\n1 1\n1 2\n",
    "paper-in-venue": "0 0\n1 0\n",
    "user-views-paper": "0 0\n0 1\n",
    "user-buys-paper": "0 0\n0 0\n",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The graph of LAWS, with two relations from users to papers; every relation has its reverse."""
    folder = tmp_path_factory.mktemp("typed")
    given = {}
    for relation, rows in FILES.items():
        (folder / f"{relation}.txt").write_text(rows)
        given[relation] = folder / f"{relation}.txt"
    out = folder / "g.zarr"
    return csaw.partition(given, out, reverse_relations=True, duplicates="keep", progress=False)


def parsed(store, text):
    found = Metapath.parsed(text, store.types)
    return [str(store.types.relations[number]) for number in found.relations], found.first, found.cyclic


MEANT = {
    "author,writes,paper,rev_writes,author": (["author-writes-paper", "paper-rev_writes-author"], "author", True),
    "author, paper ,author": (["author-writes-paper", "paper-rev_writes-author"], "author", True),
    "writes,rev_writes": (["author-writes-paper", "paper-rev_writes-author"], "author", True),
    "writes,in": (["author-writes-paper", "paper-in-venue"], "author", False),
    "writes": (["author-writes-paper"], "author", False),
    "user,buys,paper": (["user-buys-paper"], "user", False),
    "views,paper,rev_buys": (["user-views-paper", "paper-rev_buys-user"], "user", True),
    "paper,venue,rev_in": (["paper-in-venue", "venue-rev_in-paper"], "paper", True),
}


@pytest.mark.parametrize("text", MEANT)
def test_a_metapath_names_types_and_relations_in_turn(store, text):
    assert parsed(store, text) == MEANT[text]


WRONG = {
    "": "no type or relation is called ''",
    "author,,paper": "no type or relation is called ''",
    "author": "expected at least one relation, or two types, found 'author'",
    "user,paper": r"expected one relation user-\*-paper, found user-views-paper, user-buys-paper",
    "author,in,venue": "expected one relation author-in-venue, found none",
    "writes,author": r"expected one relation \*-writes-author, found none",
    "writes,writes": r"expected one relation paper-writes-\*, found none",
    "author,write,paper": "no type or relation is called 'write'; did you mean writes",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_metapath_is_refused(store, text):
    with pytest.raises(OptionError, match=WRONG[text]):
        Metapath.parsed(text, store.types)


def drawn(store, instances=20_000, **options):
    walks = csaw.sample(store, instances=instances, seed=7, device="cpu", progress=False, **options)
    return Counter(tuple(one for one in row if one) for row in walks.names(walks.walks).tolist())


def chances(store, metapath, source, steps, weights=lambda a, b: 1.0):
    """The law by enumeration: every walk of at most ``steps`` steps and its chance, parallel edges counted."""
    found, graph = Metapath.parsed(metapath, store.types), store.load(store.further_columns)
    names, relation = store.vertex_ids(), graph.columns["relation"]
    out = Counter()

    def walk(path, chance):
        step, v = len(path) - 1, path[-1]
        turn = step % len(found.relations) if found.cyclic else step
        row = range(graph.indptr[v], graph.indptr[v + 1])
        wanted = found.relations[turn] if turn < len(found.relations) else -1
        next_ones = [int(graph.indices[k]) for k in row if relation[k] == wanted]
        if step == steps or not next_ones:
            out[tuple(names[one] for one in path)] += chance
            return
        biases = [weights(v, u) for u in next_ones]
        for u, bias in zip(next_ones, biases, strict=True):
            walk([*path, u], chance * bias / sum(biases))

    walk([names.tolist().index(source)], 1.0)
    return out


def assert_walks_follow(counts, law):
    assert set(counts) <= set(law)
    assert_drawn_from([counts[one] for one in law], list(law.values()))


def test_walks_of_laws_c1(store):
    """LAWS C1: from a1, dead ends and a cycle over venues."""
    law = chances(store, "author,paper,venue,paper,author", "author:1", 4)
    assert sorted(law.values()) == [0.125, 0.125, 0.25, 0.5]
    counts = drawn(store, metapath="author,paper,venue,paper,author", sources=["author:1"], walk_length=4)
    assert_walks_follow(counts, law)


@pytest.mark.parametrize(("metapath", "share"), [("user,views,paper", 0.5), ("user,buys,paper", 1.0)])
def test_relations_between_the_same_types_are_told_apart(store, metapath, share):
    """LAWS C2."""
    counts = drawn(store, metapath=metapath, sources=["user:0"], walk_length=1)
    assert_drawn_from([counts["user:0", "paper:0"], counts["user:0", "paper:1"]], [share, 1 - share])


@pytest.mark.parametrize("bias", [None, "2.0 if e.dst % 2 else 0.5", "e.dst_degree ** -0.5"])
@pytest.mark.parametrize(
    "metapath", ["author,paper,author", "writes,in,rev_in,rev_writes", "user,views,paper,rev_buys"]
)
def test_a_bias_counts_among_the_edges_of_the_relation(store, metapath, bias):
    graph = store.load()
    degrees = np.diff(graph.indptr)
    of = {None: lambda a, b: 1.0, "2.0 if e.dst % 2 else 0.5": lambda a, b: 2.0 if b % 2 else 0.5}
    weights = of.get(bias, lambda a, b: degrees[b] ** -0.5)
    source = f"{parsed(store, metapath)[1]}:0"
    counts = drawn(store, metapath=metapath, edge_bias=bias, sources=[source], walk_length=3)
    assert_walks_follow(counts, chances(store, metapath, source, 3, weights))


def test_hops_follow_a_relation_each(store):
    sample = csaw.sample(
        store,
        algo="neighbor",
        metapath="author,paper,venue",
        fanout=[2, 2],
        sources=["author:0"],
        instances=50,
        device="cpu",
        progress=False,
    )
    rows = sample.to_pandas()
    edges = Counter(zip(rows["src"], rows["dst"], strict=True))
    assert edges == {
        ("author:0", "paper:0"): 50,
        ("author:0", "paper:1"): 50,
        ("paper:0", "venue:0"): 50,
        ("paper:1", "venue:0"): 50,
    }


def test_walks_draw_from_rows_of_the_next_relation_or_propose_neighbors(store):
    def method(**options):
        return prepare(store, device="cpu", **options).plan.request.select

    assert method(metapath="author,paper,author") is Method.UNIFORM
    assert method(metapath="user,views,paper,rev_views,user") is Method.UNIFORM
    assert method(metapath="user,views,paper,rev_views,user", edge_bias="e.weight") is Method.UNIFORM
    assert method(metapath="author,paper,author", induced=True) is Method.REJECTION
    assert method(metapath="author,paper,author", edge_bias="e.weight * e.src_degree ** -0.5") is Method.REJECTION
    assert method(metapath="author,paper,author", edge_bias="2.0 if e.dst % 2 else 0.5") is Method.REJECTION
    assert method(metapath="author,paper,author", edge_bias="e.dst_degree ** -0.5") is Method.ITS
    assert method(metapath="user,views,paper,rev_views,user", edge_bias="e.dst_degree") is Method.ITS
    assert method(metapath="author,paper,author", select="its") is Method.ITS


def test_sources_are_the_vertices_of_the_first_type(store):
    walks = csaw.sample(store, metapath="venue,paper,venue", walk_length=2, device="cpu", progress=False)
    assert walks.names(walks.walks[:, 0]).tolist() == ["venue:0"]
    assert csaw.sample(store, sources="type:author", walk_length=1, device="cpu", progress=False).instances == 2
    for sources in ("all", ["author:0"], "random:5", "type:author"):
        with pytest.raises(OptionError, match="expected vertices of the type venue, at which the metapath begins"):
            csaw.sample(store, metapath="venue,paper,venue", sources=sources, device="cpu", progress=False)
    three = csaw.sample(store, sources="type:paper:2", walk_length=1, seed=3, device="cpu", progress=False)
    starts = three.names(three.walks[:, 0]).tolist()
    assert len(set(starts)) == 2
    assert all(one.startswith("paper:") for one in starts)
    for wrong in ("0", "4", "x", "", "1.0"):
        with pytest.raises(OptionError, match="sources type:paper:N: expected N from 1 to the type's 3 vertices"):
            csaw.sample(store, sources=f"type:paper:{wrong}", device="cpu", progress=False)
    with pytest.raises(OptionError, match="sources type:autor: there is no type 'autor'; did you mean author"):
        csaw.sample(store, sources="type:autor", device="cpu", progress=False)


def test_graphs_and_algorithms_without_a_metapath_say_so(store):
    with pytest.raises(OptionError, match="karate has one type of vertices"):
        csaw.sample("karate", metapath="a,b", device="cpu", progress=False)
    with pytest.raises(OptionError, match="karate has one type of vertices; pass sources='all'"):
        csaw.sample("karate", sources="type:a", device="cpu", progress=False)
    with pytest.raises(OptionError, match="the bias of node2vec ignores relations"):
        csaw.sample(store, algo="node2vec", metapath="author,paper,author", device="cpu", progress=False)


OTHERWISE = [
    ("restart", {}),
    ("jump", {}),
    ("metropolis-hastings", {}),
    ("multidimensional", {}),
    ("saint-edge", {}),
    ("random-edge", {}),
    ("random-node", {}),
    ("links", {}),
    ("saint-node", {}),
    ("cluster-gcn", {}),
    ("labor", {}),
    ("ladies", {}),
    ("temporal", {}),
    ("neighbor", {"time_strategy": "uniform"}),
]


@pytest.mark.parametrize(("algo", "options"), OTHERWISE)
def test_algorithms_that_do_not_only_follow_edges_have_no_metapath(store, algo, options):
    with pytest.raises(OptionError, match=f"metapath: {algo} cannot follow one"):
        csaw.sample(store, algo=algo, metapath="author,paper,author", device="cpu", progress=False, **options)


def test_a_bias_of_the_users_is_one_expression_that_is_read_at_the_edges_of_the_relation_alone(store):
    first, _ = store.types.span("venue")
    bias = f"1.0 / max(e.dst - {first - 1}, 0)"  # infinite at any other type
    counts = drawn(store, instances=9, metapath="paper,venue", edge_bias=bias, sources=["paper:0"], walk_length=1)
    assert counts == {("paper:0", "venue:0"): 9}
    commented = drawn(store, instances=9, metapath="paper,venue", edge_bias="e.weight # own", sources=["paper:0"])
    assert commented == counts
    with pytest.raises(OptionError, match="edge_bias"):
        drawn(store, metapath="author,paper,author", edge_bias="1.0) + (2.0")


@pytest.mark.parametrize("algo", ["neighbor", "minibatch"])
def test_hops_beyond_the_end_of_a_metapath_are_refused(store, algo):
    options = {"algo": algo, "fanout": [2, 2, 2], "device": "cpu", "progress": False}
    with pytest.raises(OptionError, match="metapath: .* draws 3 hops, but the metapath ends after 2; give a fanout"):
        csaw.sample(store, metapath="author,paper,venue", **options)
    csaw.sample(store, metapath="author,paper,author", **options)


def test_a_metapath_of_too_many_relations_says_so(store):
    with pytest.raises(OptionError, match="metapath: 80 relations are too many for this graph"):
        csaw.sample(store, metapath=",".join(["author,paper"] * 40 + ["author"]), device="cpu", progress=False)


@pytest.mark.parametrize("metapath", ["author,paper,author", "user,views,paper,rev_views,user"])
def test_a_virtual_sample_along_a_metapath_is_read_like_a_stored_one(tmp_path, store, metapath):
    options = {"metapath": metapath, "walk_length": 5, "num_walks": 4, "device": "cpu", "progress": False}
    csaw.sample(store, tmp_path / "s.zarr", **options)
    csaw.sample(store, tmp_path / "v.zarr", virtual=True, **options)
    stored, virtual = (csaw.open_samples(tmp_path / name) for name in ("s.zarr", "v.zarr"))
    assert np.array_equal(stored.walks[:], virtual.walks[:])


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """A random graph of three types, in one partition and in several."""
    folder, draw = tmp_path_factory.mktemp("larger"), np.random.default_rng(4)
    sizes, given = {"a": 40, "b": 90, "c": 5}, {}
    for one, other in (("a", "b"), ("b", "c"), ("b", "b")):
        rows = zip(
            draw.integers(0, sizes[one], 400), draw.integers(0, sizes[other], 400) ** 2 // sizes[other], strict=True
        )
        given[f"{one}-to_{other}-{other}"] = folder / f"{one}{other}.txt"
        given[f"{one}-to_{other}-{other}"].write_text("".join(f"{x} {y} {x % 4 / 4 + 0.25}\n" for x, y in rows))
    return [
        csaw.partition(given, folder / f"{parts}.zarr", reverse_relations=True, partitions=parts, progress=False)
        for parts in (1, 4)
    ]


ALONG = {
    "deepwalk": {"walk_length": 12},
    "ppr": {"termination_prob": 0.1},
    "neighbor": {"fanout": [4, 3, 2]},
    "forest-fire": {},
    "saint-walk": {"walk_length": 3, "frontier_size": 2, "instances": 20},
}


@pytest.mark.parametrize("algo", ALONG)
@pytest.mark.parametrize("metapath", ["a,b,c,b,a", "b,to_b,b,to_c,c,b", "a,b,to_b,b,c"])
def test_the_request_alone_decides_the_bytes_along_a_metapath(tmp_path, larger, metapath, algo):
    options = ALONG[algo] | {"metapath": metapath}
    assert_request_decides(*larger, tmp_path / "s.zarr", algo, **options)
    one = arrays_of(larger[0], tmp_path / "s.zarr", algo, seed=5, **options)
    assert_same(one, arrays_of(larger[1], tmp_path / "s.zarr", algo, seed=5, residency="disk", **options))


@pytest.mark.parametrize("algo", ["deepwalk", "ppr", "neighbor"])
def test_batches_that_stay_where_they_were_drawn_have_the_vertices_of_the_graph(tmp_path, larger, algo):
    options = ALONG[algo] | {"metapath": "b,to_b,b,to_c,c,b"}
    stored = arrays_of(larger[0], tmp_path / "s.zarr", algo, seed=5, **options)
    with csaw.stream(larger[1], algo=algo, seed=5, device="cpu", **options) as stream:
        [batch] = stream
        arrays = batch.on_device()
    named = [name for name in stored if name in arrays]
    assert named
    assert_same({name: arrays[name].astype(stored[name].dtype) for name in named}, {n: stored[n] for n in named})


@pytest.mark.parametrize(
    "options", [{"num_walks": 300}, {"algo": "neighbor", "fanout": [4, 3]}, {"algo": "ppr", "termination_prob": 0.2}]
)
@pytest.mark.parametrize("metapath", ["a,b,c,b,a", "b,to_b,b,to_c,c,b"])
def test_samples_along_a_metapath_pass_verify(tmp_path, larger, metapath, options):
    csaw.sample(larger[0], tmp_path / "s.zarr", metapath=metapath, device="cpu", progress=False, **options)
    report = csaw.verify(tmp_path / "s.zarr", progress=False)
    assert report.ok, report
    walks = csaw.open_samples(tmp_path / "s.zarr")
    if "algo" not in options:
        types = larger[0].types
        turns = Metapath.parsed(metapath, types).relations
        ids = {name: number for number, name in enumerate(larger[0].vertex_ids())}
        for row in walks.names(walks.walks[:200]).tolist():
            for step, (one, other) in enumerate(pairwise(name for name in row if name)):
                relation = types.relations[turns[step % len(turns)]]
                assert (one.split(":")[0], other.split(":")[0]) == (relation.source, relation.target)
                assert {one, other} <= ids.keys()


@pytest.mark.parametrize("options", [{}, {"algo": "neighbor", "fanout": [3, 2]}, {"edge_bias": "1 + e.dst_degree"}])
def test_verify_finds_another_metapath_than_the_bias_follows(tmp_path, larger, options):
    path = tmp_path / "s.zarr"
    csaw.sample(larger[0], path, metapath="a,b,c,b,a", device="cpu", progress=False, **options)
    right = csaw.open_samples(path).manifest["request"]["metapath"]
    assert right == Metapath.parsed(right, larger[0].types).text(larger[0].types)
    for text in (f"{right},{right[2:]}", ",".join(right.split(",")[:5]), "b,to_b,b", "a,b,c,b,a", "a,nothing"):
        forged(path, lambda said, text=text: said["manifest"]["request"].update({"metapath": text}))
        [wrong] = [check for check in csaw.verify(path, progress=False).checks if not check.ok]
        assert wrong.name == "request"
        assert f"metapath: expected the one that edge_bias follows, found {text}" in str(wrong)
    forged(path, lambda said: said["manifest"]["request"].update({"metapath": right}))
    assert csaw.verify(path, progress=False).ok
