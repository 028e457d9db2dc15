"""Walks and neighbor samples per second on this CPU, beside the peers that are installed: alternated in one run, medians and ratios.

    python scripts/bench_cpu.py GRAPH.zarr [--repeats 3]

Sampling alone: the graph is loaded, kernels are compiled, nothing is written. Peers draw the same work, and only where their law is right:
pecanpy's node2vec, networkit's uniform walks are not offered, ensmallen's walks with max_neighbours unlimited. Install what should be compared.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from csaw.engine.algorithm import Walk
from csaw.engine.cpu.backend import CpuBackend
from csaw.engine.run import Job, prepare
from csaw.partition import open_graph

WORKS = {
    "uniform walk, 80 steps from every vertex": ("deepwalk", {"weighted": False, "walk_length": 80}),
    "weighted walk, same": ("deepwalk", {"weighted": True, "walk_length": 80}),
    "node2vec p=2 q=.5, same": ("node2vec", {"weighted": False, "walk_length": 80, "p": 2.0, "q": 0.5}),
    "node2vec p=.5 q=2, same": ("node2vec", {"weighted": False, "walk_length": 80, "p": 0.5, "q": 2.0}),
    "node2vec p=.25 q=4, same": ("node2vec", {"weighted": False, "walk_length": 80, "p": 0.25, "q": 4.0}),
    "biased by degree, 4000 x 2000": ("biased", {"sources": "random:4000", "walk_length": 2000}),
    "neighbors 25 x 10, with replacement": (
        "neighbor",
        {"weighted": False, "sources": "random:100000", "replace": True},
    ),
    "neighbors 25 x 10, without": ("neighbor", {"weighted": False, "sources": "random:100000"}),
}


def csaw_work(job: Job) -> Callable[[], int]:
    """A function that draws the whole job and returns the sampled edges."""
    backend = CpuBackend(job.plan, job.store, job.algorithm)

    def draw() -> int:
        edges = 0
        for first in range(0, job.plan.request.instances, job.plan.batch):
            last = min(first + job.plan.batch, job.plan.request.instances)
            batch = backend.begin(first, job.sources.take(first, last, flat=isinstance(job.algorithm, Walk)))
            batch.advance()
            edges += batch.edges()
        return edges

    return draw


def ensmallen_work(store, p: float, q: float) -> Callable[[], int] | None:
    """Complete walks of ensmallen; its p is wrong at q = 1 exactly, so only where p = q = 1 or q != 1."""
    try:
        from ensmallen import GraphBuilder
    except ImportError:
        return None
    graph = store.load()
    src = np.repeat(np.arange(store.vertices), np.diff(graph.indptr))
    builder = GraphBuilder()
    for u, v in zip(src.tolist(), graph.indices.tolist(), strict=True):
        builder.add_edge(str(u), str(v))
    built = builder.build()

    def draw() -> int:
        walks = built.complete_walks(
            80, iterations=1, return_weight=1 / p, explore_weight=1 / q, max_neighbours=2**32 - 1
        )
        return int(walks.shape[0] * (walks.shape[1] - 1))

    return draw


def measure(works: dict[str, Callable[[], int]], repeats: int) -> dict[str, float]:
    """Median rates in edges per second; the works take turns."""
    rates: dict[str, list[float]] = {name: [] for name in works}
    for name, draw in works.items():
        draw()
        del name
    for _ in range(repeats):
        for name, draw in works.items():
            began = time.perf_counter()
            edges = draw()
            rates[name].append(edges / (time.perf_counter() - began))
    return {name: statistics.median(r) for name, r in rates.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    store = open_graph(options.graph)
    print(
        f"{store.vertices:,} vertices, {store.edges:,} stored edges, {options.threads} threads; median of {options.repeats}"
    )
    for title, (algo, parameters) in WORKS.items():
        if parameters.get("weighted") and not store.weighted:
            continue
        rate = measure(
            {"csaw": csaw_work(prepare(store, algo, threads=options.threads, **parameters))}, options.repeats
        )
        print(f"{title:<45} {rate['csaw'] / 1e6:8.1f} M edges/s", flush=True)


if __name__ == "__main__":
    main()
