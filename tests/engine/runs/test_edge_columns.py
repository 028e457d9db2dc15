"""Hooks read edge columns by name: the same bytes wherever the graph is, by the law of their values; and a run brings
nothing but what its hooks read.
"""

import shutil

import numpy as np
import pytest
from helpers.edge_columns import LATER, READERS, in_memory, with_columns
from helpers.graphs import arrays_of, random_store, store_of
from helpers.invariance import assert_same

from csaw.engine import prepare
from csaw.engine.cuda.compile import MOST_COLUMNS, builder_of, kernels_of
from csaw.engine.cuda.device import Device
from csaw.engine.runs.job import open_backend
from csaw.engine.schedule.specialization import Specialization
from csaw.engine.stores.verify import verify
from csaw.partition import open_graph, write_graph
from csaw.partition.errors import BiasError, OptionError, StoreError
from csaw.partition.graph.edge_columns import DTYPES
from csaw.partition.graph.views import Coalesced, Split

GPU = Device(0, "none", "sm_90", 132, 1 << 40)
TIMED = [(0, 1, 1), (0, 2, 1), (0, 3, 1), (1, 0, 1), (2, 0, 1), (3, 0, 1)]
CASES = [("{own}:Later", {"walk_length": 9}), *READERS]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    (folder / "mine.py").write_text(LATER)
    return {n: with_columns(folder / f"g{n}.zarr", partitions=n) for n in (1, 5)}, folder / "mine.py"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("algo", "options"), CASES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(CASES)])
def test_hooks_read_the_same_wherever_the_graph_is(algo, options, stores, tmp_path):
    (whole, parts), algo = stores[0].values(), algo.format(own=stores[1])
    expected = arrays_of(whole, tmp_path / "s.zarr", algo, seed=5, **options)
    for graph in (parts, in_memory(whole), Split(parts, 300), Coalesced(parts, 2)):
        assert_same(expected, arrays_of(graph, tmp_path / "s.zarr", algo, seed=5, in_flight=17, **options))
    for in_place in (True, False):
        given = options | {"residency": "disk", "in_place": in_place, "memory": "64MiB"}
        assert_same(expected, arrays_of(parts, tmp_path / "s.zarr", algo, seed=5, in_flight=17, **given))


def timed(path, times, more=None):
    """A star whose spokes have these times, in the order of TIMED."""
    plain = store_of(path.with_name("star.zarr"), TIMED, directed=True, vertices=4).load()
    return write_graph(path, plain.indptr, plain.indices, directed=True, edge_columns={"time": times, **(more or {})})


def test_steps_follow_the_law_of_a_column(tmp_path):
    store = timed(tmp_path / "g.zarr", np.array([1, 2, 3, 0, 0, 0], np.int16))
    options = {"sources": np.zeros(30000, np.int64), "walk_length": 1, "seed": 4}
    walks = arrays_of(store, tmp_path / "s.zarr", "deepwalk", edge_bias="2.0 ** e.time", **options)["walks"]
    seen = np.bincount(walks[:, 1], minlength=4)[1:]
    expected = 30000 * np.array([2, 4, 8]) / 14
    assert ((seen - expected) ** 2 / expected).sum() < 13.8  # p = .001 of two degrees of freedom


@pytest.mark.parametrize("algo", ["deepwalk", "neighbor"])
def test_verify_proves_a_bias_that_reads_columns(tmp_path, algo, stores):
    options = {"edge_bias": "e.weight * math.exp(2 * e.of_float32)", "seed": 2}
    arrays_of(stores[0][5], tmp_path / "s.zarr", algo, instances=3000, **options)
    report = verify(tmp_path / "s.zarr")
    assert report.ok, report


