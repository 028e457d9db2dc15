"""The command prints a profile, a table beside it, JSON and plots, and refuses in one line."""

import csv
import json
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click import Abort
from click.testing import CliRunner
from helpers.graphs import random_store
from helpers.small_samples import python
from helpers.temporal import TIED, events_store

from csaw.cli.main import cli
from csaw.engine import sample
from csaw.engine.analytics.evaluation.evaluate import evaluate
from csaw.engine.analytics.measures.degree import Degree
from csaw.partition.errors import OptionError

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def stores(tmp_path, monkeypatch):
    monkeypatch.setattr("csaw.engine.analytics.evaluation.profiles.cache_dir", lambda: tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    store = random_store(tmp_path / "g.zarr", vertices=100, edges=900)
    sample(store, tmp_path / "fire.zarr", "forest-fire", instances=4)
    sample(store, tmp_path / "walks.zarr", "metropolis-hastings", walk_length=20)


def csaw(*arguments):
    return CliRunner().invoke(cli, ["evaluate", *arguments, "--device", "cpu"])


def test_a_profile(stores):
    found = csaw("g.zarr", "--measures", "degree")
    assert found.exit_code == 0
    assert found.stdout.splitlines()[1].split() == ["finding", "graph"]
    assert "mean degree" in found.stdout
    assert "csaw: measuring degree of g.zarr" in found.stderr


def test_one_table_measure_by_sample_and_plots(stores, tmp_path):
    found = csaw("g.zarr", "fire.zarr", "walks.zarr", "--measures", "degree", "--plot", "out")
    assert found.exit_code == 0, found.output
    assert [line for line in found.stdout.splitlines() if "compared with" in line] == [
        "fire.zarr: 4 instances, compared with g.zarr",
        "walks.zarr: 100 instances, compared with g.zarr",
    ]
    rows = [line.split() for line in found.stdout.splitlines()[2:-1]]
    assert rows[0] == ["finding", "graph", "fire.zarr", "walks.zarr", "distance"]
    assert [row[0] for row in rows[1:]] == ["degree", "mean", "largest", "degree"]
    assert len(rows[1]) == 4  # a D-statistic of each sample; the mean of the degrees is a row of its own
    assert rows[1][-1] == "D-statistic"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        f"degree.{kind}" for kind in ("csv", "pdf", "png", "svg")
    }


def test_plots_have_the_size_and_title_that_are_given_and_replace_no_file_of_others(stores, tmp_path):
    look = ("--plot-size", "3x2", "--plot-title", "Roads: {finding}")
    given = ("g.zarr", "--measures", "degree", "--plot", "out", *look)
    assert csaw(*given).exit_code == 0
    assert ">Roads: Degree</text>" in (tmp_path / "out" / "degree.svg").read_text()
    (tmp_path / "out" / "degree.png").write_text("mine")
    refused = csaw(*given)
    assert refused.exit_code == 1
    assert "mean degree" in refused.stdout, "what was measured is shown all the same"
    assert "degree.png exists already and is not a plot of csaw evaluate" in str(refused.exception)
    assert csaw(*given, "--overwrite").exit_code == 0
    assert csaw("g.zarr", "--plot-size", "3x2").exit_code == 2
    assert "such as 3.3x2.4, found '3'" in csaw(*given, "--plot-size", "3").stderr


def test_a_size_that_no_plot_has_is_refused_before_anything_is_measured(stores, tmp_path):
    refused = csaw("g.zarr", "--measures", "degree", "--plot", "out", "--plot-size", "0.1x900")
    assert refused.exit_code == 1
    assert str(refused.exception).startswith("--plot-size: expected a width and a height from ")
    assert not refused.stdout
    assert not (tmp_path / "out").exists()


def test_the_place_of_the_graph(stores):
    planned = json.loads(csaw("g.zarr", "--device", "cpu", "--residency", "disk", "--dry-run", "--json").stdout)
    assert "in one block" in json.dumps(planned)


def test_a_window_of_time(stores, tmp_path):
    events_store(tmp_path / "timed.zarr", TIED, 5)
    until, negative = csaw("timed.zarr", "--measures", "degree", "--until", "3"), ("--between", "-3,2")
    assert until.stdout.splitlines()[0] == "timed.zarr until 3, 11 of 19 stored edges"
    found = json.loads(csaw("timed.zarr", "--measures", "degree", *negative, "--json").stdout)
    assert found["window"] == {"first": -3, "last": 2, "units": "1", "edges": 6, "of": 19}
    assert found["profile"]["mean out-degree"]["value"] == 6 / 5
    planned = csaw("timed.zarr", "--measures", "degree", *negative, "--dry-run", "--json")
    assert json.loads(planned.stdout)[0]["graph_bytes"] == 4 * 6
    for refused in (("g.zarr", "--until", "3"), ("timed.zarr", "--until", "nan"), ("timed.zarr", "--between", "3,2")):
        assert isinstance(csaw(*refused).exception, OptionError)


