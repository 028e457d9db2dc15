"""On a first run other processes compile what is needed later: for the types of a run, and it is waited for."""

import json
import os
import subprocess
import sys

import pytest

from csaw.partition import IngestOptions, ingest
from csaw.partition.base import compile
from csaw.partition.errors import FormatError
from csaw.partition.ingestion import first_run

TYPES = """
import json, sys
from csaw.partition import IngestOptions, ingest
from csaw.partition.ingestion import first_run

def types():
    kernels = [kernel for share in first_run.SHARES.values() for kernel in share.kernels]
    return {kernel.__name__: sorted(map(str, kernel.signatures)) for kernel in kernels}

for share in first_run.SHARES.values():
    share.work()
made = types()
for directed in (True, False):
    ingest(sys.argv[1], sys.argv[2], IngestOptions(directed=directed, overwrite=True))
print(json.dumps([made, types()]))
"""


def double(value):
    return 2 * value


class Child:
    """A process that saves its code when it is asked for the third time whether it has ended."""

    def __init__(self, saved, place):
        self.saved, self.place, self.asked, self.status = saved, place, 0, None

    def poll(self):
        self.asked += 1
        if self.asked == 3 and self.saved is not None:
            self.saved.rename(self.place)
        return 1 if self.asked > 4 else None

    def terminate(self):
        self.status = -15

    wait = poll


@pytest.fixture
def double_elsewhere(tmp_path):
    """A function whose code is cached, and the place and name of its index."""
    compiled = compile.njit(double)
    assert compiled(2) == 4
    index = tmp_path.__class__(compiled._cache._cache_file._index_path)
    return index.rename(index.with_suffix(".elsewhere")), index


@pytest.mark.parametrize("saves", [True, False])
def test_what_another_process_compiles_is_waited_for(monkeypatch, double_elsewhere, saves):
    saved, index = double_elsewhere
    child = Child(saved if saves else None, index)
    monkeypatch.setitem(compile.awaited, double, child)
    compiled = compile.njit(double)
    assert compiled(2) == 4
    assert child.asked == (3 if saves else 5)
    assert sum(compiled.stats.cache_hits.values()) == saves  # what did not come is compiled here


def test_shares_compile_what_a_run_calls(tmp_path):
    (tmp_path / "e").write_text("1 2\n2 3\n1 2\n")
    command = [sys.executable, "-c", TYPES, str(tmp_path / "e"), str(tmp_path / "g.zarr")]
    paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, env=os.environ | paths)
    assert done.returncode == 0, done.stderr
    made, after = json.loads(done.stdout)
    assert all(made.values())
    assert made == after


def test_a_second_run_finds_all_shares_compiled(tmp_path):
    """Else each run would begin processes, and sum up blocks with NumPy on one core."""
    missing = "[name for name, share in first_run.SHARES.items() if not first_run.is_cached(share.kernels[0])]"
    code = f"{TYPES.partition('made = ')[0]}print({missing})"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "CSAW_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("cores", "processes"),
    [(1, []), (2, [["rows", "store"]]), (3, [["rows"], ["store"]]), (9, [["rows"], ["store"], ["deal"]])],
)
def test_processes_share_what_is_not_cached_and_none_outlives_the_run(tmp_path, monkeypatch, cores, processes):
    begun, children = [], []

    def begin(names):
        begun.append(names)
        children.append(Child(None, None))
        return children[-1]

    monkeypatch.setattr(first_run, "_child", begin)
    monkeypatch.setattr(first_run, "processors", lambda: cores)
    (tmp_path / "e").write_text("1 2\n1\n")
    with pytest.raises(FormatError, match="e:2"):
        ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(threads=cores))
    assert begun == [] or not first_run.is_cached(first_run.csr.build_buckets)
    monkeypatch.setattr(first_run, "is_cached", lambda kernel: False)
    begun.clear()
    with pytest.raises(FormatError, match="e:2"):
        ingest(tmp_path / "e", tmp_path / "g.zarr", IngestOptions(threads=cores))
    assert begun == processes
    assert all(child.status == -15 for child in children)
