"""csaw beside other samplers on the same work, in turns: each tool in a process of its own with the graph loaded, one draw at a time.

    python scripts/bench_peers.py GRAPH.zarr --peer ensmallen=/venv/bin/python --peer dgl=/venv/bin/python [--repeats 3] [--only TEXT]

Every peer has an interpreter that it is installed for. Before a tool is measured it draws the work on a small graph, and only those that
draw by the law are measured. Rates are of the call that returns the sample; peak memory is of the process, its libraries included.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

NEIGHBORS = "neighbors 25 x 10"
WORKS: dict[str, dict[str, Any]] = {
    "uniform walk": {},
    "node2vec p=2 q=.5": {"p": 2.0, "q": 0.5},
    "weighted walk": {"weighted": True},
    NEIGHBORS: {"fanout": [25, 10], "sources": 100_000},
    "node2vec p=.25 q=4": {"p": 0.25, "q": 4.0},
}
SMALL = [(0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 0, 4), (0, 2, 5), (3, 4, 0.5)]
DRAWS = 4000  # from every vertex of the small graph

LOOP = """
import json, re, sys, time
import numpy as np
def peak():  # not ru_maxrss, which starts from the parent's
    return int(re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024
csr = np.load(FOLDER + "/csr.npz")
vertices = csr["indptr"].size - 1
tool = Tool(WORK)
tool.draw()
print("ready", flush=True)
for line in sys.stdin:
    began = time.perf_counter()
    drawn = tool.draw()
    seconds = time.perf_counter() - began
    if line.strip():
        np.save(line.strip(), tool.walks(drawn))
    print(json.dumps({"rate": tool.edges(drawn) / seconds, "peak": peak()}), flush=True)
    drawn = None
"""

CSAW = """
sys_path = PATHS
import sys
sys.path[:0] = sys_path
import numpy as np
from csaw.engine.algorithm import Walk
from csaw.engine.cpu.backend import CpuBackend
from csaw.engine.run import prepare
class Tool:
    def __init__(self, work):
        if "fanout" in work:
            how = dict(algo="neighbor", fanout=work["fanout"], sources=SOURCES if SMALL else f"random:{work['sources']}")
        else:
            how = dict(algo="node2vec" if "p" in work else "deepwalk", walk_length=LENGTH, num_walks=ROUNDS)
            how |= {name: work[name] for name in ("p", "q") if name in work}
        self.job = prepare(GRAPH, weighted=work.get("weighted", False), threads=THREADS, **how)
        self.backend = CpuBackend(self.job.plan, self.job.store, self.job.algorithm)
    def draw(self):
        batches, plan = [], self.job.plan
        for first in range(0, plan.request.instances, plan.batch):
            last = min(first + plan.batch, plan.request.instances)
            batch = self.backend.begin(first, self.job.sources.take(first, last, flat=isinstance(self.job.algorithm, Walk)))
            batch.advance()
            batches.append((batch.edges(), batch.arrays()))
        return batches
    def edges(self, batches):
        return sum(edges for edges, _ in batches)
    def walks(self, batches):
        name = "walks" if isinstance(self.job.algorithm, Walk) else None
        return np.concatenate([a[name] if name else np.column_stack([a["hop_0"], a["hop_1"]]) for _, a in batches])
"""

WALKS = """
    def edges(self, drawn):
        return sum(a.shape[0] * (a.shape[1] - 1) for a in drawn)
    def walks(self, drawn):
        return np.concatenate([np.asarray(a) for a in drawn])
"""

ENSMALLEN = """
from ensmallen import Graph
class Tool:
    def __init__(self, work):
        weights = dict(weights_column_number=2) if work.get("weighted") else {}
        self.graph = Graph.from_csv(edge_path=FOLDER + "/edges.tsv", edge_list_separator="\\t", edge_list_header=False,
            sources_column_number=0, destinations_column_number=1, edge_list_numeric_node_ids=True, directed=False, name="g",
            verbose=False, **weights)
        self.how = dict(return_weight=1 / work.get("p", 1.0), explore_weight=1 / work.get("q", 1.0))
    def draw(self):
        return [self.graph.complete_walks(walk_length=LENGTH + 1, iterations=ROUNDS, max_neighbours=2**32 - 1, **self.how)]
"""  # fmt: skip

PECANPY = """
from pecanpy import pecanpy
class Tool:
    def __init__(self, work):
        self.graph = pecanpy.SparseOTF(p=work.get("p", 1.0), q=work.get("q", 1.0), workers=THREADS, verbose=False)
        self.graph.set_node_ids([str(v) for v in range(vertices)])
        self.graph.indptr, self.graph.indices = csr["indptr"].astype(np.uint32), csr["indices"]
        self.graph.data = csr["weights"] if work.get("weighted") else np.ones(csr["indices"].size, np.float32)
    def draw(self):
        return self.graph.simulate_walks(ROUNDS, LENGTH)
    def edges(self, walks):
        return sum(len(walk) - 1 for walk in walks)
    def walks(self, walks):
        return np.array(walks, dtype=np.int64)
"""

CLUSTER = """
import torch, torch_cluster
torch.set_num_threads(THREADS)
class Tool:
    def __init__(self, work):
        self.rows, self.columns = (torch.from_numpy(csr[name].astype(np.int64)) for name in ("indptr", "indices"))
        self.how = work.get("p", 1.0), work.get("q", 1.0)
        self.starts = torch.arange(vertices).repeat(ROUNDS)
    def draw(self):
        return [torch.ops.torch_cluster.random_walk(self.rows, self.columns, self.starts, LENGTH, *self.how)[0]]
"""

DGL = """
import torch, dgl
torch.set_num_threads(THREADS)
class Tool:
    def __init__(self, work):
        self.graph = dgl.graph(("csr", (csr["indptr"].astype(np.int64), csr["indices"].astype(np.int64), [])))
        self.work = work
        if work.get("weighted"):
            self.graph.edata["weight"] = torch.from_numpy(csr["weights"])
        seeds = SOURCES if SMALL else np.random.default_rng(0).choice(vertices, work.get("sources", 1), replace=False)
        self.seeds, self.starts = torch.from_numpy(np.asarray(seeds)), torch.arange(vertices).repeat(ROUNDS)
    def draw(self):
        if "fanout" in self.work:
            return self.hops()
        if "p" in self.work:
            return [dgl.sampling.node2vec_random_walk(self.graph, self.starts, self.work["p"], self.work["q"], LENGTH)]
        prob = "weight" if self.work.get("weighted") else None
        return [dgl.sampling.random_walk(self.graph, self.starts, length=LENGTH, prob=prob)[0]]
    def hops(self):
        out = []
        for seeds in self.seeds.split(1 if SMALL else 1024):
            for size in self.work["fanout"]:
                src, seeds = dgl.sampling.sample_neighbors(self.graph, seeds, size, edge_dir="out").edges()
                out.append(torch.stack([src, seeds], 1))
                seeds = seeds.unique()
        return out
"""

SPARSE = """
import torch, torch_sparse
torch.set_num_threads(THREADS)
class Tool:
    def __init__(self, work):
        self.rows, self.columns = (torch.from_numpy(csr[name].astype(np.int64)) for name in ("indptr", "indices"))
        seeds = SOURCES if SMALL else np.random.default_rng(0).choice(vertices, work["sources"], replace=False)
        self.seeds, self.fanout = torch.from_numpy(np.asarray(seeds)), work["fanout"]
    def draw(self):
        sample = torch.ops.torch_sparse.neighbor_sample
        found = [sample(self.rows, self.columns, seeds, self.fanout, False, True) for seeds in self.seeds.split(1 if SMALL else 1024)]
        return [torch.stack([ids[to], ids[at]], 1) for ids, at, to, _ in found]
"""

WALK_WORKS = tuple(title for title in WORKS if title != NEIGHBORS)
UNWEIGHTED = tuple(title for title in WALK_WORKS if title != "weighted walk")
# name: (code, works that it has)
TOOLS = {
    "csaw": (CSAW, tuple(WORKS)),
    "ensmallen": (ENSMALLEN + WALKS, WALK_WORKS),
    "pecanpy": (PECANPY, WALK_WORKS),
    "torch-cluster": (CLUSTER + WALKS, UNWEIGHTED),
    "dgl": (DGL + WALKS, tuple(WORKS)),
    "torch-sparse": (SPARSE + WALKS, (NEIGHBORS,)),  # what PyG's NeighborLoader draws with
}


def write_graph(path: str, folder: Path) -> None:
    """The graph as the peers read it: CSR arrays, and each undirected edge once as text."""
    from csaw.partition import open_graph

    graph = open_graph(path).load()
    np.savez(folder / "csr.npz", indptr=graph.indptr, indices=graph.indices, weights=graph.weights)
    src = np.repeat(np.arange(graph.indptr.size - 1), np.diff(graph.indptr))
    once = src <= graph.indices
    table = np.column_stack([src[once], graph.indices[once], graph.weights[once]])
    np.savetxt(folder / "edges.tsv", table, fmt=("%d", "%d", "%.9g"), delimiter="\t")


def write_small(folder: Path) -> str:
    from csaw.partition import write_graph as write

    rows = sorted(SMALL + [(v, u, w) for u, v, w in SMALL])
    indptr = np.cumsum(np.bincount([u + 1 for u, _, _ in rows], minlength=6))
    indices, weights = np.array([v for _, v, _ in rows], np.uint32), np.array([w for *_, w in rows], np.float32)
    write(folder / "small.zarr", indptr, indices, weights, directed=False)
    return str(folder / "small.zarr")


class Child:
    """A tool at work in a process of its own."""

    def __init__(self, name: str, python: str, settings: dict[str, Any]) -> None:
        head = "import numpy as np\n" + "".join(f"{key} = {value!r}\n" for key, value in settings.items())
        code = head + TOOLS[name][0] + LOOP
        if name != "csaw":  # the peers' classes read the arrays
            code = (
                head + 'csr = np.load(FOLDER + "/csr.npz")\nvertices = csr["indptr"].size - 1\n' + TOOLS[name][0] + LOOP
            )
        self.process = subprocess.Popen([python, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)  # fmt: skip
        while (line := self._line()) != "ready":
            if not line:
                raise RuntimeError((self.process.stderr.read() if self.process.stderr else "").strip()[-300:])

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self, out: str = "") -> dict[str, float]:
        """Edges per second of one draw, and the peak memory so far in MiB."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{out}\n")
        self.process.stdin.flush()
        return json.loads(self._line())

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def wrong_law(path: str, work: dict[str, Any], graph: str) -> float:
    """The smallest p-value of the walks in ``path`` over what was drawn from each (previous vertex, vertex), times their number."""
    from csaw.engine import registry
    from csaw.engine.law import GraphView, next_law
    from csaw.engine.verify_statistics import chi_square, holm
    from csaw.partition import open_graph

    walks = np.load(path).astype(np.int64)
    view = GraphView(open_graph(graph).load(), bool(work.get("weighted")))
    walk = registry.build("node2vec", {"p": work.get("p", 1.0), "q": work.get("q", 1.0)})
    found: dict[tuple[int, int], dict[int, int]] = {}
    for step in range(walks.shape[1] - 1):
        before = walks[:, step - 1] if step else np.full(len(walks), -1)
        rows, counts = np.unique(np.column_stack([before, walks[:, step : step + 2]]), axis=0, return_counts=True)
        for (prev, v, then), count in zip(rows.tolist(), counts.tolist(), strict=True):
            outcomes = found.setdefault((prev, v), {})
            outcomes[then] = outcomes.get(then, 0) + count
    tested = [chi_square(seen, next_law(view, walk, v, prev=prev)) for (prev, v), seen in found.items()]  # type: ignore[arg-type]
    return holm([p for p in tested if p is not None])


