"""Other samplers that are programs, by their own clocks: what each reads, how it is called, and what it prints.

C-SAW (Pandey et al., SC 2020) on a GPU, with the edges in its memory. Its biases are compiled in; those that its
authors publish select by degree. It prints how many edges it drew, and none of them. Its buffers hold rows of up to
16,384 neighbors: it reads beyond them in longer ones. Walks begin at random vertices of the first 10,000, and blocks
and threads are those of its script.

FlowWalker (Mei et al., VLDB 2024) on a GPU, with walks in its memory. It draws by weights alone, by reservoirs:
unweighted works get weights of 1. It begins walks at all vertices in order, and for the test of its law at random ones,
as it prints no more than 100 walks, of any length.

KnightKing (Yang et al., SOSP 2019) on one machine. The clock begins after the graph is loaded. It takes one thread less
than the machine has, at least one. Walks are collected and written for the test of its law alone.

NextDoor (Jangda et al., EuroSys 2021) on a GPU. It walks by weights, so unweighted works have weights of 1. Its walks
have 100 steps, and begin 100 times at every vertex of graphs with less than 262,144 vertices, once at those of others:
both are compiled in. Its other programs draw from other laws than csaw's works. It draws sample by sample, which is its
faster way for walks. It cannot launch fewer than 1,024 walks, so that the test of its law has copies of the small graph
side by side.

Skywalker (Wang et al., PACT 2021) on a GPU. It begins a walk at each vertex. It prints the first three without their
last vertex, so that the test of its law asks for long ones. Its walks by weight are not by the weights of edges, its
node2vec always has 100 steps, of which too few are printed for a test, and walks by degree need another file compiled
in. It writes beyond its arrays on a graph of a few vertices, so that the test of its law has copies of the small graph
side by side.

ThunderRW (Sun et al., VLDB 2021). The clock measures the walking alone, with tables made before. A walk begins at every
vertex; ``-l`` counts vertices. Those of PPR begin at the vertex of the highest degree, as many as there are vertices,
and may end after each step, so that each has one at least. As it is published, it hands out no walks, so its law cannot
be tested and no memory of samples is in its time.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

UNIFORM, WEIGHTED, BY_DEGREE = "uniform walk", "weighted walk", "walk by degree 4000 x 2000"
NODE2VEC, HARD_NODE2VEC, PPR = "node2vec p=2 q=.5", "node2vec p=.25 q=4", "PPR .15 from a hub"
GIVES_NONE = "its walks are not handed out, nor its law tested"


class ProgramPeer(NamedTuple):
    """A sampler that is a program.

    ``command(how, csr, folder)`` writes the files that it reads and returns the program of the work with its arguments.
    Of what it prints, ``edges`` finds how many edges it drew, or ``per_second`` of them a second, and ``seconds`` the
    time that this took; without ``edges``, all steps were taken. ``walks(printed, how, vertices)`` are those that the
    test of its law needs; without it, the law is not tested.
    """

    programs: tuple[str, ...]
    works: tuple[str, ...]
    command: Callable[..., object]
    edges: str = ""
    seconds: str = ""
    per_second: float = 1.0
    walks: "Callable[..., object] | None" = None
    devices: tuple[str, ...] = ("cuda",)
    on_gpu: tuple[str, ...] = ()

    @property
    def unchecked(self) -> str:
        return "" if self.walks else GIVES_NONE

    def __call__(self, how, graph):
        """Make what engine/bench/peer_loop.py runs."""
        return Program(self, how, graph())


class Program:
    """A program with its files written."""

    def __init__(self, peer, how, csr):
        self.peer, self.how, self.vertices = peer, how, csr["indptr"].size - 1
        name, *given = peer.command(how, csr, Path(how["folder"]))
        self.command = [Path(how["programs"], name), *map(str, given)]

    def draw(self):
        done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        printed = f"{done.stderr}\n{done.stdout}"
        if done.returncode or not all(re.search(one, printed, re.MULTILINE) for one in self.patterns()):
            last = (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["nothing"])[-1]
            raise SystemExit(f"{self.command[0].name} ended with status {done.returncode}, its last words: {last}")
        return printed

    def patterns(self):
        return [one for one in (self.peer.edges, self.peer.seconds) if one]

    def rate(self, printed):
        """Edges a second; the last that is printed counts, after those of threads."""
        found = {one: float(re.findall(one, printed, re.MULTILINE)[-1]) for one in self.patterns()}
        steps = self.how.get("walks", self.vertices * self.how["rounds"]) * self.how["length"]
        return self.peer.per_second * found.get(self.peer.edges, steps) / found.get(self.peer.seconds, 1.0)

    def walks(self, printed):
        return np.asarray(self.peer.walks(printed, self.how, self.vertices), np.int64)


def edges_of(csr, copies=1, weights=None):
    """Rows of (src, dst) or (src, dst, weight) of each edge, of copies of the graph side by side."""
    fields = [("src", "<u4"), ("dst", "<u4"), ("weight", "<f4")]
    edges = np.empty((copies, csr["indices"].size), fields[: 2 if weights is None else 3])
    vertices = csr["indptr"].size - 1
    offsets = vertices * np.arange(copies)[:, None]
    edges["src"] = offsets + np.repeat(np.arange(vertices), np.diff(csr["indptr"]))
    edges["dst"] = offsets + csr["indices"]
    if weights is not None:
        edges["weight"] = weights
    return edges


def c_saw(how, csr, folder):
    longest, most, first = np.diff(csr["indptr"]).max(initial=0), 1 << 14, 10_000
    if longest > most or csr["indptr"].size <= first:
        raise SystemExit(
            f"it takes graphs of more than {first:,} vertices with rows of at most {most:,} neighbors; this "
            f"one has {csr['indptr'].size - 1:,} vertices, and a row of {longest:,}"
        )
    csr["indptr"].astype(np.int64).tofile(folder / "c-saw-rows.bin")
    csr["indices"].astype(np.int64).tofile(folder / "c-saw-edges.bin")
    blocks, threads, frontier, neighbors, gpus = 400, 128, 1, 1, 1
    given = (blocks, threads, how["walks"], frontier, neighbors, how["length"], gpus)
    return "sampling.bin", "graph", folder / "c-saw-rows.bin", folder / "c-saw-edges.bin", *given


def flowwalker(how, csr, folder):
    folder = folder / ("flowwalker-weighted" if how.get("weighted") else "flowwalker")
    folder.mkdir(exist_ok=True)
    rows, neighbors = csr["indptr"], csr["indices"]
    weights = csr["weights"] if how.get("weighted") else np.ones(neighbors.size)
    np.concatenate([[rows.size - 1, neighbors.size], rows]).astype(np.int32).tofile(folder / "g_xadj.bin")
    neighbors.astype(np.int32).tofile(folder / "g_edge.bin")
    weights.astype(np.float32).tofile(folder / "g_weight.bin")
    law = ("-node2vec", f"-p={how['p']:g}", f"-q={how['q']:g}") if "p" in how else ("-deepwalk",)
    if how.get("keep"):  # it prints 100 walks, whose 400 steps are for the test of its law
        return "flowwalker", f"-input={folder}/g", "-n=100", "-d=400", *law, "-printresult"
    begun = how.get("walks", (rows.size - 1) * how["rounds"])
    return "flowwalker", f"-input={folder}/g", f"-n={begun}", f"-d={how['length']}", *law, "-seq", "-printworkload"


def flowwalkers_walks(printed, how, vertices):
    return [line.split() for line in re.findall(r"^Walker \d+:\n([\d\t]+)$", printed, re.MULTILINE)]


def knightking(how, csr, folder):
    kind, vertices = "weighted" if how.get("weighted") else "unweighted", csr["indptr"].size - 1
    file = folder / f"knightking-{kind}.data"
    edges_of(csr, weights=csr["weights"] if how.get("weighted") else None).tofile(file)
    walks = how.get("walks", vertices * how["rounds"])
    law = ("-p", f"{how['p']:g}", "-q", f"{how['q']:g}") if "p" in how else ()
    keep = ("-o", folder / "knightking.walks") if how.get("keep") else ()  # its processes add .0, .1, ...
    name = "node2vec" if "p" in how else "deepwalk"
    return name, "-g", file, "-v", vertices, "-w", walks, "-l", how["length"], "-s", kind, *law, *keep


def knightkings_walks(printed, how, vertices):
    return np.loadtxt(Path(how["folder"], "knightking.walks.0"), np.int64, ndmin=2)


def nextdoor(how, csr, folder):
    weighted, copies = how.get("weighted"), 20 if how.get("keep") else 1
    file = folder / f"nextdoor-{'weighted' if weighted else 'unweighted'}.data"
    edges_of(csr, copies, csr["weights"] if weighted else 1).tofile(file)
    keep = ("-p",) if how.get("keep") else ()
    return "DeepWalkSampling", "-g", file, "-t", "edge-list", "-f", "binary", "-n", "1", "-k", "SampleParallel", *keep


def nextdoors_walks(printed, how, vertices):
    """Walk i begins at vertex i modulo their number, which is not among the vertices that are printed.

    All copies of a vertex are named as the first one, because the law is the same for each.
    """
    found = re.findall(r"^Contents of sample (\d+) \[(.*)\]$", printed, re.MULTILINE)
    return np.array([[int(i), *map(int, re.findall(r"\d+", walk))] for i, walk in found]) % vertices


def skywalker(how, csr, folder):
    """Its file is of Galois' version 1: numbers of 64 bits in its head and its offsets, of 32 in its edges."""
    vertices, copies = csr["indptr"].size - 1, np.arange(200 if how.get("keep") else 1)[:, None]
    ends = csr["indptr"][1:] + csr["indices"].size * copies
    neighbors = csr["indices"] + vertices * copies
    with open(folder / "skywalker.gr", "wb") as out:
        out.write(np.array([1, 0, ends.size, neighbors.size], np.uint64).tobytes())
        out.write(ends.astype(np.uint64).tobytes() + neighbors.astype(np.uint32).tobytes())
    steps, keep = (4000, ("--printresult",)) if how.get("keep") else (how["length"], ())
    given = (f"--input={folder}/skywalker.gr", "--bias=false", "--rw", "--k=1", f"--d={steps}", f"--n={ends.size}")
    return "skywalker", *given, "--ngpu=1", *keep


