"""The package holds every folder with code, and every file that code reads."""

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from csaw.partition.base.version import VERSION

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = PROJECT["tool"]["setuptools"]["package-dir"]
TEXT = {".py", ".pyc"}


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


def test_scripts_can_be_started():
    for name in ("scripts/quickstart", "scripts/test", ".ci/run"):
        assert (ROOT / name).stat().st_mode & 0o111
