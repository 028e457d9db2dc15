"""Samplers that are programs for GPUs: their files are what they read, and their laws are tested where walks come back.

The programs here are scripts that check their files and arguments and print what those programs print.
"""

import sys

import numpy as np
import pytest
from helpers.peer_programs import programs

from csaw.engine.bench.peers import Child, PeerError
from csaw.engine.bench.suites import peers

FLOWWALKER = """
given = dict(one.lstrip("-").split("=") for one in sys.argv[1:] if "=" in one)
asked = {one for one in sys.argv[1:] if "=" not in one}
head = np.fromfile(given["input"] + "_xadj.bin", np.int32)
vertices, edges, rows = head[0], head[1], head[2:]
to, bias = (np.fromfile(given["input"] + f"_{what}.bin", kind) for what, kind in (("edge", "<i4"), ("weight", "<f4")))
walks, steps = int(given["n"]), int(given["d"])
assert rows.size == vertices + 1 and rows[-1] == edges == to.size == bias.size and "-deepwalk" in asked
random = np.random.default_rng(1)
print("s.cu:1 HOST: grid:132,block:512,sampling time:2.500000 ms")
if "-printresult" in asked:
    for i in range(walks):
        walk = [i % vertices]
        for _ in range(steps):
            row = slice(rows[walk[-1]], rows[walk[-1] + 1])
            chance = bias[row].astype(float) ** POWER
            walk.append(random.choice(to[row], p=chance / chance.sum()))
        print("-" * 22, f"Walker {i}:", "".join(f"{v}\\t" for v in walk), f"Total length={len(walk)}", sep="\\n")
    print(f"Total sampled: {walks * steps}")
else:
    assert "-seq" in asked
    print(f"Total sampled vertex: {walks * steps}\\nTotal sampled edge: 7,throughput: 1.0 edges per s")
"""
NEXTDOOR = """
assert [given[name] for name in ("-t", "-f", "-n", "-k")] == ["edge-list", "binary", "1", "SampleParallel"]
edges = np.fromfile(given["-g"], [("src", "<i4"), ("dst", "<i4"), ("weight", "<f4")])
vertices = 1 + max(edges["src"].max(), edges["dst"].max())
random = np.random.default_rng(1)
at = np.arange(100 * vertices) % vertices
walks = []
for _ in range(100):
    step = np.empty(at.size, int)
    for v in range(vertices):
        mine = edges[edges["src"] == v]
        bias = mine["weight"].astype(float) ** POWER
        step[at == v] = random.choice(mine["dst"], (at == v).sum(), p=bias / bias.sum())
    walks.append(at := step)
print("Graph Binary Loaded\\nSampleParallel: End to end time 0.125 secs")
if "-p" in sys.argv:
    for i, walk in enumerate(np.column_stack(walks).tolist()):
        print(f"Contents of sample {i} [" + "".join(f"{v}, " for v in walk) + "]")
print(f"totalSampledVertices {100 * at.size}")
"""
SKYWALKER = """
given = dict(one.lstrip("-").split("=") for one in sys.argv[1:] if "=" in one)
assert "--rw" in sys.argv and (given["bias"], given["k"], given["ngpu"]) == ("false", "1", "1")
data = open(given["input"], "rb").read()
version, edge_bytes, vertices, edges = np.frombuffer(data, np.uint64, 4).tolist()
rows = np.concatenate([[0], np.frombuffer(data, np.uint64, vertices, 32)]).astype(int)
to = np.frombuffer(data, np.uint32, edges, 32 + 8 * vertices)
assert (version, edge_bytes, rows[-1], len(data)) == (1, 0, edges, 32 + 8 * vertices + 4 * edges)
steps = int(given["d"])
random = np.random.default_rng(1)
print("skywalker.gr")
if "--printresult" in sys.argv:
    for i in range(3):
        walk = [i]
        for _ in range(steps - 1):
            row = to[rows[walk[-1]] : rows[walk[-1] + 1]]
            walk.append(row[int(random.random() ** POWER * row.size)])
        print(f"\\n{i}rd path len {steps} ", "".join(f"{v} \\t" for v in walk), sep="\\n")
print("\\n0.50\\t\\n123.25\\t")
"""