def skywalkers_walks(printed, how, vertices):
    """All copies of a vertex are named as the first one, because the law is the same for each."""
    lines = re.findall(r"path len \d+ \n((?:\d+ *\t)+)$", printed, re.MULTILINE)
    return np.array([line.split() for line in lines], np.int64) % vertices


def thunderrw(how, csr, folder):
    folder = folder / "thunderrw"
    folder.mkdir(exist_ok=True)
    with open(folder / "b_degree.bin", "wb") as file:  # size of a number, vertices, edges, degrees
        file.write(np.uint32(4).tobytes() + np.int32(csr["indptr"].size - 1).tobytes())
        file.write(np.int64(csr["indices"].size).tobytes() + np.diff(csr["indptr"]).astype(np.int32).tobytes())
    csr["indices"].astype(np.int32).tofile(folder / "b_adj.bin")
    csr["weights"].astype(np.float64).tofile(folder / "b_edge_weight.bin")
    files = ("-f", folder, "-n", how["threads"])
    if "ends" in how:
        return "ppr.out", *files, "-sp", f"{how['ends']:g}"
    length = ("-l", how["length"] + 1)
    if "p" in how:
        return "node2vec.out", *files, *length, "-p", f"{how['p']:g}", "-q", f"{how['q']:g}"
    by_alias, uniform = ("-ew", "-em", "1", "-sm", "2"), ("-em", "0", "-sm", "0")
    return "deepwalk.out", *files, *length, *(by_alias if how.get("weighted") else uniform)


