"""PageRank is the solution of its linear equations, to the tolerance, with the same bits whatever the threads and
blocks.
"""

import gzip
from fractions import Fraction

import numpy as np
import pytest
from helpers.graphs import TROUBLED, random_store, store_of
from helpers.networks import GRAPHS, networks, pairs_of, same

from csaw.engine.analytics.cpu.network import HostNetwork
from csaw.engine.analytics.iterations import UNITS, most_iterations
from csaw.engine.analytics.measure import find
from csaw.partition import IngestOptions, ingest, open_graph
from csaw.partition.errors import FormatError, OptionError

EXACTLY = {"tolerance": 1e-12}


def solved(store, damping, sources=()):
    """Ranks by a dense linear system: x = damping * P^T x + what jumps, where a vertex without edges jumps always."""
    rows, _ = pairs_of(store)
    size = len(rows)
    jumps = np.zeros(size)
    jumps[list(sources) or slice(None)] = 1 / (len(sources) or size)
    steps = np.zeros((size, size))
    for v, row in enumerate(rows):
        for u in row:
            steps[u, v] += 1 / len(row)
        if not row:
            steps[:, v] = jumps
    return np.linalg.solve(np.eye(size) - damping * steps, (1 - damping) * jumps)


def ranks(store, **options):
    return find("pagerank")(**options).findings(HostNetwork(store, threads=2))


@pytest.mark.parametrize("graph", GRAPHS)
def test_ranks_solve_the_equations_with_the_same_bits_everywhere(graph, tmp_path):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    for damping in (0.85, 0.5, 0.0):
        first = None
        for network in networks(store, tmp_path / "derived"):
            found = find("pagerank")(damping=damping, **EXACTLY).findings(network)
            first = found if first is None else first
            assert same(found, first)
            network.close()
        assert np.allclose(first["pagerank"].values, solved(store, damping), rtol=1e-9, atol=1e-11)
        assert first["pagerank"].values.sum() == pytest.approx(1, abs=1e-12)


def test_no_unit_is_lost(tmp_path):
    network = HostNetwork(random_store(tmp_path / "g.zarr", directed=True))
    nowhere = np.zeros(0, np.int64)
    found = network.compute("pagerank", damping=0.85, tolerance=1e-9, sources=nowhere)
    assert 0 <= UNITS - int(found.units.sum()) < network.vertices
    assert found.residual <= 1e-9


def exactly_solved(rows, damping):
    """Ranks in fractions, by elimination."""
    size, damping = len(rows), Fraction(damping)
    table = [[Fraction(int(u == v)) for v in range(size)] + [(1 - damping) / size] for u in range(size)]
    for v, row in enumerate(rows):
        for u in row or range(size):
            table[u][v] -= damping / (len(row) or size)
    for k in range(size):
        table[k] = [x / table[k][k] for x in table[k]]
        for u in set(range(size)) - {k}:
            table[u] = [x - table[u][k] * y for x, y in zip(table[u], table[k], strict=True)]
    return [row[-1] for row in table]


@pytest.mark.parametrize("graph", ["troubled", "star inwards", "repeated", "clique"])
def test_ranks_are_as_near_to_exact_fractions_as_they_say(graph, tmp_path):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    for damping in (0.5, 0.875):
        found = HostNetwork(store).compute("pagerank", damping=damping, tolerance=1e-15, sources=np.zeros(0, np.int64))
        exact = exactly_solved(pairs_of(store)[0], damping)
        off = sum(abs(Fraction(int(x), UNITS) - y) for x, y in zip(found.units, exact, strict=True))
        assert off <= found.residual * damping / (1 - damping) + found.error
        assert found.error < 1e-14


