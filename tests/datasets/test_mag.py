"""Graphs of the shape of ogbn-mag: their counts, their edges against Philox in plain Python, and what is refused."""

import numpy as np
import pytest

import csaw
from csaw.datasets.generate import generate, write_text
from csaw.datasets.mag import SHAPES, SIZES, distinct_edges
from csaw.datasets.resolve import resolve
from csaw.datasets.spec import Mag, parse_mag
from csaw.partition.errors import BudgetError, OptionError
from csaw.partition.graph.types import RELATION

OGBN = {"author": 1_134_649, "field_of_study": 59_965, "institution": 8_740, "paper": 736_389}
EDGES = {"affiliated_with": 1_043_998, "writes": 7_145_660, "cites": 5_416_271, "has_topic": 7_505_078}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return generate("mag:scale=0.01", tmp_path_factory.mktemp("mag") / "g.zarr")


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 % 2**32, (p0 >> 32) ^ c[3] ^ k[1], p0 % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def test_the_shape_is_that_of_ogbn_mag(store):
    assert SIZES == OGBN
    assert {shape.relation.name: shape.edges for shape in SHAPES} == EDGES
    sizes = np.diff(store.types.bounds)
    assert dict(zip(store.types.names, sizes.tolist(), strict=True)) == {n: round(s / 100) for n, s in OGBN.items()}
    counts = {one.name: edges for one, edges in zip(store.types.relations, store.types.edges, strict=True)}
    assert counts == {f"{rev}{n}": round(e / 100) for n, e in EDGES.items() for rev in ("", "rev_")}


def test_edges_are_different_and_each_has_its_reverse(store):
    graph = store.load([RELATION])
    owner, relation = np.repeat(np.arange(store.vertices), np.diff(graph.indptr)), graph.columns["relation"]
    for number in range(4):
        there, back = (np.flatnonzero(relation == k) for k in (number, number + 4))
        edges = set(zip(owner[there].tolist(), graph.indices[there].tolist(), strict=True))
        assert len(edges) == there.size
        assert edges == set(zip(graph.indices[back].tolist(), owner[back].tolist(), strict=True))
    cites = relation == 2
    assert (owner[cites] != graph.indices[cites]).all()


def test_degrees_are_skewed_where_the_exponent_is_large(store):
    first, last = store.types.span("field_of_study")
    degree = np.sort(np.diff(store.load().indptr)[first:last])[::-1]
    assert degree[0] > 50 * np.median(degree)


def test_edges_are_the_first_different_draws_by_their_definition():
    """Relation 2 of seed 2^33 + 5: sources by the power 1.25, targets by 2, without self loops."""
    seed, found = 2**33 + 5, []
    for draw in range(10_000):
        w = philox((2, 3, draw, 0), (seed % 2**32, seed >> 32))
        one, other = (((w[k] << 32 | w[k + 1]) >> 11) / 2**53 for k in (0, 2))
        edge = int(one * np.sqrt(np.sqrt(one)) * 90), int(other * other * 90)
        if edge[0] != edge[1] and edge not in found:
            found.append(edge)
        if len(found) == 500:
            break
    source, target = distinct_edges(seed, 2, 500, (90, 90), [1.25, 2.0], True)
    assert list(zip(source.tolist(), target.tolist(), strict=True)) == found


def test_a_spec_decides_the_graph(tmp_path, store):
    def made(spec, name):
        return generate(spec, tmp_path / name)

    assert made("mag:scale=0.01,seed=1,reverse=1", "a.zarr").fingerprint == store.fingerprint
    assert made("mag:scale=0.01,seed=2", "b.zarr").fingerprint != store.fingerprint
    forward = made("mag:scale=0.01,reverse=0", "c.zarr")
    assert (len(forward.types.relations), forward.edges) == (4, store.edges // 2)
    assert made("mag:scale=0.0001", "d.zarr").edges > 0
    assert (str(parse_mag("mag:")), str(Mag(0.5, 3))) == ("mag:scale=1", "mag:scale=0.5,seed=3")


def test_commands_take_the_name(tmp_path):
    path = resolve("mag:scale=0.001", cache_dir=tmp_path)
    assert resolve("mag:scale=1e-3,seed=1", cache_dir=tmp_path) == path
    sample = csaw.hgt(path, num_samples=(5, 5), sources="type:paper:8", seeds_per_batch=8, device="cpu")
    assert sample["hop_nodes"][:, :2].tolist() == [[8, 15]]  # institutions come with authors


REFUSED = [
    ("mag:scale=0", "mag: scale: expected a number above 0, at most 100, found 0.0"),
    ("mag:scale=nan", "mag: scale: expected a number above 0"),
    ("mag:scale=1e9", "mag: scale: expected a number above 0"),
    ("mag:seed=-1", "mag: seed: expected 0 to 2^64 - 1, found -1"),
    ("mag:reverse=2", "mag: reverse: expected 0 or 1, found 2"),
    ("mag:scale=x", "scale: expected a number, found 'x'"),
    ("mag:edge_factor=3", "no parameter 'edge_factor'; there are scale, seed, reverse"),
    ("mag:seed=1,seed=1", "seed is given twice"),
]


@pytest.mark.parametrize(("spec", "said"), REFUSED)
def test_what_cannot_be_is_refused(tmp_path, spec, said):
    with pytest.raises(OptionError) as error:
        generate(spec, tmp_path / "g.zarr")
    assert said in str(error.value)


def test_what_is_too_large_or_has_no_text_is_refused(tmp_path, monkeypatch):
    with pytest.raises(OptionError, match="a graph of several types has no edge list"):
        write_text("mag:scale=0.01", tmp_path / "g.txt")
    with pytest.raises(OptionError, match="the relations of mag: have directions"):
        resolve("mag:scale=0.01", cache_dir=tmp_path, directed=True)
    monkeypatch.setattr("csaw.datasets.mag.EDGE_BYTES", 1 << 50)
    with pytest.raises(BudgetError, match="choose a smaller scale"):
        generate("mag:scale=1", tmp_path / "g.zarr")
