"""What a run needs of its graph, against a table written by hand, and against what backends make of it."""

from dataclasses import asdict, astuple, fields

import numpy as np
import pytest
from helpers.graphs import TROUBLED, WideStore, random_store, store_of
from helpers.temporal import TIED, events_store

from csaw.engine import prepare
from csaw.engine.api import registry
from csaw.engine.cuda.device import Device
from csaw.engine.plan.choices import GraphLayout
from csaw.engine.plan.needs import Needs
from csaw.engine.runs.job import open_backend
from csaw.engine.schedule.specialization import Specialization
from csaw.engine.sources.digest import SourcesDigest
from csaw.engine.sources.sources import Sources

GPU = Device(0, "none", "sm_90", 132, 1 << 40)
OWN = """
from csaw.engine.algorithm import Walk

class Asks(Walk):
    def update(self, e):
        return e.dst if e.is_neighbor(e.dst, e.src) else -1
"""
ASKS = "asks_members"
OF_WEIGHTS = {"weighted"}  # see the test of them
NEAR = "1 if e.prev < 0 or e.is_neighbor(e.prev, e.dst) else 0.25"
TABLE = "weights alias_tables"
APART = "return_apart row_weights weighs_members single_weights"
# Algorithm, options, what holds, and bytes of an edge: stored, kept beside a GPU, reserved on the CPU, loaded on it, in
# a piece on a GPU.
BY_HAND = [
    ("deepwalk", {"weighted": False}, "", (4, 4, 4, 4, 4)),
    ("deepwalk", {}, TABLE, (8, 12, 12, 12, 12)),
    ("deepwalk", {"select": "its"}, "weights", (8, 8, 8, 8, 8)),
    ("deepwalk", {"edge_bias": "e.dst_degree"}, "alias_tables", (4, 12, 12, 12, 12)),
    ("node2vec", {"p": 0.25, "weighted": False}, f"second_order {ASKS} asks_later return_apart", (4, 4, 4, 4, 4)),
    ("node2vec", {"p": 0.25}, f"second_order {ASKS} asks_later weights alias_tables {APART}", (8, 16, 16, 16, 16)),
    ("node2vec", {"p": 4.0}, f"second_order {ASKS} asks_later weights alias_tables", (8, 12, 16, 12, 12)),
    (
        "node2vec",
        {"p": 1e7},
        f"second_order {ASKS} weights alias_tables single_weights may_be_hopeless",
        (8, 16, 16, 16, 16),
    ),
    ("node2vec", {"select": "its"}, f"second_order {ASKS} weights", (8, 8, 8, 8, 8)),
    ("{own}:Asks", {"weighted": False}, f"{ASKS} asks_far", (4, 4, 4, 4, 4)),
    ("{own}:Asks", {}, f"{ASKS} asks_far weights alias_tables", (8, 12, 12, 12, 12)),
    (
        "biased",
        {"edge_bias": "1.0 + e.is_neighbor(e.source, e.dst)"},
        f"second_order {ASKS} asks_far asks_back",
        (4, 4, 4, 4, 4),
    ),
    ("deepwalk", {"edge_bias": NEAR}, f"second_order {ASKS} asks_later asks_back", (4, 4, 4, 4, 4)),
    ("neighbor", {"replace": True, "weighted": False}, "independent_picks", (4, 4, 4, 4, 4)),
    ("neighbor", {"replace": True}, f"{TABLE} independent_picks", (8, 12, 12, 12, 12)),
    ("neighbor", {"select": "its"}, "weights running_sums", (8, 8, 8, 8, 8)),
    ("neighbor", {"select": "its", "collision": "updated"}, "weights", (8, 8, 8, 8, 8)),
    ("neighbor", {"select": "its", "fanout": (33,)}, "weights", (8, 8, 8, 8, 8)),
    ("minibatch", {"select": "its"}, "weights batch_sums", (8, 8, 8, 8, 8)),
    ("multidimensional", {"edge_bias": "e.weight"}, "weights clock_sums", (8, 8, 8, 8, 8)),
    ("deepwalk", {"edge_bias": "e.weight * (1 + e.depth)"}, "weights alias_tables", (8, 12, 12, 12, 12)),
    ("layer", {"weighted": False}, "in_pools", (4, 4, 4, 4, 4)),
    ("biased", {"edge_bias": "e.weight * (4.0 if e.dst == e.path(2) else 1.0)"}, "weights reads_path", (8, 8, 8, 8, 8)),
    ("cluster-gcn", {"clusters_per_batch": 1}, "clusters", (4, 4, 4, 4, 4)),
    ("ladies", {}, "weights", (8, 8, 8, 8, 8)),
    ("fastgcn", {}, "weights columns", (8, 8, 8, 8, 8)),
    ("random-edge", {}, "in_pools everywhere", (4, 4, 4, 4, 4)),
    ("temporal", {}, "timed", (16, 16, 16, 16, 16)),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("needs") / "g.zarr", partitions=3)


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    return events_store(tmp_path_factory.mktemp("timed") / "g.zarr", TIED, 5)


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "mine.py"
    path.write_text(OWN)
    return path


