"""Samplers that are programs: their files are what they read, their words are understood, and their laws are tested
where walks come back.

The programs here are scripts that check their files and arguments and print what ThunderRW and KnightKing print.
"""

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.bench import GRAPH
from helpers.machine import need_package
from helpers.peer_programs import programs

from csaw.engine.bench import peer_loop
from csaw.engine.bench import peers as samplers
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import given
from csaw.engine.bench.networks import network_of
from csaw.engine.bench.peers import Child, PeerError
from csaw.engine.bench.peers import csaw as csaw_peer
from csaw.engine.bench.suites import measures, peers
from csaw.engine.bench.suites.peers import REJECT, chance_of_law, small_graph
from csaw.engine.cuda.device import Device
from csaw.engine.runs.job import prepare
from csaw.partition import write_graph
from csaw.partition.errors import OptionError

THUNDERRW_PROGRAMS = ("deepwalk.out", "node2vec.out", "ppr.out")
THUNDERRW = """
folder = given["-f"]
degrees = np.fromfile(f"{folder}/b_degree.bin", np.int32)
size, vertices, edges, degrees = degrees[0], degrees[1], degrees[2:4].view(np.int64)[0], degrees[4:]
assert (size, vertices, edges) == (4, degrees.size, degrees.sum()) 
assert (np.fromfile(f"{folder}/b_adj.bin", np.int32) < vertices).all()
assert np.fromfile(f"{folder}/b_edge_weight.bin", np.float64).size == edges
assert sys.argv[3:] == ["-n", "2", *EXPECTED], sys.argv
steps = vertices * 4
for line in ("Step interleaving enabled.", f"Num of steps: {steps}", "Thread 0 Throughput (steps per second): 7.00",
             f"Throughput (steps per second): {1000 * steps:.2f}", "Release...", "Done."):
    began = "2026-11-22 22:46:55 \\x1b[32mINFO  (et: 0.144949 s)\\x1b[0m\\x1b[36m (func: compute) \\x1b[0m "
    print(f"{began}\\x1b[90mcreeper.h:803:\\x1b[0m {line}", file=sys.stderr)
"""
KNIGHTKING = """
edges = np.fromfile(given["-g"], [("src", "<u4"), ("dst", "<u4"), ("weight", "<f4")][: 2 + (given["-s"] == "weighted")])
vertices, walkers, length = (int(given[name]) for name in ("-v", "-w", "-l"))
random = np.random.default_rng(1)
walks = np.arange(walkers)[:, None] % vertices
for _ in range(length):
    at, step = walks[:, -1], np.empty(walkers, int)
    for v in range(vertices):
        mine = edges[edges["src"] == v]
        bias = mine["weight"] if given["-s"] == "weighted" else np.ones(mine.size)
        bias = bias ** POWER
        step[at == v] = random.choice(mine["dst"], (at == v).sum(), p=bias / bias.sum())
    walks = np.column_stack([walks, step])
print("step(0), active(10), time(0.002)\\nfinish assembling in 0.004000 seconds")
if "-o" in given:
    with open(given["-o"] + ".0", "w") as out:
        out.writelines("".join(f" {v}" for v in walk) + "\\n" for walk in walks.tolist())
print("total time 0.250000s")
"""

