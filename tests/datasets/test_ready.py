"""The store of karate that csaw carries is the one that its ingest makes."""

import json
import os
import subprocess
import sys

from csaw.datasets.generate import generate
from csaw.datasets.resolve import resolve, unpack
from csaw.partition import open_graph


def contents(store):
    """The files of a store: texts of JSON by their meaning, which is what versions of Zarr agree on."""
    files = [path for path in store.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(store)): json.loads(path.read_text()) if path.suffix == ".json" else path.read_bytes()
        for path in files
    }


def test_it_is_the_store_that_is_made(tmp_path):
    unpack(tmp_path / "carried.zarr")
    generate("karate", tmp_path / "made.zarr")
    carried, made = contents(tmp_path / "carried.zarr"), contents(tmp_path / "made.zarr")
    assert carried == made, "run scripts/make_karate.py"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["carried.zarr", "made.zarr"]


def test_the_name_gives_it_without_the_ingest(tmp_path):
    code = "import sys; from csaw.datasets.resolve import resolve; resolve('karate', sys.argv[1])"
    code += "; assert not {'numba', 'csaw.partition.ingestion.pipeline'} & sys.modules.keys()"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=env)
    assert open_graph(resolve("karate", tmp_path)).edges == 156
