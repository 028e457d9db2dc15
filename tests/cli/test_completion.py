"""What a shell offers after Tab: options of the chosen algorithm, names of all kinds, paths; quickly."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from csaw.cli.main import cli
from csaw.datasets.catalog import ENTRIES
from csaw.engine.analytics import measure
from csaw.engine.api import registry

ENV = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "_src")}


def offered(line):
    """The values and types that are offered for the last word of a command line."""
    *given, last = line.split(" ")
    return {
        (item.value, item.type)
        for item in ShellComplete(cli, {}, "csaw", "_CSAW_COMPLETE").get_completions(given, last)
    }


def names(line):
    return {value for value, _ in offered(line)}


def test_algorithms_datasets_measures_and_suites_are_named():
    assert names("sample karate w.zarr --algo ") == set(registry.names())
    assert names("datasets fetch ") == {entry.name for entry in ENTRIES}
    assert names("evaluate karate --measures ") == set(measure.names())
    assert {"walks", "all"} <= names("bench --suite ")
    assert "karate" in names("sample ka")
    assert "rmat:" in names("evaluate rm")
    assert "cuda" in names("sample karate w.zarr --device ")


def test_after_a_comma_the_rest_is_offered():
    assert names("evaluate karate --measures degree,tri") == {"degree,triangles"}
    assert "degree,degree" not in names("evaluate karate --measures degree,")


@pytest.mark.parametrize(
    "line",
    [
        "sample ",
        "info ",
        "verify w",
        "sample karate w.zarr --algo my",
        "sample karate w.zarr --sources v",
        "evaluate g.zarr --save pagerank w",
    ],
)
def test_paths_are_left_to_the_shell(line):
    assert (line.rpartition(" ")[2], "file") in offered(line)


def test_options_are_those_of_the_chosen_algorithm():
    of_node2vec = names("sample karate w.zarr --algo node2vec --")
    assert {"--p", "--q", "--seed", "--quiet"} <= of_node2vec
    assert "--burn-prob" not in of_node2vec
    assert "--batch-size" not in of_node2vec
    assert names("partition --clustering-") == {"--clustering-seed"}
    assert names("par") == {"partition"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(shell):
    code = "import sys; sys.argv = ['csaw']; from csaw.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=ENV | {"_CSAW_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"_CSAW_COMPLETE={shell}_complete" in done.stdout


def test_a_completion_imports_no_compiler():
    code = (
        "import sys; sys.argv = ['csaw']\n"
        "from csaw.cli.main import main\n"
        "try: main()\n"
        "finally: print(sorted({'numba', 'zarr', 'rich', 'scipy'} & set(sys.modules)))"
    )
    for line in ("csaw sample karate w.zarr --algo no", "csaw evaluate karate --measures deg", "csaw bench --suite w"):
        asked = {"_CSAW_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        done = subprocess.run([sys.executable, "-c", code], env=ENV | asked, capture_output=True, text=True, check=True)
        *found, heavy = done.stdout.splitlines()
        assert found
        assert heavy == "[]"
