"""Samplers that are programs: their files are what they read, their words are understood, and their laws are tested
where walks come back.

The programs here are scripts that check their files and arguments and print what ThunderRW and KnightKing print.
"""

import stat
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.bench import GRAPH

from csaw.engine.bench import peer_loop, peer_process
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import given
from csaw.engine.bench.peer_law import REJECT, chance_of_law, small_graph
from csaw.engine.bench.peer_process import Child, PeerError
from csaw.engine.bench.suites import peers, triangles
from csaw.partition import write_graph
from csaw.partition.errors import OptionError

HEAD = f"#!{sys.executable}\nimport sys\nimport numpy as np\ngiven = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"
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


def programs(folder, names, text):
    folder.mkdir()
    for name in names:
        (folder / name).write_text(HEAD + text)
        (folder / name).chmod(stat.S_IRWXU)
    return str(folder)


@pytest.fixture
def how(tmp_path):
    """What a peer is told to draw on the graph of five vertices."""
    arrays = small_graph()
    np.savez(tmp_path / "csr.npz", indptr=arrays.indptr, indices=arrays.indices, weights=arrays.weights)
    return {"folder": str(tmp_path), "threads": 2, "length": 4, "rounds": 1, "listed": [], "together": 1}


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


def test_each_device_has_peers_of_its_own():
    of = {kind: {name for name in peers.NAMES if kind in peers._devices(name)} for kind in ("cpu", "cuda")}
    assert of["cuda"] == {"csaw", "flowwalker"}
    assert "flowwalker" not in of["cpu"]
    assert "thunderrw" in of["cpu"]


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
    monkeypatch.setattr(peer_process, "LIMIT_SECONDS", 5.0)
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
    context = Context([given(GRAPH)], threads=2, repeats=1, out=tmp_path, only="grouptc", peers={"grouptc": folder})
    [row] = triangles.rows(context)
    if "rate" in row:
        assert row["seconds"] == pytest.approx(0.004)
        assert row["rate"] == row["stored_edges"] / 2 / row["seconds"]
        assert row["note"] == "its kernel alone 1 ms"
    else:
        assert row["not_measured"].startswith(said)


def test_csaws_mini_batches_pass_the_check_of_the_law(tmp_path, how):
    small = small_graph()
    write_graph(tmp_path / "g.zarr", small.indptr, small.indices, small.weights, directed=False)
    listed = np.repeat(np.arange(small.indptr.size - 1), 400).tolist()
    asked = how | peers.WORKS["mini-batches 25 x 10"] | {"graph": str(tmp_path / "g.zarr"), "listed": listed}
    tool = peer_loop.open_tool(str(peer_process.PEERS / "csaw.py"), asked | {"fanout": [1]})
    np.save(tmp_path / "pairs.npy", tool.walks(tool.draw()))
    assert chance_of_law(str(tmp_path / "pairs.npy"), {}) > REJECT
    np.save(tmp_path / "pairs.npy", np.load(tmp_path / "pairs.npy")[:, ::-1])
    assert chance_of_law(str(tmp_path / "pairs.npy"), {}) < REJECT, "pairs are of a vertex and one that it selected"


def test_a_work_whose_law_is_not_tested_says_so():
    assert peers._unchecked("dgl", "GraphSAINT walks 3000 x 2") == "the law of subgraphs is not tested"
    assert peers._unchecked("csaw", "PPR .15 from a hub") == "the law of ends is not tested"
    assert peers._unchecked("graphbolt", "mini-batches 25 x 10") == ""


def test_a_peer_whose_law_cannot_be_tested_says_so_in_its_row():
    said = {"csaw": [{"rate": 2.0, "peak_mib": 1}], "thunderrw": [{"rate": 1.0}]}
    mine, other = peers._figures("uniform walk", said)
    assert "note" not in mine
    assert other["note"] == "its walks are not handed out, nor its law tested"
    assert "peak_mib" not in other
