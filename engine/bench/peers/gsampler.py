"""gSampler (Gong et al., SOSP 2023) on a GPU: uniform walks by its Python package, gs.

Its generators start from one seed, so that every call draws the same walks. Its node2vec draws from another law, and
its neighbors of a hop are drawn for all vertices so far, as a part of training.
"""

DEVICES = ("cuda",)
WORKS = ("uniform walk",)


class Tool:
    def __init__(self, how, graph):
        import gs
        import numpy as np
        import torch

        csr, device = graph(), how["device"]
        rows, columns = (torch.from_numpy(csr[name].astype(np.int64)).to(device) for name in ("indptr", "indices"))
        self.matrix, self.length = gs.matrix_api.Matrix(), how["length"]
        self.matrix.load_graph("CSC", [rows, columns])  # it walks along columns, which these rows are to it
        self.starts = torch.arange(rows.numel() - 1, device=device).repeat(how["rounds"])
        self.synchronize = torch.cuda.synchronize if device != "cpu" else lambda: None

    def draw(self):
        """Walks step by step, all of a step one after the other, whatever the shape says that they come in."""
        paths = self.matrix.random_walk(self.starts, self.length)
        self.synchronize()
        return [paths.reshape(self.length + 1, -1).T]

    def walks(self, drawn):
        (walks,) = drawn
        return walks.cpu().numpy()
