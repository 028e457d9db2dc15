"""torch-sparse, what PyG's NeighborLoader draws with; 1,024 sources at a time, as in a training loop."""

WORKS = ("neighbors 25 x 10",)


class Tool:
    def __init__(self, how, graph):
        import numpy as np
        import torch
        import torch_sparse  # noqa: F401

        torch.set_num_threads(how["threads"])
        csr = graph()
        self.rows, self.columns = (torch.from_numpy(csr[name].astype(np.int64)) for name in ("indptr", "indices"))
        self.seeds, self.how = torch.tensor(how["listed"]).split(how["together"]), how
        self.sample = torch.ops.torch_sparse.neighbor_sample

    def draw(self):
        import torch

        found = [self.sample(self.rows, self.columns, seeds, self.how["fanout"], False, True) for seeds in self.seeds]
        return [torch.stack([ids[to], ids[at]], 1) for ids, at, to, _ in found]
