"""Fanouts by relation: the anchors of the law by counting, the same bytes wherever it is drawn, and what is refused."""

from collections import Counter

import numpy as np
import pandas
import pytest
from click.testing import CliRunner
from helpers.faults import plant
from helpers.forged import forged
from helpers.graphs import arrays_of
from helpers.invariance import assert_request_decides, assert_same
from helpers.relations import FANOUT, SEEDS, TIMED, WAYS, graph_in_time, partitioned
from helpers.stats import assert_drawn_from

import csaw
from csaw.cli.main import cli
from csaw.engine.stores.verify import verify
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.staged import RelationGraph
from csaw.partition.graph.types import RELATION


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The graph of LAWS A1: three authors of P0, which cites P1 and P2."""
    files = {"paper-by-author": "0 0\n0 1\n0 2\n", "paper-cites-paper": "0 1\n0 2\n"}
    return partitioned(tmp_path_factory.mktemp("small"), files)


def drawn(store, fanout, source, times, **options):
    """Of each of many mini-batches of one seed: the ends of each edge and its relation, in order."""
    given = {"sources": [source] * times, "seeds_per_batch": 1, "shuffle": False} | options
    sample = csaw.sample(store, algo="minibatch", fanout=fanout, device="cpu", progress=False, **given)
    names = sample.names(np.arange(store.vertices))
    for k in range(sample.instances):
        one = sample.group(k, k + 1)
        nodes, types = one["n_id"], store.types.relations
        yield tuple(
            (names[nodes[col]], types[relation].name, names[nodes[row]])
            for row, col, relation in zip(one["row"], one["col"], one["relation"], strict=True)
        )


def test_each_relation_is_drawn_by_itself(small):
    """LAWS A1: two of three authors and one of two papers, six outcomes of 1/6."""
    counts = Counter()
    for edges in drawn(small, {"by": (2,), "cites": (1,)}, "paper:0", 3000):
        assert [name for _, name, _ in edges] == ["by", "by", "cites"]  # in the order of the relations
        counts[frozenset(end for _, _, end in edges)] += 1
    assert len(counts) == 6
    assert_drawn_from(list(counts.values()), [1 / 6] * 6)


def test_a_vertex_that_is_met_again_keeps_its_node(tmp_path):
    """LAWS A2: papers P0 or P0 and P1, each with 1/2, over the author of P0."""
    store = partitioned(tmp_path, {"paper-by-author": "0 0\n", "author-of-paper": "0 0\n0 1\n"})
    counts = Counter(drawn(store, {"by": (1, 1), "of": (1, 1)}, "paper:0", 2000))
    first = ("paper:0", "by", "author:0")
    outcomes = [(first, ("author:0", "of", "paper:0")), (first, ("author:0", "of", "paper:1"))]
    assert set(counts) == set(outcomes)
    assert_drawn_from([counts[one] for one in outcomes], [0.5, 0.5])


def test_weights_count_within_a_relation(tmp_path):
    store = partitioned(tmp_path, {"x-to-y": "0 0 1\n0 1 3\n", "x-also-y": "0 0 9\n0 1 1\n"})
    counts = Counter(drawn(store, {"to": (1,), "also": (1,)}, "x:0", 4000))
    chances = {(a, b): (1, 3)[a] / 4 * (9, 1)[b] / 10 for a in (0, 1) for b in (0, 1)}
    numbers = [((("x:0", "to", f"y:{a}"), ("x:0", "also", f"y:{b}"))) for a, b in chances]
    assert_drawn_from([counts[one] for one in numbers], list(chances.values()))


@pytest.mark.parametrize("how", WAYS)
def test_the_request_decides_the_bytes(tmp_path, store, pieces, how):
    options = {"seeds_per_batch": 16, "sources": "type:b"} | WAYS[how]
    assert_request_decides(store, pieces, tmp_path / "s.zarr", "minibatch", **options)
    expected = arrays_of(store, tmp_path / "s.zarr", "minibatch", **options)
    assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "minibatch", residency="disk", **options))
    asked = {"a-to_b-b", "b-to_c-c", "b-to_b-b", "b-rev_to_b-a", "c-rev_to_c-b"}
    assert {str(store.types.relations[number]) for number in np.unique(expected["relation"])} == asked


def test_edges_are_those_of_the_graph(store, tmp_path):
    arrays = arrays_of(store, tmp_path / "s.zarr", "minibatch", fanout=FANOUT, seeds_per_batch=16)
    graph = store.load([RELATION])
    first = np.repeat(arrays["node_ptr"][:-1], np.diff(arrays["edge_ptr"]))
    source, end = (arrays["n_id"][first + arrays[name]].astype(np.int64) for name in ("col", "row"))
    e_id = arrays["e_id"]
    assert np.array_equal(graph.indices[e_id], end)
    assert np.array_equal(np.searchsorted(graph.indptr, e_id, side="right") - 1, source)
    assert np.array_equal(graph.columns["relation"][e_id], arrays["relation"])


def test_one_relation_has_the_bytes_of_a_graph_of_one_type(tmp_path):
    """Relation r of R has the slot R times that of the node, and r: the slot itself where there is one relation."""
    rows = "".join(f"{a} {b}\n" for a, b in np.random.default_rng(1).integers(10, 60, (600, 2)))
    typed = partitioned(tmp_path, {"x-to-x": rows})
    (tmp_path / "plain.txt").write_text(rows)
    options = {"duplicates": "keep", "directed": True, "progress": False}
    plain = csaw.partition(tmp_path / "plain.txt", tmp_path / "p.zarr", **options)
    found = arrays_of(typed, tmp_path / "s.zarr", "minibatch", fanout={"to": (5, 3)}, seeds_per_batch=7, seed=3)
    expected = arrays_of(plain, tmp_path / "t.zarr", "minibatch", fanout=(5, 3), seeds_per_batch=7, seed=3)
    assert not found.pop("relation").any()
    assert_same(expected, found)


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("timed")
    (folder / "pieces").mkdir()
    return graph_in_time(folder), graph_in_time(folder / "pieces", partitions=4)


@pytest.mark.parametrize("how", TIMED)
def test_in_time_the_request_decides_the_bytes(tmp_path, timed, how):
    store, pieces = timed
    options = {"seeds_per_batch": 16, "sources": SEEDS, "disjoint": True} | TIMED[how]
    assert_request_decides(store, pieces, tmp_path / "s.zarr", "minibatch", **options)
    expected = arrays_of(store, tmp_path / "s.zarr", "minibatch", **options)
    assert_same(expected, arrays_of(pieces, tmp_path / "s.zarr", "minibatch", residency="disk", **options))
    assert len(np.unique(expected["relation"])) == 5


@pytest.mark.parametrize("how", TIMED)
def test_verify_finds_no_fault_in_time(tmp_path, timed, how):
    options = {"seeds_per_batch": 16, "sources": SEEDS, "disjoint": True, "epochs": 20} | TIMED[how]
    csaw.sample(timed[0], tmp_path / "s.zarr", algo="minibatch", device="cpu", progress=False, **options)
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report


def test_no_relation_shows_a_seed_what_is_later(tmp_path):
    """LAWS E1 and E2: one user at several times, and two of three orders that are early enough."""
    orders = "source,target,time\n0,0,1\n0,1,2\n0,2,9\n"
    store = partitioned(tmp_path, {"user-placed-order": orders, "user-saw-item": orders}, time_column="time")
    seeds = {"ids": ["user:0"] * 3, "time": [5, 1, 9]}
    found = [Counter() for _ in range(3)]
    options = {"sources": seeds, "time_strategy": "uniform", "disjoint": True, "shuffle": False, "epochs": 1000}
    sample = csaw.sample(
        store, algo="minibatch", fanout={"placed": (2,), "saw": (1,)}, seeds_per_batch=3, progress=False, **options
    )
    names = sample.names(np.arange(store.vertices))
    for k in range(sample.instances):
        one = sample.group(k, k + 1)
        for seed in range(3):
            ends = names[one["n_id"][one["row"][one["batch"][one["col"]] == seed]]]
            found[seed][tuple(sorted(ends))] += 1
    assert_drawn_from([found[0]["item:0", "order:0", "order:1"], found[0]["item:1", "order:0", "order:1"]], [0.5, 0.5])
    assert found[1] == {("item:0", "order:0"): 1000}
    assert len(found[2]) == 9


@pytest.mark.parametrize("how", WAYS)
def test_verify_finds_no_fault(tmp_path, store, how):
    options = {"seeds_per_batch": 16, "sources": "type:b", "epochs": 20} | WAYS[how]
    out = tmp_path / "s.zarr"
    csaw.sample(store, out, algo="minibatch", device="cpu", progress=False, **options)
    report = verify(out)
    assert report.ok, report
    assert any(check.p_value is not None for check in report.checks)


def test_text_and_the_command_line_mean_the_same(tmp_path, store):
    text = ";".join(f"{name}={','.join(map(str, sizes))}" for name, sizes in FANOUT.items())
    one = csaw.sample(store, algo="minibatch", fanout=text, device="cpu", progress=False)
    keys = {("b", "to_b", "b") if name == "b-to_b-b" else name: sizes for name, sizes in FANOUT.items()}
    other = csaw.sample(store, algo="minibatch", fanout=keys, device="cpu", progress=False)
    assert np.array_equal(one["e_id"], other["e_id"])
    every = csaw.sample(store, algo="minibatch", fanout=dict.fromkeys(keys, (2, 1)) | {"*": (2, 1)}, progress=False)
    assert all(list(sizes) == [2, 1] for sizes in every.manifest["request"]["parameters"]["fanout"].values())
    given = [word for name, sizes in FANOUT.items() for word in ("--fanout", f"{name}={','.join(map(str, sizes))}")]
    line = ["sample", str(store.path), str(tmp_path / "s.zarr"), "--algo", "minibatch", "--device", "cpu", *given]
    assert CliRunner().invoke(cli, line).exit_code == 0
    stored = csaw.open_samples(tmp_path / "s.zarr")
    assert np.array_equal(stored["e_id"], one["e_id"])
    fanouts = stored.manifest["request"]["parameters"]["fanout"]
    assert sorted(fanouts) == sorted(map(str, store.types.relations))
    assert fanouts["c-from_b-b"] == [0, 0]


def test_a_relation_in_full_is_that_one_whatever_others_are_called(tmp_path):
    store = partitioned(tmp_path, {"b-x-c": "0 0\n0 1\n", "a-b-x-c-d": "0 0\n0 1\n"})
    assert [str(one) for one in store.types.relations] == ["b-x-c", "a-b-x-c-d"]
    asked = {"fanout": {"b-x-c": (1,), "a-b-x-c-d": (2,)}, "device": "cpu", "progress": False}
    assert np.bincount(csaw.sample(store, algo="minibatch", **asked)["relation"]).tolist() == [1, 2]


REFUSED = [
    ({"fanout": {"to_d": (1,)}}, "no relation is called 'to_d'; did you mean to_c"),
    ({"fanout": {"to_b": (1,), "b-to_c-c": (1,)}}, "'to_b' is the name of a-to_b-b, b-to_b-b; give one of these in"),
    ({"fanout": {"to_c": (1,), "b-to_c-c": (1,)}}, "b-to_c-c is there twice, as 'to_c' and 'b-to_c-c'"),
    ({"fanout": {"to_c": (1,), "rev_to_c": (1, 2)}}, "expected as many hops for each relation, found 1 and 2"),
    ({"fanout": {}}, "expected integers such as 25,10, or for each relation, such as writes=25,10, found {}"),
    ({"fanout": {"": (1,)}}, "expected integers such as 25,10, or for each relation"),
    ({"fanout": {3: (1,)}}, "expected integers such as 25,10, or for each relation"),
    ({"fanout": "to_c=1;to_c=2"}, "the relation 'to_c' is there twice"),
    ({"fanout": "to_c=1;2"}, "expected integers such as 25,10"),
    ({"fanout": "to_c=1,x"}, "expected integers such as 25,10"),
    ({"fanout": "to_c=-2"}, "expected -1 to 2^63 - 1, found -2"),
    ({"fanout": {"to_c": (2**31,)}, "replace": True}, "expected at most 2,147,483,647 with replace"),
    ({"fanout": {"to_c": (-1,)}, "replace": True}, "expected fanouts of at least 0, found -1"),
    ({"fanout": {"to_c": (1,)}, "induced": True}, "induced and fanouts by relation exclude each other"),
    ({"fanout": {"to_c": (1,)}, "metapath": "b,c"}, "metapath and fanouts by relation exclude each other"),
    ({"fanout": {"to_c": (1,)}, "edge_bias": "e.dst_degree"}, "selects uniformly or by weight"),
    ({"fanout": {"to_c": (1,)}, "bias": "degree"}, "selects uniformly or by weight"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_what_cannot_be_is_refused(store, options, said):
    with pytest.raises(OptionError) as error:
        csaw.sample(store, algo="minibatch", device="cpu", progress=False, **options)
    assert said in str(error.value)


def test_other_graphs_and_algorithms_refuse_relations(store):
    with pytest.raises(OptionError, match="karate has one type of vertices and no relations"):
        csaw.sample("karate", algo="minibatch", fanout={"to": (1,)}, device="cpu", progress=False)
    with pytest.raises(OptionError, match="only labor, minibatch and neighbor have fanouts by relation"):
        csaw.sample(store, algo="mvs", fanout={"to_c": (1,)}, device="cpu", progress=False)


def test_relations_that_share_random_numbers_are_found(tmp_path, monkeypatch):
    rows = "".join(f"{v} {(v + 7 * k) % 300}\n" for v in range(300) for k in range(1, 13))
    store = partitioned(tmp_path, {f"x-r{k}-x": rows for k in range(3)})
    own = "return nodes[entry] * sizes.size + relations[entry] if TYPED"
    plant(monkeypatch, "hops.py", own, "return nodes[entry] if TYPED")
    options = {"fanout": {"*": (1, 1)}, "seeds_per_batch": 8, "epochs": 20, "device": "cpu", "progress": False}
    csaw.sample(store, tmp_path / "s.zarr", algo="minibatch", **options)
    wrong = {check.name for check in verify(tmp_path / "s.zarr").checks if not check.ok}
    assert "neighbors, independence" in wrong


def test_what_a_request_cannot_say_is_a_fault(tmp_path, store):
    path = tmp_path / "s.zarr"
    csaw.sample(store, path, algo="minibatch", fanout=FANOUT, device="cpu", progress=False)
    forged(path, lambda said: said["manifest"]["request"].update(metapath="b,to_b,b"))
    assert [check.name for check in verify(path).checks if not check.ok] == ["request"]

    def unknown(said):
        del said["manifest"]["request"]["metapath"]
        said["manifest"]["request"]["parameters"]["fanout"] = {"x": [1, 1]}

    forged(path, unknown)
    with pytest.raises(StoreError, match=r"s\.zarr/zarr\.json: fanout: no relation is called 'x'"):
        verify(path)


def test_rows_of_all_relations_are_not_kept_twice(tmp_path):
    store = partitioned(
        tmp_path, {f"a-r{k}-a": "0 1\n99999 5\n" + "".join(f"{v} 0\n" for v in range(1000)) for k in range(9)}
    )
    view = RelationGraph(store)
    assert view.vertices == 9 * store.vertices
    assert sum(one.indptr.size for one in view.views.values()) == 0
    assert np.array_equal(np.sort(view.stored_edges), np.arange(store.edges))


def test_the_command_line_says_fanouts_as_they_are_given(tmp_path, store):
    runner, line = CliRunner(), ["sample", str(store.path), str(tmp_path / "s.zarr"), "--device", "cpu"]
    done = runner.invoke(cli, [*line, "--algo", "minibatch", "--fanout", "5", "--fanout", "to_c=6"])
    assert "--fanout: expected numbers once, or RELATION=NUMBERS for each relation, found 5 and to_c=6" in done.output
    done = runner.invoke(cli, [*line, "--algo", "mvs", "--fanout", "to_c=6"])
    assert "only labor, minibatch and neighbor have fanouts by relation" in done.output
    assert runner.invoke(cli, [*line, "--algo", "minibatch", "--fanout", "to_c=6,2"]).exit_code == 0
    assert "b-to_c-c=6,2" in runner.invoke(cli, ["info", str(tmp_path / "s.zarr")]).output


def test_exports_name_the_relation_of_each_edge(tmp_path, store):
    sample = csaw.sample(
        store, tmp_path / "s.zarr", algo="minibatch", fanout={"to_c": (2,)}, sources="type:b:40", progress=False
    )
    number = [str(one) for one in store.types.relations].index("b-to_c-c")
    for name in ("e.csv", "e.parquet"):
        csaw.export(sample, tmp_path / name)
        rows = (pandas.read_csv if name.endswith("csv") else pandas.read_parquet)(tmp_path / name)
        assert set(rows["relation"].dropna()) == {number}
        assert rows["relation"].notna().sum() == len(sample["relation"])
    assert set(sample.to_pandas()["relation"].dropna()) == {number}
