#!/usr/bin/env python3
"""Make the links in tests/_src/csaw, by which tests and tools import csaw from the folders of the project.

git keeps these links; a source distribution has none. The tests make them before they import csaw. For tools that run
before any test: python scripts/make_links.py
"""

import os
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def targets(root: Path = ROOT) -> dict[Path, Path]:
    """Where each link leads."""
    folders = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    source = root / "tests" / "_src" / "csaw"
    found = {source / name.partition(".")[2]: root / place for name, place in folders.items() if "." in name}
    return found | {source / file.name: file for file in (root / folders["csaw"]).iterdir() if file.is_file()}


def make_links(root: Path = ROOT) -> None:
    """Make the links that are missing, and those that became files with a path in them."""
    for link, target in targets(root).items():
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.unlink(missing_ok=True)
            link.symlink_to(os.path.relpath(target, link.parent))


if __name__ == "__main__":
    make_links()
