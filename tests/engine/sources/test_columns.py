"""Columns of data of vertices: hooks read the number of the vertex that they name, on every path, and a request knows
its columns.
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.budgets import least
from helpers.faults import plant
from helpers.graphs import SQUARE, TROUBLED, arrays_of, random_store, rows_of, store_of
from helpers.invariance import assert_request_decides, assert_same
from helpers.laws import assert_walks_follow, first_order
from helpers.machine import need_package

import csaw
from csaw.cli.commands.info import info
from csaw.cli.commands.sample import sample as sample_command
from csaw.cli.commands.verify import verify as verify_command
from csaw.engine import open_samples, prepare, sample
from csaw.engine.runs.virtual import commit_virtual
from csaw.engine.sources.given_columns import read_columns
from csaw.engine.stores.verify import verify
from csaw.partition import write_graph
from csaw.partition.errors import CsawError, OptionError

BIAS = "e.weight * e.column('x', e.dst)"
HALVES = np.array([0.5, 3.0, 0.0, 1.25, 2.0])  # one for each vertex of the square
LAW = first_order(lambda rows, v, w: w * HALVES[v])
MANY = {"num_walks": 8000, "walk_length": 3, "seed": 11}
HOOKS = """
from csaw.engine.algorithm import Walk
from csaw.engine.algorithms.multidimensional import Multidimensional

class Back(Walk):
    def update(self, e):
        return e.src if e.column("x", e.dst) > 50.0 else e.dst

class Behind(Walk):
    def edge_bias(self, e):
        return 1.0 if e.prev < 0 else e.column("x", e.prev) + e.column("y", e.dst)

class Clocks(Multidimensional):
    def vertex_bias(self, v):
        return v.degree * v.column("x", v.id)
