"""The page of benchmarks has what its commands print, and verdicts that follow from its rows."""

import json
import re
from pathlib import Path

import pytest
from helpers.bench import row
from helpers.bench_works import SINCE, in_step, printed, replace_clocks

from csaw.datasets.generate import generate
from csaw.engine.bench import report, suites
from csaw.engine.bench.bench_row import Ratio, Verdict, all_of, by_row, named, paired, ratio
from csaw.engine.bench.context import Context
from csaw.engine.bench.measure import Timed
from csaw.engine.bench.run import judged, judged_again
from csaw.engine.bench.suites import papers, sampling

DOCS = Path(__file__).parents[3] / "docs" / "contributing" / "benchmarks.md"
RUNS = {file.stem: json.loads(file.read_text()) for file in sorted(DOCS.with_suffix("").glob("*.json"))}
OTHERS = ("C-SAW", "NextDoor", "gSampler", "GAP", "Gunrock")  # whose figures claims name


@pytest.mark.parametrize("run", RUNS)
def test_a_table_has_the_works_that_its_command_prints(tmp_path, monkeypatch, run):
    replace_clocks(monkeypatch, tmp_path)
    assert in_step(RUNS[run]) == RUNS[run], (
        "run: PYTHONPATH=tests/_src:tests python -m helpers.bench_works docs/contributing/benchmarks/*.json"
    )


def test_the_works_of_a_command_follow_its_options(tmp_path, monkeypatch):
    replace_clocks(monkeypatch, tmp_path)
    sizes = [work for _, _, work in printed("csaw bench rmat:scale=9 --suite neighbor-size --device cpu", 1)]
    by_degree = [f"neighbor size {size}, depth 3, by degree" for size in (1, 2, 4, 8)]
    assert sizes == [*by_degree, *(f"{work}, biases at run time" for work in by_degree)]
    own = printed(
        "csaw bench rmat:scale=9 --suite neighbor-size,transit --device cpu --parameters csaw --only '8, by'", 1
    )
    at_run_time = "neighbor size 8, by degree, biases at run time"
    assert [work for _, _, work in own] == ["neighbor size 8, by degree", at_run_time, "transit parallelism"]


def test_a_node_is_measured_on_one_gpu_and_on_all(tmp_path, monkeypatch):
    replace_clocks(monkeypatch, tmp_path)
    works = [work for _, _, work in printed("csaw bench rmat:scale=9 --suite overview,scaling --device cuda:0,1,2", 1)]
    assert "whole run: uniform walks of 80, written, 3 GPUs" in works
    assert [work for work in works if work.startswith("2000 instances")] == [
        f"2000 instances, 2 x 2 by degree, {count} GPU(s)" for count in (1, 2, 3)
    ]


def test_transit_parallelism_is_told_apart_by_the_samples_of_a_vertex(tmp_path):
    context = Context([], max_instances=100_000)
    works = {work.name: work.options["sources"] for work in papers.shared(context)}
    assert works["25 x 10, with replacement, 100 samples of a source"] == "random:1000"
    assert works["25 x 10, without replacement, 2,000 samples of a source"] == "random:50"
    store = generate("rmat:scale=8", tmp_path / "made.zarr")
    few = papers.shared(Context([], max_instances=200))[1]
    timed = Timed(store, few.shrunk(200), device="cpu", threads=1, turns=2)
    assert timed.job.sources.listed.size == 2


def test_layers_are_judged_in_each_way_where_a_pool_is_searched(tmp_path, monkeypatch):
    replace_clocks(monkeypatch, tmp_path)
    works = [work for _, _, work in printed("csaw bench rmat:scale=9 --suite selection --device cpu", 1)]
    assert {f"{papers.FIRST_LAYER.name}, {way}" for way in papers.COLLISIONS} < set(works)
    assert papers.LAYERS.name in works


