"""What is measured: works by name, with the papers' parameters."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Work:
    """One line of a table: instances of an algorithm; ``goal`` in G sampled edges/s on an H200 with the graph of docs/benchmarks.md."""

    name: str
    algo: str
    instances: int
    options: dict[str, Any] = field(default_factory=dict)
    goal: float | None = None


MANY, LONG = 4_000_000, {"walk_length": 80}
WALKS = (
    Work("uniform walk", "deepwalk", MANY, {**LONG, "weighted": False}, 32),
    Work("weighted walk", "deepwalk", MANY, {**LONG, "weighted": True}, 30),
    Work(
        "uniform walk, 4000 x 2000",
        "deepwalk",
        4000,
        {"walk_length": 2000, "weighted": False, "layout": "entries"},
        5.8,
    ),
    Work("biased by degree, 4000 x 2000", "biased", 4000, {"walk_length": 2000, "weighted": False}),
    Work("node2vec p=2 q=.5", "node2vec", MANY, {**LONG, "p": 2.0, "q": 0.5, "weighted": False}, 17),
    Work("node2vec p=.5 q=2", "node2vec", MANY, {**LONG, "p": 0.5, "q": 2.0, "weighted": False}, 9),
    Work("node2vec p=.25 q=4", "node2vec", MANY, {**LONG, "p": 0.25, "q": 4.0, "weighted": False}, 5),
    Work("node2vec p=.25 q=4, weighted", "node2vec", MANY, {**LONG, "p": 0.25, "q": 4.0, "weighted": True}),
    Work("personalized PageRank", "ppr", MANY, {"walk_length": 100, "weighted": False}),
    Work("walk with jumps", "jump", MANY, {**LONG, "weighted": False}),
    Work("Metropolis-Hastings", "metropolis-hastings", MANY, {**LONG, "weighted": False}),
    Work(
        "multidimensional, frontier 2000",
        "multidimensional",
        2000,
        {"frontier_size": 2000, "walk_length": 20000, "weighted": False},
        5,
    ),
)
NEIGHBORS = (
    Work(
        "25 x 10, with replacement", "neighbor", 1_000_000, {"fanout": (25, 10), "replace": True, "weighted": False}, 80
    ),
    Work("25 x 10, without replacement", "neighbor", 1_000_000, {"fanout": (25, 10), "weighted": False}, 40),
    Work(
        "25 x 10, weighted, with replacement",
        "neighbor",
        1_000_000,
        {"fanout": (25, 10), "replace": True, "weighted": True},
    ),
    Work("2 x 2 by degree (C-SAW)", "neighbor", 2000, {"fanout": (2, 2), "bias": "degree", "weighted": False}),
    Work("forest fire .7 (C-SAW)", "forest-fire", 2000, {"burn_prob": 0.7, "depth": 2, "weighted": False}),
    Work("layer, 10 of the frontier's", "layer", 2000, {"depth": 2, "neighbor_size": 10, "weighted": False}),
    Work("snowball, 2 of each", "snowball", 2000, {"depth": 2, "neighbor_size": 2, "weighted": False}),
    Work("random edges, 100 of the graph's", "random-edge", 2000, {"neighbor_size": 100, "weighted": False}),
)
SUITES = {"walks": WALKS, "neighbors": NEIGHBORS}


def shrunk(work: Work, instances: int, steps: int | None = None) -> Work:
    """The work with at most so many instances and steps."""
    options = dict(work.options)
    if steps is not None and "walk_length" in options:
        options["walk_length"] = min(options["walk_length"], steps)
    return Work(work.name, work.algo, min(work.instances, instances), options, work.goal)
