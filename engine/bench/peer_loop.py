"""A sampler at work in a separate process: ``peer_loop.py FILE NAME HOW``.

FILE is one of peers/, NAME one of its TOOLS, HOW a file of JSON. Draws once,
prints "ready", then draws for every line on stdin, saves the
sample under the name in the line, if any, and prints the rate and the process's peak. Needs NumPy and the packages that
FILE imports.
"""

import importlib.util
import json
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from types import SimpleNamespace as Tool  # of a file of peers/: what it can do differs


def peak_mib() -> int:
    """Peak memory of this process in MiB; not ru_maxrss, which starts at the parent's peak."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


def open_tool(file: str, name: str, how: dict) -> "Tool":
    """Make a tool of a file of peers/, with its settings and the graph of its folder."""
    spec = importlib.util.spec_from_file_location("csaw_peer", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TOOLS[name](how, lambda: rows(how))


def rows(how: dict) -> "dict[str, np.ndarray]":
    """The graph of a folder: indptr, indices, weights, and times for works in time; weights of works by degree are the
    degrees of neighbors.
    """
    with np.load(how["folder"] + "/csr.npz") as file:
        names = ("indptr", "indices", "weights", *(["times"] if "time_bias" in how else []))
        found = {name: file[name] for name in names}
    if how.get("by_degree"):
        found["weights"] = np.diff(found["indptr"])[found["indices"]].astype(np.float32)
    return found


def rate(tool: "Tool", drawn: list[np.ndarray], seconds: float) -> float:
    """Edges in a second: by the tool's own clock, or of a draw that took so many seconds."""
    return tool.rate(drawn) if hasattr(tool, "rate") else count(tool, drawn) / seconds


def count(tool: "Tool", drawn: list[np.ndarray]) -> int:
    """Sampled edges of a draw: as the tool counts them, or those of arrays of walks [walks, vertices]."""
    if hasattr(tool, "edges"):
        return tool.edges(drawn)
    return sum(walks.shape[0] * (walks.shape[1] - 1) for walks in drawn)


def main() -> None:
    file, name, how_file = sys.argv[1:]
    sys.path.pop(0)  # this folder, whose files would hide packages of the same name
    with open(how_file) as text:
        how = json.load(text)
    tool = open_tool(file, name, how)
    tool.draw()
    print("ready", flush=True)
    for line in sys.stdin:
        began = time.perf_counter()
        drawn = tool.draw()
        seconds = time.perf_counter() - began
        if line.strip():
            walks = (
                tool.walks(drawn) if hasattr(tool, "walks") else np.concatenate([np.asarray(each) for each in drawn])
            )
            np.save(line.strip(), walks)
        peak = {} if hasattr(tool, "rate") else {"peak_mib": peak_mib()}  # of programs of its own nothing is known
        print(json.dumps({"rate": rate(tool, drawn, seconds)} | peak), flush=True)
        drawn = None


if __name__ == "__main__":
    main()
