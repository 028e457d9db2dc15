"""Every number of a request is compared with the arrays of every algorithm, and induced subgraphs hold what can have
been met.
"""

import json
from contextlib import suppress

import numpy as np
import pytest
from helpers.forged import forged
from helpers.graphs import random_store
from helpers.remade import remade
from helpers.run_options import small

import csaw
from csaw.engine.api import registry
from csaw.engine.api.rules import VISITED
from csaw.engine.stores import open_samples
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.write import write_graph

MORE = {int: lambda value: value + 3, list: lambda value: [one + 3 for one in value]}
SIZES = {
    "walk_length",
    "fanout",
    "depth",
    "layer_sizes",
    "subgraph_nodes",
    "frontier_size",
    "seeds_per_batch",
    "clusters_per_batch",
    "epochs",
    "num_walks",
    "neighbor_size",
}
UNSEEN = {("saint-walk", "walk_length"), ("saint-multidimensional", "walk_length"), ("forest-fire", "depth")}
"""More of these than there are may have met no more vertices."""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A graph with clusters and times, whose vertices have many neighbors."""
    store = random_store(tmp_path_factory.mktemp("graph") / "r.zarr", vertices=40, edges=300)
    graph, draw = store.load(), np.random.default_rng(3)
    return write_graph(
        store.path.with_name("g.zarr"),
        graph.indptr,
        graph.indices,
        graph.weights,
        directed=True,
        clusters=np.arange(40) % 8,
        edge_columns={"time": draw.integers(0, 50, graph.indices.size)},
    )


def drawn(store, tmp_path, algo, **options):
    options = {"neighbor_size": 4} | options if algo == "snowball" else options
    csaw.sample(store, tmp_path / "s.zarr", algo, overwrite=True, **(small(algo) | options))
    return tmp_path / "s.zarr"


def failed(path):
    return {check.name: check.details for check in csaw.verify(path).checks if not check.ok}


def said(change):
    return lambda attributes: change(attributes["manifest"]["request"])


@pytest.mark.parametrize("algo", registry.names())
def test_every_size_of_a_request_is_held_against_the_arrays(store, tmp_path, algo):
    path = drawn(store, tmp_path, algo)
    assert failed(path) == {}
    whole = (path / "zarr.json").read_text()
    asked = json.loads(whole)["attributes"]["manifest"]["request"]
    unseen = []
    for name in sorted(SIZES & asked["parameters"].keys()):
        value = asked["parameters"][name]
        if value is None:
            continue
        (path / "zarr.json").write_text(whole)
        forged(
            path,
            said(
                lambda request, name=name, value=value: request["parameters"].update({name: MORE[type(value)](value)})
            ),
        )
        unseen += [] if failed(path) else [name]
    for name in ("instances", "group_size"):
        (path / "zarr.json").write_text(whole)
        forged(path, said(lambda request, name=name: request.update({name: request[name] + 1})))
        assert "request" in failed(path)
    sources = ("everyone x 1", "list x 1", f"{asked['sources']} more", f"{asked['sources']} labelled {'0' * 32}")
    for name, words in (("select", ["magic"]), ("collision", [""]), ("sources", sources)):
        for word in words:
            (path / "zarr.json").write_text(whole)
            forged(path, said(lambda request, name=name, word=word: request.update({name: word})))
            with suppress(StoreError):  # of clusters without a digest
                assert "request" in failed(path)
    visited = json.loads(whole)["attributes"]["manifest"].get("visited")
    for other in {*VISITED} - {visited} if visited else ():
        (path / "zarr.json").write_text(whole)
        forged(path, lambda attributes, other=other: attributes["manifest"].update(visited=other))
        assert "request" in failed(path)
    assert [name for name in unseen if (algo, name) not in UNSEEN] == []


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("seed", csaw.verify),
        ("sources", lambda path: csaw.refresh(path, path.with_name("r.zarr"))),
        ("fingerprint", lambda path: csaw.refresh(path, path.with_name("r.zarr"))),
        ("algorithm", lambda path: csaw.evaluate(path.with_name("g.zarr"), path, estimate=True)),
    ],
)
def test_what_a_request_lacks_is_named_where_it_is_read(tmp_path, name, use):
    graph = csaw.partition([(k, (k * k + 1) % 30) for k in range(30)], tmp_path / "g.zarr")
    path = drawn(graph, tmp_path, "minibatch")
    forged(path, said(lambda request: request.pop(name)))
    with pytest.raises(StoreError, match=f"zarr.json: expected a request with {name}, found None; sample again"):
        use(path)


def test_an_induced_subgraph_holds_what_can_have_been_met(store, tmp_path):
    for algo, parameter, value in (
        ("snowball", "depth", 0),
        ("snowball", "depth", 1),
        ("saint-walk", "walk_length", 0),
        ("deepwalk", "walk_length", 1),
        ("neighbor", "fanout", [1, 1]),
    ):
        path = drawn(store, tmp_path, algo, induced=True)
        assert failed(path) == {}
        forged(path, said(lambda request, p=parameter, v=value: request["parameters"].update({p: v})))
        assert failed(path).keys() & {"request", "met"}, (algo, parameter)


@pytest.mark.parametrize(
    ("algo", "options"),
    [
        ("saint-multidimensional", {"walk_length": 2}),
        ("multidimensional", {"walk_length": 2, "induced": True}),
        ("layer", {"neighbor_size": 2, "depth": 1, "induced": True}),
    ],
)
def test_instances_that_took_an_edge_have_one(store, tmp_path, algo, options):
    path = drawn(store, tmp_path, algo, frontier_size=1, **options)
    assert failed(path) == {}

    def alone(arrays):
        """The first instance holds its source, and no edge."""
        for names, counts in (("src", "dst", "depth"), "counts"), (("vertices",), "vertex_counts"):
            held, left = int(arrays[counts][0]), int(counts == "vertex_counts")
            for name in names:
                arrays[name] = np.delete(arrays[name], np.arange(left, held))
            arrays[counts][0] = left
        arrays["vertices"][0] = arrays["sources"][0]
        return arrays

    remade(path, tmp_path / "alone.zarr", alone)
    assert failed(tmp_path / "alone.zarr").keys() & {"met"}


def test_mini_batches_that_end_induced_hold_the_vertices_of_mini_batches_alone(store, tmp_path):
    """Counts of hops, which are called hop_nodes and hop_edges, are no vertices."""
    options = {"seeds_per_batch": 7, "fanout": (2, 2), "seed": 4}
    plain = open_samples(drawn(store, tmp_path / "plain", "minibatch", **options))
    induced = open_samples(drawn(store, tmp_path / "induced", "minibatch", induced=True, **options))
    for (_, a), (_, b) in zip(plain.iter_groups(1), induced.iter_groups(1), strict=True):
        assert np.unique(a["n_id"]).tolist() == b["vertices"].tolist()


@pytest.mark.parametrize(
    ("algo", "options"), [("deepwalk", {"num_walks": 2}), ("minibatch", {"epochs": 2, "seeds_per_batch": 16})]
)
def test_two_numbers_of_instances_that_do_not_agree_are_refused(store, algo, options):
    with pytest.raises(OptionError, match="instances: expected .* found 7; leave out"):
        csaw.sample(store, algo=algo, instances=7, **options)
    assert (
        csaw.sample(store, algo=algo, **options).instances
        == csaw.sample(store, algo=algo, instances=80 if algo == "deepwalk" else 6, **options).instances
    )


@pytest.mark.parametrize(
    ("fact", "value"), [("directed", False), ("vertices", 7), ("id_kind", "string"), ("time_units", "s")]
)
def test_facts_about_the_graph_are_those_of_the_graph(store, tmp_path, fact, value):
    path = tmp_path / "s.zarr"
    assert store.directed
    csaw.sample(store, path, "deepwalk", walk_length=3, device="cpu")
    assert csaw.verify(path).ok
    forged(path, lambda said: said["manifest"]["graph"].update({fact: value}))
    (found,) = (check for check in csaw.verify(path).checks if check.name == "graph")
    assert not found.ok
    assert f"{fact} is" in found.details
