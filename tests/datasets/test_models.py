"""Generated graphs other than R-MAT, against their laws and slow references."""

import itertools
import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binomtest, chisquare

from csaw.cli.main import cli
from csaw.datasets import generate as maker
from csaw.datasets.generate import ModelRows, generate, write_text
from csaw.datasets.models import points_of_cells
from csaw.datasets.spec import Grid, Rgg, Sbm, Shape, canonical, is_made, parse_spec
from csaw.partition import IngestOptions, ingest
from csaw.partition.errors import CsawError
from tests.datasets.test_generate import philox

SPECS = [
    "ba:vertices=300,edge_factor=3",
    "grid:shape=7x11x3,diagonals=1",
    "rgg:vertices=700,degree=9",
    "rgg:vertices=700,degree=9,dimensions=3",
    "road:shape=20x31,degree=2.4",
    "sbm:vertices=400,blocks=7,inside=6,outside=2",
]


def edges_of(spec):
    """All edges, in order, as they are drawn."""
    return [
        pair for src, dst, *_ in ModelRows(parse_spec(spec)) for pair in zip(src.tolist(), dst.tolist(), strict=True)
    ]


@pytest.mark.parametrize("spec", SPECS)
def test_neither_blocks_nor_threads_change_an_edge_and_a_seed_does(tmp_path, monkeypatch, spec):
    whole = edges_of(spec)
    for block, threads in ((50, 1), (97, 3)):
        monkeypatch.setattr(maker, "BLOCK", block)
        monkeypatch.setattr(maker, "THREADS", threads)
        assert edges_of(spec) == whole
    assert spec.startswith("grid") or edges_of(f"{spec},seed=2") != whole
    timed = f"{spec},weights=1,times=5..9"
    store = generate(timed, tmp_path / "g.zarr")
    write_text(timed, tmp_path / "g.txt")
    options = IngestOptions(directed=False, duplicates="first", self_loops="drop", time_column="Time")
    assert ingest(tmp_path / "g.txt", tmp_path / "t.zarr", options).fingerprint == store.fingerprint
    assert store.edges == 2 * len({tuple(sorted(pair)) for pair in whole})


@pytest.mark.parametrize("spec", SPECS)
def test_parameters_are_options_of_the_command(tmp_path, spec):
    kind, _, listed = spec.partition(":")
    options = [f"--{item.replace('_', '-')}" for item in f"{listed},seed=5".split(",")]
    runner, texts = CliRunner(), []
    for name, line in (("a.txt", [f"{spec},seed=5,undirected=0,weights=1"]), ("b.txt", [kind, *options])):
        more = ["--directed", "--weights"] if name == "b.txt" else []
        done = runner.invoke(cli, ["datasets", "generate", line[0], str(tmp_path / name), *line[1:], *more])
        assert done.exit_code == 0, done.output
        texts.append((tmp_path / name).read_text().splitlines()[1:])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("spec", SPECS)
def test_a_graph_has_one_spec_that_reads_back_and_a_mean_number_of_edges(spec):
    assert is_made(spec)
    assert canonical(spec) == spec
    model = parse_spec(spec)
    assert parse_spec(str(model)) == model
    assert 0.75 * model.draws < len(edges_of(spec)) < 1.2 * model.draws


@pytest.mark.parametrize("spec", SPECS)
def test_the_graph_of_a_spec_stays_the_same_for_ever(spec):
    found = np.array(edges_of(spec))
    digest = int((found * [[1000003, 10007]]).sum() % 2**31), len(found)
    assert (
        digest
        == {
            "ba:vertices=300,edge_factor=3": (1832195310, 897),
            "grid:shape=7x11x3,diagonals=1": (2077280032, 1134),
            "rgg:vertices=700,degree=9": (1748297125, 2983),
            "rgg:vertices=700,degree=9,dimensions=3": (1157653792, 2647),
            "road:shape=20x31,degree=2.4": (549364663, 733),
            "sbm:vertices=400,blocks=7,inside=6,outside=2": (611822947, 1615),
        }[spec]
    )


@pytest.mark.parametrize(("shape", "periodic"), [((4, 5), 0), ((1, 6), 0), ((3, 4), 1), ((2, 3, 4), 0), ((3, 4, 5), 1)])
def test_a_grid_is_that_of_networkx(shape, periodic):
    graph = nx.grid_graph(shape[::-1], periodic=bool(periodic))  # with tuples in the order of the shape
    number = {place: int(np.ravel_multi_index(place, shape)) for place in itertools.product(*map(range, shape))}
    expected = {tuple(sorted((number[u], number[v]))) for u, v in graph.edges}
    grid = Grid(shape=Shape(shape), periodic=periodic)
    found = edges_of(str(grid))
    assert len(found) == len(expected) == grid.draws
    assert {tuple(sorted(pair)) for pair in found} == expected


