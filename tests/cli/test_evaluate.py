"""The command prints a profile, a table beside it, JSON and plots, and refuses in one line."""

import json
import subprocess

import pytest
from click.testing import CliRunner
from helpers.graphs import random_store
from helpers.small_samples import python

from csaw.cli.main import cli
from csaw.engine import sample


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


def test_a_table_for_each_sample_and_plots(stores, tmp_path):
    found = csaw("g.zarr", "fire.zarr", "walks.zarr", "--measures", "degree", "--plot", "out")
    assert found.exit_code == 0, found.output
    assert [line for line in found.stdout.splitlines() if "beside" in line] == [
        "fire.zarr: 4 instances, beside g.zarr",
        "walks.zarr: 100 instances, beside g.zarr",
    ]
    assert "D-statistic" in found.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"degree.svg", "degree.png"}


def test_the_place_of_the_graph(stores):
    planned = json.loads(csaw("g.zarr", "--device", "cpu", "--residency", "disk", "--dry-run", "--json").stdout)
    assert "blocks, one after the other" in json.dumps(planned)


def test_json(stores):
    found = json.loads(csaw("g.zarr", "fire.zarr", "--measures", "degree", "--json").stdout)
    assert {"graph", "measures", "profile", "rows"} == found.keys()
    assert found["rows"][0]["kind"] == "D-statistic"


def test_an_estimate_says_its_method_once(stores):
    said = csaw("g.zarr", "walks.zarr", "--measures", "degree", "--estimate").stdout
    assert said.count("visits all equally likely, without 2 steps; errors of 100 batches") == 1


def test_what_is_wrong_is_said_in_one_line(stores):
    for arguments, said in (
        (("g.zarr", "--measures", "charm"), "no measure called 'charm'"),
        (("g.zarr", "--estimate"), "expected samples to estimate from"),
        (("g.zarr", "missing.zarr"), "missing.zarr"),
        (("g.zarr", "--memory", "1"), "raise --memory to"),
        (("g.zarr", "--device", "cpu", "--residency", "streamed"), "is for GPUs; on the CPU, use resident or disk"),
    ):
        found = csaw(*arguments)
        assert found.exit_code != 0
        assert said in str(found.exception) + found.output


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
