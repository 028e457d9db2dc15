"""What tests need of a machine that not every machine has. Every skip comes from here, and carries its kind.

A test calls ``need_...`` before it uses what may be missing; a file of tests that needs it as a whole calls it at
its top. ``tests/conftest.py`` counts skips by kind, and never reads their words.
"""

import os
import shutil
import subprocess
import sys
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

VARIABLE = "CSAW_TEST_DATA"


class Lack(Enum):
    """What a machine may not have."""

    DATA = "a folder of real graphs"
    GPU = "a GPU"
    SECOND_GPU = "a second GPU"
    NETWORK = "a network"
    ROOT = "the rights of root"
    PROGRAM = "a program"
    SYSTEM = "something that other systems have"
    PACKAGE = "a Python package"

    @property
    def is_installed(self) -> bool:
        """Whether ``scripts/test`` installs it, so that nobody who runs that lacks it."""
        return self is Lack.PACKAGE


def lacking(lack: Lack, reason: str) -> NoReturn:
    """Skip the calling test, or the calling file of tests."""
    __tracebackhide__ = True
    skipped = pytest.skip.Exception(reason, allow_module_level=True)
    skipped.lack = lack
    raise skipped


def need_package(name: str) -> ModuleType:
    """A module of an optional package. One that the project itself should have is an error, not a skip."""
    __tracebackhide__ = True
    assert name.partition(".")[0] != "csaw", f"{name} is not optional"
    try:
        return pytest.importorskip(name)
    except pytest.skip.Exception as skipped:
        lacking(Lack.PACKAGE, f"{skipped}; it comes with pip install '.[test]'")


def need_program(name: str) -> str:
    """The path of a program that pip does not install."""
    __tracebackhide__ = True
    return shutil.which(name) or lacking(Lack.PROGRAM, f"no {name} on PATH")


def need_system(has: bool, lacks: str) -> None:
    """Nothing, if the system has what a test uses of it."""
    __tracebackhide__ = True
    if not has:
        lacking(Lack.SYSTEM, lacks)


def need_network(folder: Path) -> None:
    """Nothing, if pip can download from an index of packages."""
    __tracebackhide__ = True
    command = [sys.executable, "-m", "pip", "download", "--no-cache-dir", "--no-deps", "--dest", folder, "click"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        lacking(Lack.NETWORK, f"pip can download nothing: {done.stderr.strip()}")


def need_data(name: str) -> Path:
    """A file or a folder of the real graphs that CSAW_TEST_DATA names. Where it names a folder, that has them all."""
    __tracebackhide__ = True
    given = os.environ.get(VARIABLE)
    if not given:
        lacking(Lack.DATA, f"{VARIABLE} names no folder of real graphs")
    path = Path(given, name)
    assert path.exists(), f"{VARIABLE}={given}: this folder has no {name}"
    return path


def need_root(folder: Path) -> None:
    """Nothing, if this user can give files away, as root can outside of most containers of ordinary users."""
    __tracebackhide__ = True
    probe = folder / "probe"
    probe.touch()
    try:
        os.chown(probe, 54321, -1)
    except OSError as error:
        lacking(Lack.ROOT, f"this user cannot give files away: {error.strerror}")
    finally:
        probe.unlink()
