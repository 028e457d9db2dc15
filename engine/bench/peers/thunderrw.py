"""ThunderRW (Sun et al., VLDB 2021): its programs deepwalk.out, node2vec.out and ppr.out, by their own clock.

The clock measures the walking alone, with tables made before. A walk begins at every vertex; ``-l`` counts vertices.
Those of PPR begin at the vertex of the highest degree, as many as there are vertices, and may end after each step, so
that each has one at least. As it is published, it hands out no walks, so its law cannot be tested and no memory of
samples is in its time.
"""

import re
import subprocess
from pathlib import Path

import numpy as np

PROGRAMS = ("deepwalk.out", "node2vec.out", "ppr.out")
WORKS = ("uniform walk", "node2vec p=2 q=.5", "weighted walk", "node2vec p=.25 q=4", "PPR .15 from a hub")
UNCHECKED = "its walks are not handed out, nor its law tested"
UNIFORM, ALIAS = ("-em", "0", "-sm", "0"), ("-ew", "-em", "1", "-sm", "2")


def program(how):
    """The program of a work, with its options."""
    deepwalk, node2vec, ppr = PROGRAMS
    if "ends" in how:
        return ppr, ("-sp", f"{how['ends']:g}")
    length = ("-l", str(how["length"] + 1))
    if "p" in how:
        return node2vec, (*length, "-p", f"{how['p']:g}", "-q", f"{how['q']:g}")
    return deepwalk, (*length, *(ALIAS if how.get("weighted") else UNIFORM))


class Tool:
    def __init__(self, how, graph):
        csr, folder = graph(), Path(how["folder"], "thunderrw")
        folder.mkdir(exist_ok=True)
        with open(folder / "b_degree.bin", "wb") as file:  # size of a number, vertices, edges, degrees
            file.write(np.uint32(4).tobytes() + np.int32(csr["indptr"].size - 1).tobytes())
            file.write(np.int64(csr["indices"].size).tobytes() + np.diff(csr["indptr"]).astype(np.int32).tobytes())
        csr["indices"].astype(np.int32).tofile(folder / "b_adj.bin")
        csr["weights"].astype(np.float64).tofile(folder / "b_edge_weight.bin")
        name, given = program(how)
        self.command = [Path(how["programs"], name), "-f", folder, "-n", str(how["threads"]), *given]

    def draw(self):
        done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        found = re.findall(r"Throughput \(steps per second\): ([\d.]+)", done.stderr)
        if done.returncode or not found:
            last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
            raise SystemExit(f"{self.command[0].name} ended with status {done.returncode}, its last words: {last}")
        return float(found[-1])  # after those of its threads

    def rate(self, drawn):
        return drawn
