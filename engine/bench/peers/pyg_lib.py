"""pyg-lib, what PyG's NeighborLoader draws with if it is there.

A thread draws a mini-batch, and each thread has its own.
"""

WORKS = ("uniform walk", "mini-batches 25 x 10")


class Tool:
    def __init__(self, how, graph):
        from concurrent.futures import ThreadPoolExecutor

        import numpy as np
        import pyg_lib
        import torch

        torch.set_num_threads(how["threads"])
        csr = graph()
        self.rows, self.columns = (torch.from_numpy(csr[name].astype(np.int64)) for name in ("indptr", "indices"))
        self.seeds, self.how = torch.tensor(how["listed"]).split(how["together"]), how
        self.starts = torch.arange(self.rows.numel() - 1).repeat(how["rounds"])
        self.sampler, self.threads = pyg_lib.sampler, ThreadPoolExecutor(how["threads"])

    def draw(self):
        if "fanout" in self.how:
            return list(self.threads.map(self.batch, self.seeds))
        return [self.sampler.random_walk(self.rows, self.columns, self.starts, self.how["length"])]

    def batch(self, seeds):
        """(vertex, the neighbor that it selected) of a mini-batch."""
        import torch

        of, to, ids, *_ = self.sampler.neighbor_sample(self.rows, self.columns, seeds, self.how["fanout"])
        return torch.stack([ids[of], ids[to]], 1)
