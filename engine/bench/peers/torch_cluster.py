"""torch-cluster, what PyG's Node2Vec walks with. It has no weights."""

WORKS = ("uniform walk", "node2vec p=2 q=.5", "node2vec p=.25 q=4")


class Tool:
    def __init__(self, how, graph):
        import numpy as np
        import torch
        import torch_cluster  # noqa: F401

        torch.set_num_threads(how["threads"])
        csr = graph()
        self.rows, self.columns = (torch.from_numpy(csr[name].astype(np.int64)) for name in ("indptr", "indices"))
        self.how = how["length"], how.get("p", 1.0), how.get("q", 1.0)
        self.starts = torch.arange(self.rows.numel() - 1).repeat(how["rounds"])
        self.walk = torch.ops.torch_cluster.random_walk

    def draw(self):
        return [self.walk(self.rows, self.columns, self.starts, *self.how)[0]]