def lawful(name: str, python: str, work: dict[str, Any], settings: dict[str, Any], folder: Path, small: str) -> bool:
    """Whether the tool draws the work on a small graph by its law; says so when not."""
    shape = {"SMALL": True, "LENGTH": 4, "ROUNDS": DRAWS, "SOURCES": np.repeat(np.arange(5), DRAWS).tolist()}
    where = {"FOLDER": str(folder), "GRAPH": small, "WORK": work | ({"fanout": [1]} if "fanout" in work else {})}
    try:
        child = Child(name, python, settings | shape | where)
    except RuntimeError as error:
        print(f"  {name} does not start: {error}", flush=True)
        return False
    out = str(folder / f"{name}.npy")
    child.ask(out)
    child.end()
    p = wrong_law(out, work, small)
    if p < 1e-6:
        print(f"  {name} draws from another law (p = {p:.1g}) and is not measured", flush=True)
    return p >= 1e-6


def measure(pythons: dict[str, str], work: dict[str, Any], settings: dict[str, Any], repeats: int) -> dict[str, tuple[float, float]]:  # fmt: skip
    """(median edges per second, peak MiB) of every tool, one draw of each in turn."""
    children = {name: Child(name, python, settings | {"WORK": work}) for name, python in pythons.items()}
    said: dict[str, list[dict[str, float]]] = {name: [] for name in children}
    for _ in range(repeats):
        for name, child in children.items():
            said[name].append(child.ask())
    for child in children.values():
        child.end()
    return {name: (statistics.median(one["rate"] for one in found), found[-1]["peak"]) for name, found in said.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--peer", action="append", default=[], help="NAME=PYTHON")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="works whose title contains this")
    options = parser.parse_args()
    pythons = {"csaw": sys.executable} | dict(peer.split("=", 1) for peer in options.peer)
    with tempfile.TemporaryDirectory() as name:
        folder, little = Path(name), Path(name) / "little"
        little.mkdir()
        small = write_small(folder)
        write_graph(small, little)
        write_graph(options.graph, folder)
        paths = [str(Path(__file__).parent), *sys.path]
        base = {"THREADS": options.threads, "PATHS": paths}
        shape = {"SMALL": False, "LENGTH": 80, "ROUNDS": 1, "SOURCES": None, "FOLDER": name, "GRAPH": options.graph}
        for title, work in WORKS.items():
            if options.only not in title:
                continue
            print(title, flush=True)
            able = {n: python for n, python in pythons.items() if title in TOOLS[n][1]}
            able = {n: python for n, python in able.items() if lawful(n, python, work, base, little, small)}
            results = measure(able, work, base | shape, options.repeats)
            for tool, (rate, peak) in results.items():
                ratio = results["csaw"][0] / rate
                print(f"  {tool:<14} {rate / 1e6:8.2f} M edges/s  {ratio:6.1f}x  peak {peak:,.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
