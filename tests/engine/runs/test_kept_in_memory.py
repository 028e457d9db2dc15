"""A sample in memory is filled piece by piece, with the bytes of a stored one."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.graphs import random_store, stored_arrays

import csaw
from csaw.engine.runs import draw
from csaw.engine.samples.identifiers import Identifiers
from csaw.engine.samples.layouts import LAYOUTS
from csaw.engine.schedule.batch_loop import FinishedBatch

WALKS = np.arange(60, dtype=np.uint32).reshape(12, 5)


class Drawn:
    """Walks that note which of them were copied."""

    def __init__(self, read_back):
        self.read_back, self.asked = read_back, []

    def arrays(self, rows):
        self.asked.append(rows.indices(len(WALKS))[:2])
        return {"walks": WALKS[rows], "lengths": np.full(len(WALKS), 4)[rows]}


@pytest.mark.parametrize("read_back", [False, True])
def test_pieces_of_a_batch_are_copied_once_and_what_is_on_disk_is_read_as_a_whole(monkeypatch, read_back):
    monkeypatch.setattr(draw, "PIECE", 100)
    identifiers = Identifiers.choose(np.uint32, np.arange(1000, 1060), "original", 60)
    plan = SimpleNamespace(request=SimpleNamespace(instances=12), sample_layout=LAYOUTS["walks"])
    kept, drawn = draw.Kept(SimpleNamespace(identifiers=identifiers, plan=plan)), Drawn(read_back)
    kept.add(FinishedBatch(0, 12, 48, 0, draw.AsStored(drawn, identifiers, LAYOUTS["walks"])))
    [found] = kept.joined()
    assert found["walks"].tolist() == (WALKS + 1000).tolist()
    first, *pieces = drawn.asked
    assert first == (0, 1)
    assert [place for begin, end in sorted(pieces) for place in range(begin, end)] == [*range(12)]
    assert (len(pieces) == 1) is read_back


@pytest.mark.parametrize("algo", ["node2vec", "neighbor", "minibatch", "ppr", "snowball"])
@pytest.mark.parametrize("ids", ["original", "dense"])
def test_a_sample_in_memory_has_the_bytes_of_a_stored_one(tmp_path, monkeypatch, algo, ids):
    monkeypatch.setattr(draw, "PIECE", 1 << 10)
    store = random_store(tmp_path / "g.zarr", vertices=300)
    options = {"seed": 5, "ids": ids, "device": "cpu", "in_flight": 70}
    held = csaw.sample(store, algo=algo, **options)
    stored = csaw.sample(store, tmp_path / "s.zarr", algo=algo, **options)
    for name, array in stored_arrays(stored.path).items():
        assert np.array_equal(held[name][:], array), name
