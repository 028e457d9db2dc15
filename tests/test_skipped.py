"""Tests are skipped for want of what a machine may lack; where everything should run, any other skip is a failure."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import machine
from helpers.machine import Lack, need_data, need_package

TESTS = Path(__file__).parent
HEAD = "import pytest\nfrom helpers.machine import Lack, lacking\n\ndef test_one():\n    pass\n\n"
PLACES = {"test": "def test_two():\n    {}\n", "file": "{}\n"}  # a skip within a test, and one of a whole file
OTHERS = [  # the words of their reasons change nothing
    'pytest.skip("no GPU here", allow_module_level=True)',
    'pytest.skip("needs a network", allow_module_level=True)',
    'pytest.skip("CSAW_TEST_DATA names no folder", allow_module_level=True)',
    'pytest.importorskip("no_such_module", reason="no GPU")',
    'raise pytest.skip.Exception("tests/gpu/ needs a GPU and a network", allow_module_level=True)',
]
SKIPPING = {"skip", "skipif", "importorskip", "SkipTest", "skipTest", "skipIf", "skipUnless"}


def run(folder, skips, *options, everything=True):
    """pytest with this project's conftest in a folder that has a file of tests for each skip in each place."""
    shutil.copy(TESTS / "conftest.py", folder)
    for number, skip in enumerate(skips):
        for place, text in PLACES.items():
            (folder / f"test_{number}_{place}.py").write_text(HEAD + text.format(skip))
    paths = os.pathsep.join([str(TESTS), str(TESTS / "_src"), str(TESTS.parent / "scripts")])
    env = {name: value for name, value in os.environ.items() if not name.startswith(("CSAW_TEST_", "PYTEST"))}
    env |= {"PYTHONPATH": paths} | ({"CSAW_TEST_ALL": "1"} if everything else {})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)]
    done = subprocess.run(command, env=env, cwd=folder, check=False, capture_output=True, text=True)
    (counted,) = re.findall(r"^(\d+) tests or files skipped: (.*)$", done.stdout, re.MULTILINE)
    refused = re.findall(
        r"^SKIPPED, though scripts/test installs all that it needs: (\w+)\.py", done.stdout, re.MULTILINE
    )
    return done.returncode, (int(counted[0]), sorted(counted[1].split(", "))), sorted(refused)


def both(number):
    return sorted(f"test_{number}_{place}" for place in PLACES)


@pytest.mark.parametrize(("everything", "processes"), [(True, "0"), (True, "1"), (False, "0")])
def test_skips_are_counted_by_what_is_lacking(tmp_path, everything, processes):
    skips = [f'lacking(Lack.{lack.name}, "no reason")' for lack in Lack]
    status, counted, refused = run(tmp_path, skips, "-n", processes, everything=everything)
    assert counted == (2 * len(Lack), sorted(f"2 for want of {lack.value}" for lack in Lack))
    assert refused == both(list(Lack).index(Lack.PACKAGE))
    assert status == (1 if everything else 0)


def test_what_a_newcomer_may_lack_is_no_failure_whatever_the_reason_says(tmp_path):
    lacks = [lack for lack in Lack if not lack.is_installed]
    status, counted, refused = run(tmp_path, [f'lacking(Lack.{lack.name}, "no torch, no c++")' for lack in lacks])
    assert (status, counted[0], refused) == (0, 2 * len(lacks), [])
    assert {Lack.DATA, Lack.GPU, Lack.NETWORK, Lack.PROGRAM, Lack.ROOT} <= set(lacks)


def test_any_other_skip_is_a_failure_whatever_its_reason_says(tmp_path):
    status, counted, refused = run(tmp_path, OTHERS)
    assert (status, counted[0]) == (1, 2 * len(OTHERS))
    assert refused == sorted(name for number in range(len(OTHERS)) for name in both(number))


def skips(text):
    """The lines that skip by means of pytest's or unittest's own."""
    for node in ast.walk(ast.parse(text)):
        named = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
        if SKIPPING & (named | {getattr(node, "attr", None)}):
            yield node.lineno


def test_every_skip_comes_from_the_module_that_knows_its_kind():
    files = [file for file in TESTS.rglob("*.py") if "_src" not in file.parts and file != Path(machine.__file__)]
    assert [f"{file}:{line}" for file in files for line in skips(file.read_text())] == []


@pytest.mark.parametrize(
    "text",
    [
        "pytest.skip('x')",
        "torch = pytest.importorskip('torch')",
        "@pytest.mark.skipif(not DATA, reason='no network')\ndef test():\n    pass",
        "pytestmark = [pytest.mark.skip]",
        "from pytest import importorskip as needs",
        "raise unittest.SkipTest('x')",
        "raise pytest.skip.Exception('x')",
    ],
)
def test_every_way_to_skip_is_found(text):
    assert list(skips(text))


def test_newcomers_run_every_test_that_needs_real_graphs():
    part = (TESTS.parent / "scripts" / "newcomer").read_text()
    asking = []
    for file in TESTS.rglob("test_*.py"):
        if "_src" in file.parts or file == Path(__file__):
            continue
        name = file.relative_to(TESTS.parent).as_posix()
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef) and "need_data(" in ast.unparse(node):
                assert re.search(rf"{name}(::{node.name})?\s", part), f"scripts/newcomer leaves out {name}::{node.name}"
                asking.append(node.name)
    assert len(asking) >= 7


def test_real_graphs_that_are_named_but_not_there_are_a_failure(tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_TEST_DATA", str(tmp_path))
    with pytest.raises(AssertionError, match=r"CSAW_TEST_DATA=.*: this folder has no snap/wiki-Vote.txt.gz"):
        need_data("snap/wiki-Vote.txt.gz")
    (tmp_path / "irregular").mkdir()
    assert need_data("irregular") == tmp_path / "irregular"


@pytest.mark.parametrize("name", ["csaw", "csaw.engine.loaders", "csaw.engine.cluster.dask_executor"])
def test_a_part_of_the_project_is_not_optional(name):
    with pytest.raises(AssertionError, match="is not optional"):
        need_package(name)


def test_long_tests_are_named_as_they_are():
    names = (Path(__file__).with_name("long.txt")).read_text().splitlines()
    missing = []
    for name in names:
        file, _, function = name.partition("::")
        text = (Path(__file__).parents[1] / file).read_text() if (Path(__file__).parents[1] / file).is_file() else ""
        if f"def {function.rpartition('::')[2]}(" not in text:
            missing.append(name)
    assert names
    assert not missing