@pytest.mark.parametrize("diagonals", [1, 2])
@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize("shape", [(4, 5), (3, 3, 4)])
def test_diagonals_join_what_differs_by_one_at_most(shape, diagonals, periodic):
    grid = Grid(shape=Shape(shape), periodic=periodic, diagonals=diagonals)
    expected = set()
    for u, v in itertools.permutations(itertools.product(*map(range, shape)), 2):
        steps = [b - a for a, b in zip(u, v, strict=True)]
        if periodic:
            steps = [(s + 1) % n - 1 if n > 2 else s for s, n in zip(steps, shape, strict=True)]
        allowed = (0, 1) if diagonals == 1 else (-1, 0, 1)
        if all(s in allowed for s in steps):
            expected.add(tuple(sorted(int(np.ravel_multi_index(one, shape)) for one in (u, v))))
    found = edges_of(str(grid))
    assert len(found) == len(set(found)) == grid.draws
    assert {tuple(sorted(pair)) for pair in found} == expected


def test_a_road_network_is_planar_connected_long_and_has_the_degrees_that_are_said():
    for degree, shares in ((2.4, (0.13, 0.42, 0.38, 0.07)), (2.8, (0.05, 0.29, 0.46, 0.20))):
        height, width = 120, 150
        graph = nx.Graph(edges_of(f"road:shape={height}x{width},degree={degree}"))
        e = degree / 2 - 1
        of_two = [((1 - e) / 2) ** 2, 2 * (1 - e) / 2 * (1 + e) / 2, ((1 + e) / 2) ** 2]
        law = np.convolve([1 - e, e], of_two)
        inner = [graph.degree(y * width + x) for y in range(1, height - 1, 2) for x in range(1, width - 1, 2)]
        assert chisquare(np.bincount(inner, minlength=5)[1:], law * len(inner)).pvalue > 1e-4
        assert [round(share, 2) for share in law] == pytest.approx(shares, abs=0.01)
        depths = nx.single_source_shortest_path_length(graph, 0)
        assert all(depths[y * width + x] == y + x for y in range(height) for x in range(width))  # and all are reached
        longest = max(nx.single_source_shortest_path_length(graph, width - 1).values())
        mean = 2 * graph.number_of_edges() / graph.number_of_nodes()
        print(f"mean degree {mean:.3f}, shares of degrees 1 to 4 {law.round(2)}, {longest} edges across")
        assert mean == pytest.approx(degree, abs=0.03)
        assert height + width - 2 <= longest <= 2 * (height + width - 2)
        assert nx.check_planarity(graph)[0]
    tree = nx.Graph(edges_of("road:shape=30x40,degree=2"))
    assert nx.is_tree(tree)
    lattice = nx.Graph(edges_of("road:shape=30x40,degree=4"))
    assert lattice.number_of_edges() == Grid(shape=Shape((30, 40))).draws


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("given", ["degree=8", "radius=0.7", "radius=0.0312500001", "degree=0.5", ""])
def test_points_are_joined_if_and_only_if_they_are_near(dimensions, given):
    rgg = parse_spec(f"rgg:vertices=500,dimensions={dimensions},{given}")
    firsts, level = points_of_cells(rgg), rgg.level
    points = np.empty((500, dimensions))
    for cell, (first, last) in enumerate(itertools.pairwise(firsts.tolist())):
        for point in range(first, last):
            words = philox((0, 5, point, 0), (1, 0))
            for axis in range(dimensions):
                points[point, axis] = ((cell >> level * axis) % 2**level + words[axis] / 2**32) / 2**level
    near = np.linalg.norm(points[:, None] - points[None], axis=2) < rgg.reach
    expected = set(zip(*map(np.ndarray.tolist, np.nonzero(np.triu(near, 1))), strict=True))
    found = edges_of(str(rgg))
    assert len(found) == len(set(found))
    assert set(found) == expected


@pytest.mark.parametrize("dimensions", [2, 3])
def test_points_are_in_all_cells_alike(dimensions):
    cells, counts = 1 << 2 * dimensions, []
    for seed in range(40):
        rgg = Rgg(vertices=1000, radius=0.2, dimensions=dimensions, seed=seed)
        counts.append(np.diff(points_of_cells(rgg)))
        assert counts[-1].sum() == 1000
    assert chisquare(np.sum(counts, axis=0), [40 * 1000 / cells] * cells).pvalue > 1e-4
    spread = ((np.array(counts) - 1000 / cells) ** 2 / (1000 / cells)).sum()  # of a multinomial: chi-square each
    assert abs(spread - 40 * (cells - 1)) < 5 * math.sqrt(2 * 40 * (cells - 1))


