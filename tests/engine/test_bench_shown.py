"""What benchmarks name and show: graphs are what their labels say, tables and plots are what the rows say."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.bench import row

from csaw.datasets.catalog import known
from csaw.datasets.generate import generate
from csaw.datasets.spec import parse_spec
from csaw.engine.bench import baseline, files, graphs, plots, report
from csaw.engine.bench.bench_row import MACHINE, short
from csaw.partition.errors import FormatError

DOCS = Path(__file__).parents[2] / "docs" / "benchmarks.md"


def test_rows_and_plots_take_the_place_of_an_earlier_runs(tmp_path):
    for rate in (1e8, 2e8):
        rows = [row("walk", rate, rate, rate)]
        files.write_rows(rows, tmp_path / "rows.json")
        plots.write(rows, tmp_path)
    assert baseline.read(tmp_path / "rows.json") == rows
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.json", "walks.png", "walks.svg"]


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
