"""cuGraph of RAPIDS on a GPU, by its own Python interface to the library (pylibcugraph).

All sources are drawn for in one call. Samples stay in the GPU's memory.
"""

DEVICES = ("cuda",)
WORKS = ("uniform walk", "weighted walk", "neighbors 25 x 10", "walk by degree 4000 x 2000")


class Tool:
    def __init__(self, how, graph):
        import cupy
        import numpy as np
        import pylibcugraph

        self.device = cupy.cuda.Device(int(how["device"].partition(":")[2] or 0))
        self.device.use()
        csr, self.how, self.library = graph(), how, pylibcugraph
        ends = np.repeat(np.arange(csr["indptr"].size - 1, dtype=np.int32), np.diff(csr["indptr"]))
        self.handle = pylibcugraph.ResourceHandle()
        self.graph = pylibcugraph.SGGraph(
            self.handle,
            pylibcugraph.GraphProperties(is_symmetric=not how.get("by_degree"), is_multigraph=False),
            cupy.asarray(ends),
            cupy.asarray(csr["indices"].astype(np.int32)),
            weight_array=cupy.asarray(csr["weights"].astype(np.float32)),
            store_transposed=False,
            renumber=False,
            do_expensive_check=False,
        )
        every = np.tile(np.arange(csr["indptr"].size - 1), how["rounds"])
        starts = how["listed"][: how.get("walks")] if "fanout" in how or "walks" in how else every
        self.starts = cupy.asarray(np.asarray(starts, np.int32))
        self.fanout = np.asarray(how.get("fanout", ()), np.int32)

    def draw(self):
        drawn = self.pairs() if "fanout" in self.how else self.paths()
        self.device.synchronize()
        return [drawn]

    def pairs(self):
        """(vertices, the neighbor that each selected)."""
        found = self.library.homogeneous_uniform_neighbor_sample(
            self.handle,
            self.graph,
            self.starts,
            None,
            self.fanout,
            with_replacement=False,
            do_expensive_check=False,
        )
        return found["majors"], found["minors"]

    def paths(self):
        """Walks, one after the other."""
        law = self.library.biased_random_walks if self.how.get("weighted") else self.library.uniform_random_walks
        return law(self.handle, self.graph, self.starts, self.how["length"])[0].reshape(self.starts.size, -1)

    def edges(self, drawn):
        (one,) = drawn
        return one[0].size if "fanout" in self.how else one.shape[0] * (one.shape[1] - 1)

    def walks(self, drawn):
        import cupy
        import numpy as np

        (one,) = drawn
        return np.column_stack([cupy.asnumpy(ends) for ends in one]) if "fanout" in self.how else cupy.asnumpy(one)
