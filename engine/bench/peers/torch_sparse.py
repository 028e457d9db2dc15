"""torch-sparse, what PyG's NeighborLoader draws with where pyg-lib is missing; 1,024 sources at a time, as in training.

A thread draws a mini-batch, and each thread has its own.
"""

WORKS = ("neighbors 25 x 10", "mini-batches 25 x 10")


class Tool:
    def __init__(self, how, graph):
        from concurrent.futures import ThreadPoolExecutor

        import numpy as np
        import torch
        import torch_sparse  # noqa: F401

        torch.set_num_threads(how["threads"])
        csr = graph()
        self.rows, self.columns = (torch.from_numpy(csr[name].astype(np.int64)) for name in ("indptr", "indices"))
        self.seeds, self.how = torch.tensor(how["listed"]).split(how["together"]), how
        self.sample, self.threads = torch.ops.torch_sparse.neighbor_sample, ThreadPoolExecutor(how["threads"])

    def draw(self):
        return list(self.threads.map(self.batch, self.seeds))

    def batch(self, seeds):
        """(vertex, the neighbor that it selected) of a mini-batch."""
        import torch

        ids, at, to, _ = self.sample(self.rows, self.columns, seeds, self.how["fanout"], False, True)
        return torch.stack([ids[to], ids[at]], 1)
