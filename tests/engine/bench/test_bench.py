"""``csaw bench``: every suite measures and judges, and what cannot be measured is said."""

import json
import re
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.bench import GRAPH, bench
from helpers.bench_works import printed, replace_clocks

from csaw.cli.main import cli
from csaw.engine import sample
from csaw.engine.bench import peers as samplers
from csaw.engine.bench import run, suites
from csaw.engine.bench.bench_row import GOALS, MACHINE, key, measured
from csaw.engine.bench.context import Context
from csaw.engine.bench.graphs import given
from csaw.engine.bench.run import judged
from csaw.engine.bench.shares import MOVING
from csaw.engine.bench.suites import peers
from csaw.partition import write_graph
from csaw.partition.errors import StoreError

SLOW = {
    "selection": "compiles a kernel for each method, detector and algorithm: a minute",
    "journey": "starts thirty processes",
    "scale-out": "starts clusters of one worker and of two",
    "training": "starts processes that import PyTorch; its works are listed by default",
    "ingest": "starts processes; its works are listed by default",
    "from-disk": "compiles kernels that read from disk; its works are listed by default",
    "in-time": "compiles ten kernels of walks in time; its works are listed by default",
    "layers": "compiles kernels of layers; its works are listed by default",
    "relations": "compiles kernels of mini-batches and of walks; its works are listed by default",
    "out-of-memory": "compiles kernels of streamed graphs, which a test of its bytes does by default",
}
OTHERS = peers.NAMES[1:]  # which of them are installed is this machine's affair
SUITES = [
    pytest.param(name, marks=pytest.mark.slow(reason=SLOW[name])) if name in SLOW else name for name in suites.names()
]


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_measures_beside_the_ceiling_and_judges_its_claim(tmp_path, monkeypatch, name):
    yielded, under_head = [], run._under_head
    monkeypatch.setattr(run, "_under_head", lambda row, *rest: yielded.append(row) or under_head(row, *rest))
    code, said, rows = bench(GRAPH, "--quick", "--suite", name, folder=tmp_path)
    assert code == 0, said
    assert rows[0]["suite"] == MACHINE
    assert measured(rows, suite=MACHINE, unit="gathers/s")
    mine = [row for row in rows if row["suite"] == name]
    verdict = judged(name, [{"suite": name} | row for row in yielded], rows[0]["device"])
    assert mine
    assert not [row for row in rows if {"claim", *GOALS} & row.keys()], "a quick run is not judged"
    assert not re.search(r"claim:|holds|\bgoals?\b|\bmet\b|missed", said)
    for row in mine:
        if "not_measured" in row:
            assert row["not_measured"] in said
        else:
            assert 0 < row["slowest"] <= row["rate"] <= row["fastest"]
            assert row.get("ran_on", "cpu") == "cpu"
    figures = measured(mine)
    assert len({key(row) for row in figures}) == len(figures), "a figure is known by its suite, graph and work"
    assert not [path for path in tmp_path.iterdir() if path.name != "rows.json"], "nothing stays in --out"
    assert not verdict["found"].startswith("the suite failed")
    replace_clocks(monkeypatch, tmp_path)
    works = [(row["suite"], row.get("graph", ""), row["work"]) for row in mine if row.get("peer", "csaw") == "csaw"]
    asked = printed(rows[0]["command"], rows[0]["threads"])
    works, asked = ([key for key in keys if key[2].rpartition(", ")[2] not in OTHERS] for keys in (works, asked))
    assert sorted(works) == sorted(asked), "this is how test_bench_docs.py knows the works of a command"


@pytest.mark.parametrize("memory", [None, "120KiB"])
def test_a_part_of_the_graph_in_memory_is_set_beside_the_bytes_expected(tmp_path, memory):
    line = ["--only", "walk of 20", "--suite", "out-of-memory", "--max-instances", "200", "--repeats", "1"]
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
            assert row["expected_bytes"] == pytest.approx(20 * (1 - share) ** 2 * 4 * row["stored_edges"], rel=0.15)
        assert row["of_expected"] == row["transfer_bytes"] / row["expected_bytes"]
        assert f"{row['of_expected']:.2f} times the expected" in said
        assert row["limits"][MOVING] > 0
        assert row["times"] == row["rate"] / mine["walk of 20, all in memory"]["rate"]


def test_csaw_passes_the_check_of_the_law_that_peers_must_pass_and_a_wrong_walk_does_not(tmp_path):
    _, _, rows = bench(GRAPH, "--quick", "--suite", "peers", folder=tmp_path)
    assert {row["work"] for row in measured(rows, peer="csaw")} == {"uniform walk, csaw", "neighbors 25 x 10, csaw"}
    store = tmp_path / "small.zarr"
    small = peers.small_graph()
    write_graph(store, small.indptr, small.indices, small.weights, directed=False)
    walks = sample(
        store, tmp_path / "w.zarr", "node2vec", p=2.0, q=0.5, weighted=False, walk_length=4, num_walks=4000
    ).walks
    np.save(tmp_path / "walks.npy", walks)
    chance = {p: peers.chance_of_law(tmp_path / "walks.npy", {"p": p, "q": 0.5}) for p in (2.0, 1.8, 1.0)}
    assert chance[2.0] > 0.01
    assert chance[1.8] < 1e-3
    assert chance[1.0] < peers.REJECT


