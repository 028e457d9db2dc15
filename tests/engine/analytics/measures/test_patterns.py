"""Matches of patterns are those that trying all sets of vertices finds."""

import re
from itertools import combinations, permutations

import numpy as np
import pytest
from helpers.networks import GRAPHS, least, neighbors_of

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.measures.patterns import Patterns
from csaw.engine.analytics.pattern import PATTERNS, plan
from csaw.engine.plan.residency import Residency
from csaw.partition.errors import BudgetError, OptionError

ALL = ",".join(PATTERNS)
CLIQUE12 = {
    "triangle": 220,
    "square": 1485,
    "diamond": 2970,
    "clique4": 495,
    "clique5": 792,
    "star4": 1980,
    "path4": 5940,
}


def by_trying(sets, edges):
    """Sets of vertices times the ways that their edges hold the pattern, by brute force."""
    size = 1 + max(max(edge) for edge in edges)
    shapes = {frozenset(frozenset((p[u], p[v])) for u, v in edges) for p in permutations(range(size))}
    total = 0
    for some in combinations(range(len(sets)), size):
        there = {frozenset((i, j)) for i, j in combinations(range(size), 2) if some[j] in sets[some[i]]}
        total += sum(shape <= there for shape in shapes) if len(there) >= len(edges) else 0
    return total


def small(seed):
    """Neighbors of each vertex in a random graph of 13 vertices."""
    rng = np.random.default_rng(seed)
    sets = [set() for _ in range(13)]
    for u, v in combinations(range(13), 2):
        if rng.random() < 0.45:
            sets[u].add(v)
            sets[v].add(u)
    return sets


def network_of(sets, threads=2):
    indptr = np.cumsum([0, *map(len, sets)])
    indices = np.array([u for row in sets for u in sorted(row)], np.uint32)
    return HostNetwork.of_arrays(indptr, indices, directed=False, like=None)


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_trying_all_sets(seed):
    sets = small(seed)
    found = Patterns(pattern=ALL).findings(network_of(sets))
    assert {name: one.value for name, one in found.items()} == {
        name: by_trying(sets, PATTERNS[name]) for name in PATTERNS
    }


def test_hostile_graphs(tmp_path):
    for name, make in GRAPHS.items():
        store = make(tmp_path / f"{name}.zarr")
        if store.vertices <= 12:
            sets = neighbors_of(store)
            found = Patterns(pattern=ALL).findings(HostNetwork(store, threads=3))
            for pattern in PATTERNS:
                assert found[pattern].value == by_trying(sets, PATTERNS[pattern]), (name, pattern)


def test_a_clique_by_formula(tmp_path):
    found = Patterns(pattern=ALL).findings(HostNetwork(GRAPHS["clique"](tmp_path / "c.zarr")))
    assert {name: found[name].value for name in CLIQUE12} == CLIQUE12


def test_threads_do_not_matter(tmp_path):
    store = GRAPHS["random"](tmp_path / "r.zarr")
    names = "triangle,square,diamond,clique4,path4,cycle5"
    one, three = (Patterns(pattern=names).findings(HostNetwork(store, threads=n)) for n in (1, 3))
    assert one == three
    assert one["triangle"].value == HostNetwork(store).compute("triangles")[0]


def test_a_plan_matches_each_vertex_beside_one_before():
    for name in PATTERNS:
        joined = plan(name).joined
        assert all(joined[:level, level].any() for level in range(1, len(joined))), name


def test_an_unknown_pattern_is_named():
    with pytest.raises(OptionError, match="no pattern called 'pentagram'; there are wedge, triangle"):
        Patterns(pattern="triangle,pentagram")


def test_a_graph_that_does_not_fit_is_refused_with_numbers(tmp_path):
    store = GRAPHS["random"](tmp_path / "r.zarr")
    with pytest.raises(BudgetError, match="patterns are matched in memory, which takes .* raise --memory"):
        Patterns(pattern="square").findings(HostNetwork(store, memory=least(store), derived=tmp_path))


def test_patterns_of_a_graph_on_disk_are_those_in_memory_and_a_refusal_has_numbers_that_agree(tmp_path):
    store = GRAPHS["random"](tmp_path / "r.zarr")
    names = "triangle,square,clique4"
    on_disk = HostNetwork(store, derived=tmp_path, residency=Residency.DISK)
    assert not on_disk.undirected.resident
    assert Patterns(pattern=names).findings(on_disk) == Patterns(pattern=names).findings(HostNetwork(store))
    for memory in range(least(store), 3 * least(store), least(store) // 4):
        network = HostNetwork(store, memory=memory, derived=tmp_path, residency=Residency.DISK)
        if said := refusal(Patterns(pattern="square"), network):
            needed, allowed = (
                int(one.replace(",", "")) for one in re.findall(r"takes ([\d,]+) bytes, and ([\d,]+) are", said)[0]
            )
            assert needed > allowed == memory, said
    assert refusal(
        Patterns(pattern="square"), HostNetwork(store, memory=least(store), derived=tmp_path, residency=Residency.DISK)
    )


def refusal(measure, network):
    """What is said where a measure needs more memory than there is; nothing where it does not."""
    try:
        measure.findings(network)
    except BudgetError as error:
        return str(error)
    return ""
