"""NextDoor (Jangda et al., EuroSys 2021) on a GPU: its program DeepWalkSampling, by its own clock.

It walks by weights, so unweighted works have weights of 1. Its walks have 100 steps, and begin 100 times at every
vertex of graphs with less than 262,144 vertices, once at those of others: both are compiled in. Its other programs draw
from other laws than csaw's works. It draws sample by sample, which is its faster way for walks. It cannot launch fewer
than 1,024 walks, so that the test of its law has copies of the small graph side by side.
"""

import re
import subprocess
from pathlib import Path

import numpy as np

PROGRAMS = ("DeepWalkSampling",)
DEVICES = ("cuda",)
WORKS = ("uniform walk", "weighted walk")
ROW = [("src", "<i4"), ("dst", "<i4"), ("weight", "<f4")]
COPIES = 20  # of the graph that its law is tested on


class Tool:
    def __init__(self, how, graph):
        csr = graph()
        self.vertices = csr["indptr"].size - 1
        file = Path(how["folder"], f"nextdoor-{'weighted' if how.get('weighted') else 'unweighted'}.data")
        edges = np.empty((COPIES if how.get("keep") else 1, csr["indices"].size), ROW)
        offsets = self.vertices * np.arange(len(edges))[:, None]
        edges["src"] = offsets + np.repeat(np.arange(self.vertices), np.diff(csr["indptr"]))
        edges["dst"] = offsets + csr["indices"]
        edges["weight"] = csr["weights"] if how.get("weighted") else 1
        edges.tofile(file)
        program = Path(how["programs"], PROGRAMS[0])
        given = ["-g", file, "-t", "edge-list", "-f", "binary", "-n", "1", "-k", "SampleParallel"]
        self.command = [program, *given, *(["-p"] if how.get("keep") else [])]

    def draw(self):
        done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        if done.returncode or "totalSampledVertices" not in done.stdout:
            last = (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["nothing"])[-1]
            raise SystemExit(f"{self.command[0].name} ended with status {done.returncode}, its last words: {last}")
        return done.stdout

    def rate(self, drawn):
        sampled = re.search(r"^totalSampledVertices (\d+)$", drawn, re.MULTILINE)
        took = re.search(r"End to end time (\S+) secs", drawn)
        return int(sampled[1]) / float(took[1])

    def walks(self, drawn):
        """Walk i begins at vertex i modulo their number, which is not among the vertices that are printed.

        All copies of a vertex are named as the first one, because the law is the same for each.
        """
        found = re.findall(r"^Contents of sample (\d+) \[(.*)\]$", drawn, re.MULTILINE)
        walks = np.array([[int(i), *map(int, re.findall(r"\d+", walk))] for i, walk in found], np.int64)
        return walks % self.vertices
