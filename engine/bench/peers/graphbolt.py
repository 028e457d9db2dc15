"""GraphBolt, the loaders of DGL since 2.0: its NeighborSampler, one mini-batch after the other.

It has threads for each step of a mini-batch. Each hop draws for all vertices so far, those that have drawn before, too.
"""

WORKS = ("mini-batches 25 x 10",)


class Tool:
    def __init__(self, how, graph):
        import numpy as np
        import torch
        from dgl import graphbolt

        torch.set_num_threads(how["threads"])
        csr = graph()
        rows, columns = (torch.from_numpy(csr[name].astype(np.int64)) for name in ("indptr", "indices"))
        seeds = graphbolt.ItemSet(torch.tensor(how["listed"]), names="seed_nodes")
        batches = graphbolt.ItemSampler(seeds, batch_size=how["together"])
        of_hops = list(reversed(how["fanout"]))  # the last is drawn first
        self.loader = batches.sample_neighbor(graphbolt.fused_csc_sampling_graph(rows, columns), of_hops)

    def draw(self):
        return [hop for batch in self.loader for hop in batch.sampled_subgraphs]

    def edges(self, hops):
        return sum(hop.sampled_csc.indices.numel() for hop in hops)

    def walks(self, hops):
        import numpy as np

        return np.concatenate([self.pairs(hop) for hop in hops])

    def pairs(self, hop):
        """(vertex, the neighbor that it selected)."""
        import torch

        drawn = hop.sampled_csc
        vertices = hop.original_column_node_ids.repeat_interleave(drawn.indptr.diff())
        return torch.stack([vertices, hop.original_row_node_ids[drawn.indices]], 1).numpy()
