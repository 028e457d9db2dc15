"""A sample that was interrupted: no finished group is lost, resumed equals uninterrupted, and only what fits is gone on
with.
"""

import shutil
import signal
import subprocess

import numpy as np
import pytest
from helpers import slow
from helpers.dying import HALF_WRITTEN
from helpers.small_samples import RAGGED, SAID, STORES, SUBGRAPHS, files_of, kept_walks, python, some_walks, stored

from csaw.engine import execute, prepare
from csaw.engine.runs.job import DRAWS, manifest
from csaw.engine.samples import SampleWriter
from csaw.engine.samples.check import require_intact
from csaw.engine.stores import open_samples
from csaw.partition import write_graph
from csaw.partition.errors import StoreError


@pytest.mark.parametrize(
    ("layout", "arrays"), [("walks", some_walks()), ("subgraphs", SUBGRAPHS), ("ragged-walks", RAGGED)]
)
def test_resumed_equals_uninterrupted_byte_for_byte(tmp_path, layout, arrays):
    whole = slow.write(tmp_path / "whole", SAID, layout, arrays, group_size=2)
    resumed = slow.write(tmp_path / "resumed", SAID, layout, arrays, group_size=2, groups=[2, 0])
    slow.write(resumed, SAID, layout, arrays, group_size=2, resume=True)
    assert files_of(whole) == files_of(resumed)


