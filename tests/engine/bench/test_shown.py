"""What benchmarks name and show: graphs are what their labels say, tables and plots are what the rows say."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.bench import row
from matplotlib import rc_context

from csaw.datasets.catalog import known
from csaw.datasets.generate import generate
from csaw.datasets.spec import Integers, parse_rmat, parse_spec
from csaw.engine.bench import earlier_runs, graphs, plot_panels, plots, report
from csaw.engine.bench.bench_row import MACHINE, exceeded, limits_text, share_text
from csaw.engine.bench.shares import MOVING
from csaw.partition.base import plot_style
from csaw.partition.base.quoting import short
from csaw.partition.errors import FormatError

DOCS = Path(__file__).parents[3] / "docs" / "contributing" / "benchmarks.md"


def test_rows_and_plots_take_the_place_of_an_earlier_runs(tmp_path):
    for rate in (1e8, 2e8):
        rows = [row("walk", rate, rate, rate)]
        earlier_runs.write_rows(rows, tmp_path / "rows.json")
        plots.write(rows, tmp_path)
    assert earlier_runs.read(tmp_path / "rows.json") == rows
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.json", "walks.png", "walks.svg"]


def test_a_stand_in_has_the_vertices_and_degree_of_its_graph_as_near_as_rmat_comes(tmp_path):
    for spec in ("rmat:scale=12,edge_factor=9", "rmat:scale=11,edge_factor=4,undirected=0"):
        store = generate(spec, tmp_path / f"{len(spec)}.zarr")
        vertices, edges = graphs.expected(parse_rmat(spec))
        assert math.isclose(vertices, store.vertices, rel_tol=0.02)
        assert math.isclose(edges, store.edges, rel_tol=0.02)
    entry = known("soc-LiveJournal1")
    whole, part = (graphs.stand_in(entry, most) for most in (2**62, 10**6))
    vertices, edges = graphs.expected(parse_rmat(whole.source))
    assert 2 / 3 < vertices / entry.vertices < 3 / 2
    assert 0.8 < edges / vertices / (entry.edges / entry.vertices) < 1.25
    assert whole.label == f"stand-in for soc-LiveJournal1: {whole.source}"
    assert part.label.startswith("stand-in for soc-LiveJournal1, 1.4 % of its vertices: rmat:")
    assert graphs.expected(parse_rmat(part.source))[1] < 2e6


def test_stand_ins_of_roads_meshes_and_points_are_of_their_kind(tmp_path):
    for name, most, kind in (
        ("road_central", 4000, "road:shape=41x41,degree=2.41"),
        ("roadNet-CA", 4000, "road:shape=38x38,degree=2.82"),
        ("rgg_n_2_24_s0", 40000, "rgg:vertices=2531"),
    ):
        entry = known(name)
        small, whole = (graphs.stand_in(entry, count, Integers(0, 64)) for count in (most, 2**62))
        assert small.source == f"{kind},weights=0..64"
        assert small.label.endswith(f"of its vertices: {small.source}")
        model = parse_spec(whole.source)
        assert model.draws == pytest.approx(entry.edges, rel=0.02)
        assert generate(small.source, tmp_path / f"{name}.zarr").edges < 1.1 * most
    triangulation = replace(known("road_central"), name="delaunay_n10", vertices=1024, edges=3056)
    assert graphs.stand_in(triangulation, 2**62).source == "grid:shape=32x32,diagonals=1"


def test_a_graph_of_a_paper_that_is_on_disk_is_taken_instead_of_its_stand_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    assert {one.label.split(":")[0] for one in graphs.of_paper("nextdoor", None, 10**5)} == {
        f"stand-in for {name}, {share} % of its vertices"
        for name, share in {
            "cit-Patents": "0.61",
            "com-Friendster": "0.0028",
            "com-Orkut": "0.043",
            "PPI": "6.1",
            "Reddit": "0.43",
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


def test_stand_ins_have_the_weights_of_their_paper():
    weighted, plain = (graphs.of_paper("nextdoor", None, 10**5, weighted=flag) for flag in (True, False))
    assert all(",weights=5" in one.source for one in weighted)
    assert not any("weights" in one.source for one in plain)
    assert not any("weights" in one.source for one in graphs.of_paper("c-saw", None, 10**5))


def test_gunrocks_graphs_have_the_weights_of_its_shortest_ways():
    found = graphs.of_paper("gunrock", None, 10**5)
    assert len(found) == 18 + 6
    assert all(",weights=0..64" in str(one.source) for one in found)
    assert {one.label.split(",")[0].removeprefix("stand-in for ") for one in found} >= {"soc-orkut", "kron_g500-logn21"}


def test_rmat_graphs_of_a_paper_are_made_whole_or_with_fewer_vertices():
    whole = [one for one in graphs.of_paper("gunrock", None, 2**30) if one.label.startswith("rmat_n")]
    assert [one.label.split(":")[0] for one in whole] == [f"rmat_n{s}_{2 ** (29 - s)}" for s in range(20, 26)]
    assert all(item in whole[0].source for item in ("scale=20", "edge_factor=512", "noise=0.05", "weights=0..64"))
    assert all(parse_rmat(one.source).draws == 2**29 for one in whole)
    few = [one for one in graphs.of_paper("gunrock", None, 2**29) if one.label.startswith("rmat_n")]
    assert [parse_rmat(one.source).scale for one in few] == list(range(19, 25))
    assert few[0].label.startswith("rmat_n20_512, 50 % of its vertices: ")


def test_a_series_goes_through_all_graphs_where_each_has_one_place_on_the_axis():
    rows = [
        row(way, rate, suite="triangle-ways", graph=name, series=way, degree_squares=squares)
        for name, squares in (("small", 10), ("large", 1000))
        for way, rate in (("intersection", 5.0), ("matching", 3.0))
    ]
    assert {title: len(some) for title, some in plot_panels.panels(rows, "degree_squares").items()} == {
        "intersection": 2,
        "matching": 2,
    }


def test_plots_are_made_of_every_suite_and_the_same_rows_give_the_same_picture(tmp_path):
    rows = [row("walk", 1e8, 2e8, 3e8), row("other", 5.0, suite="neighbors"), row("gathers", 1e9, suite=MACHINE)]
    first, again = (plots.write(rows, tmp_path / name) for name in "ab")
    assert sorted(path.name for path in first) == ["neighbors.png", "neighbors.svg", "walks.png", "walks.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def drawn(rows, suite):
    """The SVG of a suite, and the texts in it."""
    with rc_context(plot_style.RC):
        svg = plots._svg(plots.plot(rows, suite), "a plot").decode()
    return svg, re.findall(r"<text[^>]*>([^<]*)</text>", svg)


MACHINE_ROWS = [
    {"suite": MACHINE, "device": "a GPU", "csaw": "0.1", "date": "2026-11-21"},
    row("gathers", 4e10, suite=MACHINE, unit="gathers/s"),
]


def test_a_plot_has_values_goals_the_ceiling_the_machine_and_one_unit():
    rows = [row("a walk", 3.29e10, of_ceiling=0.82, goal=3.2e10), row("picks", 7.9e10, of_ceiling=1.975)]
    svg, texts = drawn([*MACHINE_ROWS, *rows], "walks")
    assert {"32.9, goal 32.0", "79.0, 1.98 times the ceiling", "gather ceiling 40.0", "G edges/s"} <= set(texts)
    caption = " ".join(texts)
    assert "a GPU · csaw 0.1 · 21 November 2026" in caption
    assert "above the ceiling: draws find rows in the cache" in caption
    assert "%" not in caption
    assert "@media (prefers-color-scheme: dark)" in svg
    light = set(re.findall(r"(?:fill|stroke): (#\w{6})", re.sub(r"@media.*", "", svg)))
    assert light == {plot_style.INK, plot_style.MUTED, plot_style.GRID, plot_style.CSAW, plot_style.LIMIT}


def test_a_plot_whose_goal_is_anothers_names_both_machines():
    rows = [row("LADIES", 1e3, suite="layers", unit="samples/s", goal=924.0, goal_of="3 times a rate on an old GPU")]
    caption = " ".join(drawn([*MACHINE_ROWS, *rows], "layers")[1])
    assert "a GPU · csaw 0.1" in caption
    assert "upright marks: goals, 3 times a rate on an old GPU" in caption


def test_peers_have_a_color_of_their_own_and_works_of_a_kind_a_heading():
    rows = [
        row("uniform walk, csaw", 9e7, peer="csaw", suite="peers"),
        row("uniform walk, dgl", 1e5, peer="dgl", suite="peers"),
        row("node2vec, csaw", 5e7, peer="csaw", suite="peers"),
        row("node2vec, dgl", 1e7, peer="dgl", suite="peers"),
    ]
    svg, texts = drawn(rows, "peers")
    assert [line.text for line in plot_panels.lines(rows)] == ["uniform walk", "csaw", "dgl", "node2vec", "csaw", "dgl"]
    assert plot_style.PEER in svg
    assert {"90 M", "100 k", "edges/s"} <= set(texts), "far apart, so the axis is logarithmic"
    one = [
        row("uniform walk, 4000 x 2000", 1.0),
        row("biased by degree, 4000 x 2000", 1.0),
        row("walk with jumps", 1.0),
    ]
    assert [line.text for line in plot_panels.lines(one)] == [each["work"] for each in one]


def test_whole_commands_are_shown_as_seconds_whatever_they_count():
    rows = [
        row("help", 4.0, suite="journey", unit="commands/s", seconds=0.25, goal=5.0, limits={"a start": 0.1}),
        row("export", 1e9, suite="journey", unit="bytes/s", seconds=2.0, limits={"a plain write": 1.0}),
    ]
    _, texts = drawn(rows, "journey")
    assert {
        "0.250 s, goal 0.200 s, 40 % of a start",
        "2.00 s, 50 % of a plain write",
        "seconds, less is better",
    } <= set(texts)


def test_a_limit_that_is_exceeded_is_said_as_a_multiple_with_the_reason():
    assert share_text(1.0, "it") == "100 % of it"
    assert share_text(1.76, "it") == "1.76 times it"
    slow, fast = (row("walk", 1.0, seconds=s, limits={MOVING: 1.76}) for s in (2.0, 1.0))
    assert limits_text(slow) == "88 % of copying its transfers alone"
    assert limits_text(fast) == "1.76 times as fast as copying its transfers alone"
    assert [len(exceeded(rows)) for rows in ([slow], [slow, fast])] == [0, 1]
    assert not re.search(r"\| (1[0-9][1-9]|[2-9][0-9][0-9]) % \|", DOCS.read_text())


def test_rates_are_short():
    assert [short(x, "edges/s") for x in (0.5, 999, 1e3, 144.3e6, 999.6e6, 2e12)] == [
        "0.5 edges/s",
        "999 edges/s",
        "1 k edges/s",
        "144 M edges/s",
        "1,000 M edges/s",
        "2,000 G edges/s",
    ]


def test_the_tables_of_the_docs_are_what_the_json_gives():
    page = DOCS.read_text()
    assert len(report.parts(page)) >= 8
    assert report.filled(page, DOCS.with_suffix("")) == page, (
        "run: python -m csaw.engine.bench.report docs/contributing/benchmarks.md README.md docs/*.md docs/*/*/*.md"
    )
    for plot in re.findall(r"\]\((benchmarks/[^)]*svg)\)", page):
        assert (DOCS.parent / plot).stat().st_size < 100_000


def test_a_figure_that_changes_changes_the_page(tmp_path):
    page = "By hand.\n\n<!-- table run walks -->\nold\n<!-- end -->\n\nAlso by hand.\n"
    rows = [
        {
            "suite": MACHINE,
            "command": "csaw bench",
            "device": "a CPU",
            "threads": 2,
            "csaw": "0",
            "load": 0.5,
            "date": "2026-11-21",
        },
        row("gathers", 3e8, suite=MACHINE),
        row("a walk", 1e8, 2e8, 3e8, seconds=0.25),
        {"suite": "walks", "claim": "they walk", "holds": True, "found": "they do"},
    ]
    for seconds in (0.25, 0.5):
        rows[2]["seconds"] = seconds
        (tmp_path / "run.json").write_text(json.dumps(rows))
        filled = report.filled(page, tmp_path)
        assert filled.startswith("By hand.\n\n<!-- table run walks -->\n    csaw bench\n\na CPU, 2 threads")
        assert f"| a walk | 200 M edges/s | 100 M to 300 M | {1000 * seconds:.0f} ms |" in filled
        assert "Claim: they walk. It holds here: they do." in filled
        assert filled.endswith("<!-- end -->\n\nAlso by hand.\n")
        assert report.filled(filled, tmp_path) == filled
    assert "| b walk |" not in report.filled(page.replace("walks -->", "walks of a* -->"), tmp_path)
    with pytest.raises(FormatError, match="no work 'the walk' of the suite walks in this run, which has: a walk"):
        report.filled(page.replace("walks -->", "walks of a walk; the walk -->"), tmp_path)
    with pytest.raises(FormatError, match="no row of the suite selection"):
        report.filled(page.replace("walks", "selection"), tmp_path)
    with pytest.raises(FormatError, match=r"other\.json does not exist"):
        report.filled(page.replace("run", "other"), tmp_path)


ABOUT = {"suite": MACHINE, "command": "csaw bench", "device": "a CPU", "threads": 2, "csaw": "0", "load": 0.5}
ABOUT |= {"date": "2026-11-21"}
ROWS = [
    ABOUT,
    row("gathers", 3e8, suite=MACHINE),
    *(row(work, 1e8, graph=graph, vertices=5, stored_edges=9) for graph in "gh" for work in ("a walk", "b walk")),
    {"suite": "walks", "graph": "g", "work": "c walk", "not_measured": "it was late"},
    {"suite": "walks", "claim": "they walk", "holds": False, "found": "they do not"},
    row("pick", 2e8, suite="neighbors", graph="g", vertices=5, stored_edges=9),
]


def blocks(*marks):
    return "\n\n".join(f"<!-- {mark} -->\n<!-- end -->" if mark[0] != "#" else mark for mark in marks) + "\n"


def test_a_table_has_the_works_that_it_names(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(ROWS))
    whole = report.filled(blocks("table run walks"), tmp_path)
    assert "Graphs: g, 5 vertices, 9 stored edges; h, 5 vertices, 9 stored edges." in whole
    assert [line.split(" | ")[:2] for line in whole.splitlines() if " walk |" in line] == [
        ["| g", "a walk"],
        ["| g", "b walk"],
        ["| h", "a walk"],
        ["| h", "b walk"],
    ]
    assert "Not measured: c walk on g: it was late." in whole
    some = report.filled(blocks("table run walks of a*; ? walk on h"), tmp_path)
    assert [line.split(" | ")[:2] for line in some.splitlines() if " walk |" in line] == [
        ["| g", "a walk"],
        ["| h", "a walk"],
        ["| h", "b walk"],
    ]
    assert "Not measured" not in some
    assert "[walks on a CPU: 4 figures, the highest 100 M edges/s (a walk)]" in some


def test_a_table_below_another_of_its_run_does_not_repeat_the_machine(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(ROWS))
    both = "table run walks of * on g", "table run neighbors"
    near = report.filled(blocks(*both), tmp_path)
    assert near.count("    csaw bench\n") == near.count("gathers: 300 M") == near.count("Graph: g") == 1
    apart = report.filled(blocks(both[0], "## A heading", both[1]), tmp_path)
    assert apart.count("    csaw bench\n") == apart.count("gathers: 300 M") == apart.count("Graph: g") == 2
    others = report.filled(blocks("table run walks", both[1]), tmp_path)
    assert others.count("    csaw bench\n") == 1
    assert "Graph: g, 5 vertices, 9 stored edges.\n\n| work | rate" in others


def test_runs_without_a_table_are_listed_with_plots_and_verdicts(tmp_path):
    for name in ("late", "run"):
        (tmp_path / f"{name}.json").write_text(json.dumps(ROWS))
    said = report.filled(blocks("table run walks", "other runs"), tmp_path)
    folder = tmp_path.name
    assert (
        f"| [late]({folder}/late.json) | [walks]({folder}/late-walks.svg), does not hold here; "
        f"[neighbors]({folder}/late-neighbors.svg) | a CPU, 21 November 2026 | `csaw bench` |\n"
    ) in said
    assert f"| [run]({folder}/run.json) | [neighbors]({folder}/run-neighbors.svg) | a CPU" in said
