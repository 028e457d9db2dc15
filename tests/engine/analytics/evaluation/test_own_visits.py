"""Visits of samples that classes of users drew: as of the shipped algorithm of the same law, or refused."""

import pytest
from helpers.machine import need_package

import csaw
from csaw.engine.algorithms.multidimensional import Multidimensional
from csaw.engine.algorithms.random_edge import RandomEdge
from csaw.engine.algorithms.random_node import RandomNode
from csaw.engine.algorithms.snowball import Snowball
from csaw.partition.errors import OptionError


class MyEdge(RandomEdge):
    pass


class MySnowball(Snowball):
    pass


class MyNode(RandomNode):
    pass


class MyFrontier(Multidimensional):
    pass


def visits(algo, **options):
    samples = csaw.sample("karate", algo=algo, seed=3, **options)
    found = csaw.evaluate("karate", samples, as_="visits", measures="degree").rows()
    return [(row.finding, row.sample) for row in found]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (MyEdge, {"neighbor_size": 4, "instances": 50}),
        (MySnowball, {"depth": 2}),
        (MyNode, {"frontier_size": 4, "instances": 50}),
        (MyFrontier, {"frontier_size": 5, "walk_length": 5}),
    ],
)
def test_visits_of_an_own_class_are_those_of_the_same_law(kind, options):
    assert visits(kind, **options) == visits(kind.__base__.name(), **options)


@pytest.mark.parametrize("said", [None, "all", 3])
def test_visits_that_a_sample_does_not_tell_are_refused(tmp_path, said):
    samples = csaw.sample("karate", tmp_path / "s.zarr", algo="snowball", depth=2)
    samples.manifest["visited"] = said
    with pytest.raises(OptionError, match=r"as visits: .*s.zarr does not say which vertices an instance visited"):
        csaw.evaluate("karate", samples, as_="visits", measures="degree")


def test_patterns_and_labels_are_named_once():
    with pytest.raises(OptionError, match="pattern: triangle is given twice"):
        csaw.evaluate("karate", measures="patterns", pattern="triangle,triangle")
    samples = [csaw.sample("karate", algo="deepwalk", seed=seed) for seed in (1, 2)]
    for labels in ("x,x", ","):
        with pytest.raises(OptionError, match="labels: expected different names that are not empty"):
            csaw.evaluate("karate", samples, measures="degree", labels=labels)


def test_an_estimate_says_that_vertices_without_edges_are_never_visited():
    nx = need_package("networkx")
    lonely = nx.Graph([(0, 1), (1, 2), (2, 0)])
    lonely.add_nodes_from([5, 6, 7])
    held = csaw.graph(lonely)
    for algo, said in (("metropolis-hastings", True), ("random-node", False)):
        options = {"frontier_size": 2, "instances": 9} if algo == "random-node" else {}
        found = csaw.evaluate(held, csaw.sample(held, algo=algo, **options), measures="degree", estimate=True)
        assert ("among vertices with edges" in str(found.as_dict())) is said
