"""Numba is imported by what compiles with it and by the rooms below that always do: a command on a GPU does without.

Loading it takes half a second, longer than such a command draws.
"""

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers import gpu_units
from helpers.graphs import random_store

from csaw.datasets.resolve import resolve
from csaw.engine.analytics.measure import names
from csaw.engine.cuda import compile
from csaw.engine.runs.job import open_backend, prepare
from csaw.engine.schedule.batch_loop import Batches
from csaw.engine.stores import open_samples

ROOT = Path(__file__).parents[1]
COMPILES = "csaw.partition.base.compile"
# Rooms in which a module is imported without Numba, unless it has functions of its own to compile.
ROOMS = (
    "csaw.cli",
    *(f"csaw.engine.{room}" for room in ("analytics", "batches", "cluster", "cuda", "devices", "draws", "export")),
    *(f"csaw.engine.{room}" for room in ("plan", "runs", "samples", "schedule", "sources")),
    *(f"csaw.partition.{room}" for room in ("arrays", "base", "graph")),
)
WRITES = "it writes graph stores, which the ingest makes"
EXCEPTIONS = {
    "csaw.engine.analytics.derived": "it ingests",
    "csaw.engine.cluster.ingest": "it ingests",
    "csaw.engine.samples.inclusion": "it computes the law by which samples are judged",
    "csaw.partition.arrays.arrays": WRITES,
    "csaw.partition.graph.partition_writer": WRITES,
    "csaw.partition.graph.write": WRITES,
}
PACKAGES = {"csaw": "package"} | {f"csaw.{name}": name for name in ("cli", "datasets", "engine", "partition")}


@cache
def modules():
    """All modules, each with the modules that are imported when it is."""
    trees = {}
    for package, folder in PACKAGES.items():
        for file in (ROOT / folder).rglob("*.py"):
            parts = [package, *file.relative_to(ROOT / folder).with_suffix("").parts]
            trees[".".join(parts).removesuffix(".__init__")] = ast.parse(file.read_text())
    return {name: {module for module in imported(tree.body) if module != name} for name, tree in trees.items()}


def imported(body):
    """The modules that statements import, and the packages that these are in; inside functions none."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            given = [alias.name for alias in node.names]
            names = given if isinstance(node, ast.Import) else [node.module, *(f"{node.module}.{n}" for n in given)]
            for name in names:
                yield from (".".join(name.split(".")[:depth]) for depth in range(1, name.count(".") + 2))
        elif not isinstance(node, ast.FunctionDef) and "TYPE_CHECKING" not in ast.dump(getattr(node, "test", node)):
            for part in ("body", "orelse", "finalbody", "handlers"):
                yield from imported(getattr(node, part, []))


@cache
def with_numba():
    """The modules that import Numba when they are imported, themselves or through others."""
    found, before = {"numba"}, set()
    while found != before:
        before = found
        found = found | {name for name, others in modules().items() if others & found}
    return found


def test_modules_that_compile_nothing_import_what_does_where_they_call_it():
    wrong = {
        name: sorted(modules()[name] & with_numba())
        for name in with_numba() & modules().keys()
        if name.startswith(ROOMS) and ".cpu." not in name and not modules()[name] & {"numba", COMPILES}
    }
    assert wrong.keys() == EXCEPTIONS.keys(), wrong


def python(code, folder, *arguments):
    """What a process prints, without the first line if that says what is compiled."""
    env = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "_src"), "CSAW_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


CUDA = """
import pkgutil, sys
from importlib import import_module
from unittest.mock import MagicMock

for name in ("cupy", "cupy.cuda"):
    sys.modules[name] = MagicMock()
import csaw.cli.commands.evaluate, csaw.cli.commands.sample
for name in ("csaw.engine.cuda", "csaw.engine.analytics.cuda", "csaw.engine.analytics.evaluation"):
    for module in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
        import_module(module.name)
print(sorted({"numba", "cuda", "scipy", "zarr"} & sys.modules.keys()))
"""


def test_the_backend_of_gpus_is_imported_without_numba(tmp_path):
    """Nor is what compiles kernels, for those that are in the cache."""
    assert python(CUDA, tmp_path) == "[]\n"


@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "neighbor"])
def test_kernels_of_a_gpu_that_are_compiled_are_found_without_numba(tmp_path, monkeypatch, algo):
    """With those hooks, too, that numba-cuda has compiled."""
    graph = str(resolve("karate", tmp_path))
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile, "_link", lambda parts, *_: b"".join(parts))
    for unit in gpu_units.units(graph, algo):
        unit.compile(gpu_units.ARCHITECTURE)
    assert python(Path(gpu_units.__file__).read_text(), tmp_path, graph, algo) == "[]\n"


REPLAYED = """
import sys
from types import ModuleType, SimpleNamespace

import numpy as np

from csaw.cli.main import cli
from csaw.engine.batches.backend import BatchBackend
from csaw.engine.schedule.backend import TALLY

class Replayed(BatchBackend):
    graph, xp = SimpleNamespace(transfers=0, transfer_bytes=0), np
    tally = np.zeros(len(TALLY), np.int64)

    def begin(self, first, sources):
        held = dict(np.load("drawn.npz"))
        return SimpleNamespace(
            advance=lambda: None, edges=lambda: 0, dead_ends=lambda: 0, on_device=lambda: held, arrays=lambda rows: held
        )

Replayed.__abstractmethods__ = frozenset()  # begin is called alone
sys.modules["csaw.engine.cpu.backend"] = stands_in = ModuleType("stands_in")
stands_in.CpuBackend = Replayed
cli.main(sys.argv[1:], standalone_mode=False)
print("numba" in sys.modules)
"""


@pytest.mark.parametrize("algo", ["deepwalk", "node2vec", "neighbor"])
def test_all_that_a_command_does_beside_drawing_needs_no_numba(tmp_path, algo):
    """A backend that has its samples already stands for that of a GPU: it draws with Numba no more than that does."""
    job = prepare(resolve("karate", tmp_path), algo, device="cpu")
    batches = Batches(open_backend(job), job.sources)
    [batch] = batches.draw(0, job.sources.instances)
    np.savez(tmp_path / "drawn.npz", **batch.arrays())
    batches.close()
    line = ["sample", "karate", "w.zarr", "--algo", algo, "--device", "cpu"]
    assert python(REPLAYED, tmp_path, *line).endswith("False\n")
    assert python("from csaw.cli.main import main; main()", tmp_path, *line[:2], "v.zarr", *line[3:])
    replayed, drawn = (open_samples(tmp_path / name).group(0, job.sources.instances) for name in ("w.zarr", "v.zarr"))
    assert replayed.keys() == drawn.keys()
    for name, array in drawn.items():
        assert np.array_equal(replayed[name], array), name


PLANNED = """
import sys

from csaw.cli.main import cli

cli.main(sys.argv[1:], standalone_mode=False)
print("numba" in sys.modules)
"""


@pytest.mark.parametrize("way", ["intersect", "matrix", "match"])
def test_what_measures_would_take_is_said_without_numba(tmp_path, way):
    graph = str(random_store(tmp_path / "g.zarr", vertices=30, edges=90).path)
    line = ["evaluate", graph, "--measures", ",".join(names()), "--triangles", way, "--device", "cpu", "--dry-run"]
    assert python(PLANNED, tmp_path, *line).endswith("False\n")
