"""Matches of patterns are those that trying all sets of vertices finds."""

import re
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from helpers.networks import GRAPHS, least, neighbors_of

from csaw.engine import open_samples, sample
from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.evaluation import sampled
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.analytics.measures.patterns import Patterns
from csaw.engine.analytics.pattern import ANY, PATTERNS, Asked, plan, size_of
from csaw.engine.plan.choices import Residency
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


def by_trying_labels(sets, labels, edges, asked):
    """Ways to put the vertices of a labelled pattern on those of the graph, by brute force; symmetric ones are one."""
    size = len(asked)
    ways = sum(
        all(v in sets[u] for u, v in ((some[a], some[b]) for a, b in edges))
        and all(want is None or labels[v] == want for v, want in zip(some, asked, strict=True))
        for some in permutations(range(len(sets)), size)
    )
    shape = {frozenset(edge) for edge in edges}
    symmetries = sum(
        {frozenset((p[u], p[v])) for u, v in edges} == shape and all(asked[p[v]] == asked[v] for v in range(size))
        for p in permutations(range(size))
    )
    assert ways % symmetries == 0
    return ways // symmetries


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
        joined = plan(Asked(name)).joined
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


def said_by(name, asked):
    return ":".join([name, *("*" if label is None else str(label) for label in asked)])


@pytest.mark.parametrize("seed", range(2))
def test_labelled_counts_are_those_of_trying_all_vertices(seed):
    rng, sets = np.random.default_rng(seed), small(seed)[:9]
    sets = [{u for u in row if u < 9} for row in sets]
    labels = rng.integers(0, 2, 9)
    wanted = {}
    for name, edges in PATTERNS.items():
        for _ in range(4 if size_of(name) < 5 else 2):
            asked = [None if one > 1 else int(one) for one in rng.integers(0, 4, size_of(name))]
            wanted[said_by(name, asked)] = by_trying_labels(sets, labels, edges, asked)
    for threads in (1, 2):
        found = Patterns(pattern=",".join(wanted), vertex_labels=labels).findings(network_of(sets, threads))
        assert {name: one.value for name, one in found.items()} == wanted
    assert sum(count > 0 for count in wanted.values()) > len(wanted) // 4


def test_full_labels_count_subgraphs_and_their_sum_over_all_labels_is_that_without():
    sets = small(5)
    labels = np.arange(13) % 2
    for name in ("triangle", "star4", "square", "paw", "house", "bowtie", "path5"):
        each = {"".join(map(str, one)): one for one in np.ndindex(*[2] * size_of(name))}
        found = Patterns(
            pattern=",".join(said_by(name, one) for one in each.values()), vertex_labels={"type": labels}
        ).findings(network_of(sets))
        # a subgraph is found once for each way to say its labels that a symmetry of the pattern gives
        seen = {key: found[said_by(name, one)].value for key, one in each.items()}
        alike = {key: len({_moved(key, p) for p in _symmetries(name)}) for key in each}
        total = sum(Fraction(seen[key], alike[key]) for key in each)
        assert total == by_trying(sets, PATTERNS[name]), name


def _symmetries(name):
    shape = {frozenset(edge) for edge in PATTERNS[name]}
    size = size_of(name)
    return [p for p in permutations(range(size)) if {frozenset((p[u], p[v])) for u, v in PATTERNS[name]} == shape]


def _moved(key, p):
    return "".join(key[v] for v in p)


def test_any_label_everywhere_is_no_label():
    sets = small(2)
    names = list(PATTERNS)
    plain = Patterns(pattern=",".join(names)).findings(network_of(sets))
    asked = {name: said_by(name, [None] * size_of(name)) for name in names}
    found = Patterns(pattern=",".join(asked.values()), vertex_labels=np.zeros(13)).findings(network_of(sets))
    assert [found[asked[name]].value for name in names] == [plain[name].value for name in names]
    assert plan(Asked("paw", (ANY,) * 4)).after.tolist() == plan(Asked("paw")).after.tolist()


def test_a_label_that_no_vertex_has_is_nowhere():
    found = Patterns(pattern="triangle:7:*:*,wedge:7:*:*", vertex_labels=np.zeros(13)).findings(network_of(small(2)))
    assert [one.value for one in found.values()] == [0, 0]


def test_labels_come_from_files_by_ids_and_samples_have_those_of_the_graph(tmp_path):
    store = GRAPHS["random"](tmp_path / "g.zarr")
    labels = np.random.default_rng(3).integers(0, 3, store.vertices)
    np.save(tmp_path / "type.npy", labels)
    order = np.random.default_rng(4).permutation(store.vertices)
    np.savez(tmp_path / "types.npz", type=labels[order], ids=order)
    names = "triangle:0:1:2,wedge:0:1:0,square:1:*:1:*"
    wanted = Patterns(pattern=names, vertex_labels=labels).findings(HostNetwork(store))
    for file in ("type.npy", "types.npz"):
        found = evaluate(store, measures="patterns", pattern=names, vertex_labels=tmp_path / file)
        assert found.profile == wanted
    np.save(tmp_path / "type.npy", np.zeros(store.vertices))
    other = evaluate(store, measures="patterns", pattern=names, vertex_labels=tmp_path / "type.npy")
    assert other.profile["triangle:0:1:2"].value == 0, "findings are kept by the labels, not by the name of their file"
    sample(store, tmp_path / "s.zarr", "forest-fire", instances=5)
    host = HostNetwork(store)
    samples = open_samples(tmp_path / "s.zarr")
    part = sampled.induced(sampled.held(samples, host, 0, 5), host)
    rows = HostNetwork.of_arrays(*part.network.whole(False)[2:4], directed=False)
    wanted = Patterns(pattern=names, vertex_labels=labels[part.vertices]).findings(rows)
    found = evaluate(
        store, [samples], measures="patterns", pattern=names, vertex_labels=tmp_path / "types.npz", as_="induced"
    )
    assert found.samples[0].findings[0][0] == wanted
    assert part.vertices.size < store.vertices


def test_what_labels_cannot_be_is_refused(tmp_path):
    for pattern, given, said in (
        (
            "triangle:1:1:2",
            None,
            "--vertex-labels: expected labels for --pattern triangle:1:1:2, found none",
        ),
        ("triangle", np.zeros(13), "--pattern: expected patterns with labels from --vertex-labels"),
        ("triangle:1:1", np.zeros(13), "expected a label for each of the 3 vertices of triangle, found 2"),
        ("wedge:a:1:1", np.zeros(13), "expected numbers, or [*] for any label, found 'a'"),
        ("wedgy:1:1:1", np.zeros(13), "no pattern called 'wedgy'"),
    ):
        with pytest.raises(OptionError, match=said):
            Patterns(pattern=pattern, vertex_labels=given)
    for given, said in (
        ("nowhere.npz", "nowhere.npz is not a file"),
        (np.zeros(12), "expected a number for each of the 13 vertices"),
        ({"a": np.zeros(13), "b": np.zeros(13)}, "expected one array of labels, found 2: a, b"),
        (np.full(13, np.nan), "expected finite numbers"),
    ):
        with pytest.raises(OptionError, match=f"^--vertex-labels: .*{said}"):
            Patterns(pattern="wedge:1:1:1", vertex_labels=given).check(network_of(small(1)).store)
