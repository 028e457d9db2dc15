"""C-SAW (Pandey et al., SC 2020) on a GPU: its program sampling.bin, by its own clock, with the edges in GPU memory.

Its biases are compiled in; those that its authors publish select by degree. It prints how many edges it drew, and none
of them. Its buffers hold rows of up to 16,384 neighbors: it reads beyond them in longer ones. Walks begin at random
vertices of the first 10,000, and blocks and threads are those of its script.
"""

import re
import subprocess
from pathlib import Path

import numpy as np

PROGRAMS = ("sampling.bin",)
DEVICES = ("cuda",)
WORKS = ("walk by degree 4000 x 2000",)
UNCHECKED = "its walks are not handed out, nor its law tested"
LONGEST, FIRST = 1 << 14, 10_000
BLOCKS, THREADS = 400, 128


class Tool:
    def __init__(self, how, graph):
        csr, folder = graph(), Path(how["folder"])
        longest = np.diff(csr["indptr"]).max(initial=0)
        if longest > LONGEST or csr["indptr"].size <= FIRST:
            raise SystemExit(
                f"it takes graphs of more than {FIRST:,} vertices with rows of at most {LONGEST:,} neighbors; this "
                f"one has {csr['indptr'].size - 1:,} vertices, and a row of {longest:,}"
            )
        csr["indptr"].astype(np.int64).tofile(folder / "c-saw-rows.bin")
        csr["indices"].astype(np.int64).tofile(folder / "c-saw-edges.bin")
        program, frontier, neighbors, gpus = Path(how["programs"], PROGRAMS[0]), 1, 1, 1
        given = [BLOCKS, THREADS, how["walks"], frontier, neighbors, how["length"], gpus]
        self.command = [program, "graph", folder / "c-saw-rows.bin", folder / "c-saw-edges.bin", *map(str, given)]

    def draw(self):
        done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        if done.returncode or not re.match(r"\d+,graph,", done.stdout):
            last = (done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["nothing"])[-1]
            raise SystemExit(f"{self.command[0].name} ended with status {done.returncode}, its last words: {last}")
        return done.stdout

    def rate(self, drawn):
        edges, _, _, seconds = drawn.strip().split(",")
        return int(edges) / float(seconds)
