"""igraph (Csardi and Nepusz, 2006): one walk a call."""

WORKS = ("uniform walk", "weighted walk")


class Tool:
    def __init__(self, how, graph):
        import igraph
        import numpy as np

        csr = graph()
        src = np.repeat(np.arange(csr["indptr"].size - 1), np.diff(csr["indptr"]))
        once = src <= csr["indices"]
        self.graph = igraph.Graph(n=csr["indptr"].size - 1, edges=np.column_stack([src[once], csr["indices"][once]]))
        self.weights = csr["weights"][once].tolist() if how.get("weighted") else None
        self.how = how

    def draw(self):
        starts, length, weights = range(self.graph.vcount()), self.how["length"], self.weights
        return [self.graph.random_walk(v, length, weights=weights) for _ in range(self.how["rounds"]) for v in starts]

    def edges(self, walks):
        return sum(len(walk) - 1 for walk in walks)

    def walks(self, walks):
        import numpy as np

        return np.array(walks, dtype=np.int64)