def test_the_default_radius_gives_the_edges_of_dimacs10():
    assert parse_spec("rgg:vertices=16777216").draws == pytest.approx(132_557_200, rel=0.001)


@pytest.mark.parametrize("factor", [1, 2])
def test_new_vertices_draw_neighbors_by_their_degrees(factor):
    """All ways to draw the graph of four vertices, with their chances."""
    law = {((1, 0),) * factor: 1.0}
    for vertex in (2, 3):
        for known, chance in list(law.items()):
            del law[known]
            degrees = Counter(v for edge in known for v in edge)
            for ends in itertools.product(range(vertex), repeat=factor):
                share = math.prod(degrees[v] / (2 * len(known)) for v in ends)
                law[known + tuple((vertex, v) for v in ends)] = chance * share
    assert sum(law.values()) == pytest.approx(1)
    runs = 4000
    found = Counter(tuple(edges_of(f"ba:vertices=4,edge_factor={factor},seed={seed}")) for seed in range(runs))
    assert found.keys() <= law.keys()
    assert chisquare([found[one] for one in law], [runs * share for share in law.values()]).pvalue > 1e-4


def test_each_pair_of_a_block_model_has_its_chance():
    sbm = Sbm(vertices=7, blocks=3, inside=0.8, outside=2.0)
    block = [v * 3 // 7 for v in range(7)]
    runs, found = 3000, Counter()
    for seed in range(runs):
        edges = edges_of(str(Sbm(vertices=7, blocks=3, inside=0.8, outside=2.0, seed=seed)))
        assert len(edges) == len(set(edges))
        found.update(edges)
    tests = [
        binomtest(found[u, v], runs, sbm.chances[block[u] != block[v]]).pvalue
        for u, v in itertools.combinations(range(7), 2)
    ]
    assert min(tests) > 1e-4 / len(tests)
    assert found.keys() <= set(itertools.combinations(range(7), 2))


def test_chances_of_zero_and_one_are_kept():
    assert len(edges_of("sbm:vertices=50,blocks=1,inside=49,outside=0")) == 50 * 49 / 2
    inside = edges_of("sbm:vertices=60,blocks=4,inside=14,outside=0")
    assert len(inside) == 4 * 15 * 14 / 2
    assert all(u // 15 == v // 15 for u, v in inside)


def test_blocks_are_the_clusters_of_a_store(tmp_path):
    store = generate("sbm:vertices=1000,blocks=7,inside=3,outside=0.5", tmp_path / "g.zarr")
    assert store.clusters.count == 7
    assert store.vertices < 1000  # isolated ones are left out
    assert store.read_clusters().tolist() == [v * 7 // 1000 for v in store.original_ids(np.arange(store.vertices))]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("grid:shape=4", "grid: shape: expected two or three sizes of at least 1, such as 256x256"),
        ("grid:shape=2x9,periodic=1", "sizes of at least 3"),
        ("grid:shape=axb", "shape: expected sizes such as 256x256, found 'axb'"),
        ("grid:shape=1x1", "of 2 to 2.32 vertices, found 1x1"),
        ("grid:shape=-2x-3", "shape: expected"),
        ("grid:diagonals=3", "diagonals: expected 0, 1 or 2, found 3"),
        ("grid:scale=3", "no parameter 'scale'; there are"),
        ("road:degree=4.5", "road: degree: expected 2 .a tree. to 4"),
        ("road:shape=3x3x3", "expected two sizes"),
        ("rgg:radius=0", "radius: expected a number above 0, at most 2, found 0"),
        ("rgg:radius=nan", "radius: expected"),
        ("rgg:radius=0.1,degree=4", "expected a radius or a degree, and not both"),
        ("rgg:degree=1e-300", "degree: expected 1e-6 to vertices - 1"),
        ("rgg:dimensions=4", "dimensions: expected 2 or 3"),
        ("ba:vertices=1", "vertices: expected 2 to 2.32, found 1"),
        ("ba:edge_factor=0", "edge_factor: expected 1 to 255, found 0"),
        ("sbm:vertices=10,blocks=11", "blocks: expected 1 to the number of vertices, found 11"),
        ("sbm:vertices=10,blocks=5", "inside: expected 0 to 1, the others of a block, found 12"),
        ("sbm:blocks=1", "outside: expected 0 to 0, the others, found 4"),
        ("ba:weights=3", "ba: weights: expected 0, 1, 5 or a range"),
    ],
)
def test_a_wrong_spec_is_refused_by_name(spec, message):
    with pytest.raises(CsawError, match=message):
        parse_spec(spec)
