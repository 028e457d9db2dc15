"""What stands above rows is true of them: the device, the threads, the goals, and the sizes in the names of works."""

import os
import re
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.bench import GRAPH, bench
from helpers.bench_works import replace_clocks, shown

from csaw.datasets.generate import generate
from csaw.engine.bench import run, suites
from csaw.engine.bench.bench_row import MACHINE, Verdict, figure
from csaw.engine.bench.context import Context, Suite
from csaw.engine.bench.graphs import GOAL_DEVICE, GOAL_GRAPH, Graph
from csaw.engine.bench.machine import held_to
from csaw.engine.bench.measure import Timed
from csaw.engine.bench.peers import Child
from csaw.engine.bench.suites import ingest, measures, peers
from csaw.engine.cuda.device import Device
from csaw.engine.schedule.backend import TALLY

UNSAID = {"from-disk", "journey", "peers", "scale-out"}  # whose rows do not say which device did the work
SIZES = {  # in the names of works, and of what
    r"\b([\d,]+) x (\d{2,})$": ("instances", "walk_length"),
    r"\b([\d,]+) x (\d{2,}), (?:and|baseline|batching)": ("instances", "walk_length"),
    r"\b([\d,]+) instances\b": ("instances",),
    r"\b([\d,]+) sources\b": ("instances",),
    r"\b([\d,]+) walks of (\d+) steps": ("instances", "walk_length"),
    r"\bwalk of (\d+)\b": ("walk_length",),
    r"\b(?:length|cut at) (\d+)": ("walk_length",),
}
OF_LAYERS = {"layers", "neighbors"}  # in whose names A x B is a number of layers or a fanout
GPU = Device(0, GOAL_DEVICE, "sm_90", 132, 1 << 37)


def command(name, device, more=""):
    return f"csaw bench rmat:scale=9,weights=1 --suite {name} --device {device} {more}"


@pytest.mark.parametrize("device", ["cpu", "cuda:0", "cuda:0,1,2"])
@pytest.mark.parametrize("name", suites.names())
def test_a_suite_works_on_the_device_that_the_head_names(tmp_path, monkeypatch, name, device):
    replace_clocks(monkeypatch, tmp_path)
    kind = device.partition(":")[0]
    figures = [row for row in shown(command(name, device), 2) if "rate" in row]
    said = [row for row in figures if "ran_on" in row]
    assert said or name in UNSAID or not figures
    others = [row["work"] for row in said if row["ran_on"] != kind]
    if name == "training" and kind == "cuda":  # other loaders draw on the CPU, which their rows say
        assert others == [f"mini-batches, {tool}" for tool in ("PyTorch Geometric", "DGL")]
    else:
        assert others == []


def fake_suite(monkeypatch, name, *rows):
    """A suite that yields these rows."""
    suite = Suite("a claim", lambda context: iter(rows), lambda rows: Verdict(True, "found"))
    monkeypatch.setattr(run.suites, "load", lambda _: suite)
    monkeypatch.setattr(run, "about", lambda device, *_: {"suite": MACHINE, "device": device.name if device else "CPU"})


@pytest.mark.parametrize("device", ["cpu", "cuda:0", "cuda:0,1"])
def test_a_row_says_the_kind_of_the_device_that_its_plan_names(device):
    measure = object.__new__(Timed)
    measure.seconds, measure.edges, measure.tallies = [1.0, 2.0], [5, 5], [0, np.zeros(len(TALLY), np.int64)]
    measure.work = SimpleNamespace(name="a walk", unit="edges/s", instances=3, goal=None)
    measure.job = SimpleNamespace(plan=SimpleNamespace(select="its", graph_layout="csr", device=device))
    measure._streaming, measure._rates = dict, lambda: [5.0]
    assert measure.row()["ran_on"] == device.partition(":")[0]


@pytest.mark.parametrize("devices", [(), (GPU,)])
@pytest.mark.parametrize("ran_on", ["cpu", "cuda"])
def test_a_row_of_another_device_is_named_as_not_measured(monkeypatch, devices, ran_on):
    one = {"graph": "g", "vertices": 4, "work": "a walk", "peer": "dgl", **figure([1.0]), "ran_on": ran_on}
    fake_suite(monkeypatch, "walks", one, one | {"work": "b", "not_measured": "it is too large"})
    context = Context([], devices)
    vars(context)["limits"] = []
    _, row, gap, *_ = run.run(context, ["walks"])
    if ran_on == context.where:
        assert row == {"suite": "walks"} | one
    else:
        head = context.device.name if devices else "CPU"
        why = f"{ran_on} has measured it, and this run is of {head}; run with --device {ran_on}"
        about = {"graph": "g", "vertices": 4, "peer": "dgl"}
        assert row == {"suite": "walks", **about, "work": "a walk", "not_measured": why}
    assert gap["not_measured"] == "it is too large"


@pytest.mark.parametrize("quick", [False, True])
def test_a_quick_run_has_neither_verdicts_nor_goals(monkeypatch, quick):
    goals = {"goal": 2.0, "goal_of": "another's", "met": False}
    fake_suite(monkeypatch, "walks", {"work": "a walk", **figure([1.0]), **goals}, {"work": "b", **figure([2.0])})
    context = Context([], quick=quick)
    vars(context)["limits"] = []
    _, *rows = run.run(context, ["walks", "neighbors"])
    assert [goals.items() <= row.items() for row in rows if row.get("work") == "a walk"] == [not quick] * 2
    assert [row["suite"] for row in rows if "claim" in row] == ([] if quick else ["walks", "neighbors"])
    assert len(rows) == (4 if quick else 6)


