"""GraphSAINT's own sampler in Cython (Zeng et al., ICLR 2020).

Random walks begin at random roots, or of 100 walkers one moves at a time; a sample has all edges among their vertices.
"""

WORKS = ("GraphSAINT walks 3000 x 2", "MultiRW, 100 roots")


class Tool:
    def __init__(self, how, graph):
        import numpy as np
        from graphsaint.cython_sampler import MRW, RW

        csr = graph()
        vertices = np.arange(csr["indptr"].size - 1, dtype=np.int32)
        of_each = -(-how["subgraphs"] // how["threads"])
        rows, columns = (csr[name].astype(np.int32) for name in ("indptr", "indices"))
        drawn = rows, columns, vertices, how["threads"], of_each
        if "walkers" in how:  # its size counts walkers and steps; no degree is cut off
            degrees = np.diff(rows)
            size = how["walkers"] + how["steps"]
            self.sampler = MRW(*drawn, degrees, int(degrees.max()), how["walkers"], size)
        else:
            self.sampler = RW(*drawn, how["roots"], how["depth"])

    def draw(self):
        return self.sampler.par_sample()[1]

    def edges(self, drawn):
        return sum(map(len, drawn))