@pytest.mark.parametrize("weighted", [False, True])
def test_flowwalkers_walks_are_tested_and_its_rate_is_by_its_own_clock(tmp_path, how, weighted):
    asked = how | {"weighted": weighted}
    right, wrong = (
        programs(tmp_path / power, ("flowwalker",), FLOWWALKER.replace("POWER", power)) for power in ("1", "1.5")
    )
    child = Child("flowwalker", sys.executable, asked | {"programs": right})
    assert child.ask() == {"rate": 5 * 4 / 0.0025}
    child.end()
    peers._check_law("flowwalker", sys.executable, asked | {"programs": right})
    if weighted:
        with pytest.raises(PeerError, match="it draws from another law"):
            peers._check_law("flowwalker", sys.executable, asked | {"programs": wrong})


@pytest.mark.parametrize("weighted", [False, True])
def test_nextdoors_walks_are_tested_and_its_rate_is_by_its_own_clock(tmp_path, how, weighted):
    asked = how | {"weighted": weighted}
    right, wrong = (
        programs(tmp_path / power, ("DeepWalkSampling",), NEXTDOOR.replace("POWER", power)) for power in ("1", "1.5")
    )
    child = Child("nextdoor", sys.executable, asked | {"programs": right})
    assert child.ask() == {"rate": 5 * 100 * 100 / 0.125}
    child.end()
    peers._check_law("nextdoor", sys.executable, asked | {"programs": right})
    if weighted:
        with pytest.raises(PeerError, match="it draws from another law"):
            peers._check_law("nextdoor", sys.executable, asked | {"programs": wrong})


def test_skywalkers_walks_are_tested_and_its_rate_is_by_its_own_clock(tmp_path, how):
    right, wrong = (
        programs(tmp_path / power, ("skywalker",), SKYWALKER.replace("POWER", power)) for power in ("1", "1.5")
    )
    child = Child("skywalker", sys.executable, how | {"programs": right})
    assert child.ask() == {"rate": 123.25e6}
    child.end()
    peers._check_law("skywalker", sys.executable, how | {"programs": right})
    with pytest.raises(PeerError, match="it draws from another law"):
        peers._check_law("skywalker", sys.executable, how | {"programs": wrong})


C_SAW = """
name, rows, edges, blocks, threads, walks, frontier, neighbors, depth, gpus = sys.argv[1:]
indptr, indices = np.fromfile(rows, np.int64), np.fromfile(edges, np.int64)
assert indptr[-1] == indices.size and indptr.size - 1 == indices.max() + 1 and (np.diff(indptr) <= 1 << 14).all()
assert (blocks, threads, walks, frontier, neighbors, depth, gpus) == ("400", "128", "40", "1", "1", "20", "1")
print(f"810,{name},0.250000,0.250000")
"""


def ring(vertices):
    """A graph in which each vertex has the next one as its only neighbor."""
    indices = (np.arange(vertices) + 1) % vertices
    return {"indptr": np.arange(vertices + 1), "indices": indices, "weights": np.ones(vertices, np.float32)}


def test_c_saws_rate_is_by_its_own_clock_and_its_law_is_not_tested(tmp_path, how):
    np.savez(tmp_path / "csr.npz", **ring(10_001))
    folder = programs(tmp_path / "bin", ("sampling.bin",), C_SAW)
    asked = how | {"walks": 40, "length": 20, "by_degree": True, "programs": folder}
    child = Child("c-saw", sys.executable, asked)
    assert child.ask() == {"rate": 810 / 0.25}
    child.end()
    assert peers._unchecked("c-saw", "walk by degree 4000 x 2000") == "its walks are not handed out, nor its law tested"


def test_c_saw_takes_no_graph_that_its_buffers_cannot_hold(tmp_path, how):
    hub = 1 + (1 << 14)
    indptr = np.concatenate([[0, hub], hub + np.arange(1, hub + 1)])
    indices = np.concatenate([np.arange(1, hub + 1), np.zeros(hub, np.int64)])
    star = {"indptr": indptr, "indices": indices, "weights": np.ones(2 * hub, np.float32)}
    for arrays, said in ((star, "a row of 16,385"), (ring(9_000), "9,000 vertices")):
        np.savez(tmp_path / "csr.npz", **arrays)
        with pytest.raises(PeerError, match=said):
            Child("c-saw", sys.executable, how | {"walks": 40, "programs": str(tmp_path)})
