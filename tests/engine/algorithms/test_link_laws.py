"""Links with negatives: laws counted by hand or by brute force, targets, types, lists, errors, and faults that verify
finds.
"""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.faults import plant
from helpers.forged import forged
from helpers.graphs import arrays_of, random_store, store_of
from helpers.invariance import assert_same
from helpers.relations import partitioned, random_graph
from helpers.remade import remade
from helpers.stats import assert_drawn_from

import csaw
from csaw.cli.main import cli
from csaw.engine import prepare
from csaw.engine.algorithm import LinksWithNegatives
from csaw.engine.batches.links import units_upto
from csaw.partition.errors import CsawError, OptionError

MANY = 40_000
TWO_EDGES = [(0, 1, 1), (0, 2, 1)]
LINK = [0, 1]  # a list of one link


def drawn(store, tmp_path, **options):
    arrays = arrays_of(store, tmp_path / "s.zarr", "links", **{"seed": 3, **options})
    return arrays["links"].astype(np.int64), arrays["negatives"].astype(np.int64)


def counts(negatives, vertices):
    return np.bincount(negatives.ravel(), minlength=vertices)


# Laws


@pytest.mark.parametrize(("allow_self", "chances"), [(False, [0, 0, 0, 1, 1]), (True, [1, 0, 0, 1, 1])])
def test_negatives_of_a_vertex_with_two_neighbors(tmp_path, allow_self, chances):
    store = store_of(tmp_path / "g.zarr", TWO_EDGES, directed=True, vertices=5)
    options = {"sources": LINK, "instances": MANY // 4, "num_negatives": 4, "allow_self": allow_self}
    _, negatives = drawn(store, tmp_path, **options)
    assert_drawn_from(counts(negatives, 5), chances)


def test_negatives_by_degree_are_drawn_by_its_power(tmp_path):
    """Sixteen edges lead to vertex 3 and one to vertex 4, so that their biases are 8 and 1."""
    edges = [*TWO_EDGES, (1, 4, 1), *((u, 3, 1) for u in range(5, 21))]
    store = store_of(tmp_path / "g.zarr", edges, directed=True, vertices=21)
    options = {"sources": LINK, "instances": MANY // 4, "num_negatives": 4, "negative_bias": "degree"}
    _, negatives = drawn(store, tmp_path, **options)
    assert_drawn_from(counts(negatives, 21), [8 if v == 3 else int(v == 4) for v in range(21)])


GRAPHS = {
    "sparse": lambda path: random_store(path, vertices=24, edges=40, directed=True),
    "dense": lambda path: store_of(
        path,
        [(u, v, 1) for u in range(24) for v in range(24) if (5 * u + 7 * v) % 6 < 5],
        directed=True,
        vertices=24,
    ),
    "repeated": lambda path: store_of(
        path, [(u, v, 1) for u in range(9) for v in range(9) if (u * v) % 4 for _ in range(u % 3 + 1)], directed=True
    ),
}


def law_of(graph, u, by_degree, allow_self):
    """The chances of the negatives of a source, from lists."""
    vertices = graph.indptr.size - 1
    lead = [int(v) for v in graph.indices]
    taken = {int(v) for v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]} | (set() if allow_self else {u})
    return [0.0 if w in taken else float(lead.count(w)) ** 0.75 if by_degree else 1.0 for w in range(vertices)]


@pytest.mark.parametrize("allow_self", [False, True])
@pytest.mark.parametrize("bias", ["none", "degree"])
@pytest.mark.parametrize("kind", GRAPHS)
def test_negatives_of_every_source_follow_the_law(tmp_path, kind, bias, allow_self):
    store = GRAPHS[kind](tmp_path / "g.zarr")
    options = {"negative_bias": bias, "allow_self": allow_self, "skip_full": True, "num_negatives": 600}
    links, negatives = drawn(store, tmp_path, sources="all", instances=3 * store.edges, **options)
    graph, none = store.load(), store.vertices
    judged = 0
    for u in np.unique(links[:, 0]).tolist():
        law = law_of(graph, u, bias == "degree", allow_self)
        found = negatives[links[:, 0] == u]
        if not sum(law):
            assert (found < 0).all()
            continue
        assert ((found >= 0) & (found < none)).all()
        assert_drawn_from(counts(found, none), law)
        judged += 1
    assert judged > 1


def test_negatives_of_a_link_are_independent(tmp_path):
    store = store_of(tmp_path / "g.zarr", TWO_EDGES, directed=True, vertices=6)
    _, negatives = drawn(store, tmp_path, sources=LINK, instances=MANY, num_negatives=2)
    pairs = np.bincount((negatives[:, 0] - 3) * 3 + negatives[:, 1] - 3, minlength=9)
    assert_drawn_from(pairs, np.ones(9))


def test_hubs_of_a_star_are_full_and_cost_no_pass_over_their_rows(tmp_path):
    """Both hubs of two stars have an edge to every other vertex but one, or to all."""
    leaves = range(2, 30_000)
    edges = [(0, v, 1) for v in leaves] + [(1, v, 1) for v in (0, *leaves)]
    store = store_of(tmp_path / "g.zarr", edges, directed=True)
    options = {"sources": [0, 5, 1, 5], "instances": 20_000, "skip_full": True}
    _, negatives = drawn(store, tmp_path, **options)
    assert (negatives[::2] == 1).all()
    assert (negatives[1::2] < 0).all()
    _, by_degree = drawn(store, tmp_path, **options | {"instances": 200, "negative_bias": "degree"})
    assert (by_degree < 0).all()  # no edge leads to vertex 1


# Links


def test_links_are_uniform_edges(tmp_path):
    store = store_of(tmp_path / "g.zarr", [(0, 1, 1), (0, 2, 1), (0, 2, 1), (3, 0, 1)], directed=True, vertices=5)
    links, _ = drawn(store, tmp_path, instances=MANY)
    found = [int(((links[:, 0] == u) & (links[:, 1] == v)).sum()) for u, v in ((0, 1), (0, 2), (3, 0))]
    assert sum(found) == MANY
    assert_drawn_from(found, [1, 2, 1])


def test_all_edges_are_links_in_order_and_by_default_there_are_as_many_as_edges(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=50, edges=100)
    links, _ = drawn(store, tmp_path, sources="all")
    graph = store.load()
    assert links[:, 0].tolist() == np.repeat(np.arange(50), np.diff(graph.indptr)).tolist()
    assert links[:, 1].tolist() == graph.indices.tolist()
    by_itself, _ = drawn(store, tmp_path)
    assert by_itself.shape == links.shape


def test_links_come_from_a_file_or_an_array_with_original_ids(tmp_path):
    (tmp_path / "g.txt").write_text("".join(f"{10 * u} {10 * u + 10}\n" for u in range(1, 9)))
    graph = csaw.partition(tmp_path / "g.txt", tmp_path / "g.zarr", directed=True, progress=False)
    (tmp_path / "l.txt").write_text("# source destination\n10 30\n\n20\t20\n")
    one = csaw.sample(graph, tmp_path / "a.zarr", algo="links", sources=tmp_path / "l.txt", seed=1, device="cpu")
    other = csaw.sample(graph, tmp_path / "b.zarr", algo="links", sources=[[10, 30], [20, 20]], seed=1, device="cpu")
    assert one["links"][:].tolist() == [[10, 30], [20, 20]]
    assert_same(*({name: s[name][:] for name in ("links", "negatives")} for s in (one, other)))
    assert csaw.verify(tmp_path / "a.zarr").ok


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("0 1\n2\n", ":2: expected the source and the destination of a link, two vertex ids, found '2'"),
        ("0 1 2\n", ":1: expected the source and the destination of a link"),
        ("0 x\n", ":1: expected a vertex id, found 'x'"),
        ("1 77\n", "vertex 77 is not in karate"),
        ("", "no source to start from"),
    ],
)
def test_lines_that_are_no_links_are_refused(tmp_path, text, error):
    (tmp_path / "l.txt").write_text(text)
    with pytest.raises(CsawError, match=re.escape(error)):
        csaw.sample("karate", algo="links", sources=tmp_path / "l.txt", device="cpu", progress=False)


