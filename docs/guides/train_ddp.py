"""Train GraphSAGE on all GPUs of a machine, or on CPUs if it has none.

torchrun --nproc-per-node 2 train_ddp.py
"""

import argparse
import hashlib
import os

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv

from csaw.engine.loaders import NeighborLoader

VERTICES, COMMUNITIES, EDGES = 4000, 8, 24000


class Sage(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv(16, 64), SAGEConv(64, COMMUNITIES)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def graph():
    """A graph of communities, the same in every process, and its vertices for training and for testing."""
    rng = np.random.default_rng(0)
    labels = np.arange(VERTICES) % COMMUNITIES
    source = rng.integers(0, VERTICES, EDGES)
    inside = source % COMMUNITIES + COMMUNITIES * rng.integers(0, VERTICES // COMMUNITIES, EDGES)
    target = np.where(rng.random(EDGES) < 2 / 3, inside, rng.integers(0, VERTICES, EDGES))
    features = np.eye(16)[labels] + 0.8 * rng.standard_normal((VERTICES, 16))
    data = Data(
        x=torch.from_numpy(features).float(),
        y=torch.from_numpy(labels),
        edge_index=torch.from_numpy(np.stack([np.r_[source, target], np.r_[target, source]])),
    )
    split = torch.from_numpy(rng.permutation(VERTICES))
    return data, split[:400], split[2000:]


def train_epoch(model, optimizer, loader, device):
    """Train on this process's share of an epoch; return the seeds of its mini-batches, in order."""
    model.train()
    seeds = []
    with model.join():  # a process that has one mini-batch fewer takes part in the last step of the others
        for batch in loader:
            seeds.append(batch.input_id.cpu().numpy())
            batch = batch.to(device)
            optimizer.zero_grad()
            out = model(batch.x, batch.edge_index)[: batch.batch_size]
            cross_entropy(out, batch.y[: batch.batch_size]).backward()
            optimizer.step()
    return seeds


def report(epoch, seeds):
    """Print how the processes divided the epoch, and a digest of all seeds in order."""
    shares = [None] * dist.get_world_size()
    dist.all_gather_object(shares, seeds)  # after join(): inside it, processes may make different numbers of calls
    if dist.get_rank() == 0:
        order = np.concatenate([one for share in shares for one in share])
        digest = hashlib.sha256(order.tobytes()).hexdigest()[:12]
        print(
            f"epoch {epoch}: mini-batches {[len(share) for share in shares]}, {order.size} seeds {digest}", flush=True
        )


def accuracy(model, data, test, device):
    """On the vertices for testing, with all of their neighbors."""
    model.eval()
    with torch.no_grad():
        out = model(data.x.to(device), data.edge_index.to(device)).argmax(1).cpu()
    return float((out == data.y)[test].float().mean())


def train(device, epochs, seed):
    """Train a model, and print its accuracy."""
    data, seeds, test = graph()
    torch.manual_seed(seed)
    model = DistributedDataParallel(Sage().to(device), device_ids=[device.index] if device.type == "cuda" else None)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    loader = NeighborLoader(
        data,
        [10, 5],
        input_nodes=seeds,
        batch_size=64,
        shuffle=True,
        seed=seed,
        rank=dist.get_rank(),
        world=dist.get_world_size(),
        device=str(device),
    )
    for epoch in range(epochs):
        report(epoch, train_epoch(model, optimizer, loader, device))
    loader.close()
    if dist.get_rank() == 0:
        print(f"accuracy {accuracy(model.module, data, test, device):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # torchrun sets it
        torch.cuda.set_device(device)
        dist.init_process_group("nccl")
    else:
        device = torch.device("cpu")
        dist.init_process_group("gloo")
    train(device, options.epochs, options.seed)
    dist.destroy_process_group()  # after train() has freed the model: with gloo, the other order may hang


if __name__ == "__main__":
    main()