KILLED = (
    HALF_WRITTEN
    + """
import sys
from helpers import slow
from helpers import small_samples as here
path, layout, moment = sys.argv[1:]
die_in_write(int(moment))
slow.write(path, here.SAID, layout, here.STORES[layout], group_size=2)
"""
)
ON_A_FULL_DISK = """
import resource, sys
from helpers import slow
from helpers import small_samples as here
from csaw.engine.samples import SampleWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
w = SampleWriter(sys.argv[1], here.SAID, layout='walks', instances=600, group_size=300, dense_dtype='u4')
try: w.write(0, slow.part(here.some_walks(600), 0, 300))
except OSError as error: print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("layout", "moment"), [("walks", m) for m in (1, 2, 6, 9)] + [("subgraphs", m) for m in (5, 16, 23, 27, 32)]
)
def test_a_kill_in_the_middle_of_any_write_loses_no_finished_group(tmp_path, layout, moment):
    child = subprocess.run(**python(KILLED, tmp_path / "s", layout, moment), check=False)
    assert child.returncode == -signal.SIGKILL
    assert not (tmp_path / "s").exists()
    slow.write(tmp_path / "s", SAID, layout, STORES[layout], group_size=2, resume=True)
    whole = slow.write(tmp_path / "whole", SAID, layout, STORES[layout], group_size=2)
    assert files_of(tmp_path / "s") == files_of(whole)


def test_a_kill_while_publishing_leaves_a_store_that_resume_finishes(tmp_path, monkeypatch):
    monkeypatch.setattr(SampleWriter, "_publish", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        slow.write(tmp_path / "s", SAID, "subgraphs", SUBGRAPHS, group_size=2)
    monkeypatch.undo()
    slow.write(tmp_path / "s", SAID, "subgraphs", SUBGRAPHS, group_size=2, resume=True)
    assert files_of(tmp_path / "s") == files_of(
        slow.write(tmp_path / "whole", SAID, "subgraphs", SUBGRAPHS, group_size=2)
    )


def test_resume_of_a_finished_store_has_nothing_to_do(tmp_path):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4)
    before = files_of(path, results=True)
    writer = SampleWriter(path, SAID, layout="walks", instances=11, group_size=4, dense_dtype=np.uint32, resume=True)
    assert writer.finished
    assert writer.done == {0, 1, 2}
    writer.finish({"other": 1})
    assert files_of(path, results=True) == before


def test_nothing_is_missing_of_a_finished_sample_without_its_results(tmp_path):
    graph = write_graph(tmp_path / "g.zarr", np.array([0, 1, 2]), np.array([1, 0]), directed=False)
    job = prepare(graph, "deepwalk", walk_length=3, device="cpu")
    execute(job, tmp_path / "s")
    (tmp_path / "s" / "results" / "zarr.json").unlink()
    assert execute(job, tmp_path / "s", resume=True) == {"resumed": "nothing was missing"}


def test_resume_names_the_first_difference(tmp_path):
    slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, groups=[0])
    other = {"request": SAID["request"] | {"seed": 8}}
    with pytest.raises(StoreError, match="seed = 7, but this run has 8"):
        slow.write(tmp_path / "s", other, "walks", some_walks(), group_size=4, resume=True)
    with pytest.raises(StoreError, match="group_size = 4, but this run has 5"):
        slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=5, resume=True)


def test_a_full_disk_says_what_is_safe_and_how_to_go_on(tmp_path):
    command = python(ON_A_FULL_DISK, tmp_path / "s")
    said = subprocess.run(**command, capture_output=True, text=True, check=False).stdout
    assert "StoreError" in said
    assert "the disk is full; finished groups are safe" in said
    assert "--resume" in said


@pytest.mark.parametrize("layout", STORES)
def test_resume_samples_again_what_was_damaged_meanwhile(tmp_path, layout, caplog):
    whole = slow.write(tmp_path / "whole", SAID, layout, STORES[layout], group_size=1)
    victims = {
        "walks": ("walks/c.1.0", "groups/000002.json"),
        "hops": ("hop_1/c.1.0", "groups/000002.json"),
        "ragged-walks": ("parts/000000/walks", "parts/000003/lengths", "groups/000002.json"),
        "subgraphs": ("parts/000000/src", "parts/000003/counts", "groups/000002.json"),
    }
    slow.write(tmp_path / "s", SAID, layout, STORES[layout], group_size=1, groups=[0, 1, 2, 3])
    for victim in victims[layout]:
        file = tmp_path / "s.partial" / victim
        file.write_bytes(file.read_bytes()[:-3] + b"\1\1\1")
    slow.write(tmp_path / "s", SAID, layout, STORES[layout], group_size=1, resume=True)
    assert f"{len(victims[layout])} groups are damaged; they are sampled again" in caplog.text
    assert files_of(tmp_path / "s") == files_of(whole)


def test_resume_notices_damage_in_what_is_complete(tmp_path, monkeypatch):
    path = stored(tmp_path, "walks")
    (path / "walks" / "c.1.0").write_bytes(b"\1" * 40)
    with pytest.raises(StoreError, match=r"walks/c\.1\.0: missing, or its bytes have changed"):
        stored(tmp_path, "walks", resume=True)
    monkeypatch.setattr(SampleWriter, "_publish", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        stored(tmp_path, "walks", overwrite=True)
    monkeypatch.undo()
    (tmp_path / "s.partial" / "lengths" / "c.0").unlink()
    with pytest.raises(StoreError, match=r"lengths/c\.0: missing"):
        stored(tmp_path, "walks", resume=True)


@pytest.mark.parametrize("layout", STORES)
def test_a_store_without_its_checksums_is_sealed_again_without_what_is_no_array(tmp_path, layout):
    options = {"group_size": 2, "vertex_ids": np.array(["a", "b", "c", "d"])}
    whole = slow.write(tmp_path / "whole", SAID, layout, STORES[layout], **options)
    shutil.copytree(whole, partial := tmp_path / "s.partial")
    shutil.rmtree(partial / "checksums")
    shutil.copytree(partial / "results", partial / "stray")
    path = slow.write(tmp_path / "s", SAID, layout, STORES[layout], resume=True, **options)
    require_intact(path)
    found = files_of(path)
    del found["stray/zarr.json"]
    assert found == files_of(whole)


def test_a_sample_that_was_replaced_when_a_kill_came_is_removed_by_resume(tmp_path):
    old = {"request": SAID["request"] | {"seed": 8}}
    slow.write(tmp_path / "old", old, "walks", some_walks(seed=1), group_size=2).rename(tmp_path / "s.partial")
    path = slow.write(tmp_path / "new", SAID, "walks", some_walks(), group_size=2).rename(tmp_path / "s")
    slow.write(path, SAID, "walks", some_walks(), group_size=2, resume=True)
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    assert np.array_equal(open_samples(path).walks[:], kept_walks())


@pytest.mark.parametrize("finished", [False, True])
def test_versions_resume_each_other_if_they_draw_alike(tmp_path, finished):
    def write(draws, **options):
        said = SAID | {"version": f"of draws {draws}"} | ({"draws": draws} if draws else {})
        return slow.write(tmp_path / "s", said, "walks", some_walks(), group_size=4, **options)

    write(None, groups=[0])  # as the first versions did
    for draws in (2, 3):
        with pytest.raises(StoreError, match=f"draws are version 1; this csaw has version {draws}"):
            write(draws, resume=True)
    write(1, resume=True, groups=None if finished else [1])
    with pytest.raises(StoreError, match="by csaw of draws 1, whose draws are version 1"):
        write(2, resume=True)
    write(None if finished else 1, resume=True)
    assert np.array_equal(open_samples(tmp_path / "s").walks[:], kept_walks())


def test_a_run_says_which_draws_it_has(tmp_path):
    graph = write_graph(tmp_path / "g.zarr", np.array([0, 1, 2]), np.array([1, 0]), directed=False)
    assert manifest(prepare(graph, device="cpu"))["draws"] == DRAWS
