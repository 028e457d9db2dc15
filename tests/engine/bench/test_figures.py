"""Measured figures of the pages for users are those in the JSON of the runs that they name, and none is typed."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.bench import row

from csaw.engine.bench import figures, report
from csaw.engine.bench.bench_row import MACHINE
from csaw.partition.errors import FormatError

ROOT = Path(__file__).parents[3]
TABLES = ROOT / "docs" / "contributing" / "benchmarks.md"
PAGES = ("README.md", "docs/index.md", "docs/performance.md", "docs/comparison.md")
MARKED = sorted(
    str(page.relative_to(ROOT))
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if "<!-- figure" in page.read_text()
)
COMMAND = "python -m csaw.engine.bench.report docs/contributing/benchmarks.md README.md docs/*.md docs/*/*/*.md"
MEASURED = re.compile(  # a number with the unit of a rate, a ratio, a time, a size or a count
    r"(?<![\w.,/])\d[\d.,]*(?: ?%| (?:[kMGT]|[kMG]i?B|ms|s|µs|seconds?|minutes?|hours?|times|million|billion)\b"
    r"| x\b(?! ?\d)| \w+(?:/s\b| (?:a|per|in a|in one) second))"
)


def typed(text):
    """What a page says without marks, code, and the addresses of links."""
    without = figures.FIGURE.sub("", text)
    for part in (figures.PEERS, figures.AHEAD):
        without = part.sub("", without)
    without = re.sub(r"^```.*?^```$|^    .*?$", "", without, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"\]\([^)]*\)|`[^`]*`", "", without)


@pytest.mark.parametrize("page", MARKED)
def test_figures_of_a_page_are_those_of_its_runs(page):
    text = (ROOT / page).read_text()
    assert figures.filled(text, ROOT / page, TABLES) == text, f"run: {COMMAND}"


@pytest.mark.parametrize("page", PAGES)
def test_no_measured_figure_is_typed(page):
    text = (ROOT / page).read_text()
    assert page in MARKED
    assert [line for line in typed(text).splitlines() if MEASURED.search(line)] == [], f"see {figures.__file__}"
    assert not re.findall(r"^ *<!-- figure", text, re.MULTILINE), "a line that begins so is no Markdown on GitHub"
    assert text.count("<!-- figure") == len(figures.FIGURE.findall(text)) == text.count("<!-- /figure -->")


@pytest.mark.parametrize(
    "line",
    [
        "csaw takes 32.9 G steps",
        "| 96.7 M | 11.7 M |",
        "83 % of the ceiling",
        "4.14 times as fast",
        "it is 3.4 x as fast",
        "in 18.7 ms",
        "a graph takes 2.46 s to read",
        "1,080 MiB at its peak",
        "16.8 million edges in a second",
        "33 billion steps per second",
        "about 150 k",
        "97 walks per second",
    ],
)
def test_a_figure_that_is_typed_is_found(line):
    assert MEASURED.search(typed(f"a line\n{line}\n"))


@pytest.mark.parametrize(
    "line",
    ["25 x 10 neighbors of 1,024 seeds", "walks of 80 steps", "`--memory 1GiB`", "DGL 2.1.0", "0.5 and 2", "10 x 5"],
)
def test_a_number_that_is_not_measured_may_be_typed(line):
    assert not MEASURED.search(typed(f"a line\n{line}\n"))


HEAD = {"suite": MACHINE, "device": "a GPU", "threads": 2, "load": 1.5, "date": "2026-11-26", "csaw": "0.1"}
HEAD |= {"command": "csaw bench"}
ROWS = [
    HEAD,
    row("gathers", 4e10, suite=MACHINE),
    row("uniform walk", 3.27e10, seconds=0.0187, of_ceiling=0.829, stored_edges=2_064_456_672, vertices=811),
    row("slow walk", 1.5e5, seconds=12.34, of_ceiling=0.0385, peak_mib=1080, limits={"a": 0.2, "b": 0.4}),
    row("walk, csaw", 100.0, 120.0, 140.0, suite="peers", peer="csaw", times=1.0, times_of="csaw", stored_edges=20),
    row("walk, dgl", 10.0, 12.0, 14.0, suite="peers", peer="dgl", times=0.1, times_of="csaw"),
    row("walk, thunderrw", 110.0, 130.0, 150.0, suite="peers", peer="thunderrw", times=1.3, times_of="csaw"),
    row("walk, fast", 240.0, suite="peers", peer="fast", times=2.0, times_of="csaw", note="its law is not tested"),
    row("epoch, csaw", 1.0, suite="training", times=1.0, times_of="csaw"),
    row("epoch, DGL", 0.5, suite="training", times=0.5, times_of="csaw"),
    row("csaw", 2.0, suite="ingest", times=1.0, times_of="csaw"),
    row("pandas, np.save", 4.0, suite="ingest", times=2.0, times_of="csaw", process_times=0.25),
    row("walk", 1.0) | {"graph": "one"},
    row("walk", 2.0) | {"graph": "two"},
]
PAGE = "# T\n\n## `csaw evaluate` on a GPU's cores\n\n<!-- table run {} -->\n<!-- end -->\n"


@pytest.fixture
def place(tmp_path):
    """A page of tables with the run ROWS, and the path of another page."""
    tables, folder = tmp_path / "docs" / "more" / "tables.md", tmp_path / "docs" / "more" / "tables"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(ROWS))
    tables.write_text("".join(PAGE.format(suite) for suite in ("walks", "peers", "training", "ingest")))
    return tables, tmp_path / "docs" / "page.md"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("walks: rate of uniform walk", "32.7 G"),
        ("machine: rate of gathers", "40 G"),
        ("walks: seconds of uniform walk", "18.7 ms"),
        ("walks: seconds of slow walk", "12.3 s"),
        ("walks: ceiling of uniform walk", "83 %"),
        ("walks: ceiling of slow walk", "3.9 %"),
        ("walks: edges of uniform walk", "2.06 billion"),
        ("walks: vertices of uniform walk", "811"),
        ("walks: peak of slow walk", "1,080 MiB"),
        ("walks: least of slow walk", "400 ms"),
        ("walks: rate of uniform walk; slow walk", "150 k to 32.7 G"),
        ("walks: rate of slow walk;slow walk", "150 k"),
        ("peers: lead of walk, dgl", "10"),
        ("peers: times of walk, thunderrw; walk, dgl", "0.1 to 1.3"),
        ("ingest: started of pandas, np.save", "4"),
        ("walks: date", "26 November 2026"),
        ("walks: device", "a GPU"),
        ("walks: threads", "2"),
        ("walks: load", "1.5"),
        ("peers: run", "[26 November 2026](more/tables.md#csaw-evaluate-on-a-gpus-cores)"),
    ],
)
def test_a_figure_is_written_as_its_column_asks(place, asked, expected):
    tables, page = place
    text = f"It is <!-- figure run {asked} -->9.99<!-- /figure --> here."
    assert figures.filled(text, page, tables) == text.replace("9.99", expected)
    assert figures.unmarked(figures.filled(text, page, tables)) == f"It is {expected} here."


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("other walks: rate of uniform walk", "other.json does not exist"),
        ("run wlks: rate of uniform walk", "the suite wlks has no figure of 'uniform walk'"),
        ("run walks: rate of uniform wlk", "has no figure of 'uniform wlk'; did you mean"),
        ("run walks: rate of walk", "has 2 figures, of as many graphs, of 'walk'"),
        ("run walks: speed of uniform walk", "expected COLUMN of WORK, with a column of rate, seconds"),
        ("run walks: rate", "expected COLUMN of WORK"),
        ("run neighbors: run", "has no table of the suite neighbors of run.json"),
    ],
)
def test_a_figure_that_no_run_has_is_an_error(place, asked, said):
    tables, page = place
    with pytest.raises(FormatError, match=re.escape(said)):
        figures.filled(f"a <!-- figure {asked} -->1<!-- /figure --> b", page, tables)


def test_a_table_of_programs_says_who_is_faster(place):
    tables, page = place
    said = figures.filled("<!-- peers run -->\nold\n<!-- end -->", page, tables)
    link = "[26 November 2026](more/tables.md#csaw-evaluate-on-a-gpus-cores)"
    assert f"a GPU, 2 threads, load 1.5 before it began; `g`, 20 stored edges; {link}:" in said
    assert "| walk | 120 | DGL | 12 | csaw, 10 times |" in said
    assert "undecided: csaw is 0.923 times as fast, 0.667 to 1.27 by repeats" in said
    assert r"| walk | 120 | fast\* | 240 | **fast\*, 2 times** |" in said
    assert "\\* Its law is not tested.\n" in said
    assert "old" not in said
    some = figures.filled("<!-- peers run dgl -->\n<!-- end -->", page, tables)
    assert "DGL" in some
    assert "fast\\*" not in some
    with pytest.raises(FormatError, match="no work that csaw and dlg did"):
        figures.filled("<!-- peers run dlg -->\n<!-- end -->", page, tables)


def test_all_works_in_which_others_may_be_ahead_are_listed(place):
    tables, page = place
    said = figures.filled("<!-- others ahead -->\n<!-- end -->", page, tables)
    found = [line.split(" | ")[1] for line in said.splitlines() if "**" in line or "undecided" in line]
    assert found == ["ThunderRW", r"fast\*", "pandas, np.save"]


def test_the_day_of_a_run_without_a_table_leads_to_the_list_of_runs(place):
    tables, page = place
    tables.write_text("# T\n\n## Other runs\n\n<!-- other runs -->\n<!-- end -->\n")
    said = figures.filled("<!-- figure run walks: run --><!-- /figure -->", page, tables)
    assert "[26 November 2026](more/tables.md#other-runs)" in said
    with pytest.raises(FormatError, match=re.escape("has no table of the suite neighbors of run.json")):
        figures.filled("<!-- figure run neighbors: run --><!-- /figure -->", page, tables)
    tables.write_text("# T\n\n## Walks\n\n<!-- table run walks of a; b -->\n<!-- end -->\n")
    said = figures.filled("<!-- figure run walks: run --><!-- /figure -->", page, tables)
    assert "[26 November 2026](more/tables.md#walks)" in said


def test_users_see_where_others_are_ahead():
    """performance.md lists every row of every run in which another program is faster than csaw."""
    page = ROOT / "docs" / "performance.md"
    listed = figures.AHEAD.search(page.read_text())[0]
    assert "**" in listed
    for file in sorted(TABLES.with_suffix("").glob("*.json")):
        for one in json.loads(file.read_text()):
            if one.get("times_of") == "csaw" and one.get("times", 0) > 1 and "rate" in one:
                work, _, program = one["work"].rpartition(", ")
                line = f"| {work} | {figures.NAMES.get(program, program)}"
                assert any(found.startswith(line) and one["graph"] in found for found in listed.splitlines()), line


def test_the_site_is_built_with_the_figures_of_the_runs(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import site_pages

    stale = "a <!-- figure h200 walks: rate of uniform walk -->1 G<!-- /figure --> b"
    page = SimpleNamespace(file=SimpleNamespace(src_uri="performance.md"))
    shown = site_pages.on_page_markdown(stale, page)
    folder = TABLES.with_suffix("")
    assert shown == f"a {figures.figure(folder, 'h200', 'walks', 'rate of uniform walk')} b"
    sys.modules.pop("site_pages", None)


def test_the_command_writes_figures_of_all_pages(place, monkeypatch):
    tables, page = place
    page.write_text("a <!-- figure run walks: rate of uniform walk -->1<!-- /figure --> b\n")
    monkeypatch.setattr(report, "parts", lambda text: [])  # tables and plots have tests of their own
    report.main(tables, page)
    assert page.read_text() == "a <!-- figure run walks: rate of uniform walk -->32.7 G<!-- /figure --> b\n"