CUPY = """
from numpy import *
asnumpy = asarray
class Device:
    used = []
    def __init__(self, number): self.number = number
    def use(self): self.used.append(self.number)
    def synchronize(self): assert self.used == [self.number]
class cuda:
    Device = Device
"""
PYLIBCUGRAPH = """
import numpy as np
random = np.random.default_rng(1)
class ResourceHandle: pass
class GraphProperties:
    def __init__(self, *, is_symmetric, is_multigraph): self.symmetric = is_symmetric
class SGGraph:
    def __init__(self, handle, properties, src, dst, *, weight_array, store_transposed, renumber, do_expensive_check):
        assert src.dtype == dst.dtype == np.int32 and weight_array.dtype == np.float32 and not renumber
        self.src, self.dst, self.weights = src, dst, weight_array
        pairs = dict(zip(zip(src.tolist(), dst.tolist()), weight_array.tolist()))
        assert properties.symmetric == all(pairs[v, u] == weight for (u, v), weight in pairs.items())
    def step(self, at, power):
        out = np.empty(at.size, np.int32)
        for v in set(at.tolist()):
            mine = self.src == v
            bias = self.weights[mine].astype(float) ** power
            out[at == v] = random.choice(self.dst[mine], (at == v).sum(), p=bias / bias.sum())
        return out
def walks(graph, starts, length, power):
    found = [starts]
    for _ in range(length):
        found.append(graph.step(found[-1], power))
    return np.column_stack(found).ravel(), None, length
def uniform_random_walks(handle, graph, starts, length):
    return walks(graph, starts, length, 0)
def biased_random_walks(handle, graph, starts, length):
    return walks(graph, starts, length, POWER)
def homogeneous_uniform_neighbor_sample(handle, graph, starts, offsets, fanout, *, with_replacement,
                                        do_expensive_check):
    assert fanout.tolist() == [1] and not with_replacement and offsets is None
    return {"majors": starts, "minors": graph.step(starts, 0 if POWER == 1 else 1)}
"""
DGL = """
import torch
class Graph:
    def __init__(self, rows, columns):
        self.rows, self.columns, self.edata = rows, columns, {}
    def to(self, device):
        assert device == "cpu"
        return self
    def num_nodes(self):
        return self.rows.size - 1
def graph(formed):
    kind, (rows, columns, eids) = formed
    assert kind == "csr"
    return Graph(rows, columns)
class sampling:
    def random_walk(graph, starts, length, prob):
        import numpy as np
        random, at, found = np.random.default_rng(1), starts.numpy(), [starts.numpy()]
        for _ in range(length):
            step = np.empty_like(at)
            for v in set(at.tolist()):
                row = slice(graph.rows[v], graph.rows[v + 1])
                bias = graph.edata[prob].numpy()[row].astype(float) ** POWER
                step[at == v] = random.choice(graph.columns[row], (at == v).sum(), p=bias / bias.sum())
            found.append(at := step)
        return torch.from_numpy(np.column_stack(found)), None
"""
GSAMPLER = """
import torch
class Matrix:
    def load_graph(self, kind, tensors):
        assert kind == "CSC"
        self.rows, self.columns = tensors
    def random_walk(self, starts, length):
        generator = torch.Generator().manual_seed(1)
        degrees, found = self.rows.diff(), [starts]
        for _ in range(length):
            chance = torch.rand(starts.numel(), generator=generator) ** POWER
            found.append(self.columns[self.rows[found[-1]] + (chance * degrees[found[-1]]).long()])
        return torch.cat(found).reshape(starts.numel(), -1)
class matrix_api:
    Matrix = Matrix
"""
TEMPEST = """
import math, random
import numpy as np
BIASES = {
    "Uniform": lambda k, n: 1,
    "Linear": lambda k, n: n - k,
    "ExponentialIndex": lambda k, n: math.exp(-k),
}
class Tempest:
    def __init__(self, is_directed, use_gpu=False, *, global_seed, cuda_device_id):
        assert (is_directed, use_gpu, cuda_device_id) == (False, WHERE, 1 if WHERE else 0)
        self.random, self.rows = random.Random(global_seed), {}
    def add_multiple_edges(self, sources, targets, times):
        assert sources.dtype == targets.dtype == np.int32 and times.dtype == np.int64
        for u, v, time in zip(sources.tolist(), targets.tolist(), times.tolist()):
            self.rows.setdefault(u, []).append((v, time))
            self.rows.setdefault(v, []).append((u, time))
    def step(self, at, now, bias):
        later = sorted({time for _, time in self.rows[at] if time > now})
        if not later:
            return None
        time = self.random.choices(later, [BIASES[bias](k, len(later)) ** POWER for k in range(len(later))])[0]
        return self.random.choice([v for v, t in self.rows[at] if t == time]), time
    def get_random_walks_and_times_for_all_nodes(self, *, max_walk_len, walk_bias, num_walks_per_node,
                                                 initial_edge_bias, walk_direction):
        assert initial_edge_bias == walk_bias and walk_direction == "Forward_In_Time"
        begun = np.repeat(sorted(self.rows), num_walks_per_node)
        nodes = np.full((begun.size, max_walk_len), -1, np.int32)
        times, lengths = np.full(nodes.shape, -1, np.int64), np.zeros(begun.size, np.uint64)
        for walk, at in enumerate(begun.tolist()):
            now = np.iinfo(np.int64).min
            for place in range(max_walk_len):
                nodes[walk, place], times[walk, place], lengths[walk] = at, now, place + 1
                if (found := self.step(at, now, walk_bias)) is None:
                    break
                at, now = found
        return nodes, times, lengths, None
"""