def test_windows_of_time(stores, tmp_path):
    events_store(tmp_path / "timed.zarr", TIED, 5)
    given = ("timed.zarr", "--measures", "degree", "--windows", "2")
    found = csaw(*given)
    assert found.exit_code == 0, found.output
    assert [line.split()[:3] for line in found.stdout.splitlines()[1:]] == [
        ["from", "to", "edges"],
        ["0", "4", "14"],
        ["5", "9", "5"],
    ]
    assert "csaw: step 1 of 2: measuring degree of timed.zarr, window 1 of 2" in found.stderr
    assert csaw(*given, "--format", "csv").stdout.startswith("from,to,edges,mean out-degree,")
    assert [one["edges"] for one in json.loads(csaw(*given, "--json").stdout)["windows"]] == [14, 5]
    assert "work on one window" in csaw(*given, "--plot", "plots").stderr
    assert "work on one window" in csaw(*given, "--save", "core", "core.npz").stderr
    for refused in ("--dry-run", "--cluster=local:2"):
        said = str(csaw(*given, refused).exception)
        assert f"cannot be combined with {refused.partition('=')[0]}, because several windows" in said


def test_the_commands_of_the_page_on_windows_run(stores, tmp_path):
    section = (DOCS / "guides" / "evaluate-in-time.md").read_text()
    lines = "from,to,when\n" + "".join(f"{k % 7},{k % 5},2026-11-{k:02d}T12:00:00\n" for k in range(1, 31))
    (tmp_path / "messages.csv").write_text(lines)
    for line in "".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL)).splitlines():
        done = CliRunner().invoke(cli, shlex.split(line)[1:])
        assert done.exit_code == 0, f"{line}\n{done.output}"
        kept = {"--until": 14, "--between": 30}.get(line.split()[3])
        assert "--every" not in line or len(done.stdout.splitlines()) == 7, "the month has parts of five weeks"
        assert kept is None or f" {kept} of 30 stored edges" in done.stdout


def test_the_commands_of_the_page_on_lists_run(stores, tmp_path):
    (tmp_path / "g.zarr").rename(tmp_path / "graph.zarr")
    section = (DOCS / "guides" / "lists.md").read_text()
    for line in "".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL)).splitlines():
        done = CliRunner().invoke(cli, shlex.split(line, comments=True)[1:])
        assert done.exit_code == 0, f"{line}\n{done.output}"
    assert {"triangles.parquet", "triangles.npy", "support.csv.gz"} <= {path.name for path in tmp_path.iterdir()}


