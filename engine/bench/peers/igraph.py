"""igraph (Csardi and Nepusz, 2006): one walk a call."""

WORKS = ("uniform walk", "weighted walk", "walk by degree 4000 x 2000")


class Tool:
    def __init__(self, how, graph):
        import igraph
        import numpy as np

        csr = graph()
        src = np.repeat(np.arange(csr["indptr"].size - 1), np.diff(csr["indptr"]))
        by_degree = "by_degree" in how  # weights that differ in the directions of an edge
        once = np.ones(src.size, bool) if by_degree else src <= csr["indices"]
        edges = np.column_stack([src[once], csr["indices"][once]])
        self.graph = igraph.Graph(n=csr["indptr"].size - 1, edges=edges, directed=by_degree)
        self.weights = csr["weights"][once].tolist() if how.get("weighted") else None
        self.how = how

    def draw(self):
        length, weights = self.how["length"], self.weights
        every = list(range(self.graph.vcount())) * self.how["rounds"]
        starts = self.how["listed"][: self.how["walks"]] if "walks" in self.how else every
        return [self.graph.random_walk(v, length, weights=weights) for v in starts]

    def edges(self, walks):
        return sum(len(walk) - 1 for walk in walks)

    def walks(self, walks):
        import numpy as np

        return np.array(walks, dtype=np.int64)
