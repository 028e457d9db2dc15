"""``csaw bench``: every suite measures and judges, graphs are what their labels say, and a slower run is noticed."""

import json
import logging
import math
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from csaw.cli.bench import SLOWER
from csaw.cli.main import cli
from csaw.datasets.catalog import known
from csaw.datasets.generate import generate
from csaw.datasets.spec import parse_spec
from csaw.engine import sample
from csaw.engine.bench import baseline, files, graphs, peer_law, peer_process, plots, report, suites
from csaw.engine.bench.bench_row import MACHINE, figure, key, measured, short
from csaw.engine.bench.context import Context
from csaw.engine.cpu.batches.walks import Walks
from csaw.partition import write_graph
from csaw.partition.errors import FormatError, StoreError

DOCS = Path(__file__).parents[2] / "docs" / "benchmarks.md"
GRAPH = "rmat:scale=8,weights=1"


@pytest.fixture(autouse=True)
def _restore_logging(monkeypatch):
    monkeypatch.setattr(
        logging.root, "handlers", logging.root.handlers[:]
    )  # the command adds its own, on a stream that closes


def bench(*arguments, folder):
    """Exit status, stdout, and the rows."""
    file = folder / "rows.json"
    done = CliRunner().invoke(
        cli, ["bench", *arguments, "--device", "cpu", "--out", str(folder), "--json", str(file)], catch_exceptions=False
    )
    return done.exit_code, done.output, json.loads(file.read_text()) if file.exists() else []


# The suite of selection compiles a kernel for each method, detector and algorithm: a minute. The journey starts thirty processes.
SLOW = ("selection", "journey")
SUITES = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in suites.names()]


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_measures_beside_the_ceiling_and_judges_its_claim(tmp_path, name):
    code, said, rows = bench(GRAPH, "--quick", "--suite", name, folder=tmp_path)
    assert code == 0, said
    assert rows[0]["suite"] == MACHINE
    assert measured(rows, suite=MACHINE, unit="gathers/s")
    mine = [row for row in rows if row["suite"] == name]
    verdict = mine.pop()
    assert verdict["claim"] in said
    assert verdict["found"] in said
    assert mine
    for row in mine:
        if "not_measured" in row:
            assert row["not_measured"] in said
        else:
            assert 0 < row["slowest"] <= row["rate"] <= row["fastest"]
    figures = measured(mine)
    assert len({key(row) for row in figures}) == len(figures), "a figure is known by its suite, graph and work"
    assert not [path for path in tmp_path.iterdir() if path.name != "rows.json"], "nothing stays in --out"


@pytest.mark.parametrize("memory", [None, "120KiB"])
def test_a_part_of_the_graph_in_memory_is_set_beside_the_least_that_moves(tmp_path, memory):
    line = ["--only", "walk of 20", "--suite", "out-of-memory", "--instances", "200", "--repeats", "1"]
    code, said, rows = bench(
        "rmat:scale=11,weights=1", *line, *(["--memory", memory] if memory else []), folder=tmp_path
    )
    assert code == 0
    mine = {row["work"]: row for row in measured(rows, suite="out-of-memory") if row["work"].startswith("walk of 20, ")}
    parts = [0.5, 0.25, 0.1] if memory is None else [None]
    assert len(mine) == 1 + len(parts)
    assert next(iter(mine)) == "walk of 20, all in memory"
    for share, row in zip(parts, list(mine.values())[1:], strict=True):
        if share:
            assert row["least_bytes"] == pytest.approx(20 * (1 - share) ** 2 * 4 * row["stored_edges"], rel=0.15)
        assert row["of_least"] == row["transfer_bytes"] / row["least_bytes"]
        assert f"{row['of_least']:.2f} times the least" in said
        assert row["limits"]["moving the least"] > 0
        assert row["times"] == row["rate"] / mine["walk of 20, all in memory"]["rate"]


def test_csaw_passes_the_check_of_the_law_that_peers_must_pass_and_a_wrong_walk_does_not(tmp_path):
    _, _, rows = bench(GRAPH, "--quick", "--suite", "peers", folder=tmp_path)
    assert {row["work"] for row in measured(rows, peer="csaw")} == {"uniform walk, csaw", "neighbors 25 x 10, csaw"}
    store = tmp_path / "small.zarr"
    small = peer_law.small_graph()
    write_graph(store, small.indptr, small.indices, small.weights, directed=False)
    walks = sample(
        store, tmp_path / "w.zarr", "node2vec", p=2.0, q=0.5, weighted=False, walk_length=4, num_walks=4000
    ).walks
    np.save(tmp_path / "walks.npy", walks)
    chance = {p: peer_law.chance_of_law(tmp_path / "walks.npy", {"p": p, "q": 0.5}) for p in (2.0, 1.8, 1.0)}
    assert chance[2.0] > 0.01
    assert chance[1.8] < 1e-3
    assert chance[1.0] < peer_law.REJECT


