"""Groups whose ids the device has converted are written with the bytes of those that the host converts."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.graphs import TROUBLED, store_of
from helpers.small_samples import files_of

from csaw.engine import sample
from csaw.engine.cpu.batches.hops import HopTables
from csaw.engine.cpu.batches.walks import UnlimitedWalks, Walks
from csaw.engine.samples.group_writer import GroupWriter
from csaw.engine.samples.identifiers import Coming, Identifiers, together
from csaw.engine.samples.layouts import LAYOUTS, hops
from csaw.engine.samples.writer import SampleWriter
from csaw.engine.stores import open_samples
from csaw.partition import write_graph
from csaw.partition.errors import StoreError

IDS = {
    "sparse": lambda n: np.arange(n) * 3 + 5,
    "64 bits": lambda n: np.arange(n) * 2**40 - 7,
    "unsigned": lambda n: np.arange(n).astype(np.uint64) + np.uint64(2**63),
}
CASES = [
    ("deepwalk", {"num_walks": 40, "walk_length": 9, "in_flight": 50}),
    ("ppr", {"num_walks": 40}),
    ("neighbor", {"fanout": (3, 2), "weighted": False, "instances": 200, "in_flight": 37}),
]


def coming(array):
    """An array that comes in pieces, which all use the same memory; the groups' sizes must not need its values."""

    def pieces():
        data = array.reshape(-1).view(np.uint8)
        room = np.empty(24, np.uint8)
        for first in range(0, data.size, room.size):
            some = room[: data.size - first]
            some[:] = data[first : first + some.size]
            yield some

    return Coming(array.shape, array.dtype, (pieces,))


@pytest.fixture(params=[False, True], ids=["copied", "coming"])
def converting(monkeypatch, request):
    """Batches of the CPU that convert ids as those of a GPU do; and the groups that were written so."""
    written = []

    def stored(batch, rows, identifiers):
        held = {name: identifiers.converted(name, array) for name, array in batch.arrays(rows).items()}
        now = LAYOUTS[batch.backend.plan.sample_layout].counted_from if request.param else None
        return {name: one if now is None or name in now else coming(one) for name, one in held.items()}

    def begin():
        for kind in (Walks, UnlimitedWalks, HopTables):
            monkeypatch.setattr(kind, "stored", stored, raising=False)
        monkeypatch.setattr(Identifiers, "_originals", None)  # calling it is an error
        write = GroupWriter.write

        def noted(writer, group, arrays, *, converted=False):
            written.append(converted)
            write(writer, group, arrays, converted=converted)

        monkeypatch.setattr(GroupWriter, "write", noted)
        return written

    return begin


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize(("algo", "options"), CASES, ids=[algo for algo, _ in CASES])
def test_the_bytes_are_the_same(tmp_path, converting, ids, algo, options):
    made = store_of(tmp_path / "made.zarr", TROUBLED, directed=True).load()
    given = made.indptr, made.indices, made.weights
    named = IDS[ids](made.indptr.size - 1)
    graph = write_graph(tmp_path / "g.zarr", *given, directed=True, vertex_ids=named)
    options |= {"seed": 3, "device": "cpu"}
    sample(graph, tmp_path / "host.zarr", algo, **options)
    written = converting()
    sample(graph, tmp_path / "device.zarr", algo, **options)
    assert written
    assert all(written)
    expected, found = files_of(tmp_path / "host.zarr"), files_of(tmp_path / "device.zarr")
    assert expected.keys() == found.keys()
    assert all(found[name] == data for name, data in expected.items())


def test_edges_of_hops_are_counted_alike_without_numba(monkeypatch):
    arrays = {"hop_0": np.array([[3], [-1]]), "hop_1": np.array([[1, -1], [-1, -1]])}
    for loaded in ({"numba": None}, {}):
        monkeypatch.setattr(hops, "sys", SimpleNamespace(modules=loaded))
        assert hops.Hops().counted_edges(arrays, -1).tolist() == [1, 0]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError(28, "No space left on device")])
def test_a_group_whose_pieces_stop_coming_is_not_there(tmp_path, error):
    walks, lengths = np.arange(24, dtype=np.int32).reshape(6, 4), np.full(6, 3, np.int32)
    said = {"version": "0", "request": {"seed": 0}, "graph": {"vertices": 99}}
    options = {"layout": "walks", "instances": 6, "group_size": 6, "dense_dtype": np.uint32}
    ended = []

    def pieces():
        try:
            yield walks.reshape(-1).view(np.uint8)[:40]
            raise error
        finally:
            ended.append(True)

    with SampleWriter(tmp_path / "s", said, **options) as writer:
        broken = {"walks": Coming(walks.shape, walks.dtype, (pieces,)), "lengths": lengths}
        with pytest.raises(StoreError if isinstance(error, OSError) else error):
            writer.write(0, broken, converted=True)
        assert ended == [True]
        assert writer.done == set()
        assert [path.name for path in (tmp_path / "s.partial" / "walks").iterdir()] == []
        writer.write(0, {"walks": coming(walks), "lengths": lengths}, converted=True)
        writer.finish({})
    assert np.array_equal(open_samples(tmp_path / "s").walks[:], walks)


def test_arrays_that_come_are_joined_without_being_brought():
    parts = [np.arange(8, dtype=np.int32).reshape(2, 4), np.arange(12, dtype=np.int32).reshape(3, 4)]
    joined = together([{"walks": coming(part), "lengths": part[:, 0]} for part in parts])
    assert (joined["walks"].shape, joined["walks"].size, len(joined["walks"])) == ((5, 4), 20, 5)
    assert b"".join(piece.tobytes() for piece in joined["walks"].pieces()) == b"".join(p.tobytes() for p in parts)
    assert joined["lengths"].tolist() == [0, 4, 0, 4, 8]
