"""KnightKing (Yang et al., SOSP 2019) on one machine: its programs deepwalk and node2vec, by their own clock.

The clock begins after the graph is loaded. It takes one thread less than the machine has, at least one. Walks are
collected and written for the test of its law alone; a measured run keeps none.
"""

import re
import subprocess
from pathlib import Path

import numpy as np

PROGRAMS = ("deepwalk", "node2vec")
WORKS = ("uniform walk", "node2vec p=2 q=.5", "weighted walk", "node2vec p=.25 q=4", "walk by degree 4000 x 2000")


class Tool:
    def __init__(self, how, graph):
        csr, folder, kind = graph(), Path(how["folder"]), "weighted" if how.get("weighted") else "unweighted"
        vertices = csr["indptr"].size - 1
        edges = np.empty(
            csr["indices"].size, [("src", "<u4"), ("dst", "<u4"), ("weight", "<f4")][: 3 if how.get("weighted") else 2]
        )
        edges["src"], edges["dst"] = np.repeat(np.arange(vertices), np.diff(csr["indptr"])), csr["indices"]
        if how.get("weighted"):
            edges["weight"] = csr["weights"]
        edges.tofile(folder / f"knightking-{kind}.data")
        self.walkers, self.length = how.get("walks", vertices * how["rounds"]), how["length"]
        self.out = folder / "knightking.walks" if how.get("keep") else None  # its processes add .0, .1, ...
        program = Path(how["programs"], PROGRAMS["p" in how])
        self.command = [
            program,
            "-g",
            folder / f"knightking-{kind}.data",
            "-v",
            str(vertices),
            "-w",
            str(self.walkers),
            "-l",
            str(self.length),
            "-s",
            kind,
        ]
        self.command += ["-p", f"{how['p']:g}", "-q", f"{how['q']:g}"] if "p" in how else []
        self.command += ["-o", self.out] if self.out else []

    def draw(self):
        done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        found = re.search(r"^total time ([\d.]+)s$", done.stdout, re.MULTILINE)
        if done.returncode or not found:
            last = (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["nothing"])[-1]
            raise SystemExit(f"{self.command[0].name} ended with status {done.returncode}, its last words: {last}")
        return float(found[1])

    def rate(self, drawn):
        return self.walkers * self.length / drawn

    def walks(self, drawn):
        return np.loadtxt(f"{self.out}.0", np.int64, ndmin=2)