def test_a_peer_that_fails_is_reported_with_its_own_words(tmp_path, monkeypatch):
    how = {"folder": str(tmp_path), "threads": 2}
    for name, code, said in (
        ("broken", "raise ImportError('no such sampler')", "ImportError: no such sampler"),
        ("slow", "import time\ntime.sleep(60)", "a draw did not end within 1 s"),
    ):
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.setattr(samplers, "LIMIT_SECONDS", 1.0 if name == "slow" else 60.0)
        with pytest.raises(samplers.PeerError, match=said):
            samplers.Child(name, sys.executable, how, tmp_path / f"{name}.py")
    with pytest.raises(samplers.PeerError, match="nothing cannot be run"):
        samplers.Child("broken", "nothing", how, tmp_path / "broken.py")


def test_two_suites_in_one_run_and_only_some_works(tmp_path):
    code, _, rows = bench(GRAPH, "--quick", "--suite", "walks,neighbors", "--only", "degree", folder=tmp_path)
    assert code == 0
    assert {row["suite"] for row in measured(rows)} == {MACHINE, "walks", "neighbors"}
    assert all("degree" in row["work"] for row in measured(rows) if row["suite"] != MACHINE)
    assert rows[0]["command"] == f"csaw bench {GRAPH} --suite walks,neighbors --only degree --device cpu --quick"


def test_suites_of_figures_have_the_parameters_of_the_paper_or_csaws_own():
    def works(suite, **how):
        asked = []
        context = Context([given(GRAPH)], repeats=1, **how)
        context.measure = lambda graph, found: iter(asked.extend(found) or ())
        list(suites.load(suite).rows(context))
        return {work.name: (work.instances, work.options["fanout"]) for work in asked}

    ways = "", ", biases at run time"
    assert works("neighbor-size") == {
        f"neighbor size {size}, depth 3, by degree{way}": (16_000, (size,) * 3) for size in (1, 2, 4, 8) for way in ways
    }
    assert works("neighbor-size", parameters="csaw") == {
        f"neighbor size {size}, by degree{way}": (2000, (size, size)) for size in (1, 2, 4, 8) for way in ways
    }
    assert works("instances") == {
        f"{count:,} instances, 3 deep, by degree{way}": (count, (8, 8, 8))
        for count in (2000, 4000, 8000, 16_000)
        for way in ways
    }
    assert set(works("instances", parameters="csaw").values()) == {(n, (2, 2)) for n in (2000, 4000, 8000, 16_000)}


def test_rows_can_be_printed_and_suites_listed():
    printed = CliRunner().invoke(
        cli, ["bench", GRAPH, "--quick", "--device", "cpu", "--suite", "walks", "--only", "jumps", "--export-json", "-"]
    )
    assert [row["suite"] for row in json.loads(printed.stdout)] == [MACHINE, MACHINE, "walks"]
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
        "--suite walks --only nothing": "--only nothing: no task of walks with that text in its name",
        f"--graphs c-saw {GRAPH}": "expected either the paper's graphs or your own",
        f"--baseline {tmp_path}/other.json": "expected the JSON of csaw bench --export-json",
        "nothing.zarr": "nothing.zarr does not exist",
        f"{GRAPH} --suite peers --peer dlg=python": "--peer dlg: no such peer; there are c-saw, cugraph, dgl, ",
    }.items():
        done = CliRunner().invoke(cli, ["bench", "--quick", "--device", "cpu", *line.split()])
        assert done.exit_code == 1
        assert message in str(done.exception)
    done = CliRunner().invoke(cli, ["bench", "--quick", "--export-json", str(tmp_path / "nowhere" / "rows.json")])
    assert done.exit_code == 2
    assert "is not a directory; make it first" in done.output
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = CliRunner().invoke(cli, ["bench", GRAPH, "--plot", str(tmp_path)])
    assert "pip install matplotlib" in str(done.exception)


@pytest.mark.parametrize("what", ["an edge list", "JSON of something else", "link"])
def test_a_file_that_bench_did_not_write_is_neither_replaced_nor_followed(tmp_path, what):
    mine, options = tmp_path / "mine", ["bench", GRAPH, "--quick", "--device", "cpu", "--suite", "walks"]
    mine.write_text({"JSON of something else": '[\n {\n  "of": "mine"\n }\n]'}.get(what, "1 2\n"))
    before = mine.read_bytes()
    for option, place in ("--export-json", tmp_path / "rows.json"), ("--plot", tmp_path / "walks.png"):
        place.symlink_to(mine) if what == "link" else place.write_bytes(before)
        done = CliRunner().invoke(cli, [*options, option, str(place if option == "--export-json" else tmp_path)])
        assert isinstance(done.exception, StoreError)
        assert re.search("is a symbolic link" if what == "link" else "does not replace it", str(done.exception))
        assert "walk" not in done.output
        assert place.read_bytes() == before
        assert place.is_symlink() == (what == "link")