def test_a_peer_that_fails_is_reported_with_its_own_words(tmp_path, monkeypatch):
    monkeypatch.setattr(peer_process, "PEERS", tmp_path)
    for name, code, said in (
        ("broken", "raise ImportError('no such sampler')", "ImportError: no such sampler"),
        ("slow", "import time\ntime.sleep(60)", "a draw did not end within 1 s"),
    ):
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.setattr(peer_process, "LIMIT_SECONDS", 1.0 if name == "slow" else 60.0)
        with pytest.raises(peer_process.PeerError, match=said):
            peer_process.Child(name, sys.executable, {"folder": str(tmp_path)})
    with pytest.raises(peer_process.PeerError, match="nothing cannot be run"):
        peer_process.Child("broken", "nothing", {"folder": str(tmp_path)})


def test_two_suites_in_one_run_and_only_some_works(tmp_path):
    code, _, rows = bench(GRAPH, "--quick", "--suite", "walks,neighbors", "--only", "weighted", folder=tmp_path)
    assert code == 0
    assert {row["suite"] for row in measured(rows)} == {MACHINE, "walks", "neighbors"}
    assert all("weighted" in row["work"] for row in measured(rows) if row["suite"] != MACHINE)
    assert rows[0]["command"] == f"csaw bench {GRAPH} --suite walks,neighbors --only weighted --device cpu --quick"


def test_rows_can_be_printed_and_suites_listed():
    printed = CliRunner().invoke(
        cli, ["bench", GRAPH, "--quick", "--device", "cpu", "--suite", "walks", "--only", "jumps", "--json", "-"]
    )
    assert [row["suite"] for row in json.loads(printed.stdout)] == [MACHINE, MACHINE, "walks", "walks"]
    listed = CliRunner().invoke(cli, ["bench", "--list"]).output.splitlines()
    assert [line.split()[0] for line in listed] == suites.names()


def test_what_was_measured_until_an_interruption_is_kept(tmp_path, monkeypatch):
    measure = Context.measure

    def interrupted(context, graph, works):
        yield next(measure(context, graph, works))
        raise KeyboardInterrupt

    monkeypatch.setattr(Context, "measure", interrupted)
    code, _, rows = bench(GRAPH, "--quick", "--suite", "walks", folder=tmp_path)
    assert code == 1
    assert [row["work"] for row in measured(rows, suite="walks")] == ["uniform walk"]


def test_mistakes_are_said_before_anything_is_measured(tmp_path, monkeypatch):
    (tmp_path / "other.json").write_text('{"not": "ours"}')
    for line, message in {
        "--suite wlks": "no suite called 'wlks'; there are ",
        "--suite walks --only nothing": "--only nothing: no work of walks has that in its name",
        f"--graphs c-saw {GRAPH}": "expected either the paper's graphs or your own",
        f"--baseline {tmp_path}/other.json": "expected the JSON of csaw bench --json",
        "nothing.zarr": "nothing.zarr does not exist",
        f"{GRAPH} --suite peers --peer dlg=python": "--peer dlg: no such peer; there are dgl, ",
    }.items():
        done = CliRunner().invoke(cli, ["bench", "--quick", "--device", "cpu", *line.split()])
        assert done.exit_code == 1
        assert message in str(done.exception)
    done = CliRunner().invoke(cli, ["bench", "--quick", "--json", str(tmp_path / "nowhere" / "rows.json")])
    assert done.exit_code == 2
    assert "is not a directory; make it first" in done.output
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = CliRunner().invoke(cli, ["bench", GRAPH, "--plot", str(tmp_path)])
    assert "pip install '.[plots]'" in str(done.exception)


@pytest.mark.parametrize("what", ["an edge list", "JSON of something else", "link"])
def test_a_file_that_bench_did_not_write_is_neither_replaced_nor_followed(tmp_path, what):
    mine, options = tmp_path / "mine", ["bench", GRAPH, "--quick", "--device", "cpu", "--suite", "walks"]
    mine.write_text({"JSON of something else": '[\n {\n  "of": "mine"\n }\n]'}.get(what, "1 2\n"))
    before = mine.read_bytes()
    for option, place in ("--json", tmp_path / "rows.json"), ("--plot", tmp_path / "walks.png"):
        place.symlink_to(mine) if what == "link" else place.write_bytes(before)
        done = CliRunner().invoke(cli, [*options, option, str(place if option == "--json" else tmp_path)])
        assert isinstance(done.exception, StoreError)
        assert re.search("is a symbolic link" if what == "link" else "is not replaced", str(done.exception))
        assert "walk" not in done.output
        assert place.read_bytes() == before
        assert place.is_symlink() == (what == "link")