@pytest.mark.parametrize(
    ("shape", "error"),
    [
        ((2, 3), "expected an array of the shape (links, 2)"),
        ((2, 3), "found one of the shape (2, 3); transpose it"),
        ((4, 3), "found one of the shape (4, 3)"),
        ((2, 1), "found one of the shape (2, 1); transpose it"),
        ((5, 1), "found one of the shape (5, 1)"),
        ((2, 2, 2), "found one of the shape (2, 2, 2)"),
    ],
)
def test_arrays_of_another_shape_than_a_row_for_each_link_are_refused(shape, error):
    """An edge_index of PyTorch Geometric has a column for each link: its numbers would be paired wrongly."""
    with pytest.raises(OptionError, match=re.escape(error)):
        csaw.sample("karate", algo="links", sources=np.ones(shape, np.int64), device="cpu", progress=False)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"sources": [1, 2, 3]}, "expected two vertices for each link, found 3"),
        ({"sources": "random:4"}, "expected a file of links"),
        ({"relation": "writes"}, "has one type of vertices and no relations"),
        ({"num_negatives": 0}, "num_negatives"),
        ({"negative_bias": "weight"}, "negative_bias"),
        ({"target": 5}, "a link has two ends"),
        ({"induced": True}, "links have no subgraph"),
        ({"edge_bias": "e.dst_degree"}, "draws vertices that are no neighbors"),
    ],
)
def test_what_links_cannot_have_is_an_error(options, error):
    with pytest.raises(OptionError, match=error):
        csaw.sample("karate", algo="links", device="cpu", progress=False, **options)


