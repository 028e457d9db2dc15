"""Compiled kernels are kept by what they depend on: no path, date or comment, but all code that they call."""

import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from types import BuiltinFunctionType, ModuleType

import numba
import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

import csaw.datasets
import csaw.engine
import csaw.partition
from csaw.partition.base import compile

SOURCE = Path(__file__).parents[2] / "_src" / "csaw"
CODE = """\
import json, sys
sys.path.insert(0, sys.argv[1])
import csaw.partition.base.compile
import numba.core.event as event
compiled = []
class Heard(event.Listener):
    def on_start(self, event): compiled.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass
event.register("numba:compile", Heard())
sys.path.insert(0, sys.argv[1] + "/more")
import own.outer as outer
print(json.dumps([compiled, outer.number(3), outer.field(outer.Pair(5, 7))]))
"""
INNER = """\
from csaw.partition.base.compile import njit

FACTOR = 10

@njit
def inner(x):
    return x * FACTOR + 1
"""
OUTER = """\
from typing import NamedTuple

from csaw.partition.base.compile import njit
from own.inner import FACTOR, inner

class Pair(NamedTuple):
    first: int
    second: int

@njit
def number(x):
    return inner(x) + FACTOR

@njit
def field(pair):
    return pair.second
"""
pytestmark = pytest.mark.usefixtures("no_bytecode")


@pytest.fixture
def no_bytecode(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


@pytest.fixture
def clone(tmp_path):
    """Make a function that copies the Python files of csaw to a folder of this name, beside a package of kernels."""

    def make(name):
        root = tmp_path / name
        shutil.copytree(SOURCE, root / "csaw", ignore=shutil.ignore_patterns("__pycache__"))
        (root / "more" / "own").mkdir(parents=True)
        (root / "more" / "own" / "__init__.py").touch()
        (root / "more" / "own" / "inner.py").write_text(INNER)
        (root / "more" / "own" / "outer.py").write_text(OUTER)
        return root

    return make


@pytest.fixture
def run(tmp_path):
    """Make a function that returns the kernels that a process compiles for a clone, and what they return."""

    def of(root):
        environment = os.environ | {"CSAW_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ""}
        command = [sys.executable, "-c", CODE, str(root)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return of


def edit(file, old, new):
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_another_clone_and_a_comment_compile_nothing(clone, run):
    compiled, *found = run(clone("one"))
    assert set(compiled) >= {"number", "inner", "field"}
    assert found == [41, 7]
    two = clone("two")
    edit(two / "more" / "own" / "inner.py", "FACTOR = 10", "# A comment, and lines.\n\nFACTOR = 10")
    assert run(two) == [[], 41, 7]


@pytest.mark.parametrize(
    ("file", "old", "new", "found", "again"),
    [
        ("inner.py", "FACTOR + 1", "FACTOR + 2", [42, 7], {"number", "inner"}),
        ("inner.py", "FACTOR = 10", "FACTOR = 20", [81, 7], {"number", "inner"}),
        ("inner.py", "@njit", "@njit(error_model='numpy')", [41, 7], {"number", "inner"}),
        ("outer.py", "    first: int\n    second: int", "    second: int\n    first: int", [41, 5], {"field"}),
    ],
    ids=["code", "constant", "option", "fields"],
)
def test_a_change_of_what_a_kernel_calls_compiles_it_again(clone, run, file, old, new, found, again):
    root = clone("one")
    run(root)
    edit(root / "more" / "own" / file, old, new)
    compiled, *now = run(root)
    assert now == found
    assert set(compiled) == again


def test_machine_code_of_a_module_that_is_gone_is_not_loaded(clone, run):
    root = clone("one")
    run(root)
    own = root / "more" / "own"
    (own / "inner.py").rename(own / "within.py")
    edit(own / "outer.py", "own.inner", "own.within")
    compiled, *found = run(root)
    assert found == [41, 7]
    assert {"number", "inner"} <= set(compiled)


def test_a_change_of_random_numbers_compiles_what_draws_them(clone):
    root = clone("one")
    code = "import sys; sys.path.insert(0, sys.argv[1]); from csaw.engine.draws import random; print(STAMPS)".replace(
        "STAMPS",
        "{n: k._cache._cache_file._index_name for n, k in vars(random).items()"
        " if hasattr(k, 'py_func') and k.py_func.__module__ == random.__name__}",
    )

    def stamps():
        done = subprocess.run([sys.executable, "-c", code, str(root)], capture_output=True, text=True, check=True)
        return eval(done.stdout)

    before = stamps()
    assert stamps() == before
    edit(root / "csaw" / "engine" / "draws" / "random.py", "0xD2511F53", "0xD2511F55")
    assert stamps()["source_words"] != before["source_words"]


def kernels():
    """Each function that csaw compiles, of every module that compiles some."""
    for package in (csaw.engine, csaw.partition, csaw.datasets):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            source = Path(found.module_finder.path, f"{found.name.rpartition('.')[2]}.py")
            if source.is_file() and "njit" in source.read_text():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of libraries that the modules of loaders import
                    module = importlib.import_module(found.name)
                yield from (one for one in vars(module).values() if isinstance(one, CPUDispatcher))


def test_all_that_kernels_read_is_described():
    """A value of a kind that the stamp does not know, such as a module of csaw, could change without a trace."""
    known = (*compile.PLAIN, tuple, list, frozenset, set, np.ndarray, type, np.ufunc, BuiltinFunctionType)
    met, described = [], 0
    for kernel in kernels():
        for name in set(compile._names(kernel.py_func.__code__)) & kernel.py_func.__globals__.keys():
            value, described = kernel.py_func.__globals__[name], described + 1
            is_known = isinstance(value, (*known, numba.types.Type)) or compile._function_of(value) is not None
            is_foreign = isinstance(value, ModuleType) and not value.__name__.startswith("csaw")
            if not (is_known or is_foreign):
                met.append((kernel, name, value))
    assert described > 1000
    assert [one for one in met if not isinstance(one[2], numba.types.ExternalFunction)] == []
