"""Vectors for the vertices of a graph, learned from walks by SkipGram with negative sampling, in PyTorch.

python skipgram.py graph.zarr vectors.txt --walks walks.zarr learns from the walks of a sample.
python skipgram.py graph.zarr vectors.txt --p 1 --q 0.5 learns from node2vec walks that are drawn while it trains.

A GPU draws the walks and learns from them if there is one; walks do not leave it. A batch of walks is a few products of
matrices: the vectors of a walk times those of the same walk have the scores of all its pairs, so that no list of pairs
is made, and a vector is read once for each place of a walk. The negatives of a walk are shared by its pairs (Ji et al.,
IEEE TPDS 2019), and only vectors that a batch has met are changed.
"""

import argparse
import time

import numpy as np
import torch
from torch.nn.functional import logsigmoid
from torch.utils.data import DataLoader

import csaw
from csaw.engine.loaders import WalkDataset, WalkStream

STEPS, MOST = 500, 4096  # fewer batches learn less, and larger ones take more memory


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", help="graph store, as csaw partition writes it")
    parser.add_argument("out", help="vectors: .npz with ids and vectors, or else the text that gensim reads")
    parser.add_argument("--walks", help="sample store to learn from; without it, walks are drawn by the next options")
    parser.add_argument("--p", type=float, default=1.0)
    parser.add_argument("--q", type=float, default=1.0)
    parser.add_argument("--walk-length", type=int, default=80)
    parser.add_argument("--num-walks", type=int, default=10, help="from each vertex, in each epoch (default: 10)")
    parser.add_argument("--dim", type=int, default=128, help="numbers of a vector (default: 128)")
    parser.add_argument("--window", type=int, default=5, help="most steps between the two of a pair (default: 5)")
    parser.add_argument("--negatives", type=int, default=5, help="weight of negatives beside a pair (default: 5)")
    parser.add_argument("--shared", type=int, default=32, help="negatives that a walk draws (default: 32)")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument(
        "--batch", type=int, help=f"walks of a batch (default: those of {STEPS} batches, at most {MOST})"
    )
    parser.add_argument("--rate", type=float, default=0.02, help="learning rate, which falls to 0 (default: 0.02)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def batch_size(walks, given):
    return given.batch or min(max(1, walks * given.epochs // STEPS), MOST)


def epochs_of(store, given):
    """For each epoch its batches of walks, int64 [walks, steps + 1] of dense numbers, -1 after a dead end."""
    if given.walks:
        held = WalkDataset(given.walks, store)
        loader = DataLoader(held, batch_size(len(held), given), shuffle=True, collate_fn=torch.stack)
        yield from (loader for _ in range(given.epochs))
        return
    mixed = np.random.default_rng(given.seed).permutation(store.original_ids(np.arange(store.vertices)))
    walk = {name: getattr(given, name) for name in ("p", "q", "walk_length", "num_walks", "seed", "device")}
    size = batch_size(mixed.size * given.num_walks, given)
    stream = WalkStream(store, "node2vec", sources=mixed, walks_per_batch=size, on_device=given.device != "cpu", **walk)
    for epoch in range(given.epochs):
        stream.set_epoch(epoch)
        yield stream


class SkipGram(torch.nn.Module):
    """A vector for each vertex, and one for it as a context; pairs count less the farther apart, as in word2vec."""

    def __init__(self, degrees, given):
        super().__init__()
        self.vectors, self.contexts = (torch.nn.Embedding(degrees.size, given.dim, sparse=True) for _ in range(2))
        torch.nn.init.uniform_(self.vectors.weight, -0.5 / given.dim, 0.5 / given.dim)
        torch.nn.init.zeros_(self.contexts.weight)
        self.window, self.negatives, self.shared = given.window, given.negatives, given.shared
        self.register_buffer("noise", torch.from_numpy((degrees + 1.0) ** 0.75).cumsum(0))

    def forward(self, walks):
        place = torch.arange(walks.shape[1], device=walks.device)
        apart = (place[:, None] - place).abs()
        near = ((self.window + 1 - apart) / self.window).clamp(min=0).fill_diagonal_(0)
        alive, walks = walks >= 0, walks.clamp(min=0)
        share = near * alive[:, :, None] * alive[:, None, :]
        draws = torch.rand((len(walks), self.shared), dtype=torch.float64, device=walks.device) * self.noise[-1]
        drawn = torch.searchsorted(self.noise, draws).clamp_(max=self.noise.numel() - 1)
        at = self.vectors(walks)
        likely = (logsigmoid(at @ self.contexts(walks).mT) * share).sum()
        unlikely = (logsigmoid(-at @ self.contexts(drawn).mT).mean(2) * share.sum(2)).sum()
        return -(likely + self.negatives * unlikely) / len(walks)


def train(store, given):
    """The vectors, float32 [vertices, dim]."""
    torch.manual_seed(given.seed)
    torch.set_float32_matmul_precision("high")
    model = SkipGram(np.diff(store.read_indptr()), given).to(given.device)
    optimizer = torch.optim.SparseAdam(model.parameters(), lr=given.rate)
    began, steps = time.perf_counter(), 0
    for epoch, batches in enumerate(epochs_of(store, given)):
        for number, walks in enumerate(batches):
            optimizer.param_groups[0]["lr"] = given.rate * (1 - (epoch + number / len(batches)) / given.epochs)
            loss = model(walks.to(given.device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += walks.numel()
    vectors = model.vectors.weight.detach().cpu().numpy()  # waits for the GPU
    print(f"{steps / (time.perf_counter() - began):,.0f} vertices of walks a second on {given.device}")
    return vectors


def write(out, ids, vectors):
    if out.endswith(".npz"):
        np.savez(out, ids=ids.astype(str) if ids.dtype == object else ids, vectors=vectors)
        return
    with open(out, "w") as text:
        text.write(f"{len(ids)} {vectors.shape[1]}\n")
        rows = zip(ids.tolist(), vectors.tolist(), strict=True)
        text.writelines(f"{name} {' '.join(f'{number:.6g}' for number in vector)}\n" for name, vector in rows)


def main():
    given = options()
    store = csaw.open_graph(given.graph)
    write(given.out, store.original_ids(np.arange(store.vertices)), train(store, given))


if __name__ == "__main__":
    main()
