"""Sample stores of a few instances in every layout, written by hand."""

import json
import os
import sys
from pathlib import Path

import numpy as np

from helpers import slow

SAID = {
    "request": {"algorithm": "deepwalk", "parameters": {"walk_length": 4, "num_walks": 1}, "seed": 7, "weighted": False}
}
NONE = slow.NONE
SUBGRAPHS = {
    "counts": np.array([2, 0, 1, 3, 0]),
    "src": np.array([0, 1, 2, 3, 3, 0], np.uint32),
    "dst": np.array([1, 2, 0, 0, 1, 2], np.uint32),
    "depth": np.array([0, 1, 0, 0, 0, 1]),
    "source_counts": np.array([1, 1, 1, 1, 0]),
    "sources": np.array([0, 1, 2, 3], np.uint32),
}
NAMES = np.array(["a", "bc", "ü", "d"])
HOPS = {"hop_0": np.arange(4, dtype=np.uint32)[:, None], "hop_1": np.arange(8, dtype=np.uint32).reshape(4, 2) % 4}
LINKS = {
    "links": np.array([[0, 1], [1, 2], [2, 0], [3, 0]], np.uint32),
    "negatives": np.array([[2, 3], [0, 0], [NONE, NONE], [1, 2]], np.uint32),
}
RAGGED = {"lengths": np.array([2, 0, 1, 4, 1]), "walks": np.array([0, 1, 2, 3, 3, 1, 2, 0, 1, 0, 1, 3, 0], np.uint32)}


def some_walks(instances=11, length=4, vertices=4, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, length + 1, instances)
    walks = rng.integers(0, vertices, (instances, length + 1)).astype(np.uint32)
    walks[np.arange(length + 1) > lengths[:, None]] = NONE
    return {"walks": walks, "lengths": lengths}


def kept_walks(**how):
    """The same walks as a store has them: their bits are a signed type's, in which those that stand for none are -1."""
    return some_walks(**how)["walks"].view(np.int32)


def files_of(path, results=False):
    """All files of a store with their bytes; timings are in ``results`` alone."""
    found = {str(f.relative_to(path)): f.read_bytes() for f in path.rglob("*") if f.is_file()}
    return {name: data for name, data in found.items() if results or not name.startswith("results/")}


STORES = {"walks": some_walks(), "subgraphs": SUBGRAPHS, "hops": HOPS, "ragged-walks": RAGGED}


def stored(tmp_path, layout, **options):
    return slow.write(tmp_path / "s", SAID, layout, STORES[layout], group_size=2, vertex_ids=NAMES, **options)


def edit(file, *keys, value):
    node = json.loads(file.read_text())
    inner = node
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    file.write_text(json.dumps(node))


def python(code, *arguments):
    """What ``subprocess`` must know to run ``code``, which finds csaw and the helpers of the tests."""
    tests = Path(__file__).parents[1]
    paths = os.pathsep.join([str(tests), str(tests / "_src")])
    return {"args": [sys.executable, "-c", code, *map(str, arguments)], "env": os.environ | {"PYTHONPATH": paths}}