def test_a_source_that_has_an_edge_to_all_is_an_error_or_left_out_and_counted(tmp_path):
    store = csaw.graph(np.array([[7, 3], [7, 9], [3, 7]]), directed=True)
    with pytest.raises(OptionError, match="expected a vertex that 7 has no edge to, found none"):
        csaw.sample(store, algo="links", sources="all", device="cpu")
    found = csaw.sample(store, algo="links", sources="all", skip_full=True, num_negatives=2, device="cpu")
    assert found["negatives"][:].tolist() == [[9, 9], [-1, -1], [-1, -1]]
    csaw.partition([(3, 7), (7, 3)], tmp_path / "g.zarr")
    csaw.sample(tmp_path / "g.zarr", tmp_path / "l.zarr", algo="links", sources="all", skip_full=True, device="cpu")
    assert csaw.verify(tmp_path / "l.zarr").ok  # there is no negative of which the law could be tested


# Types


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    return random_graph(tmp_path_factory.mktemp("typed"))


@pytest.mark.parametrize("bias", ["none", "degree"])
def test_links_of_a_relation_and_their_negatives_are_of_its_types(typed, tmp_path, bias):
    out = tmp_path / "s.zarr"
    csaw.sample(
        typed, out, algo="links", relation="b-to_b-b", num_negatives=5, instances=3000, negative_bias=bias, ids="dense"
    )
    samples, types = csaw.open_samples(out), typed.types
    assert samples.manifest["request"]["parameters"]["relation"] == "b-to_b-b"
    links, negatives = samples["links"][:], samples["negatives"][:]
    first, last = types.span("b")
    assert ((links >= first) & (links < last)).all()
    assert ((negatives >= first) & (negatives < last)).all()
    assert csaw.verify(out).ok


@pytest.mark.parametrize("bias", ["none", "degree"])
def test_links_of_a_relation_are_the_same_from_disk(typed, tmp_path, bias):
    options = {"relation": "b-to_b-b", "num_negatives": 3, "instances": 4000, "seed": 4, "negative_bias": bias}
    expected = arrays_of(typed, tmp_path / "s.zarr", "links", **options)
    found = arrays_of(typed, tmp_path / "t.zarr", "links", residency="disk", in_flight=700, **options)
    assert_same(expected, found)


