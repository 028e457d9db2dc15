"""What a run accepts, verify passes: every algorithm with every option of a run, at the ends of its values, and with
several of them at random. What the two do not go together for is refused, with a reason.
"""

import random
import shutil
from itertools import product

import networkx
import numpy as np
import pytest
from fuzz.options import IDS
from helpers.run_options import given, own_values, run_values

import csaw
from csaw.engine.api import registry
from csaw.engine.plan.options import options
from csaw.engine.runs import base_instances
from csaw.partition.errors import CsawError

GRAPHS = ("undirected", "directed", "plain")
OF_ALL = {"weight_column": "3", "time_column": "4"}
PAIRS = list(product(registry.names(), options()))


def rows_of(graph):
    """Rows of the karate club with weights and times; the directed one has dead ends, zero weights, repeats, loops."""
    draw = np.random.default_rng(1)
    rows = []
    for number, (a, b) in enumerate(networkx.karate_club_graph().edges):
        weight = int(draw.integers(0 if graph == "directed" else 1, 64)) / 8
        turned = graph == "directed" and draw.random() < 0.5
        rows.append((*((b, a) if turned else (a, b)), weight, number * 7 % 20))
    if graph == "directed":
        rows += [(a, b, weight + 0.5, time * 3 % 20) for a, b, weight, time in rows[:12]]
        rows += [(4, 4, 1.0, 3), (9, 9, 2.0, 4), (40, 0, 1.0, 2)]
    kept = [(a, b, time) if graph == "plain" else (a, b, weight, time) for a, b, weight, time in rows]
    return "".join(" ".join(map(str, row)) + "\n" for row in kept)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The graphs, and files of sources."""
    made = tmp_path_factory.mktemp("graphs")
    for name in GRAPHS:
        (made / f"{name}.txt").write_text(rows_of(name))
        columns = {"weight_column": "none", "time_column": "3"} if name == "plain" else OF_ALL
        how = columns | ({} if name == "directed" else {"num_clusters": 6})
        csaw.partition(
            made / f"{name}.txt",
            made / f"{name}.zarr",
            directed=name == "directed",
            duplicates="keep",
            partitions=3,
            **how,
        )
    for name, ids in IDS.items():
        (made / name).write_bytes(ids)
    return made


@pytest.fixture
def here(folder, monkeypatch):
    """The folder, and fewer base instances of targets than the law of large graphs needs."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(base_instances, "MOST", 256)
    return folder


def faults(graph, algo, chosen):
    """What verify finds in a sample, nothing where the run is refused; any other error is raised."""
    for left in ("out.zarr", "out.zarr.partial"):
        shutil.rmtree(left, ignore_errors=True)
    wanted = given(algo, chosen, csaw.open_graph(f"{graph}.zarr").vertices)
    try:
        csaw.sample(f"{graph}.zarr", "out.zarr", algo, **wanted)
    except CsawError as refused:
        said = str(refused)
        return None if said and "unfinished" not in said else [(said, "not what was asked for")]
    report = csaw.verify("out.zarr", columns=wanted.get("columns"))
    return [(check.name, check.details) for check in report.checks if not check.ok]


def test_every_option_of_a_run_has_values():
    assert [name for name, values in run_values().items() if not values] == []


@pytest.mark.one_in(23)
@pytest.mark.parametrize(("algo", "name"), PAIRS, ids=[f"{algo}-{name}" for algo, name in PAIRS])
def test_what_an_algorithm_accepts_of_an_option_passes_verify(here, algo, name):
    graph = GRAPHS[(len(algo) + len(name)) % 2]
    found = {str(value): faults(graph, algo, {name: value}) for value in run_values()[name]}
    assert not {value: wrong for value, wrong in found.items() if wrong}


@pytest.mark.parametrize("algo", registry.names())
def test_an_algorithm_by_itself_passes_verify(here, algo):
    found = {graph: faults(graph, algo, {}) for graph in GRAPHS[: 1 if algo == "cluster-gcn" else 3]}
    assert set(map(str, found.values())) == {"[]"}


@pytest.mark.slow(reason="the quick tests look at each option by itself, these at thousands of them together")
@pytest.mark.parametrize("algo", registry.names())
def test_options_together_pass_verify_or_are_refused(here, algo):
    draw, of_run, own = random.Random(algo), run_values(), own_values(algo)
    for _ in range(120):
        names = draw.sample([*of_run, *own, *own], draw.choice([2, 2, 3]))
        chosen = {name: draw.choice(own[name] if name in own else of_run[name]) for name in names}
        graph = draw.choice(GRAPHS)
        assert not faults(graph, algo, chosen), (graph, chosen)
