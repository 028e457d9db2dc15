"""networkit (Staudt, Sazonovs and Meyerhenke, Network Science 4(4), 2016)."""

WORKS = (
    "triangles",
    "triangles of each vertex",
    "components",
    "BFS, a source",
    "PageRank",
    "core numbers",
)


class Tool:
    def __init__(self, how, graph):
        import networkit
        import numpy as np

        networkit.setNumberOfThreads(how["threads"])
        with np.load(how["folder"] + "/ends.npz") as ends:
            pairs = (ends["source"], ends["target"])
        self.kit, self.how = networkit, how
        self.graph = networkit.GraphFromCoo(pairs, n=how["vertices"], directed=how["directed"])
        if how["work"] == "triangles":
            self.graph.indexEdges()
        if how["work"] == "core numbers":
            self.graph.removeSelfLoops()
        works = (self.triangles, self.clustering, self.components, self.search, self.pagerank, self.cores)
        self.draw = dict(zip(WORKS, works, strict=True))[how["work"]]

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
