"""Walks and neighbor samples per second on this CPU: medians over repeats.

    python scripts/bench_cpu.py GRAPH.zarr [--repeats 3] [--threads 2]

Sampling alone: the graph is loaded, kernels are compiled, nothing is written.
"""

import argparse
import resource
import statistics
import time
from collections.abc import Callable

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


def work(job: Job) -> Callable[[], int]:
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


def measure(draw: Callable[[], int], repeats: int) -> float:
    """Median rate in edges per second, after one draw that does not count."""
    draw()
    rates = []
    for _ in range(repeats):
        began = time.perf_counter()
        edges = draw()
        rates.append(edges / (time.perf_counter() - began))
    return statistics.median(rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="works whose title contains this")
    options = parser.parse_args()
    store = open_graph(options.graph)
    print(
        f"{store.vertices:,} vertices, {store.edges:,} stored edges, {options.threads} threads; median of {options.repeats}"
    )
    for title, (algo, parameters) in WORKS.items():
        if options.only not in title or (parameters.get("weighted") and not store.weighted):
            continue
        rate = measure(work(prepare(store, algo, threads=options.threads, **parameters)), options.repeats)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{title:<45} {rate / 1e6:8.1f} M edges/s   peak so far {peak:,} MiB", flush=True)


if __name__ == "__main__":
    main()
