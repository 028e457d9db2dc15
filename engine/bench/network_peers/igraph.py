"""igraph (Csardi and Nepusz, 2006)."""

WORKS = (
    "triangles",
    "triangles of each vertex",
    "components",
    "BFS, a source",
    "PageRank",
    "core numbers",
    "assortativity",
)


class Tool:
    def __init__(self, how, graph):
        import igraph
        import numpy as np

        with np.load(how["folder"] + "/ends.npz") as ends:
            pairs = np.stack([ends["source"], ends["target"]], axis=1)
        one = igraph.Graph(how["vertices"], pairs, directed=how["directed"])
        works = (
            one.transitivity_undirected,
            one.transitivity_local_undirected,
            lambda: one.connected_components(mode="weak"),
            lambda: [one.distances(source, mode="out") for source in how["sources"]],
            lambda: one.pagerank(damping=how["damping"]),
            one.coreness,
            one.assortativity_degree,
        )
        self.draw = dict(zip(WORKS, works, strict=True))[how["work"]]

    def edges(self, done):
        return 1
