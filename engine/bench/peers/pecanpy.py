"""PecanPy (Liu and Krishnan, Bioinformatics 2021), with transition probabilities computed on the way."""

WORKS = ("uniform walk", "node2vec p=2 q=.5", "weighted walk", "node2vec p=.25 q=4")


class Tool:
    def __init__(self, how, graph):
        import numpy as np
        from pecanpy import pecanpy

        csr = graph()
        self.how, weights = how, csr["weights"] if how.get("weighted") else np.ones(csr["indices"].size, np.float32)
        self.graph = pecanpy.SparseOTF(p=how.get("p", 1.0), q=how.get("q", 1.0), workers=how["threads"], verbose=False)
        self.graph.set_node_ids([str(v) for v in range(csr["indptr"].size - 1)])
        self.graph.indptr, self.graph.indices, self.graph.data = (
            csr["indptr"].astype(np.uint32),
            csr["indices"],
            weights,
        )

    def draw(self):
        return self.graph.simulate_walks(self.how["rounds"], self.how["length"])

    def edges(self, walks):
        return sum(len(walk) - 1 for walk in walks)

    def walks(self, walks):
        import numpy as np

        return np.array(walks, dtype=np.int64)