"""


@pytest.fixture(scope="module")
def square(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("columns") / "g.zarr", SQUARE, directed=False)


@pytest.mark.parametrize("select", ["alias", "its"])
def test_walks_follow_the_law_of_a_column(tmp_path, square, select):
    walks = arrays_of(square, tmp_path / "s.zarr", columns={"x": HALVES}, edge_bias=BIAS, select=select, **MANY)[
        "walks"
    ]
    assert_walks_follow(walks, rows_of(square, True), LAW)


def test_a_column_that_is_read_one_vertex_off_is_found(tmp_path, square, monkeypatch):
    plant(
        monkeypatch,
        "access.py",
        "column * vertex_count(graph) + v]",
        "column * vertex_count(graph) + (v + 1) % vertex_count(graph)]",
    )
    walks = arrays_of(square, tmp_path / "s.zarr", columns={"x": HALVES}, edge_bias=BIAS, **MANY)["walks"]
    with pytest.raises(AssertionError):
        assert_walks_follow(walks, rows_of(square, True), LAW)
    assert not verify(tmp_path / "s.zarr", columns={"x": HALVES}).ok


CASES = {
    "deepwalk": {"edge_bias": BIAS, "walk_length": 12},
    "node2vec": {
        "edge_bias": "e.column('y', e.src) + e.column('x', e.dst) * e.is_neighbor(e.prev, e.dst)",
        "walk_length": 6,
    },
    "neighbor": {"edge_bias": BIAS, "fanout": (4, 3)},
    "minibatch": {"edge_bias": BIAS, "fanout": (4, 3), "seeds_per_batch": 16},
    "layer": {"edge_bias": BIAS, "depth": 2, "neighbor_size": 5, "frontier_size": 2},
    "fastgcn": {"edge_bias": BIAS, "frontier_size": 8, "layer_sizes": (40, 30)},
    "Back": {"walk_length": 9},
    "Behind": {"walk_length": 6},
    "Clocks": {"instances": 30, "frontier_size": 3, "walk_length": 20},
}


QUICK = ("deepwalk", "neighbor", "Back", "Clocks")
SLOW = pytest.mark.slow(reason="edge_bias reads a column as in a quick case, in another algorithm")


@pytest.mark.parametrize("algo", [pytest.param(name, marks=[] if name in QUICK else [SLOW]) for name in CASES])
def test_threads_batches_partitions_and_residencies_draw_the_same(tmp_path, algo):
    (tmp_path / "mine.py").write_text(HOOKS)
    name = f"{tmp_path / 'mine.py'}:{algo}" if algo[0].isupper() else algo
    store, cut = random_store(tmp_path / "a.zarr"), random_store(tmp_path / "b.zarr", partitions=4)
    columns = {"x": np.arange(300) % 97, "y": np.linspace(0.5, 2.0, 300, dtype=np.float32)}
    options = CASES[algo] | {"columns": columns}
    assert_request_decides(store, cut, tmp_path / "s.zarr", name, **options)
    expected = arrays_of(store, tmp_path / "s.zarr", name, seed=5, **options)
    streamed = arrays_of(cut, tmp_path / "s.zarr", name, seed=5, residency="disk", **options)
    assert_same(expected, streamed)


def test_columns_count_as_memory(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    without = least(store, "deepwalk", residency="disk", in_flight=8)
    assert least(store, "deepwalk", residency="disk", in_flight=8, columns={"x": np.ones(300)}) == without + 8 * 300


def test_files_arrays_and_ids_give_the_same_columns(tmp_path, square):
    held = square.load()
    ids = np.array([70, 10, 40, 20, 90])
    order = np.array([3, 0, 4, 2, 1])
    store = write_graph(
        tmp_path / "ids.zarr", held.indptr, held.indices, held.weights, directed=False, vertex_ids=np.sort(ids)
    )
    np.save(tmp_path / "x.npy", HALVES)
    np.savez(tmp_path / "dense.npz", x=HALVES)
    np.savez(tmp_path / "named.npz", x=HALVES[order], ids=np.sort(ids)[order])
    wanted = read_columns({"x": HALVES}, store)
    for given in ("x.npy", "dense.npz", "named.npz"):
        found = read_columns(str(tmp_path / given), store)
        assert found.names == ("x",)
        assert found.digests == wanted.digests
    assert read_columns({"x": HALVES.astype(np.float32)}, store).digests == wanted.digests  # the same numbers


WRONG = {
    "a short column": (
        {"x": np.ones(4)},
        "--columns: x: expected a number for each of the 5 vertices, found an array of the shape (4,)",
    ),
    "a matrix": ({"x": np.ones((5, 2))}, "found an array of the shape (5, 2)"),
    "words": ({"x": np.array(list("abcde"))}, "--columns: x: expected integers, float32 or float64, found <U1"),
    "half floats": ({"x": np.ones(5, np.float16)}, "found float16"),
    "not a number": (
        {"x": np.array([0, 1, np.nan, 0, 0])},
        "--columns: x: expected finite numbers, found nan at entry 2",
    ),
    "a large integer": (
        {"x": np.array([0, 2**53 + 1, 0, 0, 0])},
        "expected integers of at most 2^53, which 64-bit floats hold exactly, found 9007199254740993",
    ),
    "the largest integer": (
        {"x": np.array([0, 0, 0, 0, 2**64 - 1], np.uint64)},
        "found 18446744073709551615 at entry 4",
    ),
    "the smallest integer": ({"x": np.array([-(2**63), 0, 0, 0, 0])}, "found -9223372036854775808 at entry 0"),
    "no column": ({}, "--columns: expected at least one column, found none"),
    "ids alone": ({"ids": np.arange(5)}, "expected at least one column"),
    "an id twice": (
        {"x": np.ones(5), "ids": np.array([0, 1, 1, 2, 3])},
        "--columns: ids: expected each vertex once, found 1 more than once",
    ),
    "too few ids": (
        {"x": np.ones(5), "ids": np.arange(4)},
        "--columns: ids: expected the id of each of the 5 vertices once",
    ),
    "an unknown id": ({"x": np.ones(5), "ids": np.arange(1, 6)}, "5"),
    "a number as a name": ({3: np.ones(5)}, "--columns: expected a name for each column, found 3"),
    "no file": ("nowhere.npy", "--columns: nowhere.npy is not a file"),
    "another file": ("x.csv", "--columns: expected a file .npy or .npz"),
    "an array": (np.ones(5), "--columns: expected a file .npy or .npz, or a mapping of arrays"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_columns_are_refused_by_name(square, case):
    given, said = WRONG[case]
    with pytest.raises(CsawError) as error:
        read_columns(given, square)
    assert said in str(error.value)


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY", b"PK\x03\x04 no archive", b"words"])
@pytest.mark.parametrize("kind", ["x.npy", "x.npz"])
def test_damaged_files_are_refused(tmp_path, square, kind, damage):
    (tmp_path / kind).write_bytes(damage)
    with pytest.raises(CsawError, match=f"{kind} cannot be read"):
        read_columns(tmp_path / kind, square)


def test_pickled_objects_are_refused(tmp_path, square):
    np.save(tmp_path / "x.npy", np.array([{}] * 5, object), allow_pickle=True)
    with pytest.raises(CsawError, match="cannot be read"):
        read_columns(tmp_path / "x.npy", square)


@pytest.mark.parametrize(
    ("columns", "bias", "said"),
    [
        (
            None,
            "e.column('x', e.dst)",
            "e.column('x', ...): no such column is given; give columns with --columns",
        ),
        ({"y": HALVES}, "e.column('x', e.dst)", "the columns are y"),
        ({"x": HALVES}, "e.column(e.dst, e.dst)", "expected the name of a column in quotes; the columns are x"),
        ({"x": HALVES}, "e.column('x')", "no call e.column(...) with 1 arguments"),
        ({"x": -HALVES}, "e.column('x', e.dst)", "is negative, NaN or infinite"),
        ({"x": HALVES}, "e.column('x', e.prev)", "is negative, NaN or infinite"),
        ({"x": HALVES}, "e.column('x', e.dst + 5)", "is negative, NaN or infinite"),
    ],
)
def test_what_a_hook_cannot_read_is_refused(tmp_path, square, columns, bias, said):
    with pytest.raises(CsawError) as error:
        arrays_of(square, tmp_path / "s.zarr", columns=columns, edge_bias=bias)
    assert said in str(error.value)


def test_the_request_knows_its_columns_and_no_others(tmp_path, square):
    options = {"edge_bias": BIAS, "walk_length": 4, "num_walks": 3000}
    sample(square, tmp_path / "s.zarr", columns={"x": HALVES}, **options)
    request = open_samples(tmp_path / "s.zarr").manifest["request"]
    assert request["columns"] == read_columns({"x": HALVES}, square).digests
    assert "columns" not in prepare(square).plan.request.as_dict()
    for given, said in ((None, "x: not given"), ({"x": HALVES + 1}, "x: missing or other numbers")):
        with pytest.raises(CsawError, match=said):
            verify(tmp_path / "s.zarr", columns=given)
    assert verify(tmp_path / "s.zarr", columns={"x": HALVES}).ok
    with pytest.raises(CsawError, match="--virtual: a request does not store the numbers of --columns"):
        commit_virtual(prepare(square, columns={"x": HALVES}, **options), tmp_path / "v.zarr")


def test_the_command_line_reads_a_file(tmp_path):
    store = store_of(tmp_path / "g.zarr", TROUBLED, directed=True, vertices=7)
    np.save(tmp_path / "rank.npy", np.arange(1.0, 8.0))
    bias = ["--edge-bias", "e.column('rank', e.dst)", "--columns", str(tmp_path / "rank.npy")]
    out = str(tmp_path / "s.zarr")
    done = CliRunner().invoke(sample_command, [str(store.path), out, "--device", "cpu", "--num-walks", "500", *bias])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(verify_command, [out, "--columns", str(tmp_path / "rank.npy"), "--json"])
    assert json.loads(done.output)["ok"], done.output
    assert "rank (digest " in CliRunner().invoke(info, [out]).output


@pytest.mark.parametrize("entries", [[1.0], ["a"] * 5, [np.inf] * 5, [2**60] * 5, [[1]] * 5])
def test_a_long_name_is_not_echoed_whole(square, entries):
    with pytest.raises(CsawError) as caught:
        read_columns({"a" * 10_000: np.array(entries)}, square)
    assert "(10,000 characters)" in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_series_with_an_index_is_read_by_its_ids():
    pd = need_package("pandas")
    graph = csaw.graph([(1, 2), (2, 3), (3, 1)])
    series = pd.Series([10.0, 20.0, 30.0], index=[3, 2, 1])
    with pytest.raises(OptionError, match="found a Series with a custom index; also pass the ids"):
        read_columns({"worth": series}, graph)
    assert read_columns({"ids": series.index, "worth": series}, graph).table.tolist() == [[30.0, 20.0, 10.0]]
    assert read_columns({"worth": pd.Series([1.0, 2.0, 3.0])}, graph).table.tolist() == [[1.0, 2.0, 3.0]]