def test_rows_and_plots_take_the_place_of_an_earlier_runs(tmp_path):
    for rate in (1e8, 2e8):
        rows = [row("walk", rate, rate, rate)]
        files.write_rows(rows, tmp_path / "rows.json")
        plots.write(rows, tmp_path)
    assert baseline.read(tmp_path / "rows.json") == rows
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.json", "walks.png", "walks.svg"]


LIMIT = {"suite": MACHINE, "work": "gathers", **figure([1e9]), "unit": "gathers/s"}


class Clock:
    """Seconds that pass when a batch of walks says so, and not while other work has the processor."""

    def __init__(self, monkeypatch):
        self.now, self.turns = 0.0, 0
        self.advance = Walks.advance
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(Walks, "advance", lambda walks: self.spend(walks))
        self.seconds = 0.1

    def spend(self, walks):
        self.advance(walks)
        self.turns += 1
        self.now += self.seconds * (1 + 0.02 * (self.turns % 3))  # some noise


LINE = [GRAPH, "--suite", "walks", "--only", "uniform walk, 4000", "--instances", "20", "--repeats", "3"]


def test_a_slower_kernel_is_caught_by_the_baseline_and_the_same_speed_is_not(tmp_path, monkeypatch):
    before = tmp_path / "before.json"
    monkeypatch.setattr(Context, "limits", [LIMIT])
    clock = Clock(monkeypatch)
    before.write_text(json.dumps(bench(*LINE, folder=tmp_path)[2]))
    code, said, _ = bench(*LINE, "--baseline", str(before), folder=tmp_path)
    assert code == 0
    assert "0 slower, 0 faster of 2 figures" in said
    clock.seconds *= 1.2
    code, said, _ = bench(*LINE, "--baseline", str(before), folder=tmp_path)
    assert code == SLOWER == 4
    assert f"slower: walks, {GRAPH}, uniform walk, 4000 x 2000" in said
    clock.seconds /= 1.5
    code, said, _ = bench(*LINE, "--baseline", str(before), folder=tmp_path)
    assert code == 0
    assert f"faster: walks, {GRAPH}, uniform walk, 4000 x 2000" in said


def test_a_kernel_that_sleeps_is_caught_by_the_baseline(tmp_path, monkeypatch):
    before = tmp_path / "before.json"
    before.write_text(json.dumps(bench(*LINE, folder=tmp_path)[2]))
    advance = Walks.advance
    monkeypatch.setattr(Walks, "advance", lambda walks: (time.sleep(0.5), advance(walks)))  # of some milliseconds
    code, said, _ = bench(*LINE, "--baseline", str(before), folder=tmp_path)
    assert code == SLOWER
    assert f"slower: walks, {GRAPH}, uniform walk, 4000 x 2000" in said


def row(work, *rates, suite="walks", **more):
    return {"suite": suite, "graph": "g", "work": work, **figure(list(rates)), **more}


@pytest.mark.parametrize(
    ("before", "now", "slower", "faster"),
    [
        ((90, 100, 110), (90, 100, 110), False, False),
        ((99, 100, 101), (93, 94, 95), False, False),  # outside the spread, within the margin
        ((99, 100, 101), (92, 93, 94), True, False),
        ((90, 100, 110), (80, 82, 85), False, False),  # within half the spread of it
        ((90, 100, 110), (75, 78, 80), True, False),
        ((90, 100, 110), (50, 60, 100), False, False),  # the spreads overlap
        ((99, 100, 101), (107, 108, 109), False, True),
    ],
)
def test_slower_is_beyond_both_spreads_and_their_noise(before, now, slower, faster):
    (change,) = baseline.compare([row("walk", *before)], [row("walk", *now), row("new", 1.0)])
    assert (change.slower, change.faster) == (slower, faster)


def selected(way, rate, collisions=0.0, searches=1.0):
    return row(f"w, {way}", rate, way=way, iterations_an_edge=1 + collisions, searches_an_edge=searches)


def timed(what, work, times, **more):
    return row(work, 1.0, suite=what, times=times, **more)