def test_a_tolerance_is_kept_and_said(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    rough, fine = ranks(store, tolerance=1e-2), ranks(store, tolerance=1e-8)
    exact = solved(store, 0.85)
    assert np.abs(fine["pagerank"].values - exact).sum() < 1e-7 < np.abs(rough["pagerank"].values - exact).sum()
    assert int(rough["pagerank"].method.split()[0]) < int(fine["pagerank"].method.split()[0])


def test_iterations_end_where_rounding_keeps_ranks_from_settling(tmp_path):
    found = ranks(store_of(tmp_path / "g.zarr", TROUBLED, directed=True), damping=0.99, **EXACTLY)
    assert int(found["pagerank"].method.split()[0]) <= most_iterations(0.99, 1e-12)


def test_the_distribution_has_every_vertex_in_its_eighth_of_a_doubling(tmp_path):
    store = random_store(tmp_path / "g.zarr")
    found = ranks(store)
    bins, values = found["distribution of pagerank"], found["pagerank"].values * store.vertices
    assert bins.counts.sum() == store.vertices
    assert np.all(np.diff(bins.values) > 0)
    nearest = np.abs(values[:, None] - bins.values).argmin(axis=1)
    assert np.all(np.abs(values / bins.values[nearest] - 1) < 1 / 16)
    assert bins.mean == pytest.approx(1, abs=0.02)
    assert found["largest pagerank"].value == found["pagerank"].values.max()


@pytest.mark.parametrize("option", [{"damping": 1.0}, {"damping": -0.1}, {"tolerance": 0.0}, {"tolerance": 2}])
def test_options_out_of_range_are_refused(option):
    [name] = option
    with pytest.raises(OptionError, match=f"--{name}: expected"):
        find("pagerank")(**option)


PERSONAL = "personalized-pagerank"


@pytest.mark.parametrize(
    "graph", ["troubled", "star", "star inwards", "repeated", "no edges", "random directed", "wide"]
)
def test_personalized_ranks_solve_their_equations_with_the_same_bits_everywhere(graph, tmp_path):
    store = GRAPHS[graph](tmp_path / "g.zarr")
    chosen, first = sorted({0, 3, store.vertices - 1} & set(range(store.vertices))), None
    for network in networks(store, tmp_path / "derived"):
        found = find(PERSONAL)(rank_sources=",".join(map(str, reversed(chosen))), **EXACTLY).findings(network)
        first = found if first is None else first
        assert same(found, first)
        network.close()
    assert np.allclose(first["personalized pagerank"].values, solved(store, 0.85, chosen), rtol=1e-9, atol=1e-11)


def test_sources_are_original_ids_in_text_or_a_file(tmp_path):
    (tmp_path / "edges.txt").write_text("a,b\nb,c d\nc d,a\n")
    ingest(tmp_path / "edges.txt", tmp_path / "g.zarr", IngestOptions(id_type="string"))
    network = HostNetwork(open_graph(tmp_path / "g.zarr"))
    wanted = find(PERSONAL)(rank_sources="a, c d").findings(network)
    (tmp_path / "ids.txt").write_text("c d\na\n\na\n")
    of_file = find(PERSONAL)(rank_sources=str(tmp_path / "ids.txt"))
    (tmp_path / "ids.txt").write_text("b\n")
    assert same(of_file.findings(network), wanted)
    assert same(find(PERSONAL)(**of_file.parameters()).findings(network), wanted)


def test_blanks_count_where_they_are_part_of_an_id(tmp_path):
    (tmp_path / "edges.csv").write_text('source,target\n" a",b\nb," a"\na,c\nc,a\n')
    ingest(tmp_path / "edges.csv", tmp_path / "g.zarr", IngestOptions())
    network = HostNetwork(open_graph(tmp_path / "g.zarr"))
    (tmp_path / "ids.txt.gz").write_bytes(gzip.compress(b'" a"\n'))

    def said(given):
        return find(PERSONAL)(rank_sources=given).findings(network)["largest personalized pagerank"].method

    assert all("from vertex  a;" in said(spaced) for spaced in (" a", '" a"', str(tmp_path / "ids.txt.gz")))
    assert all("from vertex a;" in said(plain) for plain in ("a", "a ", "  a"))
    (tmp_path / "more.csv").write_text('source,target\n"c,d",b\nb,"c,d"\nb,e\ne,b\n')
    ingest(tmp_path / "more.csv", tmp_path / "h.zarr", IngestOptions())
    other = HostNetwork(open_graph(tmp_path / "h.zarr"))
    found = find(PERSONAL)(rank_sources='"c,d"').findings(other)["largest personalized pagerank"]
    assert "from vertex c,d;" in found.method
    assert find(PERSONAL)(rank_sources='e, "c,d" ,b').rank_sources == "e\nc,d\nb"
    (tmp_path / "ids.txt").write_bytes(b"a\n\xff\n")
    with pytest.raises(FormatError, match=r"ids.txt:2: .*UTF-8"):
        find(PERSONAL)(rank_sources=str(tmp_path / "ids.txt"))


def test_without_sources_ranks_are_of_the_vertex_of_largest_degree(tmp_path):
    network = HostNetwork(store_of(tmp_path / "g.zarr", TROUBLED, directed=True))
    degrees = network.degrees
    wanted = find(PERSONAL)(rank_sources=str(np.flatnonzero(degrees == degrees.max())[0])).findings(network)
    assert same(find(PERSONAL)().findings(network), wanted)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (" ,", "at least one vertex id"),
        ("7,x", "expected integers, .*, found 'x'"),
        ("1_0", "found '1_0'"),
        ("99", "vertex 99 is not in"),
    ],
)
def test_wrong_sources_are_named(text, error, tmp_path):
    store = store_of(tmp_path / "g.zarr", TROUBLED, directed=True)
    with pytest.raises(OptionError, match=error):
        find(PERSONAL)(rank_sources=text).findings(HostNetwork(store))


def test_vertices_that_no_walk_from_the_sources_reaches_have_rank_zero(tmp_path):
    found = find(PERSONAL)(rank_sources="4").findings(
        HostNetwork(store_of(tmp_path / "g.zarr", TROUBLED, directed=True))
    )
    assert found["personalized pagerank"].values.tolist() == [0, 0, 0, 0, 1, 0]
    bins = found["distribution of personalized pagerank"]
    assert bins.values[0] == 0
    assert bins.counts.tolist() == [5, 1]
