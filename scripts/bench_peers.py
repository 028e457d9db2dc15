"""csaw beside other samplers on the same work, in turns: each tool in a process of its own with the graph loaded, one draw at a time.

    python scripts/bench_peers.py GRAPH.zarr --peer ensmallen=/venv/bin/python --peer pecanpy=/venv/bin/python [--repeats 3]

Every peer has an interpreter that it is installed for. A peer is asked only for what it draws by the right law: ensmallen with
max_neighbours unlimited and not at q = 1 with p != 1; pecanpy's SparseOTF. Rates are of the call that returns walks.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WORKS = {"uniform": (1.0, 1.0), "node2vec p=2 q=.5": (2.0, 0.5), "node2vec p=.25 q=4": (0.25, 4.0)}

LOOP = """
import sys, time
print("ready", flush=True)
for line in sys.stdin:
    p, q = map(float, line.split())
    began = time.perf_counter()
    steps = draw(p, q)
    print(steps / (time.perf_counter() - began), flush=True)
"""

ENSMALLEN = """
from ensmallen import Graph
graph = Graph.from_csv(edge_path=FOLDER + "/edges.tsv", edge_list_separator="\\t", edge_list_header=False, sources_column_number=0,
                       destinations_column_number=1, edge_list_numeric_node_ids=True, directed=False, name="g", verbose=False)
def draw(p, q):
    walks = graph.complete_walks(walk_length=81, return_weight=1 / p, explore_weight=1 / q, iterations=1, max_neighbours=2**32 - 1)
    return walks.shape[0] * (walks.shape[1] - 1)
"""  # fmt: skip

PECANPY = """
import numpy as np
from pecanpy import pecanpy
csr = np.load(FOLDER + "/csr.npz")
def draw(p, q):
    graph = pecanpy.SparseOTF(p=p, q=q, workers=THREADS, verbose=False)
    graph.set_node_ids([str(v) for v in range(csr["indptr"].size - 1)])
    graph.indptr, graph.indices = csr["indptr"].astype(np.uint32), csr["indices"]
    graph.data = np.ones(graph.indices.size, np.float32)
    return sum(len(walk) - 1 for walk in graph.simulate_walks(1, 80))
"""

CSAW = """
sys_path = PATHS
import sys
sys.path[:0] = sys_path
from bench_cpu import work
from csaw.engine.run import prepare
works = {}
def draw(p, q):
    if (p, q) not in works:
        how = dict(algo="deepwalk") if p == q == 1 else dict(algo="node2vec", p=p, q=q)
        works[p, q] = work(prepare(GRAPH, weighted=False, walk_length=80, threads=THREADS, **how))
    return works[p, q]()
"""

CODES = {"csaw": CSAW, "ensmallen": ENSMALLEN, "pecanpy": PECANPY}


def write_graph(path: str, folder: str) -> None:
    """The graph as the peers read it: CSR arrays, and each undirected edge once as text."""
    from csaw.partition import open_graph

    graph = open_graph(path).load()
    np.savez(f"{folder}/csr.npz", indptr=graph.indptr, indices=graph.indices)
    src = np.repeat(np.arange(graph.indptr.size - 1), np.diff(graph.indptr))
    once = src <= graph.indices
    np.savetxt(f"{folder}/edges.tsv", np.stack([src[once], graph.indices[once]], axis=1), fmt="%d", delimiter="\t")


def start(name: str, python: str, head: str) -> subprocess.Popen:
    child = subprocess.Popen(
        [python, "-c", head + CODES[name] + LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    if child.stdout is None or child.stdout.readline().strip() != "ready":
        sys.exit(f"{name} did not start with {python}")
    return child


def ask(child: subprocess.Popen, p: float, q: float) -> float:
    """Steps per second of one draw."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(f"{p} {q}\n")
    child.stdin.flush()
    return float(child.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("--peer", action="append", default=[], help="NAME=PYTHON")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_graph(options.graph, folder)
        paths = [str(Path(__file__).parent), *sys.path]
        head = f"FOLDER, THREADS, GRAPH, PATHS = {folder!r}, {options.threads}, {options.graph!r}, {paths!r}\n"
        tools = {"csaw": start("csaw", sys.executable, head)}
        tools |= {name: start(name, python, head) for name, _, python in (p.partition("=") for p in options.peer)}
        for title, (p, q) in WORKS.items():
            rates = {name: [ask(child, p, q) for _ in range(1)] and [] for name, child in tools.items()}
            for _ in range(options.repeats):
                for name, child in tools.items():
                    rates[name].append(ask(child, p, q))
            medians = {name: statistics.median(found) for name, found in rates.items()}
            print(title, *(f"{n} {m / 1e6:.1f} M ({medians['csaw'] / m:.1f}x)" for n, m in medians.items()), flush=True)
        for child in tools.values():
            child.kill()


if __name__ == "__main__":
    main()
