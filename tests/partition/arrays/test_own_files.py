"""What csaw did not write is neither replaced nor removed, at any depth; what it did write is known as such."""

import os
import re

import pytest
from helpers.graphs import random_store
from helpers.slow import write
from helpers.small_samples import SAID, files_of, some_walks

from csaw.engine import prepare, sample
from csaw.engine.runs.virtual import GIVEN, commit_virtual
from csaw.engine.samples import seal
from csaw.engine.samples.layouts import LAYOUTS
from csaw.engine.stores import open_samples
from csaw.partition import IngestOptions, ingest
from csaw.partition.arrays.files import SAMPLE_ARRAY, require_own
from csaw.partition.errors import StoreError

PLACES = ["mine/q", "note.txt", "{array}/note.txt", "{array}/c.0.bak", "{folder}/mine/deep/q", "{array}/c.9/q"]
DRAWS = {
    "walks": ("deepwalk", {"walk_length": 4}),
    "ragged": ("ppr", {}),
    "hops": ("neighbor", {"fanout": [2, 2]}),
    "subgraphs": ("forest-fire", {"instances": 20}),
    "layers": ("ladies", {"instances": 5}),
    "induced": ("deepwalk", {"walk_length": 4, "induced": True, "instances": 9}),
    "batches": ("minibatch", {"fanout": [2, 2], "batch_size": 16}),
}


def put(folder, name):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("mine")


def tree(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("name", PLACES)
def test_a_store_with_somebodys_files_is_not_replaced_and_they_are_named(tmp_path, name):
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    graph = tmp_path / "g.zarr"
    ingest(str(tmp_path / "g.txt"), graph, IngestOptions())
    walks = tmp_path / "w.zarr"
    sample(graph, walks, "deepwalk", walk_length=3)
    job = prepare(graph, "deepwalk", walk_length=3)
    again = {
        graph: lambda: ingest(str(tmp_path / "g.txt"), graph, IngestOptions(overwrite=True)),
        walks: lambda: sample(graph, walks, "deepwalk", walk_length=3, overwrite=True),
    }
    for store, array, folder in (
        (graph, "partitions/00000/indices/c", "partitions/00000"),
        (walks, "walks", "checksums"),
    ):
        mine = name.format(array=array, folder=folder)
        put(store, mine)
        before = tree(tmp_path)
        runs = [again[store]] + ([lambda: commit_virtual(job, walks, overwrite=True)] if store == walks else [])
        for run in runs:
            with pytest.raises(StoreError, match=re.escape(mine.split("/")[0])) as said:
                run()
            assert str(store) in str(said.value)
            assert "which csaw did not write" in str(said.value)
            assert tree(tmp_path) == before
        os.system(f"rm -r {store / mine.split('/deep')[0]}")
        for empty in (store / "mine", store / folder / "mine", store / array / "c.9"):
            os.path.isdir(empty) and os.rmdir(empty)
        again[store]()


def test_an_unfinished_sample_with_somebodys_files_is_not_begun_anew_and_keeps_them_when_it_is_finished(tmp_path):
    write(tmp_path / "w", SAID, "walks", some_walks(), group_size=3).rename(tmp_path / "s.partial")
    for name in ("checksums/zarr.json", "results/zarr.json"):
        (tmp_path / "s.partial" / name).unlink()
    put(tmp_path / "s.partial", "parts/000000/mine/q")
    put(tmp_path / "s.partial", "mine")
    with pytest.raises(StoreError, match=r"s\.partial holds mine, parts/000000/mine"):
        write(tmp_path / "s", SAID, "walks", some_walks(), group_size=3, overwrite=True)
    write(tmp_path / "s", SAID, "walks", some_walks(), group_size=3, resume=True)
    assert (tmp_path / "s" / "parts/000000/mine/q").read_text() == (tmp_path / "s" / "mine").read_text() == "mine"


def test_a_finished_sample_is_looked_at_by_resume_whatever_stands_in_it(tmp_path):
    path = write(tmp_path / "s", SAID, "walks", some_walks(), group_size=3)
    before = files_of(path)
    put(path, "mine/q")
    write(path, SAID, "walks", some_walks(), group_size=3, resume=True)
    assert files_of(path) == before | {"mine/q": b"mine"}


def test_every_array_that_csaw_writes_is_its_own(tmp_path):
    known = {one.name for layout in LAYOUTS.values() for one in layout.arrays} | {"hop_0", "hop_12"}
    known |= set(seal.NAMES) | set(GIVEN)
    assert all(re.fullmatch(SAMPLE_ARRAY, name) for name in known)
    assert all(name in known for name in SAMPLE_ARRAY.strip("()").split("|") if "\\" not in name)


@pytest.mark.parametrize("draw", DRAWS)
def test_samples_of_every_layout_are_replaced(tmp_path, draw):
    algo, options = DRAWS[draw]
    graph, out = random_store(tmp_path / "g.zarr").path, tmp_path / "s.zarr"
    for seed in (1, 2):
        sample(graph, out, algo, seed=seed, overwrite=True, **options)
        assert open_samples(out).manifest["request"]["seed"] == seed
        require_own(out, "samples")


KINDS = [
    {},
    {"compression": "lz4"},
    {"partitioner": "random"},
    {"partitions": 3, "num_clusters": 4, "clustering": "random"},
    {"id_type": "string", "directed": False},
]


@pytest.mark.parametrize("options", KINDS)
def test_graph_stores_of_every_kind_are_replaced(tmp_path, options):
    (tmp_path / "g.txt").write_text("".join(f"v{k} v{k * 7 % 30} 2\n" for k in range(200)))
    for _ in range(2):
        ingest(str(tmp_path / "g.txt"), tmp_path / "g.zarr", IngestOptions(overwrite=True, **options))
    require_own(tmp_path / "g.zarr", "graph")
