"""Libraries that measure networks: igraph and networkit."""

import numpy as np

TRIANGLES, OF_EACH, COMPONENTS, BFS = "triangles", "triangles of each vertex", "components", "BFS, a source"
PAGERANK, CORES, ASSORTATIVITY = "PageRank", "core numbers", "assortativity"


def ends_of(how):
    """Both ends of each edge, of an undirected one once."""
    with np.load(how["folder"] + "/ends.npz") as ends:
        return ends["source"], ends["target"]


class IGraph:
    """igraph (Csardi and Nepusz, 2006)."""

    works = (TRIANGLES, OF_EACH, COMPONENTS, BFS, PAGERANK, CORES, ASSORTATIVITY)

    def __init__(self, how, graph):
        import igraph

        one = igraph.Graph(how["vertices"], np.stack(ends_of(how), axis=1), directed=how["directed"])
        calls = (
            one.transitivity_undirected,
            one.transitivity_local_undirected,
            lambda: one.connected_components(mode="weak"),
            lambda: [one.distances(source, mode="out") for source in how["sources"]],
            lambda: one.pagerank(damping=how["damping"]),
            one.coreness,
            one.assortativity_degree,
        )
        self.draw = dict(zip(self.works, calls, strict=True))[how["work"]]

    def edges(self, done):
        return 1


class Networkit:
    """networkit (Staudt, Sazonovs and Meyerhenke, Network Science 4(4), 2016)."""

    works = (TRIANGLES, OF_EACH, COMPONENTS, BFS, PAGERANK, CORES)

    def __init__(self, how, graph):
        import networkit

        networkit.setNumberOfThreads(how["threads"])
        self.kit, self.how = networkit, how
        self.graph = networkit.GraphFromCoo(ends_of(how), n=how["vertices"], directed=how["directed"])
        if how["work"] == TRIANGLES:
            self.graph.indexEdges()
        if how["work"] == CORES:
            self.graph.removeSelfLoops()
        calls = (self.triangles, self.clustering, self.components, self.search, self.pagerank, self.cores)
        self.draw = dict(zip(self.works, calls, strict=True))[how["work"]]

    def triangles(self):
        return self.kit.sparsification.TriangleEdgeScore(self.graph).run()

    def clustering(self):
        return self.kit.centrality.LocalClusteringCoefficient(self.graph, True).run()

    def components(self):
        found = self.kit.components
        kind = found.WeaklyConnectedComponents if self.how["directed"] else found.ConnectedComponents
        return kind(self.graph).run()

    def search(self):
        return [self.kit.distance.BFS(self.graph, v, storePaths=False).run() for v in self.how["sources"]]

    def pagerank(self):
        ranks = self.kit.centrality.PageRank(self.graph, self.how["damping"], self.how["tolerance"])
        ranks.norm = self.kit.centrality.Norm.L1_NORM
        return ranks.run()

    def cores(self):
        return self.kit.centrality.CoreDecomposition(self.graph).run()

    def edges(self, done):
        return 1


TOOLS: dict = {"igraph": IGraph, "networkit": Networkit}