def test_the_command_of_the_page_on_labels_runs(stores, tmp_path):
    section = (DOCS / "reference" / "measures.md").read_text().partition("\n## patterns\n")[2].partition("\n## ")[0]
    [line] = "".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL)).splitlines()
    np.savez(tmp_path / "types.npz", type=np.arange(100) % 2 + 1)
    done = CliRunner().invoke(cli, [*shlex.split(line.replace("graph.zarr", "g.zarr"))[1:], "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["measures"]["patterns"]["vertex_labels"] == str(tmp_path / "types.npz")
    assert found["profile"]["wedge:1:2:1"]["value"] > found["profile"]["triangle:1:1:2"]["value"] > 0


def test_json(stores):
    found = json.loads(csaw("g.zarr", "fire.zarr", "--measures", "degree", "--json").stdout)
    assert {"graph", "measures", "profile", "rows"} == found.keys()
    assert found["rows"][0]["kind"] == "D-statistic"


def test_what_is_undefined_is_null_in_json(tmp_path, monkeypatch):
    (tmp_path / "loop.txt").write_text("0 0\n")
    monkeypatch.chdir(tmp_path)
    said = csaw("loop.txt", "--measures", "assortativity,hops", "--json").stdout
    found = json.loads(said, parse_constant=lambda name: pytest.fail(name))["profile"]
    assert found["assortativity"]["value"] is found["mean distance"]["value"] is None
    assert found["longest distance"]["value"] == 0


def test_measures_to_save_are_found_beside_the_others(stores):
    found = csaw("g.zarr", "--measures", "degree", "--save", "core,degree", "found.csv")
    assert found.exit_code == 0, found.output
    assert Path("found.csv").read_text().partition("\n")[0] == "ids,core,degree"
    assert "mean degree" in found.stdout
    assert "largest core" in found.stdout


def test_what_gives_no_number_for_each_vertex_is_not_saved_and_not_measured(stores, monkeypatch):
    monkeypatch.setattr(Degree, "findings", lambda *_: pytest.fail("it was measured"))
    for given, known in (
        (("--save", "hops", "h.npz"), "degree"),
        (("--measures", "core,diameter", "--save", "degree,hops", "h.npz", "--dry-run"), "core, degree"),
        (("--save", "degree,triangles", "h.npz", "--approximate", "9"), "degree"),
    ):
        refused = csaw("g.zarr", *given, "--refresh")
        assert refused.exit_code == 1
        last = "triangles" if "--approximate" in given else "hops"
        wanted = f"--save: expected measures that give a number for each vertex, such as {known}, found '{last}'"
        assert str(refused.exception) == wanted
    assert not Path("h.npz").exists()


@pytest.mark.parametrize(("source", "reads"), [(0, True), (3, False)])
def test_a_sample_is_proposed_where_it_can_read_the_saved_columns(tmp_path, monkeypatch, source, reads):
    """Sums of weights are infinite where no path leads."""
    monkeypatch.chdir(tmp_path)
    Path("edges.txt").write_text("0 1 2\n1 2 2\n2 3 1\n")
    assert CliRunner().invoke(cli, ["partition", "edges.txt", "g.zarr", "--directed"]).exit_code == 0
    found = csaw("g.zarr", "--save", "sssp", "far.npz", "--sssp-source", str(source))
    assert found.exit_code == 0, found.output
    assert ("--columns far.npz" in found.output) is reads
    how = ["--algo", "deepwalk", "--walk-length", "2", "--edge-bias", "e.column('sssp', e.dst)"]
    done = CliRunner().invoke(cli, ["sample", "g.zarr", "w.zarr", *how, "--columns", "far.npz"])
    said = str(done.exception)
    assert (done.exit_code == 0) is reads
    wanted = "fill in a number for vertices without one, 3 in all, or leave the column out"
    assert reads or said == f"--columns: sssp: expected finite numbers, found inf at entry 0; {wanted}"


def test_the_table_as_csv_has_all_digits_and_the_mean_of_the_d_statistics(stores):
    given = (
        "g.zarr",
        "fire.zarr",
        "walks.zarr",
        "--measures",
        "degree,components,triangles",
        "--labels",
        "fires,walks",
    )
    rows = list(csv.DictReader(csaw(*given, "--format", "csv").stdout.splitlines()))
    apart = [row for row in rows if row["distance"] == "D-statistic"]
    *each, mean = apart
    assert mean["finding"] == f"mean of {len(each)} D-statistics"
    for name in ("fires", "walks"):
        assert float(mean[name]) == pytest.approx(sum(float(row[name]) for row in each) / len(each))
    found = json.loads(csaw(*given, "--json").stdout)["rows"]
    known = {(row["finding"], row["of"]): row for row in found}
    assert all(float(row["fires"]) == known[row["finding"], "fire.zarr"]["distance"] for row in each)
    value = next(row for row in rows if (row["finding"], row["distance"]) == ("mean degree", "value"))
    assert float(value["walks"]) == known["mean degree", "walks.zarr"]["sample"]
    assert float(value["graph"]) == known["mean degree", "walks.zarr"]["graph"]


def test_the_table_for_latex_is_whole_and_escaped(stores):
    lines = csaw(
        "g.zarr", "fire.zarr", "--measures", "degree", "--format", "latex", "--labels", "a_b"
    ).stdout.splitlines()
    assert lines[0].startswith("% a_b")
    assert (lines[1], lines[-1]) == (r"\begin{tabular}{lrrl}", r"\end{tabular}")
    assert lines[3] == r"finding & graph & a\_b & distance \\"
    assert all(line.count(" & ") == 3 for line in lines if line.endswith(r"\\"))
    assert r"\%" in "".join(lines)


def test_a_measure_that_has_curves_alone_is_no_empty_table(stores):
    lines = csaw("g.zarr", "--measures", "spectrum").stdout.splitlines()
    assert any("singular values" in line and "at 20 points" in line for line in lines)


def test_print_shows_the_table_of_the_command(stores):
    found = evaluate("g.zarr", ["fire.zarr", "walks.zarr"], measures="degree", device="cpu")
    said = csaw("g.zarr", "fire.zarr", "walks.zarr", "--measures", "degree").stdout
    assert str(found) == said.rstrip()
    assert found.mean_d_statistics().keys() == {"fire.zarr", "walks.zarr"}


def test_an_estimate_says_its_method_once(stores):
    said = csaw("g.zarr", "walks.zarr", "--measures", "degree", "--estimate").stdout
    method = "visits with equal probability, after 2 steps of a walk; errors from 100 batches"
    assert said.count(f"\n  estimated from {method}") == 1


def test_what_is_wrong_is_said_in_one_line(stores):
    for arguments, said in (
        (("g.zarr", "--measures", "charm"), "no measure called 'charm'"),
        (("g.zarr", "--estimate"), "expected samples to estimate from"),
        (("g.zarr", "missing.zarr"), "missing.zarr"),
        (("g.zarr", "walks.zarr", "--labels", "a,b"), "--labels: expected a name for each of 1 sample, found 2"),
        (("g.zarr", "walks.zarr", "--json", "--format", "csv"), "leave out --format"),
        (("g.zarr", "walks.zarr", "--measures", "sssp"), "reads weights, which graphs of samples do not have"),
        (("g.zarr", "walks.zarr", "--measures", "hops", "--estimate"), "need a measure with a number for each vertex"),
        (("g.zarr", "--memory", "1"), "raise --memory to"),
        (("g.zarr", "--device", "cpu", "--residency", "streamed"), "is for GPUs; on the CPU, use resident or disk"),
    ):
        found = csaw(*arguments)
        assert found.exit_code != 0
        assert said in str(found.exception) + found.output


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "the results so far are kept; the same command continues from there"),
        (("--refresh",), "the results so far are kept; the same command without --refresh continues from there"),
    ],
)
def test_an_interruption_says_how_to_go_on(stores, monkeypatch, more, said):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Degree, "findings", stop)
    found = CliRunner().invoke(cli, ["evaluate", "g.zarr", "--measures", "core,degree", *more], standalone_mode=False)
    assert isinstance(found.exception, Abort)
    assert str(found.exception.__cause__ or found.exception.__context__) == said


