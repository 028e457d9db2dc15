"""Skywalker (Wang et al., PACT 2021) on a GPU: uniform walks by its program, by its own clock.

It begins a walk at each vertex. It prints the first three without their last vertex, so that the test of its law asks
for long ones. Its walks by weight are not by the weights of edges, its node2vec always has 100 steps, of which too few
are printed for a test, and walks by degree need another file compiled in. It writes beyond its arrays on a graph of a
few vertices, so that the test of its law has copies of the small graph side by side.
"""

import re
import subprocess
from pathlib import Path

import numpy as np

PROGRAMS = ("skywalker",)
DEVICES = ("cuda",)
WORKS = ("uniform walk",)
STEPS = 4000  # of a walk for the test of its law
COPIES = 200  # of the graph that its law is tested on
GALOIS = 1  # version of the format, whose numbers have 64 bits in its head and its offsets, and 32 in its edges


class Tool:
    def __init__(self, how, graph):
        csr, file = graph(), Path(how["folder"], "skywalker.gr")
        self.vertices, copies = csr["indptr"].size - 1, np.arange(COPIES if how.get("keep") else 1)[:, None]
        ends = csr["indptr"][1:] + csr["indices"].size * copies
        neighbors = csr["indices"] + self.vertices * copies
        with open(file, "wb") as out:
            out.write(np.array([GALOIS, 0, ends.size, neighbors.size], np.uint64).tobytes())
            out.write(ends.astype(np.uint64).tobytes() + neighbors.astype(np.uint32).tobytes())
        steps, program = STEPS if how.get("keep") else how["length"], Path(how["programs"], PROGRAMS[0])
        given = [f"--input={file}", "--bias=false", "--rw", "--k=1", f"--d={steps}", f"--n={ends.size}", "--ngpu=1"]
        self.command = [program, *given, *(["--printresult"] if how.get("keep") else [])]

    def draw(self):
        done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        if done.returncode or len(self.numbers(done.stdout)) != 2:
            last = (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["nothing"])[-1]
            raise SystemExit(f"{self.command[0].name} ended with status {done.returncode}, its last words: {last}")
        return done.stdout

    def numbers(self, said):
        """The last two lines: milliseconds, and millions of edges a second."""
        lines = said.strip().splitlines()[-2:]
        return [float(line) for line in lines if re.fullmatch(r"\d+\.\d\d\s*", line)]

    def rate(self, drawn):
        return 1e6 * self.numbers(drawn)[1]

    def walks(self, drawn):
        """All copies of a vertex are named as the first one, because the law is the same for each."""
        lines = re.findall(r"path len \d+ \n((?:\d+ *\t)+)$", drawn, re.MULTILINE)
        return np.array([line.split() for line in lines], np.int64) % self.vertices