def test_an_edge_of_another_relation_can_be_a_negative_of_one(tmp_path):
    """From u:0, `a` leads to v:0 and `b` to v:1 and v:2: v:1 is no edge of `a`, and v:0 none of `b`."""
    graph = partitioned(tmp_path, {"u-a-v": "0 0\n", "u-b-v": "0 1\n0 2\n"})
    for relation, wanted in (("a", {"v:1", "v:2"}), ("u-b-v", {"v:0"})):
        found = csaw.sample(graph, algo="links", relation=relation, instances=200, num_negatives=3, device="cpu")
        names = graph.original_ids(np.unique(found["negatives"][:]).astype(graph.id_dtype))
        assert set(names) == wanted
    with pytest.raises(OptionError, match="v that u:0 has no edge to|has no edge to, found none"):
        csaw.sample(graph, algo="links", instances=5, device="cpu")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"relation": "reads"}, "no relation is called 'reads'"),
        ({"relation": "a", "sources": ["u:0", "u:0"]}, "expected a vertex of the type v in link 0 of u-a-v"),
    ],
)
def test_relations_and_types_that_do_not_fit_are_errors(tmp_path, options, error):
    graph = partitioned(tmp_path, {"u-a-v": "0 0\n", "u-b-v": "0 1\n"})
    with pytest.raises(OptionError, match=error):
        csaw.sample(graph, algo="links", device="cpu", **options)


# The command, a class of one's own, and the biases


