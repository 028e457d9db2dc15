"""The table of several versions has for each what it has when it is measured alone."""

import csv
import io
import json
import logging
import shutil

import pytest
from click.testing import CliRunner
from helpers.machine import need_package
from helpers.networks import same

import csaw
from csaw.cli.main import cli
from csaw.engine.analytics.cpu import changes
from csaw.engine.analytics.measure import Column
from csaw.partition import open_graph
from csaw.partition.errors import CsawError, OptionError, StoreError

MEASURES = "degree,components,triangles"


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(changes, "LOOKUPS", 1e9)
    monkeypatch.setattr(changes, "CHANGED", 1e-9)
    csaw.partition([(0, 1), (1, 2), (3, 4)], tmp_path / "g.zarr", directed=False)
    csaw.append(tmp_path / "g.zarr", [(0, 2), (2, 3), (5, 0)])
    csaw.append(tmp_path / "g.zarr", [(1, 2)], remove=True)
    return tmp_path / "g.zarr"


def run(*words):
    return CliRunner().invoke(cli, ["evaluate", *map(str, words), "--measures", MEASURES, "--device", "cpu"])


@pytest.mark.parametrize(
    ("versions", "wanted"),
    [("0,1,2", [0, 1, 2]), ([2, 0], [2, 0]), (" 1", [1]), (1, [1]), ((0, "1"), [0, 1])],
    ids=["text", "list", "one as text", "one", "pair"],
)
def test_each_version_is_what_it_is_alone(path, versions, wanted):
    found = csaw.evaluate(path, versions=versions, measures=MEASURES, device="cpu")
    assert list(found.versions) == wanted
    for number, one in found.versions.items():
        alone = csaw.evaluate(open_graph(path, version=number), measures=MEASURES, device="cpu", refresh=True).profile
        numbers = {name: finding for name, finding in alone.items() if not isinstance(finding, Column)}
        assert same({name: one.profile[name] for name in numbers}, numbers)
        assert one.profile.keys() == alone.keys()


def test_the_table_has_a_column_a_version(path):
    heading, names, *rows = run(path, "--versions", "2,0,1").stdout.splitlines()[:12]
    assert heading.endswith("g.zarr, 3 versions")
    assert names.split() == ["finding", "version", "2", "version", "0", "version", "1", "method"]
    [triangles] = [row.split() for row in rows if row.split()[0] == "triangles"]
    assert triangles[1:4] == ["0", "0", "1"]


def test_csv_and_json_have_all_digits(path):
    rows = list(csv.DictReader(io.StringIO(run(path, "--versions", "0,1", "--format", "csv").stdout)))
    said = json.loads(run(path, "--versions", "0,1", "--json").stdout)
    assert [one["version"] for one in said["versions"]] == [0, 1]
    assert [one["fingerprint"] for one in said["versions"]] == [
        open_graph(path, version=number).fingerprint for number in (0, 1)
    ]
    for row in rows:
        for number in (0, 1):
            finding = said["versions"][number]["profile"][row["finding"]]
            assert finding["kind"] == row["kind"]
            if finding["kind"] == "number":
                assert float(row[f"version {number}"]) == finding["value"]
    assert {"triangles", "degree", "component size"} <= {row["finding"] for row in rows}


def test_remarks_say_what_was_brought_up_to_date(path, caplog):
    caplog.set_level(logging.INFO)
    first = run(path, "--versions", "0,1,2")
    assert "triangles: brought up to date from version 0" in caplog.messages
    assert "triangles: brought up to date from version 1" in caplog.messages
    assert "components: measured anew, because edges were removed" in caplog.messages
    caplog.clear()
    assert run(path, "--versions", "0,1,2").stdout == first.stdout
    assert run(path, "--versions", "0,1,2", "--refresh").stdout == first.stdout
    assert not caplog.messages


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--versions", "7"], "has no version 7, only 0, 1, 2"),
        (["--versions", "1,1"], "--versions: expected different numbers"),
        (["--versions", "new"], "--versions: expected an integer from 0 on, found 'new'"),
        (["--versions", "1" * 5000], "--versions: expected an integer from 0 on"),
        (["--versions", "0", "--windows", "2"], "--versions: expected --versions or several windows, found both"),
        (["--versions", "0", "--dry-run"], "--versions cannot be combined with --dry-run"),
        (["--versions", "0", "--cluster", "local:1"], "--versions cannot be combined with --cluster"),
        (["--versions", "0", "--version", "1"], "leave out --save and --version"),
        (["--versions", "0", "--save", "degree", "out.csv"], "leave out --save and --version"),
    ],
)
def test_what_is_refused(path, words, said):
    done = run(path, *words)
    assert done.exit_code
    assert said in (str(done.exception) if isinstance(done.exception, CsawError) else " ".join(done.stderr.split()))


def test_samples_and_graphs_in_memory_are_refused(path, tmp_path):
    sample = csaw.sample(path, algo="deepwalk", walk_length=2)
    with pytest.raises(OptionError, match="versions: expected only the graph, found 1 sample"):
        csaw.evaluate(path, sample, versions=0)
    with pytest.raises(OptionError, match="a graph in memory has no versions"):
        csaw.evaluate(csaw.graph([(0, 1)]), versions=0)
    with pytest.raises(StoreError, match="has no version 3"):
        csaw.evaluate(path, versions=[0, 3])


def test_plots_have_a_line_a_version(path, tmp_path):
    need_package("matplotlib")
    files = csaw.evaluate(path, versions=[0, 1], measures="degree").plot(tmp_path / "plots")
    text = next(file for file in files if file.suffix == ".csv").read_text()
    assert "version 0" in text
    assert "version 1" in text


def test_a_folder_in_place_of_a_cached_result_is_told(path, tmp_path):
    csaw.evaluate(open_graph(path, version=0), measures=MEASURES, device="cpu")
    [cached] = (tmp_path / "cache").rglob("triangles-*.npz")
    cached.unlink()
    cached.mkdir()
    with pytest.raises(StoreError, match="the cache of csaw, cannot be written"):
        csaw.evaluate(open_graph(path, version=0), measures=MEASURES, device="cpu")


def test_damaged_results_of_an_earlier_version_are_measured_anew(path, tmp_path):
    wanted = csaw.evaluate(open_graph(path, version=1), measures=MEASURES, device="cpu", refresh=True).profile
    shutil.rmtree(tmp_path / "cache")
    csaw.evaluate(open_graph(path, version=0), measures=MEASURES, device="cpu")
    held = {file: file.read_bytes() for file in (tmp_path / "cache").rglob("*-*.npz")}
    assert len(held) == 3
    for file, whole in held.items():
        for damaged in (whole[:-9], bytes(len(whole)), whole[:90] + bytes([whole[90] ^ 1]) + whole[91:], b""):
            for other, text in held.items():
                other.write_bytes(text if other != file else damaged)
            for later in (one for one in (tmp_path / "cache").rglob("*-*.npz") if one not in held):
                later.unlink()
            found = csaw.evaluate(open_graph(path, version=1), measures=MEASURES, device="cpu").profile
            assert found["triangles"] == wanted["triangles"]
            assert found["components"] == wanted["components"]
