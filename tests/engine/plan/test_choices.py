"""What can be chosen is found by existing: each choice is obeyed or refused, and a run that can use it is known."""

import numpy as np
import pytest
from helpers.graphs import random_store

from csaw.cli.reports.run import FITS
from csaw.engine import prepare
from csaw.engine.api import registry
from csaw.engine.cuda.device import Device
from csaw.engine.devices.choice import WHERE
from csaw.engine.plan.choices import Collision, GraphLayout, Method, Residency
from csaw.engine.plan.costs import BUILD, PICK
from csaw.engine.plan.options import RunOptions
from csaw.engine.plan.planning import make_plan
from csaw.engine.sources.sources import Sources
from csaw.partition import write_graph
from csaw.partition.errors import OptionError

PAIR = tuple(Device(number, "none", "sm_90", 132, 1 << 40, (1 - number,)) for number in range(2))
RUNS = [
    ("deepwalk", {}),
    ("deepwalk", {"weighted": False}),
    ("node2vec", {}),
    ("neighbor", {}),
    ("neighbor", {"select": "its"}),
    ("multidimensional", {"edge_bias": "e.weight"}),
    ("temporal", {}),
]
CHOICES = [
    *(("select", "select", method) for method in Method),
    *(("collision", "collision", collision) for collision in Collision),
    *(("layout", "graph_layout", layout) for layout in GraphLayout),
    *(("residency", "residency", residency) for residency in Residency),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("choices")
    plain = random_store(folder / "plain.zarr").load()
    ends = np.repeat(np.arange(plain.indptr.size - 1), np.diff(plain.indptr))
    rows, times = (plain.indptr, plain.indices, plain.weights), {"time": (ends + plain.indices) * 7919 % 1000}
    return write_graph(folder / "g.zarr", *rows, directed=False, partitions=3, edge_columns=times)


def planned(store, algo, devices, weighted=True, edge_bias=None, **options):
    algorithm = registry.build(algo, {}, edge_bias)
    run = RunOptions(weighted=weighted, edge_bias=edge_bias, **options)
    sources = Sources(store, algorithm, None, None, run.seed)
    return make_plan(store, algorithm, sources, devices, name=algo, weighted=weighted, options=run)


def obeyed(store, option, attribute, value, devices):
    """The runs whose plan has what was asked for; the others must refuse it."""
    found, refused = [], []
    for algo, options in RUNS:
        try:
            plan = planned(store, algo, devices, **options | {option: value})
        except OptionError as error:
            refused.append(str(error))
            continue
        assert getattr(plan, attribute) is value, (algo, options)
        found.append(algo)
    assert all(f"--{option} {value}" in said for said in refused)
    return found


@pytest.mark.parametrize(
    ("option", "attribute", "value"), CHOICES, ids=[f"{name} {value}" for name, _, value in CHOICES]
)
def test_a_choice_is_obeyed_or_refused_and_some_run_can_use_it(store, option, attribute, value):
    on_cpu, on_gpus = (obeyed(store, option, attribute, value, devices) for devices in ((), PAIR))
    assert on_gpus
    assert bool(on_cpu) == (not getattr(value, "needs_gpu", False) and getattr(value, "on_cpu", True))


@pytest.mark.parametrize("kind", [Method, Collision, GraphLayout])
def test_codes_in_the_text_of_kernels_are_different(kind):
    assert [one.code for one in kind] == list(range(len(kind)))


@pytest.mark.parametrize(
    ("table", "kind"), [(WHERE, Residency), (FITS, Residency), (PICK, Method), (BUILD, GraphLayout)]
)
def test_tables_have_every_choice(table, kind):
    assert set(table) == set(kind)


@pytest.mark.parametrize(("algo", "options"), [("random-node", {"frontier_size": 3}), ("cluster-gcn", {})])
def test_a_bias_is_refused_where_no_edge_is_drawn(algo, options, tmp_path):
    store = random_store(tmp_path / "g.zarr")
    with pytest.raises(OptionError, match=f"{algo}.edge_bias: expected a constant, because {algo} keeps all edges"):
        prepare(store, algo, device="cpu", edge_bias="e.weight", **options)
