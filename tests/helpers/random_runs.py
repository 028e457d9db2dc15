"""Runs drawn at random: a graph, an algorithm with its options, and ways to carry it out that must change no byte."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from csaw.partition import write_graph

PQ = (0.25, 0.5, 1.0, 2.0, 4.0)
WALKS = ("deepwalk", "biased", "node2vec", "metropolis-hastings", "jump", "restart", "ppr")
# Options of an algorithm by its name, as functions of a generator and of the number of vertices. Second-order walks are
# drawn more often than others.
OPTIONS = {
    "deepwalk": lambda rng, n: {"walk_length": int(rng.integers(1, 16))},
    "biased": lambda rng, n: {"walk_length": int(rng.integers(1, 16)), "bias": str(rng.choice(["degree", "none"]))},
    "node2vec": lambda rng, n: _node2vec(rng),
    "metropolis-hastings": lambda rng, n: {"walk_length": int(rng.integers(1, 16))},
    "jump": lambda rng, n: {"walk_length": int(rng.integers(1, 16)), "jump_prob": float(rng.random())},
    "restart": lambda rng, n: {"walk_length": int(rng.integers(1, 16)), "restart_prob": float(rng.random())},
    "ppr": lambda rng, n: {"walk_length": int(rng.integers(1, 16)), "termination_prob": float(rng.random())},
    "multidimensional": lambda rng, n: {
        "walk_length": int(rng.integers(1, 30)),
        "frontier_size": int(rng.integers(1, 6)),
    },
    "neighbor": lambda rng, n: {
        "fanout": tuple(rng.integers(1, 6, int(rng.integers(1, 4))).tolist()),
        "replace": bool(rng.random() < 0.5),
        "bias": str(rng.choice(["degree", "none"])),
    },
    "forest-fire": lambda rng, n: {"burn_prob": float(rng.random() * 0.8), "depth": int(rng.integers(1, 4))},
    "snowball": lambda rng, n: {"depth": int(rng.integers(1, 3)), "neighbor_size": int(rng.integers(-1, 6))},
    "layer": lambda rng, n: {
        "depth": int(rng.integers(1, 4)),
        "neighbor_size": int(rng.integers(1, 8)),
        "frontier_size": min(int(rng.integers(1, 4)), n),
    },
    "random-node": lambda rng, n: {"frontier_size": int(rng.integers(1, min(n, 30)))},
    "random-edge": lambda rng, n: {"neighbor_size": int(rng.integers(1, 30))},
    "links": lambda rng, n: {
        "num_negatives": int(rng.integers(1, 9)),
        "negative_bias": str(rng.choice(["none", "degree"])),
        "allow_self": bool(rng.random() < 0.5),
        "skip_full": True,
    },
}
ALGORITHMS = (*OPTIONS, "node2vec", "node2vec", "node2vec", "deepwalk", "neighbor")


@dataclass(frozen=True)
class RandomRun:
    """A run that ``number`` determines. ``wanted``: options that decide the sample. ``ways``: options that must not."""

    number: int
    algo: str
    wanted: dict[str, Any]
    ways: dict[str, Any]
    spare: float  # memory beyond the least, as a share of what the whole graph would take
    rows_cost: bool  # whether a row that is read by itself costs more than its bytes


def drawn_run(number, folder):
    """The store and the run of this number."""
    rng = np.random.default_rng([19, number])
    store = _graph(folder / "g.zarr", rng)
    algo = str(rng.choice(ALGORITHMS))
    wanted = OPTIONS[algo](rng, store.vertices) | {
        "seed": int(rng.integers(1 << 40)),
        "instances": int(rng.integers(1, 120)),
        "weighted": bool(store.weighted and rng.random() < 0.7),
    }
    ways = {
        "in_flight": int(rng.integers(1, wanted["instances"] + 1)),
        "threads": int(rng.integers(1, 4)),
        "in_place": bool(rng.random() < 0.5),
        "workload_aware": bool(rng.random() < 0.8),
    }
    return store, RandomRun(number, algo, wanted, ways, float(rng.random() ** 2), bool(rng.random() < 0.3))


def _node2vec(rng):
    options = {"walk_length": int(rng.integers(1, 12)), "p": float(rng.choice(PQ)), "q": float(rng.choice(PQ))}
    return options | ({"select": "its"} if rng.random() < 0.2 else {})


def _graph(path, rng):
    """A graph with hubs, self loops, repeated edges, dead ends, isolated vertices and weights of zero, in up to twelve
    partitions.
    """
    vertices, edges = int(rng.integers(2, 500)), int(rng.integers(1, 6000))
    ends = (rng.random((edges, 2)) ** rng.uniform(1, 3) * vertices).astype(np.int64)
    ends = ends if rng.random() < 0.3 else np.unique(ends, axis=0)
    directed, weights = bool(rng.random() < 0.4), rng.integers(0, 64, len(ends)) / 8
    if not directed:
        loops = ends[:, 0] == ends[:, 1]
        weights = np.concatenate([weights, weights[~loops]])
        ends = np.concatenate([ends, ends[~loops, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    indptr = np.concatenate([[0], np.bincount(ends[:, 0], minlength=vertices).cumsum()])
    return write_graph(
        path,
        indptr,
        ends[order, 1].astype(np.uint32),
        weights[order].astype(np.float32) if rng.random() < 0.6 else None,
        directed=directed,
        partitions=int(rng.integers(1, 13)),
        compression=None if rng.random() < 0.7 else "lz4",
    )
