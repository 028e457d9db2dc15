"""Drafts have names that no other process can have: threads, processes and containers write the same files at once."""

import ast
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.graphs import random_store
from helpers.machine import Lack, lacking, need_root

import csaw
from csaw.partition.base.cache import draft_beside, drafted, remove_folder

ROOT = Path(__file__).parents[3]
ROUNDS = 2  # 60 of each hold
EVALUATES = """
import csaw
found = csaw.evaluate("g.zarr", measures="degree,triangles,components", device="cpu", residency="disk", threads=1)
print(found)
"""


def test_a_draft_becomes_the_file_or_goes(tmp_path):
    place = tmp_path / "a.json"
    with drafted(place) as draft:
        draft.write_text("new")
        assert not place.exists()
    assert place.read_text() == "new"
    with pytest.raises(IsADirectoryError), drafted(place):
        tmp_path.write_text("this is a folder")
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]
    assert place.read_text() == "new"
    assert len({draft_beside(place) for _ in range(1000)}) == 1000


def test_a_folder_loses_its_name_and_may_be_gone(tmp_path):
    (tmp_path / "f").mkdir()
    remove_folder(tmp_path / "f")
    remove_folder(tmp_path / "f")
    assert not list(tmp_path.iterdir())


def test_no_file_of_csaw_names_a_draft_by_the_number_of_its_process():
    """Containers that share a cache have the same numbers."""
    naming = []
    parts = ("cli", "datasets", "engine", "partition", "package")
    for file in (one for part in parts for one in (ROOT / part).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("with_name", "with_suffix"):
                naming += [str(file)] if "getpid" in ast.unparse(node) else []
    assert naming == []


def evaluated(folder, cache, lines):
    """What commands print that run side by side on one cache; they must all succeed."""
    environment = os.environ | {
        "CSAW_CACHE_DIR": str(cache),
        "NUMBA_CACHE_DIR": "",
        "PYTHONPATH": str(ROOT / "tests" / "_src"),
    }
    started = [
        subprocess.Popen(line, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in lines
    ]
    said = [one.communicate(timeout=300)[0] for one in started]
    assert [one.returncode for one in started] == [0] * len(started), said
    return said


def forget(cache):
    """Remove what evaluations keep, but the compiled kernels."""
    for name in ("profiles", "networks", "graphs"):
        remove_folder(cache / name)
    (cache / "rates.json").unlink(missing_ok=True)


def test_threads_that_evaluate_one_graph_agree(tmp_path, monkeypatch):
    random_store(tmp_path / "g.zarr", vertices=60, edges=300)
    monkeypatch.chdir(tmp_path)
    kernels = Path(os.environ.get("CSAW_CACHE_DIR") or Path.home() / ".cache" / "csaw") / "kernels"
    for number in range(3 * ROUNDS):
        cache = tmp_path / f"cache{number}"
        cache.mkdir()
        if kernels.is_dir():
            (cache / "kernels").symlink_to(kernels)
        monkeypatch.setenv("CSAW_CACHE_DIR", str(cache))
        found, errors = [], []

        def work(found=found, errors=errors):
            try:
                how = {"measures": "degree,triangles,components", "device": "cpu", "threads": 1, "residency": "disk"}
                found.append(str(csaw.evaluate("g.zarr", **how)))
            except Exception as error:  # noqa: BLE001 - all are reported
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert errors == []
        assert len(set(found)) == 1
        assert not list(cache.rglob("*.draft"))


def test_processes_with_the_same_number_share_a_cache(tmp_path):
    """Each runs as process 1 of a namespace of its own, as in a container."""
    need_root(tmp_path)
    alone = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        lacking(Lack.SYSTEM, "no namespaces of processes")
    random_store(tmp_path / "g.zarr", vertices=60, edges=300)
    cache = tmp_path / "cache"
    line = [sys.executable, "-c", EVALUATES]
    expected = evaluated(tmp_path, cache, [line])
    for _ in range(ROUNDS):
        forget(cache)
        assert set(evaluated(tmp_path, cache, [alone + line] * 4)) == set(expected)
        assert not list(cache.rglob("*.draft"))