def held(needs):
    return {name for name, value in asdict(needs).items() if value is True} - OF_WEIGHTS


@pytest.mark.parametrize("device", ["cpu", GPU], ids=["cpu", "gpu"])
@pytest.mark.parametrize(
    ("algo", "options", "what", "edge"), BY_HAND, ids=[f"{a}-{i}" for i, (a, *_) in enumerate(BY_HAND)]
)
def test_needs_are_those_of_the_table(algo, options, what, edge, device, store, timed, own):
    needs = prepare(timed if algo == "temporal" else store, algo.format(own=own), device=device, **options).plan.needs
    assert held(needs) == set(what.split())
    assert astuple(needs.edge) == (4, *edge, 1)


def test_every_fact_is_true_in_some_row_of_the_table():
    facts = {one.name for one in fields(Needs) if one.type == "bool" or one.type is bool} - OF_WEIGHTS
    assert facts == {name for _, _, what, _ in BY_HAND for name in what.split()}


def test_weights_count_where_they_are_read(store):
    def found(algo="deepwalk", **options):
        job = prepare(store, algo, device="cpu", **options)
        constants = Specialization(job.plan, job.store, job.algorithm).constants()
        return job.plan.needs.weighted, constants["SYMMETRIC_WEIGHTS"]

    assert found() == (True, True)
    assert found(weighted=False) == (False, True)
    assert found(edge_bias=NEAR) == (False, True)  # a rejection walk that reads none
    assert found(edge_bias=f"e.dst_degree * ({NEAR})", weighted=False) == (True, False)  # a factor in their place


def test_wide_ids_take_twice_the_bytes_and_weights_the_same(store):
    needs = prepare(WideStore(store), "deepwalk", device="cpu").plan.needs
    assert astuple(needs.edge) == (8, 12, 24, 24, 24, 24, 1)
    assert [needs.edge.built(layout) for layout in GraphLayout] == [0, 16, 24, 32, 8, 32]


def test_each_case_of_the_depth_has_a_table(store):
    needs = prepare(
        store, "deepwalk", edge_bias="e.weight if e.depth < 2 else 1.0", walk_length=4, device="cpu"
    ).plan.needs
    assert (needs.cases, needs.table_depths) == ((0, 0, 1, 1), (0, 2))
    assert astuple(needs.edge) == (4, 8, 24, 24, 24, 24, 2)
    assert [needs.edge.built(layout) for layout in GraphLayout] == [0, 16, 24, 64, 8, 32]


def test_members_of_a_multigraph_are_not_weighed(tmp_path):
    store = store_of(tmp_path / "g.zarr", TROUBLED, directed=True, vertices=7)
    assert store.multigraph
    job = prepare(store, "node2vec", p=0.25, device=GPU)
    assert job.plan.membership == "hash"
    assert job.plan.needs.single_weights
    assert not job.plan.needs.weighs_members
    assert not Specialization(job.plan, store, job.algorithm).weighs_members


def test_only_hash_tables_are_weighed(store):
    for residency, weighed in (("resident", True), ("streamed", False)):
        job = prepare(store, "node2vec", p=0.25, device=GPU, residency=residency)
        assert job.plan.needs.weighs_members
        assert Specialization(job.plan, job.store, job.algorithm).weighs_members == weighed


@pytest.mark.parametrize("options", [{}, {"select": "its"}, {"weighted": False}], ids=["table", "csr", "unweighted"])
def test_a_partition_takes_the_bytes_that_the_plan_counts(options, store):
    job = prepare(store, "deepwalk", device="cpu", threads=1, walk_length=3, **options)
    backend = open_backend(job)
    try:
        assert job.plan.graph_bytes == job.plan.needs.edge.reserved * store.edges == backend.graph.sizes().sum()
        assert backend.graph.transfer_bytes == job.plan.graph_bytes
    finally:
        backend.close()


def test_a_summary_of_a_plan_says_nothing_of_needs(store):
    assert "needs" not in prepare(store, "deepwalk", device="cpu").plan.as_dict()


@pytest.mark.parametrize(
    ("algo", "given", "kind"),
    [
        ("deepwalk", None, "all"),
        ("deepwalk", "random:3", "list"),
        ("deepwalk", np.array([1, 2]), "list"),
        ("multidimensional", None, "random"),
        ("random-node", None, "distinct"),
        ("random-edge", "all", "every"),
        ("links", None, "links"),
        ("links", "all", "all"),
        ("links", np.array([1, 2]), "list"),
    ],
)
def test_the_text_of_a_request_names_the_kind_of_its_sources(algo, given, kind, store):
    sources = Sources(store, registry.build(algo, {}, None), given)
    assert SourcesDigest.parse(str(sources.digest())) == sources.digest()
    assert sources.digest().kind == sources.kind == kind