def test_goals_are_of_the_device_and_the_graph_that_they_are_meant_for():
    here, there = Graph(GOAL_GRAPH, None), Graph("rmat:scale=9,weights=1", None)
    other = Device(0, "NVIDIA A100", "sm_80", 108, 1 << 36)
    assert Context([], (GPU,)).has_goals(here)
    assert not any(Context([], (GPU,)).has_goals(one) for one in (there, Graph(f"{GOAL_GRAPH},seed=2", None)))
    assert not any(Context([], devices).has_goals(here) for devices in ((), (other,)))


@pytest.mark.parametrize("more", ["--quick", "--max-instances 3000"])
@pytest.mark.parametrize("device", ["cpu", "cuda:0,1"])
@pytest.mark.parametrize("name", [name for name in suites.names() if name not in UNSAID - {"from-disk"}])
def test_names_say_how_much_is_drawn(tmp_path, monkeypatch, name, device, more):
    replace_clocks(monkeypatch, tmp_path)
    for row in shown(command(name, device, more), 2):
        work, found = row.get("drawn"), 0
        for pattern, what in SIZES.items() if work else ():
            if (said := re.search(pattern, row["work"])) and not (" x " in pattern and name in OF_LAYERS):
                numbers = {"instances": work.instances, **work.options}
                assert [int(number.replace(",", "")) for number in said.groups()] == [numbers[one] for one in what]
                found += 1
        assert found or not work or not work.sized


def test_sizes_stand_in_the_names_of_small_works(tmp_path, monkeypatch):
    replace_clocks(monkeypatch, tmp_path)

    def works(name, more="", device="cuda:0"):
        return [row["work"] for row in shown(command(name, device, more), 2)]

    assert {"uniform walk, 4000 x 2000", "DeepWalk, length 100"} < set(works("walks"))
    quick = works("walks", "--quick")
    assert {"uniform walk, 200 x 100", "biased by degree, 200 x 100", "DeepWalk, length 100"} < set(quick)
    assert "2000 instances, 2 x 2 by degree, 1 GPU(s)" in works("scaling")
    assert "50 instances, 2 x 2 by degree, 1 GPU(s)" in works("scaling", "--max-instances 50")
    fewer = works("transit", "--max-instances 50")
    assert "25 x 10, with replacement, 10 samples of a source, transit-parallel" in fewer
    assert not [work for work in fewer if "100 samples" in work or "2,000 samples" in work]
    assert "walk by degree, 50 x 50, baseline" in works("out-of-memory", "--max-instances 50")
    assert "walk by degree, 500 x 50, baseline" in works("out-of-memory")


@pytest.mark.parametrize("title", [title for title in peers.WORKS if "walks" in peers.WORKS[title]])
def test_a_graph_of_fewer_vertices_than_walks_begin_at_is_not_measured(tmp_path, title):
    small, large = (generate(f"rmat:scale={scale}", tmp_path / f"{scale}.zarr") for scale in (8, 13))
    assert "4,000 walks begin at different vertices, and the graph has 2" in peers._too_small(small, title)
    assert peers._too_small(large, title) == ""
    assert peers._too_small(small, "uniform walk") == ""


def test_text_is_read_by_the_cpu_alone(tmp_path):
    rows = list(ingest.rows(Context([], (GPU,), out=tmp_path)))
    assert [row["work"] for row in rows] == list(ingest.NAMES.values())
    assert {row["not_measured"] for row in rows} == {
        "text is read by the CPU, and this run is of a GPU; run with --device cpu"
    }


def test_grouptc_is_not_measured_under_the_head_of_a_cpu():
    row = measures.by_groups(Context([]), None)
    assert row["not_measured"] == "it runs on a GPU, and this run is of the CPU; run with --device cuda"


PROCESSORS = """
import os
class Counting:
    def __init__(self, how, graph): pass
    def draw(self): return []
    def rate(self, drawn): return len(os.sched_getaffinity(0))
TOOLS = {"counting": Counting}
"""


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_other_programs_have_the_processors_that_the_head_names(tmp_path, threads):
    (tmp_path / "counting.py").write_text(PROCESSORS)
    mine = os.sched_getaffinity(0)
    child = Child("counting", "python3", {"folder": str(tmp_path), "threads": threads}, tmp_path / "counting.py")
    assert child.ask()["rate"] == min(threads, len(mine))
    child.end()
    with held_to(threads):
        assert os.sched_getaffinity(0) == set(sorted(mine)[:threads])
    assert os.sched_getaffinity(0) == mine


def test_the_terminal_shows_no_verdict_of_a_quick_run(tmp_path):
    _, said, rows = bench(GRAPH, "--quick", "--suite", "triangles", folder=tmp_path)
    assert not [row for row in rows if "claim" in row]
    assert not re.search("claim|goal|met|missed|holds", said)
    _, said, rows = bench(GRAPH, "--repeats", "1", "--suite", "triangles", folder=tmp_path)
    assert rows[-1]["claim"] in said
    assert re.search("goal .* (met|missed)", said)
