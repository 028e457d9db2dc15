"""DGL (Wang et al., 2019); neighbors of 1,024 sources at a time, as in a training loop.

Its loaders since 2.0 are GraphBolt's, which is a peer of its own. On a GPU its graph and its samples are there; it has
node2vec on the CPU alone.
"""

DEVICES = ("cpu", "cuda")
ON_GPU = ("uniform walk", "weighted walk", "neighbors 25 x 10", "walk by degree 4000 x 2000")
WORKS = (*ON_GPU, "node2vec p=2 q=.5", "node2vec p=.25 q=4")


class Tool:
    def __init__(self, how, graph):
        import dgl
        import numpy as np
        import torch

        torch.set_num_threads(how["threads"])
        csr = graph()
        self.dgl, self.torch, self.how = dgl, torch, how
        self.graph = dgl.graph(("csr", (csr["indptr"].astype(np.int64), csr["indices"].astype(np.int64), [])))
        if how.get("weighted"):
            self.graph.edata["weight"] = torch.from_numpy(csr["weights"])
        self.graph, listed = self.graph.to(how["device"]), torch.tensor(how["listed"], device=how["device"])
        self.seeds = listed.split(how["together"])
        every = torch.arange(self.graph.num_nodes(), device=how["device"]).repeat(how["rounds"])
        self.starts = listed[: how["walks"]] if "walks" in how else every

    def draw(self):
        drawn = self.sample()
        if self.how["device"] != "cpu":
            self.torch.cuda.synchronize()
        return drawn

    def sample(self):
        how, sampling = self.how, self.dgl.sampling
        if "fanout" in how:
            return [pairs for seeds in self.seeds for pairs in self.hops(seeds)]
        if "p" in how:
            return [sampling.node2vec_random_walk(self.graph, self.starts, how["p"], how["q"], how["length"])]
        prob = "weight" if how.get("weighted") else None
        return [sampling.random_walk(self.graph, self.starts, length=how["length"], prob=prob)[0]]

    def hops(self, seeds):
        for size in self.how["fanout"]:
            src, seeds = self.dgl.sampling.sample_neighbors(self.graph, seeds, size, edge_dir="out").edges()
            yield self.torch.stack([src, seeds], 1)
            seeds = seeds.unique()

    def walks(self, drawn):
        return self.torch.cat([each.cpu() for each in drawn]).numpy()
