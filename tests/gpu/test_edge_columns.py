"""Hooks on a GPU read the edge columns that those on the CPU read, wherever the graph is and however it is brought."""

import numpy as np
import pytest
from helpers.edge_columns import LATER, READERS, with_columns
from helpers.gpu import device_or_skip, need_gpus, on_cpu
from helpers.graphs import WideStore, arrays_of, stored_arrays
from helpers.invariance import assert_same
from helpers.rates import pin_row_bytes

from csaw.engine import execute, prepare
from csaw.engine.plan import planning
from csaw.engine.plan.options import Policy
from csaw.partition import write_graph
from csaw.partition.errors import BiasError

device_or_skip()

from csaw.engine.cuda.graphs import pieces as cuda_rows

CASES = [*READERS, ("{own}:Later", {"walk_length": 9})]
every_reader = pytest.mark.parametrize(("algo", "options"), CASES, ids=[f"{a}-{i}" for i, (a, _) in enumerate(CASES)])


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The same graph in one partition and in six, and the name of an algorithm of one's own."""
    folder = tmp_path_factory.mktemp("columns")
    (folder / "mine.py").write_text(LATER)
    made = {n: with_columns(folder / f"g{n}.zarr", partitions=n, vertices=400, edges=6000) for n in (1, 6)}
    return made, str(folder / "mine.py")


def expected(stores, tmp_path, algo, options):
    return arrays_of(stores[0][1], tmp_path / "s.zarr", algo, seed=5, **on_cpu(options))


@every_reader
def test_a_resident_graph(tmp_path, stores, algo, options):
    algo = algo.format(own=stores[1])
    wanted = expected(stores, tmp_path, algo, options)
    for more in ({}, {"in_flight": 17}):
        assert_same(
            wanted, arrays_of(stores[0][6], tmp_path / "t.zarr", algo, seed=5, device="cuda", **more, **options)
        )


@every_reader
def test_ids_of_64_bits(tmp_path, stores, algo, options):
    algo, store = algo.format(own=stores[1]), WideStore(stores[0][6])
    wanted = arrays_of(store, tmp_path / "s.zarr", algo, seed=5, **on_cpu(options))
    assert_same(wanted, arrays_of(store, tmp_path / "t.zarr", algo, seed=5, device="cuda", **options))


@pytest.mark.parametrize(("residency", "in_place"), [("streamed", False), ("streamed", True), ("disk", False)])
@every_reader
def test_a_streamed_graph(tmp_path, stores, algo, options, residency, in_place):
    algo, store = algo.format(own=stores[1]), stores[0][6]
    wanted = expected(stores, tmp_path, algo, options)
    given = {"device": "cuda", "seed": 5, "residency": residency, "ids": "dense", "in_flight": 250, **options}
    given["policy"] = Policy(in_place=in_place)
    plan = prepare(store, algo, **given).plan
    memory = plan.fixed_bytes + plan.batch_bytes + plan.graph_bytes // 2
    results = execute(prepare(store, algo, gpu_memory=memory, **given), tmp_path / "t.zarr")
    assert_same(wanted, stored_arrays(tmp_path / "t.zarr"))
    assert in_place or not results["sampled_edges"] or results["transfers"] > 0


@every_reader
def test_rows_that_are_brought_alone(tmp_path, monkeypatch, stores, algo, options):
    pin_row_bytes(monkeypatch, 1e-9)
    monkeypatch.setattr(cuda_rows, "STAGED", 100)
    algo, options = algo.format(own=stores[1]), options | {"instances": 20}
    wanted = expected(stores, tmp_path, algo, options)
    given = {"device": "cuda", "in_flight": 8, "residency": "disk", **options}
    assert_same(wanted, arrays_of(stores[0][6], tmp_path / "t.zarr", algo, seed=5, **given))


@pytest.mark.parametrize("residency", ["resident", "pooled", "streamed"])
@every_reader
def test_several_gpus(tmp_path, monkeypatch, stores, algo, options, residency):
    count = need_gpus()
    monkeypatch.setattr(planning, "GROUP_BYTES", 1 << 13)
    algo, gpus = algo.format(own=stores[1]), "cuda:" + ",".join(map(str, range(count)))
    wanted = expected(stores, tmp_path, algo, options)
    given = {"device": gpus, "residency": residency, **options}
    assert_same(wanted, arrays_of(stores[0][6], tmp_path / "t.zarr", algo, seed=5, **given))


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
def test_ends_of_every_type_are_read_exactly(tmp_path, stores, residency):
    """A bias that is 1 on edges with the first value of the column alone: bits decide, not sums."""
    store = stores[0][6]
    graph = store.load(store.further_columns)
    for column in store.further_columns:
        value = graph.columns[column.name][graph.indptr[3]].item()
        said = f"{value!r}" if value >= 0 else f"(0 - {-(value + 1)} - 1)"
        options = {"edge_bias": f"1.0 + 99.0 * (e.{column.name} == {said})", "select": "its", "walk_length": 4}
        wanted = expected(stores, tmp_path, "deepwalk", options)
        given = {"device": "cuda", "residency": residency, **options}
        assert_same(wanted, arrays_of(store, tmp_path / "t.zarr", "deepwalk", seed=5, **given))


@pytest.mark.parametrize("residency", ["resident", "streamed", "disk"])
@pytest.mark.parametrize("options", [{}, {"select": "its"}], ids=["table", "its"])
def test_a_number_that_is_no_bias_is_named_with_its_edge(tmp_path, residency, options):
    columns = {"time": np.array([1, np.nan, 3.0])}
    store = write_graph(
        tmp_path / "g.zarr", np.array([0, 2, 3, 3]), np.array([1, 2, 0]), directed=True, edge_columns=columns
    )
    given = {"device": "cuda", "residency": residency, "edge_bias": "e.time", **options}
    with pytest.raises(BiasError, match="0 -> 2"):
        arrays_of(store, tmp_path / "s.zarr", "deepwalk", **given)
