"""The place of a sample: what is there stays unless it is a sample that is to be replaced, and one process writes at a
time.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers import slow
from helpers.small_samples import SAID, kept_walks, python, some_walks

from csaw.engine.samples import SampleWriter, place
from csaw.engine.stores import open_samples
from csaw.partition.arrays import replace
from csaw.partition.arrays.locks import Lock
from csaw.partition.errors import OptionError, StoreError


def test_nothing_is_replaced_without_overwrite_and_only_samples_with_it(tmp_path):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks())
    slow.write(tmp_path / "half", SAID, "walks", some_walks(), group_size=4, groups=[1])
    with pytest.raises(StoreError, match="--overwrite"):
        slow.write(path, SAID, "walks", some_walks())
    with pytest.raises(StoreError, match="--resume"):
        slow.write(tmp_path / "half", SAID, "walks", some_walks(), group_size=4)
    slow.write(path, SAID, "walks", some_walks(seed=1), overwrite=True)
    assert np.array_equal(open_samples(path).walks[:], kept_walks(seed=1))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["half.partial", "s"]
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "zarr.json").write_text(json.dumps({"attributes": {"csaw_kind": "graph"}}))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").mkdir()
    for name in ("graph", "mine"):
        with pytest.raises(StoreError, match="not a sample store"):
            slow.write(tmp_path / name, SAID, "walks", some_walks(), overwrite=True)


def test_an_old_sample_stays_until_the_new_one_is_whole(tmp_path):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks())
    slow.write(path, SAID, "walks", some_walks(seed=1), group_size=4, groups=[0], overwrite=True)
    assert np.array_equal(open_samples(path).walks[:], kept_walks())
    slow.write(path, SAID, "walks", some_walks(seed=1), group_size=4, resume=True)
    assert np.array_equal(open_samples(path).walks[:], kept_walks(seed=1))


def test_resuming_replaces_no_sample_but_the_one_that_the_run_was_to_replace(tmp_path):
    """Another sample that was put there meanwhile stays, whether the run began beside one or not."""
    half = {"group_size": 4, "groups": [0]}
    for earlier in (False, True):
        path, other = tmp_path / f"s{earlier}", tmp_path / f"other{earlier}"
        if earlier:
            slow.write(path, SAID, "walks", some_walks())
        slow.write(path, SAID, "walks", some_walks(seed=1), overwrite=earlier, **half)
        slow.write(other, SAID, "walks", some_walks(seed=2), overwrite=True)
        shutil.rmtree(path, ignore_errors=True)
        other.rename(path)
        with pytest.raises(StoreError, match="exists already; pass --overwrite"):
            slow.write(path, SAID, "walks", some_walks(seed=1), group_size=4, resume=True)
        assert np.array_equal(open_samples(path).walks[:], kept_walks(seed=2))
        slow.write(path, SAID, "walks", some_walks(seed=1), group_size=4, resume=True, overwrite=True)
        assert np.array_equal(open_samples(path).walks[:], kept_walks(seed=1))
        assert not Path(f"{path}.partial").exists()


WRITING = """
import sys
from helpers import small_samples as here
from csaw.engine.samples import SampleWriter
w = SampleWriter(sys.argv[1], here.SAID, layout='walks', instances=11, group_size=4, dense_dtype='u4')
print('open', flush=True); sys.stdin.read()
"""


def test_another_process_is_kept_out_while_one_writes(tmp_path):
    command = python(WRITING, tmp_path / "s")
    with subprocess.Popen(**command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "open\n"
        for option in ({"resume": True}, {"overwrite": True}, {}):
            with pytest.raises(StoreError, match="another csaw"):
                slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, **option)
        child.communicate("")
    slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, resume=True)


@pytest.mark.parametrize("late", [False, True])
def test_one_that_is_kept_out_leaves_the_folder_of_the_one_that_has_just_begun(tmp_path, monkeypatch, late):
    if late:  # the other began after the first look
        monkeypatch.setattr(place, "check_place", lambda *_, **__: None)
    with Lock(tmp_path / "s", "a sample store"):
        (tmp_path / "s.partial").mkdir()
        said = r"s: another csaw process is writing here: a sample store, by process \d+ on .*; wait until it ends"
        with pytest.raises(StoreError, match=said):
            slow.write(tmp_path / "s", SAID, "walks", some_walks())
        assert (tmp_path / "s.partial").is_dir()


def sample_writer(path):
    return SampleWriter(path, SAID, layout="walks", instances=11, group_size=4, dense_dtype="u4", overwrite=True)


WRITERS = {
    "a sample store": sample_writer,
    "a graph store": lambda path: replace.Draft(path, replace.GRAPH, overwrite=True),
    "a folder of Parquet files": lambda path: replace.Draft(path, replace.PARTS, overwrite=True),
    "a regular file": lambda path: replace.new_file(path, overwrite=True),
}


@pytest.mark.parametrize("other", WRITERS)
@pytest.mark.parametrize("what", WRITERS)
def test_whatever_is_written_to_a_name_keeps_others_out_and_is_named(tmp_path, what, other):
    said = f"s: another csaw process is writing here: {what}, by process {os.getpid()} on .*; wait until it ends"
    with WRITERS[what](tmp_path / "s"), pytest.raises(StoreError, match=said), WRITERS[other](tmp_path / "s"):
        pass
    left = {"s.partial"} if what == "a sample store" else {"s"} if what == "a regular file" else set()
    assert {path.name for path in tmp_path.iterdir()} == left


def test_a_killed_writer_keeps_nobody_out(tmp_path):
    command = python(WRITING, tmp_path / "s")
    with subprocess.Popen(**command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "open\n"
        child.kill()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".s.csaw-lock", "s.partial"]
    slow.write(tmp_path / "s", SAID, "walks", some_walks(), group_size=4, resume=True)
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


@pytest.mark.parametrize("kind", ["draft", "lock"])
@pytest.mark.parametrize("name", ["out", "out.txt"])
def test_a_link_in_the_place_of_a_draft_or_a_lock_is_not_followed(tmp_path, kind, name):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    for target in (mine, mine / "thesis", tmp_path / "pipe"):
        (link := tmp_path / f".{name}.csaw-{kind}").symlink_to(target)
        with pytest.raises(OSError, match=r"csaw-draft next to it is not a draft|Too many levels of symbolic links"):
            WRITERS["a regular file" if name == "out.txt" else "a graph store"](tmp_path / name).__enter__()
        link.unlink()
    assert (mine / "thesis").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "pipe"]


@pytest.mark.parametrize("option", ["resume", "overwrite"])
@pytest.mark.parametrize("what", ["folder", "graph", "file", "link"])
def test_a_partial_folder_that_csaw_did_not_make_is_neither_adopted_nor_removed(tmp_path, option, what):
    partial = tmp_path / "s.partial"
    if what == "file":
        partial.write_text("mine")
    elif what == "link":
        partial.symlink_to(slow.write(tmp_path / "other", SAID, "walks", some_walks()))
    else:
        partial.mkdir()
    if what in ("folder", "graph"):
        (partial / "thesis").write_text("mine")
    if what == "graph":
        (partial / "zarr.json").write_text('{"attributes": {"csaw_kind": "graph", "format_version": 1}}')
    with pytest.raises(StoreError, match=r"s\.partial.* is not an unfinished sample"):
        slow.write(tmp_path / "s", SAID, "walks", some_walks(), **{option: True})
    assert os.path.lexists(partial)
    assert not (tmp_path / "s").exists()
    assert what not in ("folder", "graph") or (partial / "thesis").read_text() == "mine"


@pytest.mark.parametrize("option", ["resume", "overwrite"])
def test_an_empty_partial_folder_is_what_a_kill_may_leave(tmp_path, option):
    (tmp_path / "s.partial").mkdir()
    slow.write(tmp_path / "s", SAID, "walks", some_walks(), **{option: True})
    assert [one.name for one in tmp_path.iterdir()] == ["s"]


def test_names_that_cannot_be_a_sample_are_refused(tmp_path):
    for path in ("", ".", "/", "..", tmp_path / "s.partial"):
        with pytest.raises(OptionError, match="name"):
            slow.write(path, SAID, "walks", some_walks(), overwrite=True)
    slow.write(tmp_path / "s", SAID, "walks", some_walks())
    (tmp_path / "link").symlink_to("s")
    with pytest.raises(StoreError, match="symbolic link to s;"):
        slow.write(tmp_path / "link", SAID, "walks", some_walks(), overwrite=True)
    with pytest.raises(OptionError, match="is inside"):
        slow.write(tmp_path / "s" / "walks" / "new", SAID, "walks", some_walks())
    with pytest.raises(StoreError, match=r"s exists already; pass --overwrite to replace it, or choose another name$"):
        slow.write(tmp_path / "s", SAID, "walks", some_walks())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "s"]


def test_a_sample_that_appeared_meanwhile_stays(tmp_path):
    arrays = some_walks()
    with SampleWriter(tmp_path / "s", SAID, layout="walks", instances=11, group_size=11, dense_dtype="u4") as writer:
        writer.write(0, arrays)
        other = slow.write(tmp_path / "other", SAID, "walks", some_walks(seed=1))
        other.rename(tmp_path / "s")
        with pytest.raises(StoreError, match=r"exists already; .*the samples are in .*s\.partial"):
            writer.finish({})
    assert np.array_equal(open_samples(tmp_path / "s").walks[:], kept_walks(seed=1))
