"""Folders whose files run: they are this user's, and nobody else can write them, or csaw
refuses them with the way out.
"""

import os
import pwd
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.machine import need_root

from csaw.datasets.resolve import resolve
from csaw.engine.cpu import specialize
from csaw.partition import write_graph
from csaw.partition.base import cache
from csaw.partition.errors import StoreError

OTHER = 54321  # a user's number


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "above" / "cache"))
    cache._own.cache_clear()
    yield tmp_path / "above" / "cache"
    cache._own.cache_clear()


def mode(path):
    return path.stat().st_mode & 0o7777


def test_folders_and_files_are_made_for_this_user_alone(home):
    before = os.umask(0o002)
    try:
        folder = cache.code_folder("kernels")
        cache.write_own(folder / "a.py", b"a")
    finally:
        os.umask(before)
    assert folder == home / "kernels"
    assert [mode(one) for one in (home.parent, home, folder, folder / "a.py")] == [0o700, 0o700, 0o700, 0o600]
    assert cache.own_file(folder / "a.py")
    assert not cache.own_file(folder / "b.py")
    assert [file.name for file in folder.iterdir()] == ["a.py"]


def test_a_file_that_finds_no_room_is_named_and_leaves_no_rest(home):
    folder = cache.code_folder("kernels")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as said:
            cache.write_own(folder / "a.py", b"a" * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert said.value.filename == str(folder / "a.py")
    assert not list(folder.iterdir())


@pytest.mark.parametrize("open_to", [0o775, 0o777, 0o1777, 0o757])
def test_own_folders_that_others_may_write_are_tightened(home, open_to):
    (home / "kernels").mkdir(parents=True)
    for folder in (home, home / "kernels"):
        folder.chmod(open_to)
    cache.code_folder("kernels")
    for folder in (home, home / "kernels"):
        assert mode(folder) == open_to & ~0o022


@pytest.mark.parametrize("open_to", [0o664, 0o666, 0o622])
def test_own_files_that_others_may_write_are_made_anew(home, open_to):
    folder = cache.code_folder("kernels")
    cache.write_own(folder / "a.py", b"a")
    (folder / "a.py").chmod(open_to)
    assert not cache.own_file(folder / "a.py")
    assert not (folder / "a.py").exists()


def test_folders_and_files_of_others_are_refused_with_the_way_out(home, tmp_path):
    need_root(tmp_path)
    folder = cache.code_folder("kernels")
    cache.write_own(folder / "a.py", b"a")
    os.chown(folder / "a.py", OTHER, -1)
    with pytest.raises(StoreError, match=rf"a.py.* belongs to the user {OTHER}; .*CSAW_CACHE_DIR"):
        cache.own_file(folder / "a.py")
    for place in (folder, home, home.parent):
        os.chown(place, OTHER, -1)
        cache._own.cache_clear()
        with pytest.raises(StoreError, match=rf"belongs to the user {OTHER}; set CSAW_CACHE_DIR to a folder of yours"):
            cache.code_folder("kernels")
        os.chown(place, 0, -1)
        cache._own.cache_clear()
        cache.code_folder("kernels")


@pytest.mark.parametrize(("open_to", "refused"), [(0o777, True), (0o1777, False), (0o757, True), (0o755, False)])
def test_a_folder_above_that_others_may_write_is_refused_unless_it_is_sticky(home, open_to, refused):
    home.parent.mkdir()
    home.parent.chmod(open_to)
    if not refused:
        cache.code_folder("kernels")
        return
    with pytest.raises(StoreError, match=r"lies in .*above, which others can write \(chmod go-w .*above\); set CSAW_"):
        cache.code_folder("kernels")
    assert mode(home.parent) == open_to  # it is not csaw's


def test_a_group_of_others_counts_and_that_of_this_user_does_not(home, tmp_path):
    need_root(tmp_path)
    home.parent.mkdir()
    home.parent.chmod(0o775)
    cache.code_folder("kernels")
    os.chown(home.parent, -1, OTHER)
    cache._own.cache_clear()
    with pytest.raises(StoreError, match="which others can write"):
        cache.code_folder("kernels")


def test_a_link_on_the_way_is_followed(home, tmp_path):
    home.parent.mkdir()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open" / "real").mkdir()
    home.symlink_to(tmp_path / "open" / "real")
    with pytest.raises(StoreError, match="open, which others can write"):
        cache.code_folder("kernels")


def test_a_cache_that_cannot_be_made_says_which_variable_names_another(home):
    home.parent.write_text("a file")
    with pytest.raises(StoreError, match=r"cannot be used \(.*\); set CSAW_CACHE_DIR"):
        cache.code_folder("kernels")


@pytest.fixture
def homeless(monkeypatch):
    """A user without a home: HOME is not set, and the system does not know the user."""

    def unknown(number):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "CSAW_CACHE_DIR", "CUPY_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("use", "variable"),
    [
        (cache.cache_dir, "CSAW_CACHE_DIR"),
        (lambda: cache.code_folder("kernels"), "CSAW_CACHE_DIR"),
        (lambda: resolve("karate"), "CSAW_CACHE_DIR"),
        (lambda: resolve("rmat:scale=4"), "CSAW_CACHE_DIR"),
        (cache.check_cupy, "CUPY_CACHE_DIR"),
    ],
    ids=["folder", "kernels", "karate", "rmat", "cupy"],
)
def test_a_user_without_a_home_is_told_which_variable_names_a_folder(homeless, use, variable):
    with pytest.raises(
        StoreError, match=rf"no folder for its cache, because HOME is not set; set {variable} to a folder"
    ):
        use()