def modules(folder, monkeypatch, **texts):
    """An interpreter that has these modules, which stand before those of the same names."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["-l", "5", "-em", "0", "-sm", "0"]),
        ({"weighted": True}, ["-l", "5", "-ew", "-em", "1", "-sm", "2"]),
        ({"p": 0.25, "q": 4.0}, ["-l", "5", "-p", "0.25", "-q", "4"]),
        ({"ends": 0.15}, ["-sp", "0.15"]),
    ],
)
def test_thunderrw_is_given_its_files_and_its_rate_is_the_one_of_all_threads(tmp_path, how, options, expected):
    folder = programs(tmp_path / "bin", THUNDERRW_PROGRAMS, THUNDERRW.replace("EXPECTED", str(expected)))
    child = Child("thunderrw", sys.executable, how | options | {"programs": folder})
    assert child.ask() == {"rate": 1000 * 5 * 4}
    child.end()


@pytest.mark.parametrize("weighted", [False, True])
def test_knightkings_walks_are_tested_and_its_rate_is_by_its_own_clock(tmp_path, how, weighted):
    folder = programs(tmp_path / "bin", ("deepwalk", "node2vec"), KNIGHTKING.replace("POWER", "1"))
    asked = how | {"weighted": weighted, "programs": folder}
    child = Child("knightking", sys.executable, asked)
    assert child.ask() == {"rate": 5 * 4 / 0.25}
    child.end()
    peers._check_law("knightking", sys.executable, asked)
    wrong = programs(tmp_path / "wrong", ("deepwalk", "node2vec"), KNIGHTKING.replace("POWER", "1.3"))
    if weighted:
        with pytest.raises(PeerError, match="it draws from another law"):
            peers._check_law("knightking", sys.executable, asked | {"programs": wrong})


CUGRAPH_WORKS = ("uniform walk", "weighted walk", "neighbors 25 x 10", "walk by degree 4000 x 2000")


@pytest.mark.parametrize("title", CUGRAPH_WORKS)
def test_cugraphs_samples_are_tested_and_counted_on_the_gpu_that_is_named(tmp_path, how, monkeypatch, title):
    asked = how | peers.WORKS[title] | {"device": "cuda:1"}
    for power in ("1", "1.5"):
        modules(tmp_path / power, monkeypatch, cupy=CUPY, pylibcugraph=PYLIBCUGRAPH.replace("POWER", power))
        if power == "1" or title == "uniform walk":
            peers._check_law("cugraph", sys.executable, asked)
        else:
            with pytest.raises(PeerError, match="it draws from another law"):
                peers._check_law("cugraph", sys.executable, asked)
    tool = samplers.file_of("cugraph")
    monkeypatch.syspath_prepend(tmp_path / "1")
    for fake in ("cupy", "pylibcugraph"):
        monkeypatch.setitem(sys.modules, fake, None)  # so that other tests find what was there before
        del sys.modules[fake]
    opened = peer_loop.open_tool(str(tool), "cugraph", asked | {"listed": [3, 0], "length": 2, "fanout": [1]})
    assert peer_loop.count(opened, opened.draw()) == 2, "an edge for each source"
    del opened.how["fanout"]
    expected = 2 if title == "walk by degree 4000 x 2000" else opened.starts.size
    assert peer_loop.count(opened, opened.draw()) == 2 * expected


def test_gsamplers_walks_are_tested_as_they_lie_in_memory(tmp_path, how, monkeypatch):
    need_package("torch")
    modules(tmp_path / "right", monkeypatch, gs=GSAMPLER.replace("POWER", "1"))
    peers._check_law("gsampler", sys.executable, how | {"device": "cpu"})
    modules(tmp_path / "wrong", monkeypatch, gs=GSAMPLER.replace("POWER", "1.5"))
    with pytest.raises(PeerError, match="it draws from another law"):
        peers._check_law("gsampler", sys.executable, how | {"device": "cpu"})


@pytest.mark.parametrize("device", ["cpu", "cuda:1"])
@pytest.mark.parametrize("title", [title for title in peers.WORKS if "time_bias" in peers.WORKS[title]])
def test_tempests_walks_in_time_are_tested_on_the_device_that_is_named(tmp_path, how, monkeypatch, title, device):
    asked = how | peers.WORKS[title] | {"device": device}
    fake = TEMPEST.replace("WHERE", str(device != "cpu"))
    modules(tmp_path / "right", monkeypatch, tempest=fake.replace("POWER", "1.0"))
    peers._check_law("tempest", sys.executable, asked)
    child = Child("tempest", sys.executable, asked)
    assert child.ask()["rate"] > 0
    child.end()
    if title != "temporal walk":  # a power leaves uniform chances as they are
        modules(tmp_path / "wrong", monkeypatch, tempest=fake.replace("POWER", "1.5"))
        with pytest.raises(PeerError, match="it draws from another law"):
            peers._check_law("tempest", sys.executable, asked)


@pytest.mark.parametrize("power", ["1", "1.5"])
def test_dgls_walks_by_degree_are_tested(tmp_path, how, monkeypatch, power):
    need_package("torch")
    modules(tmp_path / power, monkeypatch, dgl=DGL.replace("POWER", power))
    asked = how | peers.WORKS["walk by degree 4000 x 2000"] | {"device": "cpu"}
    if power == "1":
        peers._check_law("dgl", sys.executable, asked)
    else:
        with pytest.raises(PeerError, match="it draws from another law"):
            peers._check_law("dgl", sys.executable, asked)


def test_each_device_has_peers_and_works_of_its_own():
    of = {kind: {name for name in peers.NAMES if kind in samplers.TOOLS[name].devices} for kind in ("cpu", "cuda")}
    assert of["cuda"] == {
        "c-saw",
        "csaw",
        "cugraph",
        "dgl",
        "flowwalker",
        "gsampler",
        "nextdoor",
        "pyg-lib",
        "skywalker",
        "tempest",
    }
    assert of["cuda"] - of["cpu"] == {"c-saw", "cugraph", "flowwalker", "gsampler", "nextdoor", "skywalker"}
    assert "thunderrw" in of["cpu"]
    assert peers._works("pyg-lib", "cuda:0") == ("uniform walk",)
    assert "node2vec p=2 q=.5" in peers._works("dgl", "cpu")
    assert "node2vec p=2 q=.5" not in peers._works("dgl", "cuda:0")
    assert peers._works("csaw", "cuda:0") == peers._works("csaw", "cpu") == tuple(peers.WORKS)


def test_a_work_by_degree_needs_no_weights_and_has_its_own_walks(how):
    assert [title for title in peers.WORKS if peers._reads_weights(title)] == ["weighted walk"]
    by_degree = peer_loop.rows(how | {"by_degree": True})["weights"]
    degrees = np.diff(small_graph().indptr)
    assert by_degree.tolist() == [degrees[v] for v in small_graph().indices.tolist()]
    assert (peer_loop.rows(how)["weights"] == small_graph().weights).all()


@pytest.mark.parametrize("name", ["csaw", "igraph"])
def test_walks_by_degree_of_csaw_and_igraph_follow_the_law(tmp_path, how, name):
    if name == "igraph":
        need_package("igraph")
    small = small_graph()
    write_graph(tmp_path / "graph.zarr", small.indptr, small.indices, small.weights, directed=False)
    listed = np.repeat(np.arange(small.indptr.size - 1), 1000).tolist()
    asked = how | peers.WORKS["walk by degree 4000 x 2000"]
    asked |= {"graph": str(tmp_path / "graph.zarr"), "listed": listed, "walks": len(listed), "length": 4}
    tool = peer_loop.open_tool(str(samplers.file_of(name)), name, asked)
    np.save(tmp_path / "walks.npy", tool.walks(tool.draw()))
    assert chance_of_law(str(tmp_path / "walks.npy"), asked) > REJECT
    assert chance_of_law(str(tmp_path / "walks.npy"), {}) < REJECT, "a uniform walk is another one"


@pytest.mark.parametrize(
    ("title", "algorithm", "instances", "parameters"),
    [
        ("walk by degree 4000 x 2000", "biased", 3, {"walk_length": 2000, "bias": "degree"}),
        ("multidimensional, frontier 2000", "multidimensional", 500, {"frontier_size": 2000, "walk_length": 20_000}),
        ("MultiRW, 100 roots", "saint-multidimensional", 2000, {"frontier_size": 100, "walk_length": 100}),
        ("layers of 1000 until 2000 vertices", "layer", 3, {"neighbor_size": 1000, "total": 2000, "depth": None}),
    ],
)
def test_csaw_draws_a_work_with_its_parameters(tmp_path, how, title, algorithm, instances, parameters):
    small = small_graph()
    write_graph(tmp_path / "graph.zarr", small.indptr, small.indices, small.weights, directed=False)
    asked = csaw_peer.asked(how | {"listed": [4, 0, 2]} | peers.WORKS[title], None)
    request = prepare(tmp_path / "graph.zarr", device="cpu", weighted=False, **asked).plan.request
    assert (request.algorithm, request.instances) == (algorithm, instances)
    assert parameters.items() <= request.parameters.items()


def test_graphsaints_multirw_has_100_walkers_of_100_steps_and_cuts_off_no_degree(tmp_path, how, monkeypatch):
    asked = []
    monkeypatch.setitem(sys.modules, "graphsaint", SimpleNamespace())
    fake = SimpleNamespace(MRW=lambda *given: asked.extend(given[3:]), RW=None)
    monkeypatch.setitem(sys.modules, "graphsaint.cython_sampler", fake)
    tool = str(samplers.file_of("graphsaint"))
    peer_loop.open_tool(tool, "graphsaint", how | peers.WORKS["MultiRW, 100 roots"])
    threads, of_each, degrees, most, walkers, size = asked
    assert (threads, of_each, most, walkers, size) == (2, 1000, 3, 100, 200)
    assert degrees.tolist() == np.diff(small_graph().indptr).tolist()
    assert degrees.dtype == np.int32


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sys.exit('no such graph')", "deepwalk ended with status 1, its last words: no such graph"),
        ("print('all is well')", "deepwalk ended with status 0, its last words: all is well"),
    ],
)
def test_a_program_that_fails_is_reported_with_its_own_words(tmp_path, how, text, said):
    with pytest.raises(PeerError, match=said):
        Child(
            "knightking", sys.executable, how | {"programs": programs(tmp_path / "bin", ("deepwalk", "node2vec"), text)}
        )


def test_a_program_that_does_not_end_is_ended(tmp_path, how, monkeypatch):
    monkeypatch.setattr(samplers, "LIMIT_SECONDS", 5.0)
    folder = programs(tmp_path / "bin", ("deepwalk", "node2vec"), "")
    (tmp_path / "bin" / "deepwalk").write_text('#!/bin/sh\necho $$ > "$0.pid"\nexec sleep 60\n')
    with pytest.raises(PeerError, match="a draw did not end within 5 s"):
        Child("knightking", sys.executable, how | {"programs": folder})
    status = Path("/proc", (tmp_path / "bin" / "deepwalk.pid").read_text().strip(), "status")
    end = time.monotonic() + 20  # the system takes a moment to end what was killed
    while runs(status):
        assert time.monotonic() < end
        time.sleep(0.02)


def runs(status):
    """Whether the process of a status file in /proc is there, and more than a name that nobody has asked for."""
    try:
        return "Z (zombie)" not in status.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_folder_without_the_programs_is_refused_before_anything_is_measured(tmp_path):
    context = Context([given(GRAPH)], peers={"thunderrw": str(tmp_path)}, quick=True)
    with pytest.raises(
        OptionError,
        match=r"expected a folder with the programs deepwalk.out, node2vec.out, ppr.out; deepwalk.out is not there",
    ):
        next(peers.rows(context))


GROUPTC = """
import configparser, os
settings = configparser.ConfigParser()
assert sys.argv[1].startswith("-config=") and settings.read(sys.argv[1][8:])
comm = settings["comm"]
folder = comm["dataset_file_path"] + comm["datasets_1"]
arrays = (("begin", "<u8"), ("source", "<u4"), ("adjacent", "<u4"))
begin, source, adjacent = (np.fromfile(f"{folder}/{name}.bin", kind) for name, kind in arrays)
assert (np.diff(begin.astype(int)) == np.bincount(source, minlength=begin.size - 1)).all() and (source < adjacent).all()
assert comm.getboolean("GroupTC") and not comm.getboolean("TRUST") and settings["GroupTC"].getint("device") == 0
matrix = np.zeros((begin.size - 1,) * 2, int)
matrix[source, adjacent] = 1
triangles = (matrix @ matrix * matrix).sum() + MORE
lines = {
    "csr2dcsr": "csr2dcsr\\t%s\\t1\\t0.5",
    "csr2rid_dcsr": "csr2rid_dcsr\\t%s\\t1\\t0.003000",
    "GroupTC": f"GroupTC\\t%s\\t{triangles}\\t10\\t0.001000",
}
for place, line in lines.items():
    os.makedirs(comm["log_file_path"] + place)
    with open(comm["log_file_path"] + place + "/time_output.txt", "w") as log:
        log.write(f"[2024-12-06 22:16:42.806] [{place}_file_logger] [info] " + line % folder + "\\n")