def test_help_says_where_a_search_begins_by_default():
    said = " ".join(csaw("--help").stdout.split())
    assert said.count("[default: the vertex of largest degree]") == 3


def test_the_list_of_measures(stores):
    assert (
        csaw("--list")
        .stdout.splitlines()[0]
        .startswith(("assortativity", "components", "core", "degree", "bfs", "betweenness"))
    )


def test_help_imports_no_compiler():
    code = (
        "import sys; from csaw.cli.main import cli; cli.main(['evaluate', '--help'], standalone_mode=False); "
        "print([m for m in ('numba', 'zarr', 'cupy', 'scipy') if m in sys.modules])"
    )
    assert subprocess.run(**python(code), capture_output=True, text=True, check=True).stdout.splitlines()[-1] == "[]"


MINE = """
from csaw.engine.measure import Measure, option, vertex_option


class Near(Measure):
    begin: int = vertex_option(help="vertex to begin at")
    step: int = option(1, help="what an edge adds", low=1)

    def start(self, v):
        return 0 if v.id == self.begin else v.nothing

    def edge(self, e):
        return e.value + self.step
"""


def test_a_measure_of_ones_own_has_options_and_is_saved(stores, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    found = csaw("g.zarr", "--measures", "mine.py:Near,degree", "--begin", "7", "--step", "2", "--json")
    assert found.exit_code == 0, found.output
    made = json.loads(found.stdout)
    assert made["measures"] == {"Near": {"begin": "7", "step": 2}, "degree": {}}
    saved = csaw("g.zarr", "--save", "mine.py:Near", "near.csv", "--begin=7", "-q")
    assert saved.exit_code == 0, saved.output
    rows = csv.DictReader((tmp_path / "near.csv").read_text().splitlines())
    assert [row["ids"] for row in rows if row["Near"] == "0"] == ["7"]
    assert "vertex to begin at" in csaw("g.zarr", "--measures", "mine.py:Near", "--help").output.lower()


def test_a_measure_of_ones_own_is_refused_in_one_line(stores, tmp_path):
    (tmp_path / "mine.py").write_text(MINE + "        return e.time\n")
    (tmp_path / "broken.py").write_text("def (")
    for name, said in (
        ("mine.py:Far", "--measures: mine.py has no class called 'Far'"),
        ("broken.py:A", "--measures: broken.py cannot be imported: SyntaxError"),
        ("absent.py:A", "--measures: absent.py is not a file"),
    ):
        refused = csaw("g.zarr", "--measures", name)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert str(refused.exception).startswith(said)


def test_workers_find_a_measure_of_ones_own(stores, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    given = ("g.zarr", "walks.zarr", "--measures", "mine.py:Near,degree", "--begin", "7", "--json", "--refresh")
    spread = csaw(*given, "--cluster", "local:2")
    assert spread.exit_code == 0, spread.output
    assert spread.stdout == csaw(*given).stdout
    assert "csaw: step 1 of 3: measuring Near of" in spread.stderr


@pytest.mark.parametrize("given", [("--residency", "pooled"), ("--exchange", "selective")])
def test_workers_of_a_cluster_measure_on_one_gpu_at_most(stores, given):
    refused = csaw("g.zarr", "--cluster", "local:2", *given)
    assert refused.exit_code == 1
    assert f"{given[0]} {given[1]} is for several; leave out --cluster" in str(refused.exception)
