"""Claims of long string ids: one of them makes no other one larger, from the text to every export."""

import resource
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from csaw.engine import sample
from csaw.engine.stores.export import export
from csaw.engine.stores.verify import verify
from csaw.partition import IngestOptions, ingest, open_graph
from csaw.partition.errors import OptionError

IDS, BYTES = 20_000, 50_000
LONG = "x" * BYTES
MOST = 600 << 20  # bytes, Numba's compiling with them; an array as wide as the longest id would take 4 GB


def peak():
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.fixture(scope="module")
def journey(tmp_path_factory):
    """A ring of words, one of them long and next to some others: its store, walks from given words, and the most memory
    that took.
    """
    folder = tmp_path_factory.mktemp("long")
    words = [f"v{number}" for number in range(IDS - 1)] + [LONG]
    ring = [f"{a} {b}\n" for a, b in zip(words, words[1:] + words[:1], strict=True)]
    (folder / "g.txt").write_text("".join(ring + [f"{LONG} v{number}\n" for number in range(100, 300)]))
    before = peak()
    store = ingest(str(folder / "g.txt"), folder / "g", IngestOptions(directed=False))
    sources = [LONG, "v5", *words[100:300]] * 5
    walks = sample(folder / "g", folder / "w", algo="deepwalk", sources=sources, walk_length=5, seed=1)
    yield folder, store, walks
    assert peak() - before < MOST


def test_a_graph_knows_a_long_id_among_short_ones(journey):
    folder, store, _ = journey
    dense = open_graph(folder / "g").dense_ids([LONG, "v0"])
    assert store.original_ids(dense).tolist() == [LONG, "v0"]
    assert store.vertices == IDS


def test_a_sample_has_the_words_of_its_walks(journey):
    _, _, walks = journey
    firsts = walks.labels()[walks.walks[:3, 0]]
    assert firsts.tolist() == [LONG, "v5", "v100"]
    assert sum(len(word) for word in walks.labels()) < BYTES + 7 * IDS


def test_a_sample_of_long_ids_is_verified(journey):
    folder, _, _ = journey
    assert verify(folder / "w", budget=10_000).ok


def test_text_parquet_and_arrays_hold_each_long_id_whole(journey):
    folder, _, walks = journey
    expected = [
        [word for word in row if word is not None] for row in walks.labels()[walks.walks[:]].tolist()
    ]  # no dead ends on a ring
    for suffix in ("txt", "npz"):
        export(folder / "w", folder / f"out.{suffix}")
    pool, before = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    export(folder / "w", folder / "out.parquet")
    pa.set_memory_pool(before)
    assert pool.max_memory() < MOST
    assert (folder / "out.txt").read_text() == "".join(" ".join(walk) + "\n" for walk in expected)
    assert pq.read_table(folder / "out.parquet").column("walk").to_pylist() == expected
    with np.load(folder / "out.npz") as held:
        ends = held["original_id_offsets"]
        text = held["original_id_text"].tobytes()
        names = [text[a:b].decode() for a, b in pairwise(ends)]
        assert [[names[vertex] for vertex in held["n_id"][walk]] for walk in held["walk"]] == expected


def test_an_npy_file_refuses_ids_that_would_widen_all_others(journey):
    folder, _, _ = journey
    with pytest.raises(OptionError, match=r"50,000 characters.*\.parquet"):
        export(folder / "w", folder / "out.npy")
