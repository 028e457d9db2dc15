"""Biases that are the product of a factor of the edge and one of the walker: drawn by rejection, from tables of the
first, by the law of the whole, and with the same bytes wherever the graph is.
"""

import math
import random

import numpy as np
import pytest
from helpers.graphs import random_store
from helpers.invariance import assert_same

import csaw
from csaw.engine import prepare
from csaw.engine.algorithm import Walk, option
from csaw.engine.plan.choices import Method
from csaw.partition import open_graph
from csaw.partition.errors import BiasError

RETURN = "(0.5 if e.dst == e.prev else 1)"
NEAR = "(4 if e.dst == e.prev else 1 if e.prev < 0 or e.is_neighbor(e.prev, e.dst) else 0.5)"
SPLIT = {
    f"e.weight * e.dst_degree ** -0.5 * {RETURN}": "e.weight * e.dst_degree ** (-0.5)",
    f"{NEAR} / e.dst_degree": "1.0 / e.dst_degree",
    f"{NEAR} * e.weight * e.weight * (e.dst % 3)": "e.weight * e.weight * (e.dst % 3)",
    f"e.weight / (math.log(1 + e.src_degree) * (2 + e.depth % 2)) * {RETURN}": "0.5 on the way back",
    f"e.weight * 1e-300 * e.dst_degree * {NEAR} * 1e200": "e.weight * 1e-300 * e.dst_degree * 1e+200",
}
"""Biases, with the factor that tables are made of."""
WHOLE = [
    f"e.dst_degree + {RETURN}",  # no product
    f"(e.dst_degree - 3.5) ** 2 * {RETURN}",  # may be 0 or near it
    f"e.dst_degree * (e.depth * {RETURN})",  # the other factor has no bounds
    f"e.dst_degree ** 40 * {RETURN}",  # too far apart for 32 bits
    f"e.weight * {RETURN} * e.path(0)",
]
"""Biases that are drawn from whole rows."""


class Cautious(Walk):
    """A walk that avoids hubs and seldom returns, in statements."""

    softness: float = option(0.5, help="of degrees", low=0, high=4)

    def edge_bias(self, e):
        """With a variable that both ways set."""
        times = 0.25 if e.dst == e.prev else 1.0
        if e.depth > 3:
            times *= 2.0
        return e.weight / e.dst_degree**self.softness * times


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("factored")
    return {n: random_store(folder / f"g{n}.zarr", vertices=50, edges=300, partitions=n) for n in (1, 4)}


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("text", SPLIT)
def test_the_law_is_that_of_the_whole_bias(tmp_path, stores, text, weighted):
    given = {"edge_bias": text, "weighted": weighted, "walk_length": 20, "num_walks": 60, "device": "cpu"}
    samples = csaw.sample(stores[1], tmp_path / "s.zarr", "deepwalk", **given)
    request = samples.manifest["request"]
    assert (request["select"], request["weighted"]) == (Method.REJECTION, weighted)
    job = prepare(stores[1], "deepwalk", edge_bias=text, weighted=weighted, device="cpu")
    assert SPLIT[text] in job.plan.bias
    assert job.store.fingerprint == stores[1].fingerprint
    report = csaw.verify(tmp_path / "s.zarr")
    assert report.ok, [check for check in report.checks if not check.ok]
    assert any(check.tested and check.p_value is not None for check in report.checks)


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_not_proven_is_drawn_from_whole_rows(stores, text):
    job = prepare(stores[1], "deepwalk", edge_bias=text, device="cpu")
    assert job.plan.request.select == Method.ITS
    assert job.store is stores[1]


def drawn(store, **options):
    return csaw.sample(store, algo=Cautious, walk_length=30, num_walks=20, device="cpu", **options).walks[:]


def test_a_class_with_statements_is_split(tmp_path, stores):
    csaw.sample(stores[1], tmp_path / "s.zarr", Cautious, walk_length=20, num_walks=100, device="cpu")
    job = prepare(stores[1], Cautious, device="cpu")
    assert job.plan.request.select == Method.REJECTION
    assert csaw.verify(tmp_path / "s.zarr", algo=Cautious).ok