def test_the_summary_of_the_command_says_how_many_negatives_a_link_has(tmp_path):
    words = ["sample", "karate", str(tmp_path / "s.zarr"), "--algo", "links", "--num-negatives", "3", "--device", "cpu"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert "156 links, each with 3 negatives in " in done.output


def test_a_class_of_the_users_own_changes_the_options(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from csaw.engine.algorithm import LinksWithNegatives, option\n\n\nclass Mine(LinksWithNegatives):\n"
        "    num_negatives: int = option(7, help='number', low=1)\n\n    def edge_bias(self, e):\n        return 1.0\n"
    )
    found = csaw.sample("karate", algo=f"{tmp_path / 'mine.py'}:Mine", instances=4, device="cpu")
    assert found["negatives"].shape == (4, 7)
    assert issubclass(LinksWithNegatives, object)


def test_biases_by_degree_are_whole_units_of_exact_powers(tmp_path):
    edges = [(u, 0, 1) for u in range(1, 17)] + [(0, 1, 1), *((u, 2, 1) for u in range(3, 84))]
    upto = units_upto(store_of(tmp_path / "g.zarr", edges, directed=True, vertices=84))
    units = np.diff(upto)[:4].tolist()
    assert units == [8 << 40, 1 << 40, 27 << 40, 0]
    graph = csaw.graph("karate")
    assert prepare(graph, "links", negative_bias="degree", device="cpu").plan.fixed["negatives"] == 24 * 34


# Faults

FIRST_WORD = "pick_word(seed, uint64(first + i), uint64(j), uint64(0))"
PROPOSED = "int64(below_wide(word, uint64(units)))"
FAULTS = {
    "edges are accepted": ("links.py", "low[k]) != goal[k])", "low[k]) >= 0)", "negatives"),
    "the source too": ("links.py", "and not self_too:\n            goal", "and self_too:\n            goal", "self"),
    "one draw for all": ("links.py", FIRST_WORD, FIRST_WORD.replace("(j)", "(0)"), "negatives, independence"),
    "low ids": ("links.py", PROPOSED, f"{PROPOSED} // (1 + int64(word & uint64(1)))", "law of negatives"),
    "the last edges never": ("traverse.py", "uint64(bound[i])))", "uint64(bound[i] - 300)))", "links"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_law_is_found(tmp_path, fault, monkeypatch):
    store = random_store(tmp_path / "g.zarr", vertices=200, edges=1500)
    file, right, wrong, check = FAULTS[fault]
    with monkeypatch.context() as during:
        plant(during, file, right, wrong)
        csaw.sample(store, tmp_path / "s.zarr", algo="links", num_negatives=4, instances=20_000, seed=2, device="cpu")
    assert check in failed(tmp_path / "s.zarr")


def failed(path):
    return {one.name for one in csaw.verify(path).checks if not one.ok}


@pytest.mark.parametrize("drawn", ["none", "degree"])
def test_another_bias_than_asked_for_is_found(tmp_path, drawn):
    store = random_store(tmp_path / "g.zarr", vertices=200, edges=1500)
    options = {"num_negatives": 4, "instances": 20_000, "seed": 2, "device": "cpu", "negative_bias": drawn}
    csaw.sample(store, tmp_path / "s.zarr", algo="links", **options)
    other = {"none": "degree", "degree": "none"}[drawn]
    forged(tmp_path / "s.zarr", lambda said: said["manifest"]["request"]["parameters"].update(negative_bias=other))
    assert "negatives by degree" in failed(tmp_path / "s.zarr")


def test_other_links_than_those_of_the_list_are_found(tmp_path):
    csaw.sample("karate", tmp_path / "s.zarr", algo="links", sources=[[1, 34], [2, 17], [5, 6]], seed=2, device="cpu")

    def change(arrays):
        arrays["links"][1] = arrays["links"][0]
        return arrays

    remade(tmp_path / "s.zarr", tmp_path / "wrong.zarr", change)
    assert "list of links" in failed(tmp_path / "wrong.zarr")


def test_another_link_where_a_list_comes_again_is_found(tmp_path):
    options = {"sources": [[1, 34], [2, 17], [5, 6]], "instances": 9, "ids": "dense", "device": "cpu"}
    csaw.sample("karate", tmp_path / "s.zarr", algo="links", seed=2, **options)
    assert csaw.verify(tmp_path / "s.zarr").ok

    def change(arrays):
        arrays["links"][7, 1] += 1
        return arrays

    remade(tmp_path / "s.zarr", tmp_path / "wrong.zarr", change)
    assert "sources" in failed(tmp_path / "wrong.zarr")


def test_a_source_that_may_be_a_negative_and_never_is_one_is_found(tmp_path):
    store = random_store(tmp_path / "g.zarr", vertices=60, edges=400)
    csaw.sample(store, tmp_path / "s.zarr", algo="links", num_negatives=5, instances=1000, seed=2, device="cpu")
    forged(tmp_path / "s.zarr", lambda said: said["manifest"]["request"]["parameters"].update(allow_self=True))
    assert failed(tmp_path / "s.zarr") == {"negatives at ends"}


@pytest.mark.parametrize("bias", ["none", "degree"])
@pytest.mark.parametrize("end", [0, 1])
def test_negatives_that_are_ends_of_their_links_come_as_often_as_they_should(tmp_path, bias, end):
    """Of links that are no edges, the destination may be a negative."""
    store = random_store(tmp_path / "g.zarr", vertices=60, edges=400)
    graph = store.load()
    rows = [graph.indices[graph.indptr[u] : graph.indptr[u + 1]] for u in range(60)]
    pairs = [[u, v] for u in range(60) for v in range(u + 1, 60) if v not in rows[u] and len(rows[v])]
    options = {"sources": pairs, "negative_bias": bias, "allow_self": True, "num_negatives": 5, "ids": "dense"}
    csaw.sample(store, tmp_path / "s.zarr", algo="links", seed=2, device="cpu", **options)
    [check] = [one for one in csaw.verify(tmp_path / "s.zarr").checks if one.name == "negatives at ends"]
    assert check.ok
    assert check.tested

    def change(arrays):
        """Put the negative before it where a negative is this end."""
        found = arrays["negatives"]
        row, column = np.nonzero(found == arrays["links"][:, [end]])
        found[row, column] = found[row, column - 1]
        return arrays

    remade(tmp_path / "s.zarr", tmp_path / "wrong.zarr", change)
    assert "negatives at ends" in failed(tmp_path / "wrong.zarr")
