"""Attributes of a class make one rule that has all of them, or are refused; each rule is that of some algorithm."""

from itertools import combinations, product

import numpy as np
import pytest

from csaw.engine.api import registry
from csaw.engine.api.algorithm import Traversal, Walk
from csaw.engine.api.declarations import check_declarations
from csaw.engine.api.rules import (
    DEFAULTS,
    KINDS,
    EdgePool,
    GraphEdges,
    HopTable,
    MiniBatch,
    NonNeighbors,
    PerVertex,
    Picks,
    SharedNumbers,
    Steps,
    VertexLayer,
    Visiting,
    Waiting,
)
from csaw.partition.errors import OptionError

OTHERS = {"layout": "hops", "total": 5, "geometric": lambda self: 0.5, "pool_size": 3}
SHIPPED = [
    ("deepwalk", {}, Steps()),
    ("snowball", {}, PerVertex()),
    ("snowball", {"unique": True}, PerVertex(picks=Picks.VERTICES)),
    ("forest-fire", {}, PerVertex(coins=True)),
    ("neighbor", {}, HopTable()),
    ("neighbor", {"replace": True}, HopTable(Picks.INDEPENDENT)),
    ("minibatch", {"replace": True}, MiniBatch(Picks.INDEPENDENT)),
    ("layer", {"total": 9}, EdgePool(total=9)),
    ("random-edge", {}, GraphEdges(each_edge_once=True)),
    ("ladies", {"replace": False}, VertexLayer()),
    ("fastgcn", {}, VertexLayer(Picks.INDEPENDENT, from_graph=True)),
    ("saint-node", {}, VertexLayer(Picks.INDEPENDENT, everywhere=True, from_graph=True)),
    ("labor", {}, SharedNumbers()),
    ("links", {}, NonNeighbors()),
]


@pytest.mark.parametrize(("name", "options", "rule"), SHIPPED)
def test_options_of_shipped_algorithms_make_their_rule(name, options, rule):
    assert registry.build(name, options).rule == rule


def test_every_rule_is_that_of_a_shipped_algorithm():
    assert {type(registry.build(name, {}).rule) for name in registry.names()} == set(KINDS)


def test_a_pool_of_waiting_vertices_is_a_part_of_the_rule():
    mine = made({"pool_size": 3, "frontier_size": 2, "frontier_replace": True, "revisits": True, "replace": True})
    assert mine.rule == PerVertex(Visiting.FIRST, Picks.INDEPENDENT, waiting=Waiting(3, 2, True))


def made(attributes):
    """An algorithm with these attributes."""
    return type("Mine", (Traversal,), attributes)()


def values():
    """Attributes that are other than in most traversals: up to three of those that declare rules, and how an instance
    meets vertices.
    """
    for number in range(4):
        for names in combinations(DEFAULTS, number):
            for drawn, starts, once, revisits in product(
                ("neighbors", "vertices"), ("all", "distinct", "every"), (True, False), (True, False)
            ):
                others = OTHERS | {"draws_from": drawn}
                chosen = {name: others.get(name, True) for name in names}
                yield chosen | {"sources_from": starts, "visited_once": once, "revisits": revisits}


def test_a_rule_has_every_attribute_of_its_class_or_the_class_is_refused():
    accepted = 0
    for attributes in values():
        mine = made(attributes)
        try:
            rule = mine.rule
        except OptionError:
            continue
        accepted += 1
        assert (rule.replace, rule.unique, rule.total) == (mine.replace, mine.unique, mine.total)
        assert (rule.layout, rule.together, rule.once) == (mine.layout, mine.collective, mine.visited_once)
        assert rule.coins == (mine.geometric is not None)
        assert (rule.waiting is None) == (mine.pool_size is None)
        assert rule.everywhere == (mine.sources_from == "every")
        assert isinstance(rule, VertexLayer) == (mine.draws_from != "edges")
        for name in ("each_edge_once", "shares_draws", "induced", "clocks"):
            kind = next(kind for kind in KINDS if any(one.startswith(name) for one in kind.declared_by))
            assert isinstance(rule, kind) or not getattr(mine, name)
    assert accepted > 100


def test_other_attributes_of_a_walk_may_have_any_name():
    assert type("Mine", (Walk,), {"total": np.zeros(2), "unique": True, "replace": True})().rule == Steps()


def test_no_attribute_of_a_users_class_takes_the_place_of_the_rule():
    with pytest.raises(OptionError, match="mine.rule: csaw creates it from the other attributes; choose another name"):
        check_declarations(type("Mine", (Walk,), {"rule": 3})())