@pytest.mark.parametrize(
    ("suite", "rows", "holds"),
    [
        ("walks", [row("uniform walk", 1.0, of_ceiling=0.6), row("uniform walk", 1.0, of_ceiling=0.5)], True),
        ("walks", [row("uniform walk", 1.0, of_ceiling=0.6), row("uniform walk", 1.0, of_ceiling=0.4)], False),
        ("neighbors", [row("25 x 10, with replacement", 1.0, of_ceiling=0.4)], False),
        ("neighbors", [row("25 x 10, without replacement", 1.0, of_ceiling=0.9)], None),
        ("overview", [row("whole run: uniform walks of 80, written", 1.0, of_plain_write=0.5, of_slower=0.95)], True),
        ("overview", [row("whole run: uniform walks of 80, written", 1.0, of_plain_write=0.95, of_slower=0.85)], False),
        ("journey", [row("sample, node2vec p=.5 q=2", 1.0, of_slower=0.9, seconds=2.0)], True),
        ("journey", [row("sample, node2vec p=.5 q=2", 1.0, of_slower=0.8, seconds=2.0)], False),
        ("selection", [selected("bipartite", 3.0, 0.1), selected("repeated", 2.0, 0.2), selected("updated", 1.0)], True),
        ("selection", [selected("bipartite", 3.0, 0.3), selected("repeated", 2.0, 0.2), selected("updated", 1.0)], False),
        ("selection", [selected("bipartite", 1.5, 0.1), selected("repeated", 1.0, 0.2), selected("updated", 2.0)], False),
        ("selection", [selected("bipartite", 3.0), selected("bipartite, linear", 3.0, searches=2.0)], True),
        ("selection", [selected("bipartite", 3.0), selected("bipartite, linear", 3.0, searches=0.5)], False),
        ("selection", [selected("bipartite", 3.0)], None),
        ("neighbor-size", [row("1", 1.0, 2.0, neighbor_size=1), row("8", 3.0, 4.0, neighbor_size=8)], True),
        ("neighbor-size", [row("1", 1.0, 3.5, neighbor_size=1), row("8", 3.0, 4.0, neighbor_size=8)], False),
        ("instances", [row("1", 2.0, instances=2000), row("8", 1.0, instances=16000)], False),
        ("instances", [row("1", 2.0, instances=2000)], None),
        ("transit", [timed("transit", "a, transit-parallel", 1.1), timed("transit", "b, transit-parallel", 2.0)], True),
        ("transit", [timed("transit", "a, transit-parallel", 0.9), timed("transit", "b, transit-parallel", 2.0)], False),
        ("from-disk", [timed("from-disk", "walk", 0.8, times_of="reading alone"), timed("from-disk", "neighbors", 0.9, times_of="reading alone")], True),
        ("from-disk", [timed("from-disk", "walk", 0.7, times_of="reading alone"), timed("from-disk", "neighbors", 0.9, times_of="reading alone")], False),
        ("ingest", [timed("ingest", "pandas read_csv, SciPy CSR, np.save", 0.3, process_times=0.5)], True),
        ("ingest", [timed("ingest", "pandas read_csv, SciPy CSR, np.save", 0.4, process_times=0.3)], False),
        ("ingest", [timed("ingest", "polars read_csv, unique, sort, np.save", 0.1, process_times=0.3)], None),
        ("peers", [timed("peers", "w, dgl", 0.5, peer="dgl"), timed("peers", "w, csaw", 1.0, peer="csaw")], True),
        ("peers", [timed("peers", "w, dgl", 1.2, peer="dgl"), timed("peers", "w, csaw", 1.0, peer="csaw")], False),
    ],
)  # fmt: skip
def test_a_verdict_is_what_the_figures_say(suite, rows, holds):
    verdict = suites.load(suite).verdict(rows)
    assert verdict.holds is holds
    assert verdict.found
    assert suites.load(suite).verdict([]).holds is None


def test_a_slower_machine_is_not_mistaken_for_slower_code():
    before = [{"suite": MACHINE, "device": "A"}, row("gathers", 100.0, suite=MACHINE), row("walk", 10.0)]
    now = [{"suite": MACHINE, "device": "B"}, row("gathers", 50.0, suite=MACHINE), row("walk", 5.0)]
    said = baseline.told(before, now, baseline.compare(before, now))
    assert "the baseline is of another device: A, this is B" in said
    assert "what this machine can do is slower too" in said
    assert "2 slower, 0 faster of 2 figures that both runs have" in said


