"""The suite ``relations``: the graph that it gives types to, and the works that it compares."""

import numpy as np
from helpers.bench import GRAPH, bench

from csaw.engine.bench.bench_row import measured
from csaw.engine.bench.graphs import given, with_types
from csaw.engine.bench.suites import relations
from csaw.partition.graph.types import RELATION


def test_the_types_of_its_ends_give_an_edge_its_relation():
    store = given(GRAPH).open(None).store
    typed = with_types(store)
    plain, held = store.load(), typed.load([RELATION])
    assert np.array_equal(plain.indptr, held.indptr)
    assert np.array_equal(plain.indices, held.indices)
    source = np.repeat(np.arange(store.vertices), np.diff(plain.indptr))
    names = np.array(typed.types.names)
    for number, relation in enumerate(typed.types.relations):
        of = held.columns["relation"] == number
        assert of.sum() == typed.types.edges[number] > 0
        assert set(names[typed.types.of(source[of])]) == {relation.source}
        assert set(names[typed.types.of(plain.indices[of].astype(np.int64))]) == {relation.target}


def test_mini_batches_by_relation_are_set_beside_those_without(tmp_path):
    line = ["--quick", "--suite", "relations", "--only", "mini-batches, 25", "--max-instances", "3"]
    code, said, rows = bench(GRAPH, *line, folder=tmp_path)
    assert code == 0, said
    found = {row["work"]: row for row in measured(rows, suite="relations")}
    assert list(found) == [work.name for work in (relations.MINI_BATCHES, relations.EACH, relations.IN_ALL)]
    base = found[relations.MINI_BATCHES.name]
    for name, row in found.items():
        assert row["graph"] == f"{GRAPH}, two types"
        if row is not base:
            assert row["times"] == row["rate"] / base["rate"]
            assert row["times_of"] == relations.MINI_BATCHES.name, name
    assert found[relations.EACH.name]["edges"] > base["edges"]


def test_each_kind_of_sample_is_judged_by_its_own_share():
    def verdict_of(share):
        rows = [
            {"suite": "relations", "graph": GRAPH, "work": work.name, "rate": rate, "slowest": rate, "fastest": rate}
            for base, works, least, _ in relations.PARTS
            for work, rate in ((base, 100.0), *((work, 100.0 * least * share) for work in works))
        ]
        return relations.relations_verdict(rows)

    assert verdict_of(1.0).holds
    assert verdict_of(0.9).holds is False
    assert relations.relations_verdict([]).holds is None
