"""Claims of the types of vertices: one fill value, -1, whatever the ids, and stores of before as they were."""

import json

import numpy as np
import pytest
from helpers import slow
from helpers.machine import need_package
from helpers.small_samples import RAGGED, SAID, STORES, files_of, kept_walks, some_walks

import csaw
from csaw.engine.samples import NOTHING, identifiers
from csaw.engine.samples.array import all_ones
from csaw.engine.samples.identifiers import Identifiers
from csaw.engine.stores import open_samples

LINES = {  # a path that ends, with ids of each kind
    "from 0": [(0, 1), (1, 2), (0, 2)],
    "from 1": [(1, 2), (2, 3), (1, 3)],
    "large": [(2**40, 7), (7, 9), (2**40, 9)],
    "words": [("a", "b"), ("b", "c"), ("a", "c")],
}


@pytest.fixture
def as_before(monkeypatch):
    """Let csaw choose the unsigned types of before until it is called."""
    monkeypatch.setattr(identifiers, "_of_dense", lambda dense, vertices, fill: (dense, all_ones(dense)))
    return monkeypatch.undo


@pytest.mark.parametrize("ids", LINES)
def test_w_of_at_least_0_are_the_vertices_of_walks_of_every_graph(tmp_path, ids):
    options = {"walk_length": 5, "seed": 1, "device": "cpu"}
    csaw.partition(LINES[ids], tmp_path / "g.zarr")
    kept = csaw.sample(LINES[ids], **options)
    stored = csaw.sample(tmp_path / "g.zarr", tmp_path / "s.zarr", **options)
    csaw.sample(tmp_path / "g.zarr", tmp_path / "v.zarr", virtual=True, **options)
    streamed = next(iter(csaw.stream(LINES[ids], **options)))["walks"]
    for walks in (kept.walks[:], stored.walks[:], csaw.open_samples(tmp_path / "v.zarr").walks[:], streamed):
        assert walks.dtype == (np.int64 if ids == "large" else np.int32)
        for walk, steps in zip(walks, kept.lengths[:], strict=True):
            assert (walk[walk >= 0] == walk[: steps + 1]).all()
            assert (walk[steps + 1 :] == -1).all()
    assert kept.fill == stored.fill == -1
    assert json.loads((tmp_path / "s.zarr" / "zarr.json").read_text())["attributes"]["fill"] == -1


@pytest.mark.parametrize(("algo", "array"), [("neighbor", "hop_1"), ("snowball", "src"), ("minibatch", "n_id")])
def test_other_samples_are_signed_too(algo, array):
    options = {"fanout": "2"} if algo != "snowball" else {"depth": 1}
    assert csaw.sample("karate", algo=algo, seed=1, device="cpu", **options)[array].dtype == np.int32
    assert csaw.sample("karate", algo=algo, seed=1, device="cpu", ids="dense", **options)[array].dtype == np.int32


def test_an_embedding_takes_what_sample_gives():
    torch = need_package("torch")
    walks = csaw.sample("rmat:scale=4", walk_length=5, seed=1, device="cpu").walks[:]
    table = torch.nn.Embedding(16, 3)
    assert table(torch.tensor(walks)).shape == (*walks.shape, 3)


@pytest.mark.parametrize(
    ("dense", "vertices", "dtype"),
    [("u4", 5, "i4"), ("u4", 2**31 - 1, "i4"), ("u4", 2**31, "i8"), ("u4", 2**32 - 2, "i8"), ("u8", 2**33, "i8")],
)
def test_dense_ids_are_as_narrow_as_a_signed_type_allows(dense, vertices, dtype):
    chosen = Identifiers.choose(dense, None, "original", vertices)
    drawn = np.array([0, vertices - 1, all_ones(np.dtype(dense))], dense)
    held = chosen.converted("walks", drawn)
    assert (held.dtype, chosen.fill) == (np.dtype(dtype), -1)
    assert held.tolist() == [0, vertices - 1, -1]
    assert b"".join(piece.tobytes() for piece in chosen.stored("walks", drawn)) == held.tobytes()


@pytest.mark.parametrize("layout", STORES)
def test_the_bytes_on_disk_are_those_of_before(tmp_path, as_before, layout):
    before = files_of(slow.write(tmp_path / "before", SAID, layout, STORES[layout], group_size=2))
    as_before()
    now = files_of(slow.write(tmp_path / "now", SAID, layout, STORES[layout], group_size=2))
    assert before.keys() == now.keys()
    assert [name for name in now if now[name] != before[name] and not name.endswith("zarr.json")] == []


def test_stores_of_before_are_read_as_they_were(tmp_path, as_before):
    path = slow.write(tmp_path / "s", SAID, "walks", some_walks())
    as_before()
    samples = open_samples(path)
    assert (samples.walks.dtype, samples.fill) == (np.uint32, 2**32 - 1)
    assert np.array_equal(samples.walks[:], some_walks()["walks"])
    assert np.array_equal(samples.dense(samples.walks[:]), kept_walks().astype(np.int64))
    assert NOTHING == -1


@pytest.mark.parametrize(("layout", "arrays"), [("walks", some_walks()), ("ragged-walks", RAGGED)])
def test_an_unfinished_sample_of_before_is_finished_in_its_type(tmp_path, as_before, layout, arrays):
    whole = slow.write(tmp_path / "whole", SAID, layout, arrays, group_size=2)
    slow.write(tmp_path / "s", SAID, layout, arrays, group_size=2, groups=[1])
    as_before()
    path = slow.write(tmp_path / "s", SAID, layout, arrays, group_size=2, resume=True)
    assert files_of(path) == files_of(whole)
    assert open_samples(path).fill == 2**32 - 1
    slow.write(tmp_path / "s", SAID, layout, arrays, group_size=2, resume=True)  # nothing is missing


def test_a_virtual_sample_of_before_is_drawn_in_its_type(tmp_path, as_before):
    csaw.partition(LINES["from 0"], tmp_path / "g.zarr")
    options = {"walk_length": 5, "seed": 1, "device": "cpu"}
    csaw.sample(tmp_path / "g.zarr", tmp_path / "v.zarr", virtual=True, **options)
    as_before()
    samples = csaw.open_samples(tmp_path / "v.zarr")
    assert (samples.walks.dtype, samples.fill) == (np.uint32, 2**32 - 1)
    now = csaw.sample(tmp_path / "g.zarr", **options).walks[:]
    assert np.array_equal(samples.walks[:].view(np.int32), now)