def test_a_stand_in_has_the_vertices_and_degree_of_its_graph_as_near_as_rmat_comes(tmp_path):
    for spec in ("rmat:scale=12,edge_factor=9", "rmat:scale=11,edge_factor=4,undirected=0"):
        store = generate(spec, tmp_path / f"{len(spec)}.zarr")
        vertices, edges = graphs.expected(parse_spec(spec))
        assert math.isclose(vertices, store.vertices, rel_tol=0.02)
        assert math.isclose(edges, store.edges, rel_tol=0.02)
    entry = known("soc-LiveJournal1")
    whole, part = (graphs.stand_in(entry, most) for most in (2**62, 10**6))
    vertices, edges = graphs.expected(parse_spec(whole.source))
    assert 2 / 3 < vertices / entry.vertices < 3 / 2
    assert 0.8 < edges / vertices / (entry.edges / entry.vertices) < 1.25
    assert whole.label == f"stand-in for soc-LiveJournal1: {whole.source}"
    assert part.label.startswith("stand-in for soc-LiveJournal1, 1.4 % of its vertices: rmat:")
    assert graphs.expected(parse_spec(part.source))[1] < 2e6


def test_a_graph_of_a_paper_that_is_on_disk_is_taken_instead_of_its_stand_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    assert {one.label.split(":")[0] for one in graphs.of_paper("nextdoor", None, 10**5)} == {
        f"stand-in for {name}, {share} % of its vertices"
        for name, share in {
            "cit-Patents": "0.61",
            "com-Friendster": "0.0028",
            "com-Orkut": "0.043",
            "soc-LiveJournal1": "0.14",
        }.items()
    }
    made = generate("rmat:scale=6", tmp_path / "cit-Patents.zarr")
    assert graphs.of_paper("nextdoor", None, 10**5)[0].label.startswith(
        "stand-in for cit-Patents"
    )  # it has other counts
    entry = replace(known("cit-Patents"), vertices=made.vertices, edges=made.edges)
    monkeypatch.setattr(graphs, "ENTRIES", [entry])
    found = graphs.of_paper("nextdoor", None, 10**5)[0]
    assert found.label == "cit-Patents"
    assert found.open(None).store.vertices == 63


def test_plots_are_made_of_every_suite_and_the_same_rows_give_the_same_picture(tmp_path):
    rows = [row("walk", 1e8, 2e8, 3e8), row("other", 5.0, suite="neighbors"), row("gathers", 1e9, suite=MACHINE)]
    first, again = (plots.write(rows, tmp_path / name) for name in "ab")
    assert sorted(path.name for path in first) == ["neighbors.png", "neighbors.svg", "walks.png", "walks.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_rates_are_short():
    assert [short(x, "edges/s") for x in (0.5, 999, 1e3, 144.3e6, 999.6e6, 2e12)] == [
        "0.5 edges/s", "999 edges/s", "1 k edges/s", "144 M edges/s", "1,000 M edges/s", "2,000 G edges/s",
    ]  # fmt: skip


def test_the_tables_of_the_docs_are_what_the_json_gives():
    page = DOCS.read_text()
    assert len(report.parts(page)) >= 8
    assert report.filled(page, DOCS.with_suffix("")) == page, (
        "run: python -m csaw.engine.bench.report docs/benchmarks.md"
    )
    for plot in re.findall(r"\]\((benchmarks/[^)]*svg)\)", page):
        assert (DOCS.parent / plot).stat().st_size < 100_000


def test_a_figure_that_changes_changes_the_page(tmp_path):
    page = "By hand.\n\n<!-- table run walks -->\nold\n<!-- end -->\n\nAlso by hand.\n"
    rows = [{"suite": MACHINE, "command": "csaw bench", "device": "a CPU", "threads": 2, "csaw": "0", "load": 0.5, "date": "2026-11-21"},
            row("gathers", 3e8, suite=MACHINE), row("a walk", 1e8, 2e8, 3e8, seconds=0.25),
            {"suite": "walks", "claim": "they walk", "holds": True, "found": "they do"}]  # fmt: skip
    for seconds in (0.25, 0.5):
        rows[2]["seconds"] = seconds
        (tmp_path / "run.json").write_text(json.dumps(rows))
        filled = report.filled(page, tmp_path)
        assert filled.startswith("By hand.\n\n<!-- table run walks -->\n    csaw bench\n\na CPU, 2 threads")
        assert f"| a walk | 200 M edges/s | 100 M to 300 M | {1000 * seconds:.0f} ms |" in filled
        assert "Claim: they walk. It holds here: they do." in filled
        assert filled.endswith("<!-- end -->\n\nAlso by hand.\n")
        assert report.filled(filled, tmp_path) == filled
    with pytest.raises(FormatError, match="no row of the suite selection"):
        report.filled(page.replace("walks", "selection"), tmp_path)
    with pytest.raises(FormatError, match=r"other\.json does not exist"):
        report.filled(page.replace("run", "other"), tmp_path)
