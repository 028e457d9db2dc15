"""Running sums of a whole graph's biases give what sums made for each row give: the same neighbors, at the same count
of everything.
"""

import pytest
from helpers.graphs import arrays_of, heavy_store, random_store, store_of
from helpers.invariance import assert_same

from csaw.engine import execute, prepare
from csaw.engine.schedule.backend import TALLY
from csaw.partition.errors import BiasError, OptionError

OPTIONS = [
    {"fanout": (4, 3)},
    {"fanout": (30, 2)},
    {"fanout": (4, 3), "bias": "degree"},
    {"fanout": (4, 3), "replace": True, "select": "its"},
    {"fanout": (3,), "edge_bias": "e.weight * e.dst_degree if e.dst % 3 else 0.0"},
]
DEAD_ENDS = [(0, 1, 1), (0, 2, 0), (1, 0, 0), (1, 2, 0), (2, 2, 1), (2, 0, 5), (2, 1, 7)]


def with_dead_ends(path):
    return store_of(path, DEAD_ENDS, directed=True, vertices=5)


CASES = [(make, options, "bipartite") for make in (random_store, heavy_store) for options in OPTIONS]
CASES += [(make, OPTIONS[0], "repeated") for make in (random_store, heavy_store)]
CASES += [(with_dead_ends, options, "bipartite") for options in (OPTIONS[0], OPTIONS[-1])]


@pytest.mark.one_in(4)  # a plain one, an expression, with replacement, and dead ends
@pytest.mark.parametrize(("make", "options", "collision"), CASES, ids=range(len(CASES)))
def test_sums_of_the_graph_or_of_each_row(tmp_path, make, options, collision):
    store = make(tmp_path / "g.zarr")
    given = {"seed": 5, "instances": 200, "collision": collision, **options}
    detect = None if options.get("replace") else "linear"
    by_row = execute(prepare(store, "neighbor", layout="csr", detect=detect, **given), tmp_path / "r.zarr")
    by_graph = execute(prepare(store, "neighbor", layout="ctps", **given), tmp_path / "s.zarr")
    assert [by_row[name] for name in TALLY] == [by_graph[name] for name in TALLY]
    expected = arrays_of(store, tmp_path / "r.zarr", "neighbor", layout="csr", **given)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "neighbor", layout="ctps", **given))


@pytest.mark.parametrize("make", [random_store, heavy_store])
def test_walkers_with_clocks_search_in_them_too(tmp_path, make):
    store = make(tmp_path / "g.zarr")
    given = {"seed": 5, "instances": 20, "frontier_size": 7, "walk_length": 200}
    expected = arrays_of(store, tmp_path / "r.zarr", "multidimensional", layout="csr", **given)
    assert_same(expected, arrays_of(store, tmp_path / "s.zarr", "multidimensional", layout="ctps", **given))


def test_they_are_made_where_many_rows_will_be_asked_for(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    layouts = [prepare(store, "neighbor", fanout=(4, 3), instances=n).plan.graph_layout for n in (1, 10_000)]
    assert layouts == ["csr", "ctps"]
    detected = prepare(store, "neighbor", fanout=(4, 3), instances=10_000, detect="contiguous")
    assert detected.plan.graph_layout == "csr"


def test_where_they_cannot_be(tmp_path):
    store = random_store(tmp_path / "g.zarr", partitions=4)
    with pytest.raises(OptionError, match="--layout ctps: on the CPU, this run can use csr"):
        prepare(store, "snowball", layout="ctps")
    with pytest.raises(OptionError, match="--layout ctps needs .* bytes in addition to the graph"):
        prepare(store, "neighbor", layout="ctps", residency="disk", memory=1 << 20)


def test_a_bad_bias_is_named_when_they_are_made(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    with pytest.raises(BiasError, match="the bias of edge"):
        arrays_of(store, tmp_path / "s.zarr", "neighbor", layout="ctps", fanout=(2,), edge_bias="1.0 - e.dst")
