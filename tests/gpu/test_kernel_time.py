"""CuPy compiles its own kernels when they are first used, in the middle of sampling; the time of that is not one of
sampling.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.gpu import device_or_skip
from helpers.graphs import random_store

device_or_skip()

from csaw.engine.cuda.runner import NAME  # it imports CuPy

CODE = """\
import json, sys
from csaw.engine import execute, prepare
print(json.dumps(execute(prepare("g.zarr", sys.argv[1], device="cuda"), sys.argv[2])))
"""


@pytest.mark.parametrize("algo", ["neighbor", "forest-fire", "layer"])
def test_every_kernel_that_a_first_run_compiles_is_counted(tmp_path, algo):
    random_store(tmp_path / "g.zarr", vertices=2000, edges=40_000)
    folders = {"CSAW_CACHE_DIR": str(tmp_path / "csaw"), "CUPY_CACHE_DIR": str(tmp_path / "cupy")}
    path = os.pathsep.join([str(Path("tests/_src").resolve()), *sys.path])
    environment = os.environ | folders | {"PYTHONPATH": path}

    def run(out):
        command = [sys.executable, "-c", CODE, algo, out]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    first, second = run("1.zarr"), run("2.zarr")
    kept = [file for file in (tmp_path / "cupy").rglob("*") if file.is_file()]
    again = second["compiled"].get(NAME, 0)  # CuPy asks the compiler how it would read its headers
    assert first["compiled"].get(NAME, 0) - again == len(kept)
    assert bool(kept) == (algo != "neighbor")  # which needs none of CuPy's own
    assert first["compiled"].keys() - {NAME}
    assert first["compiling_seconds"] > 0
    assert second["compiled"].keys() <= {NAME}


COMMAND = """\
import sys
from csaw.cli.main import cli
cli.main(sys.argv[1:], standalone_mode=False)
"""
GRAPH = "rmat:scale=17,edge_factor=8,seed=3"


@pytest.mark.parametrize(
    ("line", "most"),
    [
        (["evaluate", GRAPH, "--measures", "triangles"], 8),
        (["evaluate", GRAPH, "--measures", "core"], 16),
        (["evaluate", GRAPH, "--measures", "pagerank"], 12),
        (["sample", GRAPH, "s.zarr", "--algo", "ladies"], 34),
        (["sample", GRAPH, "s.zarr", "--algo", "fastgcn"], 40),
        (["sample", GRAPH, "s.zarr", "--algo", "ppr", "--sources", "random:4"], 20),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_a_first_command_waits_for_few_kernels_of_cupy(tmp_path, line, most):
    """And for no sums, counts or tests of flags, which take seconds to compile each: CuPy makes them with CUB."""
    folders = {"CSAW_CACHE_DIR": str(tmp_path / "csaw"), "CUPY_CACHE_DIR": str(tmp_path / "cupy")}
    path = os.pathsep.join([str(Path("tests/_src").resolve()), *sys.path])
    environment = os.environ | folders | {"PYTHONPATH": path, "CUPY_CACHE_SAVE_CUDA_SOURCE": "1"}
    command = [sys.executable, "-c", COMMAND, *line, "--device", "cuda"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sources = [file.read_text() for file in (tmp_path / "cupy").rglob("*.cu")]
    assert 0 < len(sources) <= most
    assert not [source for source in sources if "cub/block" in source]
