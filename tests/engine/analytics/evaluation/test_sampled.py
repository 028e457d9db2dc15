"""Samples as graphs have every vertex that was met, and estimates know how often a self loop is visited."""

import pytest

import csaw


def values(graph, samples, **options):
    return {row.finding: row.sample for row in csaw.evaluate(graph, samples, **options).rows()}


def test_sources_without_an_edge_are_vertices():
    ring = csaw.graph([(k, (k + 1) % 6) for k in range(6)], directed=False)
    walkers = csaw.sample(ring, algo="multidimensional", frontier_size=3, walk_length=1, instances=1, seed=1)
    arrays = walkers.group(0, 1)
    assert (arrays["sources"].tolist(), arrays["src"].tolist(), arrays["dst"].tolist()) == ([0, 2, 4], [4], [3])
    assert values(ring, walkers, measures="components")["components"] == 3  # 0, 2, and 4 - 3
    found = values(ring, walkers, measures="components", as_="induced")
    assert (found["components"], found["largest component"]) == (2, 3)


def test_a_random_edge_visits_the_vertex_of_a_self_loop_twice():
    graph = csaw.graph([(2 * k, end) for k in range(500) for end in (2 * k, 2 * k + 1)], directed=False)
    samples = csaw.sample(graph, algo="random-edge", neighbor_size=100, instances=200, seed=1)
    found = values(graph, samples, measures="degree", estimate=True)
    assert found["degree of vertices"] == pytest.approx(1.5, abs=0.01)
    assert found["vertices"] == pytest.approx(1000, abs=20)


def test_estimates_by_strength_keep_light_vertices_after_heavy_ones():
    """Running sums over the rows lost them."""
    edges = [(0, 1, 1e18), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 2.0), (4, 5, 1.0), (5, 2, 4.0), (2, 4, 1.0)]
    graph = csaw.graph(edges, directed=False)
    samples = csaw.sample(graph, algo="deepwalk", walk_length=200, num_walks=50, seed=1)
    found = values(graph, samples, measures="degree", as_="visits", estimate=True, burn_in=0)
    strength, degree = [0.0] * 6, [0] * 6
    for u, v, weight in edges:
        for end in (u, v):
            strength[end] += weight
            degree[end] += 1
    visits = [int(v) for k in range(len(samples)) for v in samples.walk(k)]
    share = sum(1 / strength[v] for v in visits)
    assert found["degree of vertices"] == pytest.approx(sum(degree[v] / strength[v] for v in visits) / share)