TOOLS = {
    "c-saw": ProgramPeer(
        ("sampling.bin",), (BY_DEGREE,), c_saw, r"^(\d+),graph,.*,[\d.]+$", r"^\d+,graph,.*,([\d.]+)$"
    ),
    "flowwalker": ProgramPeer(
        ("flowwalker",),
        (UNIFORM, NODE2VEC, WEIGHTED, HARD_NODE2VEC, BY_DEGREE),
        flowwalker,
        r"Total sampled(?: vertex)?: (\d+)",
        r"sampling time:([\d.]+) ms",
        1e3,
        flowwalkers_walks,
    ),
    "knightking": ProgramPeer(
        ("deepwalk", "node2vec"),
        (UNIFORM, NODE2VEC, WEIGHTED, HARD_NODE2VEC, BY_DEGREE),
        knightking,
        seconds=r"^total time ([\d.]+)s$",
        walks=knightkings_walks,
        devices=("cpu",),
    ),
    "nextdoor": ProgramPeer(
        ("DeepWalkSampling",),
        (UNIFORM, WEIGHTED),
        nextdoor,
        r"^totalSampledVertices (\d+)$",
        r"End to end time (\S+) secs",
        walks=nextdoors_walks,
    ),
    "skywalker": ProgramPeer(  # its last two lines are milliseconds, and millions of edges a second
        ("skywalker",),
        (UNIFORM,),
        skywalker,
        r"^\d+\.\d\d\s*\n(\d+\.\d\d)\s*\Z",
        per_second=1e6,
        walks=skywalkers_walks,
    ),
    "thunderrw": ProgramPeer(
        ("deepwalk.out", "node2vec.out", "ppr.out"),
        (UNIFORM, NODE2VEC, WEIGHTED, HARD_NODE2VEC, PPR),
        thunderrw,
        r"Throughput \(steps per second\): ([\d.]+)",
        devices=("cpu",),
    ),
}
