"""Libraries that measure networks beside csaw do what csaw does, by an interpreter of their own or by csaw's."""

import sys

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from helpers.bench import GRAPH
from helpers.machine import need_package

from csaw.cli.main import cli
from csaw.engine.bench import network_peers, peer_loop
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import given

NETWORKIT = """
from types import SimpleNamespace as Some

def setNumberOfThreads(count):
    assert count == 2

class GraphFromCoo:
    def __init__(self, pairs, n, directed):
        assert (pairs[0].size, n, directed) == (pairs[1].size, VERTICES, False)
    def indexEdges(self): self.indexed = True
    def removeSelfLoops(self): self.simple = True

class Run:
    def __init__(self, graph, *more, **how): self.graph, self.more, self.how = graph, more, how
    def run(self): return self

class Edges(Run):
    def run(self): assert self.graph.indexed

class Cores(Run):
    def run(self): assert self.graph.simple

class Search(Run):
    def run(self): assert self.more[0] in (0, 1) and self.how == {"storePaths": False}

class Ranks(Run):
    def run(self): assert (self.norm, self.more) == ("L1", (0.85, 1e-4))

components, distance = Some(ConnectedComponents=Run), Some(BFS=Search)
sparsification = Some(TriangleEdgeScore=Edges)
centrality = Some(LocalClusteringCoefficient=Run, PageRank=Ranks, CoreDecomposition=Cores, Norm=Some(L1_NORM="L1"))
"""


def test_igraph_finds_what_networkx_finds(tmp_path):
    need_package("igraph")
    one = nx.gnp_random_graph(30, 0.15, seed=1)
    source, target = np.array(one.edges).T
    np.savez(tmp_path / "ends.npz", source=source, target=target)
    how = {"folder": str(tmp_path), "vertices": 30, "directed": False, "sources": [3], "damping": 0.85}

    def found(work):
        return peer_loop.open_tool(str(network_peers.FILE), "igraph", how | {"work": work}).draw()

    assert found("triangles") == pytest.approx(nx.transitivity(one))
    clustering = np.nan_to_num(found("triangles of each vertex"))
    assert clustering == pytest.approx(list(nx.clustering(one).values()))
    assert len(found("components")) == nx.number_connected_components(one)
    distances = nx.single_source_shortest_path_length(one, 3)
    assert found("BFS, a source")[0][0] == [distances.get(v, float("inf")) for v in one]
    assert found("PageRank") == pytest.approx(list(nx.pagerank(one, tol=1e-12).values()), abs=1e-6)
    assert found("core numbers") == list(nx.core_number(one).values())
    assert found("assortativity") == pytest.approx(nx.degree_assortativity_coefficient(one))


@pytest.fixture
def graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return given(GRAPH).open(None)


def measured(graph, python, tmp_path, works=("components",)):
    context = Context([], (), 2, 2, peers={"networkit": str(python)}, only="networkit", out=tmp_path)
    how = {"sources": [0, 1], "damping": 0.85, "tolerance": 1e-4}
    return list(network_peers.measured(context, graph.store.load(), works, directed=False, **how))


def test_an_interpreter_that_is_named_does_the_works(graph, tmp_path):
    (tmp_path / "networkit.py").write_text(NETWORKIT.replace("VERTICES", str(graph.store.vertices)))
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    works = ("triangles", "triangles of each vertex", "components", "BFS, a source", "PageRank", "core numbers", "none")
    found = measured(graph, python, tmp_path, works)
    assert [row for row, _ in found] == [
        {"work": f"{work}, networkit", "peer": "networkit", "ran_on": "cpu"} for work in works if work != "none"
    ]
    assert all(len(seconds) == 2 and min(seconds) > 0 for _, seconds in found)


@pytest.mark.parametrize(
    ("python", "why"),
    [
        ("/nowhere/python", "/nowhere/python cannot be run: No such file or directory"),
        ("false", "it ended with status"),
    ],
)
def test_a_library_that_cannot_run_is_a_gap(graph, tmp_path, python, why):
    [(row, seconds)] = measured(graph, python, tmp_path)
    assert seconds == []
    assert row["not_measured"].startswith(why)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--suite traversal --peer foo=python", "--peer foo: no such peer; there are igraph, networkit"),
        (
            "--suite walks --peer networkit=python",
            "--peer networkit: walks measures no peers; use --suite ranking or ",
        ),
        ("--suite ranking --peer grouptc=x", "there are igraph, networkit; use --suite triangles"),
    ],
)
def test_a_peer_that_no_suite_measures_is_refused(line, said):
    done = CliRunner().invoke(cli, ["bench", GRAPH, "--quick", "--device", "cpu", *line.split()])
    assert done.exit_code == 1
    assert said in str(done.exception)
