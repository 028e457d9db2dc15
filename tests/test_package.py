"""The package holds every folder with code, and every file that code reads."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from csaw.partition.base.version import VERSION

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = PROJECT["tool"]["setuptools"]["package-dir"]
TEXT = {".py", ".pyc"}
TESTS = (ROOT / "scripts" / "test").read_text()


def folders():
    return sorted(p.parent for top in FOLDERS.values() for p in (ROOT / top).rglob("*.py"))


def test_no_folder_with_code_is_missing():
    named = set(PROJECT["tool"]["setuptools"]["packages"])
    found = {".".join(("csaw", *folder.relative_to(ROOT).parts)) for folder in folders()} - {"csaw.package"} | {"csaw"}
    assert named == found


def test_every_folder_is_a_package_of_its_own_file():
    for folder in folders():
        assert (folder / "__init__.py").exists(), folder


def test_every_file_beside_code_is_package_data():
    globs = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    for top in FOLDERS.values():
        for file in (ROOT / top).rglob("*"):
            if file.is_file() and file.suffix not in TEXT and "__pycache__" not in file.parts:
                assert any(fnmatch(file.name, glob.removeprefix("**/")) for glob in globs), file


def test_the_changelog_has_the_version():
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("link", sorted(set(FOLDERS.values()) - {"package"}))
def test_the_links_that_tools_follow_lead_to_the_folders(link):
    assert (ROOT / "tests" / "_src" / "csaw" / link).resolve() == ROOT / link


def test_the_citation_names_this_version_and_has_what_the_format_asks_for():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert said.keys() >= {"cff-version", "message", "title", "authors"}
    assert (said["cff-version"], said["version"]) == ("1.2.0", VERSION)
    assert said["license"] == PROJECT["project"]["license"]
    assert all({"name"} == one.keys() for one in said["authors"])
    assert all(one.keys() >= {"type", "title", "authors"} for one in said["references"])


def test_hooks_before_a_commit_are_the_quick_checks_of_the_tests():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    hooks = {hook["entry"].removeprefix("env ") for hook in local["hooks"]}
    checks = re.findall(r'^ *(PYTHONPATH=\S+ )?"\$venv/bin/(ruff|mypy|lint-imports)"(.*)$', TESTS, re.MULTILINE)
    assert hooks == {f"{where}{tool}{arguments}" for where, tool, arguments in checks}
    tools = {re.split("[<>=]", one)[0] for one in PROJECT["project"]["optional-dependencies"]["tools"]}
    assert {"ruff", "mypy", "import-linter"} <= tools  # one version for both


def test_versions_of_python_are_said_alike():
    from packaging.specifiers import SpecifierSet

    may = SpecifierSet(PROJECT["project"]["requires-python"])
    classified = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if ":: Python ::" in line]
    assert [f"3.{minor}" for minor in range(20) if f"3.{minor}" in may] == classified
    first, last = classified[0], classified[-1]
    for file in ("README.md", "docs/quickstart.md", "scripts/python.sh"):
        assert f"Python {first} to {last}" in (ROOT / file).read_text(), file


def test_scripts_can_be_started():
    files = [file for folder in ("scripts", ".ci") for file in (ROOT / folder).iterdir() if file.is_file()]
    scripts = [file for file in files if file.read_bytes().startswith(b"#!") and file.suffix != ".lsf"]
    assert {"quickstart", "test", "release", "newcomer", "run"} <= {file.name for file in scripts}
    for file in scripts:
        assert file.stat().st_mode & 0o111, file