def test_another_column_is_another_graph_and_verify_says_so(tmp_path):
    times = np.array([1, 2, 3, 0, 0, 0], np.int16)
    store = timed(tmp_path / "g.zarr", times)
    arrays_of(store, tmp_path / "s.zarr", "deepwalk", edge_bias="2.0 ** e.time")
    other = timed(tmp_path / "other.zarr", times[::-1].copy())
    assert store.fingerprint != other.fingerprint
    assert [check.ok for check in verify(tmp_path / "s.zarr", other.path).checks if check.name == "graph"] == [False]


EXACT = """
from csaw.engine.algorithm import Walk, option

class Exact(Walk):
    wanted: {kind} = option({zero}, help="the number that an edge is taken for, and as much more as less says")
    less: {kind} = option({zero}, help="taken from it")

    def edge_bias(self, e):
        return 1.0 if e.time == self.wanted - self.less else 0.0
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("dtype", "select"), [*((dtype, "its") for dtype in DTYPES), ("int64", None), ("float32", None)]
)
def test_every_bit_of_a_number_reaches_a_hook(tmp_path, dtype, select):
    kind = np.dtype(dtype)
    ends = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    high = ends.max if kind.kind == "f" else min(int(ends.max), 2**63 - 1)
    values = np.array(
        [high, high - 1 if kind.kind != "f" else high / 2, ends.min if kind.kind != "u" else 1, 0, 0, 0], kind
    )
    store = timed(tmp_path / "g.zarr", values)
    own = {"kind": "float", "zero": 0.0} if kind.kind == "f" else {"kind": "int", "zero": 0}
    (tmp_path / "mine.py").write_text(EXACT.format(**own))
    more = {} if select is None else {"select": select}
    for target, wanted in enumerate(values[:3].tolist(), 1):
        less = int(wanted == -(2**63) and kind.kind != "f")  # no option can be that number
        given = {"wanted": wanted + less, "less": less, "sources": [0], "walk_length": 1, **more}
        walks = arrays_of(store, tmp_path / "s.zarr", f"{tmp_path / 'mine.py'}:Exact", **given)["walks"]
        assert walks.tolist() == [[0, target]]


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("options", [{}, {"select": "its"}, {"residency": "disk"}], ids=["table", "its", "disk"])
def test_what_is_no_bias_is_named_with_its_edge(tmp_path, value, options):
    store = timed(tmp_path / "g.zarr", np.array([1, value, 3, 1, 1, 1]))
    with pytest.raises(BiasError, match="0 -> 2"):
        arrays_of(store, tmp_path / "s.zarr", "deepwalk", edge_bias="e.time", **options)


def test_only_columns_that_hooks_read_are_needed_and_counted(stores):
    store = stores[0][5]
    none = prepare(store, "deepwalk", device="cpu", weighted=False).plan.needs
    assert (none.edge_columns, none.edge.stored) == ((), 4)
    bias = "e.of_int64 + e.of_int8 * e.weight"
    for device in ("cpu", GPU):
        needs = prepare(store, "deepwalk", device=device, select="its", edge_bias=bias).plan.needs
        assert [column.name for column in needs.edge_columns] == ["of_int8", "of_int64"]
        assert [column.name for column in needs.stored_columns] == ["weight", "of_int8", "of_int64"]
        assert {needs.edge.stored, needs.edge.kept, needs.edge.reserved, needs.edge.loaded, needs.edge.piece} == {17}
    needs = prepare(store, "deepwalk", device="cpu", edge_bias="e.of_uint8").plan.needs  # by alias tables
    assert (needs.edge.stored, needs.edge.loaded, needs.edge.piece) == (5, 12, 12)


@pytest.mark.parametrize("residency", [None, "disk"])
def test_other_columns_are_not_even_opened(tmp_path, residency):
    store = with_columns(tmp_path / "g.zarr", partitions=3)
    expected = arrays_of(store, tmp_path / "s.zarr", "deepwalk", edge_bias="e.of_uint8", seed=1)
    for folder in (store.path / "partitions").glob("*/edge_of_*"):
        if folder.name != "edge_of_uint8":
            shutil.rmtree(folder)
    left = open_graph(store.path)
    given = {"residency": residency} if residency else {}
    assert_same(expected, arrays_of(left, tmp_path / "s.zarr", "deepwalk", edge_bias="e.of_uint8", seed=1, **given))
    with pytest.raises(StoreError, match="edge_of_int8"):
        arrays_of(left, tmp_path / "s.zarr", "deepwalk", edge_bias="e.of_int8", **given)


@pytest.mark.parametrize("options", [{}, {"select": "its"}, {"weighted": False}])
def test_runs_that_read_no_column_have_the_kernels_of_a_graph_without(options, stores, tmp_path):
    store, plain = stores[0][1], random_store(tmp_path / "g.zarr", directed=True)
    units = []
    for graph in (store, plain):
        job = prepare(graph, "deepwalk", device=GPU, **options)
        backend = Specialization(job.plan, graph, job.algorithm)
        units.append((kernels_of(backend), builder_of(backend)))
        assert units[-1][0].constants["EDGE_COLUMNS"] == units[-1][0].constants["EDGE_TYPES"] == 0
    assert units[0] == units[1]
    backend = open_backend(prepare(store, "deepwalk", device="cpu", **options))
    try:
        assert backend.graph.arrays.edge_columns == ()
    finally:
        backend.close()


def test_an_unknown_name_is_refused_with_the_columns_of_the_graph(stores, tmp_path):
    for bias in ("e.tiem", "e.of_int128 + e.weight"):
        with pytest.raises(OptionError, match=r"no e\.\w+; there are src, .*columns of the graph: of_int8, of_int16"):
            prepare(stores[0][1], "deepwalk", edge_bias=bias)
    with pytest.raises(OptionError, match="edge columns of the graph: none"):
        prepare(random_store(tmp_path / "g.zarr"), "deepwalk", edge_bias="e.time")


@pytest.mark.parametrize("name", ["__class__", "_view", "id", "degree", "random", "column"])
def test_no_column_hides_what_is_not_for_hooks(name, stores):
    with pytest.raises(OptionError, match="there are src"):
        prepare(stores[0][1], "deepwalk", edge_bias=f"e.{name}")


def test_a_vertex_has_no_column(stores, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from csaw.engine.algorithm import Walk\n"
        "class Mine(Walk):\n    def dead_end(self, v):\n        return v.id if v.of_int8 > 0 else -1\n"
    )
    with pytest.raises(OptionError, match="a vertex is not an edge"):
        prepare(stores[0][1], f"{tmp_path / 'mine.py'}:Mine")


def test_an_update_that_reads_the_weight_gets_it_where_the_bias_does_not(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from csaw.engine.algorithm import Walk\n"
        "class Mine(Walk):\n"
        "    def edge_bias(self, e):\n        return 1.0\n"
        "    def update(self, e):\n        return e.dst if e.weight == 4 else e.src\n"
    )
    store = store_of(tmp_path / "g.zarr", [(0, 1, 4), (1, 0, 2)], directed=True, vertices=2, weighted=True)
    walks = arrays_of(store, tmp_path / "s.zarr", f"{tmp_path / 'mine.py'}:Mine", sources=[0], walk_length=3)["walks"]
    assert walks.tolist() == [[0, 1, 1, 1]]


def test_more_columns_than_kernels_on_gpus_can_tell_apart_are_refused(tmp_path):
    names = [f"c{number}" for number in range(MOST_COLUMNS + 1)]
    store = timed(tmp_path / "g.zarr", np.zeros(6, np.int8), more={name: np.ones(6, np.int8) for name in names})
    job = prepare(store, "deepwalk", device=GPU, edge_bias=" + ".join(f"e.{name}" for name in names))
    with pytest.raises(OptionError, match="16 edge columns; on GPUs they can read at most 15"):
        kernels_of(Specialization(job.plan, store, job.algorithm))