def test_a_run_is_brought_in_step_with_its_suites(tmp_path, monkeypatch):
    replace_clocks(monkeypatch, tmp_path)
    first, *rest = RUNS["cpu-alone"]
    old = {"suite": "overview", "graph": rest[-2]["graph"], "work": "a work of another day"}
    found = in_step([first, *(one for one in rest if one.get("work") != "weighted walk"), old])
    gap = found.pop(next(place for place, one in enumerate(found) if "not_measured" in one))
    assert (gap["work"], gap["not_measured"]) == ("weighted walk", SINCE)
    assert found == [one for one in RUNS["cpu-alone"] if one.get("work") != "weighted walk"]


def test_every_run_is_on_the_page():
    page = DOCS.read_text()
    tables, others = report.parts(page), report.other_parts(page, DOCS.with_suffix(""))
    assert {run for run, _ in tables} | set(others) == set(RUNS)
    assert report.OTHERS.search(page)
    assert len(set(tables)) == len(tables), "a suite of a run has two tables"
    for run, suite in tables:
        assert any(row["suite"] == suite for row in RUNS[run])


def test_every_suite_that_was_measured_has_a_table():
    tables = {suite for _, suite in report.parts(DOCS.read_text())}
    assert {row["suite"] for rows in RUNS.values() for row in rows if "rate" in row} - {"machine"} <= tables


@pytest.mark.parametrize("run", RUNS)
def test_verdicts_are_those_that_the_suites_give_of_the_rows_today(run):
    assert judged_again(RUNS[run]) == RUNS[run], (
        "run: python -m csaw.engine.bench.report docs/contributing/benchmarks.md README.md docs/*.md docs/*/*/*.md"
    )


def test_a_claim_is_judged_row_by_row_and_names_the_rows_that_fail():
    found = by_row({"a": 1.2, "b": 0.9, "c": 0.95}, lambda times: times > 1, "times the rate")
    assert found == (False, "0.9 to 1.2 times the rate (it fails for b (0.9); c (0.95))")
    assert by_row({"a": 2.0}, lambda times: times > 1, "times") == (True, "2 times (a)")
    near, far = Ratio(1.1, 0.9, 1.2), Ratio(2.0, 1.5, 3.0)
    assert by_row({"a": near, "b": far}, lambda times: times > 1, "times") == (
        None,
        "1.1 to 2 times (on both sides of the claim, repeat by repeat: a (1.1, 0.9 to 1.2))",
    )
    assert by_row({"a": near}, lambda times: times > 1, "times").holds is None
    assert by_row({"a": far, "b": far}, lambda times: times > 1, "times").holds is True
    holds, found = by_row({"a": near, "b": far}, lambda times: times > 2, "times")
    assert holds is False
    said = "on both sides of the claim, repeat by repeat"
    assert found == f"1.1 to 2 times (it fails for a (1.1, 0.9 to 1.2); {said}: b (2, 1.5 to 3))"
    holds = {True: Verdict(True, "x"), False: Verdict(False, "y"), None: Verdict(None, "z")}
    assert all_of([holds[True], holds[None]]) == (None, "x; z")
    assert all_of([holds[True], holds[None], holds[False]]).holds is False
    assert all_of([holds[True], holds[True]]).holds is True
    assert list(named([row("a", 1.0), row("a", 1.0) | {"graph": "h"}])) == ["a on g", "a on h"]


def test_a_ratio_has_the_spread_of_both_rows():
    rows = [row("a, fast", 2.0, 3.0, 4.0), row("a, slow", 1.0, 1.5, 2.0), row("b, fast", 1.0)]
    assert {name: ratio(*both) for name, both in paired(rows, "fast", "slow").items()} == {"a": (2.0, 1.0, 4.0)}


