"""FlowWalker (Mei et al., VLDB 2024) on a GPU: its program, by its own clock, with walks in the GPU's memory.

It draws by weights alone, by reservoirs: unweighted works get weights of 1. It begins walks at all vertices in order,
and for the test of its law at random ones, as it prints no more than 100 walks, of any length.
"""

import re
import subprocess
from pathlib import Path

import numpy as np

PROGRAMS = ("flowwalker",)
DEVICES = ("cuda",)
WORKS = ("uniform walk", "node2vec p=2 q=.5", "weighted walk", "node2vec p=.25 q=4", "walk by degree 4000 x 2000")
PRINTED, STEPS = 100, 400  # walks that it prints, and their steps for the test of its law


class Tool:
    def __init__(self, how, graph):
        csr, folder = graph(), Path(how["folder"], "flowwalker-weighted" if how.get("weighted") else "flowwalker")
        folder.mkdir(exist_ok=True)
        rows, neighbors = csr["indptr"], csr["indices"]
        weights = csr["weights"] if how.get("weighted") else np.ones(neighbors.size)
        np.concatenate([[rows.size - 1, neighbors.size], rows]).astype(np.int32).tofile(folder / "g_xadj.bin")
        neighbors.astype(np.int32).tofile(folder / "g_edge.bin")
        weights.astype(np.float32).tofile(folder / "g_weight.bin")
        begun = how.get("walks", (rows.size - 1) * how["rounds"])
        walks, steps = (PRINTED, STEPS) if how.get("keep") else (begun, how["length"])
        law = ("-node2vec", f"-p={how['p']:g}", f"-q={how['q']:g}") if "p" in how else ("-deepwalk",)
        result = "-printresult" if how.get("keep") else "-printworkload"
        order = () if how.get("keep") else ("-seq",)
        program = Path(how["programs"], PROGRAMS[0])
        self.command = [program, f"-input={folder}/g", f"-n={walks}", f"-d={steps}", *law, *order, result]

    def draw(self):
        done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        if done.returncode or "sampling time" not in done.stdout:
            last = (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["nothing"])[-1]
            raise SystemExit(f"{self.command[0].name} ended with status {done.returncode}, its last words: {last}")
        return done.stdout

    def rate(self, drawn):
        sampled = re.search(r"Total sampled(?: vertex)?: (\d+)", drawn)
        took = re.search(r"sampling time:([\d.]+) ms", drawn)
        return int(sampled[1]) / (float(took[1]) / 1e3)

    def walks(self, drawn):
        lines = re.findall(r"^Walker \d+:\n([\d\t]+)$", drawn, re.MULTILINE)
        return np.array([line.split() for line in lines], np.int64)