@pytest.mark.parametrize("options", [{"threads": 1}, {"residency": "disk"}, {"in_flight": 13}, {"checksums": False}])
@pytest.mark.parametrize("text", [None, *list(SPLIT)[:3]])
def test_bytes_do_not_depend_on_where_the_graph_is(stores, text, options):
    given = {} if text is None else {"edge_bias": text}
    algo = Cautious if text is None else "deepwalk"
    options = {"algo": algo, "walk_length": 30, "num_walks": 20, "device": "cpu", "seed": 4, **given, **options}
    wanted = csaw.sample(stores[1], **{**options, "residency": "resident"}).walks[:]
    assert_same({"walks": wanted}, {"walks": csaw.sample(stores[4], **options).walks[:]})


def test_a_virtual_sample_and_a_resumed_one_have_the_bytes(tmp_path, stores, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"edge_bias": next(iter(SPLIT)), "walk_length": 9, "num_walks": 5, "device": "cpu"}
    whole = csaw.sample(stores[4], "s.zarr", "deepwalk", **given).walks[:]
    made = csaw.sample(stores[4], "v.zarr", "deepwalk", virtual=True, **given)
    assert np.array_equal(csaw.open_samples("v.zarr").walks[:], whole), made
    again = csaw.sample(stores[4], "s.zarr", "deepwalk", resume=True, **given)
    assert np.array_equal(again.walks[:], whole)


def test_a_factor_that_is_no_bias_is_an_error_that_names_the_edge(tmp_path):
    store = csaw.partition([(0, 1, 0.0), (1, 2, 2.0)], tmp_path / "g.zarr", directed=False)
    with pytest.raises(
        BiasError, match=r"deepwalk.edge_bias is not a finite number of at least 0 for the edge [01] -> "
    ):
        csaw.sample(store, algo="deepwalk", edge_bias=f"1 / e.weight * {RETURN}", walk_length=2, device="cpu")


def term(draw):
    return draw.choice(
        ["e.weight", "e.dst_degree", "e.src_degree", "(1 + e.dst % 4)", "e.dst_degree ** 0.3", "math.sqrt(e.weight)"]
        + ["max(e.dst_degree, 3)", "(2 if e.dst_degree > e.src_degree else 1)", "(e.dst % 2)", "3"]
    )


def dynamic(draw):
    return draw.choice([RETURN, NEAR, "(1 + e.depth % 3)", "(2 if e.prev > e.dst else 5)", "math.exp(-(e.depth % 2))"])


@pytest.mark.parametrize("seed", range(12))
def test_random_products_have_their_law(tmp_path, stores, seed):
    draw = random.Random(seed)
    parts = [*(term(draw) for _ in range(draw.randrange(1, 4))), *(dynamic(draw) for _ in range(draw.randrange(1, 3)))]
    draw.shuffle(parts)
    text = parts[0] + "".join(f" {draw.choice(['*', '*', '/'])} {part}" for part in parts[1:] if "% 2)" not in part)
    given = {"edge_bias": text, "walk_length": 15, "num_walks": 60, "device": "cpu", "weighted": draw.random() < 0.7}
    csaw.sample(stores[4], tmp_path / "s.zarr", "deepwalk", **given)
    report = csaw.verify(tmp_path / "s.zarr")
    assert report.ok, (text, [check for check in report.checks if not check.ok])


def test_the_scale_is_a_power_of_two_and_tables_see_it_nowhere(tmp_path, stores):
    """Factors of 1e-200 are floats of 32 bits all the same, and no law has the scale."""
    small = {"edge_bias": f"e.weight * 1e-200 * e.dst_degree * {RETURN}", "walk_length": 30, "num_walks": 9}
    large = small | {"edge_bias": f"e.weight * {2.0**300} * e.dst_degree * {RETURN}"}
    one = small | {"edge_bias": f"e.weight * e.dst_degree * {RETURN}"}
    found = [csaw.sample(open_graph(stores[1].path), algo="deepwalk", device="cpu", **g).walks[:] for g in (large, one)]
    assert np.array_equal(*found)
    job = prepare(stores[1], "deepwalk", device="cpu", **small)
    weights = job.store.load().weights
    assert math.frexp(job.store.scale)[0] == 0.5
    assert 0 < weights.min() <= weights.max() <= 1


def test_a_graph_in_memory_draws_what_its_store_does(stores):
    given = {"algo": "deepwalk", "edge_bias": next(iter(SPLIT)), "walk_length": 9, "num_walks": 3, "device": "cpu"}
    graph = stores[1].load()
    held = csaw.graph(indptr=graph.indptr, indices=graph.indices, weights=graph.weights, directed=False)
    samples = csaw.sample(held, **given)
    assert samples.manifest["request"]["select"] == Method.REJECTION
    assert np.array_equal(samples.walks[:], csaw.sample(stores[1], **given).walks[:])