def test_a_sum_hides_no_row_of_selection():
    def of(work, way, searches):
        return row(
            f"{work}, {way}",
            1e6 if way == "bipartite" else 5e5,
            way=way,
            searches_an_edge=searches,
            iterations_an_edge=1.0 if way == "bipartite" else 2.0,
        )

    rows = [
        of("large", "bipartite", 1.0),
        of("large", "bipartite, linear", 4.0),
        of("small", "bipartite", 1.0),
        of("small", "bipartite, linear", 0.5),
        of("large", "repeated", 1.0),
        of("small", "repeated", 1.0),
    ]
    holds, found = papers.selection_verdict(rows)
    assert holds is False, "in sum a list takes 4.5 searches and a bitmap 2, but not in each work"
    assert "0.5 to 4 times fewer searches than a list (it fails for small (0.5))" in found
    assert papers.selection_verdict([one for one in rows if not one["work"].startswith("small")]).holds is True
    assert papers.selection_verdict(rows[:1]).holds is None


def test_the_slowest_way_of_a_comparison_is_named():
    rows = [row(f"{work}, transit-parallel", rate) for work, rate in (("a", 1.4), ("b", 0.6))]
    rows += [row(f"{work}, sample-parallel", 1.0) for work in "ab"]
    assert papers.transit_verdict(rows) == (
        False,
        "0.6 to 1.4 times the rate of sample-parallel (it fails for b (0.6))",
    )
    walks = [
        row(f"{name}, 2 GPU(s)", 1.0, gpus=2, series=name, efficiency=share)
        for name, share in ((papers.UNIFORM.name, 0.99), (papers.NODE2VEC.name, 0.9))
    ]
    fast = row("8000", 1.0, gpus=2, series=papers.BY_DEGREE.name, efficiency=0.9)
    holds, found = papers.scaling_verdict([*walks, fast])
    assert holds is False
    assert f"it fails for {papers.NODE2VEC.name}, 2 GPU(s) (0.9)" in found
    slow = row("2000", 1.0, gpus=2, series=papers.FEW.name, efficiency=0.4)
    holds, found = papers.scaling_verdict([walks[0], fast, slow])
    assert holds is False
    assert "1.8 times the rate of one with 2 (8000); 0.8 times the rate of one with 2 (2000)" in found


@pytest.mark.parametrize("name", suites.names())
def test_a_claim_about_others_figures_says_their_machine_and_this_one(name):
    claim, published = suites.load(name).claim, suites.load(name).published
    assert all(re.search("V100|EPYC", one.machine) for one in published)
    assert [other for other in OTHERS if other in claim] == [
        other for other in OTHERS if any(other in one.whose for one in published)
    ]
    for run, rows in RUNS.items():
        for verdict in [one for one in rows if one["suite"] == name and one.get("holds") is not None]:
            for one in published:
                assert f"{one.whose}: on {one.machine}, here on {rows[0]['device']}" in verdict["found"], run


@pytest.mark.parametrize(
    "page", ["README.md", "docs/contributing/benchmarks.md", "docs/comparison.md", "docs/contributing/tuning.md"]
)
def test_a_line_that_names_an_older_gpu_names_the_one_beside_it(page):
    lines = (DOCS.parents[2] / page).read_text().splitlines()
    assert not [line for line in lines if re.search("V100|A100|P100", line) and not re.search("H200|EPYC", line)]


def test_a_rate_beside_gsamplers_names_both_machines():
    rate = {"work": sampling.GSAMPLER.name, "graph": "g", "vertices": sampling.VERTICES, "stored_edges": sampling.EDGES}
    one = row(sampling.GSAMPLER.name, 2 * sampling.GSAMPLER_RATE) | rate
    one |= sampling._beside_published(one, "NVIDIA H200")
    assert one["times_of"] == "gSampler on one NVIDIA V100, csaw on NVIDIA H200"
    verdict = judged("layers", [one | {"suite": "layers"}], "NVIDIA H200")
    assert "on one NVIDIA V100, here on NVIDIA H200" in verdict["found"]
    assert verdict["holds"] is False