print("[2024-12-06 22:16:42.806] [info] Triangle count", triangles)
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GROUPTC.replace("MORE", "0"), ""),
        (GROUPTC.replace("MORE", "1"), "it counts 10,938 triangles, csaw 10,937"),
        ("sys.exit('CUDA error')", "it ended with status 1, its last words: CUDA error"),
    ],
)
def test_grouptc_counts_as_csaw_does_and_its_time_is_all_in(tmp_path, text, said):
    folder = programs(tmp_path / "bin", ("main",), text)
    graph, gpu = given(GRAPH).open(None), Device(0, "a GPU", "sm_90", 132, 1 << 37)
    network = network_of(Context([], threads=2), graph).undirected
    row = measures.by_groups(Context([], (gpu,), 2, 1, out=tmp_path, peers={"grouptc": folder}), network)
    assert row["ran_on"] == "cuda"
    if "rate" in row:
        assert row["seconds"] == pytest.approx(0.004)
        assert row["rate"] == network.edges / 2 / row["seconds"]
        assert row["note"] == "its kernel alone 1 ms"
    else:
        assert row["not_measured"].startswith(said)


def test_csaws_mini_batches_pass_the_check_of_the_law(tmp_path, how):
    small = small_graph()
    write_graph(tmp_path / "g.zarr", small.indptr, small.indices, small.weights, directed=False)
    listed = np.repeat(np.arange(small.indptr.size - 1), 400).tolist()
    asked = how | peers.WORKS["mini-batches 25 x 10"] | {"graph": str(tmp_path / "g.zarr"), "listed": listed}
    tool = peer_loop.open_tool(str(samplers.file_of("csaw")), "csaw", asked | {"fanout": [1]})
    np.save(tmp_path / "pairs.npy", tool.walks(tool.draw()))
    assert chance_of_law(str(tmp_path / "pairs.npy"), {}) > REJECT
    np.save(tmp_path / "pairs.npy", np.load(tmp_path / "pairs.npy")[:, ::-1])
    assert chance_of_law(str(tmp_path / "pairs.npy"), {}) < REJECT, "pairs are of a vertex and one that it selected"


def test_a_work_whose_law_is_not_tested_says_so():
    assert peers._unchecked("dgl", "GraphSAINT walks 3000 x 2") == "the law of subgraphs is not tested"
    assert peers._unchecked("csaw", "PPR .15 from a hub") == "the law of ends is not tested"
    assert peers._unchecked("graphsaint", "MultiRW, 100 roots") == "the law of subgraphs is not tested"
    assert peers._unchecked("igraph", "walk by degree 4000 x 2000") == ""
    assert peers._unchecked("graphbolt", "mini-batches 25 x 10") == ""


def test_a_peer_whose_law_cannot_be_tested_says_so_in_its_row():
    said = {"csaw": [{"rate": 2.0, "peak_mib": 1}], "thunderrw": [{"rate": 1.0}]}
    mine, other = peers._figures("uniform walk", said)
    assert "note" not in mine
    assert other["note"] == "its walks are not handed out, nor its law tested"
    assert "peak_mib" not in other