def test_a_user_without_a_home_reads_stores_and_uses_a_folder_that_is_named(homeless, tmp_path, monkeypatch):
    store = write_graph(tmp_path / "g.zarr", np.array([0, 1, 2]), np.array([1, 0]), directed=True).path
    assert resolve(str(store)) == Path(store)
    monkeypatch.setenv("CSAW_CACHE_DIR", str(tmp_path / "named"))
    assert resolve("karate").is_relative_to(tmp_path / "named")
    assert cache.code_folder("kernels") == tmp_path / "named" / "kernels"


@pytest.mark.parametrize("graph", ["karate", "rmat:scale=4", "edges.txt"])
def test_a_cache_of_graphs_that_cannot_be_made_says_which_variable_names_another(home, tmp_path, monkeypatch, graph):
    monkeypatch.chdir(tmp_path)
    Path("edges.txt").write_text("1 2\n")
    home.parent.write_text("a file")
    with pytest.raises(StoreError, match=r"graphs, the cache of csaw, cannot be created \(.*\); set CSAW_CACHE_DIR"):
        resolve(graph)


def test_the_cache_of_cupy_is_checked_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cupy" / "kernels"))
    cache.check_cupy()
    assert not (tmp_path / "cupy").exists()
    (tmp_path / "cupy" / "kernels").mkdir(parents=True)
    (tmp_path / "cupy" / "kernels" / "k.cubin").write_bytes(b"k")
    cache.check_cupy()
    (tmp_path / "cupy").chmod(0o777)
    cache._own.cache_clear()
    with pytest.raises(StoreError, match="set CUPY_CACHE_DIR"):
        cache.check_cupy()


def test_a_kernel_that_others_may_have_changed_is_written_again(home):
    name, text = "csaw_kernel_planted", "VALUE = 1\n"
    folder = cache.code_folder("kernels")
    (folder / f"{name}.py").write_text("VALUE = 2\n")
    (folder / f"{name}.py").chmod(0o666)
    try:
        assert specialize._imported(name, text).VALUE == 1
    finally:
        sys.modules.pop(name, None)
    assert mode(folder / f"{name}.py") == 0o600


SCRIPT = """
from csaw.partition.base.compile import njit

@njit
def double(x):
    return 2 * x

assert double(4) == 8
print(double.stats.cache_hits[double.signatures[0]] if double.stats.cache_hits else 0)
"""


def run(tmp_path, umask):
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(tmp_path / "script.py")]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=environment, umask=umask)


def test_machine_code_of_numba_is_private_and_made_anew_where_it_was_not(tmp_path, home):
    hits = [run(tmp_path, 0o002) for _ in range(2)]
    assert [one.stdout for one in hits] == ["0\n", "1\n"], hits
    files = [file for file in home.rglob("*.nb?") if file.is_file()]
    assert files
    assert {mode(file) for file in files} == {0o600}
    for file in files:
        file.chmod(0o666)
    assert run(tmp_path, 0o022).stdout == "0\n"
    assert run(tmp_path, 0o022).stdout == "1\n"
    if os.geteuid() == 0:
        index = next(home.rglob("*.nbi"))
        os.chown(index, OTHER, -1)
        refused = run(tmp_path, 0o022)
        assert refused.returncode != 0
        assert f"belongs to the user {OTHER}" in refused.stderr
