"""GraphSAINT's own sampler in Cython (Zeng et al., ICLR 2020).

Random walks begin at random roots; a sample has all edges among their vertices.
"""

WORKS = ("GraphSAINT walks 3000 x 2",)


class Tool:
    def __init__(self, how, graph):
        import numpy as np
        from graphsaint.cython_sampler import RW

        csr = graph()
        vertices = np.arange(csr["indptr"].size - 1, dtype=np.int32)
        of_each = -(-how["subgraphs"] // how["threads"])
        rows, columns = (csr[name].astype(np.int32) for name in ("indptr", "indices"))
        self.sampler = RW(rows, columns, vertices, how["threads"], of_each, how["roots"], how["depth"])

    def draw(self):
        return self.sampler.par_sample()[1]

    def edges(self, drawn):
        return sum(map(len, drawn))
