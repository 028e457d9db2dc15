"""pyg-lib, what PyG's NeighborLoader draws with if it is there.

A thread draws a mini-batch, and each thread has its own. On a GPU it has walks alone, with the graph
and the samples there.
"""

DEVICES = ("cpu", "cuda")
ON_GPU = ("uniform walk",)
WORKS = ("uniform walk", "mini-batches 25 x 10")


class Tool:
    def __init__(self, how, graph):
        from concurrent.futures import ThreadPoolExecutor

        import numpy as np
        import pyg_lib
        import torch

        torch.set_num_threads(how["threads"])
        csr = graph()
        there = [torch.from_numpy(csr[name].astype(np.int64)).to(how["device"]) for name in ("indptr", "indices")]
        self.rows, self.columns = there
        self.seeds, self.how = torch.tensor(how["listed"]).split(how["together"]), how
        self.starts = torch.arange(self.rows.numel() - 1, device=how["device"]).repeat(how["rounds"])
        self.synchronize = torch.cuda.synchronize
        self.sampler, self.threads = pyg_lib.sampler, ThreadPoolExecutor(how["threads"])

    def draw(self):
        if "fanout" in self.how:
            return list(self.threads.map(self.batch, self.seeds))
        drawn = [self.sampler.random_walk(self.rows, self.columns, self.starts, self.how["length"])]
        if self.how["device"] != "cpu":
            self.synchronize()
        return drawn

    def walks(self, drawn):
        import numpy as np

        return np.concatenate([each.cpu().numpy() for each in drawn])

    def batch(self, seeds):
        """(vertex, the neighbor that it selected) of a mini-batch."""
        import torch

        of, to, ids, *_ = self.sampler.neighbor_sample(self.rows, self.columns, seeds, self.how["fanout"])
        return torch.stack([ids[of], ids[to]], 1)
